//! What a fault of the peer's costs: its stream, or the connection.
//!
//! Owns: the consequence of a `Violation`. Does not know: which rules there are, which is the table
//! in `error`. Keeps: answers that a peer provokes are counted, and bounded by back-pressure (I3).

use std::time::Instant;

use super::connection::Connection;
use super::ids::Gone;
use super::limits::Ending;
use super::port::Ports;
use super::send::Reply;
use super::state::State;
use super::streams::Slot;
use crate::error::{Error, Scope, Violation};
use crate::frame::{Reason, StreamId};

/// A rule broken on a stream, or on the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub(super) id: StreamId,
    pub(super) violation: Violation,
}

impl From<Violation> for Fault {
    fn from(violation: Violation) -> Fault {
        Fault {
            id: StreamId::CONNECTION,
            violation,
        }
    }
}

/// A rule broken on this stream.
pub(super) fn fault(id: StreamId, violation: impl Into<Violation>) -> Fault {
    Fault {
        id,
        violation: violation.into(),
    }
}

impl<R: Ports> Connection<R> {
    /// Queues an answer that the peer has provoked.
    pub(super) fn reply(&mut self, reply: Reply) -> Result<(), Fault> {
        self.replies.push_back(reply);
        Ok(())
    }

    /// Answers a fault.
    pub(super) fn punish(&mut self, fault: Fault, now: Instant) {
        let Fault { id, violation } = fault;
        if violation.scope() == Scope::Connection || id.is_connection() {
            return self.fatal(violation);
        }
        match self.streams.find(id) {
            Some(slot) => self.punish_stream(slot, violation, now),
            //= RFC 9113 §6.4 an idle stream cannot be reset: the fault is the connection's
            None if self.is_idle(id, now) => self.fatal(violation),
            None => self.refuse(id, violation, now),
        }
    }

    fn punish_stream(&mut self, slot: Slot, violation: Violation, now: Instant) {
        let Some(stream) = self.streams.at(slot) else {
            return;
        };
        if stream.state == State::Idle {
            return self.fatal(violation);
        }
        if let Err(flood) = self.limits.stream_ended(Ending::Fault, now) {
            return self.fatal(flood);
        }
        let id = stream.id;
        tracing::debug!(stream = id.as_u32(), %violation, reason = ?violation.reason(), "stream reset");
        let error = Error::violation(id, violation);
        self.reset(slot, violation.reason(), error);
        self.settle(slot);
    }

    /// Resets a stream that has no slot.
    pub(super) fn refuse(&mut self, id: StreamId, violation: Violation, now: Instant) {
        let budget = match violation {
            // The application never saw it, or it is long over: only the frames cost. A client whose
            // uploads we stopped has much on its way for streams that we have forgotten meanwhile.
            _ if violation.reason() == Reason::REFUSED_STREAM => self.limits.unproductive(now),
            Violation::ForgottenStream => self.limits.late_frame(now),
            _ => self.limits.stream_ended(Ending::Fault, now),
        };
        match budget {
            Err(flood) => self.fatal(flood),
            Ok(()) => {
                tracing::debug!(stream = id.as_u32(), %violation, reason = ?violation.reason(), "stream refused");
                self.ids.close(id, Gone::ResetByUs, Some(now));
                self.replies.push_back(Reply::Reset(id, violation.reason()));
            }
        }
    }

    fn is_idle(&self, id: StreamId, now: Instant) -> bool {
        matches!(self.ids.fate(id, now), Gone::Idle | Gone::Skipped)
    }
}
