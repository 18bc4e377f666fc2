//! What the peer sends, frame by frame; header blocks are put together here and read in `heads`.
//!
//! Owns: which frame is allowed when, and what a fault costs. Does not know: the layout of frames,
//! what is in a message. Keeps I5 on the receiving side: every octet of DATA is counted once, and
//! returned at once where nobody will read it. One look-up a frame.

use std::time::Instant;

use super::block::{Block, Purpose};
use super::config::Role;
use super::connection::Connection;
use super::faults::{Fault, fault};
use super::flow::DEFAULT_WINDOW;
use super::ids::Gone;
use super::limits::Ending;
use super::port::{Delivery, Port, Ports};
use super::send::Reply;
use super::settings::Known;
use super::state::{Event as Step, State};
use super::stream::{Chooser, Holder, Phase, Rank};
use super::streams::Slot;
use crate::error::{Error, Initiator, MessageRule, Scope, Violation};
use crate::frame::{
    Continuation, Data, Frame, Headers, Kind, Malformed, PriorityUpdate, PushPromise, Reason,
    Reset, StreamId, WindowUpdate,
};
use crate::message::Priority;

/// PRIORITY_UPDATEs that are kept for requests yet to come, if the limit of streams allows so many.
const EARLY_PRIORITIES: usize = 128;

impl<R: Ports> Connection<R> {
    /// Takes what the peer sent: a frame, or what was wrong with it. A fault is answered in the next
    /// batch; after a fatal one nothing more is heard.
    pub(crate) fn recv(&mut self, frame: Result<Frame, Malformed>, now: Instant) {
        //= RFC 9113 §5.4.1 nothing is processed after a connection error
        if !self.shutdown.is_listening() {
            return;
        }
        self.note_time(now);
        self.quiet.note_heard(now);
        self.stats.frames_received += 1;
        self.work.0 += 1;
        let outcome = match frame {
            Ok(frame) => self.recv_frame(frame, now),
            Err(malformed) => self.recv_malformed(malformed),
        };
        if let Err(fault) = outcome {
            self.punish(fault, now);
        }
    }

    /// So many bytes were read from the peer at once; their frames follow.
    pub(crate) fn recv_read(&mut self, bytes: usize) {
        self.stats.reads += 1;
        self.stats.bytes_received += bytes as u64;
        // A long frame over a slow path: who sends it can say nothing else meanwhile.
        if let Some(now) = self.now.filter(|_| self.quiet.has_heard()) {
            self.quiet.note_heard(now);
        }
    }

    fn recv_frame(&mut self, frame: Frame, now: Instant) -> Result<(), Fault> {
        self.check_order(&frame)?;
        match frame {
            Frame::Data(frame) => self.recv_data(frame, now),
            Frame::Headers(frame) => self.recv_headers(frame, now),
            Frame::Continuation(frame) => self.recv_continuation(frame, now),
            Frame::PushPromise(frame) => self.recv_push_promise(frame, now),
            Frame::Reset(frame) => self.recv_reset(frame, now),
            Frame::WindowUpdate(frame) => self.recv_window_update(frame, now),
            Frame::Settings(frame) => self.recv_settings(frame, now),
            Frame::Ping(frame) if frame.ack => self.recv_pong(frame.payload, now),
            //= RFC 9113 §6.7 a PING is answered with the same payload
            Frame::Ping(frame) => self.reply(Reply::Pong(frame.payload)),
            Frame::GoAway(frame) => {
                // One is enough: more of them only cost.
                self.limits.unproductive(now)?;
                Ok(self.recv_go_away(frame)?)
            }
            Frame::PriorityUpdate(frame) => self.recv_priority_update(frame, now),
            //= RFC 9113 §5.3.2 the old priority signals are ignored, in every state
            //= RFC 9113 §5.5 frames of unknown types are ignored
            Frame::Priority(_) | Frame::Unknown(_) => Ok(self.limits.unproductive(now)?),
        }
    }

    /// SETTINGS come first, and nothing comes between the frames of a header block.
    fn check_order(&self, frame: &Frame) -> Result<(), Violation> {
        if self.settings.peer.is_known == Known::NotYet {
            //= RFC 9113 §3.4 the first frame of either side is SETTINGS
            let is_first = matches!(frame, Frame::Settings(settings) if !settings.is_ack());
            return if is_first {
                Ok(())
            } else {
                Err(Violation::FirstFrame)
            };
        }
        match (&self.block, frame) {
            //= RFC 9113 §6.10, §6.2, §4.3 only CONTINUATION of the same stream may follow
            (Some(block), Frame::Continuation(next)) if next.stream_id == block.id => Ok(()),
            //= RFC 9113 §5.5 extension frames inside a header block are a connection error
            (Some(_), _) => Err(Violation::BlockInterrupted),
            //= RFC 9113 §6.10 CONTINUATION needs an open header block
            (None, Frame::Continuation(_)) => Err(Violation::UnexpectedContinuation),
            (None, _) => Ok(()),
        }
    }

