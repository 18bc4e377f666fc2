//! One small request through the hand-over: what a stream costs between its handles and the task of
//! its connection, apart from frames, header compression and scheduling. The layers up to the
//! hand-over are compiled into this bench: they name nothing above them, so that needs no door in
//! the crate.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    unnameable_types,
    unfulfilled_lint_expectations,
    reason = "layers of the crate, of which a bench uses a part"
)]

#[path = "../src/error/mod.rs"]
mod error;
#[path = "../src/ext.rs"]
mod ext;
#[path = "../src/frame/mod.rs"]
mod frame;
#[path = "../src/handoff/mod.rs"]
mod handoff;
#[path = "../src/hpack/mod.rs"]
mod hpack;
#[path = "../src/message/mod.rs"]
mod message;
#[path = "../src/proto/mod.rs"]
mod proto;
mod support;
#[path = "../src/sync.rs"]
mod sync;

use std::task::Waker;

use bytes::Bytes;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use http::{Request, Response};

use frame::StreamId;
use handoff::{Cell, Hub, Limits};
use message::Head;
use proto::port::{Outgoing, Port as _, Ports as _};
use proto::streams::Key;

/// Requests of one turn.
const REQUESTS: usize = 64;

fn main() {
    if support::is_bench() {
        divan::main();
    }
}

fn hub() -> Hub<Bytes> {
    Hub::new(
        StreamId::new(1),
        Limits {
            max_send_buffer: 400 * 1024,
            send_room: 128 * 1024,
            recv_window: 65_535,
        },
    )
}

fn request() -> Box<http::request::Parts> {
    let request = Request::get("http://localhost/bytes/13");
    let request = request.body(()).expect("it is a request");
    Box::new(request.into_parts().0)
}

fn response() -> Head {
    let (parts, ()) = Response::new(()).into_parts();
    Head::Response(Box::new(parts))
}

/// A server's: the request arrives, is taken, answered with a head and 13 bytes, collected and over.
#[divan::bench]
fn server(bencher: Bencher) {
    let hub = hub();
    hub.shared().register(Waker::noop());
    let mut posted = Vec::new();
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(|| [(); REQUESTS].map(|()| request()))
        .bench_local_values(|requests| {
            let cells = requests.map(|request| ask(&hub, request));
            for cell in &cells {
                answer(cell);
            }
            hub.shared().take_posted(&mut posted);
            assert_eq!(posted.len(), REQUESTS, "each was posted once");
            posted.clear();
            for cell in &cells {
                finish(cell);
            }
        });
}

/// The task's: a request has come.
fn ask(hub: &Hub<Bytes>, request: Box<http::request::Parts>) -> Cell<Bytes> {
    let cell = hub.open_remote(StreamId::new(1));
    cell.adopt(Key::new(3, 1));
    cell.deliver_head(Head::Request(request), true);
    cell
}

/// The application's.
fn answer(cell: &Cell<Bytes>) {
    let (writer, reader) = cell.handles();
    black_box(reader.take_request());
    let sent = writer
        .send_head(response(), false)
        .and_then(|()| writer.send_data(Bytes::from_static(b"Hello, world!"), true));
    assert!(sent.is_ok(), "the stream is open");
}

/// The task's: what was sent leaves, and the stream is over.
fn finish(cell: &Cell<Bytes>) {
    let mut outgoing = Outgoing::default();
    black_box(cell.collect(&mut outgoing));
    assert!(outgoing.end, "head, body and end were collected together");
    cell.took(13);
    black_box((cell.retire(), outgoing));
}

/// A client's: the request is opened, collected, answered and read.
#[divan::bench]
fn client(bencher: Bencher) {
    let mut births = std::collections::VecDeque::new();
    bencher
        .counter(ItemsCount::new(REQUESTS))
        .with_inputs(|| (hub(), [(); REQUESTS].map(|()| request())))
        .bench_local_values(|(hub, requests)| {
            let handles =
                requests.map(|request| hub.open_request(request, true).expect("ids are left"));
            hub.take_births(&mut births);
            for birth in births.drain(..) {
                let mut outgoing = Outgoing::default();
                birth.port.adopt(Key::new(3, 1));
                black_box(birth.port.collect(&mut outgoing));
                birth.port.opened();
                birth.port.deliver_head(response(), false);
                let _ = birth
                    .port
                    .deliver_data(Bytes::from_static(b"Hello, world!"), true);
                birth.port.retire();
            }
            let cx = std::task::Context::from_waker(Waker::noop());
            for (_, reader) in handles {
                assert!(reader.poll_response(&cx).is_ready());
                assert!(reader.poll_data(&cx).is_ready());
                assert!(reader.release(13).is_ok());
            }
        });
}
