//! A place for one waker, inside a locked value.
//!
//! Owns: the dance that keeps wakers from being cloned, woken or dropped under the lock. Does not
//! know: what is waited for. Keeps rules 2 and 6 of the layer.

use std::task::{Context, Poll, Waker};

use crate::sync::{Mutex, lock};

/// The waker of the task that waits, if one does.
#[derive(Debug, Default)]
pub(super) struct Waiting(Option<Waker>);

impl Waiting {
    /// Takes the waker out: it is woken after the lock is released.
    pub(super) fn take(&mut self) -> Option<Waker> {
        self.0.take()
    }

    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }
}

/// Wakes, after the lock, whoever was taken out under it.
pub(super) fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Asks `ready` under the lock; if it has nothing, leaves the caller's waker in `place`, under the
/// same lock. The waker is cloned, and the one that it replaces dropped, outside of it.
pub(super) fn poll_locked<T, R>(
    mutex: &Mutex<T>,
    cx: &Context<'_>,
    place: impl Fn(&mut T) -> &mut Waiting,
    mut ready: impl FnMut(&mut T) -> Poll<R>,
) -> Poll<R> {
    let mut fresh: Option<Waker> = None;
    loop {
        let mut guard = lock(mutex);
        if let Poll::Ready(value) = ready(&mut guard) {
            return Poll::Ready(value);
        }
        let waiting = place(&mut guard);
        if waiting
            .0
            .as_ref()
            .is_some_and(|known| known.will_wake(cx.waker()))
        {
            return Poll::Pending;
        }
        match fresh.take() {
            Some(waker) => {
                let replaced = waiting.0.replace(waker);
                drop(guard);
                drop(replaced);
                return Poll::Pending;
            }
            None => {
                drop(guard);
                fresh = Some(cx.waker().clone());
            }
        }
    }
}
