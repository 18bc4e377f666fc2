//! Races of posting, opening and closing.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;

use bytes::Bytes;

use super::{KEY, accepted, answering, block_on, collect, hub, model, posted, request, spawn};
use super::{response, take_posted};
use crate::error::{Error, Initiator};
use crate::frame::Reason;
use crate::proto::port::{Interest, Outgoing, Port, Ports};
use crate::proto::streams::Key;

fn closed() -> Error {
    Error::go_away(Bytes::new(), Reason::NO_ERROR, Initiator::Remote)
}

#[test]
fn loom_post_against_drain() {
    model(|| {
        let hub = hub(0);
        let (cell, writer, _reader) = accepted(&hub);
        let shared = hub.shared().clone();
        let handle = spawn(move || {
            writer.send_head(response(), false).unwrap();
            writer.send_data(Bytes::from_static(b"a"), true).unwrap();
            writer
        });
        let mut bytes = 0;
        let mut ended = false;
        while !ended {
            for key in block_on(posted(&shared)) {
                assert_eq!(key, KEY);
                let (news, outgoing) = collect(&cell);
                bytes += news.queued;
                ended |= outgoing.end;
            }
        }
        assert_eq!(bytes, 1);
        drop(handle.join().unwrap());
    });
}

#[test]
fn loom_two_halves_post_one_key() {
    model(|| {
        let hub = hub(0);
        let (cell, writer, reader) = answering(&hub);
        let _ = cell.deliver_data(Bytes::from_static(b"abc"), false);
        assert!(matches!(
            super::poll_once(|cx| reader.poll_data(cx)),
            Poll::Ready(Some(Ok(_)))
        ));
        let release = spawn(move || reader.release(3).map(|()| reader).unwrap());
        writer.send_data(Bytes::from_static(b"a"), false).unwrap();
        let reader = release.join().unwrap();
        let keys = take_posted(hub.shared());
        assert_eq!(keys, [KEY], "posted once until collected");
        let (news, _) = collect(&cell);
        assert_eq!((news.queued, news.released), (1, 3));
        drop(reader);
    });
}

