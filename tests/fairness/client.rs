//! A client that asks, counts what comes, and opens windows as its script says; and its server.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use fairmux::server::{Builder, SendResponse};
use fairmux::{Error, Reason, SendStream, Stats};
use http::{HeaderMap, Response};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex};
use tokio::net::TcpStream;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

use super::support::{Frame, flag, frame, headers, kind, setting, settings, settings_ack};

const PIECE: usize = 1024;
static ZEROS: [u8; 5_000_000] = [0; 5_000_000];
const WIDE: u32 = (1 << 31) - 1;

/// What the server's side shows.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    /// Bytes that `send` has accepted.
    pub(crate) accepted: Rc<Cell<usize>>,
    pub(crate) stats: Rc<RefCell<Option<Stats>>>,
    /// Streams of `/hold` that have capacity and do not use it.
    pub(crate) holding: Rc<Cell<usize>>,
}

/// What leads to the server.
trait Io: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Io for T {}

pub(crate) struct Client {
    io: Box<dyn Io>,
    input: Vec<u8>,
    /// Bytes of DATA by stream.
    pub(crate) got: BTreeMap<u32, usize>,
    /// Streams that ended, in the order of their ends.
    pub(crate) ended: Vec<u32>,
    pub(crate) total: usize,
    pub(crate) seen: Seen,
    next_id: u32,
    /// A server that says nothing for so long has nothing to say.
    silence: Duration,
}

/// Runs a script with virtual time: waiting costs none, and nothing can hang.
pub(crate) fn run(pipe: usize, script: impl AsyncFnOnce(&mut Client)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    LocalSet::new().block_on(&runtime.unwrap(), async {
        let (near, far) = duplex(pipe);
        let seen = Seen::default();
        spawn_local(serve(far, seen.clone()));
        let mut client = Client::new(Box::new(near), seen, Duration::from_secs(1)).await;
        script(&mut client).await;
    });
}

/// Runs a script against another program, which listens here.
pub(crate) fn run_against(server: &str, script: impl AsyncFnOnce(&mut Client)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let io = TcpStream::connect(server).await.unwrap();
        io.set_nodelay(true).unwrap();
        let silence = Duration::from_secs(60);
        let mut client = Client::new(Box::new(io), Seen::default(), silence).await;
        script(&mut client).await;
    });
}

impl Client {
    async fn new(io: Box<dyn Io>, seen: Seen, silence: Duration) -> Client {
        let mut client = Client {
            io,
            input: Vec::new(),
            got: BTreeMap::new(),
            ended: Vec::new(),
            total: 0,
            seen,
            next_id: 1,
            silence,
        };
        client.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
        client
    }

    /// Sends SETTINGS with this window for each stream.
    pub(crate) async fn stream_windows(&mut self, size: u32) {
        let frame = settings().set(setting::INITIAL_WINDOW_SIZE, size);
        self.send(frame).await;
    }

    pub(crate) async fn wide_windows(&mut self) {
        self.stream_windows(WIDE).await;
    }

    /// Opens the window of the connection by so much.
    pub(crate) async fn grant(&mut self, bytes: usize) {
        let increment = u32::try_from(bytes).unwrap();
        self.send(super::support::window_update(0, increment)).await;
    }

    pub(crate) async fn ask(&mut self, path: &str, priority: &str) -> u32 {
        let (id, head) = self.head(path, priority);
        self.send(head).await;
        id
    }

    /// Asks for this so many times, in one write: no stream is there before the others.
    pub(crate) async fn ask_at_once(&mut self, path: &str, times: usize) {
        let mut octets = Vec::new();
        for _ in 0..times {
            octets.extend(self.head(path, "").1.encode());
        }
        self.write(&octets).await;
    }

    fn head(&mut self, path: &str, priority: &str) -> (u32, Frame) {
        let id = self.next_id;
        self.next_id += 2;
        self.got.insert(id, 0);
        let mut head = headers(id).request("GET", path);
        if !priority.is_empty() {
            head = head.field("priority", priority);
        }
        (id, head.end_stream())
    }

    pub(crate) async fn send(&mut self, frame: Frame) {
        self.write(&frame.encode()).await;
    }

    async fn write(&mut self, octets: &[u8]) {
        self.io.write_all(octets).await.unwrap();
    }

