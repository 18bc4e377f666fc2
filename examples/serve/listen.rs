//! Owns listeners and connections, from the first byte to the drain at the end. Knows nothing of
//! paths or files.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::{route, socket};
use fairmux::server::Builder;

/// A client that has not said what it is by then is gone.
const HELLO: Duration = Duration::from_secs(10);

/// The same once it is time to stop: who has connected before that is still served.
const LATE: Duration = Duration::from_secs(5);

/// For so long at the end a new connection is not sent away before it has asked something. There are
/// proxies that lose what they were about to ask when they hear at once that the server goes away.
const FIRST: Duration = Duration::from_secs(1);

/// How long to wait when no connection can be accepted, most likely for want of descriptors.
const BREATH: Duration = Duration::from_millis(100);

/// For clients that speak HTTP/1.1.
const REFUSAL: &[u8] = b"HTTP/1.1 505 HTTP Version Not Supported\r\n\
    content-type: text/plain\r\ncontent-length: 32\r\nconnection: close\r\n\r\n\
    This server speaks only HTTP/2.\n";

type Fallible = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// What every connection is served with. Clones are alive as long as connections are.
#[derive(Clone)]
pub(crate) struct Service {
    /// The directory, by its canonical name.
    pub(crate) root: Arc<Path>,
    /// The settings of connections.
    pub(crate) builder: Builder,
    /// True as soon as it is time to stop.
    pub(crate) stop: watch::Receiver<bool>,
    /// Closed when the last connection is.
    pub(crate) _alive: mpsc::Sender<()>,
}

/// Accepts connections until `closed` says true, then all that the kernel has accepted before.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    service: Service,
    mut closed: watch::Receiver<bool>,
) {
    let mut closed = pin!(closed.wait_for(|closed| *closed));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut closed => break,
        };
        match accepted {
            Ok((stream, peer)) => open(stream, peer, tls.clone(), service.clone()),
            Err(why) => rest(&why).await,
        }
    }
    // The kernel itself is asked, since tokio may not have heard yet of who came last.
    let Ok(listener) = listener.into_std() else {
        return;
    };
    while let Ok((stream, peer)) = listener.accept() {
        if let Ok(stream) = nonblocking(stream) {
            open(stream, peer, tls.clone(), service.clone());
        }
    }
}

fn nonblocking(stream: std::net::TcpStream) -> io::Result<TcpStream> {
    stream.set_nonblocking(true)?;
    TcpStream::from_std(stream)
}

fn open(stream: TcpStream, peer: SocketAddr, tls: Option<TlsAcceptor>, service: Service) {
    // Two kinds of task: one in clear text has no room for a handshake of TLS.
    match tls {
        None => tokio::spawn(told(peer, || service.open(stream))),
        Some(tls) => tokio::spawn(told(peer, || service.open_secure(stream, tls))),
    };
}

/// Serves a connection, and logs its beginning and its end. A future that is handed over would lie
/// in the task twice, as what came and as what is awaited.
async fn told<F: Future<Output = Fallible>>(peer: SocketAddr, serve: impl FnOnce() -> F) {
    tracing::info!(%peer, "connected");
    match serve().await {
        Ok(()) => tracing::info!(%peer, "closed"),
        Err(why) => tracing::info!(%peer, "closed: {why}"),
    }
}

/// A client that gave up costs nothing. Anything else will most likely fail again at once, and
/// trying without a pause would keep the thread from the work that frees what is missing.
async fn rest(why: &io::Error) {
    let given_up = [
        io::ErrorKind::ConnectionAborted,
        io::ErrorKind::ConnectionReset,
    ];
    if !given_up.contains(&why.kind()) {
        tracing::warn!("cannot accept a connection: {why}");
        sleep(BREATH).await;
    }
}

impl Service {
    async fn open(mut self, mut stream: TcpStream) -> Fallible {
        socket::tune(&stream)?;
        let mut start = [0; 3];
        let read = hello(&mut self.stop, || stream.peek(&mut start)).await??;
        if !b"PRI".starts_with(&start[..read]) {
            return Ok(Box::pin(timeout(HELLO, refuse(&mut stream))).await??);
        }
        self.serve(stream).await
    }

