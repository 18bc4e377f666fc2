//! Peers that say nothing: half a beginning, a connection without streams, one that is dead.
//!
//! Owns: when the peer was last heard, and since when there is no stream. Does not know: which clock
//! it is, why there is silence. Keeps its part of I3: a connection of which nothing comes is not kept
//! for ever, where its options say so.

use std::time::Instant;

use super::config::Role;
use super::connection::Connection;
use super::port::Ports;
use super::settings::Known;
use super::stall::SHORTEST_PAUSE;
use crate::error::Violation;

/// Silence, of the peer and of the application.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// The first turn: the beginning counts from it.
    pub(super) born: Option<Instant>,
    /// The peer's last sign of life.
    heard: Option<Instant>,
    /// Since when a ping of ours waits to be written or answered.
    asked: Option<Instant>,
    /// Since when there is no stream.
    idle: Option<Instant>,
    /// The idle connection was told that it will be closed.
    is_warned: bool,
}

impl Quiet {
    /// Whether the peer has begun to send frames.
    pub(super) fn has_heard(&self) -> bool {
        self.heard.is_some()
    }

    /// The peer has sent a frame, or a part of one: it is there.
    pub(super) fn note_heard(&mut self, now: Instant) {
        self.heard = Some(now);
        self.asked = None;
    }
}

impl<R: Ports> Connection<R> {
    /// The turn is over: whether there is a stream now.
    pub(super) fn note_activity(&mut self) {
        if let Some(now) = self.now {
            self.quiet.born.get_or_insert(now);
            if self.streams.is_empty() && self.accept.is_empty() {
                self.quiet.idle.get_or_insert(now);
            } else {
                self.quiet.idle = None;
                self.quiet.is_warned = false;
            }
        }
    }

    pub(super) fn quiet_deadline(&self) -> Option<Instant> {
        if !self.config.timed {
            return None;
        }
        let deadlines = [
            self.handshake_deadline(),
            self.idle_deadline(),
            self.alive_deadline(),
        ];
        deadlines.into_iter().flatten().min()
    }

    pub(super) fn check_quiet(&mut self, now: Instant) {
        let is_due = |deadline: Option<Instant>| deadline.is_some_and(|at| at <= now);
        if !self.config.timed || !self.shutdown.is_listening() {
            return;
        }
        if is_due(self.handshake_deadline()) {
            return self.fatal(Violation::HandshakeTimeout);
        }
        if is_due(self.alive_deadline()) {
            self.ask_or_give_up(now);
        }
        if is_due(self.idle_deadline()) {
            self.close_idle(now);
        }
    }

    //= RFC 9113 §3.4 each side's SETTINGS begin the connection: until then nothing can go on
    fn handshake_deadline(&self) -> Option<Instant> {
        let timeout = self.config.limits.handshake_timeout?;
        let born = self.quiet.born.or(self.now)?;
        match self.settings.peer.is_known {
            Known::NotYet => born.checked_add(timeout),
            Known::Yes => None,
        }
    }

    fn idle_deadline(&self) -> Option<Instant> {
        self.quiet
            .idle?
            .checked_add(self.config.limits.idle_timeout?)
    }

    fn alive_deadline(&self) -> Option<Instant> {
        let option = self.config.limits.keep_alive;
        let while_idle = option.while_idle.unwrap_or(self.role == Role::Server);
        if self.streams.is_empty() && !while_idle {
            return None;
        }
        match self.quiet.asked {
            Some(at) => at.checked_add(option.timeout),
            None => {
                let interval = option.interval?.max(SHORTEST_PAUSE);
                self.quiet.heard?.checked_add(interval)
            }
        }
    }

    /// The time of an answer runs from the moment we want to ask: that nothing can be written is
    /// how a dead peer looks.
    fn ask_or_give_up(&mut self, now: Instant) {
        if self.quiet.asked.is_some() {
            return self.give_up(Violation::KeepAliveTimeout);
        }
        self.quiet.asked = Some(now);
        self.pings.ask_whether_alive();
    }

    /// A server warns, for requests that are on their way, and closes when nothing has come of it. A
    /// client knows best that it asks for nothing.
    fn close_idle(&mut self, now: Instant) {
        if self.role == Role::Client || self.quiet.is_warned {
            self.quiet.idle = None;
            return self.user_close();
        }
        self.quiet.is_warned = true;
        self.quiet.idle = Some(now);
        self.user_shutdown();
    }
}
