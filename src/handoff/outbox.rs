//! The sending half of a cell: heads, data, trailers, the end, and the producer's capacity.
//!
//! Owns: what the application queued and the task has not collected, and how much more it may
//! queue. Does not know: frames, or when its turn is. Keeps I3 (a producer is told no more than
//! window, bounds and room allow) and I7 for producers.
//!
//! `send` hands its value over at once, as an *offer*: the task may send all of it in its turn, but
//! the producer waits until what is left of it fits the capacity, and only then is that charged.

use std::task::{Context, Poll, Waker};

use bytes::Buf;
use http::{HeaderMap, Method};

use super::account::Account;
use super::handles::PollReset;
use super::inbox::Inbox;
use super::room::most_of;
use super::sending::{Phase, Queue, Stopped};
use super::waiting::{poll_locked, wake};
use crate::error::{Error, Misuse};
use crate::frame::{MAX_WINDOW_SIZE, Reason, StreamId};
use crate::message::{ContentLength, Head, Priority};
use crate::proto::port::{Interest, News, Outgoing, RoomWait};
use crate::sync::{Arc, Mutex, lock};

/// The half of a stream's cell that the producer and the connection task share.
#[derive(Debug)]
pub(super) struct Outbox<B> {
    inbox: Arc<Inbox>,
    queue: Mutex<Queue<B>>,
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

    /// A 1xx, or the response, which announces `length`.
    pub(super) fn send_head(
        &self,
        head: Head,
        length: ContentLength,
        end: bool,
    ) -> Result<(), Error> {
        self.change(head, |queue, head| {
            queue.expect_phase_head()?;
            if let Some(Head::Response(parts)) = head {
                queue.begin_body(length.of_answer(parts.status, queue.to_head), end)?;
            }
            let head = head.take().into_iter();
            head.for_each(|head| queue.waiting_for_task.heads.push_back(head));
            Ok(())
        })
    }

    pub(super) fn send_data(&self, data: B, end: bool) -> Result<(), Error> {
        let bytes = length_of(&data)?;
        let shared = self.inbox.shared();
        let room = shared.room();
        self.change(data, |queue, data| {
            queue.expect_phase_body()?;
            queue.count_content(bytes, end)?;
            if bytes > 0 {
                shared.note_beyond_capacity(bytes.saturating_sub(self.space_for(queue)));
                let data = data.take().into_iter();
                data.for_each(|data| queue.waiting_for_task.data.push_back(data));
                room.charge(queue.account.queue(bytes));
            }
            if end {
                queue.waiting_for_task.end = true;
                queue.phase = Phase::Ended;
            }
            Ok(())
        })
    }

    /// Hands `data` over at the first poll, unless a value that nobody awaited is still before it.
    /// Ready when what is left of it fits the capacity.
    pub(super) fn poll_send(
        &self,
        cx: &Context<'_>,
        data: &mut Option<B>,
    ) -> Poll<Result<(), Error>> {
        let bytes = data.as_ref().map_or(Ok(0), length_of)?;
        let mut news = false;
        let polled = poll_locked(
            &self.queue,
            cx,
            |q| &mut q.producer,
            |queue| {
                // What is before it may fit by now: then nobody would wake this task for that.
                if queue.account.is_offering() {
                    self.admit(queue);
                }
                let handed = queue.hand_over(data, bytes)?;
                if handed {
                    self.admit(queue);
                }
                let asks = queue.account.is_offering() && self.asks_for_room(queue);
                news |= handed || asks;
                // An empty value is said to be sent and left to the caller: nothing of it needs keeping.
                match queue.account.is_offering() {
                    false => Poll::Ready(Ok(())),
                    true => Poll::Pending,
                }
            },
        );
        if news {
            self.inbox.post();
        }
        polled
    }

