//! The response to one request.
//!
//! Owns: `ResponseFuture`. Does not know: how a response comes about (`message`, `proto`).

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;

use super::PushPromises;
use crate::error::Error;
use crate::frame::StreamId;
use crate::handoff::Reader;
use crate::share::RecvStream;

/// Resolves to the response of one request, as soon as its head is there.
///
/// The body and the trailers follow through the [`RecvStream`] in it. A response that is complete
/// stays readable when the server resets the stream after it with NO_ERROR, as servers do that
/// need no more of the request
/// ([RFC 9113 section 8.1](https://www.rfc-editor.org/rfc/rfc9113.html#section-8.1)).
///
/// # Errors
///
/// If the stream or the connection ends before there is a response.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture {
    reader: Reader,
    promises_taken: bool,
}

impl ResponseFuture {
    pub(super) fn new(reader: Reader) -> Self {
        ResponseFuture {
            reader,
            promises_taken: false,
        }
    }

    /// The id of the request's stream.
    pub fn stream_id(&self) -> StreamId {
        self.reader.id()
    }

    /// The next informational response (1xx) that came before the final one.
    ///
    /// `None` when no more will come: the final response is there. Those that nobody asks for are
    /// dropped.
    ///
    /// # Errors
    ///
    /// If the stream or the connection ends before there is a response.
    pub fn poll_informational(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Response<()>, Error>>> {
        self.reader.poll_informational(cx)
    }

    /// What the server promises to push along with this response.
    ///
    /// # Panics
    ///
    /// If this was called before.
    pub fn push_promises(&mut self) -> PushPromises {
        assert!(!self.promises_taken, "push_promises was called before");
        self.promises_taken = true;
        PushPromises::new(self.reader.clone())
    }
}

impl Drop for ResponseFuture {
    fn drop(&mut self) {
        // A push that nobody can take would hold credit of the connection, and stop the response.
        if !self.promises_taken {
            self.reader.refuse_promises();
        }
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<RecvStream>, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.reader.poll_response(cx))?;
        Poll::Ready(Ok(response.map(|()| RecvStream::new(self.reader.clone()))))
    }
}
