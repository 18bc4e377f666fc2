//! Tests of the hand-over. Each `loom_*` test is one race: under `--cfg fairmux_loom` every order
//! of its steps is tried, otherwise it runs many times with real threads.

mod loom_ending;
mod loom_inbox;
mod loom_mailbox;
mod loom_outbox;
mod loom_room;
pub(crate) mod probe;
mod rules;
mod sending;

use std::future::poll_fn;
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;

use super::{Cell, Hub, Limits, Reader, Shared, Writer};
use crate::frame::StreamId;
use crate::message::Head;
use crate::proto::port::{News, Outgoing, Port, Ports};
use crate::proto::streams::Key;
use crate::sync::Arc;

/// Every order of the threads' steps.
#[cfg(fairmux_loom)]
pub(super) fn model(race: impl Fn() + Send + Sync + 'static) {
    loom::model(race);
}

/// Many orders of the threads' steps.
#[cfg(not(fairmux_loom))]
pub(super) fn model(race: impl Fn() + Send + Sync + 'static) {
    for _ in 0..300 {
        race();
    }
}

#[cfg(fairmux_loom)]
pub(super) use loom::thread::spawn;
#[cfg(not(fairmux_loom))]
pub(super) use std::thread::spawn;

/// Waits as a task does: a lost wake-up is a deadlock, which loom reports and a test run notices.
#[cfg(fairmux_loom)]
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    loom::future::block_on(future)
}

#[cfg(not(fairmux_loom))]
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let within = tokio::time::Duration::from_secs(20);
    let waited = runtime
        .unwrap()
        .block_on(async { tokio::time::timeout(within, future).await });
    waited.expect("a task waits and nobody wakes it")
}

pub(super) const KEY: Key = Key::new(3, 1);

pub(super) fn hub(send_room: usize) -> Hub<Bytes> {
    let limits = Limits {
        max_send_buffer: 1 << 20,
        send_room,
        recv_window: 65_535,
    };
    Hub::new(StreamId::new(1), limits)
}

/// A stream of the peer that has a slot, and the application's handles.
pub(super) fn accepted(hub: &Hub<Bytes>) -> (Cell<Bytes>, Writer<Bytes>, Reader) {
    let cell = hub.open_remote(StreamId::new(1));
    cell.adopt(KEY);
    let (writer, reader) = cell.handles();
    (cell, writer, reader)
}

/// The same, with the response's head already sent and collected.
pub(super) fn answering(hub: &Hub<Bytes>) -> (Cell<Bytes>, Writer<Bytes>, Reader) {
    let (cell, writer, reader) = accepted(hub);
    writer.send_head(response(), false).unwrap();
    take_posted(hub.shared());
    collect(&cell);
    (cell, writer, reader)
}

pub(super) fn response() -> Head {
    let (parts, ()) = http::Response::new(()).into_parts();
    Head::Response(Box::new(parts))
}

pub(super) fn request() -> Box<http::request::Parts> {
    let request = http::Request::get("http://example.com/").body(()).unwrap();
    Box::new(request.into_parts().0)
}

pub(super) fn take_posted(shared: &Shared) -> Vec<Key> {
    let mut keys = Vec::new();
    shared.take_posted(&mut keys);
    keys
}

pub(super) fn collect(cell: &Cell<Bytes>) -> (News, Outgoing<Bytes>) {
    let mut outgoing = Outgoing::default();
    let news = cell.collect(&mut outgoing);
    (news, outgoing)
}

/// The connection task, waiting for posts.
pub(super) async fn posted(shared: &Arc<Shared>) -> Vec<Key> {
    poll_fn(|cx| {
        shared.register(cx.waker());
        let keys = take_posted(shared);
        if keys.is_empty() {
            Poll::Pending
        } else {
            Poll::Ready(keys)
        }
    })
    .await
}

/// One poll whose wake-up nobody notices.
pub(super) fn poll_once<T>(poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
    poll(&mut Context::from_waker(Waker::noop()))
}

/// Counts how often it is woken.
#[derive(Default)]
pub(super) struct Woken(std::sync::atomic::AtomicUsize);

impl Woken {
    pub(super) fn count(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

pub(super) fn counting_waker() -> (Waker, std::sync::Arc<Woken>) {
    let woken = std::sync::Arc::new(Woken::default());
    (Waker::from(std::sync::Arc::clone(&woken)), woken)
}
