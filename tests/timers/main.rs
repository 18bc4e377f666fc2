//! The limits on time, on virtual time: when each of them ends what, and that none does without a timer.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "each test crate uses its own part")]
#[path = "../support/frames.rs"]
mod frames;
#[expect(dead_code, reason = "each test crate uses its own part")]
#[path = "../support/raw.rs"]
mod raw;
#[path = "../support/virtual_time.rs"]
mod virtual_time;

use std::time::Duration;

use bytes::Bytes;
use fairmux::{Error, Reason, RecvStream, Violation, client, server};
use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep, timeout};

use self::frames::{Code, ENHANCE_YOUR_CALM, Frame, NO_ERROR, headers, kind, ping, settings};
use self::raw::Raw;
use self::virtual_time::{Served, TokioTimer, on_virtual_time};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A server over a pipe of `size` octets, which answers every request with a body of 100 000.
fn serve(builder: &server::Builder, size: usize) -> (DuplexStream, Served) {
    virtual_time::serve(builder, size, answer)
}

async fn answer(
    _: Request<RecvStream>,
    mut respond: server::SendResponse<Bytes>,
) -> Result<(), Error> {
    let mut body = respond.send_response(Response::new(()), false)?;
    body.send_data(Bytes::from_static(&[7; 100_000]), true)
}

fn default() -> server::Builder {
    let mut builder = server::Builder::new();
    builder.timer(TokioTimer);
    builder
}

fn hardened() -> server::Builder {
    let mut builder = default();
    builder.hardened();
    builder
}

/// The code of the last GOAWAY.
fn parting(frames: &[Frame]) -> Option<Code> {
    let is_parting = |frame: &&Frame| frame.kind == kind::GOAWAY;
    let last = frames.iter().rev().find(is_parting)?;
    Some(Code(last.word(4)))
}

fn get(id: u32) -> Frame {
    headers(id).request("GET", "/").end_stream()
}

#[test]
fn a_client_has_ten_seconds_for_its_preface_and_settings() {
    for beginning in [&b""[..], &PREFACE[..20], PREFACE] {
        for builder in [default(), hardened()] {
            on_virtual_time(async {
                let begin = Instant::now();
                let (mut near, served) = serve(&builder, 4096);
                near.write_all(beginning).await.unwrap();
                near.read_to_end(&mut Vec::new()).await.unwrap();
                assert_eq!(begin.elapsed().as_secs(), 10);
                let error = served.await.unwrap().unwrap_err();
                assert_eq!(error.as_violation(), Some(&Violation::HandshakeTimeout));
            });
        }
    }
}

#[test]
fn a_server_has_ten_seconds_for_its_settings() {
    on_virtual_time(async {
        let begin = Instant::now();
        let (near, _far) = duplex(4096);
        let mut builder = client::Builder::new();
        builder.timer(TokioTimer);
        let (_requests, connection) = builder.handshake::<_, Bytes>(near).await.unwrap();
        let error = connection.await.unwrap_err();
        assert_eq!(error.as_violation(), Some(&Violation::HandshakeTimeout));
        assert_eq!(begin.elapsed().as_secs(), 10);
    });
}

#[test]
fn a_header_block_has_ten_seconds() {
    for builder in [default(), hardened()] {
        on_virtual_time(async {
            let (near, _served) = serve(&builder, 4096);
            let mut peer = Raw::begin(near, &[settings()]).await;
            sleep(Duration::from_secs(5)).await;
            let begin = Instant::now();
            peer.send([get(1).no_end_headers()]).await;
            assert_eq!(parting(&peer.rest().await), Some(ENHANCE_YOUR_CALM));
            assert_eq!(begin.elapsed().as_secs(), 10);
        });
    }
}

#[test]
fn settings_are_acknowledged_within_what_is_set() {
    for (builder, limit) in [(default(), None), (hardened(), Some(30))] {
        on_virtual_time(async {
            let (mut near, served) = serve(&builder, 4096);
            near.write_all(PREFACE).await.unwrap();
            near.write_all(&settings().encode()).await.unwrap();
            let begin = Instant::now();
            if limit.is_none() {
                sleep(Duration::from_secs(3600)).await;
                assert!(!served.is_finished());
                return;
            }
            near.read_to_end(&mut Vec::new()).await.unwrap();
            assert_eq!(Some(begin.elapsed().as_secs()), limit);
            let error = served.await.unwrap().unwrap_err();
            assert_eq!(error.reason(), Some(Reason::SETTINGS_TIMEOUT));
        });
    }
}

