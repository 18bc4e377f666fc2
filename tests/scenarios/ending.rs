//! How streams and connections end: resets, shutdowns, handles that are dropped.

use std::future::poll_fn;

use bytes::Bytes;
use http::{Request, StatusCode};

use super::support::{
    Body, Respond, get, link, manual, pattern, post, reset_of, start_client, status, within,
};
use crate::client_crate::{Reason, client};
use crate::server_crate::{self, server};
use crate::{read_all, send_all};

#[tokio::test]
async fn a_reset_by_the_server_is_an_error_of_the_response() {
    let link = link(|_, mut respond: Respond| async move {
        respond.send_reset(server_crate::Reason::ENHANCE_YOUR_CALM);
    })
    .await;
    let mut requests = link.requests.clone();
    let (response, _) = requests.send_request(get("/"), true).unwrap();
    let error = within(response).await.unwrap_err();
    assert_eq!(error.reason(), Some(Reason::ENHANCE_YOUR_CALM));
    assert!(error.is_reset() && error.is_remote() && !error.is_go_away() && !error.is_io());
}

#[tokio::test]
async fn a_reset_by_the_client_is_heard_by_the_server() {
    let (told, mut hear) = tokio::sync::mpsc::unbounded_channel();
    let link = link(move |_, mut respond: Respond| {
        let told = told.clone();
        async move {
            told.send(None).unwrap();
            told.send(Some(reset_of(&mut respond).await)).unwrap();
        }
    })
    .await;
    let mut requests = link.requests.clone();
    let (response, mut stream) = requests.send_request(post("/"), false).unwrap();
    assert_eq!(within(hear.recv()).await, Some(None));
    stream.send_reset(Reason::INTERNAL_ERROR);
    let reason = within(hear.recv()).await.unwrap();
    assert_eq!(reason, Some(server_crate::Reason::INTERNAL_ERROR));
    assert_eq!(
        within(response).await.unwrap_err().reason(),
        Some(Reason::INTERNAL_ERROR)
    );
    stream
        .send_data(Bytes::from_static(b"late"), true)
        .unwrap_err();
}

#[tokio::test]
async fn handles_that_are_dropped_cancel_the_stream() {
    let (told, mut hear) = tokio::sync::mpsc::unbounded_channel();
    let link = link(move |_, mut respond: Respond| {
        let told = told.clone();
        async move { told.send(reset_of(&mut respond).await).unwrap() }
    })
    .await;
    let mut requests = link.requests.clone();
    let (response, stream) = requests.send_request(get("/"), true).unwrap();
    drop(stream);
    tokio::task::yield_now().await;
    drop(response);
    assert_eq!(
        within(hear.recv()).await.unwrap(),
        server_crate::Reason::CANCEL
    );
}

#[tokio::test]
async fn a_request_without_an_answer_is_reset() {
    let link = link(|_, respond: Respond| async move { drop(respond) }).await;
    let mut requests = link.requests.clone();
    let (response, _) = requests.send_request(get("/"), true).unwrap();
    assert!(within(response).await.unwrap_err().is_reset());
}

