//! What hostile peers get.

use std::time::Duration;

use bytes::Bytes;

use super::pair::{Hand, request};
use super::script::{Script, hardened, id};
use crate::frame::{Continuation, Frame, Headers, Ping, Reason, Reset, Setting};
use crate::message::Head;
use crate::proto::{Config, Role};

#[test]
fn a_rapid_reset_ends_at_the_limit() {
    let mut script = hardened();
    let mut rounds = 0;
    while script.conn.wants_read() {
        let stream = 2 * rounds + 1;
        script.get(stream);
        script.rst(stream, Reason::CANCEL);
        rounds += 1;
    }
    assert_eq!(rounds, 201);
    script.expect_go_away(Reason::ENHANCE_YOUR_CALM);
}

#[test]
fn who_cancels_every_second_request_is_never_stopped() {
    let mut script = hardened();
    for round in 0..1000 {
        script.get(4 * round + 1);
        script.rst(4 * round + 1, Reason::CANCEL);
        let answered = script.post(4 * round + 3);
        script.data(4 * round + 3, Bytes::new(), true);
        answered.respond(200, true);
        script.sent();
        assert!(script.conn.wants_read(), "round {round}");
    }
}

#[test]
fn unaccepted_streams_that_are_reset_end_at_their_own_limit() {
    let mut script = hardened();
    let mut rounds = 0;
    while script.conn.wants_read() {
        let stream = 2 * rounds + 1;
        let fragment = script.fragment(&request("GET", "/"));
        let (now, stream_id) = (script.now, id(stream));
        let headers = Headers {
            stream_id,
            fragment,
            end_headers: true,
            end_stream: true,
            priority: None,
        };
        script.conn.recv(Ok(Frame::Headers(headers)), now);
        script.conn.recv(
            Ok(Frame::Reset(Reset {
                stream_id,
                reason: Reason::CANCEL,
            })),
            now,
        );
        rounds += 1;
    }
    assert_eq!(rounds, 21);
    script.expect_go_away(Reason::ENHANCE_YOUR_CALM);
}

#[test]
fn who_makes_us_reset_is_stopped_too() {
    let mut script = hardened();
    let mut rounds = 0;
    while script.conn.wants_read() {
        let stream = 2 * rounds + 1;
        script.post(stream);
        script.window(stream, 0x7fff_ffff);
        script.end.collect();
        script.end.output();
        rounds += 1;
    }
    assert_eq!(rounds, 201);
}

#[test]
fn answers_that_nobody_takes_stop_the_reading() {
    let mut script = hardened();
    let now = script.now;
    for n in 0..128 {
        assert!(script.conn.wants_read(), "after {n}");
        script.conn.recv(
            Ok(Frame::Ping(Ping {
                ack: false,
                payload: [0; 8],
            })),
            now,
        );
    }
    assert!(!script.conn.wants_read());
    assert_eq!(script.sent().len(), 128);
    assert!(script.conn.wants_read());
}

#[test]
fn an_endless_header_block_ends_at_the_limit() {
    let mut script = hardened();
    let continuation = |fragment| {
        Frame::Continuation(Continuation {
            stream_id: id(1),
            fragment,
            end_headers: false,
        })
    };
    script.recv(Frame::Headers(Headers {
        stream_id: id(1),
        fragment: Bytes::new(),
        end_headers: false,
        end_stream: true,
        priority: None,
    }));
    script.recv(continuation(Bytes::new()));
    script.expect_go_away(Reason::ENHANCE_YOUR_CALM);
}

#[test]
fn a_header_block_must_be_finished_in_time() {
    let mut script = hardened();
    script.recv(Frame::Headers(Headers {
        stream_id: id(1),
        fragment: Bytes::from_static(&[0x82]),
        end_headers: false,
        end_stream: true,
        priority: None,
    }));
    assert_eq!(
        script.conn.deadline(),
        Some(script.now + Duration::from_secs(10))
    );
    script.elapse(Duration::from_secs(9));
    assert!(script.conn.wants_read());
    script.elapse(Duration::from_secs(1));
    script.expect_go_away(Reason::ENHANCE_YOUR_CALM);
}

fn with_fields(count: usize, value: &str) -> Head {
    let Head::Request(mut parts) = request("GET", "/") else {
        unreachable!()
    };
    for n in 0..count {
        let name = format!("x-{n}").parse::<http::HeaderName>().unwrap();
        parts.headers.insert(name, value.parse().unwrap());
    }
    Head::Request(parts)
}

//= test RFC 9113 §10.5.1
#[test]
fn a_large_head_is_answered_and_a_huge_one_ends_the_connection() {
    let mut script = hardened();
    script.head(1, &with_fields(130, "v"), false);
    assert!(script.accepted.is_empty());
    let sent = script.sent();
    assert!(
        matches!(&sent[..], [Frame::Headers(answer), Frame::Reset(reset)]
            if answer.end_stream && reset.reason == Reason::NO_ERROR),
        "{sent:?}"
    );
    script.get(3);
    assert_eq!(script.accepted.len(), 1, "compression is still in step");
    script.head(5, &with_fields(100, &"v".repeat(400)), true);
    script.expect_go_away(Reason::ENHANCE_YOUR_CALM);
}

#[test]
fn frames_that_move_nothing_are_counted() {
    let mut script = hardened();
    let now = script.now;
    let mut count = 0;
    script.post(1);
    while script.conn.wants_read() {
        let frame = crate::frame::Data {
            stream_id: id(1),
            data: Bytes::new(),
            end_stream: false,
            flow_len: 0,
        };
        script.conn.recv(Ok(Frame::Data(frame)), now);
        count += 1;
    }
    assert_eq!(count, 10_001);
}

