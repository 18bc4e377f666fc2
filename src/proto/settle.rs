//! What follows once code has acted on a stream: its list, its last frames, the end of its slot.
//!
//! Owns: `settle`, which alone decides list membership; `remove`, the one exit of streams; `reset`;
//! who gets send room. Does not know: why a stream changed. Keeps I4 (gone when over) and lesson L1:
//! whoever leaves resumes those who wait.

use super::config::Role;
use super::connection::Connection;
use super::ids::Gone;
use super::limits::Ending;
use super::port::{Outgoing, Port, Ports, RoomWait};
use super::state::{Event, State};
use super::stream::{Counted, Holder, Stream, Wait};
use super::streams::Slot;
use crate::error::{Error, Initiator};
use crate::frame::Reason;

/// One grant of send room: what every stream may have buffered at least.
pub(super) const QUANTUM: usize = 16 * 1024;

impl<R: Ports> Connection<R> {
    /// Makes everything that depends on a stream agree with it. Ends every visit of a stream.
    pub(super) fn settle(&mut self, slot: Slot) {
        self.cancel_if_abandoned(slot);
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        if stream.is_over() {
            self.account_end();
            self.stats.streams_completed += 1;
            return self.retire(slot);
        }
        if !stream.in_control && stream.owes_control() {
            stream.in_control = true;
            self.control.push(stream.key);
        }
        let wants = stream.wants(self.settings.peer.initial_window);
        self.scheduler.place(&mut self.streams, slot, wants);
    }

    /// Ends a stream from this side. What it held is given back now; RST_STREAM follows if the peer
    /// knows the stream.
    pub(super) fn reset(&mut self, slot: Slot, reason: Reason, error: Error) {
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        if stream.state == State::Closed {
            return;
        }
        if stream.state == State::Idle {
            //= RFC 9113 §6.4 RST_STREAM is not sent for an idle stream
            return self.forget(slot, error);
        }
        let credit = stream.port.fail(error);
        stream.clear_output();
        stream.state = stream
            .state
            .after(Event::SendReset)
            .unwrap_or(State::Closed);
        stream.reset = Some(reason);
        self.leave_waiting(slot);
        self.return_credit(credit);
        self.resume_after_end();
    }

    /// The slot of a stream goes. Every way out leads through here.
    pub(super) fn remove(&mut self, slot: Slot, how: Gone) {
        self.scheduler.place(&mut self.streams, slot, Wait::Nothing);
        self.leave_waiting(slot);
        let Some(stream) = self.streams.take(slot) else {
            return;
        };
        if stream.counted == Counted::Yes {
            self.counts.local -= 1;
        }
        if !self.role.opens(stream.id) {
            self.counts.remote -= 1;
        }
        if stream.holder == Holder::Unaccepted {
            self.counts.reset_unaccepted += 1;
        }
        self.ids.close(stream.id, how, self.now);
        self.resume_after_end();
    }

    /// Both halves have ended: unread data stays with the handles, who return its credit.
    fn retire(&mut self, slot: Slot) {
        if let Some(stream) = self.streams.at(slot) {
            let credit = stream.port.retire();
            self.return_credit(credit);
            self.remove(slot, Gone::Ended);
        }
    }

    fn account_end(&mut self) {
        // What ends well pays nothing, whatever the time is.
        if let Some(now) = self.now {
            let _ = self.limits.stream_ended(Ending::Well, now);
        }
    }

    /// Receive credit comes back to the connection's window.
    pub(super) fn return_credit(&mut self, bytes: usize) {
        if bytes > 0 {
            self.recv_window.release(bytes);
            self.limits.data_consumed(bytes);
        }
    }

    /// The producer of a stream waits for send room: it gets some when its turn has come.
    pub(super) fn want_room(&mut self, slot: Slot) {
        self.join_waiting(slot, RoomWait::Turn);
        self.resume_waiting();
    }

    /// The producer of a stream may send, and waits for more room: it is told when there is more.
    pub(super) fn want_more_room(&mut self, slot: Slot) {
        self.join_waiting(slot, RoomWait::More);
    }

    /// Puts a stream at the end of the list for what its producer wants, unless it stands there.
    fn join_waiting(&mut self, slot: Slot, wanted: RoomWait) {
        let stream = self.streams.at_mut(slot);
        if stream.is_none_or(|stream| stream.wants_room >= wanted || !stream.may_send()) {
            return;
        }
        self.leave_waiting(slot);
        if let Some(stream) = self.streams.at_mut(slot) {
            stream.wants_room = wanted;
        }
        let list = match wanted {
            RoomWait::More => &mut self.watching_list,
            RoomWait::Turn | RoomWait::Nothing => &mut self.waiting_in_list,
        };
        list.push_back(&mut self.streams, slot);
    }

    /// The producer of a stream no longer waits for room.
    fn leave_waiting(&mut self, slot: Slot) {
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        match std::mem::take(&mut stream.wants_room) {
            RoomWait::Nothing => {}
            RoomWait::More => self.watching_list.unlink(&mut self.streams, slot),
            RoomWait::Turn => self.waiting_in_list.unlink(&mut self.streams, slot),
        }
    }

