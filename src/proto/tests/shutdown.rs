//! GOAWAY, the two steps of a shutdown, the end of the transport.

use std::io;
use std::time::Duration;

use super::pair::Pair;
use super::script::{Script, client, hardened, id, server};
use crate::error::Error;
use crate::frame::{Frame, Ping, Reason, StreamId};
use crate::proto::{Config, Event, Lifecycle, Role};

//= test RFC 9113 §6.8
#[test]
fn a_graceful_shutdown_has_two_steps() {
    let mut script = server();
    let hand = script.post(1);
    script.conn.user_shutdown();
    let sent = script.sent();
    let [
        Frame::GoAway(warning),
        Frame::Ping(Ping {
            ack: false,
            payload,
        }),
    ] = &sent[..]
    else {
        panic!("{sent:?}")
    };
    assert_eq!(warning.last_stream_id, StreamId::MAX);
    script.get(3);
    assert_eq!(script.accepted.len(), 2, "what was on its way is served");
    script.ping(*payload, true);
    let sent = script.sent();
    assert!(matches!(&sent[..], [Frame::GoAway(last)] if last.last_stream_id == id(3)));
    script.get(5);
    assert_eq!(script.accepted.len(), 2, "later ones are not");
    script.data(1, &b"x"[..], true);
    hand.respond(200, true);
    script.accepted[1].respond(200, true);
    let sent = script.sent();
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(matches!(script.conn.lifecycle(), Lifecycle::Closed(Ok(()))));
}

//= test RFC 9113 §6.8
#[test]
fn requests_that_the_answer_to_the_ping_overtook_are_served_within_the_grace() {
    let mut config = Config::default();
    config.limits.shutdown_grace = Some(Duration::from_secs(1));
    let mut script = Script::new(Role::Server, config);
    script.get(1);
    script.conn.user_shutdown();
    let sent = script.sent();
    let [Frame::GoAway(_), Frame::Ping(ping)] = &sent[..] else {
        panic!("{sent:?}")
    };
    script.ping(ping.payload, true);
    assert_eq!(script.sent(), [], "the last stream is not known yet");
    script.elapse(Duration::from_millis(900));
    script.get(3);
    assert_eq!(script.accepted.len(), 2);
    script.elapse(Duration::from_millis(100));
    let sent = script.sent();
    assert!(matches!(&sent[..], [Frame::GoAway(last)] if last.last_stream_id == id(3)));
    script.get(5);
    assert_eq!(script.accepted.len(), 2, "later ones are not served");
}

#[test]
fn both_ends_close_after_a_shutdown() {
    let mut pair = Pair::new(Config::default(), Config::default());
    let hand = pair.client.get("/");
    pair.drive();
    pair.server.conn.user_shutdown();
    pair.drive();
    assert!(!pair.server.conn.is_done());
    pair.at_server(&hand).respond(200, true);
    pair.drive();
    assert!(hand.is_complete());
    assert!(pair.server.conn.is_done() && pair.client.conn.is_done());
}

//= test RFC 9113 §6.8
#[test]
fn streams_above_the_last_id_of_a_goaway_fail_and_may_be_sent_again() {
    let mut script = client();
    let first = script.end.get("/");
    let second = script.end.get("/");
    script.sent();
    script.go_away(1, Reason::NO_ERROR);
    assert!(first.error().is_none());
    assert!(second.error().unwrap().is_not_processed());
    assert!(matches!(script.events.last(), Some(Event::GoAway(_))));
    let late = script.end.get("/");
    script.collect();
    assert!(late.error().is_some());
    script.response(1, true);
    assert!(first.is_complete());
    script.sent();
    assert!(matches!(script.conn.lifecycle(), Lifecycle::Closed(Ok(()))));
}

//= test RFC 9113 §6.8
#[test]
fn the_last_id_never_rises() {
    let mut script = client();
    script.end.get("/");
    script.sent();
    script.go_away(1, Reason::NO_ERROR);
    script.go_away(3, Reason::NO_ERROR);
    script.expect_go_away(Reason::PROTOCOL_ERROR);
}

