//! The account of one producer: what it has queued, and how much more it may.
//!
//! Owns: the arithmetic. Does not know: locks, wakers, payloads. Keeps the producers' part of I3
//! (bounded): what lies above the floor is charged to the room when it arrives.

use super::room::{FLOOR, Room, above_floor};

/// Bytes of this producer, counted from the stream's birth.
/// Invariant: `taken <= queued`; what is buffered is the difference.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) queued: u64,
    pub(super) taken: u64,
    /// Queued and not yet reported to the task.
    pub(super) unreported: usize,
    /// The sum of the peer's WINDOW_UPDATEs: the window is this + initial - queued.
    pub(super) credit: i64,
    /// `queued` may grow to here on the application's own word.
    pub(super) requested: u64,
    /// Room granted by the scheduler, above the floor.
    pub(super) granted: usize,
    /// The capacity that the application was last told, less what it used of it.
    pub(super) reported: usize,
}

impl Account {
    pub(super) fn buffered(&self) -> usize {
        (self.queued - self.taken) as usize
    }

    /// The stream's window that is left for bytes not yet queued.
    pub(super) fn window(&self, initial: u32) -> usize {
        let window = i64::from(initial)
            .saturating_add(self.credit)
            .saturating_sub(i64::try_from(self.queued).unwrap_or(i64::MAX));
        usize::try_from(window).unwrap_or(0)
    }

    /// What the floor leaves, and above it what may be taken directly or was granted.
    ///
    /// A grant is worth what is still free: it reserves nothing.
    pub(super) fn room(&self, room: &Room) -> usize {
        FLOOR
            .saturating_sub(self.buffered())
            .saturating_add(room.direct().max(self.granted.min(room.free())))
    }

    /// `bytes` have arrived: answers how much of them the room is charged.
    pub(super) fn queue(&mut self, bytes: usize) -> usize {
        let above = above_floor(self.buffered());
        self.queued += bytes as u64;
        self.unreported += bytes;
        self.requested = self.requested.max(self.queued);
        self.reported = self.reported.saturating_sub(bytes);
        let charged = above_floor(self.buffered()) - above;
        self.granted = self.granted.saturating_sub(charged);
        charged
    }

    /// `bytes` went into a batch: answers how much of the room returns.
    pub(super) fn take(&mut self, bytes: usize) -> usize {
        let above = above_floor(self.buffered());
        self.taken = self.queued.min(self.taken + bytes as u64);
        above - above_floor(self.buffered())
    }

    /// Nothing is buffered any more: answers how much of the room returns.
    pub(super) fn clear(&mut self) -> usize {
        let above = above_floor(self.buffered());
        self.taken = self.queued;
        self.unreported = 0;
        self.granted = 0;
        above
    }
}
