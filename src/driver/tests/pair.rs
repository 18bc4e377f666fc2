//! Two drivers over an in-memory pipe: the whole crate below the public connections.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};

use super::super::{Driver, TURNS_PER_POLL};
use crate::error::{Error, Violation};
use crate::frame::Reason;
use crate::handoff::{Cell, Hub, PollReset, Reader, Writer};
use crate::message::Head;
use crate::proto::Config;

type Piped = Driver<DuplexStream, Bytes>;

/// One SendRequest, for as long as it lives.
struct Requester(Hub<Bytes>);

impl Requester {
    fn new(hub: &Hub<Bytes>) -> Requester {
        hub.shared().add_requester();
        Requester(hub.clone())
    }

    fn send(&self, path: &str, end: bool) -> (Writer<Bytes>, Reader) {
        self.try_send(path, end).unwrap()
    }

    fn try_send(&self, path: &str, end: bool) -> Result<(Writer<Bytes>, Reader), Error> {
        let method = if end { Method::GET } else { Method::POST };
        let request = Request::builder()
            .method(method)
            .uri(format!("http://host{path}"));
        let (parts, ()) = request.body(()).unwrap().into_parts();
        self.0.open_request(Box::new(parts), end)
    }
}

impl Drop for Requester {
    fn drop(&mut self) {
        self.0.shared().drop_requester();
    }
}

async fn response(reader: &Reader) -> Result<Response<()>, Error> {
    poll_fn(|cx| reader.poll_response(cx)).await
}

async fn data(reader: &Reader) -> Option<Result<Bytes, Error>> {
    poll_fn(|cx| reader.poll_data(cx)).await
}

async fn read_to_end(reader: &Reader) -> Result<Vec<u8>, Error> {
    let mut whole = Vec::new();
    while let Some(chunk) = data(reader).await {
        let chunk = chunk?;
        reader.release(chunk.len())?;
        whole.extend_from_slice(&chunk);
    }
    Ok(whole)
}

/// Sends when there is capacity.
async fn send(writer: &Writer<Bytes>, chunk: Bytes) -> Result<(), Error> {
    writer.reserve(chunk.len());
    while writer.capacity() == 0 {
        poll_fn(|cx| writer.poll_capacity(cx)).await.transpose()?;
    }
    writer.send_data(chunk, false)
}

/// Test bytes in which a wrong place shows.
fn pattern(length: usize) -> Bytes {
    (0..length).map(|at| (at / 7 + at) as u8).collect()
}

