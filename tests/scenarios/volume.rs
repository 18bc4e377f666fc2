//! Many streams, large bodies, small windows.

use bytes::Bytes;
use http::Request;

use super::support::{Body, Link, Respond, link_with, pattern, post, status, within};
use crate::client_crate::client;
use crate::server_crate::server;
use crate::{read_all, send_all};

/// Answers with what came, in one piece.
async fn repeat(request: Request<Body>, mut respond: Respond) {
    let mut body = request.into_body();
    let all = read_all!(body);
    let mut out = respond.send_response(status(200), false).unwrap();
    send_all!(out, all, true);
}

/// Answers as it reads.
async fn echo(request: Request<Body>, mut respond: Respond) {
    let mut body = request.into_body();
    let mut out = respond.send_response(status(200), false).unwrap();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        body.flow_control().release_capacity(chunk.len()).unwrap();
        send_all!(out, chunk, false);
    }
    out.send_data(Bytes::new(), true).unwrap();
}

async fn exchange(requests: client::SendRequest<Bytes>, data: Bytes) {
    let mut requests = within(requests.ready()).await.unwrap();
    let (response, mut stream) = requests.send_request(post("/"), false).unwrap();
    let out = data.clone();
    let sending = tokio::spawn(async move { send_all!(stream, out, true) });
    let mut response = within(response).await.unwrap();
    assert!(read_all!(*response.body_mut()) == data);
    within(sending).await.unwrap();
}

async fn exchange_all(link: &Link, sizes: impl Iterator<Item = usize>) {
    let running: Vec<_> = sizes
        .map(|size| tokio::spawn(exchange(link.requests.clone(), pattern(size))))
        .collect();
    for exchange in running {
        within(exchange).await.unwrap();
    }
}

#[tokio::test]
async fn a_thousand_requests_go_in_parallel() {
    let mut to = server::Builder::new();
    to.max_concurrent_streams(100);
    let link = link_with(&client::Builder::new(), &to, repeat).await;
    exchange_all(&link, (0..1000).map(|index| 1 + index % 977)).await;
}

#[tokio::test]
async fn large_bodies_pass_small_windows() {
    let mut from = client::Builder::new();
    from.initial_window_size(1000);
    let mut to = server::Builder::new();
    to.initial_window_size(1001);
    let link = link_with(&from, &to, echo).await;
    exchange_all(&link, [300_000, 200_000, 1, 70_000].into_iter()).await;
}

#[tokio::test]
async fn large_bodies_pass_large_windows_and_frames() {
    let mut from = client::Builder::new();
    from.initial_window_size(1 << 20)
        .initial_connection_window_size(1 << 22)
        .max_frame_size(1 << 20);
    let mut to = server::Builder::new();
    to.initial_window_size(1 << 20)
        .initial_connection_window_size(1 << 22)
        .max_frame_size(1 << 20);
    let link = link_with(&from, &to, echo).await;
    exchange_all(&link, [5 << 20, 3 << 20, 1 << 20].into_iter()).await;
}

#[tokio::test]
async fn one_stream_at_a_time_is_enough() {
    let mut to = server::Builder::new();
    to.max_concurrent_streams(1);
    let link = link_with(&client::Builder::new(), &to, repeat).await;
    exchange_all(&link, (0..20).map(|index| 5000 * index + 1)).await;
}

#[tokio::test]
async fn a_body_that_nobody_reads_holds_up_no_other() {
    let link = link_with(&client::Builder::new(), &server::Builder::new(), echo).await;
    let mut requests = link.requests.clone();
    let (response, mut stream) = requests.send_request(post("/"), false).unwrap();
    // Less than the window of the connection: the rest of that is for the others.
    stream.send_data(pattern(30_000), true).unwrap();
    let unread = within(response).await.unwrap();
    exchange_all(&link, (1..10).map(|index| index * 30_000)).await;
    drop(unread);
    exchange_all(&link, (1..5).map(|index| index * 100_000)).await;
}
