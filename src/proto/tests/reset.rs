//! RST_STREAM in both directions, and handles that are dropped.

use super::pair::Pair;
use super::script::{Script, client, data_of, server};
use crate::frame::{Frame, Reason};
use crate::proto::{Config, Role};

//= test RFC 9113 §5.1
#[test]
fn what_was_on_its_way_when_we_reset_is_dropped_quietly() {
    let mut script = server();
    let hand = script.post(1);
    hand.reset(Reason::CANCEL);
    script.data(1, &b"before RST_STREAM is written"[..], false);
    script.expect_reset(1, Reason::CANCEL);
    script.data(1, &b"after"[..], false);
    script.head(1, &super::pair::request("GET", "/"), true);
    script.window(1, 10);
    script.rst(1, Reason::CANCEL);
    script.expect_nothing();
    script.get(3);
    assert_eq!(script.accepted.len(), 2, "compression is still in step");
}

//= test RFC 9113 §5.1
#[test]
fn frames_after_the_peers_reset_are_a_stream_error() {
    let mut script = server();
    script.post(1);
    script.rst(1, Reason::CANCEL);
    script.expect_nothing();
    script.data(1, &b"x"[..], false);
    script.expect_reset(1, Reason::STREAM_CLOSED);
}

//= test RFC 9113 §8.1
#[test]
fn a_complete_response_survives_a_reset_without_error() {
    let mut script = client();
    let hand = script.end.post("/");
    hand.send(vec![0; 100_000], false);
    script.sent();
    script.response(1, false);
    script.data(1, &b"enough"[..], true);
    script.rst(1, Reason::NO_ERROR);
    assert!(hand.error().is_none());
    assert!(hand.is_complete());
    assert_eq!(hand.body(), b"enough");
    assert_eq!(hand.state.borrow().stopped, Some(Reason::NO_ERROR));
    assert!(!script.conn.has_streams());
    assert_eq!(script.shared.room_used.get(), 0);
}

#[test]
fn a_reset_in_the_middle_of_a_body_is_an_error() {
    let mut script = client();
    let hand = script.end.get("/");
    script.sent();
    script.response(1, false);
    script.data(1, &b"half"[..], false);
    script.rst(1, Reason::CANCEL);
    assert_eq!(hand.reason(), Some(Reason::CANCEL));
    assert!(!hand.is_complete());
    assert_eq!(hand.body(), b"half");
}

//= test RFC 9113 §8.1
#[test]
fn a_server_that_has_answered_stops_the_request_without_error() {
    let mut script = server();
    let hand = script.post(1);
    hand.respond(200, true);
    hand.abandon();
    script.expect_reset(1, Reason::NO_ERROR);
    let hand = script.post(3);
    hand.respond(200, false);
    hand.abandon();
    script.expect_reset(3, Reason::CANCEL);
}

#[test]
fn what_was_queued_in_full_goes_out_though_nobody_is_left() {
    let mut pair = Pair::new(Config::default(), Config::default());
    let hand = pair.client.get("/");
    pair.drive();
    let far = pair.at_server(&hand);
    far.respond(200, false);
    far.send(vec![1; 200_000], true);
    far.abandon();
    pair.drive();
    assert_eq!(hand.body().len(), 65_535);
    hand.release(200_000);
    pair.drive();
    hand.release(200_000);
    pair.drive();
    hand.release(200_000);
    pair.drive();
    hand.release(200_000);
    pair.drive();
    assert!(hand.is_complete());
    assert_eq!(hand.body().len(), 200_000);
}

#[test]
fn a_client_that_drops_its_request_cancels_it() {
    let mut script = client();
    let hand = script.end.get("/");
    script.sent();
    hand.abandon();
    script.expect_reset(1, Reason::CANCEL);
}

#[test]
fn a_reset_stops_data_that_is_queued_but_never_cuts_a_frame() {
    let mut script = client();
    let hand = script.end.post("/");
    hand.send(vec![1; 50_000], true);
    script.collect();
    let mut batch = std::mem::replace(&mut script.end.batch, crate::proto::Batch::new(20_000));
    script.conn.fill(&mut batch);
    batch.advance(5_000);
    script.rst(1, Reason::CANCEL);
    assert!(!script.conn.has_streams());
    let mut rest = bytes::BytesMut::new();
    batch.join_into(&mut rest);
    assert!(
        batch.remaining() > 5_000,
        "the frame is still to be finished"
    );
    batch.advance(rest.len());
    script.conn.batch_written(&mut batch);
    script.expect_nothing();
}

//= test RFC 9113 §5.4.2
#[test]
fn a_reset_is_never_answered_by_a_reset() {
    let mut script = server();
    script.post(1);
    script.rst(1, Reason::CANCEL);
    script.rst(1, Reason::CANCEL);
    script.expect_nothing();
}

#[test]
fn a_request_that_is_reset_before_it_is_accepted_is_never_seen() {
    let mut script = server();
    let fragment = script.fragment(&super::pair::request("GET", "/"));
    let now = script.now;
    let frame = crate::frame::Headers {
        stream_id: super::script::id(1),
        fragment,
        end_headers: true,
        end_stream: true,
        priority: None,
    };
    script.conn.recv(Ok(Frame::Headers(frame)), now);
    script.rst(1, Reason::CANCEL);
    script.collect();
    assert!(script.accepted.is_empty());
}

#[test]
fn streams_that_the_application_still_holds_count() {
    let config = Config {
        max_concurrent_streams: Some(4),
        ..Config::default()
    };
    let mut script = Script::new(Role::Server, config);
    script.shared.held.set(11);
    script.get(1);
    assert_eq!(script.accepted.len(), 1);
    script.shared.held.set(12);
    script.get(3);
    script.expect_reset(3, Reason::REFUSED_STREAM);
    assert!(data_of(&script.sent()).is_empty());
}
