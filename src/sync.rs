//! The one door to shared memory: standard primitives, or loom's under `--cfg fairmux_loom`.
//!
//! Owns: the choice. Does not know: who uses it. Nothing else in the crate names `std::sync` or
//! `loom`, so every concurrent line of the crate can be model checked.

#[cfg(fairmux_loom)]
pub(crate) use loom::{
    future::AtomicWaker,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    },
};

#[cfg(not(fairmux_loom))]
mod real {
    pub(crate) use atomic_waker::AtomicWaker;
    pub(crate) use std::sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    };
}
#[cfg(not(fairmux_loom))]
pub(crate) use real::{
    Arc, AtomicBool, AtomicU32, AtomicU64, AtomicUsize, AtomicWaker, Mutex, MutexGuard, Ordering,
};

/// For values that nobody changes while they are shared: there is nothing to model.
pub(crate) use std::sync::Arc as SharedValue;

/// Locks, and goes on with the value of a holder that panicked: no code of the user's runs under a
/// lock of this crate, so a poisoned value is still whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Leaves `waker` to be woken: both atomic wakers can, under different names.
pub(crate) fn register(place: &AtomicWaker, waker: &std::task::Waker) {
    #[cfg(fairmux_loom)]
    place.register_by_ref(waker);
    #[cfg(not(fairmux_loom))]
    place.register(waker);
}
