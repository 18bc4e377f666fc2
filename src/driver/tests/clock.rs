//! The clock of tests: the real one, or one that a test sets forward, and its alarms.
//!
//! Owns: the hands of this thread's clock. Does not know: who looks at it.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::super::timer::Timer;

thread_local! {
    static STOPPED_AT: Cell<Option<Instant>> = const { Cell::new(None) };
}

#[expect(clippy::disallowed_methods, reason = "the layer that reads the clock")]
pub(in super::super) fn now() -> Instant {
    STOPPED_AT.get().unwrap_or_else(Instant::now)
}

/// Time that passes only when told to, for this thread, and who is woken by it.
#[derive(Clone, Default)]
pub(crate) struct Clock {
    sleepers: Arc<Mutex<Vec<(Instant, Waker)>>>,
}

struct Sleep {
    until: Instant,
    clock: Clock,
}

impl Clock {
    pub(crate) fn stop() -> Clock {
        STOPPED_AT.set(Some(now()));
        Clock::default()
    }

    pub(crate) fn advance(&self, time: Duration) {
        let now = now() + time;
        STOPPED_AT.set(Some(now));
        let mut sleepers = self.sleepers.lock().unwrap();
        let due = sleepers.extract_if_due(now);
        drop(sleepers);
        due.into_iter().for_each(Waker::wake);
    }
}

impl Timer for Clock {
    fn sleep_until(&self, until: Instant) -> Pin<Box<dyn Future<Output = ()> + Send + Sync>> {
        let clock = self.clone();
        Box::pin(Sleep { until, clock })
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if now() >= self.until {
            return Poll::Ready(());
        }
        let mut sleepers = self.clock.sleepers.lock().unwrap();
        let is_known =
            |(until, waker): &(Instant, Waker)| *until == self.until && waker.will_wake(cx.waker());
        if !sleepers.iter().any(is_known) {
            sleepers.push((self.until, cx.waker().clone()));
        }
        Poll::Pending
    }
}

trait Sleepers {
    fn extract_if_due(&mut self, now: Instant) -> Vec<Waker>;
}

impl Sleepers for Vec<(Instant, Waker)> {
    fn extract_if_due(&mut self, now: Instant) -> Vec<Waker> {
        let (due, rest) = self.drain(..).partition(|(until, _)| *until <= now);
        *self = rest;
        let due: Vec<(Instant, Waker)> = due;
        due.into_iter().map(|(_, waker)| waker).collect()
    }
}
