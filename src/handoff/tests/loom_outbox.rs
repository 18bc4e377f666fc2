//! Races of the sending half.

use std::future::poll_fn;

use bytes::Bytes;

use super::{answering, block_on, collect, hub, model, poll_once, request, spawn};
use crate::error::{Error, Initiator};
use crate::frame::{Reason, StreamId};
use crate::handoff::PollReset;
use crate::handoff::room::FLOOR;
use crate::proto::port::{Interest, Port};

fn cancelled() -> Error {
    Error::reset(StreamId::new(1), Reason::CANCEL, Initiator::Remote)
}

fn body(bytes: usize) -> Bytes {
    Bytes::from(vec![0; bytes])
}

/// A producer that waits for capacity after it has used its floor.
fn full() -> (
    super::Hub<Bytes>,
    super::Cell<Bytes>,
    super::Writer<Bytes>,
    super::Reader,
) {
    let hub = hub(0);
    let (cell, writer, reader) = answering(&hub);
    writer.send_data(body(FLOOR), false).unwrap();
    super::take_posted(hub.shared());
    collect(&cell);
    writer.reserve(1);
    (hub, cell, writer, reader)
}

#[test]
fn loom_capacity_waiter_against_drain() {
    model(|| {
        let (hub, cell, writer, reader) = full();
        let wait = spawn(move || {
            let capacity = block_on(poll_fn(|cx| writer.poll_capacity(cx)));
            assert_eq!(capacity.unwrap().unwrap(), 1);
            writer
        });
        cell.took(FLOOR);
        drop((wait.join().unwrap(), reader, hub));
    });
}

/// A producer that knows of some capacity waits for all of it, while others leave room.
#[test]
fn loom_waiter_for_more_against_room_coming_back() {
    model(|| {
        let hub = hub(4000);
        hub.shared().room().charge(3000);
        let (cell, writer, reader) = answering(&hub);
        writer.reserve(FLOOR + 2500);
        assert!(poll_once(|cx| writer.poll_capacity(cx)).is_ready());
        let wait = spawn(move || {
            let capacity = block_on(poll_fn(|cx| writer.poll_capacity(cx)));
            assert_eq!(capacity.unwrap().unwrap(), FLOOR + 2500);
            writer
        });
        hub.shared().room().give_back(3000);
        cell.look_for_more();
        drop((wait.join().unwrap(), reader));
    });
}

#[test]
fn loom_capacity_waiter_against_reset() {
    model(|| {
        let (hub, cell, writer, reader) = full();
        let wait = spawn(move || {
            let capacity = block_on(poll_fn(|cx| writer.poll_capacity(cx)));
            assert!(!matches!(capacity, Some(Ok(0))), "never Ready(0)");
            writer
        });
        cell.fail(cancelled());
        drop((wait.join().unwrap(), reader, hub));
    });
}

#[test]
fn loom_capacity_waiter_against_window() {
    model(|| {
        let hub = hub(0);
        hub.shared().set_initial_window(0);
        let (cell, writer, reader) = answering(&hub);
        writer.reserve(10);
        let wait = spawn(move || {
            let capacity = block_on(poll_fn(|cx| writer.poll_capacity(cx)));
            assert_eq!(capacity.unwrap().unwrap(), 3);
            writer
        });
        cell.set_credit(3);
        drop((wait.join().unwrap(), reader));
    });
}

#[test]
fn loom_grant_against_drop() {
    model(|| {
        let (hub, cell, writer, reader) = full();
        assert!(poll_once(|cx| writer.poll_capacity(cx)).is_pending());
        let dropper = spawn(move || drop(writer));
        cell.grant(FLOOR);
        dropper.join().unwrap();
        cell.fail(cancelled());
        assert_eq!(hub.shared().room_used(), 0);
        drop(reader);
    });
}

#[test]
fn loom_reset_waiter_against_reset() {
    model(|| {
        let hub = hub(0);
        let (cell, writer, reader) = answering(&hub);
        let wait = spawn(move || {
            let reason = block_on(poll_fn(|cx| writer.poll_reset(cx, PollReset::Streaming)));
            assert_eq!(reason.unwrap(), Reason::CANCEL);
            writer
        });
        cell.fail(cancelled());
        drop((wait.join().unwrap(), reader));
    });
}

#[test]
fn loom_opening_waiter_against_slot() {
    model(|| {
        let hub = hub(0);
        let (writer, reader) = hub.open_request(request(), true).unwrap();
        let mut births = std::collections::VecDeque::new();
        hub.take_births(&mut births);
        let wait = spawn(move || {
            block_on(poll_fn(|cx| writer.unopened().poll_opened(cx))).unwrap();
            writer
        });
        births[0].port.opened();
        drop((wait.join().unwrap(), reader));
    });
}

/// A `send` of more than the floor, waiting in a thread of its own, and what the task does meanwhile.
fn waiting_send(room: usize, task: impl Fn(&super::Hub<Bytes>, &super::Cell<Bytes>) -> bool) {
    let hub = hub(room);
    let (cell, writer, reader) = answering(&hub);
    let wait = spawn(move || {
        let mut data = Some(body(FLOOR + 5));
        let sent = block_on(poll_fn(|cx| writer.poll_send(cx, &mut data)));
        (sent.is_ok(), writer)
    });
    let expected = task(&hub, &cell);
    let (is_sent, writer) = wait.join().unwrap();
    assert_eq!(is_sent, expected);
    drop((writer, reader));
}

#[test]
fn loom_send_waiter_against_drain() {
    model(|| {
        waiting_send(0, |hub, cell| {
            let mut queued = 0;
            while queued == 0 {
                block_on(super::posted(hub.shared()));
                queued += collect(cell).0.queued;
            }
            cell.took(5);
            true
        });
    });
}

#[test]
fn loom_send_waiter_against_grant() {
    model(|| {
        waiting_send(5, |hub, cell| {
            let mut interest = Interest::None;
            while interest != Interest::Room {
                block_on(super::posted(hub.shared()));
                interest = collect(cell).0.interest;
            }
            cell.grant(5);
            true
        });
    });
}

#[test]
fn loom_send_waiter_against_reset() {
    model(|| {
        waiting_send(0, |hub, cell| {
            cell.fail(cancelled());
            assert_eq!(hub.shared().room_used(), 0);
            false
        });
    });
}

#[test]
fn loom_send_against_reset_leaves_no_room_used() {
    model(|| {
        let hub = hub(1 << 20);
        let (cell, writer, reader) = answering(&hub);
        let sender = spawn(move || {
            let _ = writer.send_data(body(FLOOR + 5), false);
            writer
        });
        cell.fail(cancelled());
        let writer = sender.join().unwrap();
        assert_eq!(hub.shared().room_used(), 0);
        drop((writer, reader));
    });
}