    pub(super) fn send_trailers(&self, trailers: HeaderMap) -> Result<(), Error> {
        self.change(Box::new(trailers), |queue, trailers| {
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
        let waker = {
            let mut queue = lock(&self.queue);
            let account = &mut queue.account;
            let handed_over = account.queued + account.offered as u64;
            account.requested = handed_over.saturating_add(bytes as u64);
            // Who wants less gives the rest back, and is told of it when he wants it again.
            self.see_capacity(&mut queue);
            // Another task may wait, for whom there was nothing until now.
            self.satisfied(&mut queue)
        };
        wake(waker);
    }

    pub(super) fn capacity(&self) -> usize {
        self.see_capacity(&mut lock(&self.queue))
    }

    /// Ready when there is capacity that the application has not been told of.
    pub(super) fn poll_capacity(&self, cx: &Context<'_>) -> Poll<Option<Result<usize, Error>>> {
        let mut asks = false;
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
                let known = queue.account.reported;
                let capacity = self.see_capacity(queue);
                if capacity > known {
                    queue.account.reported = capacity;
                    return Poll::Ready(Some(Ok(capacity)));
                }
                asks |= self.asks_for_room(queue);
                Poll::Pending
            },
        );
        if asks {
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
        queue.move_into(into);
        // Room may have been resumed since the producer asked for it: then it waits for nothing.
        let waker = self.satisfied(&mut queue);
        // Whoever is still short stands in the list from now on.
        queue.account.asked = RoomWait::Nothing;
        if queue.producer.is_some() {
            self.asks_for_room(&mut queue);
        }
        let interest = match queue.account.asked {
            RoomWait::Nothing => Interest::None,
            RoomWait::More => Interest::MoreRoom,
            RoomWait::Turn => Interest::Room,
        };
        let news = News {
            queued: std::mem::take(&mut queue.account.unreported),
            released: 0,
            reset: queue.reset.take(),
            priority: queue.priority.take(),
            interest,
        };
        drop(queue);
        self.inbox.shared().resume(waker);
        news
    }

    pub(super) fn took(&self, bytes: usize) {
        let room = self.inbox.shared().room();
        self.re_evaluate(|queue| room.give_back(queue.account.take(bytes)));
    }

    /// Whether the producer, which waits for room, holds less than its share while `free` is left.
    pub(super) fn takes(&self, free: usize) -> bool {
        lock(&self.queue).account.above_floor() < most_of(free)
    }

    pub(super) fn grant(&self, bytes: usize) {
        let (waker, asks) = {
            let mut queue = lock(&self.queue);
            queue.account.granted = bytes;
            queue.account.asked = RoomWait::Nothing;
            match queue.account.is_offering() && !self.admit(&mut queue) {
                // Others were faster, or some of the value must leave first.
                true => (None, self.asks_for_room(&mut queue)),
                // It is woken in any case: if the room is gone again it asks anew.
                false => (queue.producer.take(), false),
            }
        };
        self.inbox.shared().resume(waker);
        if asks {
            self.inbox.post();
        }
    }

    /// Wakes the producer if there is so much more than it knows of that it is worth a wake-up. True if
    /// it still waits for that.
    pub(super) fn look_for_more(&self) -> bool {
        let (waker, still_waits) = {
            let mut queue = lock(&self.queue);
            let has_more = self.has_much_more(&queue);
            let waker = has_more.then(|| queue.producer.take()).flatten();
            if !queue.producer.is_some() && queue.account.asked == RoomWait::More {
                queue.account.asked = RoomWait::Nothing;
            }
            (waker, queue.account.asked == RoomWait::More)
        };
        self.inbox.shared().resume(waker);
        still_waits
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

    /// Changes what the capacity depends on, and wakes the producer if its value has left or it has more
    /// than it knows, or asks for room in its stead.
    fn re_evaluate(&self, change: impl FnOnce(&mut Queue<B>)) {
        let (waker, asks) = {
            let mut queue = lock(&self.queue);
            let was_offering = queue.account.is_offering();
            change(&mut queue);
            let waker = match was_offering && !queue.account.is_offering() {
                true => queue.producer.take(),
                false => self.satisfied(&mut queue),
            };
            let asks = queue.producer.is_some() && self.asks_for_room(&mut queue);
            (waker, asks)
        };
        self.inbox.shared().resume(waker);
        if asks {
            self.inbox.post();
        }
    }

    /// The producer that waits, if its value is admitted or there is more capacity than it knows of.
    fn satisfied(&self, queue: &mut Queue<B>) -> Option<Waker> {
        let is_admitted = queue.account.is_offering() && self.admit(queue);
        let has_more = is_admitted
            || queue.producer.is_some() && self.capacity_of(queue) > queue.account.reported;
        has_more.then(|| queue.producer.take()).flatten()
    }

    /// Charges what is left of an offer, if it fits. True if nothing is on offer any more.
    fn admit(&self, queue: &mut Queue<B>) -> bool {
        let account = &mut queue.account;
        let fits = account.offered <= self.bound_of(account)
            && account.take_room(self.inbox.shared().room());
        if fits {
            account.admit();
        }
        fits
    }

    /// What the application sees, or could: of what it knew it knows no more than that from now on.
    fn see_capacity(&self, queue: &mut Queue<B>) -> usize {
        let capacity = self.capacity_of(queue);
        queue.account.reported = queue.account.reported.min(capacity);
        capacity
    }

    fn capacity_of(&self, queue: &Queue<B>) -> usize {
        let account = &queue.account;
        if !matches!(queue.phase, Phase::Head | Phase::Body) {
            return 0;
        }
        account.wanted().min(self.space_for(queue))
    }

    /// There is so much more capacity than the producer knows of that it is worth a wake-up.
    fn has_much_more(&self, queue: &Queue<B>) -> bool {
        let account = &queue.account;
        account.is_worth_telling(self.capacity_of(queue), self.bound_of(account))
    }

    /// What there is for whoever asks: the capacity, had enough been asked for.
    fn space_for(&self, queue: &Queue<B>) -> usize {
        if queue.account.is_offering() {
            return 0;
        }
        let room = queue.account.room(self.inbox.shared().room());
        self.bound_of(&queue.account).min(room)
    }

    /// What the stream's window and its own bound allow.
    fn bound_of(&self, account: &Account) -> usize {
        let shared = self.inbox.shared();
        let buffer = shared.max_send_buffer().saturating_sub(account.buffered());
        account.window(shared.initial_window()).min(buffer)
    }

    /// For a producer that waits, is short of room and has not asked yet: true if the cell must be
    /// posted. The direct way to the room is closed for one that has none.
    fn asks_for_room(&self, queue: &mut Queue<B>) -> bool {
        let room = self.inbox.shared().room();
        let lacks = queue.account.lacks(room, self.bound_of(&queue.account));
        if lacks <= queue.account.asked {
            return false;
        }
        queue.account.asked = lacks;
        if lacks == RoomWait::Turn {
            room.set_waiting();
        }
        true
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

fn length_of<B: Buf>(data: &B) -> Result<usize, Misuse> {
    let bytes = data.remaining();
    match bytes > MAX_WINDOW_SIZE as usize {
        true => Err(Misuse::PayloadTooBig),
        false => Ok(bytes),
    }
}

#[cfg(test)]
impl<B: Buf> Outbox<B> {
    pub(super) fn producer(&self) -> super::tests::probe::Producer {
        let queue = lock(&self.queue);
        let account = &queue.account;
        let is_ready = match account.is_offering() {
            true => account.offered <= self.bound_of(account) && account.offer_above_floor() == 0,
            false => self.has_much_more(&queue),
        };
        super::tests::probe::Producer {
            buffered: account.buffered(),
            handed_over: account.queued as usize + account.offered,
            is_forgotten: queue.producer.is_some() && is_ready,
        }
    }
}
