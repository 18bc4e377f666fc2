//! Owns the clock that wakes connections. Knows nothing of what they are woken for.

use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

use tokio::time::sleep_until;

/// The clock of tokio.
pub(crate) struct TokioTimer;

impl fairmux::Timer for TokioTimer {
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Future<Output = ()> + Send + Sync>> {
        Box::pin(sleep_until(deadline.into()))
    }
}
