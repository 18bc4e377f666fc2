//! What the simulation sees of an inbox: credit that is out, and tasks that wait for what is there.
//!
//! Owns: nothing. Does not know: what is checked.

use super::{End, Inbox, Place, lock};
use crate::handoff::waiting::Waiting;

impl Inbox {
    /// Credit that comes back through this half.
    pub(in super::super) fn credit_out(&self) -> usize {
        let credit = &lock(&self.received).credit;
        match credit.place {
            Place::Settled => 0,
            Place::Slot | Place::Connection => credit.out + credit.released,
        }
    }

    /// What a task waits for although it is there.
    pub(in super::super) fn forgotten(&self) -> Option<&'static str> {
        let received = lock(&self.received);
        let ended = !matches!(received.end, End::NotYet);
        let reads = received.head.is_some() || !received.data.is_empty() || ended;
        let waits = |waiting: &Waiting, ready: bool| waiting.is_some() && ready;
        let extra = received.extra.as_deref();
        let early = extra.is_some_and(|extra| {
            let early = !extra.informational.is_empty() || received.has_final || ended;
            waits(&extra.early, early)
        });
        let pushes =
            extra.is_some_and(|extra| waits(&extra.pushes, !extra.promises.is_empty() || ended));
        match () {
            () if waits(&received.reader, reads) => Some("the reader"),
            () if early => Some("who takes 1xx"),
            () if pushes => Some("who takes promises"),
            () => None,
        }
    }
}
