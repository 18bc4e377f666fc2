//! What the handles of one connection share with its task, whatever their payload type.
//!
//! Owns: the mailbox, the task's waker, the send room, credit of streams that are gone, the user's
//! PING, and the numbers that handles read. Does not know: `proto`. Keeps I7 towards the task:
//! every post is followed by a turn.

use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll, Waker};

use super::ping::UserPing;
use super::room::Room;
use crate::error::Error;
use crate::proto::streams::Key;
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, AtomicWaker, Mutex, Ordering, lock};

/// Bounds of the sending side of one connection, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Of one stream: `max_send_buffer_size`.
    pub(crate) max_send_buffer: usize,
    /// Of all streams together, beyond their floors.
    pub(crate) send_room: usize,
    /// The window that the peer is given for each stream at first.
    pub(crate) recv_window: u32,
}

/// The handles' view of their connection.
#[derive(Debug)]
pub(crate) struct Shared {
    // A panic while it is set or taken leaves it empty at worst: whole.
    task: AssertUnwindSafe<AtomicWaker>,
    mailbox: Mutex<Vec<Key>>,
    room: Room,
    max_send_buffer: usize,
    initial_window: AtomicU32,
    recv_window: AtomicU32,
    /// Producers were woken since the task last asked.
    resumed: AtomicBool,
    /// Receive credit released by streams whose slot is gone.
    credit: AtomicUsize,
    /// Bytes that were handed over although there was no capacity for them.
    beyond_capacity: AtomicUsize,
    /// Streams opened by the peer that the application still has handles of.
    held: AtomicUsize,
    /// `SendRequest` handles.
    requesters: AtomicUsize,
    ping: UserPing,
    counts: Counts,
    extended_connect: AtomicBool,
    push: AtomicBool,
}

/// Numbers that the task writes and handles read.
#[derive(Debug, Default)]
struct Counts {
    max_send_streams: AtomicUsize,
    max_recv_streams: AtomicUsize,
    active_streams: AtomicUsize,
    wired_streams: AtomicUsize,
}

impl Shared {
    pub(super) fn new(limits: Limits) -> Shared {
        Shared {
            task: AssertUnwindSafe(AtomicWaker::new()),
            mailbox: Mutex::new(Vec::new()),
            room: Room::new(limits.send_room),
            max_send_buffer: limits.max_send_buffer,
            initial_window: AtomicU32::new(65_535),
            recv_window: AtomicU32::new(limits.recv_window),
            resumed: AtomicBool::new(false),
            credit: AtomicUsize::new(0),
            beyond_capacity: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            requesters: AtomicUsize::new(0),
            ping: UserPing::default(),
            counts: Counts::default(),
            extended_connect: AtomicBool::new(false),
            push: AtomicBool::new(true),
        }
    }

    // ---- the task ------------------------------------------------------------------------

    /// The task's waker; to be registered before looking for work (rule 5).
    pub(crate) fn register(&self, waker: &Waker) {
        crate::sync::register(&self.task, waker);
    }

    /// Moves the posted keys into `into`, which is empty, and leaves its space to the mailbox.
    pub(crate) fn take_posted(&self, into: &mut Vec<Key>) {
        debug_assert!(into.is_empty());
        std::mem::swap(&mut *lock(&self.mailbox), into);
    }

    /// Receive credit of streams that are gone, in bytes.
    pub(crate) fn take_credit(&self) -> usize {
        if self.credit.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        self.credit.swap(0, Ordering::AcqRel)
    }

    /// Whether producers were woken since the last call: they should run before the next batch.
    pub(crate) fn take_resumed(&self) -> bool {
        self.resumed.load(Ordering::Relaxed) && self.resumed.swap(false, Ordering::Relaxed)
    }

    /// Bytes that were handed over although there was no capacity for them.
    pub(crate) fn beyond_capacity(&self) -> u64 {
        self.beyond_capacity.load(Ordering::Relaxed) as u64
    }

    pub(crate) fn take_ping(&self) -> Option<[u8; 8]> {
        self.ping.take()
    }

    pub(crate) fn pong(&self) {
        self.ping.answered();
    }

    pub(super) fn close(&self, error: Error) {
        self.ping.close(error);
    }

    pub(crate) fn set_initial_window(&self, size: u32) {
        self.initial_window.store(size, Ordering::Release);
    }

    pub(crate) fn set_recv_window(&self, size: u32) {
        self.recv_window.store(size, Ordering::Release);
    }

    pub(crate) fn set_max_send_streams(&self, count: usize) {
        self.counts.max_send_streams.store(count, Ordering::Release);
    }