#[tokio::test]
async fn an_early_response_is_readable_before_no_error() {
    let link = link(|request: Request<Body>, mut respond: Respond| async move {
        let mut out = respond.send_response(status(413), false).unwrap();
        send_all!(out, pattern(100_000), true);
        drop((request, respond, out));
    })
    .await;
    let mut requests = link.requests.clone();
    let (response, mut stream) = requests.send_request(post("/"), false).unwrap();
    stream
        .send_data(Bytes::from_static(b"the beginning"), false)
        .unwrap();
    let mut response = within(response).await.unwrap();
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert!(read_all!(*response.body_mut()) == pattern(100_000));
    let reason = within(poll_fn(|cx| stream.poll_reset(cx))).await.unwrap();
    assert_eq!(reason, Reason::NO_ERROR);
    assert!(
        within(response.body_mut().trailers())
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn a_cancel_in_the_middle_of_a_body_is_no_end_of_it() {
    let link = link(|_, mut respond: Respond| async move {
        let mut out = respond.send_response(status(200), false).unwrap();
        out.send_data(Bytes::from_static(b"half"), false).unwrap();
        // What was given before may be dropped by a reset; so the reader has it first.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        out.send_reset(server_crate::Reason::CANCEL);
    })
    .await;
    let mut response = link.get("/").await;
    let half = within(response.body_mut().data()).await.unwrap().unwrap();
    assert_eq!(half, "half");
    assert!(!response.body().is_end_stream());
    let error = within(response.body_mut().data())
        .await
        .unwrap()
        .unwrap_err();
    assert_eq!(error.reason(), Some(Reason::CANCEL));
}

#[tokio::test]
async fn a_body_that_nobody_finishes_is_no_end_of_it() {
    let link = link(|_, mut respond: Respond| async move {
        let mut out = respond.send_response(status(200), false).unwrap();
        out.send_data(Bytes::from_static(b"half"), false).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    })
    .await;
    let mut response = link.get("/").await;
    assert_eq!(
        within(response.body_mut().data()).await.unwrap().unwrap(),
        "half"
    );
    assert!(
        within(response.body_mut().data())
            .await
            .unwrap()
            .unwrap_err()
            .is_reset()
    );
}

#[tokio::test]
async fn the_connection_ends_when_no_handle_is_left() {
    let link = link(|_, mut respond: Respond| async move {
        let mut out = respond.send_response(status(200), false).unwrap();
        out.send_data(Bytes::from_static(b"last"), true).unwrap();
    })
    .await;
    let mut response = link.get("/").await;
    drop(link.requests);
    // The stream is finished first.
    assert_eq!(read_all!(*response.body_mut()), b"last");
    drop(response);
    within(link.client).await.unwrap().unwrap();
    within(link.server).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_graceful_shutdown_lets_streams_finish() {
    let (mut requests, client, mut server) =
        manual(&client::Builder::new(), &server::Builder::new()).await;
    let (response, _) = requests.send_request(get("/"), true).unwrap();
    let (_, mut respond) = within(server.accept()).await.unwrap().unwrap();
    server.graceful_shutdown();
    let serving = tokio::spawn(async move {
        while let Some(stream) = server.accept().await {
            let (_, mut respond) = stream.unwrap();
            respond.send_response(status(200), true).unwrap();
        }
    });
    let refused = async {
        // What arrives before the second GOAWAY is still served.
        while let Ok((response, _)) = requests.send_request(get("/late"), true) {
            let _ = response.await;
            if poll_fn(|cx| requests.poll_ready(cx)).await.is_err() {
                break;
            }
        }
    };
    within(refused).await;
    let mut body = respond.send_response(status(200), false).unwrap();
    body.send_data(Bytes::from_static(b"done"), true).unwrap();
    let mut response = within(response).await.unwrap();
    assert_eq!(read_all!(*response.body_mut()), b"done");
    within(serving).await.unwrap();
    drop((response, requests));
    within(client).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_abrupt_shutdown_fails_all() {
    let (mut requests, client, mut server) =
        manual(&client::Builder::new(), &server::Builder::new()).await;
    let (response, _) = requests.send_request(get("/"), true).unwrap();
    let (_request, _respond) = within(server.accept()).await.unwrap().unwrap();
    server.abrupt_shutdown(server_crate::Reason::INADEQUATE_SECURITY);
    let serving = tokio::spawn(async move { while server.accept().await.is_some() {} });
    within(response).await.unwrap_err();
    let error = within(client).await.unwrap().unwrap_err();
    assert!(error.is_go_away() && error.is_remote(), "{error:?}");
    assert_eq!(error.reason(), Some(Reason::INADEQUATE_SECURITY));
    within(poll_fn(|cx| requests.poll_ready(cx)))
        .await
        .unwrap_err();
    within(serving).await.unwrap();
}

#[tokio::test]
async fn a_client_that_vanishes_fails_the_server_s_streams() {
    let (told, mut hear) = tokio::sync::mpsc::unbounded_channel();
    let link = link(move |request: Request<Body>, respond: Respond| {
        let told = told.clone();
        async move {
            told.send(None).unwrap();
            let data = request.into_body().data().await;
            told.send(Some(data.is_some_and(|data| data.is_err())))
                .unwrap();
            drop(respond);
        }
    })
    .await;
    let mut requests = link.requests.clone();
    let (response, stream) = requests.send_request(post("/"), false).unwrap();
    assert_eq!(within(hear.recv()).await, Some(None));
    link.client.abort();
    assert_eq!(within(hear.recv()).await, Some(Some(true)));
    within(response).await.unwrap_err();
    drop(stream);
    within(poll_fn(|cx| requests.poll_ready(cx)))
        .await
        .unwrap_err();
    let _ = within(link.server).await.unwrap();
}

#[tokio::test]
async fn a_server_that_vanishes_fails_all_requests() {
    let (near, far) = tokio::io::duplex(1024);
    let (requests, client) = start_client(&client::Builder::new(), near).await;
    let waiting: Vec<_> = (0..10)
        .map(|_| requests.clone().send_request(get("/"), true).unwrap().0)
        .map(tokio::spawn)
        .collect();
    tokio::task::yield_now().await;
    drop(far);
    for response in waiting {
        within(response).await.unwrap().unwrap_err();
    }
    let _ = within(client).await.unwrap();
}

#[tokio::test]
async fn what_is_not_http2_is_no_handshake() {
    let (mut near, far) = tokio::io::duplex(1024);
    let text = b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n";
    tokio::io::AsyncWriteExt::write_all(&mut near, text)
        .await
        .unwrap();
    within(server::handshake(far)).await.unwrap_err();
}
