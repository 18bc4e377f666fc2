//! Responses that the server pushes.
//!
//! Owns: the promises of one request and their responses
//! ([RFC 9113 section 8.4](https://www.rfc-editor.org/rfc/rfc9113.html#section-8.4)). Does not
//! know: how a promise is checked (`message`) or limited (`proto`).

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};

use super::ResponseFuture;
use crate::error::Error;
use crate::frame::StreamId;
use crate::handoff::{Promise, Reader};
use crate::share::RecvStream;

/// What the server promised to push along with one response.
///
/// Promises that nobody takes are cancelled when this and the other handles of the request are
/// gone.
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct PushPromises {
    reader: Reader,
}

/// One promise: the request that the server answers unasked, and its response.
#[derive(Debug)]
pub struct PushPromise {
    request: Request<()>,
    response: PushedResponseFuture,
}

/// Resolves to a pushed response; see [`ResponseFuture`]. It has no promises of its own.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct PushedResponseFuture {
    response: ResponseFuture,
}

impl PushPromises {
    pub(super) fn new(reader: Reader) -> Self {
        PushPromises { reader }
    }

    /// The next promise; `None` when the server can make no more on this stream.
    ///
    /// # Errors
    ///
    /// If the stream or the connection fails.
    pub async fn push_promise(&mut self) -> Option<Result<PushPromise, Error>> {
        poll_fn(|cx| self.poll_push_promise(cx)).await
    }

    /// As [`push_promise`](Self::push_promise), by polling.
    pub fn poll_push_promise(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<PushPromise, Error>>> {
        let next = ready!(self.reader.poll_promise(cx));
        Poll::Ready(next.map(|promise| promise.map(PushPromise::new)))
    }
}

impl Drop for PushPromises {
    fn drop(&mut self) {
        self.reader.refuse_promises();
    }
}

#[cfg(feature = "stream")]
impl futures_core::Stream for PushPromises {
    type Item = Result<PushPromise, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_push_promise(cx)
    }
}

impl PushPromise {
    fn new(Promise { request, reader }: Promise) -> Self {
        let response = PushedResponseFuture {
            response: ResponseFuture::new(reader),
        };
        PushPromise { request, response }
    }

    /// The promised request, which has no body.
    pub fn request(&self) -> &Request<()> {
        &self.request
    }

    /// The promised request, to change or to take apart.
    pub fn request_mut(&mut self) -> &mut Request<()> {
        &mut self.request
    }

    /// The promised request, and its response to wait for.
    pub fn into_parts(self) -> (Request<()>, PushedResponseFuture) {
        (self.request, self.response)
    }
}

impl PushedResponseFuture {
    /// The id of the stream that the response comes on.
    pub fn stream_id(&self) -> StreamId {
        self.response.stream_id()
    }
}

impl Future for PushedResponseFuture {
    type Output = Result<Response<RecvStream>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.response).poll(cx)
    }
}
