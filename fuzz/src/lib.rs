//! What the targets share: tasks that run only when they were woken, and a wire made of octets.
//!
//! A task that waits for something that has happened, and was not woken, stays where it is: the
//! target then finds it unfinished. So a lost wake-up is a finding.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Rounds after which tasks that still wake each other count as hanging.
const ROUNDS: usize = 1_000_000;

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Work = Pin<Box<dyn Future<Output = ()>>>;

struct Task {
    work: Work,
    flag: Arc<Flag>,
}

/// Runs tasks, each when it was woken.
#[derive(Default)]
pub struct Tasks {
    tasks: Vec<Task>,
    spawner: Spawner,
}

/// Begins tasks, also out of others.
#[derive(Clone, Default)]
pub struct Spawner(Rc<RefCell<Vec<Work>>>);

impl Spawner {
    pub fn spawn(&self, work: impl Future<Output = ()> + 'static) {
        self.0.borrow_mut().push(Box::pin(work));
    }
}

impl Tasks {
    pub fn spawner(&self) -> Spawner {
        self.spawner.clone()
    }

    /// Until nobody is awake.
    pub fn run(&mut self) {
        for _ in 0..ROUNDS {
            let new = self.spawner.0.take().into_iter();
            self.tasks.extend(new.map(|work| Task {
                work,
                flag: Arc::new(Flag(AtomicBool::new(true))),
            }));
            let mut ran = false;
            self.tasks.retain_mut(|task| {
                if !task.flag.0.swap(false, Ordering::Relaxed) {
                    return true;
                }
                ran = true;
                let waker = Waker::from(Arc::clone(&task.flag));
                let mut cx = Context::from_waker(&waker);
                task.work.as_mut().poll(&mut cx).is_pending()
            });
            if !ran {
                return;
            }
        }
        panic!("the tasks wake each other for ever");
    }

    pub fn unfinished(&self) -> usize {
        self.tasks.len()
    }
}

/// One end of a connection whose other end says these octets, in pieces, and then goes away.
pub struct Script {
    pub incoming: VecDeque<u8>,
    pub piece: usize,
    /// Octets that one write takes.
    pub accepts: usize,
    /// Octets written until the other end takes nothing more; it then fails when it goes away.
    pub capacity: usize,
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let count = self
            .piece
            .max(1)
            .min(into.remaining())
            .min(self.incoming.len());
        let octets: Vec<u8> = self.incoming.drain(..count).collect();
        into.put_slice(&octets);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = octets.len().min(self.accepts.max(1)).min(self.capacity);
        if count == 0 && !octets.is_empty() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        self.capacity -= count;
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
