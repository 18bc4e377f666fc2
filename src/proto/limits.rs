//! Budgets against floods, spent as frames arrive and as streams end.
//!
//! Owns: token buckets and counters. Does not know: frames, streams. Time is what the caller says it
//! is. Keeps: what a peer can make this end do without getting anything done is bounded (I3).
//!
//! One row per attack. What bounds memory or time instead of a rate lies where the memory is.
//!
//! | attack | bound | where |
//! |---|---|---|
//! | rapid reset | `early_resets`; a stream that ends well gives one token back, so who cancels less than every second request never runs dry | here, `stream_ended` |
//! | making us reset (MadeYouReset) | `faults`, and `max_local_error_reset_streams` in the life of the connection | here, `stream_ended` |
//! | resets before `accept` | `max_pending_accept_reset_streams` | `recv_reset` |
//! | streams reset and still held | the stream limit and a quarter | `heads::is_crowded` |
//! | endless header block | frames, empty frames, octets, time | `block` |
//! | header bomb, cookie crumbs | `max_header_list_size`, `max_header_fields`, before a value is made | `heads::decode` |
//! | PING, SETTINGS and reset floods | `max_queued_replies`: reading stops | `connection::wants_read` |
//! | PRIORITY, PRIORITY_UPDATE, unknown, empty, unasked frames | `unproductive`, to which each stream adds one | here |
//! | frames of streams that we reset, remembered or not | free: a thousand for each stream that the application gave up; then `unproductive` | here |
//! | SETTINGS that move all windows | `unproductive`, ten each | here |
//! | SETTINGS with many entries | `max_settings_entries` | `settings` |
//! | small DATA | what is unread is joined; `small_data` on demand | `handoff::received`, here |
//! | WINDOW_UPDATE | free: ten for each DATA frame of ours and two for each stream; then `unproductive` | here |
//! | informational responses, promises | counted | `heads` |
//! | slow read, window of zero, closed socket | time | `stall` |
//! | silence: half a preface, a dead peer | time | `quiet` |

use std::time::{Duration, Instant};

use super::config::{Config, Rate};
use crate::error::Violation;

/// DATA below this length costs what it lacks.
const SMALL_DATA: usize = 256;
/// What a change of the initial window costs, in unproductive frames: it visits every stream.
const WINDOW_CHANGE_COST: u32 = 10;
/// Frames that may be on their way for a stream when we reset it: its window in pieces of a gRPC
/// message's size.
const LATE_FRAMES: u64 = 1000;
/// No more than that are free, however many streams were reset.
const MOST_LATE_FRAMES: u64 = 100 * LATE_FRAMES;

/// All budgets of a connection.
#[derive(Debug)]
pub(super) struct Limits {
    early_resets: Bucket,
    faults: Bucket,
    unproductive: Bucket,
    faults_left: Option<usize>,
    /// What is left of the budget, and all of it; none: small DATA costs nothing.
    small_data: Option<(usize, usize)>,
    /// WINDOW_UPDATEs that are still free.
    free_updates: u64,
    /// Frames that are still free on streams that we have reset.
    late_frames: u64,
}

/// How a stream ended, as far as that costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Both sides said all they had to say.
    Well,
    /// The peer reset it before our answer had ended.
    EarlyReset,
    /// The peer broke a rule on it, and we reset or refused it.
    Fault,
}

impl Limits {
    pub(super) fn new(config: &Config) -> Limits {
        Limits {
            early_resets: Bucket::new(config.limits.early_resets),
            faults: Bucket::new(config.limits.faults),
            unproductive: Bucket::new(config.limits.unproductive),
            faults_left: config.max_local_error_reset_streams,
            small_data: config.data_frame_budget.map(|budget| (budget, budget)),
            free_updates: 16,
            late_frames: 0,
        }
    }

