//! The answer to one request.
//!
//! Owns: `SendResponse`. Does not know: the order of what leaves (`proto`), what was sent before
//! (the stream's cell keeps it).

use std::task::{Context, Poll};

use bytes::Buf;
use http::{Request, Response};

use super::SendPushedResponse;
use crate::error::Error;
use crate::frame::{Reason, StreamId};
use crate::handoff::{Hub, PollReset, Writer};
use crate::message::{Head, Priority};
use crate::share::SendStream;

/// Answers one request: with a response, or with a reset; pushes before it if the client lets it.
///
/// If it is dropped, and every other handle of the stream, before the response is complete, the
/// stream is reset.
///
/// # Examples
///
/// ```
/// # fn doc(mut respond: fairmux::server::SendResponse<&'static [u8]>)
/// # -> Result<(), Box<dyn std::error::Error>> {
/// let response = http::Response::builder().header("content-type", "text/plain").body(())?;
/// let mut body = respond.send_response(response, false)?;
/// body.send_data(b"hello", true)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SendResponse<B: Buf> {
    writer: Writer<B>,
    hub: Hub<B>,
}

impl<B: Buf> SendResponse<B> {
    pub(super) fn new(writer: Writer<B>, hub: Hub<B>) -> Self {
        SendResponse { writer, hub }
    }

    /// Sends an informational response (1xx), such as 103 Early Hints; as many as wanted, before
    /// the response itself ([RFC 9113 section 8.1][s]).
    ///
    /// # Errors
    ///
    /// If the status is not 1xx, or is 101, which HTTP/2 does not have; if a field is not valid;
    /// if the response was sent already; if the stream is over.
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-8.1
    pub fn send_informational(&mut self, response: Response<()>) -> Result<(), Error> {
        let mut head = Box::new(response.into_parts().0);
        head.extensions.clear();
        self.writer.send_head(Head::Informational(head), false)
    }

    /// Sends the response, of which only the head is sent here.
    ///
    /// With `end_of_stream` it has no body, and the [`SendStream`] can be dropped. Otherwise that
    /// sends the body and the trailers.
    ///
    /// # Errors
    ///
    /// If the response is not valid ([RFC 9113 section 8][s]), if one was sent already, or if the
    /// stream is over.
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-8
    pub fn send_response(
        &mut self,
        response: Response<()>,
        end_of_stream: bool,
    ) -> Result<SendStream<B>, Error> {
        let mut head = Box::new(response.into_parts().0);
        head.extensions.clear();
        self.writer.send_head(Head::Response(head), end_of_stream)?;
        Ok(SendStream::new(self.writer.clone()))
    }

    /// Promises the client the response to `request`, which it has not asked for
    /// ([RFC 9113 section 8.4](https://www.rfc-editor.org/rfc/rfc9113.html#section-8.4)).
    ///
    /// The promise leaves before what is sent on this stream later: promise first, then send the
    /// response that refers to it.
    ///
    /// # Errors
    ///
    /// If the client does not take pushed responses, if `request` is not safe, cacheable and
    /// without a body, if this stream is over, or if no stream can be started any more.
    pub fn push_request(&mut self, request: Request<()>) -> Result<SendPushedResponse<B>, Error> {
        let mut head = Box::new(request.into_parts().0);
        head.extensions.clear();
        let writer = self.hub.open_promise(self.writer.id(), head)?;
        Ok(SendPushedResponse::new(SendResponse::new(
            writer,
            self.hub.clone(),
        )))
    }

    /// Resets the stream: nothing more is sent or read on it, the client gets `reason`.
    ///
    /// Later calls on this and the other handles of the stream fail.
    pub fn send_reset(&mut self, reason: Reason) {
        self.writer.send_reset(reason);
    }

    /// Ready with the reason when the client has reset the stream, so that work on a response that
    /// nobody waits for can stop.
    ///
    /// # Errors
    ///
    /// If the response was sent already
    /// ([`SendStream::poll_reset`](crate::SendStream::poll_reset) goes on from there), or if the
    /// connection fails.
    pub fn poll_reset(&mut self, cx: &mut Context<'_>) -> Poll<Result<Reason, Error>> {
        self.writer.poll_reset(cx, PollReset::AwaitingHeaders)
    }

    /// Sets how urgent the response is (0 to 7, 0 first; a larger value is taken as 7) and whether
    /// it is of use in parts ([RFC 9218 section 4](https://www.rfc-editor.org/rfc/rfc9218.html#section-4)).
    ///
    /// It overrides what the client asked for. Where neither has said anything a stream has urgency 3
    /// and takes turns with others, as if incremental.
    pub fn set_priority(&mut self, urgency: u8, incremental: bool) {
        self.writer.set_priority(Priority {
            urgency: urgency.min(7),
            incremental,
        });
    }

    /// The id of the stream.
    pub fn stream_id(&self) -> StreamId {
        self.writer.id()
    }
}
