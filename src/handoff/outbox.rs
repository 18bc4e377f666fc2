//! The sending half of a cell: heads, data, trailers, the end, and the producer's capacity.
//!
//! Owns: what the application queued and the task has not collected, and how much more it may
//! queue. Does not know: frames, or when its turn is. Keeps I3 (a producer is told no more than
//! window, bounds and room allow) and I7 for producers.

use std::task::{Context, Poll, Waker};

use bytes::Buf;
use http::request::Parts;
use http::{HeaderMap, Method};

use super::account::Account;
use super::handles::PollReset;
use super::inbox::Inbox;
use super::waiting::{Waiting, poll_locked, wake};
use crate::error::{Error, Misuse};
use crate::frame::{MAX_WINDOW_SIZE, Reason, StreamId};
use crate::message::{ContentLength, Head, Priority};
use crate::proto::port::{Interest, News, Outgoing};
use crate::sync::{Arc, Mutex, lock};

/// The half of a stream's cell that the producer and the connection task share.
#[derive(Debug)]
pub(super) struct Outbox<B> {
    inbox: Arc<Inbox>,
    queue: Mutex<Queue<B>>,
}

/// What is queued, and how it stands.
#[derive(Debug)]
pub(super) struct Queue<B> {
    waiting_for_task: Outgoing<B>,
    phase: Phase,
    /// The question was HEAD: the answer has no content, whatever length it names.
    to_head: bool,
    content_length: ContentLength,
    account: Account,
    /// The application's reset, until it is collected.
    reset: Option<Reason>,
    priority: Option<Priority>,
    opened: bool,
    producer: Waiting,
    resets: Waiting,
    opening: Waiting,
}

/// How far the application has come with sending, or what stopped it.
#[derive(Debug)]
enum Phase {
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

impl<B: Buf> Outbox<B> {
    pub(super) fn new(inbox: Arc<Inbox>, queue: Queue<B>) -> Outbox<B> {
        Outbox {
            inbox,
            queue: Mutex::new(queue),
        }
    }

    pub(super) fn inbox(&self) -> &Arc<Inbox> {
        &self.inbox
    }

    pub(super) fn id(&self) -> StreamId {
        self.inbox.id()
    }

    // ---- the application -----------------------------------------------------------------

    /// The request that is to be answered has come.
    pub(super) fn answer_to(&self, method: &Method) {
        lock(&self.queue).to_head = method == Method::HEAD;
    }

    /// A 1xx, or the response.
    pub(super) fn send_head(&self, head: Head, end: bool) -> Result<(), Error> {
        self.change(head, |queue, head| {
            queue.expect_phase_head()?;
            if let Some(Head::Response(parts)) = head {
                let length =
                    ContentLength::of_response(parts, queue.to_head).map_err(Misuse::from)?;
                queue.begin_body(length, end)?;
            }
            queue.waiting_for_task.heads.extend(head.take());
            Ok(())
        })
    }

    pub(super) fn send_data(&self, data: B, end: bool) -> Result<(), Error> {
        let bytes = data.remaining();
        if bytes > MAX_WINDOW_SIZE as usize {
            return Err(Misuse::PayloadTooBig.into());
        }
        let room = self.inbox.shared().room();
        self.change(data, |queue, data| {
            queue.expect_phase_body()?;
            queue.count_content(bytes, end)?;
            if bytes > 0 {
                queue.waiting_for_task.data.extend(data.take());
                room.charge(queue.account.queue(bytes));
            }
            if end {
                queue.waiting_for_task.end = true;
                queue.phase = Phase::Ended;
            }
            Ok(())
        })
    }

    pub(super) fn send_trailers(&self, trailers: HeaderMap) -> Result<(), Error> {
        self.change(trailers, |queue, trailers| {
            queue.expect_phase_body()?;
            queue.count_content(0, true)?;
            queue.waiting_for_task.trailers = trailers.take().filter(|map| !map.is_empty());
            queue.waiting_for_task.end = true;
            queue.phase = Phase::Ended;
            Ok(())
        })
    }

    /// Resets the stream: what is queued and not yet on its way is dropped.
    pub(super) fn send_reset(&self, reason: Reason) {
        let id = self.inbox.id();
        let stopped = {
            let mut queue = lock(&self.queue);
            if matches!(queue.phase, Phase::Failed(_)) || queue.reset.is_some() {
                return;
            }
            queue.reset = Some(reason);
            queue.stop(Phase::Failed(Error::reset(
                id,
                reason,
                crate::error::Initiator::User,
            )))
        };
        self.finish_stop(stopped);
        self.inbox.post();
    }

    pub(super) fn set_priority(&self, priority: Priority) {
        lock(&self.queue).priority = Some(priority);
        self.inbox.post();
    }

