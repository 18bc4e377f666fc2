//! DATA: whose turn it is, how much goes, what of the payload is copied and what referred to.
//!
//! Owns: the quantum and the making of DATA frames. Does not know: list order, which is the
//! scheduler's. Keeps I1, I2 and I5: windows are debited here and nowhere else, when a frame enters
//! a batch; nothing is ever reserved.

use bytes::Buf;

use super::batch::Batch;
use super::connection::Connection;
use super::flow::DEFAULT_WINDOW;
use super::port::{Port, Ports};
use super::send::end_sending;
use super::settle::QUANTUM;
use super::stream::{Loan, Stream, Wait};
use super::streams::Slot;
use crate::error::{Error, Initiator};
use crate::frame::{self, HEAD_LEN, Reason};

/// The least that a turn may send, however little credit there is.
const LEAST_QUANTUM: usize = 1024;

impl<R: Ports> Connection<R> {
    /// Turns, until the batch is full, the window used up or nobody left.
    pub(super) fn write_data(&mut self, batch: &mut Batch<<R::Port as Port>::Buf>) {
        while !batch.is_full() && self.connection_credit() > 0 {
            let quantum = self.quantum();
            let Some(slot) = self.scheduler.next_turn(&mut self.streams, quantum) else {
                return;
            };
            self.take_turn(slot, batch);
        }
    }

    /// What the peer lets us send on all streams together.
    pub(super) fn connection_credit(&self) -> usize {
        self.send_window.open(DEFAULT_WINDOW)
    }

    /// For a round that begins now: one frame of the peer's size and no more than 16 KiB; less if the
    /// window is opened in small steps, or one stream would get all of it.
    fn quantum(&self) -> usize {
        let frame = self.settings.peer.max_frame_size.min(QUANTUM);
        frame.min(self.connection_credit().max(LEAST_QUANTUM))
    }

    fn take_turn(&mut self, slot: Slot, batch: &mut Batch<<R::Port as Port>::Buf>) {
        let credit = self.connection_credit();
        let initial = self.settings.peer.initial_window;
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        let open = stream.send.open(initial);
        let wanted = stream.deficit.min(open).min(credit).min(stream.queued);
        let sent = if wanted == 0 {
            0
        } else {
            write_frame(stream, wanted, batch, &mut self.scratch)
        };
        if sent > 0 {
            //= RFC 9113 §6.9.1 what is sent counts against both windows
            stream.send.debit(sent);
            stream.queued -= sent;
            stream.deficit -= sent;
            stream.port.took(sent);
            self.send_window.debit(sent);
            self.limits.data_sent();
            self.stats.data_frames_sent += 1;
            self.stats.data_sent += sent as u64;
            self.end_if_last(slot);
        } else if wanted > 0 && stream.loan == Loan::None {
            // A payload had less than it said: what the peer was told to expect does not exist.
            let error = Error::reset(stream.id, Reason::INTERNAL_ERROR, Initiator::Library);
            self.reset(slot, Reason::INTERNAL_ERROR, error);
        }
        self.settle(slot);
        self.leave_turn(slot);
    }

    fn end_if_last(&mut self, slot: Slot) {
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        if stream.queued == 0 && stream.data_is_last() {
            stream.out.end = false;
            end_sending(stream);
        }
    }

    /// A turn that was cut short by the window goes on when that opens; any other is over.
    fn leave_turn(&mut self, slot: Slot) {
        let has_credit = self.connection_credit() > 0;
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        if !matches!(stream.wait, Wait::Send(_) | Wait::Credit) {
            return;
        }
        if !has_credit {
            self.stats.connection_window_stalls += 1;
        }
        if !has_credit && stream.deficit > 0 {
            self.scheduler.place(&mut self.streams, slot, Wait::Credit);
        } else if stream.deficit == 0 {
            self.scheduler.end_turn(&mut self.streams, slot);
        }
    }
}

/// Writes one DATA frame of `wanted` bytes, or fewer if the payload does not show so many. Answers
/// how many; none, and no frame, if it shows nothing.
fn write_frame<P: Port>(
    stream: &mut Stream<P>,
    wanted: usize,
    batch: &mut Batch<P::Buf>,
    head: &mut bytes::BytesMut,
) -> usize {
    if let Loan::Lent(ticket) = stream.loan {
        if batch.visible(ticket).0 == 0 {
            stream.loan = Loan::Hidden;
            return 0;
        }
    }
    let at = batch.reserve_head();
    let mut sent = 0;
    while sent < wanted && stream.loan != Loan::Hidden {
        let piece = write_piece(stream, wanted - sent, batch);
        if piece == 0 {
            break;
        }
        sent += piece;
    }
    let end = sent == stream.queued && stream.data_is_last();
    head.clear();
    frame::encode_data_head(stream.id, sent, end, head);
    debug_assert_eq!(head.len(), HEAD_LEN);
    batch.set_head(at, head);
    sent
}

/// Adds a piece of the value at the front: at most `wanted` bytes, at most what it shows.
fn write_piece<P: Port>(stream: &mut Stream<P>, wanted: usize, batch: &mut Batch<P::Buf>) -> usize {
    if let Loan::Lent(ticket) = stream.loan {
        let (visible, is_all) = batch.visible(ticket);
        let piece = visible.min(wanted);
        batch.refer(ticket, piece);
        if piece == visible {
            stream.loan = if is_all { Loan::None } else { Loan::Hidden };
        }
        return piece;
    }
    let filled = |value: &P::Buf| value.has_remaining();
    let Some(mut value) = std::iter::from_fn(|| stream.out.data.pop_front()).find(filled) else {
        return 0;
    };
    let piece = value.remaining().min(wanted);
    if Batch::<P::Buf>::is_small(piece) || Batch::<P::Buf>::is_small(value.chunk().len().min(piece))
    {
        let piece = batch.copy(&mut value, piece);
        if value.has_remaining() {
            stream.out.data.push_front(value);
        }
        return piece;
    }
    stream.loan = Loan::Lent(batch.adopt(stream.key, value));
    write_piece(stream, wanted, batch)
}