    /// Lets the server do all that it can do now.
    pub(crate) async fn settle(&self) {
        sleep(Duration::from_millis(1)).await;
    }

    /// The next frame; none if the server has nothing more to say.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = Frame::parse(&mut self.input) {
                self.note(&frame).await;
                return Some(frame);
            }
            let reading = self.io.read_buf(&mut self.input);
            match timeout(self.silence, reading).await {
                Ok(Ok(n)) if n > 0 => {}
                Ok(end) => panic!("the connection ended: {end:?}"),
                Err(_) => return None,
            }
        }
    }

    /// All frames that come without a further word, except housekeeping.
    pub(crate) async fn rest(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            let is_kept = matches!(frame.kind, kind::DATA | kind::HEADERS | kind::RST_STREAM);
            frames.extend(is_kept.then_some(frame));
        }
        frames
    }

    async fn note(&mut self, received: &Frame) {
        match received.kind {
            kind::DATA => {
                *self.got.get_mut(&received.id).unwrap() += received.payload.len();
                self.total += received.payload.len();
                if received.has(flag::END_STREAM) {
                    self.ended.push(received.id);
                }
            }
            kind::SETTINGS if !received.has(flag::ACK) => self.send(settings_ack()).await,
            kind::PING if !received.has(flag::ACK) => {
                let pong = frame(kind::PING, flag::ACK, 0, &received.payload);
                self.send(pong).await;
            }
            kind::GOAWAY => panic!("{received:?}"),
            _ => {}
        }
    }
}

async fn serve(io: DuplexStream, seen: Seen) {
    let mut connection = Builder::new().handshake::<_, Bytes>(io).await.unwrap();
    loop {
        let accepted = poll_fn(|cx| {
            let accepted = connection.poll_accept(cx);
            *seen.stats.borrow_mut() = Some(connection.stats());
            accepted
        });
        let Some(Ok((request, respond))) = accepted.await else {
            return;
        };
        let path = request.uri().path().to_owned();
        spawn_local(answer(path, respond, seen.clone()));
    }
}

/// An answer that fails was cancelled, and nobody waits for it.
async fn answer(path: String, mut respond: SendResponse<Bytes>, seen: Seen) -> Result<(), Error> {
    if path == "/reset" {
        respond.send_reset(Reason::CANCEL);
        return Ok(());
    }
    if path == "/override/1000" {
        respond.set_priority(0, false);
    }
    let mut body = respond.send_response(Response::new(()), false)?;
    match path.rsplit('/').next() {
        Some("hold") => hold(&mut body, &seen).await,
        Some("trailers") => {
            let mut trailers = HeaderMap::new();
            trailers.insert("checksum", "1".parse().unwrap());
            body.send_trailers(trailers)
        }
        Some(size) if path.starts_with("/endless") => {
            let size = size.parse().unwrap();
            loop {
                produce(&mut body, size, &seen).await?;
            }
        }
        Some(length) if path.starts_with("/large") => {
            produce(&mut body, length.parse().unwrap(), &seen).await?;
            body.send_data(Bytes::new(), true)
        }
        Some(length) if path.starts_with("/whole") => {
            let length = length.parse().unwrap();
            body.send_data(Bytes::from(vec![7; length]), true)
        }
        Some(length) => {
            let length: usize = length.parse().unwrap();
            for start in (0..length).step_by(PIECE) {
                produce(&mut body, PIECE.min(length - start), &seen).await?;
            }
            body.send_data(Bytes::new(), true)
        }
        None => Ok(()),
    }
}

async fn produce(body: &mut SendStream<Bytes>, size: usize, seen: &Seen) -> Result<(), Error> {
    body.send(Bytes::from_static(&ZEROS).slice(..size)).await?;
    seen.accepted.set(seen.accepted.get() + size);
    Ok(())
}

/// Sends as much as it may have buffered in any case, waits for more, and then does nothing with it.
async fn hold(body: &mut SendStream<Bytes>, seen: &Seen) -> Result<(), Error> {
    produce(body, 16 * 1024, seen).await?;
    body.reserve_capacity(1 << 20);
    while let Some(capacity) = poll_fn(|cx| body.poll_capacity(cx)).await {
        if capacity? > 0 {
            seen.holding.set(seen.holding.get() + 1);
            break;
        }
    }
    std::future::pending().await
}
