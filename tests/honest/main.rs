//! Honest peers: what browsers, gRPC and busy proxies do, against both presets, on virtual time. None
//! of it may end a connection.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "each test crate uses its own part")]
#[path = "../support/frames.rs"]
mod frames;
#[expect(dead_code, reason = "each test crate uses its own part")]
#[path = "../support/raw.rs"]
mod raw;
#[path = "../support/virtual_time.rs"]
mod virtual_time;

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use fairmux::{Error, Reason, RecvStream, client, server};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use tokio::io::DuplexStream;
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::sleep;

use self::frames::{
    continuation, data, headers, kind, ping, priority, priority_update, settings, window_update,
};
use self::raw::Raw;
use self::virtual_time::{Served, TokioTimer, on_virtual_time};

const MESSAGE: &[u8] = br#"{"id":1234567,"name":"a","is_open":true}"#;

/// Runs `script` with a server of either preset, and a client of the same.
fn with_both_presets(script: impl AsyncFn(server::Builder, client::Builder)) {
    for is_hardened in [false, true] {
        let (mut server, mut client) = (server::Builder::new(), client::Builder::new());
        if is_hardened {
            server.hardened();
            client.hardened();
        }
        server.timer(TokioTimer);
        client.timer(TokioTimer);
        on_virtual_time(script(server, client));
    }
}

fn serve(builder: &server::Builder) -> (DuplexStream, Served) {
    virtual_time::serve(builder, 64 * 1024, answer)
}

async fn answer(
    mut request: Request<RecvStream>,
    mut respond: server::SendResponse<Bytes>,
) -> Result<(), Error> {
    let response = Response::new(());
    match request.uri().path() {
        // A unary call of gRPC: the end comes with trailers.
        "/message" => {
            let mut body = respond.send_response(response, false)?;
            body.send_data(Bytes::from_static(MESSAGE), false)?;
            let status = (
                HeaderName::from_static("grpc-status"),
                HeaderValue::from_static("0"),
            );
            body.send_trailers(HeaderMap::from_iter([status]))
        }
        "/late" => {
            sleep(Duration::from_millis(50)).await;
            respond.send_response(response, true).map(drop)
        }
        "/sink" => {
            let mut body = respond.send_response(response, false)?;
            let length = sink(request.body_mut()).await?;
            body.send_data(length.to_string().into(), true)
        }
        "/reject" => {
            let mut response = response;
            *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
            respond.send_response(response, true)?;
            respond.send_reset(Reason::NO_ERROR);
            Ok(())
        }
        _ => respond.send_response(response, true).map(drop),
    }
}

/// Reads, ten times a second, whatever has come.
async fn sink(body: &mut RecvStream) -> Result<usize, Error> {
    let mut length = 0;
    loop {
        sleep(Duration::from_millis(100)).await;
        while let Poll::Ready(piece) = poll_fn(|cx| Poll::Ready(body.poll_data(cx))).await {
            let Some(piece) = piece.transpose()? else {
                return Ok(length);
            };
            length += piece.len();
            body.flow_control().release_capacity(piece.len())?;
        }
    }
}

fn get(path: &str) -> Request<()> {
    let uri = format!("https://example.com{path}");
    Request::get(uri).body(()).unwrap()
}

type Requests = client::SendRequest<Bytes>;

/// A client on `io`. Its task answers with how the connection ended.
async fn connect(
    builder: &client::Builder,
    io: DuplexStream,
) -> (Requests, JoinHandle<Result<(), Error>>) {
    let (requests, connection) = builder.handshake(io).await.unwrap();
    (requests, spawn_local(connection))
}

