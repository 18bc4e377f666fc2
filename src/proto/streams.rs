//! The table of streams: slots, the index from ids to slots, keys that outlive their slot.
//!
//! Owns: which streams have a slot. Does not know: what a stream does or waits for. Looking a
//! stream up by id or by key costs the same however many there are or have been. Keeps: the table's
//! part of I4; a slot is freed by `take` alone, and a key of a former stream finds nothing.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::num::NonZeroU32;

use slab::Slab;

use super::port::Port;
use super::stream::Stream;
use crate::frame::StreamId;

/// Names a slot and the stream that lived in it: a key outlives its slot and then finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    slot: u32,
    generation: u32,
}

impl Key {
    pub(crate) const fn new(slot: u32, generation: u32) -> Key {
        Key {
            slot,
            generation: generation & GENERATIONS,
        }
    }

    /// As one word, below 2^63 (generations are kept to 31 bits).
    pub(crate) const fn to_bits(self) -> u64 {
        ((self.generation as u64) << 32) | self.slot as u64
    }

    pub(crate) const fn from_bits(bits: u64) -> Key {
        Key {
            slot: bits as u32,
            generation: (bits >> 32) as u32,
        }
    }

    pub(super) fn slot(self) -> Slot {
        Slot::new(self.slot as usize)
    }
}

const GENERATIONS: u32 = u32::MAX >> 1;
/// An odd number without pattern (the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The place of a stream in the table, counted from one: lists of slots need half the memory.
/// Only valid while the stream is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(NonZeroU32);

impl Slot {
    fn new(index: usize) -> Slot {
        Slot(NonZeroU32::MIN.saturating_add(index as u32))
    }

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// All streams that have a slot.
pub(super) struct Streams<P: Port> {
    slots: Slab<Stream<P>>,
    index: HashMap<StreamId, Slot, Seed>,
    next_generation: u32,
}

impl<P: Port> Streams<P> {
    pub(super) fn new() -> Streams<P> {
        Streams {
            slots: Slab::new(),
            index: HashMap::with_hasher(Seed::new()),
            next_generation: 0,
        }
    }

    /// Gives the stream a slot and a key.
    pub(super) fn insert(&mut self, mut stream: Stream<P>) -> Slot {
        let entry = self.slots.vacant_entry();
        let slot = Slot::new(entry.key());
        let key = Key::new(entry.key() as u32, self.next_generation);
        self.next_generation = self.next_generation.wrapping_add(1);
        stream.key = key;
        self.index.insert(stream.id, slot);
        entry.insert(stream);
        slot
    }

    /// Frees the slot. Whoever calls this must have settled what the stream held.
    pub(super) fn take(&mut self, slot: Slot) -> Option<Stream<P>> {
        let stream = self.slots.try_remove(slot.index())?;
        self.index.remove(&stream.id);
        Some(stream)
    }

    /// The slot of a stream, if it has one.
    pub(super) fn find(&self, id: StreamId) -> Option<Slot> {
        self.index.get(&id).copied()
    }

    /// The slot that a key names, if its stream is still there.
    pub(super) fn resolve(&self, key: Key) -> Option<Slot> {
        let stream = self.slots.get(key.slot as usize)?;
        (stream.key == key).then_some(key.slot())
    }

    pub(super) fn at(&self, slot: Slot) -> Option<&Stream<P>> {
        self.slots.get(slot.index())
    }

    pub(super) fn at_mut(&mut self, slot: Slot) -> Option<&mut Stream<P>> {
        self.slots.get_mut(slot.index())
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The slots in use now, for a pass that may free some of them.
    pub(super) fn slots(&self) -> Vec<Slot> {
        self.slots
            .iter()
            .map(|(index, _)| Slot::new(index))
            .collect()
    }
}

#[cfg(test)]
impl<P: Port> Streams<P> {
    pub(super) fn iter(&self) -> impl Iterator<Item = (Slot, &Stream<P>)> {
        self.slots
            .iter()
            .map(|(index, stream)| (Slot::new(index), stream))
    }
}

/// Hashes ids by a secret multiplication: a few instructions, and a peer that picks its ids cannot
/// make them meet in one bucket.
struct Seed {
    add: u64,
    multiply: u64,
}

impl Seed {
    fn new() -> Seed {
        let random = RandomState::new();
        Seed {
            add: random.hash_one(1),
            multiply: random.hash_one(2) | 1,
        }
    }
}

impl BuildHasher for Seed {
    type Hasher = IdHasher;

    fn build_hasher(&self) -> IdHasher {
        IdHasher {
            state: self.add,
            multiply: self.multiply,
        }
    }
}

struct IdHasher {
    state: u64,
    multiply: u64,
}

impl Hasher for IdHasher {
    fn write_u32(&mut self, id: u32) {
        // Products of even ids have even low bits: the high half is folded in, twice.
        let mixed = (self.state ^ u64::from(id)).wrapping_mul(self.multiply);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(SPREAD);
        self.state = mixed ^ (mixed >> 29);
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_keeps_its_value_as_one_word() {
        let key = Key::new(7, u32::MAX);
        assert_eq!(Key::from_bits(key.to_bits()), key);
        assert!(key.to_bits() < 1 << 63);
    }

    #[test]
    fn multiples_of_a_power_of_two_do_not_share_low_bits() {
        for shift in 0..24 {
            for _ in 0..200 {
                let seed = Seed::new();
                let low: std::collections::HashSet<u64> = (0..64u32)
                    .map(|n| seed.hash_one(StreamId::new(n << shift)) & 0xff)
                    .collect();
                assert!(low.len() > 30, "only {} of 64, shift {shift}", low.len());
            }
        }
    }
}
