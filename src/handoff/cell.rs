//! `Cell`: both halves of a stream, as the connection task sees them.
//!
//! Owns: nothing but two references. Does not know: how either half works. It is the one
//! implementation of `proto::port::Port` in the product: what `proto` says of a stream becomes a
//! change of the right half, and one half is done before the other begins (rule 1).

use bytes::{Buf, Bytes};
use http::{HeaderMap, Request};

use super::handles::{Promise, Reader, Writer};
use super::inbox::{Inbox, Opener};
use super::outbox::Outbox;
use super::sending::Queue;
use super::shared::Shared;
use crate::error::Error;
use crate::frame::{Reason, StreamId};
use crate::message::Head;
use crate::proto::port::{Delivery, Interest, News, Outgoing, Port};
use crate::proto::streams::Key;
use crate::sync::Arc;

/// One stream's cell. A clone is the same cell; only handles count as references to the stream.
#[derive(Debug)]
pub(crate) struct Cell<B> {
    outbox: Arc<Outbox<B>>,
}

impl<B> Clone for Cell<B> {
    fn clone(&self) -> Self {
        Cell {
            outbox: Arc::clone(&self.outbox),
        }
    }
}

impl<B: Buf> Cell<B> {
    pub(super) fn new(
        id: StreamId,
        shared: Arc<Shared>,
        opener: Opener,
        queue: Queue<B>,
    ) -> Cell<B> {
        let inbox = Arc::new(Inbox::new(id, shared, opener));
        #[cfg(test)]
        super::tests::probe::note_birth(&inbox);
        Cell {
            outbox: Arc::new(Outbox::new(inbox, queue)),
        }
    }

    /// The first handles of a stream: from now on its end is noticed when all are dropped.
    pub(crate) fn handles(&self) -> (Writer<B>, Reader) {
        let reader = Reader::new(Arc::clone(self.outbox.inbox()));
        (Writer::new(Arc::clone(&self.outbox)), reader)
    }

    fn inbox(&self) -> &Inbox {
        self.outbox.inbox()
    }
}

impl<B: Buf> Port for Cell<B> {
    type Buf = B;

    fn adopt(&self, key: Key) {
        self.inbox().address.adopt(key);
    }

    fn deliver_head(&self, head: Head, end: bool) {
        if let Head::Request(parts) = &head {
            self.outbox.answer_to(&parts.method);
        }
        self.inbox().deliver_head(head, end);
    }

    fn deliver_data(&self, data: Bytes, end: bool) -> Delivery {
        self.inbox().deliver_data(data, end)
    }

    fn deliver_trailers(&self, trailers: HeaderMap) {
        self.inbox().deliver_trailers(trailers);
    }

    fn deliver_promise(&self, request: Box<http::request::Parts>, promised: Self) {
        self.inbox().deliver_promise(Promise {
            request: Request::from_parts(*request, ()),
            reader: Reader::new(Arc::clone(promised.outbox.inbox())),
        });
    }

    fn fail(&self, error: Error) -> usize {
        self.outbox.fail(error.clone());
        self.inbox().fail(error)
    }

    fn retire(&self) -> usize {
        self.outbox.retire();
        self.inbox().retire()
    }

    fn collect(&self, into: &mut Outgoing<B>) -> News {
        self.inbox().address.clear_posted();
        let released = self.inbox().collect();
        // Looked for before the outbox is: what the last handle sent before it went is collected then.
        let is_abandoned = self.inbox().is_abandoned();
        let mut news = self.outbox.collect(into);
        news.released = released;
        if is_abandoned {
            news.interest = Interest::Abandoned;
        }
        news
    }

    fn took(&self, bytes: usize) {
        self.outbox.took(bytes);
    }

    fn takes(&self, free: usize) -> bool {
        self.outbox.takes(free)
    }

    fn look_for_more(&self) -> bool {
        self.outbox.look_for_more()
    }

    fn grant(&self, bytes: usize) {
        self.outbox.grant(bytes);
    }

    fn set_credit(&self, credit: i64) {
        self.outbox.set_credit(credit);
    }

    fn window_opened(&self) {
        self.outbox.window_opened();
    }

    fn opened(&self) {
        self.outbox.opened();
    }

    fn stop_sending(&self, reason: Reason) {
        self.outbox.stop_sending(reason);
    }
}
