//! The receiving half of a cell: head, data, trailers, promises, the end, and their credit.
//!
//! Owns: what the peer sent and the reader has not taken, the count of handles, the address. Does
//! not know: the payload type of the sending half. Keeps I7 for readers, and rule 7 (credit) of
//! the layer: every byte delivered is returned exactly once.

use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};

use super::address::{Address, Post};
use super::credit::Place;
use super::handles::Promise;
use super::received::{End, Reading, Received};
use super::shared::Shared;
use super::waiting::{poll_locked, wake};
use crate::error::{Error, Misuse};
use crate::frame::StreamId;
use crate::message::Head;
use crate::proto::port::Delivery;
use crate::sync::{Arc, AtomicBool, AtomicUsize, Mutex, Ordering, lock};

/// The half of a stream's cell that the reader and the connection task share.
#[derive(Debug)]
pub(crate) struct Inbox {
    id: StreamId,
    shared: Arc<Shared>,
    opener: Opener,
    pub(super) address: Address,
    /// Handles of both halves; zero is final (rule 8).
    handles: AtomicUsize,
    /// Handles of this half.
    readers: AtomicUsize,
    /// Counted among those that the application still holds.
    is_held: AtomicBool,
    received: Mutex<Received>,
}

/// Who opened the stream: those of the peer count as held while the application has handles, until
/// they end well. Then the peer has had its answer, and what the application still does is its own
/// matter: a client that asks again at once must not be refused for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opener {
    /// This side.
    Local,
    /// The peer.
    Remote,
}

impl Inbox {
    pub(super) fn new(id: StreamId, shared: Arc<Shared>, opener: Opener) -> Inbox {
        Inbox {
            id,
            shared,
            opener,
            address: Address::new(),
            handles: AtomicUsize::new(0),
            readers: AtomicUsize::new(0),
            is_held: AtomicBool::new(false),
            received: Mutex::new(Received::default()),
        }
    }

    pub(super) fn id(&self) -> StreamId {
        self.id
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    // ---- handles -------------------------------------------------------------------------

    /// Counts a handle of either half.
    pub(super) fn add_handle(&self) {
        let before = self.handles.fetch_add(1, Ordering::Relaxed);
        if before == 0 && self.opener == Opener::Remote {
            self.is_held.store(true, Ordering::Release);
            self.shared.hold();
        }
    }

    pub(super) fn add_reader(&self) {
        self.add_handle();
        self.readers.fetch_add(1, Ordering::Relaxed);
    }

    /// One handle less; the last one tells the task.
    pub(super) fn drop_handle(&self) {
        if self.handles.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.let_go();
            self.post();
        }
    }

