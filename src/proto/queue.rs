//! First in, first out lists of slots, linked through the streams themselves.
//!
//! Owns: head, tail and the links. Does not know: what a list means or who may be on it. Nothing is
//! allocated, and a stream leaves from anywhere at the same cost (lesson L4). Keeps: a stream is on
//! one list of each kind at most, since it has one pair of links for each.

use super::port::Port;
use super::streams::{Slot, Streams};

/// What a list is about. A stream may wait for its turn while its producer waits for room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// What the stream itself waits for: one of the scheduler's lists.
    #[default]
    Wait,
    /// Its producer waits for send room.
    Room,
}

/// The places of a stream, by the kind of list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Places([Links; 2]);

/// The neighbours of a stream on a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Links {
    before: Option<Slot>,
    after: Option<Slot>,
}

/// A list of slots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queue {
    kind: Kind,
    first: Option<Slot>,
    last: Option<Slot>,
    length: u32,
}

impl Queue {
    /// An empty list.
    pub(super) fn new(kind: Kind) -> Queue {
        Queue {
            kind,
            ..Queue::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn len(&self) -> usize {
        self.length as usize
    }

    pub(super) fn first(&self) -> Option<Slot> {
        self.first
    }

    pub(super) fn push_back<P: Port>(&mut self, streams: &mut Streams<P>, slot: Slot) {
        self.insert(streams, slot, None);
    }

    /// Puts a stream before `after`, which is a member, or at the end.
    pub(super) fn insert<P: Port>(
        &mut self,
        streams: &mut Streams<P>,
        slot: Slot,
        after: Option<Slot>,
    ) {
        let before = match after.and_then(|after| self.links(streams, after)) {
            Some(member) => member.before,
            None => self.last,
        };
        self.edit(streams, slot, |links| *links = Links { before, after });
        self.join(streams, before, Some(slot));
        self.join(streams, Some(slot), after);
        self.length += 1;
    }

    /// Takes out a member, wherever it stands.
    pub(super) fn unlink<P: Port>(&mut self, streams: &mut Streams<P>, slot: Slot) {
        let Some(links) = self.links(streams, slot) else {
            return;
        };
        self.join(streams, links.before, links.after);
        self.edit(streams, slot, |links| *links = Links::default());
        self.length -= 1;
    }

    /// The member behind `slot`.
    pub(super) fn after<P: Port>(&self, streams: &Streams<P>, slot: Slot) -> Option<Slot> {
        self.links(streams, slot).and_then(|links| links.after)
    }

    /// The members, from the first.
    pub(super) fn members<'a, P: Port>(
        &'a self,
        streams: &'a Streams<P>,
    ) -> impl Iterator<Item = Slot> + 'a {
        std::iter::successors(self.first, |slot| self.after(streams, *slot))
    }

    /// Makes two members neighbours. Nobody before is the list's head, nobody after its tail.
    fn join<P: Port>(
        &mut self,
        streams: &mut Streams<P>,
        before: Option<Slot>,
        after: Option<Slot>,
    ) {
        match before {
            Some(before) => self.edit(streams, before, |links| links.after = after),
            None => self.first = after,
        }
        match after {
            Some(after) => self.edit(streams, after, |links| links.before = before),
            None => self.last = before,
        }
    }

    fn links<P: Port>(&self, streams: &Streams<P>, slot: Slot) -> Option<Links> {
        let stream = streams.at(slot)?;
        Some(stream.places.0[self.kind as usize])
    }

    fn edit<P: Port>(&self, streams: &mut Streams<P>, slot: Slot, edit: impl FnOnce(&mut Links)) {
        if let Some(stream) = streams.at_mut(slot) {
            edit(&mut stream.places.0[self.kind as usize]);
        }
    }
}