    fn recv_malformed(&mut self, malformed: Malformed) -> Result<(), Fault> {
        if self.settings.peer.is_known == Known::NotYet {
            //= RFC 9113 §3.4 an invalid preface is a connection error
            let violation = Violation::from(malformed);
            let is_first = matches!(violation.scope(), Scope::Connection);
            return Err(if is_first {
                violation
            } else {
                Violation::FirstFrame
            }
            .into());
        }
        if let Some(block) = &self.block {
            //= RFC 9113 §4.2 a CONTINUATION that is too long is a frame size error
            let continues = matches!(malformed, Malformed::TooLong { kind: Kind::CONTINUATION, stream_id, .. }
                if stream_id == block.id);
            if !continues {
                return Err(Violation::BlockInterrupted.into());
            }
        }
        let id = match malformed {
            Malformed::TooLong {
                kind: Kind::DATA,
                stream_id,
                length,
                ..
            } => {
                //= RFC 9113 §6.9.1 what is not accepted counts for the connection's window
                self.count_unwanted(u32::try_from(length).unwrap_or(u32::MAX))?;
                stream_id
            }
            Malformed::TooLong { stream_id, .. }
            | Malformed::WrongLength { stream_id, .. }
            | Malformed::ZeroIncrement { stream_id } => stream_id,
            _ => StreamId::CONNECTION,
        };
        Err(fault(id, malformed))
    }

    // ---- streams -------------------------------------------------------------------------

    fn recv_data(&mut self, frame: Data, now: Instant) -> Result<(), Fault> {
        let (id, flow_len) = (frame.stream_id, frame.flow_len);
        let Some(slot) = self.streams.find(id) else {
            //= RFC 9113 §5.1 DATA of streams that are gone counts for the connection's window
            self.count_unwanted(flow_len)?;
            //= RFC 9113 §6.1 DATA of a stream that its sender has ended is STREAM_CLOSED
            return self.recv_on_gone(id, now, Violation::HalfClosedStream);
        };
        //= RFC 9113 §6.9 the whole payload counts, padding included
        if !self.recv_window.recv(flow_len) {
            return Err(Violation::ConnectionWindowOverrun.into());
        }
        self.measure(flow_len, now);
        let returned = match self.data_for(slot, &frame, now) {
            Ok(kept) => flow_len as usize - kept,
            Err(refused) => {
                self.recv_window.release(flow_len as usize);
                return refused.map_or_else(|| Ok(self.limits.late_frame(now)?), Err);
            }
        };
        if let Some(stream) = self.streams.at_mut(slot) {
            stream.recv.release(returned);
        }
        self.return_credit(returned);
        self.settle(slot);
        Ok(())
    }

    /// Delivers DATA. Answers how many bytes somebody keeps, or the fault, if it is one.
    fn data_for(&mut self, slot: Slot, frame: &Data, now: Instant) -> Result<usize, Option<Fault>> {
        let id = frame.stream_id;
        let stream = self.streams.at_mut(slot).ok_or(None)?;
        match stream.state {
            State::Open | State::HalfClosedLocal => {}
            // We reset it: what is on its way is dropped.
            State::Closed => return Err(None),
            State::HalfClosedRemote => return Err(Some(fault(id, Violation::HalfClosedStream))),
            State::Idle => return Err(Some(Violation::IdleStream.into())),
            State::ReservedLocal | State::ReservedRemote => {
                return Err(Some(Violation::ReservedStream.into()));
            }
        }
        //= RFC 9113 §6.9.1 DATA beyond the stream's window is a FLOW_CONTROL_ERROR
        if !stream.recv.recv(frame.flow_len) {
            return Err(Some(fault(id, Violation::StreamWindowOverrun)));
        }
        let (length, end) = (frame.data.len(), frame.end_stream);
        //= RFC 9113 §8.1 content follows the header section
        let checked = match stream.incoming.phase {
            Phase::Head => Err(MessageRule::DataBeforeHead),
            Phase::Body | Phase::Tunnel => stream.incoming.length.recv(length),
        };
        checked
            .and_then(|()| {
                if end {
                    stream.incoming.length.end()
                } else {
                    Ok(())
                }
            })
            .map_err(|rule| Some(fault(id, rule)))?;
        if !end {
            self.limits
                .data(length, now)
                .map_err(|violation| Some(violation.into()))?;
        }
        self.stats.data_received += length as u64;
        if length == 0 && !end {
            return Ok(0);
        }
        if end {
            stream.state = stream.state.after(Step::RecvEnd).unwrap_or(State::Closed);
        }
        match stream.port.deliver_data(frame.data.clone(), end) {
            Delivery::Kept => Ok(length),
            Delivery::Unwanted => Ok(0),
        }
    }

