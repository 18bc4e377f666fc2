//! The life of a stream: requests and answers, states, frames where they are not allowed.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

use super::pair::{Pair, request};
use super::script::{client, data_of, id, server};
use crate::error::Violation;
use crate::frame::{Continuation, Frame, Headers, Reason, Setting, Settings};
use crate::message::Head;
use crate::proto::Config;

fn pair() -> Pair {
    Pair::new(Config::default(), Config::default())
}

#[test]
fn a_request_and_its_answer_pass_and_leave_nothing_behind() {
    let mut pair = pair();
    let hand = pair.client.post("/upload");
    hand.send(vec![7; 100_000], true);
    pair.drive();
    let far = pair.at_server(&hand);
    assert!(!far.is_complete(), "the window is 65,535");
    far.release(100_000);
    pair.drive();
    assert_eq!(far.body(), vec![7; 100_000]);
    assert!(far.is_complete());
    far.respond(200, false);
    far.send(&b"thanks"[..], false);
    let mut trailers = HeaderMap::new();
    trailers.insert("checksum", HeaderValue::from_static("1"));
    far.send_trailers(trailers.clone());
    pair.drive();
    assert_eq!(hand.body(), b"thanks");
    assert_eq!(hand.state.borrow().trailers, Some(trailers));
    assert!(!pair.client.conn.has_streams() && !pair.server.conn.has_streams());
}

#[test]
fn a_head_without_content_ends_its_stream_in_one_frame() {
    let mut pair = pair();
    let hand = pair.client.get("/");
    let frames = super::pair::frames(pair.client.output());
    let [Frame::Headers(frame)] = &frames[..] else {
        panic!("{frames:?}")
    };
    assert!(frame.end_stream);
    assert!(hand.state.borrow().opened);
}

#[test]
fn the_last_byte_of_data_carries_the_end() {
    let mut script = server();
    script.get(1);
    let hand = script.accepted[0].clone();
    hand.respond(200, false);
    hand.send(&b"a"[..], false);
    hand.send(&b"b"[..], true);
    let sent = script.sent();
    assert_eq!(data_of(&sent), [(1, 2)], "small pieces share a frame");
    assert!(matches!(sent.last(), Some(Frame::Data(data)) if data.end_stream));
    assert!(!script.conn.has_streams());
}

#[test]
fn informational_responses_come_before_the_final_one() {
    let mut pair = pair();
    let hand = pair.client.get("/");
    pair.drive();
    let far = pair.at_server(&hand);
    let (parts, ()) = http::Response::builder()
        .status(103)
        .body(())
        .unwrap()
        .into_parts();
    far.send_head(Head::Informational(Box::new(parts)), false);
    far.respond(204, true);
    pair.drive();
    let heads = &hand.state.borrow().heads;
    assert!(matches!(
        &heads[..],
        [Head::Informational(_), Head::Response(_)]
    ));
    assert!(hand.is_complete());
}

//= test RFC 9113 §3.4
#[test]
fn the_first_frame_is_settings() {
    let mut end = super::pair::End::new(crate::proto::Role::Server, Config::default());
    end.recv(Frame::Settings(Settings::ack()));
    let sent = end.sent();
    assert!(
        matches!(&sent[..], [Frame::Settings(_), Frame::GoAway(_)]),
        "{sent:?}"
    );
}

//= test RFC 9113 §5.1
#[test]
fn frames_on_idle_streams_cost_the_connection() {
    let frames: [fn(&mut super::script::Script); 3] = [
        |script| script.data(1, &b"x"[..], false),
        |script| script.rst(1, Reason::CANCEL),
        |script| script.window(1, 1),
    ];
    for frame in frames {
        let mut script = server();
        frame(&mut script);
        script.expect_go_away(Reason::PROTOCOL_ERROR);
    }
}

//= test RFC 9113 §5.1
#[test]
fn after_the_end_of_a_request_more_of_it_is_a_stream_error() {
    let mut script = server();
    script.get(1);
    script.data(1, &b"x"[..], false);
    script.expect_reset(1, Reason::STREAM_CLOSED);
    let mut script = server();
    script.get(1);
    script.get(1);
    script.expect_reset(1, Reason::STREAM_CLOSED);
    assert_eq!(script.accepted[0].reason(), Some(Reason::STREAM_CLOSED));
}

//= test RFC 9113 §5.1
#[test]
fn a_closed_stream_answers_stream_closed() {
    let mut script = server();
    script.get(1);
    script.accepted[0].respond(200, true);
    script.sent();
    script.window(1, 5);
    script.rst(1, Reason::NO_ERROR);
    script.expect_nothing();
    script.data(1, &b"x"[..], false);
    script.expect_reset(1, Reason::STREAM_CLOSED);
    script.get(3);
    script.accepted[1].respond(200, true);
    script.sent();
    script.get(3);
    script.expect_go_away(Reason::STREAM_CLOSED);
}

