//! Many streams at once: the writes that their answers leave in, and how others get their turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use http::Response;

use super::super::Driver;
use super::script::Script;
use crate::handoff::{Cell, Writer};
use crate::message::Head;
use crate::proto::Config;

const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// HEADERS of a request without a body.
fn request(id: u8) -> Vec<u8> {
    [&[0, 0, 6, 1, 5, 0, 0, 0, id][..], b"\x82\x84\x87\x41\x01a"].concat()
}

/// A server that has given out so many streams, and the handles to answer them.
fn given_out(streams: u8) -> (Driver<Script, Bytes>, Vec<Writer<Bytes>>) {
    let mut cx = Context::from_waker(Waker::noop());
    let input = (0..streams).flat_map(|stream| request(2 * stream + 1));
    let io = Script::reading([[GREETING.to_vec(), input.collect()].concat()]);
    let mut driver = Driver::server(io, Config::default());
    let mut writers = Vec::new();
    while let Poll::Ready(cell) = driver.poll_accept(&mut cx) {
        let cell: Cell<Bytes> = cell.unwrap().unwrap();
        let (writer, reader) = cell.handles();
        reader.take_request().unwrap();
        writers.push(writer);
    }
    assert_eq!(writers.len(), usize::from(streams));
    driver.io.writes.clear();
    (driver, writers)
}

fn answer(writer: &Writer<Bytes>) {
    let (parts, ()) = Response::new(()).into_parts();
    writer
        .send_head(Head::Response(Box::new(parts)), true)
        .unwrap();
}

#[test]
fn the_first_answer_waits_once_for_the_others() {
    let (mut driver, writers) = given_out(5);
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    answer(&writers[0]);
    assert!(driver.poll(&mut cx).is_pending());
    assert!(driver.io.writes.is_empty(), "the others shall come along");
    assert_eq!(
        wakes.0.load(Ordering::Relaxed),
        1,
        "and nobody need wake it"
    );
    writers[1..4].iter().for_each(answer);
    assert!(driver.poll(&mut cx).is_pending());
    assert_eq!(
        driver.io.writes.len(),
        1,
        "who is late is not waited for again"
    );
    answer(&writers[4]);
    assert!(driver.poll(&mut cx).is_pending());
    assert_eq!(driver.io.writes.len(), 2);
}

#[test]
fn when_all_have_answered_nothing_waits() {
    for streams in [1, 5] {
        let (mut driver, writers) = given_out(streams);
        writers.iter().for_each(answer);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(driver.poll(&mut cx).is_pending());
        assert_eq!(driver.io.writes.len(), 1);
    }
}

/// A peer asks twice in every turn, and one stream answers: so some are always missing.
#[test]
fn answers_are_put_off_once_and_not_as_long_as_requests_come() {
    let (mut driver, mut writers) = given_out(2);
    let mut cx = Context::from_waker(Waker::noop());
    for round in 0..20 {
        answer(&writers[round]);
        let first = 4 * round as u8 + 5;
        let both = [request(first), request(first + 2)].concat();
        driver.io.input.push_back(both);
        assert!(driver.poll(&mut cx).is_pending());
        let cells = std::iter::from_fn(|| driver.give_out());
        writers.extend(cells.map(|cell| cell.handles().0));
    }
    assert_eq!(driver.io.writes.len(), 10, "{:?}", driver.io.writes);
}

/// What a peer sends without a pause is given out in parts, also to whoever accepts in a loop: in
/// between other tasks run. Sixteen turns of sixteen frames, or of one with a long header block.
#[test]
fn others_run_between_the_streams_of_a_peer_that_never_pauses() {
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    for (fields, most) in [(0, 256), (5000, 16)] {
        let mut input = GREETING.to_vec();
        for stream in 0..1000_u16 {
            let length = (6 + fields as u16).to_be_bytes();
            let id = (2 * stream + 1).to_be_bytes();
            input.extend([0, length[0], length[1], 1, 5, 0, 0, id[0], id[1]]);
            input.extend(b"\x82\x84\x87\x41\x01a");
            // accept-encoding, by its index.
            input.extend(vec![0x90; fields]);
        }
        let mut config = Config::default();
        config.limits.max_header_fields = 10_000;
        config.frames_per_turn = 16;
        let mut driver: Driver<Script, Bytes> = Driver::server(Script::reading([input]), config);
        let (mut accepted, mut longest) = (0, 0);
        while accepted < 1000 {
            let before = accepted;
            while let Poll::Ready(cell) = driver.poll_accept(&mut cx) {
                drop(cell.unwrap().unwrap());
                accepted += 1;
            }
            let is_woken = wakes.0.swap(0, Ordering::Relaxed) > 0;
            assert!(is_woken || accepted == 1000);
            longest = longest.max(accepted - before);
        }
        assert!(longest <= most, "{longest} in a row");
    }
}
