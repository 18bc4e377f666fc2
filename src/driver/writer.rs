//! The write side: a whole batch in as few calls as the I/O type allows, and one flush.
//!
//! Owns: the batch that is on its way out, and bytes that leave before it. Does not know: what
//! the bytes mean, who filled the batch. Keeps I6: bytes leave in the order in which they came.
//!
//! - Vectored I/O gets the batch as slices, without a copy. Other I/O gets it joined by copying:
//!   one large write costs less than many small ones, above all under TLS. A type that says it is
//!   vectored and then keeps taking only the first slice is not believed any longer.
//! - A batch is flushed once, when it was taken over, and the next is offered only when that
//!   flush is ready: a TLS layer then has its whole buffer free for it.
//! - A short rest that a call did not take is set aside, and leaves joined to the head of the next
//!   batch if there is one: it would make a short record of its own.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::AsyncWrite;

use crate::proto::Batch;

/// Slices offered in one call.
const MAX_SLICES: usize = 64;
/// The longest rest that is set aside: one TLS record.
const MAX_REST: usize = 16 * 1024;
/// So many calls in a row that end with the first slice, and the I/O counts as not vectored.
const FIRST_SLICES: u8 = 4;

/// Writes batches.
pub(super) struct Writer<B> {
    batch: Batch<B>,
    /// The batch was taken up and not given back yet.
    has_batch: bool,
    /// Bytes that leave before those of the batch.
    ahead: BytesMut,
    style: Style,
    step: Step,
    /// Calls that took something.
    writes: u64,
}

/// How batches are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// As slices. So many calls in a row took exactly the first of several.
    Vectored(u8),
    /// Joined into one.
    Joined,
}

/// Where the batch in hand stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The last one was taken over and flushed. A rest may lie ahead.
    Ready,
    /// It is being written. `fresh`: some of it is a new batch, not only a rest set aside.
    Writing { fresh: bool },
    /// It was taken over: what is left waits for the next one.
    Flushing,
}

impl<B: Buf> Writer<B> {
    /// `first` leaves before everything else: a client's preface.
    pub(super) fn new(vectored: bool, batch_size: usize, first: &[u8]) -> Writer<B> {
        let style = if vectored {
            Style::Vectored(0)
        } else {
            Style::Joined
        };
        Writer {
            batch: Batch::new(batch_size),
            has_batch: false,
            ahead: first.into(),
            style,
            step: Step::Ready,
            writes: 0,
        }
    }

    /// The batch to fill. To be filled only while nothing is in hand.
    pub(super) fn batch(&mut self) -> &mut Batch<B> {
        debug_assert_eq!(
            self.step,
            Step::Ready,
            "a batch is filled when the last one has left"
        );
        &mut self.batch
    }

    /// Takes up what the batch now holds. Answers whether there is anything to write.
    pub(super) fn begin(&mut self) -> bool {
        if self.remaining() == 0 {
            return false;
        }
        self.has_batch = !self.batch.is_empty();
        self.step = Step::Writing {
            fresh: self.has_batch,
        };
        true
    }

    /// Writes and flushes what is in hand. `written` is called when the batch was taken over.
    ///
    /// Ready also when nothing is in hand: the next batch may be filled.
    pub(super) fn poll_hand_over<T: AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        io: &mut T,
        mut written: impl FnMut(&mut Batch<B>),
    ) -> Poll<io::Result<()>> {
        if let Step::Writing { .. } = self.step {
            ready!(self.poll_write_all(cx, io, &mut written))?;
            self.step = Step::Flushing;
        }
        if self.step == Step::Flushing {
            ready!(Pin::new(io).poll_flush(cx))?;
            self.step = Step::Ready;
        }
        Poll::Ready(Ok(()))
    }

    /// Nothing will be sent soon: memory that is not in use is given back.
    pub(super) fn rest(&mut self) {
        if self.ahead.is_empty() && self.ahead.capacity() > 0 {
            self.ahead = BytesMut::new();
        }
    }

    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    /// Nothing is in hand, and no rest waits for the next batch.
    pub(super) fn is_idle(&self) -> bool {
        self.step == Step::Ready && self.remaining() == 0
    }

    fn remaining(&self) -> usize {
        self.ahead.len().saturating_add(self.batch.remaining())
    }

    fn poll_write_all<T: AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        io: &mut T,
        written: &mut impl FnMut(&mut Batch<B>),
    ) -> Poll<io::Result<()>> {
        let fresh = self.step == Step::Writing { fresh: true };
        if self.style == Style::Joined {
            self.join(written);
        }
        while self.remaining() > 0 {
            let taken = ready!(self.poll_write_once(cx, io))?;
            if taken == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.writes += 1;
            self.advance(taken);
            // A rest is set aside once: what is left of it when its turn comes is written out.
            if fresh && self.remaining() <= MAX_REST {
                self.join(written);
                break;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// One call, with all that is left or as many slices as fit.
    fn poll_write_once<T: AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        io: &mut T,
    ) -> Poll<io::Result<usize>> {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let mut count = 0;
        if !self.ahead.is_empty() {
            slices[0] = IoSlice::new(&self.ahead);
            count = 1;
        }
        count += self.batch.chunks_vectored(&mut slices[count..]);
        if count == 1 {
            return Pin::new(io).poll_write(cx, &slices[0]);
        }
        let first = slices[0].len();
        let taken = ready!(Pin::new(io).poll_write_vectored(cx, &slices[..count]))?;
        self.judge(taken == first);
        Poll::Ready(Ok(taken))
    }

    /// Whether the I/O type deserves slices.
    fn judge(&mut self, first_only: bool) {
        self.style = match self.style {
            Style::Vectored(times) if first_only && times + 1 >= FIRST_SLICES => Style::Joined,
            Style::Vectored(times) if first_only => Style::Vectored(times + 1),
            Style::Vectored(_) => Style::Vectored(0),
            Style::Joined => Style::Joined,
        };
    }

    fn advance(&mut self, taken: usize) {
        let ahead = taken.min(self.ahead.len());
        self.ahead.advance(ahead);
        self.batch.advance(taken - ahead);
    }

    /// Moves what remains of the batch to the bytes ahead, and is done with the batch.
    fn join(&mut self, written: &mut impl FnMut(&mut Batch<B>)) {
        if !std::mem::take(&mut self.has_batch) {
            return;
        }
        let rest = self.batch.remaining();
        self.ahead.reserve(rest);
        self.batch.join_into(&mut self.ahead);
        self.batch.advance(rest);
        written(&mut self.batch);
    }
}
