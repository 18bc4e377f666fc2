//! One stream: its state, its windows, what it has to send, what it waits for, its far side.
//!
//! Owns: the fields and what follows from them alone. Does not know: other streams, the connection,
//! frames on their way. Keeps: a stream waits for one thing at most (`Wait`), which follows from
//! its fields (`wants`), so list membership cannot drift (lesson L1).

use std::time::Instant;

use http::uri::{Authority, Scheme, Uri};

use super::batch::Ticket;
use super::flow::{RecvWindow, SendWindow};
use super::port::{Outgoing, Port, RoomWait};
use super::queue::Places;
use super::state::State;
use super::streams::Key;
use crate::frame::{Reason, StreamId};
use crate::message::{ContentLength, Head, Priority};

/// A stream in its slot.
pub(super) struct Stream<P: Port> {
    pub(super) id: StreamId,
    pub(super) key: Key,
    pub(super) state: State,
    pub(super) port: P,
    /// Who answers for it above.
    pub(super) holder: Holder,
    /// The stream that it is promised on, until the promise is sent.
    pub(super) parent: Option<StreamId>,
    // Sending.
    pub(super) send: SendWindow,
    pub(super) out: Outgoing<P::Buf>,
    /// Bytes of DATA that are not in a batch: all of `out.data`, and the rest of what is lent.
    pub(super) queued: usize,
    pub(super) loan: Loan,
    /// What is left of its turn.
    pub(super) deficit: usize,
    /// The round of its level in which it had its last turn.
    pub(super) round: u64,
    pub(super) rank: Rank,
    pub(super) ranked_by: Chooser,
    /// PRIORITY_UPDATE to be written, once the peer knows the stream.
    pub(super) signal: Option<Priority>,
    /// RST_STREAM to be written. The stream is over but for that.
    pub(super) reset: Option<Reason>,
    /// Whether its producer waits for send room.
    pub(super) wants_room: RoomWait,
    // Receiving.
    pub(super) recv: RecvWindow,
    pub(super) incoming: Incoming,
    // Lists.
    pub(super) places: Places,
    pub(super) wait: Wait,
    /// How often it had nothing to send, or might not.
    #[cfg(test)]
    pub(super) naps: usize,
    /// It is on the list of those that have a WINDOW_UPDATE or RST_STREAM to write.
    pub(super) in_control: bool,
    pub(super) counted: Counted,
    /// How far its output was, and since when.
    pub(super) progress: Option<(i64, Instant)>,
}

/// Whether it counts against the limit of concurrent streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    No,
    Yes,
}

/// The application's side of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// It has not been accepted yet.
    Unaccepted,
    /// There are handles.
    Handles,
    /// They are all gone.
    Nobody,
}

/// Whether the value at the front is in the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loan {
    None,
    /// The batch holds it, and more frames may refer to it.
    Lent(Ticket),
    /// The batch holds it, and its rest cannot be seen until it is back.
    Hidden,
}

/// What a stream waits for: the list that it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Nothing, or an event of its own (a WINDOW_UPDATE, the application).
    Nothing,
    /// To be promised.
    Promise,
    /// For a concurrency slot. Owns nothing.
    Open,
    /// To send what needs no credit: header blocks, trailers, a bare end.
    Head,
    /// For its turn to send DATA.
    Send(Rank),
    /// Its turn was cut short by the connection's window.
    Credit,
}

/// Its place among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rank {
    /// 0 is the most urgent, 7 the least.
    pub(super) urgency: u8,
    /// Whether it shares its level, or is served to its end before the next.
    pub(super) order: Order,
}

/// Whose word a stream's rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chooser {
    /// The client's signals, or none.
    Peer,
    /// The application's own, which no signal changes.
    Application,
}

/// How a level is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// A quantum each.
    Shared,
    /// One after the other.
    Serial,
}

/// What the peer's message must be like from here on.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) phase: Phase,
    pub(super) length: ContentLength,
    pub(super) informational: usize,
    /// What was asked, as far as it matters for the answer.
    pub(super) question: Question,
    /// Whom it was asked: what may be promised on this stream.
    pub(super) origin: Origin,
}

/// Where a request went.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    scheme: Option<Scheme>,
    authority: Option<Authority>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The head has not come.
    Head,
    /// Content, then perhaps trailers.
    Body,
    /// Content only (CONNECT).
    Tunnel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Head,
    Connect,
    Other,
}