/// It is looked for four times within the limit.
#[test]
fn output_without_credit_waits_so_long() {
    for (builder, limit) in [(default(), 60), (hardened(), 30)] {
        on_virtual_time(async {
            let (near, _served) = serve(&builder, 1 << 20);
            let mut peer = Raw::begin(near, &[settings()]).await;
            let begin = Instant::now();
            peer.send([get(1)]).await;
            let reset = peer.until(|frame| frame.kind == kind::RST_STREAM).await;
            assert_eq!(reset.word(0), u32::from(Reason::CANCEL));
            let waited = begin.elapsed().as_secs();
            assert!((limit..=limit * 5 / 4).contains(&waited), "{waited}");
            // The connection lives.
            peer.send([ping([1; 8])]).await;
            peer.until(|frame| frame.kind == kind::PING).await;
        });
    }
}

#[test]
fn a_transport_that_takes_nothing_is_left_after_so_long() {
    for (mut builder, limit) in [(default(), 120), (hardened(), 60)] {
        builder.stream_stall_timeout(None);
        on_virtual_time(async {
            let (near, served) = serve(&builder, 1000);
            let mut peer = Raw::begin(near, &[settings()]).await;
            let begin = Instant::now();
            peer.send([get(1)]).await;
            let error = served.await.unwrap().unwrap_err();
            assert_eq!(error.as_violation(), Some(&Violation::ConnectionStalled));
            let waited = begin.elapsed().as_secs();
            assert!((limit..=limit * 5 / 4).contains(&waited), "{waited}");
        });
    }
}

#[test]
fn an_idle_connection_is_closed_in_good_order() {
    for mut builder in [default(), hardened()] {
        builder.idle_timeout(Duration::from_secs(100));
        on_virtual_time(async {
            let (near, served) = serve(&builder, 1 << 20);
            let mut peer = Raw::begin(near, &[settings()]).await;
            sleep(Duration::from_secs(90)).await;
            let is_end = |id| move |frame: &Frame| frame.id == id && frame.is_end_stream();
            let grant = |id| frames::window_update(id, 100_000);
            peer.send([get(1), grant(0), grant(1)]).await;
            peer.until(is_end(1)).await;
            let begin = Instant::now();
            // Warned, but what is on its way is answered, and the time begins anew.
            sleep(Duration::from_secs(150)).await;
            peer.send([get(3), grant(0), grant(3)]).await;
            let frames = peer.rest().await;
            assert!(frames.iter().any(|frame| is_end(3)(frame)), "{frames:?}");
            assert_eq!(parting(&frames), Some(NO_ERROR));
            assert!(begin.elapsed().as_secs() >= 250, "{:?}", begin.elapsed());
            assert!(begin.elapsed().as_secs() <= 352, "{:?}", begin.elapsed());
            drop(peer);
            served.await.unwrap().unwrap();
        });
    }
}

/// The PING itself cannot be written: that is how a dead peer looks.
#[test]
fn a_dead_server_is_noticed_while_writes_block() {
    on_virtual_time(async {
        let (near, mut far) = duplex(1000);
        let mut builder = client::Builder::new();
        builder
            .timer(TokioTimer)
            .keep_alive_interval(Duration::from_secs(10))
            .keep_alive_timeout(Duration::from_secs(5));
        let (mut requests, connection) = builder.handshake::<_, Bytes>(near).await.unwrap();
        far.write_all(&settings().encode()).await.unwrap();
        let connection = spawn_local(connection);
        let request = Request::post("http://a/").body(()).unwrap();
        let (response, mut body) = requests.send_request(request, false).unwrap();
        body.send_data(Bytes::from_static(&[7; 10_000]), false)
            .unwrap();
        let begin = Instant::now();
        assert!(response.await.is_err());
        assert_eq!(begin.elapsed().as_secs(), 15);
        let error = connection.await.unwrap().unwrap_err();
        assert_eq!(error.as_violation(), Some(&Violation::KeepAliveTimeout));
    });
}