    /// One reader less; the last one returns the credit of whatever is unread or unreleased.
    pub(super) fn drop_reader(&self) {
        if self.readers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.stop_reading();
            self.release_all();
        }
        self.drop_handle();
    }

    /// Counts no longer as held, if it did.
    fn let_go(&self) {
        if self.is_held.swap(false, Ordering::AcqRel) {
            self.shared.let_go();
        }
    }

    /// Whether the last handle is gone. A change that changes nothing, so that of this and the going one
    /// comes first: a handle that goes later sees what the task did before, the cleared mark.
    pub(super) fn is_abandoned(&self) -> bool {
        self.handles.fetch_add(0, Ordering::AcqRel) == 0
    }

    /// Tells the task that this cell has news (rule 4: after the change, outside the lock).
    pub(super) fn post(&self) {
        match self.address.post() {
            Post::Push(key) => self.shared.post(key),
            Post::Pending | Post::Gone => {}
        }
    }

    // ---- the task ------------------------------------------------------------------------

    pub(super) fn deliver_head(&self, head: Head, end: bool) {
        let (reader, early, pushes) = {
            let mut received = lock(&self.received);
            if let Head::Informational(parts) = head {
                let extra = received.extra();
                extra
                    .informational
                    .push_back(Response::from_parts(*parts, ()));
                (None, extra.early.take(), None)
            } else {
                received.head = Some(head);
                received.has_final = true;
                let pushes = received.end_if(end);
                (received.reader.take(), received.take_early(), pushes)
            }
        };
        wake(reader);
        wake(early);
        wake(pushes);
    }

    pub(super) fn deliver_data(&self, data: Bytes, end: bool) -> Delivery {
        let mut unwanted = None;
        let (reader, pushes) = {
            let mut received = lock(&self.received);
            let pushes = received.end_if(end);
            if received.reading == Reading::Stopped {
                unwanted = Some(data);
            } else if !data.is_empty() {
                received.push_data(data);
            }
            (received.reader.take(), pushes)
        };
        wake(reader);
        wake(pushes);
        if unwanted.is_some() {
            Delivery::Unwanted
        } else {
            Delivery::Kept
        }
    }

    pub(super) fn deliver_trailers(&self, trailers: HeaderMap) {
        let (reader, pushes) = {
            let mut received = lock(&self.received);
            received.trailers = (!trailers.is_empty()).then(|| Box::new(trailers));
            received.end = End::Normal;
            (received.reader.take(), received.take_pushes())
        };
        wake(reader);
        wake(pushes);
    }

    pub(super) fn deliver_promise(&self, promise: Promise) {
        let mut unwanted = None;
        let pushes = {
            let mut received = lock(&self.received);
            match received.promising {
                Reading::Wanted => received.extra().promises.push_back(promise),
                Reading::Stopped => unwanted = Some(promise),
            }
            received.take_pushes()
        };
        drop(unwanted);
        wake(pushes);
    }

    /// The stream is over because of `error`: answers the credit that is still out, once.
    pub(super) fn fail(&self, error: Error) -> usize {
        self.address.leave();
        let mut replaced = None;
        let (credit, wakers) = {
            let mut received = lock(&self.received);
            if matches!(received.end, End::NotYet) {
                replaced = Some(std::mem::replace(&mut received.end, End::Failed(error)));
            }
            (received.credit.settle(), received.take_wakers())
        };
        drop(replaced);
        wakers.into_iter().for_each(wake);
        credit
    }

    /// The slot is gone after a normal end: answers what was released and not collected.
    pub(super) fn retire(&self) -> usize {
        self.address.leave();
        self.let_go();
        let (released, wakers) = {
            let mut received = lock(&self.received);
            received.credit.place = Place::Connection;
            let released = std::mem::take(&mut received.credit.released);
            (released, received.take_wakers())
        };
        wakers.into_iter().for_each(wake);
        released
    }

    /// Credit released since the last collection.
    pub(super) fn collect(&self) -> usize {
        std::mem::take(&mut lock(&self.received).credit.released)
    }

    // ---- the reader ----------------------------------------------------------------------

    /// The request, once (server).
    pub(super) fn take_request(&self) -> Option<Request<()>> {
        let mut received = lock(&self.received);
        match received.head.take() {
            Some(Head::Request(parts)) => {
                drop(received);
                Some(Request::from_parts(*parts, ()))
            }
            other => {
                received.head = other;
                None
            }
        }
    }

    pub(super) fn poll_response(&self, cx: &Context<'_>) -> Poll<Result<Response<()>, Error>> {
        poll_locked(
            &self.received,
            cx,
            |r| &mut r.reader,
            |r| match r.head.take() {
                Some(Head::Response(parts)) => Poll::Ready(Ok(Response::from_parts(*parts, ()))),
                Some(other) => {
                    r.head = Some(other);
                    Poll::Ready(Err(Misuse::UnexpectedFrame.into()))
                }
                None => match &r.end {
                    End::NotYet => Poll::Pending,
                    End::Failed(error) => Poll::Ready(Err(error.clone())),
                    End::Normal => Poll::Ready(Err(Misuse::InactiveStream.into())),
                },
            },
        )
    }

    /// The next 1xx; none is left once the final response is here or the stream is over.
    pub(super) fn poll_informational(
        &self,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Response<()>, Error>>> {
        poll_locked(
            &self.received,
            cx,
            |r| &mut r.extra().early,
            |r| {
                let next = r.extra.as_mut().and_then(|e| e.informational.pop_front());
                if let Some(response) = next {
                    return Poll::Ready(Some(Ok(response)));
                }
                match (r.has_final, &r.end) {
                    (true, _) | (false, End::Normal) => Poll::Ready(None),
                    (false, End::Failed(error)) => Poll::Ready(Some(Err(error.clone()))),
                    (false, End::NotYet) => Poll::Pending,
                }
            },
        )
    }

    pub(super) fn poll_promise(&self, cx: &Context<'_>) -> Poll<Option<Result<Promise, Error>>> {
        poll_locked(
            &self.received,
            cx,
            |r| &mut r.extra().pushes,
            |r| {
                let next = r.extra.as_mut().and_then(|e| e.promises.pop_front());
                if let Some(promise) = next {
                    return Poll::Ready(Some(Ok(promise)));
                }
                match &r.end {
                    End::NotYet => Poll::Pending,
                    End::Normal => Poll::Ready(None),
                    End::Failed(error) => Poll::Ready(Some(Err(error.clone()))),
                }
            },
        )
    }

    /// The next part of the body. Its credit stays taken until it is released.
    pub(super) fn poll_data(&self, cx: &Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let mut other = None;
        let polled = poll_locked(
            &self.received,
            cx,
            |r| &mut r.reader,
            |r| {
                if let Some(data) = r.data.pop_front() {
                    r.credit.read(data.len());
                    if r.data.is_empty() && !matches!(r.end, End::NotYet) {
                        // A task that waits for the trailers may go on now.
                        other = r.reader.take();
                    }
                    return Poll::Ready(Some(Ok(data)));
                }
                match &r.end {
                    End::NotYet => Poll::Pending,
                    End::Normal => Poll::Ready(None),
                    End::Failed(error) => Poll::Ready(Some(Err(error.clone()))),
                }
            },
        );
        wake(other);
        polled
    }

    /// The trailers, once the body has been read.
    pub(super) fn poll_trailers(&self, cx: &Context<'_>) -> Poll<Result<Option<HeaderMap>, Error>> {
        poll_locked(
            &self.received,
            cx,
            |r| &mut r.reader,
            |r| {
                if !r.data.is_empty() {
                    return Poll::Pending;
                }
                match &r.end {
                    End::NotYet => Poll::Pending,
                    End::Normal => Poll::Ready(Ok(r.trailers.take().map(|trailers| *trailers))),
                    End::Failed(error) => Poll::Ready(Err(error.clone())),
                }
            },
        )
    }

    /// Nothing is left to read, and nothing will come.
    pub(super) fn is_end_stream(&self) -> bool {
        let received = lock(&self.received);
        matches!(received.end, End::Normal)
            && received.data.is_empty()
            && received.trailers.is_none()
    }

    /// Returns credit of data that was delivered.
    pub(super) fn release(&self, bytes: usize) -> Result<(), Error> {
        let place = {
            let mut received = lock(&self.received);
            if bytes > received.credit.out {
                return Err(Misuse::ReleaseCapacityTooBig.into());
            }
            received.credit.release(bytes);
            received.credit.place
        };
        self.report(place, bytes);
        Ok(())
    }

    /// Nobody reads the body any more: unread data goes, and its credit returns.
    pub(super) fn stop_reading(&self) {
        let (data, bytes, place) = {
            let mut received = lock(&self.received);
            received.reading = Reading::Stopped;
            let bytes = received.credit.release_unread();
            let data = std::mem::take(&mut received.data);
            (data, bytes, received.credit.place)
        };
        drop(data);
        self.report(place, bytes);
    }

    /// Nobody takes promises any more: those that wait are dropped, which cancels them.
    pub(super) fn refuse_promises(&self) {
        let mut received = lock(&self.received);
        received.promising = Reading::Stopped;
        let extra = received.extra.as_mut();
        let promises = extra.map(|extra| std::mem::take(&mut extra.promises));
        drop(received);
        drop(promises);
    }

    /// Bytes delivered and not yet released, of which some may be unread.
    pub(super) fn used_capacity(&self) -> usize {
        lock(&self.received).credit.out
    }

    fn release_all(&self) {
        let (bytes, place) = {
            let mut received = lock(&self.received);
            let out = received.credit.out;
            (received.credit.release(out), received.credit.place)
        };
        self.report(place, bytes);
    }

    /// Tells the task where `bytes` were released to.
    fn report(&self, place: Place, bytes: usize) {
        match place {
            _ if bytes == 0 => {}
            Place::Slot => self.post(),
            Place::Connection => self.shared.add_credit(bytes),
            Place::Settled => {}
        }
    }
}

#[cfg(test)]
#[path = "tests/inbox_seen.rs"]
mod seen;
