//! Flow control: one kind of send window and one of receive window, for a stream and the connection.
//!
//! Owns: the arithmetic of RFC 9113 §5.2 and §6.9. Does not know: frames, streams, who reads. Keeps
//! I5: what was granted is what is left and what was used, through any change of settings. Windows
//! are signed: SETTINGS may take one below zero.

use crate::frame::MAX_WINDOW_SIZE;

//= RFC 9113 §6.9.1 a window never exceeds 2^31-1
const MAX: i64 = MAX_WINDOW_SIZE as i64;

/// SETTINGS_INITIAL_WINDOW_SIZE until a peer changes it, and the connection's window at the start.
pub(super) const DEFAULT_WINDOW: u32 = 65_535;

/// What we may still send: an initial size that is kept elsewhere, plus credit, less bytes sent.
///
/// A change of the peer's initial size so moves every stream without touching it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SendWindow {
    credit: i64,
    sent: i64,
}

/// A window that would exceed 2^31-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overflow;

impl SendWindow {
    /// What may be sent now, perhaps below zero.
    pub(super) fn left(&self, initial: u32) -> i64 {
        i64::from(initial) + self.credit - self.sent
    }

    /// What may be sent now, zero at least.
    pub(super) fn open(&self, initial: u32) -> usize {
        usize::try_from(self.left(initial)).unwrap_or(0)
    }

    //= RFC 9113 §6.9.1 an update that takes the window above 2^31-1 is a FLOW_CONTROL_ERROR
    pub(super) fn grow(&mut self, increment: u32, initial: u32) -> Result<(), Overflow> {
        if self.left(initial) + i64::from(increment) > MAX {
            return Err(Overflow);
        }
        self.credit = self.credit.saturating_add(i64::from(increment));
        Ok(())
    }

    /// Whether this initial size would take the window too far.
    pub(super) fn overflows(&self, initial: u32) -> bool {
        self.left(initial) > MAX
    }

    pub(super) fn debit(&mut self, bytes: usize) {
        self.sent = self.sent.saturating_add(bytes as i64);
    }

    /// All that was sent.
    pub(super) fn sent(&self) -> i64 {
        self.sent
    }

    /// The sum of the peer's WINDOW_UPDATEs.
    pub(super) fn credit(&self) -> i64 {
        self.credit
    }
}

/// What the peer may still send, and what of it waits to be returned.
///
/// Always: `left + held + owed == size + extra`, where `size` is the size that we want the window to
/// have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecvWindow {
    /// The size wanted.
    size: i64,
    /// Beyond it, to make way for streams behind those that nobody reads; see `make_way`.
    extra: i64,
    /// What the peer may send as far as it has been told.
    left: i64,
    /// Received and not yet returned by who reads.
    held: i64,
    /// Returned, and not yet announced. Below zero after a shrink: that much is kept back.
    owed: i64,
}

impl RecvWindow {
    /// A window that the peer knows to have `size`.
    pub(super) fn new(size: u32) -> RecvWindow {
        let size = i64::from(size);
        RecvWindow {
            size,
            extra: 0,
            left: size,
            held: 0,
            owed: 0,
        }
    }

    /// The size wanted.
    pub(super) fn size(&self) -> i64 {
        self.size
    }

    /// The size wanted from now on; the difference is announced with the next update.
    pub(super) fn resize(&mut self, size: u32) {
        let difference = i64::from(size) - self.size;
        self.size += difference;
        self.owed += difference;
    }

    /// Opens the window beyond its size by what is held, up to `limit`, once that leaves less than half
    /// of the size open; and takes it back as what is held returns.
    ///
    /// Who reads slowly has a window of its own. Without this it would close that of the others too.
    pub(super) fn make_way(&mut self, limit: u32) {
        let open = self.size + self.extra - self.held;
        let extra = if open < self.size / 2 {
            self.held.min(i64::from(limit) - self.size).max(0)
        } else {
            self.extra.min(self.held)
        };
        self.owed += extra - self.extra;
        self.extra = extra;
    }

    /// The peer has acknowledged another initial size: its view moved by the difference.
    pub(super) fn shift(&mut self, difference: i64) {
        //= RFC 9113 §6.9.2 a new initial size moves every stream window by the difference
        self.size += difference;
        self.left += difference;
    }

    /// Takes what arrived out of the window. False if there was not so much left.
    pub(super) fn recv(&mut self, bytes: u32) -> bool {
        let bytes = i64::from(bytes);
        if bytes > self.left {
            return false;
        }
        self.left -= bytes;
        self.held += bytes;
        true
    }

    /// Whoever held `bytes` is done with them. More than is held counts for nothing.
    pub(super) fn release(&mut self, bytes: usize) -> usize {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX).min(self.held);
        self.held -= bytes;
        self.owed += bytes;
        usize::try_from(bytes).unwrap_or(0)
    }

    /// Whether an update is worth a frame: once it returns half of what the peer has left.
    ///
    /// So a window in use is announced in thirds, and one that is used up at once.
    pub(super) fn is_due(&self) -> bool {
        self.owed > 0 && self.owed.saturating_mul(2) >= self.left
    }

    /// The increment to announce, which the peer is then taken to know.
    pub(super) fn announce(&mut self) -> Option<u32> {
        let increment = self.owed.min(MAX - self.left.max(0));
        let increment = u32::try_from(increment).ok().filter(|n| *n > 0)?;
        self.owed -= i64::from(increment);
        self.left += i64::from(increment);
        Some(increment)
    }
}

