//! Windows, both ways and at both levels.

use bytes::Bytes;

use super::script::{client, data_of, server};
use crate::frame::{Frame, MAX_WINDOW_SIZE, Malformed, Reason, Setting, StreamId};

fn updates(frames: &[Frame]) -> Vec<(u32, u32)> {
    let update = |frame: &Frame| match frame {
        Frame::WindowUpdate(update) => Some((update.stream_id.as_u32(), update.increment)),
        _ => None,
    };
    frames.iter().filter_map(update).collect()
}

//= test RFC 9113 §6.9.1
#[test]
fn nothing_is_sent_beyond_either_window() {
    let mut script = client();
    let hand = script.end.post("/");
    hand.send(vec![0; 200_000], true);
    let total = |frames: &[Frame]| data_of(frames).iter().map(|(_, n)| n).sum::<usize>();
    assert_eq!(total(&script.sent()), 65_535);
    script.window(0, 100_000);
    assert_eq!(
        total(&script.sent()),
        0,
        "the stream's own window is used up"
    );
    script.window(1, 1);
    assert_eq!(total(&script.sent()), 1);
    script.window(1, 1_000_000);
    assert_eq!(
        total(&script.sent()),
        99_999,
        "the connection's window is used up"
    );
}

//= test RFC 9113 §6.9.2
#[test]
fn a_window_below_zero_must_rise_above_it_first() {
    let mut script = client();
    let hand = script.end.post("/");
    hand.send(vec![0; 60_000], false);
    script.sent();
    script.settings([Setting::InitialWindowSize(0)]);
    hand.send(&b"more"[..], true);
    assert!(data_of(&script.sent()).is_empty());
    script.window(1, 60_000);
    assert!(data_of(&script.sent()).is_empty(), "exactly zero");
    script.window(1, 2);
    assert_eq!(data_of(&script.sent()), [(1, 2)]);
    script.settings([Setting::InitialWindowSize(1)]);
    assert_eq!(data_of(&script.sent()), [(1, 1)]);
    assert_eq!(hand.state.borrow().window_opened, 1);
    assert_eq!(hand.state.borrow().credit, 60_002);
}

//= test RFC 9113 §6.9.1
#[test]
fn an_end_needs_no_window() {
    let mut script = client();
    script.settings([Setting::InitialWindowSize(0)]);
    let hand = script.end.post("/");
    script.sent();
    hand.send(Bytes::new(), true);
    assert_eq!(data_of(&script.sent()), [(1, 0)]);
}

//= test RFC 9113 §6.9.1
#[test]
fn a_window_above_its_maximum_is_a_flow_control_error() {
    let mut script = client();
    script.end.post("/");
    script.sent();
    script.window(1, MAX_WINDOW_SIZE);
    script.expect_reset(1, Reason::FLOW_CONTROL_ERROR);
    script.window(0, MAX_WINDOW_SIZE);
    script.expect_go_away(Reason::FLOW_CONTROL_ERROR);
    let mut script = client();
    script.end.post("/");
    script.sent();
    script.window(1, MAX_WINDOW_SIZE - 65_535);
    script.settings([Setting::InitialWindowSize(65_536)]);
    script.expect_go_away(Reason::FLOW_CONTROL_ERROR);
}

//= test RFC 9113 §6.9
#[test]
fn a_zero_increment_costs_a_stream_or_the_connection() {
    let mut script = server();
    script.post(1);
    script.malformed(Malformed::ZeroIncrement {
        stream_id: StreamId::new(1),
    });
    script.expect_reset(1, Reason::PROTOCOL_ERROR);
    script.malformed(Malformed::ZeroIncrement {
        stream_id: StreamId::CONNECTION,
    });
    script.expect_go_away(Reason::PROTOCOL_ERROR);
}

//= test RFC 9113 §6.9.1
#[test]
fn a_peer_that_overruns_our_windows_is_told() {
    let mut script = server();
    script.settings([]);
    script.post(1);
    script.data(1, vec![0; 65_535], false);
    script.data(1, &b"x"[..], false);
    script.expect_go_away(Reason::FLOW_CONTROL_ERROR);
    let config = crate::proto::Config {
        initial_connection_window_size: Some(1 << 20),
        ..crate::proto::Config::default()
    };
    let mut script = super::script::Script::new(crate::proto::Role::Server, config);
    script.post(1);
    script.data(1, vec![0; 65_535], false);
    script.data(1, &b"x"[..], false);
    script.expect_reset(1, Reason::FLOW_CONTROL_ERROR);
    let error = script.accepted[0].error().unwrap();
    assert_eq!(error.reason(), Some(Reason::FLOW_CONTROL_ERROR));
}

