//! Where requests start.
//!
//! Owns: `SendRequest` and its `ready` future. Does not know: ids (`handoff` gives them out), the
//! concurrency limit's bookkeeping (`proto`).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http::Request;

use super::ResponseFuture;
use crate::error::{Error, MessageRule, Misuse};
use crate::ext::Protocol;
use crate::handoff::{Hub, Unopened};
use crate::share::SendStream;

/// Starts streams: one request each.
///
/// It works on any task or thread, at the side of the [`Connection`](super::Connection) that does
/// the sending; without that, or after its end, everything here fails. Clones start streams on the
/// same connection. A client's connection ends when the last clone and the last stream are gone.
///
/// # Examples
///
/// ```
/// # async fn doc(requests: fairmux::client::SendRequest<&'static [u8]>)
/// # -> Result<(), Box<dyn std::error::Error>> {
/// let mut requests = requests.ready().await?;
/// let request = http::Request::post("https://example.com/upload").body(())?;
/// let (response, mut body) = requests.send_request(request, false)?;
/// body.send_data(b"hello ", false)?;
/// body.send_data(b"world", true)?;
/// println!("{}", response.await?.status());
/// # Ok(())
/// # }
/// ```
pub struct SendRequest<B: Buf> {
    hub: Hub<B>,
    /// The last request, if it had to wait for the server's limit on concurrent streams.
    waiting: Option<Unopened<B>>,
}

/// Resolves to its [`SendRequest`] once that is ready for one more request.
#[derive(Debug)]
pub struct ReadySendRequest<B: Buf> {
    requests: Option<SendRequest<B>>,
}

impl<B: Buf> SendRequest<B> {
    pub(super) fn new(hub: Hub<B>) -> Self {
        hub.shared().add_requester();
        SendRequest { hub, waiting: None }
    }

    /// Ready when one more request can be started: when the previous one of this handle no longer
    /// waits for the server's limit on concurrent streams.
    ///
    /// # Errors
    ///
    /// If no request can be started any more: the connection is over or going away, or its stream
    /// ids are used up.
    pub fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.hub.check_open()?;
        if let Some(waiting) = &self.waiting {
            ready!(waiting.poll_opened(cx))?;
            self.waiting = None;
        }
        Poll::Ready(Ok(()))
    }

    /// This handle, once it is ready; see [`poll_ready`](Self::poll_ready).
    pub fn ready(self) -> ReadySendRequest<B> {
        ReadySendRequest {
            requests: Some(self),
        }
    }

    /// Starts a stream with `request`, of which only the head is sent here.
    ///
    /// With `end_of_stream` the request has no body, and the [`SendStream`] can be dropped.
    /// Otherwise it sends the body and the trailers. The id of the stream is final at once, and
    /// requests leave in the order of their ids.
    ///
    /// The request needs a URI with scheme and authority; CONNECT has an authority alone, except
    /// that extended CONNECT ([RFC 8441][c]) has all parts and an [`ext::Protocol`] among its
    /// extensions, and is taken once the server has said that it knows it
    /// ([`is_extended_connect_protocol_enabled`](Self::is_extended_connect_protocol_enabled)). A
    /// request whose version is 1.1 or lower may lack both: it is sent with scheme `http` and its
    /// `host` field. Other extensions are dropped.
    ///
    /// # Errors
    ///
    /// Nothing has been sent and the connection lives on if the request is not valid
    /// ([RFC 9113 section 8][m]), or if the previous one still waits to be opened (see
    /// [`poll_ready`](Self::poll_ready)). Else as for `poll_ready`.
    ///
    /// [`ext::Protocol`]: Protocol
    /// [c]: https://www.rfc-editor.org/rfc/rfc8441.html#section-4
    /// [m]: https://www.rfc-editor.org/rfc/rfc9113.html#section-8
    pub fn send_request(
        &mut self,
        request: Request<()>,
        end_of_stream: bool,
    ) -> Result<(ResponseFuture, SendStream<B>), Error> {
        self.hub.check_open()?;
        if self.waiting.as_ref().is_some_and(Unopened::is_waiting) {
            return Err(Misuse::Rejected.into());
        }
        let mut head = Box::new(request.into_parts().0);
        // What the caller attached may own anything, handles of this connection too.
        let protocol = head.extensions.remove::<Protocol>();
        head.extensions.clear();
        if let Some(protocol) = protocol {
            //= RFC 8441 §3 only after the server has said that it knows the extension
            if !self.is_extended_connect_protocol_enabled() {
                return Err(Misuse::MalformedHeaders(MessageRule::ProtocolNotEnabled).into());
            }
            head.extensions.insert(protocol);
        }
        let (writer, reader) = self.hub.open_request(head, end_of_stream)?;
        self.waiting = self.next_waits().then(|| writer.unopened());
        Ok((ResponseFuture::new(reader), SendStream::new(writer)))
    }

    /// Whether the server takes extended CONNECT
    /// ([RFC 8441](https://www.rfc-editor.org/rfc/rfc8441.html#section-3)), as far as its SETTINGS
    /// have come.
    pub fn is_extended_connect_protocol_enabled(&self) -> bool {
        self.hub.shared().extended_connect()
    }

    /// How many streams this client may have open at once, as far as the server has said.
    pub fn current_max_send_streams(&self) -> usize {
        self.hub.shared().max_send_streams()
    }

    /// How many streams the server may have open at once.
    pub fn current_max_recv_streams(&self) -> usize {
        self.hub.shared().max_recv_streams()
    }

    /// Whether the stream just started, if it opens, is the last that the server's limit allows.
    fn next_waits(&self) -> bool {
        let shared = self.hub.shared();
        shared.max_send_streams() <= shared.active_streams().saturating_add(1)
    }
}

#[cfg(feature = "unstable")]
impl<B: Buf> SendRequest<B> {
    /// How many streams are open.
    pub fn num_active_streams(&self) -> usize {
        self.hub.shared().active_streams()
    }

    /// How many streams the connection keeps anything of: those that are open, and those whose
    /// handles are still held.
    pub fn num_wired_streams(&self) -> usize {
        self.hub.shared().wired_streams()
    }
}

impl<B: Buf> Clone for SendRequest<B> {
    fn clone(&self) -> Self {
        SendRequest::new(self.hub.clone())
    }
}

impl<B: Buf> Drop for SendRequest<B> {
    fn drop(&mut self) {
        self.hub.shared().drop_requester();
    }
}

impl<B: Buf> fmt::Debug for SendRequest<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendRequest").finish()
    }
}

impl<B: Buf> Future for ReadySendRequest<B> {
    type Output = Result<SendRequest<B>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut requests = self
            .requests
            .take()
            .expect("a future is not polled after its end");
        match requests.poll_ready(cx) {
            Poll::Ready(ready) => Poll::Ready(ready.map(|()| requests)),
            Poll::Pending => {
                self.requests = Some(requests);
                Poll::Pending
            }
        }
    }
}