/// Answers every request with its own body and trailers.
async fn echo(cell: Cell<Bytes>) -> Result<(), Error> {
    let (writer, reader) = cell.handles();
    let request = reader.take_request().unwrap();
    let (parts, ()) = Response::new(()).into_parts();
    writer.send_head(Head::Response(Box::new(parts)), false)?;
    while let Some(chunk) = data(&reader).await {
        let chunk = chunk?;
        reader.release(chunk.len())?;
        send(&writer, chunk).await?;
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("path", HeaderValue::from_str(request.uri().path()).unwrap());
    writer.send_trailers(trailers)
}

async fn serve<T: AsyncRead + AsyncWrite + Unpin>(io: T) -> Result<(), Error> {
    let mut driver = Driver::server(io, Config::default());
    poll_fn(|cx| driver.poll_handshake(cx)).await?;
    while let Some(cell) = poll_fn(|cx| driver.poll_accept(cx)).await {
        tokio::spawn(echo(cell?));
    }
    Ok(())
}

fn connect(io: DuplexStream) -> (Requester, Piped) {
    let driver = Driver::client(io, Config::default());
    (Requester::new(driver.hub()), driver)
}

/// A client whose connection runs in a task, and a server that echoes.
fn start(pipe: usize) -> (Requester, [tokio::task::JoinHandle<Result<(), Error>>; 2]) {
    let (near, far) = tokio::io::duplex(pipe);
    let (requester, mut client) = connect(near);
    let client = tokio::spawn(async move { poll_fn(|cx| client.poll(cx)).await });
    (requester, [client, tokio::spawn(serve(far))])
}

async fn exchange(requester: &Requester, path: &str, body: Bytes) -> Result<(), Error> {
    let (writer, reader) = requester.send(path, false);
    let sending = async {
        for chunk in body.chunks(10_000) {
            send(&writer, Bytes::copy_from_slice(chunk)).await?;
        }
        writer.send_data(Bytes::new(), true)
    };
    let receiving = async {
        response(&reader).await?;
        let echoed = read_to_end(&reader).await?;
        assert!(echoed == body, "the echo differs");
        let trailers = poll_fn(|cx| reader.poll_trailers(cx)).await?.unwrap();
        assert_eq!(trailers["path"], path);
        Ok(())
    };
    tokio::try_join!(sending, receiving).map(|_| ())
}

#[tokio::test]
async fn a_body_goes_there_and_back_over_every_pipe() {
    for (pipe, length) in [
        (1, 3_000),
        (9, 20_000),
        (1000, 300_000),
        (1 << 20, 3_000_000),
    ] {
        let (requester, tasks) = start(pipe);
        exchange(&requester, "/one", pattern(length)).await.unwrap();
        drop(requester);
        for task in tasks {
            task.await.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn many_streams_share_a_connection() {
    let (requester, tasks) = start(4096);
    let exchanges = (0..50).map(|stream| {
        let requester = Requester::new(&requester.0);
        tokio::spawn(async move {
            let path = format!("/{stream}");
            exchange(&requester, &path, pattern(stream * 3_000)).await
        })
    });
    for exchange in exchanges.collect::<Vec<_>>() {
        exchange.await.unwrap().unwrap();
    }
    drop(requester);
    for task in tasks {
        task.await.unwrap().unwrap();
    }
}

/// The pattern of those who send whole messages: nothing is sent until there is capacity for all of it.
#[tokio::test]
async fn who_waits_for_all_of_it_gets_it_when_others_have_sent() {
    const WHOLE: usize = 100_000;
    let (near, far) = tokio::io::duplex(4096);
    let config = Config {
        send_room: 200_000,
        ..Config::default()
    };
    let mut client = Driver::client(near, config);
    let requester = Requester::new(client.hub());
    tokio::spawn(async move { poll_fn(|cx| client.poll(cx)).await });
    let mut server = std::pin::pin!(sink(far));
    let (hello, hello_reader) = requester.send("/hello", false);
    hello.send_data(Bytes::new(), true).unwrap();
    tokio::select! {
        answer = response(&hello_reader) => drop(answer.unwrap()),
        ended = &mut server => panic!("{ended:?}"),
    }
    let (busy, _busy_reader) = requester.send("/busy", false);
    let (whole, _whole_reader) = requester.send("/whole", false);
    busy.send_data(pattern(190_000), true).unwrap();
    whole.reserve(WHOLE);
    // The server sleeps: what there is at first is soon told, and then nothing comes for long.
    for _ in 0..100 {
        let _ = poll_fn(|cx| Poll::Ready(whole.poll_capacity(cx))).await;
        tokio::task::yield_now().await;
    }
    assert!(
        (1..WHOLE).contains(&whole.capacity()),
        "{}",
        whole.capacity()
    );
    // A task of its own, which nothing else wakes.
    let waiting = tokio::spawn(async move {
        while whole.capacity() < WHOLE {
            let capacity = poll_fn(|cx| whole.poll_capacity(cx)).await;
            capacity.unwrap().unwrap();
        }
    });
    tokio::select! {
        waited = waiting => waited.unwrap(),
        ended = &mut server => panic!("{ended:?}"),
        _ = tokio::time::sleep(Duration::from_secs(20)) => panic!("nobody wakes it"),
    }
}

/// Answers every request when all of it has come.
async fn sink(io: DuplexStream) -> Result<(), Error> {
    let config = Config {
        initial_window_size: 1 << 20,
        ..Config::default()
    };
    let mut driver: Piped = Driver::server(io, config);
    while let Some(cell) = poll_fn(|cx| driver.poll_accept(cx)).await {
        let (writer, reader) = cell?.handles();
        tokio::spawn(async move {
            read_to_end(&reader).await?;
            let (parts, ()) = Response::new(()).into_parts();
            writer.send_head(Head::Response(Box::new(parts)), true)
        });
    }
    Ok(())
}

#[tokio::test]
async fn a_ping_is_answered() {
    let (requester, _tasks) = start(64);
    let shared = requester.0.shared();
    for ping in [1, 2] {
        shared.send_ping([ping; 8]).unwrap();
        poll_fn(|cx| shared.poll_pong(cx)).await.unwrap();
    }
}

#[tokio::test]
async fn a_wrong_preface_gets_goaway_and_the_end() {
    //= test RFC 9113 §3.4
    let (mut near, far) = tokio::io::duplex(1 << 16);
    let server = tokio::spawn(serve(far));
    near.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    near.read_to_end(&mut answer).await.unwrap();
    let error = server.await.unwrap().unwrap_err();
    assert_eq!(error.as_violation(), Some(&Violation::BadPreface));
    assert_eq!(error.reason(), Some(Reason::PROTOCOL_ERROR));
    let go_away = answer
        .windows(4)
        .position(|bytes| bytes[3] == 7 && bytes[..2] == [0, 0]);
    assert!(go_away.is_some(), "no GOAWAY in {answer:?}");
}

#[tokio::test]
async fn the_handshake_waits_for_the_whole_preface() {
    let (mut near, far) = tokio::io::duplex(1 << 16);
    let mut driver: Driver<_, Bytes> = Driver::server(far, Config::default());
    let mut cx = Context::from_waker(Waker::noop());
    let (last, most) = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".split_last().unwrap();
    near.write_all(most).await.unwrap();
    assert!(driver.poll_handshake(&mut cx).is_pending());
    near.write_all(&[*last]).await.unwrap();
    assert!(matches!(
        driver.poll_handshake(&mut cx),
        Poll::Ready(Ok(()))
    ));
}

#[tokio::test]
async fn a_peer_that_leaves_before_the_preface_is_an_error() {
    let (near, far) = tokio::io::duplex(1 << 16);
    drop(near);
    assert!(serve(far).await.unwrap_err().is_io());
}

#[tokio::test]
async fn a_peer_that_vanishes_fails_every_waiting_task() {
    let (near, mut far) = tokio::io::duplex(1 << 16);
    let (requester, mut client) = connect(near);
    let client = tokio::spawn(async move { poll_fn(|cx| client.poll(cx)).await });
    let (writer, reader) = requester.send("/", false);
    far.read_exact(&mut [0; 40]).await.unwrap();
    drop(far);
    assert!(response(&reader).await.is_err());
    assert!(
        poll_fn(|cx| writer.poll_reset(cx, PollReset::Streaming))
            .await
            .is_err()
    );
    let _ = client.await.unwrap();
    assert!(requester.try_send("/", true).is_err());
}

#[tokio::test]
async fn dropping_the_connection_fails_what_waits_to_open() {
    let (near, _far) = tokio::io::duplex(1 << 16);
    let (requester, client) = connect(near);
    let (_writer, reader) = requester.send("/", true);
    drop(client);
    assert!(response(&reader).await.unwrap_err().is_io());
    assert!(requester.try_send("/", true).is_err());
}

/// A peer that is always readable: SETTINGS, then PING after PING. It takes all it is told.
struct Flood {
    sent: usize,
    taken: Vec<u8>,
}

const EMPTY_SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
const PING: [u8; 17] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];

impl AsyncRead for Flood {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while buffer.remaining() > 0 {
            let next = match self.sent.checked_sub(EMPTY_SETTINGS.len()) {
                None => EMPTY_SETTINGS[self.sent],
                Some(at) => PING[at % PING.len()],
            };
            buffer.put_slice(&[next]);
            self.sent += 1;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Flood {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.taken.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Counts how often it is woken.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_peer_that_never_stops_sending_does_not_hold_the_task() {
    let bell = std::sync::Arc::new(Bell::default());
    let waker = Waker::from(bell.clone());
    let flood = Flood {
        sent: 0,
        taken: Vec::new(),
    };
    let mut driver: Driver<_, Bytes> = Driver::client(flood, Config::default());
    let _requester = Requester::new(driver.hub());
    let mut cx = Context::from_waker(&waker);
    assert!(driver.poll(&mut cx).is_pending());
    assert!(bell.0.load(Ordering::Relaxed) > 0, "it wants to go on");
    let frames = driver.connection().stats().frames_received as usize;
    assert!(
        (256..=TURNS_PER_POLL * 256).contains(&frames),
        "{frames} frames in one go"
    );
    let pong = [0, 0, 8, 6, 1];
    let answers = driver.io.taken.windows(5).filter(|head| *head == pong);
    assert!(
        answers.count() > 256,
        "answers leave while it goes on sending"
    );
}
