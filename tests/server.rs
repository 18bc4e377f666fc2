//! The server against h2's client; what only a server has.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use bytes::{Buf, Bytes};
use fairmux as server_crate;
use fairmux::{Misuse, server};
use h2 as client_crate;
use h2::client;
use http::StatusCode;
use tokio::io::{AsyncWriteExt, duplex};

mod scenarios;

use scenarios::support::{Respond, get, link_with, manual, pattern, post, status, within};

#[tokio::test]
async fn a_hardened_server_serves() {
    let mut to = server::Builder::new();
    let link = link_with(
        &client::Builder::new(),
        to.hardened(),
        |_, mut respond: Respond| async move {
            let mut out = respond.send_response(status(200), false).unwrap();
            send_all!(out, pattern(200_000), true);
        },
    )
    .await;
    for _ in 0..100 {
        let mut response = link.get("/").await;
        assert!(read_all!(*response.body_mut()) == pattern(200_000));
    }
    assert_eq!(link.requests.current_max_send_streams(), 100);
}

#[tokio::test]
async fn hardening_keeps_other_options() {
    let mut to = server::Builder::new();
    to.enable_connect_protocol()
        .hardened()
        .max_concurrent_streams(9);
    let link = link_with(
        &client::Builder::new(),
        &to,
        |_, mut respond: Respond| async move {
            respond.send_response(status(200), true).unwrap();
        },
    )
    .await;
    link.get("/").await;
    assert!(link.requests.is_extended_connect_protocol_enabled());
    assert_eq!(link.requests.current_max_send_streams(), 9);
}