#[test]
fn an_hour_in_which_a_tenth_of_the_requests_is_cancelled() {
    with_both_presets(async |server, client| {
        let (io, served) = serve(&server);
        let (mut requests, connection) = connect(&client, io).await;
        let mut answers = 0;
        for _ in 0..3600 {
            let mut asked = Vec::new();
            for _ in 0..10 {
                requests = requests.ready().await.unwrap();
                asked.push(requests.send_request(get("/late"), true).unwrap().0);
            }
            sleep(Duration::from_millis(10)).await;
            drop(asked.pop());
            for response in asked {
                assert_eq!(response.await.unwrap().status(), StatusCode::OK);
                answers += 1;
            }
            sleep(Duration::from_millis(950)).await;
        }
        assert_eq!(answers, 9 * 3600);
        drop(requests);
        connection.await.unwrap().unwrap();
        served.await.unwrap().unwrap();
    });
}

#[test]
fn three_hundred_small_answers_are_not_read_for_five_seconds() {
    with_both_presets(async |mut server, client| {
        server.max_concurrent_streams(300);
        let (io, served) = serve(&server);
        let (mut requests, connection) = connect(&client, io).await;
        let mut asked = Vec::new();
        for _ in 0..300 {
            requests = requests.ready().await.unwrap();
            asked.push(requests.send_request(get("/message"), true).unwrap().0);
        }
        let mut answers = Vec::new();
        for response in asked {
            answers.push(response.await.unwrap().into_body());
        }
        sleep(Duration::from_secs(5)).await;
        for mut body in answers {
            assert_eq!(body.data().await.unwrap().unwrap(), MESSAGE);
            assert!(body.trailers().await.unwrap().is_some());
        }
        drop(requests);
        connection.await.unwrap().unwrap();
        served.await.unwrap().unwrap();
    });
}

#[test]
fn ten_thousand_small_frames_a_second_on_one_stream() {
    with_both_presets(async |mut server, _| {
        server
            .initial_window_size(1 << 20)
            .initial_connection_window_size(1 << 21);
        let (io, served) = serve(&server);
        let mut peer = Raw::begin(io, &[settings()]).await;
        peer.send([headers(1).request("POST", "/sink")]).await;
        let mut sent = 0;
        for tick in 0..10_000 {
            for frame in 0..10 {
                let length = 20 + (tick * 10 + frame) * 37 % 181;
                sent += length;
                peer.send([data(1, vec![7; length])]).await;
            }
            sleep(Duration::from_millis(1)).await;
        }
        peer.send([data(1, []).end_stream()]).await;
        let counted = peer.until(|frame| frame.kind == kind::DATA).await;
        assert_eq!(counted.payload, sent.to_string().as_bytes());
        peer.close();
        served.await.unwrap().unwrap();
    });
}

#[test]
fn uploads_in_small_pieces_that_the_server_rejects() {
    with_both_presets(async |server, _| {
        let (io, served) = serve(&server);
        let mut peer = Raw::begin(io, &[settings()]).await;
        for call in 0..100 {
            let id = 2 * call + 1;
            peer.send([headers(id).request("POST", "/reject")]).await;
            peer.until(|frame| frame.id == id && frame.kind == kind::RST_STREAM)
                .await;
            // What was on its way: as much as the window let through.
            for _ in 0..600 {
                peer.send([data(id, [7; 100])]).await;
            }
            // A good while later than any such stream is remembered.
            sleep(Duration::from_millis(20)).await;
        }
        peer.send([headers(1001).request("GET", "/").end_stream()])
            .await;
        peer.until(|frame| frame.id == 1001).await;
        peer.close();
        served.await.unwrap().unwrap();
    });
}

/// grpc-go and grpc-java ask every 10 s at the most often, every 5 min without calls; the measuring of
/// bandwidth sends a PING with about each round trip.
#[test]
fn grpc_asks_for_an_hour_whether_the_server_is_there() {
    with_both_presets(async |server, _| {
        let (io, served) = serve(&server);
        let mut peer = Raw::begin(io, &[settings()]).await;
        peer.send([headers(1).request("POST", "/sink")]).await;
        for round in 0..360_u64 {
            for measured in 0..20 {
                let payload = (100 * round + measured).to_be_bytes();
                peer.send([data(1, [7; 200]), ping(payload)]).await;
                let pong = peer.until(|frame| frame.kind == kind::PING).await;
                assert_eq!(pong.payload, payload);
            }
            sleep(Duration::from_secs(10)).await;
        }
        peer.close();
        assert!(served.await.unwrap().is_ok());
    });
}

