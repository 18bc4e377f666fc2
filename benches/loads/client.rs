//! The client: it walks over frames, counts, and opens windows; it does not look at what it gets.
//! So it costs less than a server, and what is measured is the server.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::parser::{Parser, Part};
use super::{Failure, tls};
use crate::support::wire::{self, Head, Method};

/// Octets that a read is offered.
const SPACE: usize = 256 * 1024;

/// What a client asks for.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    /// Requests that a connection has open at once.
    pub(crate) streams: usize,
    /// Requests of all connections.
    pub(crate) requests: usize,
    pub(crate) path: String,
    /// Of a stream, and of a connection.
    pub(crate) windows: (u32, u32),
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Seconds until all was there.
    pub(crate) wall: f64,
    /// Bytes of DATA.
    pub(crate) payload: u64,
    /// Seconds of each request, in no order.
    pub(crate) latencies: Vec<f64>,
}

/// Called with the requests that are done.
pub(crate) type Watch = dyn Fn(u64) + Send + Sync;

/// Windows that never close, as `h2load` has them.
pub(crate) const WIDE: (u32, u32) = ((1 << 30) - 1, (1 << 30) - 1);

/// Runs a load to its end.
pub(crate) fn run(
    addr: SocketAddr,
    is_tls: bool,
    load: &Load,
    watch: Arc<Watch>,
) -> Result<Outcome, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let connector = match is_tls {
        true => Some(tls::connector(b"h2")?),
        false => None,
    };
    runtime.block_on(async {
        let (begin, done) = (now(), Arc::new(AtomicU64::new(0)));
        let mut tasks = JoinSet::new();
        for index in 0..load.connections {
            let mut part = load.clone();
            part.requests = share(load.requests, load.connections, index);
            let (connector, shared) = (connector.clone(), (Arc::clone(&done), Arc::clone(&watch)));
            tasks.spawn(async move {
                let stream = TcpStream::connect(addr).await?;
                stream.set_nodelay(true)?;
                let Some(connector) = connector else {
                    return Connection::new(stream, part, shared).run().await;
                };
                // One system call for many records.
                let stream = BufReader::with_capacity(SPACE, stream);
                let stream = connector.connect("localhost".try_into()?, stream).await?;
                Connection::new(stream, part, shared).run().await
            });
        }
        let mut outcome = Outcome::default();
        while let Some(part) = tasks.join_next().await {
            let part = part??;
            outcome.payload += part.payload;
            outcome.latencies.extend(part.latencies);
        }
        outcome.wall = begin.elapsed().as_secs_f64();
        Ok(outcome)
    })
}

/// One download over HTTP/1.1 and TLS. Answers its seconds.
pub(crate) fn run_http1(addr: SocketAddr, path: &str, size: u64) -> Result<f64, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let connector = tls::connector(b"http/1.1")?;
    runtime.block_on(async {
        let begin = now();
        let stream = TcpStream::connect(addr).await?;
        stream.set_nodelay(true)?;
        let stream = BufReader::with_capacity(SPACE, stream);
        let mut stream = connector.connect("localhost".try_into()?, stream).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut buffer = vec![0; SPACE];
        let mut head = Vec::new();
        let mut body = 0;
        while body < size {
            let count = stream.read(&mut buffer).await?;
            if count == 0 {
                return Err("the server has closed the connection".into());
            }
            if body > 0 {
                body += count as u64;
                continue;
            }
            head.extend_from_slice(&buffer[..count]);
            let end = head.windows(4).position(|end| end == b"\r\n\r\n");
            body = end.map_or(0, |end| head.len() - end - 4) as u64;
        }
        Ok(begin.elapsed().as_secs_f64())
    })
}

fn share(all: usize, parts: usize, index: usize) -> usize {
    all / parts + usize::from(index < all % parts)
}

#[expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

struct Connection<T> {
    io: T,
    state: State,
    done: Arc<AtomicU64>,
    watch: Arc<Watch>,
}

