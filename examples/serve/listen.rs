//! Owns listeners and connections, from the first byte to the drain at the end. Knows nothing of
//! paths or files.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::{route, socket};
use fairmux::server::Builder;

/// A client that has not said what it is by then is gone.
const HELLO: Duration = Duration::from_secs(10);

/// How long to wait when no connection can be accepted, most likely for want of descriptors.
const BREATH: Duration = Duration::from_millis(100);

/// For clients that speak HTTP/1.1 over TLS.
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

/// Accepts connections until it is time to stop.
pub(crate) async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, service: Service) {
    let mut stop = service.stop.clone();
    let mut stop = pin!(stop.wait_for(|stop| *stop));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut stop => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                let service = service.clone();
                // Two kinds of task: one in clear text has no room for a handshake of TLS.
                match tls.clone() {
                    None => tokio::spawn(told(peer, || service.open(stream))),
                    Some(tls) => tokio::spawn(told(peer, || service.open_secure(stream, tls))),
                };
            }
            Err(why) => rest(&why).await,
        }
    }
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
    async fn open(self, stream: TcpStream) -> Fallible {
        socket::tune(&stream)?;
        self.serve(stream).await
    }

    async fn open_secure(mut self, stream: TcpStream, tls: TlsAcceptor) -> Fallible {
        socket::tune(&stream)?;
        let mut stream = tokio::select! {
            stream = timeout(HELLO, tls.accept(stream)) => stream??,
            _ = self.stop.wait_for(|stop| *stop) => return Ok(()),
        };
        match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => {
                // A batch bounds what it holds: the next one comes when this one has left.
                stream.get_mut().1.set_buffer_limit(None);
                self.serve(stream).await
            }
            _ => Ok(timeout(HELLO, refuse(&mut stream)).await??),
        }
    }

    /// Answers requests until the client leaves, or until those that are open at the end are done.
    async fn serve<T: AsyncRead + AsyncWrite + Unpin>(mut self, io: T) -> Fallible {
        let mut stop = pin!(self.stop.wait_for(|stop| *stop));
        let mut connection = tokio::select! {
            connection = timeout(HELLO, self.builder.handshake(io)) => connection??,
            _ = &mut stop => return Ok(()),
        };
        let mut draining = false;
        loop {
            tokio::select! {
                biased;
                request = connection.accept() => match request {
                    Some(request) => {
                        let (request, respond) = request?;
                        if let Err(why) = route::answer(&self.root, request, respond) {
                            tracing::debug!("no answer: {why}");
                        }
                    }
                    None => return Ok(()),
                },
                _ = &mut stop, if !draining => {
                    draining = true;
                    connection.graceful_shutdown();
                }
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
