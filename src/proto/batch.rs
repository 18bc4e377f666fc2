//! The outgoing batch: octets that we made and ranges of payloads that callers gave.
//!
//! Owns: frame heads and small payloads in one buffer, larger payloads as values, and their order on
//! the wire. Does not know: frames, streams beyond their key, I/O. A payload cannot be split, so the
//! batch owns the whole value and several frames refer to ranges of it; what was not used goes back
//! by key once the batch is written. Keeps: memory for small pieces stays within the batch (I3).
//!
//! A range is only cut within what `chunk()` shows of a value. `Buf` has no way to look behind that
//! without moving on, so what lies there waits for the next batch; small chunks are copied instead.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, BufMut, BytesMut};

use super::streams::Key;
use crate::frame::HEAD_LEN;

/// Below this a copy costs less than another slice in the write.
const COPY_LIMIT: usize = 2048;

/// Output in wire order.
pub(crate) struct Batch<B> {
    /// What is ours, in wire order; the segments say where payloads come between.
    octets: BytesMut,
    segments: VecDeque<Segment>,
    /// Values that segments refer to, or that have a rest to give back.
    payloads: VecDeque<Payload<B>>,
    /// The ticket of the first of them.
    first_ticket: u64,
    remaining: usize,
    target: usize,
    /// Frames ever; a header block is one, in however many frames it is cut.
    frames: u64,
    /// Bytes of payloads that were copied, ever.
    copied: u64,
}

enum Segment {
    /// So many of `octets`.
    Octets(usize),
    /// So many of a payload, from this byte of it on.
    Payload {
        ticket: u64,
        from: usize,
        length: usize,
    },
}

/// Both numbers count from the front that `value` had when it was adopted.
/// Invariant: `written <= referred`; the difference is what segments still refer to.
struct Payload<B> {
    value: B,
    key: Key,
    /// Segments have referred to the bytes before this.
    referred: usize,
    /// The bytes before this are on the wire, and `value` has moved on by so many.
    written: usize,
}

/// Names a payload that the batch holds, so that further frames can refer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(u64);

/// Where the head of an unfinished frame goes.
#[derive(Debug)]
pub(super) struct HeadPlace(usize);

impl<B: Buf> Batch<B> {
    /// `target`: the size at which a batch is full. The last frame may exceed it. One that is empty is
    /// not even half full, or nothing would ever leave.
    pub(crate) fn new(target: usize) -> Batch<B> {
        let target = target.max(2);
        Batch {
            octets: BytesMut::new(),
            segments: VecDeque::new(),
            payloads: VecDeque::new(),
            first_ticket: 0,
            remaining: 0,
            target,
            frames: 0,
            copied: 0,
        }
    }

