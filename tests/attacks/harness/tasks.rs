//! Tasks that run only when they were woken, one after the other, always in the same order.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

/// Rounds after which tasks that still wake each other count as hanging.
const ROUNDS: usize = 10_000_000;

type Work = Pin<Box<dyn Future<Output = ()>>>;

struct Task {
    work: Work,
    awake: Arc<Flag>,
    waker: Waker,
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Clone, Default)]
pub(crate) struct Tasks(Rc<Shared>);

#[derive(Default)]
struct Shared {
    new: RefCell<Vec<Work>>,
    tasks: RefCell<Vec<Task>>,
}

impl Tasks {
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + 'static) {
        self.0.new.borrow_mut().push(Box::pin(work));
    }

    /// Until nobody is awake.
    pub(crate) fn run(&self) {
        for _ in 0..ROUNDS {
            if !self.round() {
                return;
            }
        }
        panic!("tasks wake each other for ever");
    }

    /// Polls everybody who is awake, once. Whether there was somebody.
    pub(crate) fn round(&self) -> bool {
        let mut tasks = self.0.tasks.borrow_mut();
        for work in self.0.new.take() {
            let awake = Arc::new(Flag(AtomicBool::new(true)));
            let waker = Waker::from(Arc::clone(&awake));
            tasks.push(Task { work, awake, waker });
        }
        let mut ran = false;
        tasks.retain_mut(|task| {
            if !task.awake.0.swap(false, Ordering::Relaxed) {
                return true;
            }
            ran = true;
            let mut cx = Context::from_waker(&task.waker);
            task.work.as_mut().poll(&mut cx).is_pending()
        });
        ran
    }

    /// Drops all that is not done.
    pub(crate) fn clear(&self) {
        let tasks = self.0.tasks.take();
        drop(tasks);
        self.0.new.take();
    }
}