/// What the tests look at.
#[cfg(test)]
impl RecvWindow {
    pub(super) fn held(&self) -> usize {
        usize::try_from(self.held).unwrap_or(0)
    }

    pub(super) fn left(&self) -> i64 {
        self.left
    }

    /// I5 on the receiving side.
    pub(super) fn is_conserved(&self) -> bool {
        self.left + self.held + self.owed == self.size + self.extra && self.held >= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= test RFC 9113 §6.9.2
    #[test]
    fn a_smaller_initial_size_takes_a_send_window_below_zero() {
        let mut window = SendWindow::default();
        window.debit(60_000);
        assert_eq!(window.left(16_384), -43_616);
        assert_eq!(window.open(16_384), 0);
        assert_eq!(window.open(65_535), 5_535);
    }

    //= test RFC 9113 §6.9.1
    #[test]
    fn a_window_never_exceeds_its_maximum() {
        let mut window = SendWindow::default();
        assert_eq!(window.grow(MAX_WINDOW_SIZE, 1), Err(Overflow));
        assert_eq!(window.grow(MAX_WINDOW_SIZE - 1, 1), Ok(()));
        assert_eq!(window.grow(1, 1), Err(Overflow));
        window.debit(1);
        assert_eq!(window.grow(1, 1), Ok(()));
        assert!(window.overflows(2));
    }

    #[test]
    fn what_is_released_is_announced_in_portions_worth_a_frame() {
        let mut window = RecvWindow::new(100);
        assert!(window.recv(60));
        window.release(10);
        assert!(!window.is_due());
        window.release(10);
        assert!(window.is_due());
        assert_eq!(window.announce(), Some(20));
        assert!(window.is_conserved());
    }

    #[test]
    fn a_window_that_is_used_up_reopens_by_single_bytes() {
        let mut window = RecvWindow::new(10);
        assert!(window.recv(10));
        assert!(!window.recv(1));
        assert!(!window.is_due(), "nothing has been returned");
        window.release(1);
        assert!(window.is_due());
        assert_eq!(window.announce(), Some(1));
        assert!(window.recv(1));
    }

    #[test]
    fn a_shrunk_window_keeps_back_what_returns() {
        let mut window = RecvWindow::new(100);
        assert!(window.recv(80));
        window.resize(50);
        window.release(80);
        assert!(window.is_due());
        assert_eq!(window.announce(), Some(30));
        assert_eq!(window.left(), 50);
        assert!(window.is_conserved());
    }

    #[test]
    fn a_window_that_is_held_makes_way_and_closes_again_as_that_returns() {
        let mut window = RecvWindow::new(100);
        assert!(window.recv(50));
        window.make_way(1000);
        assert_eq!(window.announce(), None, "half is open still");
        assert!(window.recv(30));
        window.make_way(1000);
        assert!(window.is_due());
        assert_eq!(window.announce(), Some(80), "as if nothing were held");
        window.release(80);
        window.make_way(1000);
        assert_eq!(window.announce(), None, "that was announced before");
        assert_eq!(window.left(), 100);
        assert!(window.is_conserved());
    }

    #[test]
    fn a_window_that_has_made_way_makes_more_only_when_that_is_used() {
        let mut window = RecvWindow::new(100);
        assert!(window.recv(80));
        window.make_way(1000);
        assert_eq!(window.announce(), Some(80));
        assert!(window.recv(40));
        window.make_way(1000);
        assert_eq!(window.announce(), None, "60 are open");
        assert!(window.recv(20));
        window.make_way(1000);
        assert_eq!(window.announce(), Some(60));
        assert!(window.is_conserved());
    }

    //= test RFC 9113 §6.9.1
    #[test]
    fn no_more_is_announced_than_a_window_may_be_large() {
        let mut window = RecvWindow::new(100);
        window.resize(u32::MAX);
        assert_eq!(window.announce(), Some(MAX_WINDOW_SIZE - 100));
        assert_eq!(window.announce(), None);
    }

    #[test]
    fn a_window_makes_way_up_to_its_limit() {
        let mut window = RecvWindow::new(100);
        for opened in [100, 50] {
            assert!(window.recv(100));
            window.make_way(250);
            assert_eq!(window.announce(), Some(opened));
            assert!(window.is_conserved());
        }
        assert!(window.recv(50));
        window.make_way(250);
        assert_eq!(window.announce(), None);
        window.release(60);
        window.make_way(250);
        assert_eq!(window.announce(), Some(60));
        window.make_way(0);
        assert!(window.is_conserved());
    }

    #[test]
    fn releasing_more_than_is_held_counts_for_nothing() {
        let mut window = RecvWindow::new(100);
        assert!(window.recv(5));
        assert_eq!(window.release(9), 5);
        assert_eq!(window.release(9), 0);
        assert!(window.is_conserved());
    }
}
