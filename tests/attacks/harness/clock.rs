//! Time that passes only when a test says so.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use fairmux::Timer;

#[derive(Clone)]
pub(crate) struct Clock(Arc<Mutex<State>>);

struct State {
    now: Instant,
    sleepers: Vec<(Instant, Waker)>,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "a test needs a first moment")]
    pub(crate) fn new() -> Clock {
        Clock(Arc::new(Mutex::new(State {
            now: Instant::now(),
            sleepers: Vec::new(),
        })))
    }

    /// Goes to the next moment for which somebody waits, `until` at the latest. Whether it is there.
    pub(crate) fn step(&self, until: Instant) -> bool {
        let (due, is_there) = self.with(|state| {
            let next = state.sleepers.iter().map(|(at, _)| *at).min();
            state.now = next.unwrap_or(until).clamp(state.now, until);
            let now = state.now;
            let (due, later) = std::mem::take(&mut state.sleepers)
                .into_iter()
                .partition::<Vec<_>, _>(|(at, _)| *at <= now);
            state.sleepers = later;
            (due, now == until)
        });
        due.into_iter().for_each(|(_, waker)| waker.wake());
        is_there
    }

    pub(crate) fn in_a(&self, duration: Duration) -> Instant {
        self.with(|state| state.now + duration)
    }

    fn with<R>(&self, work: impl FnOnce(&mut State) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Timer for Clock {
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Future<Output = ()> + Send + Sync>> {
        let clock = self.clone();
        Box::pin(poll_fn(move |cx| {
            clock.with(|state| {
                if deadline <= state.now {
                    return Poll::Ready(());
                }
                state
                    .sleepers
                    .retain(|(_, waker)| !waker.will_wake(cx.waker()));
                state.sleepers.push((deadline, cx.waker().clone()));
                Poll::Pending
            })
        }))
    }

    fn now(&self) -> Instant {
        self.with(|state| state.now)
    }
}
