//! Two ends of a pipe in memory. The socket of one of them can fail at a chosen call, or end after a
//! chosen octet.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::calls::Calls;

/// Octets that are on their way at most: less than what both say, so that writers wait.
const HOLDS: usize = 700;

/// What goes wrong at one end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fault {
    /// The number of the call that fails: of reads, writes, flushes and shut-downs.
    pub(crate) fails_at: Option<usize>,
    /// So many octets come, and then the end.
    pub(crate) ends_at: Option<usize>,
    /// A read or a write moves no more than this.
    pub(crate) piece: Option<usize>,
}

/// What happened at one end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) calls: usize,
    pub(crate) octets: usize,
    failed: bool,
}

#[derive(Default)]
struct Way {
    octets: VecDeque<u8>,
    is_closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

pub(crate) struct End {
    incoming: Rc<RefCell<Way>>,
    outgoing: Rc<RefCell<Way>>,
    fault: Fault,
    seen: Rc<RefCell<Seen>>,
    calls: Arc<Calls>,
}

/// Both ends, and what will have happened at each.
pub(crate) fn pipe(faults: [Fault; 2], calls: &Arc<Calls>) -> ([End; 2], [Rc<RefCell<Seen>>; 2]) {
    let ways = [Rc::<RefCell<Way>>::default(), Rc::default()];
    let seen = [Rc::<RefCell<Seen>>::default(), Rc::default()];
    let end = |side: usize| End {
        incoming: Rc::clone(&ways[side]),
        outgoing: Rc::clone(&ways[1 - side]),
        fault: faults[side],
        seen: Rc::clone(&seen[side]),
        calls: Arc::clone(calls),
    };
    ([end(0), end(1)], seen)
}

impl End {
    /// Every call begins here.
    fn call(&self) -> io::Result<()> {
        self.calls.knock();
        let mut seen = self.seen.borrow_mut();
        assert!(!seen.failed, "a socket that failed is used again");
        seen.calls += 1;
        if self.fault.fails_at == Some(seen.calls) {
            seen.failed = true;
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }

    fn piece(&self) -> usize {
        self.fault.piece.unwrap_or(usize::MAX)
    }
}

impl AsyncRead for End {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.call()?;
        let read = self.seen.borrow().octets;
        let left = self.fault.ends_at.map_or(usize::MAX, |end| end - read);
        let mut way = self.incoming.borrow_mut();
        let most = self.piece().min(into.remaining()).min(left);
        let count = most.min(way.octets.len());
        if count == 0 && left > 0 && !way.is_closed {
            let old = way.reader.replace(cx.waker().clone());
            drop(way);
            drop(old);
            return Poll::Pending;
        }
        way.octets
            .drain(..count)
            .for_each(|octet| into.put_slice(&[octet]));
        let writer = way.writer.take();
        drop(way);
        self.seen.borrow_mut().octets += count;
        writer.into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for End {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.call()?;
        let mut way = self.outgoing.borrow_mut();
        if way.is_closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let count = octets.len().min(self.piece()).min(HOLDS - way.octets.len());
        if count == 0 {
            let old = way.writer.replace(cx.waker().clone());
            drop(way);
            drop(old);
            return Poll::Pending;
        }
        way.octets.extend(&octets[..count]);
        let reader = way.reader.take();
        drop(way);
        reader.into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.call())
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = self.call();
        // Its failure is no reason to give up reading.
        self.seen.borrow_mut().failed = false;
        close(&self.outgoing);
        Poll::Ready(result)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        close(&self.outgoing);
        close(&self.incoming);
    }
}

fn close(way: &RefCell<Way>) {
    let wakers = {
        let mut way = way.borrow_mut();
        way.is_closed = true;
        [way.reader.take(), way.writer.take()]
    };
    wakers.into_iter().flatten().for_each(Waker::wake);
}