    /// Asks for capacity for `bytes` beyond what is queued.
    pub(super) fn reserve(&self, bytes: usize) {
        let mut queue = lock(&self.queue);
        queue.account.requested = queue.account.queued.saturating_add(bytes as u64);
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity_of(&lock(&self.queue))
    }

    /// Ready when there is capacity that the application has not been told of.
    pub(super) fn poll_capacity(&self, cx: &Context<'_>) -> Poll<Option<Result<usize, Error>>> {
        let mut short_of_room = false;
        let polled = poll_locked(
            &self.queue,
            cx,
            |q| &mut q.producer,
            |queue| {
                match &queue.phase {
                    Phase::Head | Phase::Body => {}
                    Phase::Ended | Phase::Stopped(_) => return Poll::Ready(None),
                    Phase::Failed(error) => return Poll::Ready(Some(Err(error.clone()))),
                }
                let capacity = self.capacity_of(queue);
                if capacity > queue.account.reported {
                    queue.account.reported = capacity;
                    return Poll::Ready(Some(Ok(capacity)));
                }
                queue.account.reported = capacity;
                short_of_room = self.is_short_of_room(queue);
                Poll::Pending
            },
        );
        if polled.is_pending() && short_of_room {
            self.inbox.shared().room().set_waiting();
            self.inbox.post();
        }
        polled
    }

    /// Ready with the reason when the stream has been reset, by whomever.
    pub(super) fn poll_reset(
        &self,
        cx: &Context<'_>,
        mode: PollReset,
    ) -> Poll<Result<Reason, Error>> {
        poll_locked(
            &self.queue,
            cx,
            |q| &mut q.resets,
            |queue| match &queue.phase {
                Phase::Stopped(reason) => Poll::Ready(Ok(*reason)),
                Phase::Failed(error) => Poll::Ready(error.reason().ok_or_else(|| error.clone())),
                Phase::Body | Phase::Ended if mode == PollReset::AwaitingHeaders => {
                    Poll::Ready(Err(Misuse::PollResetAfterSendResponse.into()))
                }
                Phase::Head | Phase::Body | Phase::Ended => Poll::Pending,
            },
        )
    }

    /// Ready when the request has left the queue for a concurrency slot.
    pub(super) fn poll_opened(&self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        poll_locked(
            &self.queue,
            cx,
            |q| &mut q.opening,
            |queue| match queue.has_opened() {
                true => Poll::Ready(Ok(())),
                false => Poll::Pending,
            },
        )
    }

    pub(super) fn has_opened(&self) -> bool {
        lock(&self.queue).has_opened()
    }

    // ---- the task ------------------------------------------------------------------------

    pub(super) fn collect(&self, into: &mut Outgoing<B>) -> News {
        let mut queue = lock(&self.queue);
        let waiting = &mut queue.waiting_for_task;
        move_all(&mut waiting.heads, &mut into.heads);
        move_all(&mut waiting.data, &mut into.data);
        if waiting.trailers.is_some() {
            into.trailers = waiting.trailers.take();
        }
        into.end |= std::mem::take(&mut waiting.end);
        let interest = if queue.producer.is_some() && self.is_short_of_room(&queue) {
            Interest::Room
        } else {
            Interest::None
        };
        let news = News {
            queued: std::mem::take(&mut queue.account.unreported),
            released: 0,
            reset: queue.reset.take(),
            priority: queue.priority.take(),
            interest,
        };
        // Room may have been resumed since the producer asked for it: then it waits for nothing.
        let waker = self.satisfied(&mut queue);
        drop(queue);
        wake(waker);
        news
    }

    pub(super) fn took(&self, bytes: usize) {
        let room = self.inbox.shared().room();
        self.re_evaluate(|queue| room.give_back(queue.account.take(bytes)));
    }

    pub(super) fn grant(&self, bytes: usize) {
        // It is woken in any case: if the room is gone again it asks anew.
        let waker = {
            let mut queue = lock(&self.queue);
            queue.account.granted = bytes;
            queue.producer.take()
        };
        wake(waker);
    }

    pub(super) fn set_credit(&self, credit: i64) {
        self.re_evaluate(|queue| queue.account.credit = credit);
    }

    pub(super) fn window_opened(&self) {
        self.re_evaluate(|_| {});
    }

    pub(super) fn opened(&self) {
        let waker = {
            let mut queue = lock(&self.queue);
            queue.opened = true;
            queue.opening.take()
        };
        wake(waker);
    }

    pub(super) fn stop_sending(&self, reason: Reason) {
        let stopped = lock(&self.queue).stop(Phase::Stopped(reason));
        self.finish_stop(stopped);
    }

