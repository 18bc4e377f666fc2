//! Where a cell is, and whether it has been posted: one atomic word.
//!
//! Owns: the word. Does not know: what the news are. Keeps rules 3 and 4 of the layer.

use crate::proto::streams::Key;
use crate::sync::{AtomicU64, Ordering};

/// New, in a slot under a key (posted or not), or gone.
#[derive(Debug)]
pub(super) struct Address {
    word: AtomicU64,
}

/// What a handle that has news must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Post {
    /// Push this key: nobody did since the last collection.
    Push(Key),
    /// Nothing: a collection is still to come.
    Pending,
    /// Nothing: the stream has no slot any more.
    Gone,
}

const POSTED: u64 = 1 << 63;
const NEW: u64 = u64::MAX;
const GONE: u64 = u64::MAX - 1;

impl Address {
    pub(super) fn new() -> Address {
        Address {
            word: AtomicU64::new(NEW),
        }
    }

    /// The task has put the stream into a slot. It collects afterwards.
    pub(super) fn adopt(&self, key: Key) {
        self.word.store(key.to_bits(), Ordering::Release);
    }

    /// The slot is gone: no key will be posted again.
    pub(super) fn leave(&self) {
        self.word.store(GONE, Ordering::Release);
    }

    /// Marks the cell as posted, if it is in a slot and is not yet.
    pub(super) fn post(&self) -> Post {
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            match word {
                NEW => return Post::Pending,
                GONE => return Post::Gone,
                _ if word & POSTED != 0 => return Post::Pending,
                key => {
                    let posted = key | POSTED;
                    match self.word.compare_exchange(
                        key,
                        posted,
                        Ordering::AcqRel,
                        Ordering::Acquire,
                    ) {
                        Ok(_) => return Post::Push(Key::from_bits(key)),
                        Err(now) => word = now,
                    }
                }
            }
        }
    }

    /// The task is about to collect: clears the posted mark. Only the task moves the word between
    /// these states, so what it reads here stays a key.
    pub(super) fn clear_posted(&self) {
        let word = self.word.load(Ordering::Acquire);
        if word != NEW && word != GONE && word & POSTED != 0 {
            self.word.store(word & !POSTED, Ordering::Release);
        }
    }
}
