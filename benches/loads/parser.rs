//! Walks over the frames of a stream of octets, however it is cut, without copying payloads.

use crate::support::wire::{HEAD, Head};

/// The place in the octets.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    head: [u8; HEAD],
    /// Octets of the head that were seen.
    seen: usize,
    /// The frame whose payload is under way, and what is missing of it.
    open: Option<(Head, usize)>,
}

/// What of a frame was seen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// Some of its payload, which is not the end.
    Piece(&'a [u8]),
    /// The rest.
    Last(&'a [u8]),
}

impl Parser {
    /// Calls `each` for every piece of a frame; for an empty one once.
    pub(crate) fn walk<'a>(&mut self, mut octets: &'a [u8], mut each: impl FnMut(Head, Part<'a>)) {
        while !octets.is_empty() {
            if let Some((head, left)) = self.open {
                let (piece, rest) = octets.split_at(left.min(octets.len()));
                octets = rest;
                if piece.len() == left {
                    self.open = None;
                    each(head, Part::Last(piece));
                } else {
                    self.open = Some((head, left - piece.len()));
                    each(head, Part::Piece(piece));
                }
                continue;
            }
            let (piece, rest) = octets.split_at((HEAD - self.seen).min(octets.len()));
            self.head[self.seen..self.seen + piece.len()].copy_from_slice(piece);
            self.seen += piece.len();
            octets = rest;
            if self.seen == HEAD {
                self.seen = 0;
                let head = Head::parse(&self.head);
                match head.length {
                    0 => each(head, Part::Last(&[])),
                    length => self.open = Some((head, length)),
                }
            }
        }
    }
}

impl Part<'_> {
    pub(crate) fn len(self) -> usize {
        match self {
            Part::Piece(octets) | Part::Last(octets) => octets.len(),
        }
    }

    pub(crate) fn is_last(self) -> bool {
        matches!(self, Part::Last(_))
    }
}
