//! First in, first out lists of slots, linked through the streams themselves.
//!
//! Owns: head, tail and the links. Does not know: what a list means or who may be on it. Nothing is
//! allocated, and a stream leaves from anywhere at the same cost (lesson L4). Keeps: a stream is on
//! one list at most, since it has one pair of links.

use super::port::Port;
use super::streams::{Slot, Streams};

/// The neighbours of a stream on its list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Links {
    before: Option<Slot>,
    after: Option<Slot>,
}

/// A list of slots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queue {
    first: Option<Slot>,
    last: Option<Slot>,
    length: usize,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn len(&self) -> usize {
        self.length
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
        let before = match after.and_then(|after| streams.at(after)) {
            Some(member) => member.links.before,
            None => self.last,
        };
        set_links(streams, slot, Links { before, after });
        match before {
            Some(before) => edit_links(streams, before, |links| links.after = Some(slot)),
            None => self.first = Some(slot),
        }
        match after {
            Some(after) => edit_links(streams, after, |links| links.before = Some(slot)),
            None => self.last = Some(slot),
        }
        self.length += 1;
    }

    /// Takes out a member, wherever it stands.
    pub(super) fn unlink<P: Port>(&mut self, streams: &mut Streams<P>, slot: Slot) {
        let Some(links) = streams.at(slot).map(|stream| stream.links) else {
            return;
        };
        match links.before {
            Some(before) => edit_links(streams, before, |other| other.after = links.after),
            None => self.first = links.after,
        }
        match links.after {
            Some(after) => edit_links(streams, after, |other| other.before = links.before),
            None => self.last = links.before,
        }
        set_links(streams, slot, Links::default());
        self.length -= 1;
    }

    /// The member behind `slot`.
    pub(super) fn after<P: Port>(streams: &Streams<P>, slot: Slot) -> Option<Slot> {
        streams.at(slot).and_then(|stream| stream.links.after)
    }
}

fn set_links<P: Port>(streams: &mut Streams<P>, slot: Slot, links: Links) {
    edit_links(streams, slot, |own| *own = links);
}

fn edit_links<P: Port>(streams: &mut Streams<P>, slot: Slot, edit: impl FnOnce(&mut Links)) {
    if let Some(stream) = streams.at_mut(slot) {
        edit(&mut stream.links);
    }
}