//= test RFC 9113 §5.4.1
#[test]
fn a_connection_error_names_the_rule_and_reaches_every_stream() {
    let mut script = server();
    let hand = script.post(1);
    script.window(0, 0x7fff_ffff);
    let sent = script.sent();
    let Some(Frame::GoAway(frame)) = sent.last() else {
        panic!("{sent:?}")
    };
    assert_eq!(frame.last_stream_id, id(1));
    assert!(
        frame
            .debug_data
            .starts_with(b"The window of the connection")
    );
    assert_eq!(hand.reason(), Some(Reason::FLOW_CONTROL_ERROR));
    script.get(3);
    script.expect_nothing();
    assert!(matches!(script.conn.lifecycle(), Lifecycle::Closed(Err(_))));
}

#[test]
fn an_error_goaway_is_the_result_once_the_rest_is_done() {
    let mut script = client();
    let hand = script.end.get("/");
    script.sent();
    script.go_away(1, Reason::INTERNAL_ERROR);
    script.response(1, true);
    script.sent();
    assert!(hand.is_complete());
    let Lifecycle::Closed(Err(error)) = script.conn.lifecycle() else {
        panic!("not closed")
    };
    assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR));
    assert!(error.is_remote() && error.is_go_away());
}

#[test]
fn an_abrupt_shutdown_is_told_and_ends_all() {
    let mut script = server();
    let hand = script.post(1);
    script.conn.user_abort(Reason::INTERNAL_ERROR);
    script.expect_go_away(Reason::INTERNAL_ERROR);
    assert_eq!(hand.reason(), Some(Reason::INTERNAL_ERROR));
}

#[test]
fn a_client_without_handles_closes_when_its_streams_are_done() {
    let mut script = client();
    let hand = script.end.get("/");
    script.sent();
    script.conn.user_close();
    script.expect_nothing();
    script.response(1, true);
    script.expect_go_away(Reason::NO_ERROR);
    assert!(hand.is_complete());
}

#[test]
fn the_end_of_the_transport_reaches_every_stream() {
    let mut script = client();
    let hand = script.end.get("/");
    script.sent();
    script.conn.recv_eof();
    assert_eq!(
        hand.error().unwrap().get_io().unwrap().kind(),
        io::ErrorKind::BrokenPipe
    );
    assert!(script.conn.is_done());
    let mut script = client();
    let hand = script.end.get("/");
    script.collect();
    script
        .conn
        .fail(Error::io(io::ErrorKind::ConnectionReset.into()));
    assert!(hand.error().unwrap().is_io());
    assert!(matches!(script.conn.lifecycle(), Lifecycle::Closed(Err(_))));
    script.expect_nothing();
}

#[test]
fn a_ping_is_answered_and_our_own_is_reported() {
    let mut script = hardened();
    script.ping(*b"abcdefgh", false);
    assert_eq!(
        script.sent(),
        [Frame::Ping(Ping {
            ack: true,
            payload: *b"abcdefgh"
        })]
    );
    script.conn.user_ping(*b"12345678");
    assert_eq!(
        script.sent(),
        [Frame::Ping(Ping {
            ack: false,
            payload: *b"12345678"
        })]
    );
    script.ping(*b"12345678", true);
    assert!(matches!(script.events.last(), Some(Event::Pong)));
}

//= test RFC 9113 §6.8
#[test]
fn our_own_last_id_never_rises() {
    let mut script = client();
    let hand = script.open(super::pair::request("GET", "/"), true, None);
    script.sent();
    script.conn.user_shutdown();
    let payload = script
        .sent()
        .iter()
        .find_map(|frame| match frame {
            Frame::Ping(ping) => Some(ping.payload),
            _ => None,
        })
        .unwrap();
    script.ping(payload, true);
    // Too late: it is above the id that was named.
    script.promise(1, 2, "/late");
    script.response(1, true);
    assert!(hand.is_complete());
    let named: Vec<StreamId> = script
        .sent()
        .iter()
        .filter_map(|frame| match frame {
            Frame::GoAway(frame) => Some(frame.last_stream_id),
            _ => None,
        })
        .collect();
    assert!(named.iter().all(|last| *last == id(0)), "{named:?}");
}
