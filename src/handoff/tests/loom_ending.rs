//! Races of a whole connection, without its I/O: what the task does when streams or all of it end.

use std::collections::VecDeque;
use std::future::poll_fn;

use bytes::Bytes;

use super::{Hub, Reader, Writer, block_on, hub, model, request, spawn, take_posted};
use crate::error::{Error, Initiator};
use crate::frame::Reason;
use crate::handoff::PollReset;
use crate::proto::{Batch, Config, Connection, Role};

/// More than the window that a stream has at first.
const LONG: usize = 70_000;

/// The task of a connection, which reads nothing.
struct Task {
    hub: Hub<Bytes>,
    connection: Connection<Hub<Bytes>>,
    batch: Batch<Bytes>,
}

impl Task {
    fn new(hub: &Hub<Bytes>) -> Task {
        let config = Config::default();
        Task {
            hub: hub.clone(),
            batch: Batch::new(config.batch_size),
            connection: Connection::new(Role::Client, config, hub.clone()),
        }
    }

    /// Takes what the handles have left.
    fn collect(&mut self) {
        let mut births = VecDeque::new();
        self.hub.take_births(&mut births);
        for birth in births {
            self.connection.user_open(birth);
        }
        for key in take_posted(self.hub.shared()) {
            self.connection.user_news(key);
        }
    }

    /// The batch leaves: what is left of payloads comes back.
    fn write(&mut self) {
        self.connection.fill(&mut self.batch);
        self.batch.advance(self.batch.remaining());
        self.connection.batch_written(&mut self.batch);
    }

    /// As the driver does it when it is dropped.
    fn close(&mut self) {
        self.connection.fail(closed());
        self.hub.end(closed());
    }
}

fn closed() -> Error {
    Error::go_away(Bytes::new(), Reason::NO_ERROR, Initiator::Remote)
}

fn body(bytes: usize) -> Bytes {
    Bytes::from(vec![0; bytes])
}

#[test]
fn loom_payload_coming_back_against_reset() {
    model(|| {
        let hub = hub(1 << 20);
        let mut task = Task::new(&hub);
        let (writer, reader) = hub.open_request(request(), false).unwrap();
        writer.send_data(body(LONG), false).unwrap();
        task.collect();
        let resetting = spawn(move || {
            writer.send_reset(Reason::CANCEL);
            writer
        });
        task.write();
        let writer = resetting.join().unwrap();
        task.collect();
        task.write();
        assert_eq!(task.connection.stats().resets_sent, 1);
        assert!(!task.connection.has_streams());
        assert_eq!(hub.shared().room_used(), 0, "what came back is void");
        drop((writer, reader));
    });
}

/// Something that a handle waits for, while the connection closes. It must end, and not well.
fn closing(wait: impl Fn(&Hub<Bytes>, &Writer<Bytes>, &Reader) + Send + Sync + Copy + 'static) {
    model(move || {
        let hub = hub(0);
        let mut task = Task::new(&hub);
        let (writer, reader) = hub.open_request(request(), false).unwrap();
        writer.send_data(body(LONG), false).unwrap();
        task.collect();
        task.write();
        let theirs = hub.clone();
        let waiting = spawn(move || {
            wait(&theirs, &writer, &reader);
            (writer, reader)
        });
        task.collect();
        task.close();
        let handles = waiting.join().unwrap();
        assert!(!task.connection.has_streams());
        assert_eq!(hub.shared().room_used(), 0);
        let mut births = VecDeque::new();
        hub.take_births(&mut births);
        assert!(births.is_empty());
        assert!(hub.open_request(request(), true).is_err());
        drop(handles);
    });
}

#[test]
fn loom_close_against_everything() {
    closing(|_, writer, _| {
        writer.reserve(LONG);
        let capacity = block_on(poll_fn(|cx| writer.poll_capacity(cx)));
        assert!(matches!(capacity, Some(Err(_))));
    });
    closing(|_, writer, _| {
        let mut value = Some(body(LONG));
        assert!(block_on(poll_fn(|cx| writer.poll_send(cx, &mut value))).is_err());
    });
    closing(|_, writer, _| {
        let reset = poll_fn(|cx| writer.poll_reset(cx, PollReset::Streaming));
        assert_eq!(block_on(reset).ok(), Some(Reason::NO_ERROR));
    });
    closing(|_, _, reader| {
        assert!(block_on(poll_fn(|cx| reader.poll_response(cx))).is_err());
    });
    closing(|_, _, reader| {
        let data = block_on(poll_fn(|cx| reader.poll_data(cx)));
        assert!(matches!(data, Some(Err(_))));
    });
    closing(|hub, _, _| {
        let asked = hub.shared().send_ping([0; 8]);
        let waited = asked.and_then(|()| block_on(poll_fn(|cx| hub.shared().poll_pong(cx))));
        assert!(waited.is_err());
    });
    closing(|hub, _, _| {
        if let Ok((_writer, reader)) = hub.open_request(request(), true) {
            assert!(block_on(poll_fn(|cx| reader.poll_response(cx))).is_err());
        }
    });
}
