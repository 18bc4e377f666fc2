//! Receive credit of one stream: where it is counted, until it is returned once.
//!
//! Owns: the arithmetic of rule 7. Does not know: locks, data, windows. Keeps the readers' part of
//! I5 (window conservation): every octet delivered is released once, or returned by the reset.

/// Receive credit of this stream, and who collects what is released.
/// Invariant: `unread` is the length of all of `data`. A reader may release bytes that it has not
/// read, as with h2; so `out` says nothing about `unread`.
#[derive(Debug, Default)]
pub(super) struct Credit {
    pub(super) place: Place,
    /// In `data`.
    pub(super) unread: usize,
    /// Delivered and not released, read or not.
    pub(super) out: usize,
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
    pub(super) fn deliver(&mut self, bytes: usize) {
        self.unread += bytes;
        self.out += bytes;
    }

    /// The reader takes `bytes` of what is unread.
    pub(super) fn read(&mut self, bytes: usize) {
        self.unread = self.unread.saturating_sub(bytes);
    }

    /// Lets go of `bytes`, or of as many as are out, and answers how many.
    pub(super) fn release(&mut self, bytes: usize) -> usize {
        let bytes = bytes.min(self.out);
        self.out -= bytes;
        if self.place == Place::Slot {
            self.released += bytes;
        }
        bytes
    }

    /// What was delivered and is not read will not be.
    pub(super) fn release_unread(&mut self) -> usize {
        let unread = std::mem::take(&mut self.unread);
        self.release(unread)
    }

    /// The stream was reset: all that is out returns at once, and nothing after it.
    pub(super) fn settle(&mut self) -> usize {
        if self.place == Place::Settled {
            return 0;
        }
        self.place = Place::Settled;
        self.out + std::mem::take(&mut self.released)
    }
}