#[tokio::test]
async fn accept_says_once_why_the_connection_is_over() {
    let (mut near, far) = duplex(4096);
    near.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .await
        .unwrap();
    let mut connection = within(server::handshake(far)).await.unwrap();
    // SETTINGS on a stream.
    near.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 1]).await.unwrap();
    let error = within(connection.accept()).await.unwrap().unwrap_err();
    assert!(error.is_library() && error.is_go_away(), "{error:?}");
    assert!(error.as_violation().is_some());
    assert!(within(connection.accept()).await.is_none());
    assert!(
        within(poll_fn(|cx| connection.poll_closed(cx)))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn an_accept_that_is_dropped_loses_nothing() {
    let (requests, _client, mut server) =
        manual(&client::Builder::new(), &server::Builder::new()).await;
    let _responses = ["/1", "/2", "/3"].map(|path| {
        let (response, _) = requests.clone().send_request(get(path), true).unwrap();
        response
    });
    let accept_all = async {
        let mut paths = Vec::new();
        while paths.len() < 3 {
            tokio::select! {
                biased;
                stream = server.accept() => {
                    paths.push(stream.unwrap().unwrap().0.uri().path().to_owned());
                }
                () = tokio::task::yield_now() => {}
            }
        }
        paths
    };
    let paths = within(accept_all).await;
    assert_eq!(paths, ["/1", "/2", "/3"]);
}

#[tokio::test]
async fn poll_closed_keeps_requests_for_accept() {
    let (requests, _client, mut server) =
        manual(&client::Builder::new(), &server::Builder::new()).await;
    assert!(!server.has_streams());
    let (_response, _) = requests.clone().send_request(get("/"), true).unwrap();
    let arrived = poll_fn(|cx| {
        assert!(server.poll_closed(cx).is_pending());
        if server.has_streams() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    within(arrived).await;
    let (request, _respond) = within(server.accept()).await.unwrap().unwrap();
    assert_eq!(request.uri().path(), "/");
}

#[tokio::test]
async fn limits_are_those_of_the_settings() {
    let mut from = client::Builder::new();
    let mut to = server::Builder::new();
    let (requests, _client, mut server) =
        manual(from.max_concurrent_streams(3), to.max_concurrent_streams(4)).await;
    let (_response, _) = requests.clone().send_request(get("/"), true).unwrap();
    let _stream = within(server.accept()).await.unwrap().unwrap();
    assert_eq!(server.max_concurrent_send_streams(), 3);
    let acknowledged = poll_fn(|cx| {
        let _ = server.poll_closed(cx);
        if server.max_concurrent_recv_streams() == 4 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    within(acknowledged).await;
}

#[tokio::test]
async fn a_reset_cannot_be_waited_for_twice() {
    let (requests, _client, mut server) =
        manual(&client::Builder::new(), &server::Builder::new()).await;
    let (_response, _) = requests.clone().send_request(get("/"), true).unwrap();
    let (_request, mut respond) = within(server.accept()).await.unwrap().unwrap();
    assert!(poll_fn(|cx| Poll::Ready(respond.poll_reset(cx).is_pending())).await);
    let _body = respond.send_response(status(200), false).unwrap();
    let error = within(poll_fn(|cx| respond.poll_reset(cx)))
        .await
        .unwrap_err();
    assert_eq!(error.as_misuse(), Some(&Misuse::PollResetAfterSendResponse));
    let error = respond.send_response(status(200), true).unwrap_err();
    assert!(error.as_misuse().is_some(), "{error:?}");
}

#[tokio::test]
async fn a_response_after_a_reset_is_a_misuse() {
    let (requests, _client, mut server) =
        manual(&client::Builder::new(), &server::Builder::new()).await;
    let (_response, _) = requests.clone().send_request(get("/"), true).unwrap();
    let (_request, mut respond) = within(server.accept()).await.unwrap().unwrap();
    respond.send_reset(fairmux::Reason::INTERNAL_ERROR);
    respond.send_response(status(200), true).unwrap_err();
}

#[tokio::test]
async fn windows_can_be_changed_on_the_way() {
    let (requests, client, mut server) =
        manual(&client::Builder::new(), &server::Builder::new()).await;
    server.set_target_window_size(1 << 20);
    let (response, mut stream) = requests.clone().send_request(post("/"), false).unwrap();
    let (request, mut respond) = within(server.accept()).await.unwrap().unwrap();
    let mut enlarged = false;
    let serving = tokio::spawn(async move {
        let enlarging = poll_fn(|cx| {
            enlarged = enlarged || server.set_initial_window_size(1 << 20).is_ok();
            match server.poll_accept(cx) {
                Poll::Ready(None) => Poll::Ready(()),
                Poll::Ready(Some(_)) => panic!("there is but one request"),
                Poll::Pending => Poll::Pending,
            }
        });
        enlarging.await;
    });
    // More than the first windows, and nobody releases anything.
    let sending = tokio::spawn(async move { send_all!(stream, pattern(500_000), true) });
    within(sending).await.unwrap();
    let mut body = request.into_body();
    assert!(read_all!(body) == pattern(500_000));
    respond.send_response(status(200), true).unwrap();
    assert_eq!(within(response).await.unwrap().status(), StatusCode::OK);
    drop((body, respond, requests));
    within(client).await.unwrap().unwrap();
    within(serving).await.unwrap();
}

#[tokio::test]
#[should_panic(expected = "2^31-1")]
async fn a_window_beyond_the_largest_panics() {
    let (_requests, _client, mut server) =
        manual(&client::Builder::new(), &server::Builder::new()).await;
    server.set_target_window_size(1 << 31);
}

/// A payload that may not leave its thread.
struct Local(Bytes, #[expect(dead_code, reason = "it is there")] Rc<()>);

impl Buf for Local {
    fn remaining(&self) -> usize {
        self.0.remaining()
    }
    fn chunk(&self) -> &[u8] {
        self.0.chunk()
    }
    fn advance(&mut self, count: usize) {
        self.0.advance(count);
    }
}

#[tokio::test]
async fn a_payload_may_stay_on_its_thread() {
    let (near, far) = duplex(4096);
    let asking = async {
        let (mut requests, connection) = client::handshake(near).await.unwrap();
        let connection = tokio::spawn(connection);
        let (response, _) = requests.send_request(get("/"), true).unwrap();
        let mut response = within(response).await.unwrap();
        assert!(read_all!(*response.body_mut()) == pattern(100_000));
        drop((response, requests));
        within(connection).await.unwrap().unwrap();
    };
    let serving = async {
        let mut connection = server::Builder::new()
            .handshake::<_, Local>(far)
            .await
            .unwrap();
        while let Some(stream) = connection.accept().await {
            let (_, mut respond) = stream.unwrap();
            let mut out = respond.send_response(status(200), false).unwrap();
            out.send_data(Local(pattern(100_000), Rc::new(())), true)
                .unwrap();
        }
    };
    tokio::join!(asking, serving);
}
