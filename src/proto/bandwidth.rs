//! Receive windows that follow the connection: as large as the path needs, and no larger.
//!
//! Owns: the estimate of bandwidth times delay, and when to measure. Does not know: how a window is
//! announced, who reads. Keeps: the budget. Both windows together never let a peer send more than
//! that ahead of the reader.
//!
//! A PING leaves with the first DATA. Until its answer comes the path has carried one round trip's
//! worth of DATA; if that is most of a stream's window, the window was what held the peer back, and
//! it grows. The shortest round trip counts: a queue somewhere on the path makes every later one
//! longer, and a window that followed those would only feed the queue. Windows do not shrink: a
//! peer may not be told to forget what it was granted.

use std::time::{Duration, Instant};

use super::connection::Connection;
use super::port::Ports;
use crate::frame::{MAX_WINDOW_SIZE, Setting};

/// The least budget: the windows that every connection begins with.
const LEAST_BUDGET: u32 = super::flow::DEFAULT_WINDOW * 2;

/// What a window grows to, in products of bandwidth and delay. An answer overtakes the DATA that a
/// larger window lets go, so every second measurement shows growth: four takes the place of two.
const GROWTH: u64 = 4;

/// The longest time between two measurements, while DATA comes.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The estimate of one connection.
#[derive(Debug)]
pub(super) struct Bandwidth {
    /// Bytes that the connection's window may come to.
    budget: u32,
    /// The window of each stream, as far as it was raised here.
    window: u32,
    probe: Probe,
    shortest: Option<Duration>,
    /// Measurements in a row that found the window large enough.
    misses: u32,
    not_before: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    None,
    Flying { since: Instant, received: u64 },
}

impl Bandwidth {
    /// With the window that streams begin with, to grow until the connection's is `budget` bytes.
    pub(super) fn new(budget: u32, window: u32) -> Bandwidth {
        Bandwidth {
            budget: budget.clamp(LEAST_BUDGET, MAX_WINDOW_SIZE),
            window,
            probe: Probe::None,
            shortest: None,
            misses: 0,
            not_before: None,
        }
    }

    /// DATA came. True if a ping shall leave now.
    pub(super) fn recv(&mut self, bytes: u32, now: Instant) -> bool {
        if let Probe::Flying { received, .. } = &mut self.probe {
            *received += u64::from(bytes);
            return false;
        }
        let is_due = self.not_before.is_none_or(|at| now >= at);
        let may_grow = self.window < self.limit();
        if is_due && may_grow {
            self.probe = Probe::Flying {
                since: now,
                received: u64::from(bytes),
            };
        }
        is_due && may_grow
    }

    /// The ping was answered. The window that streams should have now, if it is a larger one.
    pub(super) fn answered(&mut self, now: Instant) -> Option<u32> {
        let Probe::Flying { since, received } = self.probe else {
            return None;
        };
        self.probe = Probe::None;
        let elapsed = now.saturating_duration_since(since);
        let shortest = self.shortest.map_or(elapsed, |known| known.min(elapsed));
        self.shortest = Some(shortest);
        let product = product(received, shortest, elapsed);
        if product.saturating_mul(3) < u64::from(self.window) * 2 {
            self.rest(now, shortest);
            return None;
        }
        self.misses = 0;
        let wanted = u32::try_from(product.saturating_mul(GROWTH)).unwrap_or(u32::MAX);
        let wanted = wanted.min(self.limit());
        (wanted > self.window).then(|| {
            self.window = wanted;
            wanted
        })
    }

    /// The window that the connection should have for such streams: room for two, so that one which
    /// is not read leaves the others half of it.
    fn of_connection(&self) -> u32 {
        self.window.saturating_mul(2).min(self.budget)
    }

    /// The largest window of one stream.
    fn limit(&self) -> u32 {
        self.budget / 2
    }

    /// The next ping comes later, and later each time. Not after one miss: it may have been the
    /// answer that overtook DATA.
    fn rest(&mut self, now: Instant, round_trip: Duration) {
        self.misses = self.misses.saturating_add(1);
        if self.misses > 1 {
            let factor = 1_u32.checked_shl(self.misses).unwrap_or(u32::MAX);
            let pause = round_trip.saturating_mul(factor).min(LONGEST_PAUSE);
            self.not_before = now.checked_add(pause);
        }
    }
}

