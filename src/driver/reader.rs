//! The read side: useful space before each read, whole frames out of what was read.
//!
//! Owns: the read buffer and its size, and a few spare buffers for each thread. Does not know: what a
//! frame means, who takes it. Keeps the receiving half of I3: memory that delivered bytes pin is at
//! most four times what they hold.
//!
//! Two rules, each learned from others:
//!
//! - No read is offered less than [`FLOOR`] bytes of space, or what the frame at the front of the
//!   buffer still misses if that is more. A few bytes of left-over room would make tiny reads.
//!   (Beyond [`CEILING`] what is missing is believed as far as the peer has already sent as much:
//!   nine bytes must not cost megabytes.)
//! - A payload leaves as a slice of the buffer, without a copy, unless it is shorter than a
//!   quarter of the buffer: then it is copied, so that a short slice cannot keep a large buffer.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncRead;
use tokio_util::io::poll_read_buf;

use crate::frame::{Cutter, Frame, HEAD_LEN, Head, Malformed};

/// The least space that a read is offered.
pub(super) const FLOOR: usize = 8 * 1024;
/// The largest buffer that traffic alone asks for: four frames of the usual maximum.
pub(super) const CEILING: usize = 64 * 1024;
/// A slice must be at least one in so many parts of its buffer, or it is copied.
const SLICE_SHARE: usize = 4;

/// So many buffers of [`FLOOR`] bytes are kept for each thread: connections that take turns do not
/// ask the allocator each time.
pub(super) const KEPT: usize = 32;

thread_local! {
    /// Buffers that connections at rest gave back: the next that reads takes one.
    static SPARE: RefCell<Vec<BytesMut>> = const { RefCell::new(Vec::new()) };
}

/// Reads from the peer, and cuts frames.
#[derive(Debug)]
pub(super) struct Reader {
    /// What was read and not yet cut, and the space behind it.
    buffer: BytesMut,
    cutter: Cutter,
    /// The size of the allocation that `buffer` lies in.
    allocated: usize,
    /// The size that the next buffer gets: `FLOOR <= size <= CEILING`.
    size: usize,
    /// The last read used little of its space: a second one makes `size` smaller.
    was_short: bool,
    /// Reads that were offered less than the floor.
    below_floor: u64,
}

impl Reader {
    pub(super) fn new() -> Reader {
        Reader {
            buffer: BytesMut::new(),
            cutter: Cutter::default(),
            allocated: 0,
            size: FLOOR,
            was_short: false,
            below_floor: 0,
        }
    }

    /// Reads once. Answers the number of bytes, and 0 at the end of the peer's bytes.
    pub(super) fn poll_read<T: AsyncRead + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        io: &mut T,
    ) -> Poll<io::Result<usize>> {
        let space = self.make_space();
        let read = ready!(poll_read_buf(Pin::new(io), cx, &mut self.buffer))?;
        self.below_floor += u64::from(space < FLOOR);
        self.follow(read, space);
        Poll::Ready(Ok(read))
    }

    /// The next whole frame, if there is one.
    pub(super) fn cut(&mut self, max_frame_size: usize) -> Result<Option<Frame>, Malformed> {
        let mut frame = self.cutter.cut(&mut self.buffer, max_frame_size)?;
        match &mut frame {
            Some(Frame::Data(data)) => self.unpin(&mut data.data),
            Some(Frame::GoAway(go_away)) => self.unpin(&mut go_away.debug_data),
            _ => {}
        }
        Ok(frame)
    }

    pub(super) fn below_floor(&self) -> u64 {
        self.below_floor
    }

    /// What was read and not yet cut: the preface is taken from here.
    pub(super) fn unread(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Nothing is expected soon: an empty buffer is given back.
    pub(super) fn rest(&mut self) {
        if self.buffer.is_empty() && self.allocated > 0 {
            let mut buffer = std::mem::take(&mut self.buffer);
            if self.allocated == FLOOR && buffer.try_reclaim(FLOOR) {
                keep(buffer);
            }
            self.allocated = 0;
            self.size = FLOOR;
        }
    }

    /// Makes the space for one read and answers its size.
    fn make_space(&mut self) -> usize {
        let length = self.buffer.len();
        let least = FLOOR.max(self.missing().min(CEILING.max(length)));
        let wanted = least.max(self.size.saturating_sub(length));
        if self.space() < wanted && !self.reclaim(wanted) && self.space() < least {
            self.replace(self.size.max(length.saturating_add(least)));
        }
        self.space()
    }

    /// The bytes that the frame at the front still misses.
    fn missing(&self) -> usize {
        let whole = match self.buffer.first_chunk::<HEAD_LEN>() {
            Some(head) => HEAD_LEN.saturating_add(Head::parse(head).length),
            None => HEAD_LEN,
        };
        whole.saturating_sub(self.buffer.len())
    }

    fn space(&self) -> usize {
        self.buffer.capacity().saturating_sub(self.buffer.len())
    }

    /// Uses the present buffer again from its start, if nobody else holds a part of it and its
    /// size is still about right.
    fn reclaim(&mut self, wanted: usize) -> bool {
        let fits = self.size <= self.allocated && self.allocated <= self.size.saturating_mul(2);
        fits && self.buffer.try_reclaim(wanted)
    }

    /// A new buffer. What is left over, less than a frame, moves into it.
    fn replace(&mut self, size: usize) {
        let mut fresh = allocate(size);
        fresh.extend_from_slice(&self.buffer);
        self.allocated = fresh.capacity();
        self.buffer = fresh;
    }

    /// The size follows the traffic: up at once, down after two reads that used little.
    fn follow(&mut self, read: usize, space: usize) {
        let short = read < space / 4;
        if read == space {
            self.size = self.size.saturating_mul(2).min(CEILING);
        } else if short && self.was_short {
            self.size = (self.size / 2).max(FLOOR);
        }
        self.was_short = short && !self.was_short;
    }

    /// Copies what is too short to keep the whole buffer alive.
    fn unpin(&self, data: &mut Bytes) {
        if data.len().saturating_mul(SLICE_SHARE) < self.allocated {
            *data = Bytes::copy_from_slice(data);
        }
    }
}

fn allocate(size: usize) -> BytesMut {
    let spare = (size == FLOOR).then(|| SPARE.try_with(|spare| spare.borrow_mut().pop()));
    match spare {
        Some(Ok(Some(spare))) => spare,
        _ => BytesMut::with_capacity(size),
    }
}

fn keep(buffer: BytesMut) {
    let _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        if spare.len() < KEPT {
            spare.push(buffer);
        }
    });
}

#[cfg(test)]
pub(super) fn spare_buffers() -> usize {
    SPARE.with_borrow(Vec::len)
}