    /// The stream is over because of `error`.
    pub(super) fn fail(&self, error: Error) {
        let stopped = lock(&self.queue).stop(Phase::Failed(error));
        self.finish_stop(stopped);
    }

    /// The slot goes after a normal end: whatever the producer held of the room returns.
    pub(super) fn retire(&self) {
        let held = lock(&self.queue).account.clear();
        self.inbox.shared().room().give_back(held);
    }

    // ---- helpers -------------------------------------------------------------------------

    /// Changes the queue, then posts. `value` is moved in by `change`, or dropped after the lock.
    fn change<V>(
        &self,
        value: V,
        change: impl FnOnce(&mut Queue<B>, &mut Option<V>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut value = Some(value);
        let changed = change(&mut lock(&self.queue), &mut value);
        drop(value);
        if changed.is_ok() {
            self.inbox.post();
        }
        changed
    }

    /// Changes what the capacity depends on, and wakes the producer if it has more than it knows.
    fn re_evaluate(&self, change: impl FnOnce(&mut Queue<B>)) {
        let waker = {
            let mut queue = lock(&self.queue);
            change(&mut queue);
            self.satisfied(&mut queue)
        };
        wake(waker);
    }

    /// The producer that waits, if there is more capacity than it knows of.
    fn satisfied(&self, queue: &mut Queue<B>) -> Option<Waker> {
        let has_more = queue.producer.is_some() && self.capacity_of(queue) > queue.account.reported;
        has_more.then(|| queue.producer.take()).flatten()
    }

    fn capacity_of(&self, queue: &Queue<B>) -> usize {
        if !matches!(queue.phase, Phase::Head | Phase::Body) {
            return 0;
        }
        let shared = self.inbox.shared();
        let account = &queue.account;
        let requested = usize::try_from(account.requested.saturating_sub(account.queued));
        requested
            .unwrap_or(usize::MAX)
            .min(account.window(shared.initial_window()))
            .min(shared.max_send_buffer().saturating_sub(account.buffered()))
            .min(account.room(shared.room()))
    }

    /// The producer has asked for capacity, its window and bound allow it, and only room is short.
    fn is_short_of_room(&self, queue: &Queue<B>) -> bool {
        let shared = self.inbox.shared();
        let account = &queue.account;
        account.requested > account.queued
            && account.window(shared.initial_window()) > 0
            && account.buffered() < shared.max_send_buffer()
            && account.room(shared.room()) == 0
    }

    fn finish_stop(&self, stopped: Stopped<B>) {
        self.inbox.shared().room().give_back(stopped.held);
        drop(stopped.dropped);
        stopped.wakers.into_iter().for_each(wake);
    }
}

impl<B> Drop for Outbox<B> {
    fn drop(&mut self) {
        let held = lock(&self.queue).account.clear();
        self.inbox.shared().room().give_back(held);
    }
}

/// What a stop leaves to be handled after the lock.
struct Stopped<B> {
    dropped: (Outgoing<B>, Option<Phase>),
    held: usize,
    wakers: [Option<Waker>; 3],
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
    fn begin_body(&mut self, length: ContentLength, end: bool) -> Result<(), Misuse> {
        if end {
            length.end()?;
        }
        self.content_length = length;
        self.phase = if end { Phase::Ended } else { Phase::Body };
        self.waiting_for_task.end = end;
        Ok(())
    }

    /// What is sent must be what the head announced; a refused part counts for nothing.
    fn count_content(&mut self, bytes: usize, end: bool) -> Result<(), Misuse> {
        let mut length = self.content_length;
        length.recv(bytes)?;
        if end {
            length.end()?;
        }
        self.content_length = length;
        Ok(())
    }

    /// Ends sending; a stream that has failed stays failed.
    fn stop(&mut self, phase: Phase) -> Stopped<B> {
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

    /// Whether the stream has its slot, or needs none any more.
    fn has_opened(&self) -> bool {
        self.opened || matches!(self.phase, Phase::Failed(_) | Phase::Stopped(_))
    }

    fn expect_phase_head(&self) -> Result<(), Error> {
        match &self.phase {
            Phase::Head => Ok(()),
            Phase::Body | Phase::Ended => Err(Misuse::HeadSentTwice.into()),
            Phase::Stopped(_) => Err(Misuse::InactiveStream.into()),
            Phase::Failed(error) => Err(error.clone()),
        }
    }

    fn expect_phase_body(&self) -> Result<(), Error> {
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

/// Moves a queue over without asking its values anything; usually by swapping two pointers.
fn move_all<T>(from: &mut std::collections::VecDeque<T>, to: &mut std::collections::VecDeque<T>) {
    if to.is_empty() {
        std::mem::swap(from, to);
    } else {
        to.append(from);
    }
}
