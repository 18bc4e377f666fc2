//! The client against h2's server; what only a client has.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::{Buf, Bytes};
use fairmux as client_crate;
use fairmux::{Misuse, client};
use h2 as server_crate;
use h2::server;
use tokio::io::duplex;

mod scenarios;

use scenarios::support::{Link, Respond, get, link, link_with, manual, post, status, within};

async fn answer(_: http::Request<h2::RecvStream>, mut respond: Respond) {
    respond.send_response(status(200), true).unwrap();
}

fn misuse(error: &fairmux::Error) -> Option<&Misuse> {
    error.as_misuse()
}

#[tokio::test]
async fn a_second_request_that_would_wait_is_rejected() {
    let mut to = server::Builder::new();
    let (mut requests, client, mut server) =
        manual(&client::Builder::new(), to.max_concurrent_streams(1)).await;
    let (first, _) = requests.send_request(get("/1"), true).unwrap();
    let (_, mut respond) = within(server.accept()).await.unwrap().unwrap();
    let (second, _) = requests.send_request(get("/2"), true).unwrap();
    let error = requests.send_request(get("/3"), true).unwrap_err();
    assert_eq!(misuse(&error), Some(&Misuse::Rejected));
    assert!(!error.is_go_away() && !error.is_reset());

    // It is ready as soon as the second has its slot.
    let mut ready = pin!(requests.ready());
    assert!(poll_fn(|cx| Poll::Ready(ready.as_mut().poll(cx).is_pending())).await);
    respond.send_response(status(200), true).unwrap();
    let serving = tokio::spawn(async move {
        while let Some(stream) = server.accept().await {
            let (_, mut respond) = stream.unwrap();
            respond.send_response(status(200), true).unwrap();
        }
    });
    within(first).await.unwrap();
    let requests = within(ready).await.unwrap();
    within(second).await.unwrap();
    drop(requests);
    within(client).await.unwrap().unwrap();
    within(serving).await.unwrap();
}

#[tokio::test]
async fn ids_are_final_at_once_and_rise() {
    let link = link(answer).await;
    let ids: Vec<u32> = (0..5)
        .map(|_| {
            let (response, stream) = link.requests.clone().send_request(get("/"), true).unwrap();
            assert_eq!(response.stream_id(), stream.stream_id());
            stream.stream_id().as_u32()
        })
        .collect();
    assert_eq!(ids, [1, 3, 5, 7, 9]);
}

#[tokio::test]
async fn a_request_that_was_cancelled_before_it_left_uses_up_its_id_alone() {
    let link = link(answer).await;
    drop(link.requests.clone().send_request(get("/1"), true).unwrap());
    let (response, _) = link.requests.clone().send_request(get("/2"), true).unwrap();
    assert_eq!(response.stream_id().as_u32(), 3);
    within(response).await.unwrap();
}

#[tokio::test]
async fn a_clone_keeps_the_connection() {
    let Link {
        requests, client, ..
    } = link(answer).await;
    let other = requests.clone();
    drop(requests);
    let mut other = within(other.ready()).await.unwrap();
    let (response, _) = other.send_request(get("/"), true).unwrap();
    within(response).await.unwrap();
    drop(other);
    within(client).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_a_goaway_leaves_out_is_safe_to_send_again() {
    let mut to = server::Builder::new();
    let (requests, _client, mut server) =
        manual(&client::Builder::new(), to.max_concurrent_streams(1)).await;
    let (first, _) = requests.clone().send_request(get("/1"), true).unwrap();
    let (_, mut respond) = within(server.accept()).await.unwrap().unwrap();
    // It waits for the limit, and the server never hears of it.
    let (second, _) = requests.clone().send_request(get("/2"), true).unwrap();
    server.graceful_shutdown();
    tokio::spawn(async move { while server.accept().await.is_some() {} });
    let error = within(second).await.unwrap_err();
    assert!(error.is_not_processed(), "{error:?}");
    respond.send_response(status(200), true).unwrap();
    within(first).await.unwrap();
    let error = within(requests.ready()).await.unwrap_err();
    assert!(error.is_go_away(), "{error:?}");
}

#[tokio::test]
async fn settings_of_the_server_are_seen() {
    let mut to = server::Builder::new();
    to.max_concurrent_streams(7).enable_connect_protocol();
    let mut from = client::Builder::new();
    from.initial_max_send_streams(3).max_concurrent_streams(5);
    let link = link_with(&from, &to, answer).await;
    assert_eq!(link.requests.current_max_send_streams(), 3);
    assert!(!link.requests.is_extended_connect_protocol_enabled());
    link.get("/").await;
    assert_eq!(link.requests.current_max_send_streams(), 7);
    assert!(link.requests.is_extended_connect_protocol_enabled());
}

#[tokio::test]
async fn extended_connect_before_it_is_allowed_is_a_misuse() {
    let link = link(answer).await;
    link.get("/").await;
    let mut request = get("/chat");
    *request.method_mut() = http::Method::CONNECT;
    let protocol = fairmux::ext::Protocol::from_static("websocket");
    request.extensions_mut().insert(protocol);
    let mut requests = link.requests.clone();
    let error = requests.send_request(request, false).unwrap_err();
    assert!(misuse(&error).is_some(), "{error:?}");
    link.get("/").await;
}

#[tokio::test]
async fn handles_of_a_connection_that_was_dropped_fail() {
    let (near, _far) = duplex(1024);
    let (mut requests, connection) = client::handshake(near).await.unwrap();
    let (response, mut stream) = requests.send_request(post("/"), false).unwrap();
    drop(connection);
    within(response).await.unwrap_err();
    stream
        .send_data(Bytes::from_static(b"late"), true)
        .unwrap_err();
    requests.send_request(get("/"), true).unwrap_err();
    within(requests.ready()).await.unwrap_err();
}

#[tokio::test]
async fn a_handshake_on_a_broken_pipe_fails() {
    let (near, far) = duplex(1024);
    drop(far);
    let error = within(client::handshake(near)).await.unwrap_err();
    assert!(error.is_io(), "{error:?}");
}

/// A payload that belongs to somebody else, and may not leave its thread.
struct Borrowed<'a>(
    &'a [u8],
    #[expect(dead_code, reason = "it is there")] Rc<()>,
);