    /// Whether nothing is left to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.remaining == 0
    }

    /// Bytes left to write.
    pub(crate) fn remaining(&self) -> usize {
        self.remaining
    }

    /// Fills `slices` with what is left, in order, and answers how many it used.
    pub(crate) fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut used = 0;
        for piece in self.pieces() {
            let Some(slot) = slices.get_mut(used) else {
                break;
            };
            *slot = IoSlice::new(piece);
            used += 1;
        }
        used
    }

    /// `written` bytes are on the wire.
    pub(crate) fn advance(&mut self, written: usize) {
        let mut written = written.min(self.remaining);
        self.remaining -= written;
        let mut octets = 0;
        while written > 0 {
            let Some(segment) = self.segments.front_mut() else {
                break;
            };
            let step = segment.length().min(written);
            written -= step;
            let left = segment.shorten(step);
            match *segment {
                Segment::Octets(_) => octets += step,
                Segment::Payload { ticket, .. } => self.advance_payload(ticket, step),
            }
            if left == 0 {
                self.segments.pop_front();
            }
        }
        self.octets.advance(octets);
    }

    /// Appends a copy of what is left, for transports that take one slice.
    pub(crate) fn join_into(&self, out: &mut BytesMut) {
        out.reserve(self.remaining);
        for piece in self.pieces() {
            out.put_slice(piece);
        }
    }

    /// Lets `write` append octets of ours.
    pub(super) fn write(&mut self, write: impl FnOnce(&mut BytesMut)) {
        let before = self.octets.len();
        write(&mut self.octets);
        let added = self.octets.len() - before;
        self.note_octets(added);
        self.frames += 1;
    }

    /// Frames that were ever put in.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// Bytes of payloads that were ever copied.
    pub(super) fn copied(&self) -> u64 {
        self.copied
    }

    pub(super) fn is_full(&self) -> bool {
        self.remaining >= self.target
    }

    /// Whether header blocks should make way for DATA that waits.
    pub(super) fn is_half_full(&self) -> bool {
        self.remaining >= self.target / 2
    }

    /// Whether so few bytes are better copied than referred to.
    pub(super) const fn is_small(length: usize) -> bool {
        length <= COPY_LIMIT
    }

    /// Copies bytes from the front of `value`, `length` at most, and answers how many.
    pub(super) fn copy(&mut self, value: &mut B, length: usize) -> usize {
        let before = self.octets.len();
        self.octets.put(value.take(length.min(COPY_LIMIT)));
        let length = self.octets.len() - before;
        self.note_octets(length);
        self.copied += length as u64;
        length
    }

    /// Leaves space for the head of a frame whose length is not known yet.
    pub(super) fn reserve_head(&mut self) -> HeadPlace {
        let at = self.octets.len();
        self.octets.put_bytes(0, HEAD_LEN);
        self.note_octets(HEAD_LEN);
        self.frames += 1;
        HeadPlace(at)
    }

    /// Fills the space. Only octets were added to the batch since, none written.
    pub(super) fn set_head(&mut self, place: HeadPlace, head: &[u8]) {
        if let Some(space) = self.octets.get_mut(place.0..place.0 + head.len()) {
            space.copy_from_slice(head);
        }
    }

    /// Takes a value over; nothing refers to it yet.
    pub(super) fn adopt(&mut self, key: Key, value: B) -> Ticket {
        self.payloads.push_back(Payload {
            value,
            key,
            referred: 0,
            written: 0,
        });
        Ticket(self.first_ticket + self.payloads.len() as u64 - 1)
    }

    /// How many bytes the next range of this payload may have, and whether they are its last.
    pub(super) fn visible(&self, ticket: Ticket) -> (usize, bool) {
        let Some(payload) = self.payload(ticket.0) else {
            return (0, true);
        };
        let in_use = payload.referred - payload.written;
        let visible = payload.value.chunk().len().saturating_sub(in_use);
        (visible, payload.value.remaining() <= in_use + visible)
    }

    /// Appends the next `length` bytes of the payload. At most what is visible.
    pub(super) fn refer(&mut self, ticket: Ticket, length: usize) {
        if let Some(payload) = self.payload_mut(ticket.0) {
            let from = payload.referred;
            payload.referred += length;
            self.segments.push_back(Segment::Payload {
                ticket: ticket.0,
                from,
                length,
            });
            self.remaining += length;
        }
    }

    /// When all is written: the values of which something is left, in the order of their loan.
    pub(super) fn give_back(&mut self) -> Option<(Key, B)> {
        debug_assert!(self.is_empty(), "a batch is given back once it is written");
        self.segments.clear();
        while let Some(payload) = self.payloads.pop_front() {
            self.first_ticket += 1;
            if payload.value.has_remaining() {
                return Some((payload.key, payload.value));
            }
        }
        None
    }

    fn note_octets(&mut self, added: usize) {
        self.remaining += added;
        match self.segments.back_mut() {
            Some(Segment::Octets(length)) => *length += added,
            _ if added == 0 => {}
            _ => self.segments.push_back(Segment::Octets(added)),
        }
    }

    fn payload(&self, ticket: u64) -> Option<&Payload<B>> {
        self.payloads
            .get(usize::try_from(ticket.checked_sub(self.first_ticket)?).ok()?)
    }

    fn payload_mut(&mut self, ticket: u64) -> Option<&mut Payload<B>> {
        self.payloads
            .get_mut(usize::try_from(ticket.checked_sub(self.first_ticket)?).ok()?)
    }

    fn advance_payload(&mut self, ticket: u64, step: usize) {
        if let Some(payload) = self.payload_mut(ticket) {
            payload.value.advance(step.min(payload.value.remaining()));
            payload.written += step;
        }
        // Values are dropped as soon as they are used up, in order.
        while self
            .payloads
            .front()
            .is_some_and(|first| !first.value.has_remaining())
        {
            self.payloads.pop_front();
            self.first_ticket += 1;
        }
    }

    fn pieces(&self) -> Pieces<'_, B> {
        Pieces {
            batch: self,
            segment: 0,
            octets: 0,
        }
    }
}

impl Segment {
    const fn length(&self) -> usize {
        match self {
            Segment::Octets(length) | Segment::Payload { length, .. } => *length,
        }
    }