    /// DATA that nobody will read: in and out of the connection's window.
    fn count_unwanted(&mut self, flow_len: u32) -> Result<(), Violation> {
        if !self.recv_window.recv(flow_len) {
            return Err(Violation::ConnectionWindowOverrun);
        }
        self.recv_window.release(flow_len as usize);
        Ok(())
    }

    /// A frame that needs an open stream came for one without a slot.
    pub(super) fn recv_on_gone(
        &mut self,
        id: StreamId,
        now: Instant,
        after_end: Violation,
    ) -> Result<(), Fault> {
        if self.ignores(id) {
            return Ok(self.limits.unproductive(now)?);
        }
        match self.ids.fate(id, now) {
            Gone::Idle => Err(Violation::IdleStream.into()),
            //= RFC 9113 §5.1.1 an id that was skipped belongs to a closed stream, not to an idle one
            Gone::Skipped => Err(fault(id, Violation::SkippedStream)),
            //= RFC 9113 §5.1 after our RST_STREAM frames in flight are dropped
            Gone::ResetByUs => Ok(self.limits.late_frame(now)?),
            Gone::Ended => Err(fault(id, after_end)),
            Gone::ResetByPeer => Err(fault(id, Violation::ResetStream)),
            Gone::Forgotten => Err(fault(id, Violation::ForgottenStream)),
        }
    }

    /// Whether our GOAWAY told the peer that it has opened this stream in vain.
    fn ignores(&self, id: StreamId) -> bool {
        self.shutdown.ignores(id) && !self.role.opens(id)
    }

    fn recv_reset(&mut self, frame: Reset, now: Instant) -> Result<(), Fault> {
        self.stats.resets_received += 1;
        let id = frame.stream_id;
        let Some(slot) = self.streams.find(id) else {
            return match self.ids.fate(id, now) {
                //= RFC 9113 §6.4 RST_STREAM of an idle stream is a connection error
                Gone::Idle if !self.ignores(id) => Err(Violation::IdleStream.into()),
                //= RFC 9113 §5.1 on a closed stream it may come late
                _ => Ok(self.limits.unproductive(now)?),
            };
        };
        let Some(stream) = self.streams.at(slot) else {
            return Ok(());
        };
        if stream.state == State::Idle {
            return Err(Violation::IdleStream.into());
        }
        let unfinished = self.role == Role::Server && stream.state.can_send();
        let unaccepted = stream.holder == Holder::Unaccepted;
        self.reset_by_peer(slot, frame.reason);
        if unfinished {
            self.limits.stream_ended(Ending::EarlyReset, now)?;
        }
        let limit = self.config.max_pending_accept_reset_streams;
        if unaccepted && self.counts.reset_unaccepted > limit {
            return Err(Violation::TooManyResets.into());
        }
        Ok(())
    }

    //= RFC 9113 §5.4.2 RST_STREAM is never answered by RST_STREAM
    fn reset_by_peer(&mut self, slot: Slot, reason: Reason) {
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        let was_ours = stream.state == State::Closed;
        let is_answered = self.role == Role::Client && stream.state == State::HalfClosedRemote;
        stream.clear_output();
        stream.reset = None;
        stream.state = stream.state.after(Step::RecvReset).unwrap_or(State::Closed);
        let credit = if is_answered && reason == Reason::NO_ERROR {
            //= RFC 9113 §8.1 a complete response is not discarded because of NO_ERROR
            stream.port.stop_sending(reason);
            stream.port.retire()
        } else if was_ours {
            0
        } else {
            stream
                .port
                .fail(Error::reset(stream.id, reason, Initiator::Remote))
        };
        self.return_credit(credit);
        self.remove(slot, Gone::ResetByPeer);
    }

