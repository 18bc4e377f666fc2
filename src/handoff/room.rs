//! Send room: how much all streams of one connection may have buffered beyond their floors.
//!
//! Owns: one atomic word, the bytes used and the flag that somebody waits. Does not know: streams.
//! Keeps I3: bytes above a stream's floor are debited here when they arrive, never when they are
//! promised, and given back when they enter a batch or are dropped; and its part of I2: nobody takes
//! all that is free, so who comes late finds some.

use crate::sync::{AtomicUsize, Ordering};

/// Bytes that every open stream may have buffered, whatever the others hold.
pub(crate) const FLOOR: usize = 16_384;

/// Less is not worth a wake-up or a frame: a producer that has so little left waits its turn.
pub(super) const LEAST_SHARE: usize = 1024;

const WAITING: usize = 1;
const STEP: usize = 2;

/// The room of one connection. The flag and the count are one word: no producer can read "nobody
/// waits" and then take what was given back for a waiter.
#[derive(Debug)]
pub(super) struct Room {
    /// `used * 2 + waiting`
    word: AtomicUsize,
    limit: usize,
    /// How often there came to be more for whoever takes it directly.
    returned: AtomicUsize,
}

impl Room {
    pub(super) fn new(limit: usize) -> Room {
        Room {
            word: AtomicUsize::new(0),
            limit,
            returned: AtomicUsize::new(0),
        }
    }

    /// What a producer that holds `mine` may add above its floor right now: nothing while somebody
    /// waits, and no more than a share that leaves some to others.
    pub(super) fn direct(&self, mine: usize) -> usize {
        self.share(self.word.load(Ordering::Acquire), mine)
    }

    /// Charges `bytes` to a producer that holds `mine`, if its direct share or what it was granted
    /// allows all of them. The limit holds whoever else charges at the same time.
    pub(super) fn take(&self, bytes: usize, mine: usize, granted: usize) -> bool {
        let taken = self
            .word
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
                let granted = granted.min(self.limit.saturating_sub(word / STEP));
                let fits = bytes <= granted.max(self.share(word, mine));
                fits.then(|| word + bytes * STEP)
            });
        bytes == 0 || taken.is_ok()
    }

    /// No grant is larger.
    pub(super) fn largest_grant(&self) -> usize {
        FLOOR.min(self.limit)
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
            self.returned.fetch_add(1, Ordering::Release);
        }
    }

    /// A number that has changed if there is more than when it was asked for last.
    pub(super) fn returned(&self) -> usize {
        self.returned.load(Ordering::Acquire)
    }

    /// Somebody waits for room. If little is left, nobody takes it directly from now on.
    pub(super) fn set_waiting(&self) {
        if self.free() < low_water(self.limit) {
            self.word.fetch_or(WAITING, Ordering::AcqRel);
        }
    }

    fn share(&self, word: usize, mine: usize) -> usize {
        if word & WAITING != 0 {
            return 0;
        }
        let share = most_of(self.limit.saturating_sub(word / STEP)).saturating_sub(mine) / 3;
        if share < LEAST_SHARE { 0 } else { share }
    }

    #[cfg(test)]
    pub(super) fn is_awaited(&self) -> bool {
        self.word.load(Ordering::Acquire) & WAITING != 0
    }

    /// Nobody waits any more.
    pub(super) fn clear_waiting(&self) {
        if self.word.load(Ordering::Acquire) & WAITING != 0 {
            self.word.fetch_and(!WAITING, Ordering::AcqRel);
            self.returned.fetch_add(1, Ordering::Release);
        }
    }
}

/// Room that was full is given out again from this on, not at every byte.
pub(crate) fn low_water(limit: usize) -> usize {
    FLOOR.max(limit / 4).min(limit)
}

/// What one producer may hold of the room while `free` bytes of it are left: twice that. So one alone
/// has two thirds, of two each has two fifths, and who comes late always finds some.
pub(super) fn most_of(free: usize) -> usize {
    free.saturating_mul(2)
}

/// The part of `buffered` bytes that lies above a stream's floor.
pub(super) fn above_floor(buffered: usize) -> usize {
    buffered.saturating_sub(FLOOR)
}
