//! What a connection says of the turns after which it sleeps.

use std::task::{Context, Waker};

use bytes::Bytes;

use super::super::{Driver, Halt, Turn};
use super::script::{Script, Take};
use crate::handoff::{Reader, Writer};
use crate::proto::Config;

type Client = Driver<Script, Bytes>;

/// A client that has sent the head of a request and sleeps.
fn asking(cx: &mut Context<'_>) -> (Client, Writer<Bytes>, Reader) {
    let mut io = Script::new(true, Take::All);
    io.input = [b"\0\0\0\x04\0\0\0\0\0".to_vec()].into();
    let mut driver = Client::client(io, Config::default());
    driver.hub().shared().add_requester();
    let request = http::Request::post("https://host/").body(()).unwrap();
    let (parts, ()) = request.into_parts();
    let (writer, reader) = driver.hub().open_request(Box::new(parts), false).unwrap();
    assert!(driver.poll(cx).is_pending());
    assert_eq!(driver.stats().stalled_turns, 0);
    (driver, writer, reader)
}

/// The end of a turn that has taken what the handles have, and in which the write side ended so.
fn end_turn_without_writing(driver: &mut Client, cx: &mut Context<'_>, wrote: Halt) {
    driver.collect();
    driver.connection.end_turn();
    let turn = driver.conclude(cx, Halt::Blocked, wrote, None);
    assert!(matches!(turn, Turn::Wait));
}

#[test]
fn a_turn_that_leaves_work_and_sleeps_is_counted() {
    let mut cx = Context::from_waker(Waker::noop());
    let (mut driver, writer, _reader) = asking(&mut cx);
    writer.send_data(Bytes::from_static(b"abc"), false).unwrap();
    end_turn_without_writing(&mut driver, &mut cx, Halt::Idle);
    assert_eq!(driver.stats().stalled_turns, 1);
    // What was left is written by a turn that does all its work.
    assert!(driver.poll(&mut cx).is_pending());
    assert!(driver.io.written.ends_with(b"abc"));
    assert_eq!(driver.stats().stalled_turns, 1);
}

#[test]
fn whoever_waits_for_the_peer_may_sleep() {
    let mut cx = Context::from_waker(Waker::noop());
    let (mut driver, writer, _reader) = asking(&mut cx);
    // The I/O type takes nothing.
    writer.send_data(Bytes::from_static(b"abc"), false).unwrap();
    end_turn_without_writing(&mut driver, &mut cx, Halt::Blocked);
    // The windows are used up.
    writer.send_data(vec![0; 100_000].into(), false).unwrap();
    assert!(driver.poll(&mut cx).is_pending());
    end_turn_without_writing(&mut driver, &mut cx, Halt::Idle);
    assert_eq!(driver.stats().data_sent, 65_535);
    // There is nothing to send.
    writer.send_reset(crate::frame::Reason::CANCEL);
    assert!(driver.poll(&mut cx).is_pending());
    end_turn_without_writing(&mut driver, &mut cx, Halt::Idle);
    assert_eq!(driver.stats().stalled_turns, 0);
}
