//! Send room: how much all streams of one connection may have buffered beyond their floors.
//!
//! Owns: one atomic word, the bytes used and the flag that somebody waits. Does not know: streams.
//! Keeps I3: bytes above a stream's floor are debited here when they arrive, never when they are
//! promised, and given back when they enter a batch or are dropped.

use crate::sync::{AtomicUsize, Ordering};

/// Bytes that every open stream may have buffered, whatever the others hold.
pub(crate) const FLOOR: usize = 16_384;

const WAITING: usize = 1;
const STEP: usize = 2;

/// The room of one connection. The flag and the count are one word: no producer can read "nobody
/// waits" and then take what was given back for a waiter.
#[derive(Debug)]
pub(super) struct Room {
    /// `used * 2 + waiting`
    word: AtomicUsize,
    limit: usize,
}

impl Room {
    pub(super) fn new(limit: usize) -> Room {
        Room {
            word: AtomicUsize::new(0),
            limit,
        }
    }

    /// What a producer may add above its floor right now: nothing while somebody waits.
    pub(super) fn direct(&self) -> usize {
        let word = self.word.load(Ordering::Acquire);
        if word & WAITING != 0 {
            0
        } else {
            self.limit.saturating_sub(word / STEP)
        }
    }

    /// What may be granted to those who wait.
    pub(super) fn free(&self) -> usize {
        self.limit.saturating_sub(self.used())
    }

    pub(super) fn used(&self) -> usize {
        self.word.load(Ordering::Acquire) / STEP
    }

    /// Bytes above a floor have arrived.
    pub(super) fn charge(&self, bytes: usize) {
        if bytes > 0 {
            self.word.fetch_add(bytes * STEP, Ordering::AcqRel);
        }
    }

    /// Bytes above a floor are gone: in a batch, or dropped.
    pub(super) fn give_back(&self, bytes: usize) {
        if bytes > 0 {
            self.word.fetch_sub(bytes * STEP, Ordering::AcqRel);
        }
    }

    /// Somebody waits for room.
    pub(super) fn set_waiting(&self) {
        self.word.fetch_or(WAITING, Ordering::AcqRel);
    }

    /// Those who waited have been resumed.
    pub(super) fn clear_waiting(&self) {
        self.word.fetch_and(!WAITING, Ordering::AcqRel);
    }
}

/// The part of `buffered` bytes that lies above a stream's floor.
pub(super) fn above_floor(buffered: usize) -> usize {
    buffered.saturating_sub(FLOOR)
}
