//! The end of a connection: GOAWAY in both directions, draining, fatal errors.
//!
//! Owns: what was said of the last stream, and how far the end has come. Does not know: I/O. Keeps:
//! after a fatal error nothing more of the peer's is heard, and every stream has learnt why.

use std::io;
use std::time::Instant;

use bytes::Bytes;

use super::config::Role;
use super::connection::{Connection, Event};
use super::port::{Port, Ports};
use crate::error::{Error, Initiator, Violation};
use crate::frame::{GoAway, Reason, StreamId};

/// GOAWAY's debug text is kept up to this length.
const DEBUG_LIMIT: usize = 1024;

/// How far the connection is from its end.
#[derive(Clone, Debug)]
pub(crate) enum Lifecycle {
    /// Streams come and go.
    Open,
    /// A GOAWAY was sent or received: what is there is finished.
    Draining,
    /// Only what is left has to be written.
    Closing,
    /// Nothing more happens. The transport can be shut down.
    Closed(Result<(), Error>),
}

/// What was said about the end, by either side.
#[derive(Debug)]
pub(super) struct Shutdown {
    /// To be written.
    unsent: Option<GoAway>,
    /// The last id that we have named; streams above it are not processed.
    announced: Option<StreamId>,
    /// The last id that the peer has named.
    received: Option<StreamId>,
    stage: Stage,
    /// When the last stream is named, if that still waits.
    named_at: Option<Instant>,
    result: Result<(), Error>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Goes on.
    Open,
    /// GOAWAY with the highest id is out, and the ping that measures one round trip.
    Warned,
    /// Ends when no stream is left.
    Draining,
    /// Ends when all is written.
    Closing,
    Closed,
}

impl Shutdown {
    pub(super) fn new() -> Shutdown {
        Shutdown {
            unsent: None,
            announced: None,
            received: None,
            stage: Stage::Open,
            named_at: None,
            result: Ok(()),
        }
    }

    /// Whether frames from the peer still matter.
    pub(super) fn is_listening(&self) -> bool {
        !matches!(self.stage, Stage::Closing | Stage::Closed)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    pub(super) fn is_closing(&self) -> bool {
        self.stage == Stage::Closing
    }

    /// Neither side has said a word about the end.
    pub(super) fn is_far_away(&self) -> bool {
        self.stage == Stage::Open && self.received.is_none() && self.unsent.is_none()
    }

    pub(super) fn take_unsent(&mut self) -> Option<GoAway> {
        self.unsent.take()
    }

    //= RFC 9113 §6.8 streams above the last id that we named are not processed
    pub(super) fn ignores(&self, id: StreamId) -> bool {
        self.announced.is_some_and(|last| id > last)
    }

    /// Whether the peer takes no new streams of ours.
    pub(super) fn refuses_new(&self) -> bool {
        self.received.is_some() || !self.is_listening()
    }

    /// All is written: the end.
    pub(super) fn close(&mut self) {
        self.stage = Stage::Closed;
    }

    /// The id to name as the last one processed: never above one that was named before.
    //= RFC 9113 §6.8 the last id must not rise
    fn last_to_name(&self, highest: StreamId) -> StreamId {
        self.announced.map_or(highest, |before| before.min(highest))
    }

    fn announce(&mut self, highest: StreamId, reason: Reason, debug_data: Bytes) {
        let last_stream_id = self.last_to_name(highest);
        self.announced = Some(last_stream_id);
        self.unsent = Some(GoAway {
            last_stream_id,
            reason,
            debug_data,
        });
    }

    fn lifecycle(&self) -> Lifecycle {
        match self.stage {
            Stage::Open if self.received.is_some() => Lifecycle::Draining,
            Stage::Open => Lifecycle::Open,
            Stage::Warned | Stage::Draining => Lifecycle::Draining,
            Stage::Closing => Lifecycle::Closing,
            Stage::Closed => Lifecycle::Closed(self.result.clone()),
        }
    }
}

impl<R: Ports> Connection<R> {
    /// How far the end has come.
    pub(crate) fn lifecycle(&self) -> Lifecycle {
        self.shutdown.lifecycle()
    }

    /// Whether nothing more happens: the transport can be shut down.
    pub(crate) fn is_done(&self) -> bool {
        self.shutdown.is_closed()
    }

    /// Takes no new streams, finishes those that are there, then closes.
    pub(crate) fn user_shutdown(&mut self) {
        if self.shutdown.stage == Stage::Open {
            //= RFC 9113 §6.8 a graceful shutdown first names the highest id, then the real one
            self.shutdown.stage = Stage::Warned;
            self.shutdown
                .announce(StreamId::MAX, Reason::NO_ERROR, Bytes::new());
            self.pings.ask_for_shutdown();
        }
    }

    /// Ends all streams and the connection now.
    pub(crate) fn user_abort(&mut self, reason: Reason) {
        if self.shutdown.is_listening() {
            let error = Error::go_away(Bytes::new(), reason, Initiator::User);
            let result = if reason == Reason::NO_ERROR {
                Ok(())
            } else {
                Err(error.clone())
            };
            self.end(reason, Bytes::new(), error, result);
        }
    }

    /// Nobody can open a stream any more: closes as soon as none is left.
    pub(crate) fn user_close(&mut self) {
        if matches!(self.shutdown.stage, Stage::Open | Stage::Warned) {
            self.shutdown.stage = Stage::Draining;
        }
    }

