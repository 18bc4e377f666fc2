//! Peers that take nothing: streams with output that does not move, and a transport that is stuck.
//!
//! Owns: when progress was last seen. Does not know: why there is none. It looks now and then, at
//! times that it is given, and compares; so nothing is paid for it while frames are sent. Keeps its
//! part of I3: what a peer does not take is not kept for ever.

use std::time::{Duration, Instant};

use super::connection::Connection;
use super::port::Ports;
use super::streams::Slot;
use crate::error::{Error, Violation};
use crate::frame::StreamId;

/// How often within the time limit it looks.
const LOOKS: u32 = 4;

/// Progress of the connection as a whole.
#[derive(Debug, Default)]
pub(super) struct Stall {
    /// How often output was asked for: each time means that the transport took the last.
    fills: u64,
    seen: Option<(u64, Instant)>,
    last_look: Option<Instant>,
}

impl Stall {
    pub(super) fn note_fill(&mut self) {
        self.fills += 1;
    }
}

impl<R: Ports> Connection<R> {
    /// When to look next. Only while there is a stream.
    pub(super) fn progress_deadline(&self) -> Option<Instant> {
        let timeout = self.config.limits.stall_timeout?;
        let from = self
            .stall
            .last_look
            .or(self.now)
            .filter(|_| !self.streams.is_empty())?;
        from.checked_add(timeout / LOOKS)
    }

    /// Resets streams, or ends the connection, that have not moved for too long.
    pub(super) fn check_progress(&mut self, now: Instant) {
        let Some(timeout) = self.config.limits.stall_timeout else {
            return;
        };
        let next_look = self
            .stall
            .last_look
            .and_then(|at| at.checked_add(timeout / LOOKS));
        if !self.shutdown.is_listening() || next_look.is_some_and(|at| now < at) {
            return;
        }
        self.stall.last_look = Some(now);
        let doubled = timeout.saturating_mul(2);
        if self.has_output() && is_overdue(&mut self.stall.seen, self.stall.fills, now, doubled) {
            // The transport takes nothing, not even GOAWAY.
            let violation = Violation::ConnectionStalled;
            return self.fail(Error::violation(StreamId::CONNECTION, violation));
        }
        for slot in self.streams.slots() {
            self.check_stream(slot, now, timeout);
        }
    }

    fn check_stream(&mut self, slot: Slot, now: Instant, timeout: Duration) {
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        if stream.queued == 0 || !stream.state.can_send() {
            stream.progress = None;
        } else if is_overdue(&mut stream.progress, stream.send.sent(), now, timeout) {
            let violation = Violation::StreamStalled;
            let error = Error::violation(stream.id, violation);
            self.reset(slot, violation.reason(), error);
            self.settle(slot);
        }
    }

    /// Whether a fill would find something.
    fn has_output(&self) -> bool {
        !self.control.is_empty()
            || !self.replies.is_empty()
            || self.scheduler.next_head().is_some()
            || self.scheduler.has_turns() && self.connection_credit() > 0
    }
}

/// Whether `value` is what it was `timeout` ago. Another value starts the time anew.
fn is_overdue<T: PartialEq>(
    seen: &mut Option<(T, Instant)>,
    value: T,
    now: Instant,
    timeout: Duration,
) -> bool {
    match seen {
        Some((before, since)) if *before == value => {
            now.saturating_duration_since(*since) >= timeout
        }
        _ => {
            *seen = Some((value, now));
            false
        }
    }
}
