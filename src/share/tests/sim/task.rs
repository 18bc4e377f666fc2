//! A task of the application: it runs when it was woken, and not before.
//!
//! Owns: its flag. Does not know: what it waits for. So a wake-up that is lost is a task that never
//! runs again, and one that was for nothing is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Set by being woken.
#[derive(Debug, Default)]
pub(super) struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Flag {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// How often tasks were woken, and how often for nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) wakes: usize,
    pub(super) for_nothing: usize,
}

impl Tally {
    pub(super) fn add(&mut self, other: Tally) {
        self.wakes += other.wakes;
        self.for_nothing += other.for_nothing;
    }
}

#[derive(Debug)]
pub(super) struct Task {
    flag: Arc<Flag>,
    waker: Waker,
    waits: bool,
    pub(super) tally: Tally,
}

impl Task {
    pub(super) fn new() -> Task {
        let flag = Arc::new(Flag::default());
        Task {
            waker: Waker::from(Arc::clone(&flag)),
            flag,
            waits: false,
            tally: Tally::default(),
        }
    }

    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// It waits, and nobody has woken it.
    pub(super) fn sleeps(&self) -> bool {
        self.waits && !self.flag.is_set()
    }

    pub(super) fn is_woken(&self) -> bool {
        self.waits && self.flag.is_set()
    }

    /// It waits no more: what it waited for was given up.
    pub(super) fn give_up(&mut self) {
        self.waits = false;
    }

    pub(super) fn poll<T>(&mut self, poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        let was_woken = self.flag.take() && self.waits;
        let polled = poll(&mut Context::from_waker(&self.waker));
        self.waits = polled.is_pending();
        self.tally.wakes += usize::from(was_woken);
        self.tally.for_nothing += usize::from(was_woken && self.waits);
        polled
    }
}
