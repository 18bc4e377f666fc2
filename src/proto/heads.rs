//! Header blocks of the peer: requests, responses, trailers, promises.
//!
//! Owns: what a block means on the stream it came on. Does not know: how a field or a message is
//! checked. Keeps: every block is decoded, also one that nobody wants, so that the compression
//! state stays that of the peer.

use std::time::Instant;

use super::block::Purpose;
use super::config::Role;
use super::connection::Connection;
use super::faults::{Fault, fault};
use super::ids::Gone;
use super::limits::Ending;
use super::port::{Port, Ports};
use super::send::Reply;
use super::state::{Event, State};
use super::stream::{Holder, Incoming, Phase, Question, Rank, Stream};
use super::streams::Slot;
use crate::error::{MessageRule, Violation};
use crate::frame::{PushPromise, StreamId};
use crate::hpack::{Budget, Consumed};
use crate::message::{ContentLength, FieldList, Head, Priority, RequestRules};

/// So many streams may at least be reset and still held, beyond those that are open.
const HELD_SLACK: usize = 8;

/// A block, decoded.
struct Fields<'a> {
    list: &'a mut FieldList,
    /// The list was longer than we take.
    fault: Option<Violation>,
}

impl<R: Ports> Connection<R> {
    /// A whole block has come.
    pub(super) fn recv_block(
        &mut self,
        id: StreamId,
        purpose: Purpose,
        octets: &[u8],
        now: Instant,
    ) -> Result<(), Fault> {
        //= RFC 9113 §4.3 a block is decoded in any case
        let mut list = FieldList::new();
        let fields = self.decode(octets, &mut list)?;
        match purpose {
            Purpose::Promise(promised) => self.recv_promise(id, promised, fields, now),
            Purpose::Message { end } => match self.streams.find(id) {
                Some(slot) => self.recv_on_stream(slot, end, fields, now),
                None => self.recv_new(id, end, fields, now),
            },
        }
    }