    /// The transport has failed: every stream gets the error, nothing is written any more.
    pub(crate) fn fail(&mut self, error: Error) {
        if !self.shutdown.is_closed() {
            if self.shutdown.is_listening() {
                self.fail_all(&error);
                self.shutdown.result = Err(error);
            }
            self.shutdown.close();
        }
    }

    /// The peer has closed the transport. Clean if no stream is left.
    pub(crate) fn recv_eof(&mut self) {
        //= RFC 9113 §5.4.3 a connection that is cut off fails every stream that is open
        if !self.shutdown.is_closed() {
            if self.shutdown.is_listening() {
                let text = "the peer closed the connection before the stream had ended";
                let error = Error::io(io::Error::new(io::ErrorKind::BrokenPipe, text));
                self.fail_all(&error);
            }
            self.shutdown.close();
        }
    }

    pub(super) fn recv_go_away(&mut self, frame: GoAway) -> Result<(), Violation> {
        let last = frame.last_stream_id;
        //= RFC 9113 §6.8 the last id must not rise
        if self.shutdown.received.is_some_and(|before| last > before) {
            return Err(Violation::RaisedLastStream);
        }
        self.shutdown.received = Some(last);
        tracing::debug!(last = last.as_u32(), reason = ?frame.reason, "GOAWAY received");
        // A copy: the debug text is a slice of the read buffer, and errors live long.
        let debug = &frame.debug_data[..frame.debug_data.len().min(DEBUG_LIMIT)];
        let debug = Bytes::copy_from_slice(debug);
        let error = Error::go_away(debug, frame.reason, Initiator::Remote);
        //= RFC 9113 §6.8 streams of ours above the last id were not processed
        let unprocessed = error.clone().into_not_processed();
        for slot in self.streams.slots() {
            let above = |id: StreamId| self.role.opens(id) && id > last;
            if self.streams.at(slot).is_some_and(|stream| above(stream.id)) {
                self.forget(slot, unprocessed.clone());
            }
        }
        if frame.reason != Reason::NO_ERROR {
            self.shutdown.result = Err(error);
        }
        self.events.push_back(Event::GoAway(unprocessed));
        Ok(())
    }

    /// The peer has answered the ping of the shutdown: it knows, so the real id can follow. Its answer
    /// may have overtaken requests that it had begun before, so there may be a time for these.
    pub(super) fn shutdown_measured(&mut self, now: Instant) {
        match self.config.limits.shutdown_grace {
            Some(grace) if self.config.timed && self.role == Role::Server => {
                self.shutdown.named_at = now.checked_add(grace);
            }
            _ => self.name_last_stream(),
        }
    }

    pub(super) fn shutdown_deadline(&self) -> Option<Instant> {
        let is_warned = self.shutdown.stage == Stage::Warned;
        self.shutdown.named_at.filter(|_| is_warned)
    }

    pub(super) fn name_last_stream(&mut self) {
        if self.shutdown.stage == Stage::Warned {
            self.shutdown.stage = Stage::Draining;
            let last = self.ids.highest_remote();
            self.shutdown.announce(last, Reason::NO_ERROR, Bytes::new());
        }
    }

    /// The peer has broken a rule of the connection.
    pub(crate) fn fatal(&mut self, violation: Violation) {
        tracing::debug!(%violation, reason = ?violation.reason(), "connection ended");
        let error = Error::violation(StreamId::CONNECTION, violation);
        let result = Err(error.clone());
        self.end(violation.reason(), violation.debug_data(), error, result);
    }

    /// Closes once no stream is left and somebody wants that.
    pub(super) fn finish_if_idle(&mut self) {
        // A client that was told GOAWAY has no use for the connection any more. A server has: what
        // it was told concerns pushes only, and the client may go on asking.
        let is_told = self.role == Role::Client && self.shutdown.received.is_some();
        let drained =
            self.shutdown.stage == Stage::Draining || self.shutdown.stage == Stage::Open && is_told;
        if drained && self.streams.is_empty() && self.accept.is_empty() {
            let last = self.shutdown.last_to_name(self.ids.highest_remote());
            if self.shutdown.announced != Some(last) {
                self.shutdown.announce(last, Reason::NO_ERROR, Bytes::new());
            }
            self.shutdown.stage = Stage::Closing;
        }
    }

    /// GOAWAY, and all streams over.
    fn end(&mut self, reason: Reason, debug: Bytes, error: Error, result: Result<(), Error>) {
        if !self.shutdown.is_listening() {
            return;
        }
        //= RFC 9113 §5.4.1 a connection error is told by GOAWAY with the last stream processed
        let highest = self.ids.highest_remote();
        self.shutdown.announce(highest, reason, debug);
        self.shutdown.stage = Stage::Closing;
        self.shutdown.result = result;
        self.replies.clear();
        self.block = None;
        self.fail_all(&error);
    }

    fn fail_all(&mut self, error: &Error) {
        self.accept.clear();
        for slot in self.streams.slots() {
            self.forget(slot, error.clone());
        }
    }

    /// Ends a stream without a word to the peer, who knows or will hear it of the connection.
    pub(super) fn forget(&mut self, slot: super::streams::Slot, error: Error) {
        if let Some(stream) = self.streams.at_mut(slot) {
            let credit = stream.port.fail(error);
            stream.clear_output();
            stream.reset = None;
            stream.state = super::state::State::Closed;
            self.return_credit(credit);
            self.remove(slot, super::ids::Gone::ResetByUs);
        }
    }
}