impl<R: Ports> Connection<R> {
    /// DATA came, padding included: it may be time to measure.
    pub(super) fn measure(&mut self, flow_len: u32, now: Instant) {
        let bandwidth = self.bandwidth.as_mut();
        if bandwidth.is_some_and(|bandwidth| bandwidth.recv(flow_len, now)) {
            self.pings.ask_for_bandwidth();
        }
    }

    pub(super) fn bandwidth_measured(&mut self, now: Instant) {
        let Some(bandwidth) = &mut self.bandwidth else {
            return;
        };
        let before = bandwidth.window;
        let Some(window) = bandwidth.answered(now) else {
            return;
        };
        //= RFC 9113 §6.5.3 while one change waits to be acknowledged there is no other
        if self
            .settings
            .announce(Setting::InitialWindowSize(window))
            .is_err()
        {
            bandwidth.window = before;
            return;
        }
        let size = bandwidth.of_connection();
        if i64::from(size) > self.recv_window.size() {
            self.recv_window.resize(size);
        }
    }
}

/// What the path carries in `shortest`, if it carried `bytes` in `elapsed`.
fn product(bytes: u64, shortest: Duration, elapsed: Duration) -> u64 {
    let scaled = u128::from(bytes) * shortest.as_nanos() / elapsed.as_nanos().max(1);
    // No time has passed by this clock: then as much as has come.
    let product = if elapsed.is_zero() {
        u128::from(bytes)
    } else {
        scaled
    };
    u64::try_from(product).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND_TRIP: Duration = Duration::from_millis(50);

    #[expect(
        clippy::disallowed_methods,
        reason = "virtual time needs a first moment"
    )]
    fn start() -> Instant {
        Instant::now()
    }

    /// One measurement: so much comes within `time`.
    fn measured(
        bandwidth: &mut Bandwidth,
        bytes: u32,
        now: &mut Instant,
        time: Duration,
    ) -> Option<u32> {
        assert!(bandwidth.recv(bytes, *now), "a ping leaves");
        assert!(!bandwidth.recv(0, *now), "one at a time");
        *now += time;
        bandwidth.answered(*now)
    }

    #[test]
    fn a_window_that_was_filled_grows_to_four_times_what_came() {
        let (mut bandwidth, mut now) = (Bandwidth::new(16 << 20, 65_535), start());
        assert_eq!(
            measured(&mut bandwidth, 60_000, &mut now, ROUND_TRIP),
            Some(240_000)
        );
        assert_eq!(bandwidth.of_connection(), 480_000);
    }

    #[test]
    fn a_window_that_was_not_filled_stays() {
        let (mut bandwidth, mut now) = (Bandwidth::new(16 << 20, 65_535), start());
        assert_eq!(measured(&mut bandwidth, 43_689, &mut now, ROUND_TRIP), None);
        assert_eq!(
            measured(&mut bandwidth, 43_690, &mut now, ROUND_TRIP),
            Some(174_760)
        );
    }

    #[test]
    fn a_queue_on_the_path_does_not_raise_the_estimate() {
        let (mut bandwidth, mut now) = (Bandwidth::new(16 << 20, 65_535), start());
        assert!(measured(&mut bandwidth, 60_000, &mut now, ROUND_TRIP).is_some());
        // All of the window in ten times the round trip: the path carries a tenth of it.
        assert_eq!(
            measured(&mut bandwidth, 240_000, &mut now, ROUND_TRIP * 10),
            None
        );
    }

    #[test]
    fn the_budget_bounds_both_windows_and_ends_the_pings() {
        let (mut bandwidth, mut now) = (Bandwidth::new(300_000, 65_535), start());
        assert_eq!(
            measured(&mut bandwidth, 65_535, &mut now, ROUND_TRIP),
            Some(150_000)
        );
        assert_eq!(bandwidth.of_connection(), 300_000);
        assert!(
            !bandwidth.recv(150_000, now),
            "there is nothing to find out"
        );
    }

    #[test]
    fn pings_become_rare_when_they_find_nothing_new() {
        let (mut bandwidth, mut now) = (Bandwidth::new(16 << 20, 65_535), start());
        let begin = now;
        let mut pings = 0;
        while now < begin + Duration::from_secs(60) {
            if bandwidth.recv(10, now) {
                pings += 1;
                now += ROUND_TRIP;
                assert_eq!(bandwidth.answered(now), None);
            }
            now += Duration::from_millis(10);
        }
        assert!((10..=15).contains(&pings), "{pings} in a minute");
    }

    #[test]
    fn an_answer_that_was_not_asked_for_changes_nothing() {
        assert_eq!(Bandwidth::new(16 << 20, 65_535).answered(start()), None);
    }
}