impl Buf for Borrowed<'_> {
    fn remaining(&self) -> usize {
        self.0.len()
    }
    fn chunk(&self) -> &[u8] {
        self.0
    }
    fn advance(&mut self, count: usize) {
        self.0 = &self.0[count..];
    }
}

#[tokio::test]
async fn a_payload_may_borrow_and_stay_on_its_thread() {
    let text: Vec<u8> = scenarios::support::pattern(300_000).to_vec();
    let (near, far) = duplex(4096);
    let serving = tokio::spawn(async move {
        let mut connection = server::handshake(far).await.unwrap();
        while let Some(stream) = connection.accept().await {
            tokio::spawn(async move {
                let (request, mut respond) = stream.unwrap();
                let mut body = request.into_body();
                let all = read_all!(body);
                let mut out = respond.send_response(status(200), false).unwrap();
                send_all!(out, all, true);
            });
        }
    });
    let (mut requests, connection) = client::Builder::new()
        .handshake::<_, Borrowed<'_>>(near)
        .await
        .unwrap();
    let exchange = async {
        let (response, mut stream) = requests.send_request(post("/"), false).unwrap();
        stream
            .send_data(Borrowed(&text, Rc::new(())), true)
            .unwrap();
        let mut response = within(response).await.unwrap();
        assert!(read_all!(*response.body_mut()) == text);
        drop((response, stream, requests));
    };
    let (ended, ()) = tokio::join!(connection, exchange);
    ended.unwrap();
    within(serving).await.unwrap();
}

#[tokio::test]
async fn the_connection_counts() {
    let (near, far) = duplex(1024);
    let serving = tokio::spawn(async move {
        let mut connection = server::handshake(far).await.unwrap();
        while let Some(stream) = connection.accept().await {
            let (_, mut respond) = stream.unwrap();
            let mut out = respond.send_response(status(200), false).unwrap();
            out.send_data(Bytes::from_static(b"12345"), true).unwrap();
        }
    });
    let (mut requests, mut connection) = client::handshake(near).await.unwrap();
    let (response, _) = requests.send_request(get("/"), true).unwrap();
    let mut reading = pin!(async {
        let mut response = response.await.unwrap();
        assert_eq!(response.body_mut().data().await.unwrap().unwrap(), "12345");
    });
    let mut driven = pin!(poll_fn(|cx| {
        assert!(pin!(&mut connection).poll(cx).is_pending());
        reading.as_mut().poll(cx)
    }));
    within(driven.as_mut()).await;
    let stats = connection.stats();
    assert_eq!(stats.streams_opened, 1);
    assert_eq!(stats.data_received, 5);
    drop(requests);
    within(connection).await.unwrap();
    within(serving).await.unwrap();
}

#[test]
fn values_out_of_range_are_refused_or_clamped() {
    let panics = |set: fn(&mut client::Builder) -> &mut client::Builder| {
        std::panic::catch_unwind(|| set(&mut client::Builder::new()).clone()).is_err()
    };
    assert!(panics(|builder| builder.max_frame_size(16_383)));
    assert!(panics(|builder| builder.max_frame_size(1 << 24)));
    assert!(!panics(|builder| builder.max_frame_size(1 << 14)));
    assert!(!panics(|builder| builder.max_frame_size((1 << 24) - 1)));
    assert!(!panics(|builder| builder.initial_window_size(u32::MAX)));
    assert!(!panics(
        |builder| builder.initial_connection_window_size(u32::MAX)
    ));
}

#[cfg(feature = "unstable")]
mod unstable {
    use super::*;

    #[tokio::test]
    async fn ids_run_out() {
        let mut from = client::Builder::new();
        from.initial_stream_id((1 << 31) - 1);
        let link = link_with(&from, &server::Builder::new(), answer).await;
        link.get("/").await;
        let mut requests = link.requests.clone();
        let error = requests.send_request(get("/"), true).unwrap_err();
        assert_eq!(misuse(&error), Some(&Misuse::OverflowedStreamId));
        within(requests.ready()).await.unwrap_err();
    }

    #[tokio::test]
    async fn streams_are_counted() {
        let (requests, _client, mut server) =
            manual(&client::Builder::new(), &server::Builder::new()).await;
        assert_eq!(requests.num_active_streams(), 0);
        let (response, _) = requests.clone().send_request(get("/"), true).unwrap();
        let (_, mut respond) = within(server.accept()).await.unwrap().unwrap();
        assert_eq!(requests.num_active_streams(), 1);
        assert_eq!(requests.num_wired_streams(), 1);
        respond.send_response(status(200), true).unwrap();
        tokio::spawn(async move { while server.accept().await.is_some() {} });
        drop(within(response).await.unwrap());
        assert_eq!(requests.num_active_streams(), 0);
    }

    #[test]
    #[should_panic(expected = "odd")]
    fn an_even_first_id_panics() {
        client::Builder::new().initial_stream_id(2);
    }
}