#[test]
fn settings_have_so_many_entries() {
    let mut script = hardened();
    script.settings([Setting::Unknown(99, 1); 33]);
    script.expect_go_away(Reason::ENHANCE_YOUR_CALM);
}

#[test]
fn the_stream_limit_refuses_and_the_connection_lives() {
    let mut config = Config::hardened();
    config.max_concurrent_streams = Some(2);
    let mut script = Script::new(Role::Server, config);
    for stream in [1, 3, 5] {
        script.get(stream);
    }
    script.expect_reset(5, Reason::REFUSED_STREAM);
    script.accepted[0].respond(200, true);
    script.sent();
    script.get(7);
    assert_eq!(script.accepted.len(), 3);
}

#[test]
fn a_stream_whose_output_nobody_takes_is_reset_in_time() {
    let mut script = hardened();
    script.post(1);
    let slow = script.accepted[0].clone();
    slow.respond(200, false);
    slow.send(vec![0; 100_000], false);
    script.post(3);
    script.accepted[1].respond(200, false);
    script.sent();
    let start = script.now;
    while script.now < start + Duration::from_secs(29) {
        script.elapse(Duration::from_secs(1));
    }
    script.window(1, 1);
    assert_eq!(
        super::script::data_of(&script.sent()),
        [],
        "the connection window is used up"
    );
    while slow.error().is_none() {
        script.elapse(Duration::from_secs(1));
    }
    let waited = script.now - start;
    assert!(
        waited >= Duration::from_secs(30) && waited < Duration::from_secs(60),
        "{waited:?}"
    );
    script.expect_reset(1, Reason::CANCEL);
}

/// More than its window is to be sent on a stream.
fn with_slow_stream() -> (Script, Hand) {
    let mut script = hardened();
    script.post(1);
    let slow = script.accepted[0].clone();
    slow.respond(200, false);
    slow.send(vec![0; 100_000], false);
    script.sent();
    (script, slow)
}

#[test]
fn a_stream_that_moves_now_and_then_lives() {
    let (mut script, slow) = with_slow_stream();
    for _ in 0..200 {
        script.elapse(Duration::from_secs(1));
        script.window(0, 100);
        script.window(1, 100);
        script.sent();
    }
    assert!(slow.error().is_none());
}

#[test]
fn a_stream_that_gets_an_octet_now_and_then_is_reset() {
    let (mut script, slow) = with_slow_stream();
    let mut seconds = 0;
    while slow.error().is_none() && seconds < 100 {
        script.elapse(Duration::from_secs(1));
        script.window(0, 10);
        script.window(1, 10);
        script.sent();
        seconds += 1;
    }
    assert!((30..60).contains(&seconds), "{seconds}");
}

#[test]
fn without_streams_a_server_asks_and_a_client_does_not() {
    for (role, asks) in [(Role::Server, true), (Role::Client, false)] {
        let mut config = Config::hardened();
        config.limits.keep_alive.interval = Some(Duration::from_secs(5));
        let mut script = Script::new(role, config);
        script.sent();
        script.elapse(Duration::from_secs(5));
        let pings = script.sent().len();
        assert_eq!(pings > 0, asks, "{role:?}");
        script.elapse(Duration::from_secs(20));
        assert_eq!(script.conn.is_lost(), asks, "{role:?}");
    }
}

#[test]
fn a_silent_peer_is_asked_once_and_then_given_up() {
    let mut config = Config::hardened();
    config.limits.keep_alive.interval = Some(Duration::from_secs(5));
    let mut script = Script::new(Role::Server, config);
    let hand = script.post(1);
    script.elapse(Duration::from_secs(5));
    let asked = script.sent();
    assert!(
        matches!(&asked[..], [Frame::Ping(ping)] if !ping.ack),
        "{asked:?}"
    );
    script.elapse(Duration::from_secs(19));
    assert!(hand.error().is_none());
    script.elapse(Duration::from_secs(1));
    assert!(hand.error().is_some());
    assert!(script.conn.is_lost());
}

#[test]
fn parts_of_a_long_frame_are_signs_of_life() {
    let mut config = Config::hardened();
    config.limits.keep_alive.interval = Some(Duration::from_secs(5));
    let mut script = Script::new(Role::Server, config);
    let hand = script.post(1);
    for _ in 0..100 {
        script.elapse(Duration::from_secs(4));
        script.conn.recv_read(1000);
    }
    assert!(script.sent().is_empty() && hand.error().is_none());
}

#[test]
fn limits_of_next_to_no_time_do_not_keep_the_task_awake() {
    for timeout in [Duration::ZERO, Duration::from_nanos(1)] {
        let mut config = Config::default();
        config.limits.stall_timeout = Some(timeout);
        config.limits.connection_stall_timeout = Some(timeout);
        config.limits.keep_alive.interval = Some(timeout);
        let mut script = Script::new(Role::Server, config);
        script.post(1);
        script.sent();
        script.elapse(Duration::from_secs(1));
        let next = script.conn.deadline().unwrap();
        assert!(next > script.now, "{timeout:?}");
    }
}

#[test]
fn a_transport_that_takes_nothing_is_given_up() {
    let mut script = hardened();
    script.post(1);
    let hand = script.accepted[0].clone();
    hand.respond(200, false);
    script.collect();
    for _ in 0..100 {
        script.elapse(Duration::from_secs(1));
    }
    assert!(hand.error().is_some());
    assert!(script.conn.is_done());
}

#[test]
fn a_flood_of_goaways_is_bounded() {
    let mut script = hardened();
    script.post(1);
    for _ in 0..20_000 {
        script.go_away(7, Reason::NO_ERROR);
        if !script.conn.wants_read() {
            break;
        }
    }
    script.expect_go_away(Reason::ENHANCE_YOUR_CALM);
}
