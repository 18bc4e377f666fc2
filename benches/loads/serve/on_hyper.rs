//! A server on hyper: HTTP/2, which is hyper on h2, and HTTP/1.1.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};

use super::answer::{self, Asked};

pub(super) async fn serve<T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(io: T) {
    let served = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(100)
        .serve_connection(TokioIo::new(io), service_fn(respond));
    // An error means that the client has left.
    let _ = served.await;
}

pub(super) async fn serve1<T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(io: T) {
    let served = http1::Builder::new().serve_connection(TokioIo::new(io), service_fn(respond));
    let _ = served.await;
}

async fn respond(request: Request<Incoming>) -> Result<Response<Answer>, Infallible> {
    let length = match Asked::of(&request) {
        Asked::Bytes(length) => length,
        Asked::Sink => {
            let mut body = request.into_body();
            while let Some(Ok(_)) = body.frame().await {}
            0
        }
        Asked::Wait => std::future::pending().await,
    };
    Ok(answer::head(length, Answer { left: length }))
}

/// A body of static bytes.
struct Answer {
    left: u64,
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
        let piece = answer::piece(self.left);
        self.left -= piece.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
