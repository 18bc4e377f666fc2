//! The socket of the endpoint under attack, in memory: it says what the endpoint can read and write.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What the socket does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It gives what there is, and takes what comes.
    Free,
    /// One octet per read and per write.
    Bytewise,
    /// It takes nothing, from some moment on.
    Blocked,
}

pub(crate) struct Wire {
    pub(crate) input: VecDeque<u8>,
    pub(crate) output: Vec<u8>,
    /// How much it still takes; none: as much as comes.
    pub(crate) takes: Option<usize>,
    pub(crate) piece: usize,
    /// The endpoint has shut it down.
    pub(crate) is_over: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Clone)]
pub(crate) struct Socket(pub(crate) Rc<RefCell<Wire>>);

impl Socket {
    pub(crate) fn new(mode: Mode) -> Socket {
        Socket(Rc::new(RefCell::new(Wire {
            input: VecDeque::new(),
            output: Vec::new(),
            takes: None,
            piece: if mode == Mode::Bytewise {
                1
            } else {
                usize::MAX
            },
            is_over: false,
            reader: None,
            writer: None,
        })))
    }

    pub(crate) fn give(&self, octets: &[u8]) {
        let mut wire = self.0.borrow_mut();
        wire.input.extend(octets);
        wake(&mut wire.reader);
    }

    /// From now on it takes so much.
    pub(crate) fn take(&self, octets: Option<usize>) {
        let mut wire = self.0.borrow_mut();
        wire.takes = octets;
        wake(&mut wire.writer);
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut wire = self.0.borrow_mut();
        let mut left = wire.piece.min(into.remaining()).min(wire.input.len());
        if left == 0 {
            wire.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        while left > 0 {
            let (front, _) = wire.input.as_slices();
            let count = left.min(front.len());
            into.put_slice(&front[..count]);
            wire.input.drain(..count);
            left -= count;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut wire = self.0.borrow_mut();
        let most = wire.takes.unwrap_or(usize::MAX).min(wire.piece);
        let count = octets.len().min(most);
        if count == 0 {
            wire.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        wire.output.extend(&octets[..count]);
        wire.takes = wire.takes.map(|takes| takes - count);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.borrow_mut().is_over = true;
        Poll::Ready(Ok(()))
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
