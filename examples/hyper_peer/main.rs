//! The measure for `serve`: hyper 1.x on `h2` 0.4, with the same answers to `/` and `/bytes/N`, the
//! same sockets and the same TLS. `h2load` against the one and the other compares the libraries.

#[path = "../serve/fault.rs"]
mod fault;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "only `serve` answers with fresh memory")
)]
#[path = "../serve/page.rs"]
mod page;
#[cfg(test)]
#[path = "../serve/scratch.rs"]
mod scratch;
#[path = "../serve/socket.rs"]
mod socket;
#[path = "../serve/tls.rs"]
mod tls;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll};

use bytes::Bytes;
use clap::Parser;
use http::header::{self, HeaderValue};
use http::{Request, Response, StatusCode};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::fault::Fault;

/// hyper's way of doing what `serve` does for `/` and `/bytes/N`.
#[derive(Parser)]
struct Options {
    /// Where to listen in clear text.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Where to listen with TLS.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen_tls: SocketAddr,
    /// 1 is a current-thread runtime.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report("hyper_peer"),
    }
}

fn run(options: &Options) -> Result<(), Fault> {
    let mut builder = match options.threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder
        .worker_threads(options.threads)
        .enable_all()
        .build()
        .map_err(|why| Fault::new("cannot start threads", why))?
        .block_on(serve(options))
}

async fn serve(options: &Options) -> Result<(), Fault> {
    let plain = socket::listen(options.listen, "--listen")?;
    let secure = socket::listen(options.listen_tls, "--listen-tls")?;
    let tls = TlsAcceptor::from(tls::config(None)?);
    println!("  http://{}/\n  https://{}/", addr(&plain), addr(&secure));
    tokio::join!(accept(plain, None), accept(secure, Some(tls)));
    Ok(())
}

fn addr(listener: &TcpListener) -> String {
    listener
        .local_addr()
        .map_or_else(|why| why.to_string(), |addr| addr.to_string())
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        if socket::tune(&stream).is_err() {
            continue;
        }
        let tls = tls.clone();
        tokio::spawn(async move {
            match tls {
                None => connection(stream).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        connection(stream).await;
                    }
                }
            }
        });
    }
}

async fn connection<T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(io: T) {
    let service = service_fn(|request| std::future::ready(Ok::<_, Infallible>(answer(&request))));
    let served =
        http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(io), service);
    if let Err(why) = served.await {
        eprintln!("hyper_peer: {why}");
    }
}

fn answer(request: &Request<Incoming>) -> Response<Answer> {
    let path = request.uri().path();
    if path == "/" {
        let index = Bytes::from_static(page::INDEX.as_bytes());
        return with_body(
            "text/html; charset=utf-8",
            Answer {
                whole: Some(index),
                at: 0,
                len: page::INDEX.len() as u64,
            },
        );
    }
    match path.strip_prefix("/bytes/").map(str::parse) {
        Some(Ok(len)) => with_body(
            "application/octet-stream",
            Answer {
                whole: None,
                at: 0,
                len,
            },
        ),
        _ => {
            let mut response = Response::new(Answer {
                whole: None,
                at: 0,
                len: 0,
            });
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    }
}

fn with_body(kind: &'static str, body: Answer) -> Response<Answer> {
    let len = HeaderValue::from(body.len);
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CONTENT_LENGTH, len);
    response
}

/// A body of static bytes: the index, or slices of the page.
struct Answer {
    whole: Option<Bytes>,
    at: u64,
    len: u64,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.is_end_stream() {
            return Poll::Ready(None);
        }
        let left = usize::try_from(self.len - self.at).unwrap_or(usize::MAX);
        let piece = self
            .whole
            .take()
            .unwrap_or_else(|| page::slice(self.at, left));
        self.at += piece.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.at == self.len
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len - self.at)
    }
}