impl<P: Port> Stream<P> {
    /// A stream on which nothing has happened.
    pub(super) fn new(id: StreamId, port: P, recv_window: u32) -> Stream<P> {
        Stream {
            id,
            key: Key::new(0, 0),
            state: State::Idle,
            port,
            holder: Holder::Handles,
            parent: None,
            send: SendWindow::default(),
            out: Outgoing::default(),
            queued: 0,
            loan: Loan::None,
            deficit: 0,
            round: 0,
            rank: Rank::default(),
            ranked_by: Chooser::Peer,
            signal: None,
            reset: None,
            wants_room: RoomWait::Nothing,
            recv: RecvWindow::new(recv_window),
            incoming: Incoming::default(),
            places: Places::default(),
            wait: Wait::Nothing,
            #[cfg(test)]
            naps: 0,
            in_control: false,
            counted: Counted::No,
            progress: None,
        }
    }

    /// Whether its slot can go: both halves closed and nothing left to write.
    pub(super) fn is_over(&self) -> bool {
        self.state == State::Closed && self.reset.is_none()
    }

    /// Whether anything of its may still be sent, now or once it is open.
    pub(super) fn may_send(&self) -> bool {
        matches!(self.state, State::Idle | State::ReservedLocal) || self.state.can_send()
    }

    /// The list that it belongs on, from its fields alone.
    pub(super) fn wants(&self, peer_initial_window: u32) -> Wait {
        match self.state {
            State::Closed | State::ReservedRemote => Wait::Nothing,
            State::Idle if self.parent.is_some() => Wait::Promise,
            State::Idle => Wait::Open,
            State::ReservedLocal if self.out.heads.is_empty() => Wait::Nothing,
            State::ReservedLocal => Wait::Open,
            _ if !self.out.heads.is_empty() => Wait::Head,
            _ if self.queued > 0 => self.wants_turn(peer_initial_window),
            _ if self.state.can_send() && self.has_tail() => Wait::Head,
            _ => Wait::Nothing,
        }
    }

    /// Trailers, or an end that nothing carries.
    pub(super) fn has_tail(&self) -> bool {
        self.out.end || self.out.trailers.is_some()
    }

    /// Whether the last byte of DATA that is queued is the end of the message.
    pub(super) fn data_is_last(&self) -> bool {
        self.out.end && self.out.trailers.is_none()
    }

    /// Whether a control frame of this stream is to be written.
    pub(super) fn owes_control(&self) -> bool {
        self.reset.is_some() || self.owes_update() || self.owes_signal()
    }

    //= RFC 9218 §7.1 a client says with PRIORITY_UPDATE that a request has another priority
    pub(super) fn owes_signal(&self) -> bool {
        self.signal.is_some() && !matches!(self.state, State::Idle | State::Closed)
    }

    /// Whether something of the peer's is still to come that nobody has taken back.
    pub(super) fn owes_update(&self) -> bool {
        self.state.can_recv() && self.recv.is_due()
    }

    /// Drops all that was to be sent.
    pub(super) fn clear_output(&mut self) {
        self.out = Outgoing::default();
        self.queued = 0;
        self.loan = Loan::None;
        self.deficit = 0;
    }

    fn wants_turn(&self, peer_initial_window: u32) -> Wait {
        if self.loan == Loan::Hidden || self.send.open(peer_initial_window) == 0 {
            return Wait::Nothing;
        }
        match self.wait {
            Wait::Credit => Wait::Credit,
            _ => Wait::Send(self.rank),
        }
    }
}

impl Default for Rank {
    /// Without a signal every stream is an equal.
    fn default() -> Rank {
        Rank {
            urgency: 3,
            order: Order::Shared,
        }
    }
}

impl From<Priority> for Rank {
    fn from(signal: Priority) -> Rank {
        let order = if signal.incremental {
            Order::Shared
        } else {
            Order::Serial
        };
        Rank {
            urgency: signal.urgency.min(7),
            order,
        }
    }
}

impl Default for Incoming {
    fn default() -> Incoming {
        Incoming {
            phase: Phase::Head,
            length: ContentLength::Unknown,
            informational: 0,
            question: Question::Other,
            origin: Origin::default(),
        }
    }
}

impl Incoming {
    /// What the answer to this request must be like.
    pub(super) fn answer_to(head: &Head) -> Incoming {
        let Head::Request(request) = head else {
            return Incoming::default();
        };
        Incoming {
            question: Question::of(&request.method),
            origin: Origin {
                scheme: request.uri.scheme().cloned(),
                authority: request.uri.authority().cloned(),
            },
            ..Incoming::default()
        }
    }
}

impl Origin {
    /// Whether who answers for this origin answers for the promised URI too.
    pub(super) fn covers(&self, promised: &Uri) -> bool {
        let same_scheme = self.scheme.is_none() || self.scheme.as_ref() == promised.scheme();
        self.authority.is_none() || (same_scheme && self.authority.as_ref() == promised.authority())
    }
}

impl Question {
    pub(super) fn of(method: &http::Method) -> Question {
        match *method {
            http::Method::HEAD => Question::Head,
            http::Method::CONNECT => Question::Connect,
            _ => Question::Other,
        }
    }
}