    async fn open_secure(mut self, stream: TcpStream, tls: TlsAcceptor) -> Fallible {
        socket::tune(&stream)?;
        let mut stream = hello(&mut self.stop, || tls.accept(stream)).await??;
        match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => {
                // A batch bounds what it holds: the next one comes when this one has left.
                stream.get_mut().1.set_buffer_limit(None);
                self.serve(stream).await
            }
            // Apart, since it is seldom there and large.
            _ => Ok(Box::pin(timeout(HELLO, refuse(&mut stream))).await??),
        }
    }

    /// Answers requests until the client leaves, or until those that are open at the end are done.
    async fn serve<T: AsyncRead + AsyncWrite + Unpin>(mut self, io: T) -> Fallible {
        let mut connection = hello(&mut self.stop, || self.builder.handshake(io)).await??;
        let mut stop = pin!(self.stop.wait_for(|stop| *stop));
        let (mut asked, mut told) = (false, false);
        let mut late = None;
        loop {
            tokio::select! {
                biased;
                request = connection.accept() => match request {
                    Some(request) => {
                        asked = true;
                        if late.take().is_some() {
                            connection.graceful_shutdown();
                        }
                        let (request, respond) = request?;
                        if let Err(why) = route::answer(&self.root, request, respond) {
                            tracing::debug!("no answer: {why}");
                        }
                    }
                    None => return Ok(()),
                },
                _ = &mut stop, if !told => {
                    told = true;
                    if asked {
                        connection.graceful_shutdown();
                    } else {
                        // Apart, since it is seldom there: it would lie in each connection's task.
                        late = Some(Box::pin(sleep(FIRST)));
                    }
                }
                () = over(&mut late), if late.is_some() => {
                    late = None;
                    connection.graceful_shutdown();
                }
            }
        }
    }
}

/// When the time has come, if one is set.
async fn over(late: &mut Option<Pin<Box<Sleep>>>) {
    match late {
        Some(late) => late.await,
        None => std::future::pending().await,
    }
}

/// A handshake, in the time that it has. As with `told`, its future is made where it lies.
async fn hello<F: Future>(
    stop: &mut watch::Receiver<bool>,
    handshake: impl FnOnce() -> F,
) -> io::Result<F::Output> {
    let mut handshake = pin!(handshake());
    let mut stop = pin!(stop.wait_for(|stop| *stop));
    let mut time = pin!(sleep(HELLO));
    let mut told = false;
    loop {
        tokio::select! {
            biased;
            done = &mut handshake => return Ok(done),
            () = &mut time => return Err(io::ErrorKind::TimedOut.into()),
            // Without a sender it is over as well.
            _ = &mut stop, if !told => {
                told = true;
                let end = time.deadline().min(Instant::now() + LATE);
                time.as_mut().reset(end);
            }
        }
    }
}

