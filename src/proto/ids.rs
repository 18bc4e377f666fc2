//! Ids that were used, and how the streams behind them ended.
//!
//! Owns: the highest ids, the ids that were skipped, a bounded memory of streams without a slot.
//! Does not know: streams with a slot, frames. Keeps: the memory is bounded (I3), whatever a peer
//! opens, skips or resets.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::config::{Config, Role};
use crate::frame::StreamId;

/// Ended streams that are remembered.
const ENDED: usize = 64;
/// Ranges of skipped ids that are remembered; a client that skips more is taken at its word.
const SKIPPED: usize = 16;

/// The ids of one connection.
#[derive(Debug)]
pub(super) struct Ids {
    role: Role,
    highest_local: StreamId,
    highest_remote: StreamId,
    skipped: VecDeque<(StreamId, StreamId)>,
    ended: VecDeque<(StreamId, Gone)>,
    reset: VecDeque<(StreamId, Option<Instant>)>,
    reset_capacity: usize,
    reset_duration: Duration,
}

/// How a stream that has no slot came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// It was never used, and may still be.
    Idle,
    /// It was skipped: a higher id was used first.
    Skipped,
    /// Both halves ended.
    Ended,
    /// The peer reset it.
    ResetByPeer,
    /// We reset it: frames of it may be on their way.
    ResetByUs,
    /// So long ago that it is not known.
    Forgotten,
}

impl Ids {
    pub(super) fn new(role: Role, config: &Config) -> Ids {
        Ids {
            role,
            highest_local: StreamId::CONNECTION,
            highest_remote: StreamId::CONNECTION,
            skipped: VecDeque::new(),
            ended: VecDeque::new(),
            reset: VecDeque::new(),
            reset_capacity: config.max_concurrent_reset_streams,
            reset_duration: config.reset_stream_duration,
        }
    }

    /// The highest id that the peer has used.
    pub(super) fn highest_remote(&self) -> StreamId {
        self.highest_remote
    }

    /// Whether the peer may use this id now.
    pub(super) fn is_next_remote(&self, id: StreamId) -> bool {
        //= RFC 9113 §5.1.1 a new stream id is higher than all that its side used before
        id > self.highest_remote
    }

    /// The peer uses this id, and so closes all lower ones that it did not use.
    pub(super) fn use_remote(&mut self, id: StreamId) {
        let expected = match self.highest_remote.is_connection() {
            true => StreamId::new(if self.role == Role::Server { 1 } else { 2 }),
            false => self.highest_remote.next().unwrap_or(StreamId::MAX),
        };
        //= RFC 9113 §5.1.1 the first use of an id closes all idle ones below it
        if expected < id {
            push_bounded(&mut self.skipped, (expected, id), SKIPPED);
        }
        self.highest_remote = self.highest_remote.max(id);
    }

    pub(super) fn use_local(&mut self, id: StreamId) {
        self.highest_local = self.highest_local.max(id);
    }

    /// A stream has lost its slot, or never got one.
    pub(super) fn close(&mut self, id: StreamId, how: Gone, now: Option<Instant>) {
        match how {
            Gone::ResetByUs => {
                self.forget_old(now);
                push_bounded(&mut self.reset, (id, now), self.reset_capacity);
            }
            _ => push_bounded(&mut self.ended, (id, how), ENDED),
        }
    }

    /// What became of a stream without a slot.
    pub(super) fn fate(&self, id: StreamId, now: Instant) -> Gone {
        let local = self.role.opens(id);
        if id
            > if local {
                self.highest_local
            } else {
                self.highest_remote
            }
        {
            return Gone::Idle;
        }
        if self
            .reset
            .iter()
            .any(|(other, at)| *other == id && self.is_recent(*at, now))
        {
            return Gone::ResetByUs;
        }
        if let Some((_, how)) = self.ended.iter().rev().find(|(other, _)| *other == id) {
            return *how;
        }
        let skipped = |(from, to): &(StreamId, StreamId)| *from <= id && id < *to;
        match !local && self.skipped.iter().any(skipped) {
            true => Gone::Skipped,
            false => Gone::Forgotten,
        }
    }

    /// Forgets the streams whose time has passed: the capacity may be as large as one likes.
    fn forget_old(&mut self, now: Option<Instant>) {
        let Some(now) = now else { return };
        while let Some((_, at)) = self.reset.front() {
            if self.is_recent(*at, now) {
                return;
            }
            self.reset.pop_front();
        }
    }

    fn is_recent(&self, at: Option<Instant>, now: Instant) -> bool {
        at.is_none_or(|at| now.saturating_duration_since(at) <= self.reset_duration)
    }
}

fn push_bounded<T>(list: &mut VecDeque<T>, value: T, capacity: usize) {
    if capacity == 0 {
        return;
    }
    if list.len() >= capacity {
        list.pop_front();
    }
    list.push_back(value);
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test needs a first moment")]
mod tests {
    use super::*;

    fn id(value: u32) -> StreamId {
        StreamId::new(value)
    }

    //= test RFC 9113 §5.1.1
    #[test]
    fn ids_that_were_skipped_are_told_from_ids_that_were_used() {
        let mut ids = Ids::new(Role::Server, &Config::default());
        let now = Instant::now();
        ids.use_remote(id(1));
        ids.use_remote(id(7));
        assert_eq!(ids.fate(id(3), now), Gone::Skipped);
        assert_eq!(ids.fate(id(5), now), Gone::Skipped);
        assert_eq!(ids.fate(id(1), now), Gone::Forgotten);
        assert_eq!(ids.fate(id(9), now), Gone::Idle);
        assert_eq!(ids.fate(id(2), now), Gone::Idle);
    }

    #[test]
    fn streams_that_we_reset_are_remembered_for_a_while() {
        let mut ids = Ids::new(Role::Server, &Config::default());
        let now = Instant::now();
        ids.use_remote(id(1));
        ids.close(id(1), Gone::ResetByUs, Some(now));
        assert_eq!(
            ids.fate(id(1), now + Duration::from_millis(900)),
            Gone::ResetByUs
        );
        assert_eq!(
            ids.fate(id(1), now + Duration::from_millis(1100)),
            Gone::Forgotten
        );
    }

    #[test]
    fn a_memory_without_a_bound_keeps_what_is_recent() {
        let mut ids = Ids::new(
            Role::Server,
            &Config {
                max_concurrent_reset_streams: usize::MAX,
                ..Config::default()
            },
        );
        let start = Instant::now();
        for n in 0..10_000 {
            let now = start + Duration::from_millis(u64::from(n));
            ids.use_remote(id(2 * n + 1));
            ids.close(id(2 * n + 1), Gone::ResetByUs, Some(now));
        }
        assert_eq!(ids.reset.len(), 1001);
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut ids = Ids::new(Role::Server, &Config::default());
        for n in 0..10_000 {
            ids.use_remote(id(4 * n + 1));
            ids.close(id(4 * n + 1), Gone::ResetByUs, None);
            ids.close(id(4 * n + 1), Gone::Ended, None);
        }
        assert_eq!(ids.reset.len(), 50);
        assert_eq!(ids.ended.len(), ENDED);
        assert_eq!(ids.skipped.len(), SKIPPED);
    }
}
