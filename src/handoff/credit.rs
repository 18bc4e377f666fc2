//! Receive credit of one stream: where it is counted, until it is returned once.
//!
//! Owns: the arithmetic of rule 7. Does not know: locks, data, windows. Keeps the readers' part of
//! I5 (window conservation): every octet delivered is released once, or returned by the reset.

/// Receive credit of this stream, and who collects what is released.
/// Invariant: `unread` is the length of all of `data`.
#[derive(Debug, Default)]
pub(super) struct Credit {
    pub(super) place: Place,
    /// In `data`.
    pub(super) unread: usize,
    /// Taken by the reader and not released.
    pub(super) taken: usize,
    /// Released and not collected.
    pub(super) released: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// The slot collects it.
    #[default]
    Slot,
    /// The slot is gone: the connection-wide counter.
    Connection,
    /// The stream was reset: all has been returned.
    Settled,
}

impl Credit {
    /// The reader takes `bytes` of what is unread.
    pub(super) fn take(&mut self, bytes: usize) {
        self.unread -= bytes;
        self.taken += bytes;
    }

    pub(super) fn release_taken(&mut self, bytes: usize) -> Place {
        self.taken = self.taken.saturating_sub(bytes);
        self.release(bytes)
    }

    pub(super) fn release_unread(&mut self) -> Place {
        let bytes = std::mem::take(&mut self.unread);
        self.release(bytes)
    }

    pub(super) fn release(&mut self, bytes: usize) -> Place {
        if self.place == Place::Slot {
            self.released += bytes;
        }
        self.place
    }

    /// The stream was reset: all that is out returns at once, and nothing after it.
    pub(super) fn settle(&mut self) -> usize {
        if self.place == Place::Settled {
            return 0;
        }
        self.place = Place::Settled;
        self.unread + self.taken + std::mem::take(&mut self.released)
    }
}