#[test]
fn both_ends_ask_each_other_for_an_hour_in_which_nothing_happens() {
    with_both_presets(async |mut server, mut client| {
        server.keep_alive_interval(Duration::from_secs(7));
        client
            .keep_alive_interval(Duration::from_secs(10))
            .keep_alive_while_idle(true);
        let (io, served) = serve(&server);
        let (mut requests, connection) = connect(&client, io).await;
        sleep(Duration::from_secs(3600)).await;
        let (response, _) = requests.send_request(get("/"), true).unwrap();
        assert_eq!(response.await.unwrap().status(), StatusCode::OK);
        drop(requests);
        connection.await.unwrap().unwrap();
        served.await.unwrap().unwrap();
    });
}

#[test]
fn browsers_begin_as_they_do() {
    // Chromium; Firefox with its former tree of priorities; Safari.
    let chromium = [
        settings()
            .set(1, 65_536)
            .set(2, 0)
            .set(4, 6_291_456)
            .set(6, 262_144)
            .set(0x4a4a, 1_234_567),
        window_update(0, 15_663_105),
    ];
    let mut firefox = vec![
        settings()
            .set(1, 65_536)
            .set(2, 0)
            .set(4, 131_072)
            .set(5, 16_384),
        window_update(0, 12_517_377),
    ];
    firefox.extend(
        [(3, 0), (5, 0), (7, 0), (9, 7), (11, 3), (13, 0)].map(|(id, on)| priority(id, on)),
    );
    let safari = [
        settings().set(4, 2_097_152).set(3, 100).set(2, 0).set(9, 1),
        window_update(0, 10_485_760),
    ];
    for beginning in [&chromium[..], &firefox, &safari] {
        with_both_presets(async |server, _| {
            let (io, served) = serve(&server);
            let mut peer = Raw::begin(io, beginning).await;
            for id in [15, 17, 19] {
                let request = headers(id).request("GET", "/message").depends_on(13);
                peer.send([request.end_stream()]).await;
                peer.send([priority_update(id, "u=1, i"), window_update(id, 1 << 20)])
                    .await;
                let end = peer
                    .until(|frame| frame.id == id && frame.is_end_stream())
                    .await;
                assert_eq!(end.kind, kind::HEADERS);
            }
            peer.close();
            served.await.unwrap().unwrap();
        });
    }
}

/// A proxy, in front of users some of whom have too many cookies.
#[test]
fn two_thousand_lists_that_are_too_long_in_the_life_of_a_connection() {
    with_both_presets(async |mut server, _| {
        // By default their number is bounded, as in h2.
        server.hardened();
        let (io, served) = serve(&server);
        let mut peer = Raw::begin(io, &[settings()]).await;
        for call in 0..2000 {
            let id = 2 * call + 1;
            let request = headers(id).request("GET", "/").end_stream();
            let begun = request.field("cookie", [b'a'; 10_000]).no_end_headers();
            let rest = continuation(id).raw(frames::literal("cookie", [b'a'; 10_000]));
            peer.send([begun, rest]).await;
            let answer = peer.until(|frame| frame.id == id).await;
            assert_eq!(answer.kind, kind::HEADERS);
            sleep(Duration::from_secs(1)).await;
        }
        peer.close();
        served.await.unwrap().unwrap();
    });
}

/// A proxy, in front of many browsers.
#[test]
fn thirty_thousand_requests_come_with_a_priority_and_a_window_each() {
    with_both_presets(async |server, _| {
        let (io, served) = serve(&server);
        let mut peer = Raw::begin(io, &[settings()]).await;
        for call in 0..30_000 {
            let id = 2 * call + 1;
            let request = headers(id).request("GET", "/").end_stream();
            peer.send([
                priority_update(id, "u=2"),
                request,
                window_update(id, 1 << 20),
                window_update(0, 1),
            ])
            .await;
            peer.until(|frame| frame.id == id).await;
        }
        peer.close();
        served.await.unwrap().unwrap();
    });
}
