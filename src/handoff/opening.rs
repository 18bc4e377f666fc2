//! The opening queue: ids and the new cells of streams that this side opens.
//!
//! Owns: the next id, and the order: an id is handed out and its cell queued in one step, so queue
//! order is id order (I6). Does not know: concurrency slots. Dropping or closing the connection
//! fails what is still queued.

use std::collections::VecDeque;

use bytes::Buf;

use super::cell::Cell;
use super::handles::{Reader, Writer};
use super::inbox::Opener;
use super::sending::Queue;
use super::shared::{Limits, Shared};
use crate::error::{Error, Misuse};
use crate::frame::StreamId;
use crate::message;
use crate::proto::port::{Birth, Port as _, Ports};
use crate::sync::{Arc, Mutex, lock};

/// One connection, as its handles know it: what they share, and the opening queue.
#[derive(Debug)]
pub(crate) struct Hub<B> {
    inner: Arc<Inner<B>>,
}

#[derive(Debug)]
struct Inner<B> {
    shared: Arc<Shared>,
    opening: Mutex<Opening<B>>,
}

#[derive(Debug)]
struct Opening<B> {
    /// None when ids have run out.
    next_id: Option<StreamId>,
    births: VecDeque<Birth<Cell<B>>>,
    /// Set once: no stream is opened from then on.
    closed: Option<Error>,
}

impl<B: Buf> Hub<B> {
    /// `first_id`: 1 or another odd number for a client, 2 for a server.
    pub(crate) fn new(first_id: StreamId, limits: Limits) -> Hub<B> {
        let opening = Opening {
            next_id: Some(first_id),
            births: VecDeque::new(),
            closed: None,
        };
        let shared = Arc::new(Shared::new(limits));
        Hub {
            inner: Arc::new(Inner {
                shared,
                opening: Mutex::new(opening),
            }),
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.inner.shared
    }

    // ---- handles -------------------------------------------------------------------------

    /// Opens a request: its id is final at once.
    pub(crate) fn open_request(
        &self,
        head: Box<http::request::Parts>,
        end: bool,
    ) -> Result<(Writer<B>, Reader), Error> {
        message::check_request(&head)?;
        self.open(None, Queue::request(head, end)?)
    }

    /// Promises a response to a request that the client has not made.
    pub(crate) fn open_promise(
        &self,
        parent: StreamId,
        head: Box<http::request::Parts>,
    ) -> Result<Writer<B>, Error> {
        //= RFC 9113 §6.5.2 no PUSH_PROMISE to a peer that has set ENABLE_PUSH to 0
        if !self.shared().takes_push() {
            return Err(Misuse::PeerDisabledServerPush.into());
        }
        message::check_promise(&head)?;
        let (writer, _) = self.open(Some(parent), Queue::promise(head))?;
        Ok(writer)
    }

    /// Fails if no stream can be opened any more.
    pub(crate) fn check_open(&self) -> Result<(), Error> {
        lock(&self.inner.opening).next_id().map(|_| ())
    }

    /// The id and the place in the queue are taken in one step.
    fn open(
        &self,
        parent: Option<StreamId>,
        queue: Queue<B>,
    ) -> Result<(Writer<B>, Reader), Error> {
        let (handles, first) = {
            let mut opening = lock(&self.inner.opening);
            let id = opening.next_id()?;
            opening.next_id = id.next();
            let shared = Arc::clone(&self.inner.shared);
            let cell = Cell::new(id, shared, Opener::Local, queue);
            let handles = cell.handles();
            opening.births.push_back(Birth {
                id,
                parent,
                port: cell,
            });
            (handles, opening.births.len() == 1)
        };
        if first {
            self.inner.shared.wake_task();
        }
        Ok(handles)
    }

    // ---- the task ------------------------------------------------------------------------

    /// Moves the new streams into `into`, in id order. Answers whether requests may follow: nobody can
    /// make one once the last `SendRequest` is gone.
    pub(crate) fn take_births(&self, into: &mut VecDeque<Birth<Cell<B>>>) -> bool {
        // Looked for first: what was opened before the last one went is among the streams then.
        let may_follow = self.shared().requesters() > 0;
        let mut opening = lock(&self.inner.opening);
        if into.is_empty() {
            std::mem::swap(&mut opening.births, into);
        } else {
            into.append(&mut opening.births);
        }
        may_follow
    }

    /// No stream is opened from now on (GOAWAY, or the connection is over): new ones fail with
    /// `error`, and so do those that are still queued. The first error stays.
    pub(crate) fn close(&self, error: Error) {
        let births = {
            let mut opening = lock(&self.inner.opening);
            opening.closed.get_or_insert_with(|| error.clone());
            std::mem::take(&mut opening.births)
        };
        for birth in births {
            birth.port.fail(error.clone());
        }
    }

    /// The connection is over: whoever waits for anything of it gets `error`.
    pub(crate) fn end(&self, error: Error) {
        self.close(error.clone());
        self.inner.shared.close(error);
    }
}

impl<B> Opening<B> {
    fn next_id(&self) -> Result<StreamId, Error> {
        match &self.closed {
            Some(error) => Err(error.clone()),
            None => Ok(self.next_id.ok_or(Misuse::OverflowedStreamId)?),
        }
    }
}

impl<B> Clone for Hub<B> {
    fn clone(&self) -> Hub<B> {
        Hub {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<B: Buf> Ports for Hub<B> {
    type Port = Cell<B>;

    fn open_remote(&self, id: StreamId) -> Cell<B> {
        Cell::new(
            id,
            Arc::clone(&self.inner.shared),
            Opener::Remote,
            Queue::default(),
        )
    }

    fn held(&self) -> usize {
        self.inner.shared.held()
    }

    fn set_initial_window(&self, size: u32) {
        self.inner.shared.set_initial_window(size);
    }

    fn free_room(&self) -> usize {
        self.inner.shared.room().free()
    }

    fn room_returned(&self) -> usize {
        self.inner.shared.room().returned()
    }

    fn room_resumed(&self) {
        self.inner.shared.room().clear_waiting();
    }
}

#[cfg(test)]
impl<B> Hub<B> {
    /// Whether streams are there for the task.
    pub(crate) fn has_births(&self) -> bool {
        !lock(&self.inner.opening).births.is_empty()
    }
}
