//! Tasks that run only when they were woken, one after the other, always in the same order. One of
//! them can be dropped where it would have been polled.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use crate::calls::Calls;

/// Rounds after which tasks that still wake each other count as hanging.
const ROUNDS: usize = 100_000;

type Work = Pin<Box<dyn Future<Output = ()>>>;

struct Task {
    name: &'static str,
    work: Work,
    awake: Arc<AtomicBool>,
}

/// Begins tasks, also out of others.
#[derive(Clone, Default)]
pub(crate) struct Spawner(Rc<RefCell<Vec<(&'static str, Work)>>>);

impl Spawner {
    pub(crate) fn spawn(&self, name: &'static str, work: impl Future<Output = ()> + 'static) {
        self.0.borrow_mut().push((name, Box::pin(work)));
    }
}

pub(crate) struct Tasks {
    tasks: Vec<Task>,
    spawner: Spawner,
    calls: Arc<Calls>,
    polls: usize,
    drop_at: Option<usize>,
}

impl Tasks {
    /// `drop_at`: the number of the poll in whose place the task is dropped.
    pub(crate) fn new(calls: Arc<Calls>, drop_at: Option<usize>) -> Tasks {
        Tasks {
            tasks: Vec::new(),
            spawner: Spawner::default(),
            calls,
            polls: 0,
            drop_at,
        }
    }

    pub(crate) fn spawner(&self) -> Spawner {
        self.spawner.clone()
    }

    pub(crate) fn polls(&self) -> usize {
        self.polls
    }

    /// Until nobody is awake.
    pub(crate) fn run(&mut self) {
        for _ in 0..ROUNDS {
            let new = self.spawner.0.take().into_iter();
            self.tasks.extend(new.map(|(name, work)| Task {
                name,
                work,
                awake: Arc::new(AtomicBool::new(true)),
            }));
            let mut ran = false;
            let (polls, drop_at, calls) = (&mut self.polls, self.drop_at, &self.calls);
            self.tasks.retain_mut(|task| {
                if !task.awake.swap(false, Ordering::Relaxed) {
                    return true;
                }
                ran = true;
                *polls += 1;
                if drop_at == Some(*polls) {
                    return false;
                }
                // A new one each time: what is left of the one before is dropped wherever it lies.
                let waker = Waker::from(Arc::new(Knocking {
                    awake: Arc::clone(&task.awake),
                    calls: Arc::clone(calls),
                }));
                let mut cx = Context::from_waker(&waker);
                task.work.as_mut().poll(&mut cx).is_pending()
            });
            if !ran {
                return;
            }
        }
        panic!("tasks wake each other for ever: {:?}", self.unfinished());
    }

    pub(crate) fn unfinished(&self) -> Vec<&'static str> {
        self.tasks.iter().map(|task| task.name).collect()
    }
}

/// A waker that calls back when it wakes and when it goes.
struct Knocking {
    awake: Arc<AtomicBool>,
    calls: Arc<Calls>,
}

impl Wake for Knocking {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.awake.store(true, Ordering::Relaxed);
        self.calls.knock();
    }
}

impl Drop for Knocking {
    fn drop(&mut self) {
        self.calls.knock();
    }
}
