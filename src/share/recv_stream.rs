//! `RecvStream`: the receiving half of a stream, after its head.
//!
//! Owns: the public meaning of data, trailers and their end. Does not know: how data arrives.
//! Keeps: dropping it lets nothing lie unread (the credit of unread bytes goes back, I5).

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;

use super::FlowControl;
use crate::error::Error;
use crate::frame::StreamId;
use crate::handoff::Reader;

/// Receives the body of a message and its trailers.
///
/// A client gets one with the response, a server with the request.
///
/// # Flow control
///
/// Bytes that were read still count against the stream's window until they are given back with
/// [`FlowControl::release_capacity`]. A reader that forgets this stops its stream after one
/// window, and slows the whole connection down.
///
/// Dropping a `RecvStream` throws away what has not been read and returns the credit for it.
/// It does not reset the stream while a response can still be *sent* on it. Once the response is
/// complete and no handle is left, RST_STREAM with NO_ERROR stops what is left of the request
/// ([RFC 9113 section 8.1](https://www.rfc-editor.org/rfc/rfc9113.html#section-8.1)). Some clients
/// take that for a failure (curl 7.88 does): read short bodies to their end.
///
/// # Early ends
///
/// If the peer resets the stream after a part of the body, the bytes that came before are still
/// readable; then comes the error. A body that was reset never looks like one that ended.
///
/// # Example
///
/// ```no_run
/// # async fn example(mut body: fairmux::RecvStream) -> Result<(), fairmux::Error> {
/// while let Some(chunk) = body.data().await {
///     let chunk = chunk?;
///     println!("{} bytes", chunk.len());
///     body.flow_control().release_capacity(chunk.len())?;
/// }
/// let trailers = body.trailers().await?;
/// # drop(trailers);
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct RecvStream {
    flow_control: FlowControl,
}

impl RecvStream {
    pub(crate) fn new(reader: Reader) -> RecvStream {
        RecvStream {
            flow_control: FlowControl::new(reader),
        }
    }

    /// The next part of the body, or `None` at its end.
    ///
    /// # Errors
    ///
    /// The stream was reset, the message was malformed, or the connection failed.
    pub async fn data(&mut self) -> Option<Result<Bytes, Error>> {
        poll_fn(|cx| self.poll_data(cx)).await
    }

    /// The trailers, or `None` if the message has none.
    ///
    /// They come after the body: read [`data`](RecvStream::data) to its end first.
    ///
    /// # Errors
    ///
    /// Those of [`data`](RecvStream::data).
    pub async fn trailers(&mut self) -> Result<Option<HeaderMap>, Error> {
        poll_fn(|cx| self.poll_trailers(cx)).await
    }

    /// Polls for the next part of the body: see [`data`](RecvStream::data).
    pub fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        self.reader().poll_data(cx)
    }

    /// Polls for the trailers: see [`trailers`](RecvStream::trailers).
    pub fn poll_trailers(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<HeaderMap>, Error>> {
        self.reader().poll_trailers(cx)
    }

    /// Whether the message has ended and nothing of it is left to read.
    ///
    /// If so, [`data`](RecvStream::data) and [`trailers`](RecvStream::trailers) both answer
    /// `None`. It is true from the start for a message that has no body.
    pub fn is_end_stream(&self) -> bool {
        self.reader().is_end_stream()
    }

    /// The flow control of this stream, to use at once or to clone and keep.
    pub fn flow_control(&mut self) -> &mut FlowControl {
        &mut self.flow_control
    }

    /// The identifier of the stream.
    pub fn stream_id(&self) -> StreamId {
        self.reader().id()
    }

    fn reader(&self) -> &Reader {
        self.flow_control.reader()
    }
}

#[cfg(feature = "stream")]
impl futures_core::Stream for RecvStream {
    type Item = Result<Bytes, Error>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Self::Item>> {
        self.poll_data(cx)
    }
}

impl Drop for RecvStream {
    fn drop(&mut self) {
        self.reader().stop_reading();
    }
}

impl fmt::Debug for RecvStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvStream")
            .field("reader", self.reader())
            .finish()
    }
}
