//! `Queue`: what one producer has handed over, and how far its message has come.
//!
//! Owns: the order of a message (heads, data, the end) and what stops it. Does not know: locks, room,
//! the connection task; the outbox holds it under its lock. Keeps rule 2 of the layer: what a change
//! replaces is handed back, to be dropped after the lock.

use std::task::Waker;

use http::Method;
use http::request::Parts;

use super::account::Account;
use super::waiting::Waiting;
use crate::error::{Error, Misuse};
use crate::frame::Reason;
use crate::message::{ContentLength, Head, Priority};
use crate::proto::port::Outgoing;

/// What is queued, and how it stands.
#[derive(Debug)]
pub(super) struct Queue<B> {
    pub(super) waiting_for_task: Outgoing<B>,
    pub(super) phase: Phase,
    /// The question was HEAD: the answer has no content, whatever length it names.
    pub(super) to_head: bool,
    pub(super) content_length: ContentLength,
    pub(super) account: Account,
    /// The application's reset, until it is collected.
    pub(super) reset: Option<Reason>,
    pub(super) priority: Option<Priority>,
    pub(super) opened: bool,
    pub(super) producer: Waiting,
    pub(super) resets: Waiting,
    pub(super) opening: Waiting,
}

/// How far the application has come with sending, or what stopped it.
#[derive(Debug)]
pub(super) enum Phase {
    /// The final head is still to be sent.
    Head,
    /// Data may be sent.
    Body,
    /// The end has been queued.
    Ended,
    /// The sending half was ended early, by this reason.
    Stopped(Reason),
    /// The stream is over.
    Failed(Error),
}

/// What a stop leaves to be handled after the lock.
pub(super) struct Stopped<B> {
    pub(super) dropped: (Outgoing<B>, Option<Phase>),
    pub(super) held: usize,
    pub(super) wakers: [Option<Waker>; 3],
}

impl<B> Queue<B> {
    /// Of a stream that begins with this request.
    pub(super) fn request(head: Box<Parts>, end: bool) -> Result<Queue<B>, Error> {
        let mut queue = Queue::default();
        let length = ContentLength::new(&head.headers).map_err(Misuse::from)?;
        queue.begin_body(length, end)?;
        queue.waiting_for_task.heads.push_back(Head::Request(head));
        Ok(queue)
    }

    /// Of a stream that is promised as the answer to this request.
    pub(super) fn promise(head: Box<Parts>) -> Queue<B> {
        let mut queue = Queue {
            to_head: head.method == Method::HEAD,
            ..Queue::default()
        };
        queue.waiting_for_task.heads.push_back(Head::Request(head));
        queue
    }

    /// The final head is queued, and perhaps the end with it.
    pub(super) fn begin_body(&mut self, length: ContentLength, end: bool) -> Result<(), Misuse> {
        if end {
            length.end()?;
        }
        self.content_length = length;
        self.phase = if end { Phase::Ended } else { Phase::Body };
        self.waiting_for_task.end = end;
        Ok(())
    }

    /// What is sent must be what the head announced; a refused part counts for nothing.
    pub(super) fn count_content(&mut self, bytes: usize, end: bool) -> Result<(), Misuse> {
        let mut length = self.content_length;
        length.recv(bytes)?;
        if end {
            length.end()?;
        }
        self.content_length = length;
        Ok(())
    }

    /// Puts `data`, of so many bytes, on offer, unless an earlier value still is. True if it did.
    pub(super) fn hand_over(&mut self, data: &mut Option<B>, bytes: usize) -> Result<bool, Error> {
        if let Phase::Failed(_) | Phase::Stopped(_) = &self.phase {
            self.expect_phase_body()?;
        }
        if data.is_none() || self.account.is_offering() {
            return Ok(false);
        }
        self.expect_phase_body()?;
        self.count_content(bytes, false)?;
        if bytes == 0 {
            return Ok(false);
        }
        data.take()
            .into_iter()
            .for_each(|data| self.waiting_for_task.data.push_back(data));
        self.account.offer(bytes);
        Ok(true)
    }

    /// Ends sending; a stream that has failed stays failed.
    pub(super) fn stop(&mut self, phase: Phase) -> Stopped<B> {
        let phase = match self.phase {
            Phase::Failed(_) => phase,
            _ => std::mem::replace(&mut self.phase, phase),
        };
        Stopped {
            dropped: (std::mem::take(&mut self.waiting_for_task), Some(phase)),
            held: self.account.clear(),
            wakers: [
                self.producer.take(),
                self.resets.take(),
                self.opening.take(),
            ],
        }
    }

    /// Moves all that is queued into `into`. Nothing is asked of the values.
    pub(super) fn move_into(&mut self, into: &mut Outgoing<B>) {
        let waiting = &mut self.waiting_for_task;
        into.heads.append(&mut waiting.heads);
        into.data.append(&mut waiting.data);
        if waiting.trailers.is_some() {
            into.trailers = waiting.trailers.take();
        }
        into.end |= std::mem::take(&mut waiting.end);
    }

    /// Whether the stream has its slot, or needs none any more.
    pub(super) fn has_opened(&self) -> bool {
        self.opened || matches!(self.phase, Phase::Failed(_) | Phase::Stopped(_))
    }

    pub(super) fn expect_phase_head(&self) -> Result<(), Error> {
        match &self.phase {
            Phase::Head => Ok(()),
            Phase::Body | Phase::Ended => Err(Misuse::HeadSentTwice.into()),
            Phase::Stopped(_) => Err(Misuse::InactiveStream.into()),
            Phase::Failed(error) => Err(error.clone()),
        }
    }

    pub(super) fn expect_phase_body(&self) -> Result<(), Error> {
        match &self.phase {
            Phase::Body => Ok(()),
            Phase::Head => Err(Misuse::UnexpectedFrame.into()),
            Phase::Ended | Phase::Stopped(_) => Err(Misuse::InactiveStream.into()),
            Phase::Failed(error) => Err(error.clone()),
        }
    }
}

impl<B> Default for Queue<B> {
    fn default() -> Queue<B> {
        Queue {
            waiting_for_task: Outgoing::default(),
            phase: Phase::Head,
            to_head: false,
            content_length: ContentLength::Unknown,
            account: Account::default(),
            reset: None,
            priority: None,
            opened: false,
            producer: Waiting::default(),
            resets: Waiting::default(),
            opening: Waiting::default(),
        }
    }
}
