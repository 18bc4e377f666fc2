//! What a simulation sees of cells beside their handles: credit, room, and who waits for what.
//!
//! Owns: a list of the cells born on this thread, if somebody asked for it. Does not know: what is
//! checked.

use std::cell::RefCell;

use super::super::Shared;
use super::super::inbox::Inbox;
use crate::frame::StreamId;
use crate::sync::Arc;

thread_local! {
    static BORN: RefCell<Option<Vec<Probe>>> = const { RefCell::new(None) };
}

/// Sees the receiving half of a cell without being one of its handles.
#[derive(Clone, Debug)]
pub(crate) struct Probe(Arc<Inbox>);

/// How a producer stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Producer {
    /// Bytes that are not in a batch.
    pub(crate) buffered: usize,
    /// All bytes that the stream was ever given.
    pub(crate) handed_over: usize,
    /// It waits and there is capacity that it does not know of, enough to be worth a wake-up; or its
    /// value fits the floor.
    pub(crate) is_forgotten: bool,
}

/// From here on the cells of this thread are noted.
pub(crate) fn watch_births() {
    BORN.set(Some(Vec::new()));
}

/// The cells born since the last call.
pub(crate) fn take_births() -> Vec<Probe> {
    BORN.with_borrow_mut(|born| born.as_mut().map(std::mem::take).unwrap_or_default())
}

/// A cell is born.
pub(in super::super) fn note_birth(inbox: &Arc<Inbox>) {
    BORN.with_borrow_mut(|born| {
        if let Some(born) = born {
            born.push(Probe(Arc::clone(inbox)));
        }
    });
}

impl Probe {
    pub(crate) fn id(&self) -> StreamId {
        self.0.id()
    }

    pub(crate) fn is_of(&self, shared: &Arc<Shared>) -> bool {
        Arc::ptr_eq(self.0.shared(), shared)
    }

    /// Nobody else knows the cell any more.
    pub(crate) fn is_last(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Receive credit that the connection will get back through this cell.
    pub(crate) fn credit_out(&self) -> usize {
        self.0.credit_out()
    }

    /// What a task waits for although it is there.
    pub(crate) fn forgotten(&self) -> Option<&'static str> {
        self.0.forgotten()
    }
}