/// Reads the head of a request, so that the answer is not lost in a reset, and refuses it.
async fn refuse<T: AsyncRead + AsyncWrite + Unpin>(stream: &mut T) -> io::Result<()> {
    let mut head = [0; 4096];
    let mut len = 0;
    while len < head.len() && !head[..len].windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut head[len..]).await? {
            0 => break,
            read => len += read,
        }
    }
    stream.write_all(REFUSAL).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Server {
        service: Service,
        stop: watch::Sender<bool>,
        ended: mpsc::Receiver<()>,
    }

    fn server() -> Server {
        let (stop, stopped) = watch::channel(false);
        let (alive, ended) = mpsc::channel(1);
        let service = Service {
            root: Path::new("/").into(),
            builder: Builder::new(),
            stop: stopped,
            _alive: alive,
        };
        Server {
            service,
            stop,
            ended,
        }
    }

    /// Preface, SETTINGS and `GET /`: what a client writes at once, before it hears anything.
    const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\
        \0\0\0\x04\0\0\0\0\0\
        \0\0\x06\x01\x05\0\0\0\x01\x82\x84\x87\x41\x01x";

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_not_sent_away_before_it_has_asked_or_had_the_time() {
        let server = server();
        let (mut near, far) = tokio::io::duplex(8192);
        server.stop.send(true).unwrap();
        tokio::spawn(server.service.serve(far));
        let (greeting, request) = GREETING.split_at(33);
        near.write_all(greeting).await.unwrap();
        let begin = Instant::now();
        let mut heads = Vec::new();
        let mut octets = [0; 256];
        // SETTINGS and their acknowledgement come at once, GOAWAY later.
        while !heads.contains(&7) {
            let read = near.read(&mut octets).await.unwrap();
            let mut rest = &octets[..read];
            while let [_, _, length, kind, ..] = rest {
                heads.push(*kind);
                rest = &rest[9 + usize::from(*length)..];
            }
        }
        assert_eq!(begin.elapsed().as_secs(), FIRST.as_secs());
        near.write_all(request).await.unwrap();
        let read = near.read(&mut octets).await.unwrap();
        assert!(
            octets[..read].contains(&0x88),
            "and what it then asks is answered"
        );
    }

    /// Asks, answers the ping of the shutdown, and is answered before the connection ends.
    async fn ask<T: AsyncRead + AsyncWrite + Unpin>(mut io: T) {
        io.write_all(GREETING).await.unwrap();
        let mut is_answered = false;
        let mut head = [0; 9];
        while io.read_exact(&mut head).await.is_ok() {
            let mut payload = vec![0; usize::from(head[1]) * 256 + usize::from(head[2])];
            io.read_exact(&mut payload).await.unwrap();
            match (head[3], head[8]) {
                // HEADERS, of which the first is the indexed ":status: 200".
                (1, 1) => is_answered = payload[0] == 0x88,
                (6, 0) => {
                    head[4] = 1;
                    io.write_all(&head).await.unwrap();
                    io.write_all(&payload).await.unwrap();
                }
                _ => {}
            }
        }
        assert!(is_answered);
    }

    #[tokio::test]
    async fn who_waits_in_the_listen_queue_at_the_end_is_answered() {
        let mut server = server();
        let listener = socket::listen(([127, 0, 0, 1], 0).into(), "--listen").unwrap();
        let addr = listener.local_addr().unwrap();
        let mut clients = Vec::new();
        for _ in 0..10 {
            clients.push(TcpStream::connect(addr).await.unwrap());
        }
        let (close, closed) = watch::channel(true);
        accept(listener, None, server.service, closed).await;
        drop(close);
        server.stop.send(true).unwrap();
        assert!(TcpStream::connect(addr).await.is_err());
        for client in clients {
            ask(client).await;
        }
        assert_eq!(server.ended.recv().await, None);
    }

    #[tokio::test]
    async fn who_is_still_in_its_handshake_at_the_end_is_answered() {
        let mut server = server();
        let (near, far) = tokio::io::duplex(8192);
        server.stop.send(true).unwrap();
        let served = tokio::spawn(server.service.serve(far));
        tokio::task::yield_now().await;
        ask(near).await;
        served.await.unwrap().unwrap();
        assert_eq!(server.ended.recv().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_handshake_has_less_time_at_the_end() {
        let server = server();
        let begin = Instant::now();
        let mut stop = server.service.stop.clone();
        let never = std::future::pending::<()>;
        hello(&mut stop, never).await.unwrap_err();
        assert_eq!(begin.elapsed().as_secs(), HELLO.as_secs());
        server.stop.send(true).unwrap();
        hello(&mut stop, never).await.unwrap_err();
        assert_eq!(begin.elapsed().as_secs(), (HELLO + LATE).as_secs());
        assert_eq!(hello(&mut stop, || async { 7 }).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn who_speaks_http_1_in_clear_text_is_told_what_this_is() {
        let server = server();
        let listener = socket::listen(([127, 0, 0, 1], 0).into(), "--listen").unwrap();
        let addr = listener.local_addr().unwrap();
        let (_close, closed) = watch::channel(false);
        tokio::spawn(accept(listener, None, server.service, closed));
        let mut client = TcpStream::connect(addr).await.unwrap();
        client.write_all(b"POST / HTTP/1.1\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 505 "), "{answer}");
    }

    #[tokio::test]
    async fn a_refusal_is_a_whole_answer() {
        let (mut ours, mut theirs) = tokio::io::duplex(8192);
        theirs
            .write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            .await
            .unwrap();
        refuse(&mut ours).await.unwrap();
        let mut answer = String::new();
        theirs.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 505 "));
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())));
    }
}