//= test RFC 9113 §5.1.1
#[test]
fn ids_rise_and_have_the_right_parity() {
    let mut script = server();
    script.get(5);
    script.get(3);
    script.expect_go_away(Reason::PROTOCOL_ERROR);
    let mut script = server();
    script.get(2);
    script.expect_go_away(Reason::PROTOCOL_ERROR);
    let mut script = client();
    script.response(2, true);
    script.expect_go_away(Reason::PROTOCOL_ERROR);
}

//= test RFC 9113 §6.10
#[test]
fn nothing_comes_between_the_frames_of_a_block() {
    let mut script = server();
    let fragment = script.fragment(&request("GET", "/"));
    let (first, rest) = (fragment.slice(..3), fragment.slice(3..));
    let headers = |stream| Headers {
        stream_id: id(stream),
        fragment: first.clone(),
        end_headers: false,
        end_stream: true,
        priority: None,
    };
    script.recv(Frame::Headers(headers(1)));
    script.recv(Frame::Continuation(Continuation {
        stream_id: id(1),
        fragment: rest,
        end_headers: true,
    }));
    assert_eq!(script.accepted.len(), 1);
    assert!(script.accepted[0].is_complete());
    script.recv(Frame::Headers(headers(3)));
    script.ping([0; 8], false);
    script.expect_go_away(Reason::PROTOCOL_ERROR);
}

//= test RFC 9113 §8.1
#[test]
fn a_malformed_message_costs_its_stream_only() {
    let mut script = server();
    let (mut parts, ()) = http::Request::builder()
        .method("POST")
        .uri("http://example.test/")
        .header("content-length", "3")
        .body(())
        .unwrap()
        .into_parts();
    script.head(1, &Head::Request(Box::new(parts.clone())), false);
    script.data(1, &b"four"[..], true);
    script.expect_reset(1, Reason::PROTOCOL_ERROR);
    let hand = script.accepted[0].clone();
    assert!(
        !hand.is_complete(),
        "what is too long is never taken for whole"
    );
    assert!(matches!(
        hand.error().unwrap().as_violation(),
        Some(Violation::Message(_))
    ));
    parts
        .headers
        .insert("connection", HeaderValue::from_static("close"));
    script.head(3, &Head::Request(Box::new(parts)), false);
    script.expect_reset(3, Reason::PROTOCOL_ERROR);
    script.get(5);
    assert_eq!(
        script.accepted.len(),
        2,
        "the connection and its compression live on"
    );
}

//= test RFC 9113 §5.1.2
#[test]
fn the_peers_stream_limit_is_never_exceeded() {
    let mut script = client();
    script.settings([Setting::MaxConcurrentStreams(2)]);
    let hands: Vec<_> = (0..4).map(|_| script.end.get("/")).collect();
    let opened = |frames: &[Frame]| {
        frames
            .iter()
            .filter(|frame| matches!(frame, Frame::Headers(_)))
            .count()
    };
    assert_eq!(opened(&script.sent()), 2);
    assert!(!hands[2].state.borrow().opened);
    script.response(1, true);
    assert_eq!(opened(&script.sent()), 1);
    script.settings([Setting::MaxConcurrentStreams(1)]);
    script.response(3, true);
    assert_eq!(opened(&script.sent()), 0);
    script.response(5, true);
    assert_eq!(opened(&script.sent()), 1);
}

#[test]
fn a_request_that_waits_to_open_can_be_taken_back() {
    let mut script = client();
    script.settings([Setting::MaxConcurrentStreams(0)]);
    script.sent();
    let hand = script.end.get("/");
    let other = script.end.get("/");
    script.expect_nothing();
    hand.reset(Reason::CANCEL);
    script.expect_nothing();
    assert_eq!(hand.reason(), Some(Reason::CANCEL));
    script.settings([Setting::MaxConcurrentStreams(9)]);
    let sent = script.sent();
    assert!(matches!(&sent[..], [_, Frame::Headers(head)] if head.stream_id == other.id));
}

//= test RFC 9113 §8.1
#[test]
fn data_before_the_response_is_a_stream_error() {
    let mut script = client();
    let hand = script.end.get("/");
    script.sent();
    script.data(1, Bytes::from_static(b"x"), false);
    script.expect_reset(1, Reason::PROTOCOL_ERROR);
    assert!(hand.error().unwrap().as_violation().is_some());
}