    /// A stream has come to its end. Whoever makes streams end early, by a reset of his or by one
    /// that he provokes, pays alike.
    pub(super) fn stream_ended(&mut self, how: Ending, now: Instant) -> Result<(), Violation> {
        match how {
            Ending::Well => {
                self.early_resets.give(1);
                Ok(())
            }
            Ending::EarlyReset => self
                .early_resets
                .take(1, now)
                .ok_or(Violation::EarlyResetFlood),
            Ending::Fault => {
                if let Some(left) = &mut self.faults_left {
                    *left = left.checked_sub(1).ok_or(Violation::TooManyLocalResets)?;
                }
                self.faults.take(1, now).ok_or(Violation::FaultFlood)
            }
        }
    }

    /// A frame that moves nothing forward.
    pub(super) fn unproductive(&mut self, now: Instant) -> Result<(), Violation> {
        self.unproductive
            .take(1, now)
            .ok_or(Violation::UnproductiveFlood)
    }

    /// SETTINGS that move the windows of all streams.
    pub(super) fn window_change(&mut self, now: Instant) -> Result<(), Violation> {
        self.unproductive
            .take(WINDOW_CHANGE_COST, now)
            .ok_or(Violation::UnproductiveFlood)
    }

    /// DATA with so much in it, padding apart.
    pub(super) fn data(&mut self, length: usize, now: Instant) -> Result<(), Violation> {
        if length == 0 {
            return self.unproductive(now);
        }
        if length >= SMALL_DATA {
            self.restore_small_data(length);
            return Ok(());
        }
        if let Some((left, _)) = &mut self.small_data {
            let cost = SMALL_DATA - length;
            *left = left.checked_sub(cost).ok_or(Violation::SmallDataFlood)?;
        }
        Ok(())
    }

    /// The application has read so much: what was small is no longer buffered.
    pub(super) fn data_consumed(&mut self, length: usize) {
        // A frame of one byte costs 255; who reads it restores that.
        self.restore_small_data(length.saturating_mul(SMALL_DATA));
    }

    /// WINDOW_UPDATE.
    pub(super) fn window_update(&mut self, now: Instant) -> Result<(), Violation> {
        match self.free_updates.checked_sub(1) {
            Some(left) => {
                self.free_updates = left;
                Ok(())
            }
            None => self.unproductive(now),
        }
    }

    /// We sent a DATA frame: the peer may well answer with updates.
    pub(super) fn data_sent(&mut self) {
        self.free_updates = self.free_updates.saturating_add(10);
    }

    /// With each stream may come a word about its window or priority.
    pub(super) fn stream_opened(&mut self) {
        self.free_updates = self.free_updates.saturating_add(2);
        self.unproductive.give(1);
    }

    /// The application reset or stopped a stream: what is on its way is no fault of the peer's.
    pub(super) fn stream_given_up(&mut self) {
        self.late_frames = self
            .late_frames
            .saturating_add(LATE_FRAMES)
            .min(MOST_LATE_FRAMES);
    }

    /// A frame for a stream that we have reset.
    pub(super) fn late_frame(&mut self, now: Instant) -> Result<(), Violation> {
        match self.late_frames.checked_sub(1) {
            Some(left) => {
                self.late_frames = left;
                Ok(())
            }
            None => self.unproductive(now),
        }
    }

    fn restore_small_data(&mut self, bytes: usize) {
        if let Some((left, all)) = &mut self.small_data {
            *left = left.saturating_add(bytes).min(*all);
        }
    }
}

/// Tokens that flow in with time, up to a burst. Counted in thousandths.
#[derive(Debug)]
struct Bucket {
    rate: Rate,
    thousandths: u64,
    filled: Option<Instant>,
}

impl Bucket {
    fn new(rate: Rate) -> Bucket {
        Bucket {
            rate,
            thousandths: u64::from(rate.burst) * 1000,
            filled: None,
        }
    }

    fn take(&mut self, tokens: u32, now: Instant) -> Option<()> {
        let cost = u64::from(tokens) * 1000;
        self.refill(now);
        self.thousandths = self.thousandths.checked_sub(cost)?;
        Some(())
    }

