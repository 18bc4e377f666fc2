//! `Received`: what the peer has sent on a stream and nobody has taken yet.
//!
//! Owns: the values, their end, and who waits for them. Does not know: locks, the connection task; the
//! inbox holds it under its lock. Keeps rule 2 of the layer: wakers are handed back, to be woken after
//! the lock.

use std::collections::VecDeque;
use std::task::Waker;

use bytes::Bytes;
use http::{HeaderMap, Response};

use super::credit::Credit;
use super::handles::Promise;
use super::waiting::Waiting;
use crate::error::Error;
use crate::message::Head;
use crate::proto::short_queue::ShortQueue;

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