    fn recv_window_update(&mut self, frame: WindowUpdate, now: Instant) -> Result<(), Fault> {
        self.limits.window_update(now)?;
        let id = frame.stream_id;
        if id.is_connection() {
            return self
                .send_window
                .grow(frame.increment, DEFAULT_WINDOW)
                .map_err(|_| Violation::ConnectionWindowOverflow.into());
        }
        let Some(slot) = self.streams.find(id) else {
            return match self.ids.fate(id, now) {
                Gone::Idle if !self.ignores(id) => Err(Violation::IdleStream.into()),
                //= RFC 9113 §6.9 WINDOW_UPDATE of a closed stream is no error
                _ => Ok(()),
            };
        };
        let Some(stream) = self.streams.at_mut(slot) else {
            return Ok(());
        };
        match stream.state {
            State::Idle => return Err(Violation::IdleStream.into()),
            State::ReservedRemote => return Err(Violation::ReservedStream.into()),
            State::Closed => return Ok(()),
            _ => {}
        }
        stream
            .send
            .grow(frame.increment, self.settings.peer.initial_window)
            .map_err(|_| fault(id, Violation::StreamWindowOverflow))?;
        stream.port.set_credit(stream.send.credit());
        self.settle(slot);
        Ok(())
    }

    //= RFC 9218 §7 the last one counts, and says all
    //= RFC 9218 §7.1 PRIORITY_UPDATE changes the priority of a request, also before it comes
    fn recv_priority_update(&mut self, frame: PriorityUpdate, now: Instant) -> Result<(), Fault> {
        self.limits.unproductive(now)?;
        let id = frame.prioritized_id;
        if self.role == Role::Client {
            return Err(Violation::PriorityUpdateByServer.into());
        }
        let is_idle_push = id.is_server_initiated() && self.ids.fate(id, now) == Gone::Idle;
        if self.streams.find(id).is_none() && is_idle_push {
            //= RFC 9218 §7.1 a push that was not promised must not be prioritised
            return Err(Violation::PriorityUpdateTarget.into());
        }
        let Some(priority) = Priority::parse(&frame.value) else {
            return Ok(());
        };
        if let Some(slot) = self.streams.find(id) {
            let stream = self.streams.at_mut(slot);
            if let Some(stream) = stream.filter(|stream| stream.ranked_by == Chooser::Peer) {
                stream.rank = Rank::from(priority);
            }
            self.settle(slot);
        } else if id.is_client_initiated() && self.ids.is_next_remote(id) {
            self.prioritize_idle(id, priority)?;
        }
        Ok(())
    }

    /// The last signal for a stream that is still idle is kept until its request comes.
    fn prioritize_idle(&mut self, id: StreamId, priority: Priority) -> Result<(), Violation> {
        let ids = &self.ids;
        let early = &mut self.early_priorities;
        early.retain(|(other, _)| *other != id && ids.is_next_remote(*other));
        //= RFC 9218 §7.1 idle streams that were prioritized count as if they were open
        let limit = self.settings.local.max_streams;
        if early.len() + self.counts.remote >= limit {
            return Err(Violation::PriorityUpdateLimit);
        }
        if early.len() >= EARLY_PRIORITIES {
            early.pop_front();
        }
        early.push_back((id, priority));
        Ok(())
    }

    // ---- header blocks -------------------------------------------------------------------

    fn recv_headers(&mut self, frame: Headers, now: Instant) -> Result<(), Fault> {
        let purpose = Purpose::Message {
            end: frame.end_stream,
        };
        if frame.end_headers {
            return self.recv_block(frame.stream_id, purpose, &frame.fragment, now);
        }
        let block = Block::new(frame.stream_id, purpose, &frame.fragment, now);
        self.block = Some(Box::new(block));
        Ok(())
    }

    fn recv_push_promise(&mut self, frame: PushPromise, now: Instant) -> Result<(), Fault> {
        self.check_promise(&frame, now)?;
        let purpose = Purpose::Promise(frame.promised_id);
        if frame.end_headers {
            return self.recv_block(frame.stream_id, purpose, &frame.fragment, now);
        }
        let block = Block::new(frame.stream_id, purpose, &frame.fragment, now);
        self.block = Some(Box::new(block));
        Ok(())
    }

    fn recv_continuation(&mut self, frame: Continuation, now: Instant) -> Result<(), Fault> {
        let Some(mut block) = self.block.take() else {
            return Err(Violation::UnexpectedContinuation.into());
        };
        block.push(&frame.fragment, &self.config)?;
        if frame.end_headers {
            let (id, purpose) = (block.id, block.purpose);
            return self.recv_block(id, purpose, &block.into_octets(), now);
        }
        self.block = Some(block);
        Ok(())
    }
}
