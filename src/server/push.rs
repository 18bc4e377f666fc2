//! The response to a promised request.
//!
//! Owns: `SendPushedResponse`: a [`SendResponse`] that cannot promise anything. Does not know: more.

use std::fmt;
use std::task::{Context, Poll};

use bytes::Buf;
use http::Response;

use super::SendResponse;
use crate::error::Error;
use crate::frame::{Reason, StreamId};
use crate::share::SendStream;

/// Sends the response that was promised with [`SendResponse::push_request`].
///
/// If it is dropped, and every other handle of the stream, before the response is complete, the
/// promised stream is reset.
pub struct SendPushedResponse<B: Buf> {
    respond: SendResponse<B>,
}

impl<B: Buf> SendPushedResponse<B> {
    pub(super) fn new(respond: SendResponse<B>) -> Self {
        SendPushedResponse { respond }
    }

    /// Sends the response; see [`SendResponse::send_response`]. It waits where the client's limit
    /// on concurrent streams is reached.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn send_response(
        &mut self,
        response: Response<()>,
        end_of_stream: bool,
    ) -> Result<SendStream<B>, Error> {
        self.respond.send_response(response, end_of_stream)
    }

    /// Takes the promise back: the stream is reset with `reason`.
    pub fn send_reset(&mut self, reason: Reason) {
        self.respond.send_reset(reason);
    }

    /// Ready with the reason when the client has reset the promised stream; see
    /// [`SendResponse::poll_reset`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn poll_reset(&mut self, cx: &mut Context<'_>) -> Poll<Result<Reason, Error>> {
        self.respond.poll_reset(cx)
    }

    /// The id of the promised stream.
    pub fn stream_id(&self) -> StreamId {
        self.respond.stream_id()
    }
}

impl<B: Buf + fmt::Debug> fmt::Debug for SendPushedResponse<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SendPushedResponse")
            .field(&self.respond)
            .finish()
    }
}