struct State {
    load: Load,
    /// What goes out next.
    out: Vec<u8>,
    next_id: u32,
    asked: usize,
    answered: usize,
    /// Bytes that came and are not given back to the windows: of the connection, of each stream.
    unreturned: u32,
    unreturned_of: HashMap<u32, u32>,
    started: HashMap<u32, Instant>,
    outcome: Outcome,
    fault: Option<String>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Connection<T> {
    fn new(io: T, load: Load, (done, watch): (Arc<AtomicU64>, Arc<Watch>)) -> Connection<T> {
        Connection {
            io,
            state: State::new(load),
            done,
            watch,
        }
    }

    async fn run(mut self) -> Result<Outcome, Failure> {
        let mut buffer = vec![0; SPACE];
        let mut parser = Parser::default();
        loop {
            let state = &mut self.state;
            state.ask();
            if !state.out.is_empty() {
                self.io.write_all(&state.out).await?;
                self.io.flush().await?;
                state.out.clear();
            }
            if state.answered == state.load.requests {
                return Ok(self.state.outcome);
            }
            let count = self.io.read(&mut buffer).await?;
            if count == 0 {
                return Err("the server has closed the connection".into());
            }
            let before = state.answered;
            parser.walk(&buffer[..count], |head, part| state.take(head, part));
            if let Some(fault) = state.fault.take() {
                return Err(fault.into());
            }
            let new = (state.answered - before) as u64;
            if new > 0 {
                (self.watch)(self.done.fetch_add(new, Ordering::Relaxed) + new);
            }
        }
    }
}

impl State {
    fn new(load: Load) -> State {
        State {
            out: wire::hello(load.windows.0, load.windows.1),
            load,
            next_id: 1,
            asked: 0,
            answered: 0,
            unreturned: 0,
            unreturned_of: HashMap::new(),
            started: HashMap::new(),
            outcome: Outcome::default(),
            fault: None,
        }
    }

    fn ask(&mut self) {
        while self.asked < self.load.requests && self.asked - self.answered < self.load.streams {
            let request = wire::request(self.next_id, Method::Get, &self.load.path);
            self.out.extend(request);
            self.started.insert(self.next_id, now());
            self.next_id += 2;
            self.asked += 1;
        }
    }

    fn take(&mut self, head: Head, part: Part<'_>) {
        match head.kind {
            wire::DATA => self.data(head, part.len() as u32),
            wire::SETTINGS if part.is_last() && head.flags & wire::ACK == 0 => {
                let ack = wire::frame(wire::SETTINGS, wire::ACK, 0, &[]);
                self.out.extend(ack);
            }
            wire::PING if head.flags & wire::ACK == 0 => {
                if let Part::Last(payload) = part {
                    let ack = wire::frame(wire::PING, wire::ACK, 0, payload);
                    self.out.extend(ack);
                }
            }
            wire::RST_STREAM | wire::GOAWAY => self.fault = Some(format!("{head:?} {part:?}")),
            _ => {}
        }
        if part.is_last() && head.is_end() {
            self.end(head.id);
        }
    }

    fn data(&mut self, head: Head, length: u32) {
        self.outcome.payload += u64::from(length);
        let (stream_window, window) = self.load.windows;
        self.unreturned += length;
        if self.unreturned >= window / 2 {
            self.out.extend(wire::window_update(0, self.unreturned));
            self.unreturned = 0;
        }
        let own = self.unreturned_of.entry(head.id).or_default();
        *own += length;
        if *own >= stream_window / 2 && !head.is_end() {
            self.out.extend(wire::window_update(head.id, *own));
            *own = 0;
        }
    }

    fn end(&mut self, id: u32) {
        self.answered += 1;
        self.unreturned_of.remove(&id);
        if let Some(begin) = self.started.remove(&id) {
            let latency: Duration = begin.elapsed();
            self.outcome.latencies.push(latency.as_secs_f64());
        }
    }
}
