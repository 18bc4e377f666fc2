//! Peers that take nothing: streams whose output gets no credit, and a transport that is stuck.
//!
//! Owns: when progress was last seen. Does not know: why there is none. It looks now and then, at
//! times that it is given, and compares; so nothing is paid for it while frames are sent. Keeps its
//! part of I3: what a peer does not take is not kept for ever.

use std::time::{Duration, Instant};

use super::connection::Connection;
use super::flow::SendWindow;
use super::port::Ports;
use super::streams::Slot;
use crate::error::{Error, Violation};
use crate::frame::StreamId;

/// How often within the time limit it looks.
const LOOKS: u32 = 4;

/// It looks no more often than this: a shorter limit must not keep the task awake.
pub(super) const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

/// Less than this within the time limit is no progress: a peer that grants an octet now and then
/// keeps a whole answer in memory.
const MIN_PROGRESS: i64 = 1024;

/// Progress of the connection as a whole.
#[derive(Debug, Default)]
pub(super) struct Stall {
    /// How often output was asked for: each time means that the transport took the last.
    fills: u64,
    /// The last output that was asked for has not been taken yet.
    in_hand: bool,
    seen: Option<(u64, Instant)>,
    last_look: Option<Instant>,
    /// The transport was given up.
    is_lost: bool,
}

impl Stall {
    /// A batch was filled, with something or with nothing.
    pub(super) fn note_fill(&mut self, something: bool) {
        self.fills += 1;
        self.in_hand = something;
    }
}

impl<R: Ports> Connection<R> {
    /// Whether the transport was given up: no use to wait until it takes anything.
    pub(crate) fn is_lost(&self) -> bool {
        self.stall.is_lost
    }

    /// When to look next. Only while there is a stream, or output that was not taken.
    pub(super) fn progress_deadline(&self) -> Option<Instant> {
        let pause = self.pause_between_looks()?;
        if self.streams.is_empty() && !self.stall.in_hand {
            return None;
        }
        // Not from now on: that moves with every frame of the peer's.
        self.stall.last_look.or(self.quiet.born)?.checked_add(pause)
    }

    /// Resets streams, or ends the connection, that have not moved for too long.
    pub(super) fn check_progress(&mut self, now: Instant) {
        let Some(pause) = self.pause_between_looks() else {
            return;
        };
        let next_look = self.stall.last_look.and_then(|at| at.checked_add(pause));
        if !self.shutdown.is_listening() || next_look.is_some_and(|at| now < at) {
            return;
        }
        self.stall.last_look = Some(now);
        let was_due = next_look.and_then(|at| at.checked_add(pause));
        if was_due.is_some_and(|at| at < now) {
            self.begin_anew();
        }
        if self.transport_is_stuck(now) {
            return self.give_up(Violation::ConnectionStalled);
        }
        if let Some(timeout) = self.config.limits.stall_timeout {
            for slot in self.streams.slots() {
                self.check_stream(slot, now, timeout);
            }
        }
    }

    /// Nobody has looked for a while, because there was nothing to look at, or the task was late. It
    /// cannot say then that nothing has moved: what it could have taken, or written, it did not.
    fn begin_anew(&mut self) {
        self.stall.seen = None;
        for slot in self.streams.slots() {
            if let Some(stream) = self.streams.at_mut(slot) {
                stream.progress = None;
            }
        }
    }

    /// The transport takes nothing, not even GOAWAY: every stream hears of it, and that is all.
    pub(super) fn give_up(&mut self, violation: Violation) {
        tracing::debug!(%violation, "connection given up");
        self.stall.is_lost = true;
        self.fail(Error::violation(StreamId::CONNECTION, violation));
    }

    fn pause_between_looks(&self) -> Option<Duration> {
        let limits = &self.config.limits;
        let timeouts = [limits.stall_timeout, limits.connection_stall_timeout];
        let shortest = timeouts.into_iter().flatten().min()?;
        let pause = (shortest / LOOKS).max(SHORTEST_PAUSE);
        self.config.timed.then_some(pause)
    }

    fn transport_is_stuck(&mut self, now: Instant) -> bool {
        let Some(timeout) = self.config.limits.connection_stall_timeout else {
            return false;
        };
        if !self.has_output() {
            self.stall.seen = None;
            return false;
        }
        let fills = self.stall.fills;
        match self.stall.seen {
            Some((before, since)) if before == fills => is_over(since, timeout, now),
            _ => {
                self.stall.seen = Some((fills, now));
                false
            }
        }
    }

    fn check_stream(&mut self, slot: Slot, now: Instant, timeout: Duration) {
        let (initial, open) = (self.settings.peer.initial_window, self.connection_credit());
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        // Who has credit waits for a turn: on a slow path, behind many others, that is no fault.
        let is_waiting = open == 0 || stream.send.open(initial) == 0;
        if stream.queued == 0 || !stream.state.can_send() || !is_waiting {
            stream.progress = None;
        } else if is_starved(&mut stream.progress, stream.send, now, timeout) {
            let violation = Violation::StreamStalled;
            let error = Error::violation(stream.id, violation);
            self.reset(slot, violation.reason(), error);
            self.limits.stream_given_up();
            self.settle(slot);
        }
    }

    /// Whether there is something that the transport has not taken.
    fn has_output(&self) -> bool {
        self.stall.in_hand
            || !self.control.is_empty()
            || !self.replies.is_empty()
            || self.scheduler.next_head().is_some()
            || self.scheduler.has_turns() && self.connection_credit() > 0
    }
}

/// Whether hardly anything was sent for `timeout`. Enough of it starts the time anew.
fn is_starved(
    seen: &mut Option<(i64, Instant)>,
    window: SendWindow,
    now: Instant,
    timeout: Duration,
) -> bool {
    match *seen {
        Some((before, since)) if window.sent() < before.saturating_add(MIN_PROGRESS) => {
            is_over(since, timeout, now)
        }
        _ => {
            *seen = Some((window.sent(), now));
            false
        }
    }
}

fn is_over(since: Instant, timeout: Duration, now: Instant) -> bool {
    now.saturating_duration_since(since) >= timeout
}