    /// Wakes the producers for whom there is more room than they know of. Unless some has come since
    /// they were last looked at there is none: a turn must not cost more because many of them wait.
    fn tell_of_more_room(&mut self) {
        let returned = self.ports.room_returned();
        if std::mem::replace(&mut self.room_returned, returned) == returned {
            return;
        }
        let mut next = self.watching_list.first();
        while let Some(slot) = next {
            next = self.watching_list.after(&self.streams, slot);
            let stream = self.streams.at(slot);
            if !stream.is_some_and(|stream| stream.may_send() && stream.port.look_for_more()) {
                self.leave_waiting(slot);
            }
        }
    }

    /// A stream has left, or let go of its room: whoever waits behind it goes on (lesson L1).
    fn resume_after_end(&mut self) {
        let before = self.stats.room_grants;
        self.resume_waiting();
        self.stats.resumed_by_end += self.stats.room_grants - before;
    }

    /// Grants room to those who wait, in the order of asking, a quantum each, while there is some.
    /// Who holds its share keeps its place and gets none: what is left is for others.
    ///
    /// Room that was full is only given out again once a quarter is free. A grant reserves nothing:
    /// it is set aside by count until the turn is over, so that not all race for the same bytes.
    pub(super) fn resume_waiting(&mut self) {
        if self.waiting_in_list.is_empty() {
            return;
        }
        let mut free = self.ports.free_room().saturating_sub(self.set_aside);
        if free
            < QUANTUM
                .max(self.config.send_room / 4)
                .min(self.config.send_room)
        {
            return;
        }
        let share = free;
        let mut next = self.waiting_in_list.first();
        while let Some(slot) = next {
            next = self.waiting_in_list.after(&self.streams, slot);
            if let Some(stream) = self.streams.at_mut(slot).filter(|stream| stream.may_send()) {
                if free == 0 {
                    return;
                }
                if !stream.port.takes(share) {
                    continue;
                }
                stream.port.grant(QUANTUM.min(free));
                self.set_aside += QUANTUM.min(free);
                free = free.saturating_sub(QUANTUM);
                self.stats.room_grants += 1;
            }
            self.leave_waiting(slot);
        }
        self.ports.room_resumed();
    }

    /// The turn is over. True if another must follow, once the producers that were granted room had
    /// time to use it: what they leave is for those who still wait (I1).
    pub(crate) fn end_turn(&mut self) -> bool {
        self.stats.turns += 1;
        self.note_activity();
        self.stats.idle_turns += u64::from(self.work.0 == self.work.1);
        self.work.1 = self.work.0;
        self.resume_waiting();
        if self.waiting_in_list.is_empty() {
            // Who asked may have found room, or left, before it was put on the list.
            self.ports.room_resumed();
        }
        self.tell_of_more_room();
        std::mem::take(&mut self.set_aside) > 0 && !self.waiting_in_list.is_empty()
    }

    /// The task goes to sleep, and the transport has taken all that it was given. That nothing is left
    /// which `fill` would find is what `settle` sees to (I1); here it is counted if it is not so.
    pub(crate) fn fall_asleep(&mut self) {
        self.stats.stalled_turns += u64::from(self.could_fill());
    }

    /// Whether `fill` would find anything, from the lists alone.
    pub(super) fn could_fill(&self) -> bool {
        let may_open = self.counts.local < self.settings.peer.max_streams;
        let has_heads = self.scheduler.next_promise().is_some()
            || self.scheduler.next_head().is_some()
            || may_open && self.scheduler.next_open().is_some();
        let has_data = self.scheduler.has_turns() && self.connection_credit() > 0;
        let is_owing = !self.control.is_empty() || !self.replies.is_empty();
        self.shutdown.is_listening() && (has_heads || has_data || is_owing)
    }

    /// Nobody is left who could read or write: what is not finished is cancelled.
    fn cancel_if_abandoned(&mut self, slot: Slot) {
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        if stream.holder != Holder::Nobody || stream.state == State::Closed {
            return;
        }
        if let Some(reason) = leftover(stream, self.role) {
            let error = Error::reset(stream.id, reason, Initiator::User);
            self.reset(slot, reason, error);
            self.limits.stream_given_up();
        }
    }
}

/// With which code an abandoned stream is reset, if now is the time.
fn leftover<P: Port>(stream: &Stream<P>, role: Role) -> Option<Reason> {
    if stream.state.can_send() || stream.state == State::ReservedLocal {
        if is_complete(&stream.out) {
            // What was queued in full still goes out, unless only its answer would be of use.
            let in_vain = role == Role::Client && stream.state == State::Open;
            return in_vain.then_some(Reason::CANCEL);
        }
        return Some(Reason::CANCEL);
    }
    match (stream.state, role) {
        //= RFC 9113 §8.1 a server that has answered in full may stop the request with NO_ERROR
        (State::HalfClosedLocal, Role::Server) => Some(Reason::NO_ERROR),
        (State::Idle, Role::Server) if is_complete(&stream.out) => None,
        _ => Some(Reason::CANCEL),
    }
}

fn is_complete<B>(out: &Outgoing<B>) -> bool {
    out.end || out.trailers.is_some()
}
