//! Runs named checks one after the other, each within a time, and counts them.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

pub type Failure = Box<dyn Error + Send + Sync>;
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// Long enough for a debug build on a busy machine; what hangs is told by name.
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Checks {
    passed: usize,
    failed: usize,
}

impl Checks {
    pub async fn run(&mut self, name: &str, check: impl Future<Output = Result>) {
        let outcome = match tokio::time::timeout(LIMIT, check).await {
            Ok(outcome) => outcome,
            Err(_) => Err("not done in time".into()),
        };
        match outcome {
            Ok(()) => {
                self.passed += 1;
                println!("  ok: {name}");
            }
            Err(error) => {
                self.failed += 1;
                println!("  FAILED: {name}: {}", with_causes(&*error));
            }
        }
    }

    /// Prints the sum; the exit code.
    pub fn finish(self) -> i32 {
        println!("  {} passed, {} failed", self.passed, self.failed);
        i32::from(self.failed > 0)
    }
}

pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text += &format!(": {next}");
        cause = next.source();
    }
    text
}

/// The first cause of type `T`.
pub fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// Fails the check unless both are equal.
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, wanted: T) -> Result {
    if got == wanted {
        return Ok(());
    }
    Err(format!("{what}: got {got:?}, wanted {wanted:?}").into())
}

pub fn ensure(what: &str, holds: bool) -> Result {
    if holds { Ok(()) } else { Err(what.into()) }
}

/// Asks again until `condition` holds.
pub async fn eventually(what: &str, mut condition: impl AsyncFnMut() -> Result<bool>) -> Result {
    for _ in 0..500 {
        if condition().await? {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Err(format!("{what}: not after 5 s").into())
}

/// Gives `future` up at its poll number `polls`, or when it waits for long.
pub async fn given_up<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let polled = GivenUp {
        future: Box::pin(future),
        left: polls,
    };
    tokio::time::timeout(Duration::from_millis(20), polled)
        .await
        .ok()
        .flatten()
}

struct GivenUp<F> {
    future: Pin<Box<F>>,
    left: usize,
}

impl<F: Future> Future for GivenUp<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        if self.left == 0 {
            cx.waker().wake_by_ref();
        }
        self.future.as_mut().poll(cx).map(Some)
    }
}
