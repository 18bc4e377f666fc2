//! `Received`: what the peer has sent on a stream and nobody has taken yet.
//!
//! Owns: the values, their end, and who waits for them. Does not know: locks, the connection task; the
//! inbox holds it under its lock. Keeps rule 2 of the layer: wakers are handed back, to be woken after
//! the lock.

use std::collections::VecDeque;
use std::task::Waker;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response};

use super::credit::Credit;
use super::handles::Promise;
use super::waiting::Waiting;
use crate::error::Error;
use crate::message::Head;
use crate::proto::short_queue::ShortQueue;

/// So many pieces of DATA wait one by one, as they came. Behind them short ones are joined: each
/// piece costs some hundred octets beside its payload, of which windows know nothing.
const SEPARATE: usize = 8;
/// A piece below this length is short.
const SHORT: usize = 256;
/// Up to this length short pieces are joined.
const JOINED: usize = 4096;

/// What has come, and how it stands.
#[derive(Debug, Default)]
pub(super) struct Received {
    pub(super) head: Option<Head>,
    /// The final head has come, whether it was taken or not: no 1xx follows.
    pub(super) has_final: bool,
    pub(super) data: ShortQueue<Bytes>,
    pub(super) trailers: Option<Box<HeaderMap>>,
    pub(super) end: End,
    /// Of the body.
    pub(super) reading: Reading,
    /// Of promises: one handle takes them, which may outlive that of the body or go before it.
    pub(super) promising: Reading,
    pub(super) credit: Credit,
    /// The task of the response, the body and the trailers.
    pub(super) reader: Waiting,
    /// Most streams have none of it, so it lies apart.
    pub(super) extra: Option<Box<Extra>>,
}

/// What comes beside the message.
#[derive(Debug, Default)]
pub(super) struct Extra {
    pub(super) informational: VecDeque<Response<()>>,
    pub(super) promises: VecDeque<Promise>,
    /// The task that waits for 1xx responses.
    pub(super) early: Waiting,
    /// The task of the promises.
    pub(super) pushes: Waiting,
}

/// How the peer's side of the stream stands.
#[derive(Debug, Default)]
pub(super) enum End {
    #[default]
    NotYet,
    Normal,
    Failed(Error),
}

/// Whether anybody will read what comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reading {
    #[default]
    Wanted,
    Stopped,
}

impl Received {
    /// Keeps DATA for the reader. Whatever the peer cuts it into, what waits takes a few times its
    /// length, and no more than `SEPARATE` pieces are short (I3).
    pub(super) fn push_data(&mut self, data: Bytes) {
        self.credit.deliver(data.len());
        let joins = data.len() < SHORT && self.data.len() >= SEPARATE;
        match self.data.pop_back_if(|last| joins && last.len() < JOINED) {
            Some(last) => {
                let mut joined = last
                    .try_into_mut()
                    .unwrap_or_else(|shared| BytesMut::from(&shared[..]));
                joined.extend_from_slice(&data);
                self.data.push_back(joined.freeze());
            }
            None => self.data.push_back(data),
        }
    }

    /// Notes the end, and answers who waits for promises: none will come.
    pub(super) fn end_if(&mut self, end: bool) -> Option<Waker> {
        if end && matches!(self.end, End::NotYet) {
            self.end = End::Normal;
            return self.take_pushes();
        }
        None
    }

    pub(super) fn take_wakers(&mut self) -> [Option<Waker>; 3] {
        [self.reader.take(), self.take_early(), self.take_pushes()]
    }

    pub(super) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    pub(super) fn take_early(&mut self) -> Option<Waker> {
        self.extra.as_mut()?.early.take()
    }

    pub(super) fn take_pushes(&mut self) -> Option<Waker> {
        self.extra.as_mut()?.pushes.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pieces_that_wait_are_joined_and_stay_in_order() {
        for length in [1, 20, 200, SHORT - 1] {
            let mut received = Received::default();
            let all: Vec<u8> = (0..65_535_u32)
                .map(|at| at as u8 ^ (at >> 8) as u8)
                .collect();
            for piece in all.chunks(length) {
                received.push_data(Bytes::copy_from_slice(piece));
            }
            let most = SEPARATE + all.len() / (JOINED - SHORT) + 1;
            assert!(
                received.data.len() <= most,
                "{} pieces",
                received.data.len()
            );
            assert_eq!(received.credit.unread, all.len());
            assert_eq!(received.data.drain().concat(), all);
        }
    }

    #[test]
    fn the_first_pieces_and_long_ones_stay_as_they_came() {
        let mut received = Received::default();
        let lengths = [[1; SEPARATE].as_slice(), &[SHORT, 3 * SHORT, 9000, SHORT]].concat();
        for length in &lengths {
            received.push_data(vec![0; *length].into());
        }
        let pieces = received.data.drain();
        assert_eq!(pieces.iter().map(Bytes::len).collect::<Vec<_>>(), lengths);
    }

    #[test]
    fn what_is_joined_is_no_longer_than_it_may_be() {
        let mut received = Received::default();
        for _ in 0..SEPARATE {
            received.push_data(vec![0; JOINED].into());
        }
        for _ in 0..=JOINED / 128 {
            received.push_data(vec![0; 128].into());
        }
        let pieces = received.data.drain();
        let lengths: Vec<_> = pieces[SEPARATE..].iter().map(Bytes::len).collect();
        assert_eq!(lengths, [JOINED, 128]);
    }

    #[test]
    fn a_piece_that_somebody_shares_is_not_written_to() {
        let mut received = Received::default();
        let shared = Bytes::from(vec![7; 10]);
        for _ in 0..SEPARATE {
            received.push_data(shared.clone());
        }
        received.push_data(Bytes::from_static(b"end"));
        let last = received.data.drain().pop().unwrap();
        assert_eq!(last, [&[7; 10][..], b"end"].concat());
        assert_eq!(shared, [7; 10][..]);
    }
}
