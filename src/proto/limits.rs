//! Budgets against floods: one field per attack, spent as frames arrive.
//!
//! Owns: token buckets and counters. Does not know: frames, streams. Time is what the caller says it
//! is. Keeps: what a peer can make this end do without getting anything done is bounded.
//!
//! | attack | budget |
//! |---|---|
//! | rapid reset | `early_resets`; a stream that ends well gives one token back, so who cancels less than every second request never runs dry |
//! | making us reset | `faults`, and `max_local_error_reset_streams` in the life of the connection |
//! | PRIORITY, unknown, empty, unasked frames | `unproductive` |
//! | small DATA | `small_data`, which larger DATA restores |
//! | WINDOW_UPDATE | free: ten for each DATA frame of ours and two for each stream; then `unproductive` |

use std::time::Instant;

use super::config::{Config, Rate};
use crate::error::Violation;

/// DATA below this length costs what it lacks.
const SMALL_DATA: usize = 256;
/// The least that `small_data` holds, as in h2.
const SMALL_DATA_BUDGET: usize = 25_600;
/// What a change of the initial window costs, in unproductive frames: it visits every stream.
const WINDOW_CHANGE_COST: u32 = 10;

/// All budgets of a connection.
#[derive(Debug)]
pub(super) struct Limits {
    early_resets: Bucket,
    faults: Bucket,
    unproductive: Bucket,
    faults_left: Option<usize>,
    small_data: usize,
    small_data_budget: usize,
    /// WINDOW_UPDATEs that are still free.
    free_updates: u64,
}

impl Limits {
    pub(super) fn new(config: &Config) -> Limits {
        let window = config
            .initial_connection_window_size
            .unwrap_or(super::flow::DEFAULT_WINDOW);
        let small_data_budget = config
            .data_frame_budget
            .unwrap_or(SMALL_DATA_BUDGET.max(window as usize / 2));
        Limits {
            early_resets: Bucket::new(config.limits.early_resets),
            faults: Bucket::new(config.limits.faults),
            unproductive: Bucket::new(config.limits.unproductive),
            faults_left: config.max_local_error_reset_streams,
            small_data: small_data_budget,
            small_data_budget,
            free_updates: 16,
        }
    }

    /// The peer reset a stream before our answer had ended.
    pub(super) fn early_reset(&mut self, now: Instant) -> Result<(), Violation> {
        self.early_resets
            .take(1, now)
            .ok_or(Violation::EarlyResetFlood)
    }

    /// A stream has come to a normal end.
    pub(super) fn good_end(&mut self) {
        self.early_resets.give(1);
    }

    /// The peer's fault makes us send RST_STREAM.
    pub(super) fn fault(&mut self, now: Instant) -> Result<(), Violation> {
        if let Some(left) = &mut self.faults_left {
            *left = left.checked_sub(1).ok_or(Violation::TooManyLocalResets)?;
        }
        self.faults.take(1, now).ok_or(Violation::FaultFlood)
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
        let cost = SMALL_DATA - length;
        self.small_data = self
            .small_data
            .checked_sub(cost)
            .ok_or(Violation::SmallDataFlood)?;
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

    pub(super) fn stream_opened(&mut self) {
        self.free_updates = self.free_updates.saturating_add(2);
    }

    fn restore_small_data(&mut self, bytes: usize) {
        self.small_data = self
            .small_data
            .saturating_add(bytes)
            .min(self.small_data_budget);
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
        if self.thousandths < cost {
            self.refill(now);
        }
        self.filled.get_or_insert(now);
        self.thousandths = self.thousandths.checked_sub(cost)?;
        Some(())
    }

    fn give(&mut self, tokens: u32) {
        let full = u64::from(self.rate.burst) * 1000;
        self.thousandths = (self.thousandths + u64::from(tokens) * 1000).min(full);
    }

    fn refill(&mut self, now: Instant) {
        let since = now.saturating_duration_since(*self.filled.get_or_insert(now));
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        if millis > 0 {
            let gained = millis.saturating_mul(u64::from(self.rate.per_second));
            let full = u64::from(self.rate.burst) * 1000;
            self.thousandths = self.thousandths.saturating_add(gained).min(full);
            self.filled = Some(now);
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test needs a first moment")]
mod tests {
    use super::*;
    use std::time::Duration;

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
    fn who_cancels_every_tenth_request_is_never_stopped() {
        let now = Instant::now();
        let mut limits = Limits::new(&Config::hardened());
        for round in 0..10_000 {
            match round % 10 {
                0 => limits.early_reset(now).unwrap(),
                _ => limits.good_end(),
            }
        }
    }

    #[test]
    fn who_cancels_every_request_is_stopped_after_the_burst() {
        let now = Instant::now();
        let mut limits = Limits::new(&Config::hardened());
        let survived = (0..1000)
            .take_while(|_| limits.early_reset(now).is_ok())
            .count();
        assert_eq!(survived, 200);
    }

    #[test]
    fn small_data_that_is_read_is_never_a_flood() {
        let now = Instant::now();
        let mut limits = Limits::new(&Config::default());
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