    /// Takes `step` off the front and answers what is left.
    const fn shorten(&mut self, step: usize) -> usize {
        match self {
            Segment::Octets(length) => {
                *length -= step;
                *length
            }
            Segment::Payload { from, length, .. } => {
                *from += step;
                *length -= step;
                *length
            }
        }
    }
}

/// What is left of a batch, piece by piece.
struct Pieces<'a, B> {
    batch: &'a Batch<B>,
    segment: usize,
    octets: usize,
}

impl<'a, B: Buf> Iterator for Pieces<'a, B> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let segment = self.batch.segments.get(self.segment)?;
        self.segment += 1;
        match *segment {
            Segment::Octets(length) => {
                let from = self.octets;
                self.octets += length;
                self.batch.octets.get(from..self.octets)
            }
            Segment::Payload {
                ticket,
                from,
                length,
            } => {
                let payload = self.batch.payload(ticket)?;
                let from = from - payload.written;
                payload.value.chunk().get(from..from + length)
            }
        }
    }
}

/// What a connection does with its batches, for tests of those who write them.
#[cfg(test)]
impl<B: Buf> Batch<B> {
    pub(crate) fn refer_to_all(&mut self, values: impl IntoIterator<Item = B>) {
        for value in values {
            let length = value.remaining();
            let ticket = self.adopt(Key::new(0, 0), value);
            self.refer(ticket, length);
        }
    }

    pub(crate) fn forget_rests(&mut self) {
        while self.give_back().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    const KEY: Key = Key::new(3, 9);

    fn joined<B: Buf>(batch: &Batch<B>) -> Vec<u8> {
        let mut out = BytesMut::new();
        batch.join_into(&mut out);
        let mut slices = [IoSlice::new(&[]); 16];
        let used = batch.chunks_vectored(&mut slices);
        assert_eq!(
            slices[..used]
                .iter()
                .flat_map(|slice| slice.iter().copied())
                .collect::<Vec<u8>>(),
            out,
            "both ways to read a batch agree"
        );
        out.to_vec()
    }

    fn sample() -> Batch<Bytes> {
        let mut batch = Batch::new(100);
        batch.write(|out| out.put_slice(b"<1>"));
        let ticket = batch.adopt(KEY, Bytes::from_static(b"abcdefgh"));
        batch.refer(ticket, 3);
        batch.write(|out| out.put_slice(b"<2>"));
        let mut small = Bytes::from_static(b"xyz");
        batch.copy(&mut small, 2);
        batch.write(|out| out.put_slice(b"<3>"));
        assert_eq!(batch.visible(ticket), (5, true));
        batch.refer(ticket, 2);
        batch
    }

    #[test]
    fn several_frames_refer_to_ranges_of_one_value() {
        let mut batch = sample();
        assert_eq!(joined(&batch), b"<1>abc<2>xy<3>de");
        assert_eq!(batch.remaining(), 16);
        batch.advance(16);
        assert!(batch.is_empty());
        assert_eq!(batch.give_back(), Some((KEY, Bytes::from_static(b"fgh"))));
        assert_eq!(batch.give_back(), None);
    }

    #[test]
    fn a_write_may_stop_at_every_byte() {
        let whole = joined(&sample());
        for first in 0..=whole.len() {
            let mut batch = sample();
            batch.advance(first);
            assert_eq!(joined(&batch), &whole[first..]);
            for _ in first..whole.len() {
                batch.advance(1);
            }
            assert_eq!(batch.give_back(), Some((KEY, Bytes::from_static(b"fgh"))));
        }
    }

    #[test]
    fn a_batch_can_be_filled_again_before_it_is_written() {
        let mut batch = sample();
        batch.advance(5);
        batch.refer(Ticket(0), 3);
        assert_eq!(joined(&batch), b"c<2>xy<3>defgh");
        batch.advance(14);
        assert_eq!(batch.give_back(), None);
        let ticket = batch.adopt(KEY, Bytes::from_static(b"new"));
        batch.refer(ticket, 3);
        assert_eq!(joined(&batch), b"new");
    }

    #[test]
    fn only_what_a_chunk_shows_is_referred_to() {
        let mut batch = Batch::new(100);
        let value = Bytes::from_static(b"one").chain(Bytes::from_static(b"two"));
        let ticket = batch.adopt(KEY, value);
        assert_eq!(batch.visible(ticket), (3, false));
        batch.refer(ticket, 3);
        assert_eq!(batch.visible(ticket), (0, false));
        batch.advance(3);
        let (_, rest) = batch.give_back().unwrap();
        assert_eq!(rest.remaining(), 3);
    }
}
