//! A socket in memory: small, with a peer that may stop reading, and calls that take a part.
//!
//! Owns: the bytes on their way. Does not know: what they mean. It wakes as a kernel does: who found
//! it full when there is space again, who found it empty when there are bytes.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::proto::tests::chance::Dice;

/// One direction.
#[derive(Debug)]
pub(super) struct Pipe {
    bytes: BytesMut,
    capacity: usize,
    gulps: Gulps,
    dice: Dice,
    reader: Option<Waker>,
    writer: Option<Waker>,
    frozen: bool,
    closed: bool,
}

/// How much a call takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gulps {
    All,
    /// Whoever read is gone: what is written fails.
    Nothing,
    Some,
    One,
}

pub(super) type Shared = Rc<RefCell<Pipe>>;

/// One end.
#[derive(Debug)]
pub(super) struct Socket {
    input: Shared,
    output: Shared,
    vectored: bool,
}

impl Pipe {
    pub(super) fn new(dice: &mut Dice) -> Shared {
        let capacity = dice.pick(&[1, 64, 1_000, 20_000, 200_000]);
        let gulps = match capacity {
            64..=1_000 => dice.pick(&[Gulps::All, Gulps::Some, Gulps::One]),
            _ => dice.pick(&[Gulps::All, Gulps::Some]),
        };
        Rc::new(RefCell::new(Pipe {
            bytes: BytesMut::new(),
            capacity,
            gulps,
            dice: Dice::new(dice.roll(1 << 40) as u64),
            reader: None,
            writer: None,
            frozen: false,
            closed: false,
        }))
    }

    pub(super) fn space(&self) -> usize {
        self.capacity - self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn is_readable(&self) -> bool {
        !self.frozen && !self.bytes.is_empty()
    }

    /// The reader stops, or goes on.
    pub(super) fn freeze(&mut self, frozen: bool) {
        self.frozen = frozen;
        if !frozen {
            self.wake_reader();
        }
    }

    /// The reading end is dropped.
    pub(super) fn drop_reader(&mut self) {
        self.gulps = Gulps::Nothing;
        wake(&mut self.writer);
    }

    /// From here on it is large and takes everything.
    pub(super) fn open_wide(&mut self) {
        self.freeze(false);
        self.capacity = self.capacity.max(100_000);
        if !matches!(self.gulps, Gulps::Nothing) {
            self.gulps = Gulps::All;
        }
        wake(&mut self.writer);
    }

    fn gulp(&mut self, most: usize) -> usize {
        match self.gulps {
            Gulps::All => most,
            Gulps::Nothing => 0,
            Gulps::Some => 1 + self.dice.roll(most),
            Gulps::One => 1,
        }
    }

    fn wake_reader(&mut self) {
        if self.is_readable() || self.closed && !self.frozen {
            wake(&mut self.reader);
        }
    }
}

impl Socket {
    pub(super) fn new(input: &Shared, output: &Shared, vectored: bool) -> Socket {
        Socket {
            input: Rc::clone(input),
            output: Rc::clone(output),
            vectored,
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let pipe = &mut *self.input.borrow_mut();
        if !pipe.is_readable() && (pipe.frozen || !pipe.closed) {
            pipe.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let most = pipe.bytes.len().min(buffer.remaining());
        if most > 0 {
            let taken = pipe.gulp(most);
            buffer.put_slice(&pipe.bytes[..taken]);
            pipe.bytes.advance(taken);
            wake(&mut pipe.writer);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let pipe = &mut *self.output.borrow_mut();
        if matches!(pipe.gulps, Gulps::Nothing) {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let offered: usize = slices.iter().map(|slice| slice.len()).sum();
        let most = offered.min(pipe.space());
        if most == 0 {
            pipe.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let taken = pipe.gulp(most);
        let mut left = taken;
        for slice in slices {
            let part = left.min(slice.len());
            pipe.bytes.extend_from_slice(&slice[..part]);
            left -= part;
        }
        pipe.wake_reader();
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let pipe = &mut *self.output.borrow_mut();
        pipe.closed = true;
        pipe.wake_reader();
        Poll::Ready(Ok(()))
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }
}

fn wake(place: &mut Option<Waker>) {
    if let Some(waker) = place.take() {
        waker.wake();
    }
}