//= test RFC 9113 §6.9
#[test]
fn padding_counts_and_comes_back_at_once() {
    let mut script = server();
    let hand = script.post(1);
    for _ in 0..1000 {
        script.padded(1, Bytes::from_static(b"x"), false, 257);
        hand.release(1);
        script.sent();
    }
    assert_eq!(hand.body().len(), 1000);
    script.data(1, vec![0; 40_000], false);
    let sent = script.sent();
    assert!(
        !sent.iter().any(|frame| matches!(frame, Frame::GoAway(_))),
        "{sent:?}"
    );
}

#[test]
fn credit_comes_back_as_the_reader_returns_it() {
    let mut script = server();
    let hand = script.post(1);
    script.data(1, vec![0; 40_000], false);
    let sent = updates(&script.sent());
    assert_eq!(
        sent,
        [(0, 40_000)],
        "what nobody reads leaves others their window"
    );
    hand.release(30_000);
    let sent = updates(&script.sent());
    assert_eq!(sent, [(1, 30_000)], "the connection's was lent before");
    script.data(1, vec![0; 10], true);
    hand.release(10_010);
    hand.respond(200, true);
    script.sent();
    assert!(!script.conn.has_streams());
}

#[test]
fn credit_of_a_stream_that_is_over_comes_back_to_the_connection() {
    let mut script = server();
    let hand = script.post(1);
    script.data(1, vec![0; 60_000], true);
    hand.respond(200, true);
    script.sent();
    assert!(!script.conn.has_streams(), "unread data holds no slot");
    hand.release(60_000);
    script.expect_nothing();
    let hand = script.post(3);
    script.data(3, vec![0; 65_535], false);
    hand.release(65_535);
    assert_eq!(updates(&script.sent()), [(0, 65_535), (3, 65_535)]);
}

#[test]
fn credit_never_leaks_through_resets() {
    let mut script = server();
    for round in 0..1000 {
        let stream = 2 * round + 1;
        let hand = script.post(stream);
        script.data(stream, vec![0; 30_000], false);
        match round % 3 {
            0 => hand.reset(Reason::CANCEL),
            1 => script.rst(stream, Reason::CANCEL),
            _ => hand.abandon(),
        }
        script.sent();
        script.data(stream, vec![0; 10_000], false);
        hand.release(30_000);
        script.sent();
        script.end.now += std::time::Duration::from_millis(100);
    }
    script.post(2001);
    script.data(2001, vec![0; 40_000], false);
    let sent = script.sent();
    assert!(
        !sent.iter().any(|frame| matches!(frame, Frame::GoAway(_))),
        "{sent:?}"
    );
}

#[test]
fn a_larger_target_is_announced() {
    let mut script = server();
    script.conn.user_set_target_window(1 << 20);
    assert_eq!(updates(&script.sent()), [(0, (1 << 20) - 65_535)]);
}

//= test RFC 9113 §6.9.2
#[test]
fn data_sent_under_the_former_larger_window_is_accepted() {
    let mut script = server();
    let hand = script.post(1);
    script.conn.user_set_initial_window(10).unwrap();
    assert!(
        script.conn.user_set_initial_window(11).is_err(),
        "one change at a time"
    );
    script.sent();
    script.data(1, vec![0; 50_000], false);
    script.recv(Frame::Settings(crate::frame::Settings::ack()));
    script.expect_nothing();
    hand.release(50_000);
    assert_eq!(updates(&script.sent()), [(0, 50_000), (1, 50_000)]);
}

#[test]
fn a_stream_that_owes_a_frame_is_noted_once_and_others_are_not() {
    let mut script = server();
    let hand = script.post(1);
    script.data(1, vec![0; 10_000], false);
    assert!(script.conn.control.is_empty(), "nothing is owed");
    for _ in 0..5 {
        script.data(1, vec![0; 10_000], false);
        hand.release(10_000);
        script.collect();
    }
    assert_eq!(script.conn.control.len(), 1);
}

#[test]
fn what_was_released_just_before_its_stream_ended_returns() {
    let mut script = client();
    let hand = script.end.get("/");
    script.sent();
    script.response(1, false);
    script.data(1, vec![0; 100], false);
    assert_eq!(script.conn.recv_window.held(), 100);
    hand.release(100);
    script.data(1, &b""[..], true);
    assert_eq!(script.conn.recv_window.held(), 0);
}