#[test]
fn without_a_timer_nobody_is_ended_by_silence() {
    on_virtual_time(async {
        let second = Duration::from_secs(1);
        let mut builder = server::Builder::new();
        builder
            .hardened()
            .handshake_timeout(second)
            .header_block_timeout(second)
            .settings_timeout(second)
            .stream_stall_timeout(second)
            .connection_stall_timeout(second)
            .idle_timeout(second)
            .keep_alive_interval(second)
            .keep_alive_timeout(second)
            .shutdown_grace(second);
        let (_silent, unborn) = serve(&builder, 4096);
        let (near, idle) = serve(&builder, 4096);
        let mut peer = Raw::begin(near, &[settings()]).await;
        let (near, stalled) = serve(&builder, 1000);
        let mut deaf = Raw::begin(near, &[settings()]).await;
        deaf.send([get(1)]).await;
        sleep(Duration::from_secs(3600)).await;
        assert!(![unborn, idle, stalled].iter().any(Served::is_finished));
        peer.send([get(1)]).await;
        peer.until(|frame| frame.kind == kind::DATA).await;
    });
}

/// A connection whose task is not polled for long, as on an executor that is busy.
struct Late {
    connection: server::Connection<DuplexStream, Bytes>,
}

impl Late {
    async fn new(builder: &server::Builder, size: usize) -> (Late, Raw) {
        let (near, far) = duplex(size);
        let beginning = [settings()];
        let (connection, peer) = tokio::join!(builder.handshake(far), Raw::begin(near, &beginning));
        let connection = connection.unwrap();
        (Late { connection }, peer)
    }

    /// Lets the task run for a while. It must not end.
    async fn run(&mut self, time: Duration) {
        let accepted = timeout(time, async {
            while let Some(accepted) = self.connection.accept().await {
                let (request, respond) = accepted.unwrap();
                spawn_local(async { drop(answer(request, respond).await) });
            }
        });
        assert!(accepted.await.is_err(), "the connection goes on");
    }

    /// Much later than any limit, it finds what the peer did in time.
    async fn comes_late(&mut self) {
        sleep(Duration::from_secs(1000)).await;
        self.run(Duration::from_millis(1)).await;
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_task_that_comes_late_looks_first_at_what_the_peer_has_done() {
    on_virtual_time(async {
        let mut builder = hardened();
        builder
            .keep_alive_interval(10 * SECOND)
            .keep_alive_timeout(5 * SECOND);
        let (mut late, mut peer) = Late::new(&builder, 4096).await;
        late.run(11 * SECOND).await;
        let asked = peer.until(|frame| frame.kind == kind::PING).await;
        peer.send([ping(asked.payload.try_into().unwrap()).ack()])
            .await;
        late.comes_late().await;
    });
    on_virtual_time(async {
        let (mut late, mut peer) = Late::new(&hardened(), 1 << 20).await;
        late.run(SECOND).await;
        peer.send([get(1).no_end_headers()]).await;
        late.run(SECOND).await;
        peer.send([frames::continuation(1)]).await;
        late.comes_late().await;
        peer.until(|frame| frame.id == 1 && frame.kind == kind::DATA)
            .await;
    });
    // The window, and then the transport.
    for size in [1 << 20, 1000] {
        on_virtual_time(async {
            let (mut late, mut peer) = Late::new(&hardened(), size).await;
            peer.send([get(1)]).await;
            late.run(20 * SECOND).await;
            peer.send([
                frames::window_update(0, 1 << 20),
                frames::window_update(1, 1 << 20),
            ])
            .await;
            peer.until(|frame| frame.kind == kind::DATA || size == 1000)
                .await;
            late.comes_late().await;
            let (_, end) =
                tokio::join!(late.run(SECOND), peer.until(|frame| frame.is_end_stream()));
            assert_eq!(end.kind, kind::DATA);
        });
    }
    on_virtual_time(async {
        let mut builder = hardened();
        builder.idle_timeout(100 * SECOND);
        let (mut late, mut peer) = Late::new(&builder, 1 << 20).await;
        late.run(SECOND).await;
        peer.send([get(1)]).await;
        late.comes_late().await;
        peer.until(|frame| frame.kind == kind::DATA).await;
    });
}
