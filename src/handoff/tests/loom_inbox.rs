//! Races of the receiving half.

use std::future::poll_fn;

use bytes::Bytes;
use http::HeaderMap;

use super::{accepted, answering, block_on, collect, hub, model, spawn, take_posted};
use crate::error::{Error, Initiator};
use crate::frame::{Reason, StreamId};
use crate::proto::port::{Delivery, Port};

fn cancelled() -> Error {
    Error::reset(StreamId::new(1), Reason::CANCEL, Initiator::Remote)
}

#[test]
fn loom_reader_parks_while_data_arrives() {
    model(|| {
        let hub = hub(0);
        let (cell, _writer, reader) = accepted(&hub);
        let read = spawn(move || {
            let data = block_on(poll_fn(|cx| reader.poll_data(cx)))
                .unwrap()
                .unwrap();
            let end = block_on(poll_fn(|cx| reader.poll_data(cx)));
            assert!(end.is_none());
            data
        });
        assert_eq!(
            cell.deliver_data(Bytes::from_static(b"a"), false),
            Delivery::Kept
        );
        cell.deliver_trailers(HeaderMap::new());
        assert_eq!(read.join().unwrap(), "a");
    });
}

#[test]
fn loom_trailers_waiter_against_body_reader() {
    model(|| {
        let hub = hub(0);
        let (cell, _writer, reader) = accepted(&hub);
        let other = reader.clone();
        let trailers = spawn(move || block_on(poll_fn(|cx| other.poll_trailers(cx))).unwrap());
        assert_eq!(
            cell.deliver_data(Bytes::from_static(b"a"), true),
            Delivery::Kept
        );
        let data = super::poll_once(|cx| reader.poll_data(cx));
        assert!(data.is_ready());
        assert!(trailers.join().unwrap().is_none());
    });
}

#[test]
fn loom_response_waiter_against_reset() {
    model(|| {
        let hub = hub(0);
        let (writer, reader) = hub.open_request(super::request(), true).unwrap();
        let mut births = std::collections::VecDeque::new();
        hub.take_births(&mut births);
        let wait = spawn(move || block_on(poll_fn(|cx| reader.poll_response(cx))).is_err());
        births[0].port.fail(cancelled());
        assert!(wait.join().unwrap());
        drop(writer);
    });
}

/// Rule 7: whoever counts it, it is counted once.
fn released_once(end: impl Fn(&super::Cell<Bytes>) -> usize + Send + Sync + Copy + 'static) {
    model(move || {
        let hub = hub(0);
        let (cell, writer, reader) = answering(&hub);
        let _ = cell.deliver_data(Bytes::from_static(b"abcde"), true);
        assert!(super::poll_once(|cx| reader.poll_data(cx)).is_ready());
        let release = spawn(move || {
            reader.release(2).unwrap();
            drop(reader);
        });
        let mut credit = collect(&cell).0.released;
        credit += end(&cell);
        release.join().unwrap();
        credit += hub.shared().take_credit();
        assert_eq!(credit, 5);
        drop(writer);
        take_posted(hub.shared());
    });
}

#[test]
fn loom_release_against_slot_going() {
    released_once(|cell| cell.retire());
}

#[test]
fn loom_release_against_reset() {
    released_once(|cell| cell.fail(cancelled()));
}

#[test]
fn loom_stop_reading_against_delivery() {
    model(|| {
        let hub = hub(0);
        let (cell, writer, reader) = answering(&hub);
        let stop = spawn(move || {
            reader.stop_reading();
            reader
        });
        let mut credit = match cell.deliver_data(Bytes::from_static(b"abc"), false) {
            Delivery::Kept => 0,
            Delivery::Unwanted => 3,
        };
        let reader = stop.join().unwrap();
        credit += collect(&cell).0.released;
        assert_eq!(credit, 3, "credit of dropped data returns once");
        drop((reader, writer));
    });
}