    fn decode<'a>(
        &mut self,
        octets: &[u8],
        list: &'a mut FieldList,
    ) -> Result<Fields<'a>, Violation> {
        let budget = Budget {
            bytes: self.config.list_limit(),
            fields: self.config.limits.max_header_fields,
        };
        //= RFC 9113 §4.3 a decoding error is a connection error COMPRESSION_ERROR
        let consumed = self
            .decoder
            .decode(octets, budget, &mut |field| list.push(field))?;
        Ok(Fields {
            list,
            fault: over(budget, consumed)?,
        })
    }

    // ---- streams that the peer opens -----------------------------------------------------

    fn recv_new(
        &mut self,
        id: StreamId,
        end: bool,
        fields: Fields<'_>,
        now: Instant,
    ) -> Result<(), Fault> {
        if self.role.opens(id) {
            //= RFC 9113 §5.1.1 only the other side opens streams with such an id
            return match self.ids.fate(id, now) {
                Gone::Idle if self.role == Role::Server => Err(Violation::WrongParity.into()),
                _ => self.recv_on_gone(id, now, Violation::ClosedStream),
            };
        }
        if !self.ids.is_next_remote(id) {
            return match self.ids.fate(id, now) {
                Gone::Skipped => Err(Violation::OldStreamId.into()),
                _ => self.recv_on_gone(id, now, Violation::ClosedStream),
            };
        }
        if self.shutdown.ignores(id) {
            return Ok(self.limits.unproductive(now)?);
        }
        if self.role == Role::Client {
            //= RFC 9113 §5.1 a server opens streams by promises only
            return Err(Violation::IdleStream.into());
        }
        self.ids.use_remote(id);
        if self.is_crowded() {
            //= RFC 9113 §5.1.2 streams above the limit are refused
            self.stats.streams_refused += 1;
            self.refuse(id, Violation::TooManyStreams, now);
            return Ok(());
        }
        self.accept_request(id, end, fields, now)
    }

    /// Whether one stream more of the peer's would be too many: open, or reset and still held.
    ///
    /// Whoever cancels a few and asks anew at once is not refused, however low the limit is.
    fn is_crowded(&self) -> bool {
        let limit = self.config.remote_stream_limit(self.role);
        let held = self.ports.held().saturating_add(self.accept.len());
        self.counts.remote >= limit || held >= limit.saturating_add(HELD_SLACK.max(limit / 4))
    }

    fn accept_request(
        &mut self,
        id: StreamId,
        end: bool,
        fields: Fields<'_>,
        now: Instant,
    ) -> Result<(), Fault> {
        if let Some(violation) = fields.fault {
            return self.answer_too_large(id, end, violation, now);
        }
        let rules = RequestRules {
            extended_connect: self.settings.local.connect_protocol,
            known_authority: self.last_authority.as_ref(),
        };
        let length = fields.list.content_length();
        let has_priority = fields.list.has_priority();
        let request = fields.list.take_request(rules).map_err(|v| fault(id, v))?;
        self.remember_authority(&request);
        if end {
            length.end().map_err(|rule| fault(id, rule))?;
        }
        let port = self.ports.open_remote(id);
        let mut stream = Stream::new(id, port.clone(), self.settings.local.initial_window);
        stream.holder = Holder::Unaccepted;
        stream.state = stream
            .state
            .after(Event::RecvHeaders)
            .unwrap_or(State::Closed);
        if end {
            stream.state = stream.state.after(Event::RecvEnd).unwrap_or(State::Closed);
        }
        stream.incoming.length = length;
        stream.incoming.phase = match Question::of(&request.method) {
            Question::Connect => Phase::Tunnel,
            _ => Phase::Body,
        };
        stream.rank = self.rank_of(id, has_priority.then_some(&request.headers));
        let slot = self.insert_remote(stream);
        port.deliver_head(Head::Request(request), end);
        if let Some(stream) = self.streams.at(slot) {
            self.accept.push_back((stream.key, port));
        }
        self.settle(slot);
        Ok(())
    }

    /// Kept for the next request: it most likely has the same.
    fn remember_authority(&mut self, request: &http::request::Parts) {
        let Some(authority) = request.uri.authority() else {
            return;
        };
        let known = self.last_authority.as_ref();
        if known.is_none_or(|known| known.as_str() != authority.as_str()) {
            self.last_authority = Some(authority.clone());
        }
    }

    /// A request whose head is too large is answered here; the application never sees it.
    fn answer_too_large(
        &mut self,
        id: StreamId,
        end: bool,
        violation: Violation,
        now: Instant,
    ) -> Result<(), Fault> {
        self.limits.stream_ended(Ending::Fault, now)?;
        tracing::debug!(stream = id.as_u32(), %violation, "answered with 431");
        self.ids.close(id, Gone::ResetByUs, Some(now));
        //= RFC 9113 §10.5.1 a list that is too large may be answered with 431
        self.reply(Reply::TooLarge { id, reset: !end })
    }

    fn insert_remote(&mut self, stream: Stream<R::Port>) -> Slot {
        self.counts.remote += 1;
        self.stats.streams_accepted += 1;
        self.limits.stream_opened();
        let port = stream.port.clone();
        let slot = self.streams.insert(stream);
        if let Some(stream) = self.streams.at(slot) {
            port.adopt(stream.key);
        }
        slot
    }

    //= RFC 9218 §5 the priority field of a request
    //= RFC 9218 §7 an earlier update counts more
    fn rank_of(&mut self, id: StreamId, fields: Option<&http::HeaderMap>) -> Rank {
        let early = self
            .early_priorities
            .iter()
            .position(|(other, _)| *other == id);
        if let Some((_, priority)) = early.and_then(|at| self.early_priorities.remove(at)) {
            return Rank::from(priority);
        }
        fields
            .and_then(Priority::of)
            .map_or_else(Rank::default, Rank::from)
    }

    // ---- streams that are there ----------------------------------------------------------

    fn recv_on_stream(
        &mut self,
        slot: Slot,
        end: bool,
        fields: Fields<'_>,
        now: Instant,
    ) -> Result<(), Fault> {
        let Some(stream) = self.streams.at_mut(slot) else {
            return Ok(());
        };
        let id = stream.id;
        match stream.state {
            State::Open | State::HalfClosedLocal | State::ReservedRemote => {}
            // We reset it: the block was decoded, and that is all.
            State::Closed => return Ok(self.limits.late_frame(now)?),
            //= RFC 9113 §5.1 after END_STREAM HEADERS are a stream error STREAM_CLOSED
            State::HalfClosedRemote => return Err(fault(id, Violation::HalfClosedStream)),
            State::Idle => return Err(Violation::IdleStream.into()),
            State::ReservedLocal => return Err(Violation::ReservedStream.into()),
        }
        if let Some(violation) = fields.fault {
            return Err(fault(id, violation));
        }
        stream.state = stream
            .state
            .after(Event::RecvHeaders)
            .unwrap_or(stream.state);
        let limit = self.config.limits.max_informational;
        let delivered = match stream.incoming.phase {
            Phase::Head => recv_response(stream, end, fields.list, limit),
            Phase::Body => recv_trailers(stream, end, fields.list),
            //= RFC 9113 §8.5 on a tunnel only DATA and stream management are allowed
            //= RFC 8441 §5 and one of extended CONNECT is such a tunnel
            Phase::Tunnel => Err(MessageRule::TunnelHeaders.into()),
        };
        delivered.map_err(|violation| fault(id, violation))?;
        self.settle(slot);
        Ok(())
    }

    // ---- promises ------------------------------------------------------------------------

    /// What is wrong with a promise before its block is read.
    pub(super) fn check_promise(
        &mut self,
        frame: &PushPromise,
        now: Instant,
    ) -> Result<(), Violation> {
        if self.role == Role::Server {
            //= RFC 9113 §8.4 a client cannot push
            return Err(Violation::PushByClient);
        }
        if self.settings.local.push_disabled {
            //= RFC 9113 §6.6 no promises once ENABLE_PUSH=0 is acknowledged
            return Err(Violation::PushDisabled);
        }
        let promised = frame.promised_id;
        //= RFC 9113 §6.6 the promised id is a valid choice for the server's next stream
        if !promised.is_server_initiated() || !self.ids.is_next_remote(promised) {
            return Err(Violation::PromisedId);
        }
        let parent = frame.stream_id;
        //= RFC 9113 §6.6 the parent is open or half-closed (local); one that we reset is tolerated
        let allowed = match self
            .streams
            .find(parent)
            .and_then(|slot| self.streams.at(slot))
        {
            Some(stream) => {
                self.role.opens(parent)
                    && (stream.state.can_recv() || stream.state == State::Closed)
            }
            None => self.ids.fate(parent, now) == Gone::ResetByUs,
        };
        if allowed {
            Ok(())
        } else {
            Err(Violation::PushParent)
        }
    }

    fn recv_promise(
        &mut self,
        parent: StreamId,
        promised: StreamId,
        fields: Fields<'_>,
        now: Instant,
    ) -> Result<(), Fault> {
        if self.shutdown.ignores(promised) {
            return Ok(self.limits.unproductive(now)?);
        }
        self.ids.use_remote(promised);
        let found = self
            .streams
            .find(parent)
            .and_then(|slot| self.streams.at(slot));
        let Some(stream) = found.filter(|stream| stream.state.can_recv()) else {
            self.refuse(promised, Violation::TooManyPromises, now);
            return Ok(());
        };
        let (parent_port, origin) = (stream.port.clone(), stream.incoming.origin.clone());
        if self.counts.remote >= self.config.remote_stream_limit(self.role)
            || self.config.enable_push == Some(false)
        {
            self.stats.streams_refused += 1;
            self.refuse(promised, Violation::TooManyPromises, now);
            return Ok(());
        }
        if let Some(violation) = fields.fault {
            return Err(fault(promised, violation));
        }
        //= RFC 9113 §8.4 a promise that is not safe, cacheable and empty is a stream error
        let request = fields
            .list
            .take_promised_request()
            .map_err(|v| fault(promised, v))?;
        if !origin.covers(&request.uri) {
            //= RFC 9113 §8.4 the server must be authoritative for what it pushes
            return Err(fault(promised, Violation::PushNotAuthoritative));
        }
        let port = self.ports.open_remote(promised);
        let mut stream = Stream::new(promised, port.clone(), self.settings.local.initial_window);
        stream.state = stream
            .state
            .after(Event::RecvPromise)
            .unwrap_or(State::Closed);
        let head = Head::Request(request);
        stream.incoming = Incoming::answer_to(&head);
        self.insert_remote(stream);
        if let Head::Request(request) = head {
            parent_port.deliver_promise(request, port);
        }
        Ok(())
    }
}

