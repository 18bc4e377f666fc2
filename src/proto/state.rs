//! The life of a stream: the diagram of RFC 9113 §5.1 as one table.
//!
//! Owns: which event leads from which state to which. Does not know: windows, messages, what a
//! forbidden event costs (that depends on how a stream came to be closed; see `recv`).
//!
//! ```text
//!                           idle
//!          promise sent /    |     \ promise received
//!       reserved(local)      | HEADERS    reserved(remote)
//!          |      HEADERS    v               | HEADERS
//!          |                open             |
//!          |   our end /          \ their end|
//!          v          v            v         v
//!    half-closed(remote)          half-closed(local) *
//!                  \                 /
//!                   v               v
//!                        closed              <- RST_STREAM from anywhere but idle
//!
//!    * our end leads to half-closed(local), theirs to half-closed(remote); a promised stream starts
//!      in the half where only the promiser speaks.
//! ```

/// Where a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing was sent or received.
    Idle,
    /// We promised it and have not answered it yet.
    ReservedLocal,
    /// The peer promised it and has not answered it yet.
    ReservedRemote,
    /// Both sides may speak.
    Open,
    /// We have ended our half.
    HalfClosedLocal,
    /// The peer has ended its half.
    HalfClosedRemote,
    /// Over.
    Closed,
}

/// What moves it. `End` comes with the last frame that carries END_STREAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    SendHeaders,
    SendEnd,
    SendPromise,
    SendReset,
    RecvHeaders,
    RecvEnd,
    RecvPromise,
    RecvReset,
}

impl State {
    /// The state after `event`, or none if the event is not allowed here.
    pub(super) const fn after(self, event: Event) -> Option<State> {
        //= RFC 9113 §5.1 the states of a stream and what leads from one to another
        Some(match (self, event) {
            (State::Idle, Event::SendHeaders | Event::RecvHeaders) => State::Open,
            (State::Idle, Event::SendPromise) => State::ReservedLocal,
            (State::Idle, Event::RecvPromise) => State::ReservedRemote,
            (State::ReservedLocal, Event::SendHeaders) => State::HalfClosedRemote,
            (State::ReservedRemote, Event::RecvHeaders) => State::HalfClosedLocal,
            (State::Open, Event::SendHeaders | Event::RecvHeaders) => State::Open,
            (State::Open, Event::SendEnd) => State::HalfClosedLocal,
            (State::Open, Event::RecvEnd) => State::HalfClosedRemote,
            (State::HalfClosedLocal, Event::RecvHeaders) => State::HalfClosedLocal,
            (State::HalfClosedLocal, Event::RecvEnd) => State::Closed,
            (State::HalfClosedRemote, Event::SendHeaders) => State::HalfClosedRemote,
            (State::HalfClosedRemote, Event::SendEnd) => State::Closed,
            (State::Idle | State::Closed, _) => return None,
            (_, Event::SendReset | Event::RecvReset) => State::Closed,
            _ => return None,
        })
    }

    /// Whether we may still send HEADERS or DATA.
    pub(super) const fn can_send(self) -> bool {
        matches!(self, State::Open | State::HalfClosedRemote)
    }

    /// Whether the peer may still send HEADERS or DATA.
    pub(super) const fn can_recv(self) -> bool {
        matches!(self, State::Open | State::HalfClosedLocal)
    }

    //= RFC 9113 §5.1.2 open and half-closed streams count, reserved ones do not
    pub(super) const fn is_counted(self) -> bool {
        matches!(
            self,
            State::Open | State::HalfClosedLocal | State::HalfClosedRemote
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [State; 7] = [
        State::Idle,
        State::ReservedLocal,
        State::ReservedRemote,
        State::Open,
        State::HalfClosedLocal,
        State::HalfClosedRemote,
        State::Closed,
    ];
    const EVENTS: [Event; 8] = [
        Event::SendHeaders,
        Event::SendEnd,
        Event::SendPromise,
        Event::SendReset,
        Event::RecvHeaders,
        Event::RecvEnd,
        Event::RecvPromise,
        Event::RecvReset,
    ];

    fn short(state: Option<State>) -> &'static str {
        match state {
            None => "-",
            Some(State::Idle) => "idle",
            Some(State::ReservedLocal) => "resL",
            Some(State::ReservedRemote) => "resR",
            Some(State::Open) => "open",
            Some(State::HalfClosedLocal) => "hcL",
            Some(State::HalfClosedRemote) => "hcR",
            Some(State::Closed) => "closed",
        }
    }

    //= test RFC 9113 §5.1
    #[test]
    fn the_table_is_the_diagram() {
        let mut table = String::new();
        for state in STATES {
            table.push_str(&format!("{:<7}", short(Some(state))));
            for event in EVENTS {
                table.push_str(&format!("{:<7}", short(state.after(event))));
            }
            table.truncate(table.trim_end().len());
            table.push('\n');
        }
        //      after: sendH  sendE  sendP  sendR  recvH  recvE  recvP  recvR
        let expected = "\
idle   open   -      resL   -      open   -      resR   -
resL   hcR    -      -      closed -      -      -      closed
resR   -      -      -      closed hcL    -      -      closed
open   open   hcL    -      closed open   hcR    -      closed
hcL    -      -      -      closed hcL    closed -      closed
hcR    hcR    closed -      closed -      -      -      closed
closed -      -      -      -      -      -      -      -
";
        assert_eq!(table, expected, "\n{table}");
    }

    //= test RFC 9113 §5.1.2
    #[test]
    fn only_open_and_half_closed_streams_count() {
        let counted: Vec<_> = STATES
            .into_iter()
            .filter(|state| state.is_counted())
            .collect();
        assert_eq!(
            counted,
            [State::Open, State::HalfClosedLocal, State::HalfClosedRemote]
        );
    }
}