    fn give(&mut self, tokens: u32) {
        let full = u64::from(self.rate.burst) * 1000;
        self.thousandths = (self.thousandths + u64::from(tokens) * 1000).min(full);
    }

    /// Whole milliseconds are filled in; what is left of one counts the next time.
    fn refill(&mut self, now: Instant) {
        let since = now.saturating_duration_since(*self.filled.get_or_insert(now));
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        if millis > 0 {
            let gained = millis.saturating_mul(u64::from(self.rate.per_second));
            let full = u64::from(self.rate.burst) * 1000;
            self.thousandths = self.thousandths.saturating_add(gained).min(full);
            let rest = Duration::from_nanos(u64::from(since.subsec_nanos() % 1_000_000));
            self.filled = now.checked_sub(rest);
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test needs a first moment")]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::new(Rate {
            burst: 3,
            per_second: 2,
        });
        assert!((0..3).all(|_| bucket.take(1, start).is_some()));
        assert!(bucket.take(1, start).is_none());
        let later = start + Duration::from_secs(1);
        assert!((0..2).all(|_| bucket.take(1, later).is_some()));
        assert!(bucket.take(1, later).is_none());
    }

    #[test]
    fn a_bucket_that_was_full_for_long_gives_its_burst_once() {
        let start = Instant::now();
        let mut bucket = Bucket::new(Rate {
            burst: 100,
            per_second: 10,
        });
        bucket.take(1, start).unwrap();
        let later = start + Duration::from_secs(3600);
        let given = (0..1000).take_while(|_| bucket.take(1, later).is_some());
        assert_eq!(given.count(), 100);
    }

    #[test]
    fn a_bucket_that_is_asked_often_loses_nothing_of_its_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::new(Rate {
            burst: 10,
            per_second: 500,
        });
        let given = (0..10_000)
            .map(|turn| start + Duration::from_micros(1900 * turn))
            .filter(|now| bucket.take(1, *now).is_some());
        // 19 seconds of 500 each, and the burst.
        assert!((9450..=9510).contains(&given.count()));
    }

    #[test]
    fn who_cancels_every_tenth_request_is_never_stopped() {
        let now = Instant::now();
        let mut limits = Limits::new(&Config::hardened());
        for round in 0..10_000 {
            match round % 10 {
                0 => limits.stream_ended(Ending::EarlyReset, now).unwrap(),
                _ => limits.stream_ended(Ending::Well, now).unwrap(),
            }
        }
    }

    #[test]
    fn resets_that_come_and_resets_that_are_provoked_cost_alike() {
        let now = Instant::now();
        for how in [Ending::EarlyReset, Ending::Fault] {
            let mut limits = Limits::new(&Config::hardened());
            let survived = (0..1000)
                .take_while(|_| limits.stream_ended(how, now).is_ok())
                .count();
            assert_eq!(survived, 200, "{how:?}");
            let later = now + Duration::from_secs(1);
            let survived = (0..1000)
                .take_while(|_| limits.stream_ended(how, later).is_ok())
                .count();
            assert_eq!(survived, 33, "{how:?}: the bucket fills again");
        }
    }

    #[test]
    fn small_data_that_is_read_is_never_a_flood() {
        let now = Instant::now();
        let mut limits = Limits::new(&Config {
            data_frame_budget: Some(32_768),
            ..Config::default()
        });
        for _ in 0..1_000_000 {
            limits.data(20, now).unwrap();
            limits.data_consumed(20);
        }
        let survived = (0..1000)
            .take_while(|_| limits.data(1, now).is_ok())
            .count();
        assert!(survived < 130, "{survived} single bytes pile up");
    }

    #[test]
    fn updates_that_answer_our_data_are_free() {
        let now = Instant::now();
        let mut limits = Limits::new(&Config::default());
        for _ in 0..100_000 {
            limits.data_sent();
            (0..10).for_each(|_| limits.window_update(now).unwrap());
        }
        let survived = (0..20_000)
            .take_while(|_| limits.window_update(now).is_ok())
            .count();
        assert_eq!(survived, 10_016);
    }
}