    pub(crate) fn set_max_recv_streams(&self, count: usize) {
        self.counts.max_recv_streams.store(count, Ordering::Release);
    }

    pub(crate) fn set_active_streams(&self, count: usize) {
        self.counts.active_streams.store(count, Ordering::Release);
    }

    pub(crate) fn set_wired_streams(&self, count: usize) {
        self.counts.wired_streams.store(count, Ordering::Release);
    }

    pub(crate) fn set_extended_connect(&self, enabled: bool) {
        self.extended_connect.store(enabled, Ordering::Release);
    }

    pub(crate) fn set_push(&self, enabled: bool) {
        self.push.store(enabled, Ordering::Release);
    }

    /// Bytes buffered beyond the floors of all streams.
    #[cfg(test)]
    pub(crate) fn room_used(&self) -> usize {
        self.room.used()
    }

    /// Whether the flag stands that somebody waits for room.
    #[cfg(test)]
    pub(crate) fn room_is_awaited(&self) -> bool {
        self.room.is_awaited()
    }

    /// Credit that the task has not taken yet.
    #[cfg(test)]
    pub(crate) fn credit_waiting(&self) -> usize {
        self.credit.load(Ordering::Acquire)
    }

    /// Whether keys or credit are there for the task.
    #[cfg(test)]
    pub(crate) fn has_news(&self) -> bool {
        !lock(&self.mailbox).is_empty() || self.credit_waiting() > 0
    }

    // ---- handles -------------------------------------------------------------------------

    pub(crate) fn max_send_streams(&self) -> usize {
        self.counts.max_send_streams.load(Ordering::Acquire)
    }

    pub(crate) fn max_recv_streams(&self) -> usize {
        self.counts.max_recv_streams.load(Ordering::Acquire)
    }

    pub(crate) fn active_streams(&self) -> usize {
        self.counts.active_streams.load(Ordering::Acquire)
    }

    #[cfg(feature = "unstable")]
    pub(crate) fn wired_streams(&self) -> usize {
        self.counts.wired_streams.load(Ordering::Acquire)
    }

    pub(crate) fn extended_connect(&self) -> bool {
        self.extended_connect.load(Ordering::Acquire)
    }

    /// Whether the peer takes pushed responses.
    pub(super) fn takes_push(&self) -> bool {
        self.push.load(Ordering::Acquire)
    }

    pub(crate) fn send_ping(&self, payload: [u8; 8]) -> Result<(), Error> {
        self.ping.ask(payload)?;
        self.wake_task();
        Ok(())
    }

    pub(crate) fn poll_pong(&self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        self.ping.poll_answered(cx)
    }

    /// One more `SendRequest`.
    pub(crate) fn add_requester(&self) {
        self.requesters.fetch_add(1, Ordering::Relaxed);
    }

    /// One less: the last one lets the connection end.
    pub(crate) fn drop_requester(&self) {
        if self.requesters.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.wake_task();
        }
    }

    pub(super) fn requesters(&self) -> usize {
        self.requesters.load(Ordering::Acquire)
    }

    pub(crate) fn wake_task(&self) {
        self.task.wake();
    }

    // ---- the halves of cells -------------------------------------------------------------

    /// A cell has news. The push that finds the mailbox empty wakes the task.
    pub(super) fn post(&self, key: Key) {
        let first = {
            let mut mailbox = lock(&self.mailbox);
            mailbox.push(key);
            mailbox.len() == 1
        };
        if first {
            self.task.wake();
        }
    }

    /// Wakes a producer, and remembers that it did.
    pub(super) fn resume(&self, producer: Option<Waker>) {
        if let Some(waker) = producer {
            self.resumed.store(true, Ordering::Relaxed);
            waker.wake();
        }
    }

    pub(super) fn add_credit(&self, bytes: usize) {
        if self.credit.fetch_add(bytes, Ordering::AcqRel) == 0 {
            self.task.wake();
        }
    }

    pub(super) fn note_beyond_capacity(&self, bytes: usize) {
        if bytes > 0 {
            self.beyond_capacity.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    pub(super) fn hold(&self) {
        self.held.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn let_go(&self) {
        self.held.fetch_sub(1, Ordering::AcqRel);
    }

    pub(super) fn held(&self) -> usize {
        self.held.load(Ordering::Acquire)
    }

    pub(super) fn room(&self) -> &Room {
        &self.room
    }

    pub(super) fn max_send_buffer(&self) -> usize {
        self.max_send_buffer
    }

    pub(super) fn initial_window(&self) -> u32 {
        self.initial_window.load(Ordering::Acquire)
    }

    pub(super) fn recv_window(&self) -> u32 {
        self.recv_window.load(Ordering::Acquire)
    }
}
