//! PING: the application's, the one that ends a shutdown, the one that measures, and the answers.
//!
//! Owns: which of our pings wait for an answer. Does not know: who asked, what a pong leads to.
//! Keeps: one ping of each kind at a time, so a peer cannot make us remember more.

use std::time::Instant;

use super::connection::{Connection, Event};
use super::faults::Fault;
use super::port::Ports;
use crate::frame::Ping;

/// What marks the ping between the two steps of a graceful shutdown.
const SHUTDOWN: [u8; 8] = [0x0b, 0x7b, 0xa2, 0xf0, 0x8b, 0x9b, 0xfe, 0x54];

/// What marks the ping that measures a round trip.
const BANDWIDTH: [u8; 8] = *b"fairwide";

/// What marks the ping that asks a silent peer whether it is there.
const ALIVE: [u8; 8] = *b"fairlive";

/// Our pings.
#[derive(Debug, Default)]
pub(super) struct Pings {
    user: Flight,
    shutdown: Flight,
    bandwidth: Flight,
    alive: Flight,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Flight {
    #[default]
    None,
    Unsent([u8; 8]),
    Sent([u8; 8]),
}

/// What an answer from the peer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pong {
    User,
    Shutdown,
    Bandwidth,
    Alive,
    Unasked,
}

impl Pings {
    /// The application pings. A second one replaces the first.
    pub(super) fn ask(&mut self, payload: [u8; 8]) {
        self.user = Flight::Unsent(payload);
    }

    pub(super) fn ask_for_shutdown(&mut self) {
        self.shutdown = Flight::Unsent(SHUTDOWN);
    }

    pub(super) fn ask_for_bandwidth(&mut self) {
        self.bandwidth = Flight::Unsent(BANDWIDTH);
    }

    pub(super) fn ask_whether_alive(&mut self) {
        self.alive = Flight::Unsent(ALIVE);
    }

    /// The next ping to write.
    pub(super) fn take_unsent(&mut self) -> Option<Ping> {
        let payload = self
            .shutdown
            .send()
            .or_else(|| self.user.send())
            .or_else(|| self.bandwidth.send())
            .or_else(|| self.alive.send())?;
        Some(Ping {
            ack: false,
            payload,
        })
    }

    pub(super) fn has_unsent(&self) -> bool {
        let flights = [self.shutdown, self.user, self.bandwidth, self.alive];
        flights.into_iter().any(Flight::is_unsent)
    }

    pub(super) fn answered(&mut self, payload: [u8; 8]) -> Pong {
        if self.shutdown == Flight::Sent(payload) {
            self.shutdown = Flight::None;
            Pong::Shutdown
        } else if self.user == Flight::Sent(payload) {
            self.user = Flight::None;
            Pong::User
        } else if self.bandwidth == Flight::Sent(payload) {
            self.bandwidth = Flight::None;
            Pong::Bandwidth
        } else if self.alive == Flight::Sent(payload) {
            self.alive = Flight::None;
            Pong::Alive
        } else {
            Pong::Unasked
        }
    }
}

impl Flight {
    fn is_unsent(self) -> bool {
        matches!(self, Flight::Unsent(_))
    }

    fn send(&mut self) -> Option<[u8; 8]> {
        let Flight::Unsent(payload) = *self else {
            return None;
        };
        *self = Flight::Sent(payload);
        Some(payload)
    }
}

impl<R: Ports> Connection<R> {
    /// The peer has answered a ping.
    pub(super) fn recv_pong(&mut self, payload: [u8; 8], now: Instant) -> Result<(), Fault> {
        match self.pings.answered(payload) {
            Pong::User => self.events.push_back(Event::Pong),
            Pong::Shutdown => self.shutdown_measured(now),
            Pong::Bandwidth => self.bandwidth_measured(now),
            // Any frame says that it is there; nothing is left to do.
            Pong::Alive => {}
            Pong::Unasked => self.limits.unproductive(now)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_by_its_payload() {
        let mut pings = Pings::default();
        pings.ask(*b"12345678");
        pings.ask_for_shutdown();
        assert_eq!(pings.answered(*b"12345678"), Pong::Unasked, "not sent yet");
        assert!(pings.has_unsent());
        assert_eq!(pings.take_unsent().unwrap().payload, SHUTDOWN);
        assert!(pings.has_unsent());
        assert_eq!(pings.take_unsent().unwrap().payload, *b"12345678");
        assert!(!pings.has_unsent());
        assert!(pings.take_unsent().is_none());
        assert_eq!(pings.answered(*b"12345678"), Pong::User);
        assert_eq!(pings.answered(*b"12345678"), Pong::Unasked);
        assert_eq!(pings.answered(SHUTDOWN), Pong::Shutdown);
    }
}