/// What a list that is too long costs: a stream, or far too long the connection.
fn over(budget: Budget, consumed: Consumed) -> Result<Option<Violation>, Violation> {
    if !consumed.over {
        return Ok(None);
    }
    if consumed.list_size > budget.bytes.saturating_mul(2) {
        return Err(Violation::HeaderListFarTooLong);
    }
    if consumed.fields > budget.fields.saturating_mul(2) {
        return Err(Violation::FarTooManyFields);
    }
    let too_long = consumed.list_size > budget.bytes;
    Ok(Some(if too_long {
        Violation::HeaderListTooLong
    } else {
        Violation::TooManyFields
    }))
}

fn recv_response<P: Port>(
    stream: &mut Stream<P>,
    end: bool,
    list: &mut FieldList,
    max_informational: usize,
) -> Result<(), Violation> {
    let length = list.content_length();
    let head = list.take_response()?;
    match &head {
        Head::Response(response) => {
            let incoming = &mut stream.incoming;
            let to_head = incoming.question == Question::Head;
            incoming.length = length.of_answer(response.status, to_head);
            let is_tunnel = incoming.question == Question::Connect && response.status.is_success();
            //= RFC 9113 §8.5 after a 2xx to CONNECT the stream is a tunnel
            incoming.phase = if is_tunnel {
                Phase::Tunnel
            } else {
                Phase::Body
            };
            if is_tunnel {
                incoming.length = ContentLength::Unknown;
            }
            if end {
                incoming.length.end()?;
            }
        }
        //= RFC 9113 §8.1 an informational response does not end the stream
        _ if end => return Err(MessageRule::InformationalEnd.into()),
        _ => {
            stream.incoming.informational += 1;
            if stream.incoming.informational > max_informational {
                return Err(Violation::TooManyInformational);
            }
        }
    }
    if end {
        stream.state = stream.state.after(Event::RecvEnd).unwrap_or(State::Closed);
    }
    stream.port.deliver_head(head, end);
    Ok(())
}

fn recv_trailers<P: Port>(
    stream: &mut Stream<P>,
    end: bool,
    list: &mut FieldList,
) -> Result<(), Violation> {
    //= RFC 9113 §8.1 trailers end the stream
    if !end {
        return Err(MessageRule::TrailersWithoutEnd.into());
    }
    let trailers = list.take_trailers()?;
    stream.incoming.length.end()?;
    stream.state = stream.state.after(Event::RecvEnd).unwrap_or(State::Closed);
    stream.port.deliver_trailers(trailers);
    Ok(())
}
