//! The seam to a clock that wakes: `Timer`, and the one alarm of a connection.
//!
//! Owns: when the connection's task is woken for a deadline. Does not know: what the deadline is
//! for. Keeps I7 for time: one sleep at most, and none without a deadline.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use crate::sync::Arc;

/// Wakes a connection when a point in time has come.
///
/// The library has no timer of its own, so that it runs on every runtime: give one to a builder, and
/// the limits on what a peer leaves undone are on. Without one they are off, and others (how long a
/// header block or the acknowledgement of SETTINGS may take) are looked at only when the connection
/// has something else to do. [`Builder::timer`](crate::Builder::timer) names them all.
///
/// ```
/// use std::future::Future;
/// use std::pin::Pin;
/// use std::time::Instant;
///
/// struct TokioTimer;
///
/// impl fairmux::Timer for TokioTimer {
///     fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Future<Output = ()> + Send + Sync>> {
///         Box::pin(tokio::time::sleep_until(deadline.into()))
///     }
///
///     // Also right where tests pause the clock of tokio.
///     fn now(&self) -> Instant {
///         tokio::time::Instant::now().into_std()
///     }
/// }
///
/// fairmux::server::Builder::new().hardened().timer(TokioTimer);
/// ```
pub trait Timer: Send + Sync + UnwindSafe + RefUnwindSafe + 'static {
    /// A future that is ready when `deadline` has come. It is polled from the task of the
    /// connection.
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

    /// What time it is. By default that of the system; a clock that can be paused or advanced must
    /// be read here and slept by in `sleep_until`.
    fn now(&self) -> Instant {
        now()
    }
}

/// A timer that the builders hold, and hand to each connection.
#[derive(Clone)]
// A box inside, because not every `Arc` that `sync` may stand for can hold an unsized value.
pub(crate) struct SharedTimer(Arc<Box<dyn Timer>>);

impl SharedTimer {
    pub(crate) fn new(timer: impl Timer) -> SharedTimer {
        SharedTimer(Arc::new(Box::new(timer)))
    }
}

impl fmt::Debug for SharedTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timer")
    }
}

/// The next deadline of one connection.
pub(super) struct Alarm {
    timer: Option<SharedTimer>,
    set: Option<Sleep>,
}

struct Sleep {
    until: Instant,
    // A sleep that panicked is never polled again: the connection is gone with it.
    future: AssertUnwindSafe<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
}

impl Alarm {
    pub(super) fn new(timer: Option<SharedTimer>) -> Alarm {
        Alarm { timer, set: None }
    }

    /// Whether anything wakes the task at a deadline.
    pub(super) fn has_timer(&self) -> bool {
        self.timer.is_some()
    }

    /// What time it is.
    pub(super) fn now(&self) -> Instant {
        match &self.timer {
            Some(SharedTimer(timer)) => timer.now(),
            None => now(),
        }
    }

    /// Ready when it is time to look at the deadlines again; never without a timer.
    ///
    /// A deadline that moves away does not move the sleep: that one ends early, once, and the
    /// next is set by what is then the deadline.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, deadline: Option<Instant>) -> Poll<()> {
        let (Some(SharedTimer(timer)), Some(deadline)) = (&self.timer, deadline) else {
            self.set = None;
            return Poll::Pending;
        };
        let sleep = match self.set.take() {
            Some(sleep) if sleep.until <= deadline => sleep,
            _ => Sleep {
                until: deadline,
                future: AssertUnwindSafe(timer.sleep_until(deadline)),
            },
        };
        let Sleep { future, .. } = self.set.insert(sleep);
        if future.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.set = None;
        Poll::Ready(())
    }
}

#[cfg(not(test))]
#[expect(clippy::disallowed_methods, reason = "the layer that reads the clock")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
use super::tests::clock::now;
