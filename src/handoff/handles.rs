//! `Reader` and `Writer`: counted references of the application to the halves of a cell.
//!
//! Owns: the counting (rule 8) and nothing else; `share`, `client` and `server` wrap them into the
//! public types. Does not know: the connection task.

use std::fmt;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::{HeaderMap, Request, Response};

use super::inbox::Inbox;
use super::outbox::Outbox;
use crate::error::{Error, Misuse};
use crate::frame::{Reason, StreamId};
use crate::message::{self, ContentLength, Head, Priority};
use crate::sync::Arc;

/// When a reset may still be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PollReset {
    /// Before the response's head has been sent.
    AwaitingHeaders,
    /// While the body is sent.
    Streaming,
}

/// A handle to the receiving half. A clone counts; the last one to go returns all credit.
#[derive(Debug)]
pub(crate) struct Reader {
    inbox: Arc<Inbox>,
}

/// A handle to the sending half. A clone counts.
pub(crate) struct Writer<B> {
    outbox: Arc<Outbox<B>>,
    /// Keeps the count, so that dropping needs no bound on `B`.
    counted: Counted,
}

/// A response that the peer has promised: to which request, and where it will come.
#[derive(Debug)]
pub(crate) struct Promise {
    pub(crate) request: Request<()>,
    pub(crate) reader: Reader,
}

/// A request that may still wait for a concurrency slot. It does not count as a handle.
#[derive(Debug)]
pub(crate) struct Unopened<B> {
    outbox: Arc<Outbox<B>>,
}

/// One of the handles of a stream.
#[derive(Debug)]
struct Counted(Arc<Inbox>);

impl Reader {
    pub(super) fn new(inbox: Arc<Inbox>) -> Reader {
        inbox.add_reader();
        Reader { inbox }
    }

    pub(crate) fn id(&self) -> StreamId {
        self.inbox.id()
    }

    pub(crate) fn take_request(&self) -> Option<Request<()>> {
        self.inbox.take_request()
    }

    pub(crate) fn poll_response(&self, cx: &Context<'_>) -> Poll<Result<Response<()>, Error>> {
        self.inbox.poll_response(cx)
    }

    pub(crate) fn poll_informational(
        &self,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Response<()>, Error>>> {
        self.inbox.poll_informational(cx)
    }

    pub(crate) fn poll_promise(&self, cx: &Context<'_>) -> Poll<Option<Result<Promise, Error>>> {
        self.inbox.poll_promise(cx)
    }

    pub(crate) fn poll_data(&self, cx: &Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        self.inbox.poll_data(cx)
    }

    pub(crate) fn poll_trailers(&self, cx: &Context<'_>) -> Poll<Result<Option<HeaderMap>, Error>> {
        self.inbox.poll_trailers(cx)
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        self.inbox.is_end_stream()
    }

    /// The body's handle is gone: unread data is dropped, its credit returns.
    pub(crate) fn stop_reading(&self) {
        self.inbox.stop_reading();
    }

    /// The handle that takes promises is gone: those that wait or come are cancelled.
    pub(crate) fn refuse_promises(&self) {
        self.inbox.refuse_promises();
    }

    pub(crate) fn release(&self, bytes: usize) -> Result<(), Error> {
        self.inbox.release(bytes)
    }

    pub(crate) fn used_capacity(&self) -> usize {
        self.inbox.used_capacity()
    }

    /// What is left of the window that the peer was given for this stream.
    pub(crate) fn available_capacity(&self) -> isize {
        let window = self.inbox.shared().recv_window() as isize;
        window - self.inbox.used_capacity() as isize
    }
}

impl<B: Buf> Writer<B> {
    pub(super) fn new(outbox: Arc<Outbox<B>>) -> Writer<B> {
        let counted = Counted::new(Arc::clone(outbox.inbox()));
        Writer { outbox, counted }
    }

    pub(crate) fn id(&self) -> StreamId {
        self.outbox.id()
    }

    /// Sends a 1xx or the response.
    pub(crate) fn send_head(&self, head: Head, end: bool) -> Result<(), Error> {
        let length = match &head {
            Head::Response(parts) => message::check_response(parts)?,
            Head::Informational(parts) => {
                message::check_informational(parts)?;
                ContentLength::Unknown
            }
            Head::Request(_) => return Err(Misuse::UnexpectedFrame.into()),
        };
        self.outbox.send_head(head, length, end)
    }

    pub(crate) fn reserve(&self, bytes: usize) {
        self.outbox.reserve(bytes);
    }

    pub(crate) fn capacity(&self) -> usize {
        self.outbox.capacity()
    }

    pub(crate) fn poll_capacity(&self, cx: &Context<'_>) -> Poll<Option<Result<usize, Error>>> {
        self.outbox.poll_capacity(cx)
    }

    pub(crate) fn send_data(&self, data: B, end: bool) -> Result<(), Error> {
        self.outbox.send_data(data, end)
    }

    pub(crate) fn poll_send(
        &self,
        cx: &Context<'_>,
        data: &mut Option<B>,
    ) -> Poll<Result<(), Error>> {
        self.outbox.poll_send(cx, data)
    }

    pub(crate) fn send_trailers(&self, trailers: HeaderMap) -> Result<(), Error> {
        message::check_trailers(&trailers)?;
        self.outbox.send_trailers(trailers)
    }

    pub(crate) fn send_reset(&self, reason: Reason) {
        self.outbox.send_reset(reason);
    }

    pub(crate) fn poll_reset(
        &self,
        cx: &Context<'_>,
        mode: PollReset,
    ) -> Poll<Result<Reason, Error>> {
        self.outbox.poll_reset(cx, mode)
    }

    /// To see when the request leaves the queue, whatever becomes of its handles.
    pub(crate) fn unopened(&self) -> Unopened<B> {
        Unopened {
            outbox: Arc::clone(&self.outbox),
        }
    }

    pub(crate) fn set_priority(&self, priority: Priority) {
        self.outbox.set_priority(priority);
    }
}

impl<B: Buf> Unopened<B> {
    pub(crate) fn is_waiting(&self) -> bool {
        !self.outbox.has_opened()
    }

    /// Ready when the request no longer waits: it has its slot, or is over.
    pub(crate) fn poll_opened(&self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        self.outbox.poll_opened(cx)
    }
}

impl Counted {
    fn new(inbox: Arc<Inbox>) -> Counted {
        inbox.add_handle();
        Counted(inbox)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::new(Arc::clone(&self.0))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.drop_handle();
    }
}

impl Clone for Reader {
    fn clone(&self) -> Reader {
        Reader::new(Arc::clone(&self.inbox))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.inbox.drop_reader();
    }
}

impl<B> fmt::Debug for Writer<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("stream_id", &self.counted.0.id())
            .finish_non_exhaustive()
    }
}

impl<B> Clone for Writer<B> {
    fn clone(&self) -> Writer<B> {
        Writer {
            outbox: Arc::clone(&self.outbox),
            counted: self.counted.clone(),
        }
    }
}

#[cfg(test)]
impl<B: Buf> Unopened<B> {
    /// How the producer of this stream stands.
    pub(crate) fn producer(&self) -> super::tests::probe::Producer {
        self.outbox.producer()
    }

    /// Nobody else knows the cell any more.
    pub(crate) fn is_last(&self) -> bool {
        Arc::strong_count(&self.outbox) == 1
    }
}
