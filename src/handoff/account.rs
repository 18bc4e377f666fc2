//! The account of one producer: what it has queued, and how much more it may.
//!
//! Owns: the arithmetic. Does not know: locks, wakers, payloads. Keeps the producers' part of I3
//! (bounded): what lies above the floor is charged to the room when it arrives.

use super::room::{FLOOR, LEAST_SHARE, Room, above_floor};
use crate::proto::port::RoomWait;

/// Bytes of this producer, counted from the stream's birth.
/// Invariant: `taken <= queued`; what is buffered is the difference. What is on offer comes behind it.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) queued: u64,
    pub(super) taken: u64,
    /// Handed over by `send`, which waits: the task may take them, but they are charged to nobody.
    pub(super) offered: usize,
    /// Queued or offered, and not yet reported to the task.
    pub(super) unreported: usize,
    /// The sum of the peer's WINDOW_UPDATEs: the window is this + initial - queued.
    pub(super) credit: i64,
    /// `queued` may grow to here on the application's own word.
    pub(super) requested: u64,
    /// Room granted by the scheduler, above the floor.
    pub(super) granted: usize,
    /// What the connection was told, or will be, of how the producer waits.
    pub(super) asked: RoomWait,
    /// The capacity that the application was last told, less what it used of it.
    pub(super) reported: usize,
}

impl Account {
    pub(super) fn buffered(&self) -> usize {
        (self.queued - self.taken) as usize
    }

    pub(super) fn above_floor(&self) -> usize {
        above_floor(self.buffered())
    }

    pub(super) fn is_offering(&self) -> bool {
        self.offered > 0
    }

    /// What of the offer would lie above the floor.
    pub(super) fn offer_above_floor(&self) -> usize {
        above_floor(self.buffered() + self.offered) - self.above_floor()
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
        let floor = FLOOR.saturating_sub(self.buffered());
        floor.saturating_add(self.room_above_floor(room))
    }

    pub(super) fn room_above_floor(&self, room: &Room) -> usize {
        let direct = room.direct(self.above_floor());
        direct.max(self.granted.min(room.free()))
    }

    /// What was asked for and is not yet queued.
    pub(super) fn wanted(&self) -> usize {
        let wanted = self.requested.saturating_sub(self.queued);
        usize::try_from(wanted).unwrap_or(usize::MAX)
    }

    /// What the producer asks the connection for: its `bound` allows more than there is room for. An
    /// offer that a grant cannot cover waits until some of it has left.
    pub(super) fn lacks(&self, room: &Room, bound: usize) -> RoomWait {
        if self.is_offering() {
            let wanted = self.offer_above_floor();
            let may_be_granted = wanted <= room.largest_grant()
                && wanted > self.room_above_floor(room)
                && self.offered <= bound;
            return match may_be_granted {
                true => RoomWait::Turn,
                false => RoomWait::Nothing,
            };
        }
        match (self.room(room), self.wanted().min(bound)) {
            (0, 1..) => RoomWait::Turn,
            (there, most) if there < most => RoomWait::More,
            _ => RoomWait::Nothing,
        }
    }

    /// Whether the producer should hear of its `capacity`: it knows of none, or there is a good deal
    /// more than it knows of, or all that it wants and its `bound` allows.
    pub(super) fn is_worth_telling(&self, capacity: usize, bound: usize) -> bool {
        let more = capacity.saturating_sub(self.reported);
        let is_all = capacity >= self.wanted().min(bound);
        more >= LEAST_SHARE || more > 0 && (self.reported == 0 || is_all)
    }

    /// Charges the room what the offer needs of it, if it may have that.
    pub(super) fn take_room(&self, room: &Room) -> bool {
        room.take(self.offer_above_floor(), self.above_floor(), self.granted)
    }

    /// A value of so many bytes has arrived, which waits for capacity.
    pub(super) fn offer(&mut self, bytes: usize) {
        self.offered = bytes;
        self.unreported += bytes;
    }

    /// All of the offer is queued now; what of it needed room has been charged.
    pub(super) fn admit(&mut self) {
        self.granted = self.granted.saturating_sub(self.offer_above_floor());
        self.queued += std::mem::take(&mut self.offered) as u64;
        self.requested = self.requested.max(self.queued);
    }

    /// `bytes` have arrived: answers how much of them the room is charged.
    pub(super) fn queue(&mut self, bytes: usize) -> usize {
        let above = self.above_floor();
        self.queued += bytes as u64;
        self.unreported += bytes;
        self.requested = self.requested.max(self.queued);
        self.reported = self.reported.saturating_sub(bytes);
        let charged = self.above_floor() - above;
        self.granted = self.granted.saturating_sub(charged);
        charged
    }

    /// `bytes` went into a batch: answers how much of the room returns.
    pub(super) fn take(&mut self, bytes: usize) -> usize {
        let above = self.above_floor();
        self.taken += bytes as u64;
        // What was only on offer goes through without being charged.
        let through = self.taken.saturating_sub(self.queued) as usize;
        self.offered = self.offered.saturating_sub(through);
        self.queued = self.queued.max(self.taken);
        self.requested = self.requested.max(self.queued);
        above - self.above_floor()
    }

    /// Nothing is buffered any more: answers how much of the room returns.
    pub(super) fn clear(&mut self) -> usize {
        let above = self.above_floor();
        self.taken = self.queued;
        self.offered = 0;
        self.unreported = 0;
        self.granted = 0;
        above
    }
}