#[test]
fn loom_last_handle_dropped_against_end_of_turn() {
    model(|| {
        let hub = hub(0);
        let (cell, writer, reader) = accepted(&hub);
        let shared = hub.shared().clone();
        let first = spawn(move || drop(writer));
        let second = spawn(move || drop(reader));
        let mut abandoned = false;
        while !abandoned {
            block_on(posted(&shared));
            abandoned = collect(&cell).0.interest == Interest::Abandoned;
        }
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// An answer is whole if its last handle goes behind its end, whenever the task looks.
#[test]
fn loom_end_and_last_handle_dropped_against_collection() {
    model(|| {
        let hub = hub(0);
        let (cell, writer, reader) = answering(&hub);
        let shared = hub.shared().clone();
        drop(reader);
        let producer = spawn(move || writer.send_data(Bytes::from_static(b"a"), true).unwrap());
        let mut outgoing = Outgoing::default();
        let mut abandoned = false;
        while !abandoned {
            block_on(posted(&shared));
            abandoned = cell.collect(&mut outgoing).interest == Interest::Abandoned;
        }
        assert!(outgoing.end, "the last handle sent the end before it went");
        producer.join().unwrap();
    });
}

#[test]
fn loom_post_of_dead_handle_against_reuse_of_its_slot() {
    model(|| {
        let hub = hub(0);
        let (cell, writer, reader) = answering(&hub);
        let late = spawn(move || {
            let _ = writer.send_data(Bytes::from_static(b"a"), false);
            (writer, reader)
        });
        cell.fail(closed());
        let next = hub.open_remote(crate::frame::StreamId::new(3));
        next.adopt(Key::new(3, 2));
        let late = late.join().unwrap();
        for key in take_posted(hub.shared()) {
            assert_eq!(
                key, KEY,
                "a dead handle posts under its own generation only"
            );
        }
        drop(late);
        let after: Vec<Key> = take_posted(hub.shared());
        assert!(after.is_empty(), "a cell that is gone never posts");
        drop(next);
    });
}

#[test]
fn loom_adopt_against_news_of_new_cell() {
    model(|| {
        let hub = hub(0);
        let (writer, reader) = hub.open_request(request(), false).unwrap();
        let shared = hub.shared().clone();
        let producer = spawn(move || {
            writer.send_data(Bytes::from_static(b"a"), true).unwrap();
            writer
        });
        let mut births = VecDeque::new();
        hub.take_births(&mut births);
        let birth = births.pop_front().unwrap();
        birth.port.adopt(KEY);
        let (_, mut outgoing) = collect(&birth.port);
        while !outgoing.end {
            block_on(posted(&shared));
            birth.port.collect(&mut outgoing);
        }
        assert_eq!(outgoing.data.drain().len(), 1);
        drop((producer.join().unwrap(), reader));
    });
}

#[test]
fn loom_open_against_close() {
    model(|| {
        let hub = hub(0);
        let opener = hub.clone();
        let open = spawn(move || opener.open_request(request(), true));
        hub.end(closed());
        match open.join().unwrap() {
            Err(error) => assert!(error.is_go_away()),
            Ok((_writer, reader)) => {
                let response = block_on(poll_fn(|cx| reader.poll_response(cx)));
                assert!(response.unwrap_err().is_go_away());
            }
        }
        let mut births = VecDeque::new();
        hub.take_births(&mut births);
        assert!(births.is_empty());
    });
}

#[test]
fn loom_ids_of_two_openers_are_in_queue_order() {
    model(|| {
        let hub = hub(0);
        let other = hub.clone();
        let open = spawn(move || other.open_request(request(), true).unwrap().0.id());
        let mine = hub.open_request(request(), true).unwrap().0.id();
        let theirs = open.join().unwrap();
        assert_ne!(mine, theirs);
        let mut births = VecDeque::new();
        hub.take_births(&mut births);
        let ids: Vec<u32> = births.iter().map(|birth| birth.id.as_u32()).collect();
        assert_eq!(ids, [1, 3]);
    });
}

#[test]
fn loom_ping_answer_against_close() {
    model(|| {
        let hub = hub(0);
        hub.shared().send_ping([0; 8]).unwrap();
        assert_eq!(hub.shared().take_ping(), Some([0; 8]));
        let shared = hub.shared().clone();
        let waiter = spawn(move || block_on(poll_fn(|cx| shared.poll_pong(cx))).is_ok());
        let task = hub.clone();
        let closer = spawn(move || task.end(closed()));
        hub.shared().pong();
        waiter.join().unwrap();
        closer.join().unwrap();
        assert!(hub.shared().send_ping([1; 8]).is_err());
    });
}

#[test]
fn loom_last_requester_against_task_parking() {
    model(|| {
        let hub = hub(0);
        hub.shared().add_requester();
        let shared = hub.shared().clone();
        let dropper = spawn(move || shared.drop_requester());
        block_on(poll_fn(|cx| {
            hub.shared().register(cx.waker());
            if hub.take_births(&mut VecDeque::new()) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        }));
        dropper.join().unwrap();
    });
}

/// The connection ends when nobody can ask any more, but not before it has seen what was asked.
#[test]
fn loom_last_request_against_end_for_lack_of_requests() {
    model(|| {
        let hub = hub(0);
        hub.shared().add_requester();
        let last = hub.clone();
        let asking = spawn(move || {
            let handles = last.open_request(request(), true).unwrap();
            last.shared().drop_requester();
            handles
        });
        let mut births = VecDeque::new();
        if !hub.take_births(&mut births) {
            assert_eq!(births.len(), 1, "it was asked before nobody was left");
        }
        drop(asking.join().unwrap());
    });
}
