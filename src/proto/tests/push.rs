//! Server push, from both sides.

use super::pair::{Pair, request};
use super::script::{Script, client, id, server};
use crate::error::{Misuse, Violation};
use crate::frame::{Frame, PushPromise, Reason, Setting};
use crate::message::Head;
use crate::proto::{Config, Role};

#[test]
fn a_promise_and_its_response_reach_the_client() {
    let mut pair = Pair::new(Config::default(), Config::default());
    let hand = pair.client.get("/page");
    pair.drive();
    let far = pair.at_server(&hand);
    let pushed = pair
        .server
        .open(request("GET", "/style"), false, Some(far.id));
    far.respond(200, false);
    far.send(&b"page"[..], true);
    pushed.respond(200, false);
    pushed.send(&b"style"[..], true);
    pair.drive();
    assert_eq!(hand.body(), b"page");
    let (promised, style) = hand.state.borrow().promises[0].clone();
    assert_eq!(promised.uri.path(), "/style");
    assert_eq!(style.body(), b"style");
    assert!(style.is_complete());
    assert!(!pair.client.conn.has_streams() && !pair.server.conn.has_streams());
}

#[test]
fn a_push_is_promised_before_the_end_of_its_parent() {
    let mut script = server();
    script.get(1);
    let parent = script.accepted[0].clone();
    parent.respond(200, true);
    script
        .end
        .open(request("GET", "/style"), false, Some(parent.id));
    let sent = script.sent();
    assert!(
        matches!(&sent[..], [Frame::PushPromise(_), Frame::Headers(_)]),
        "{sent:?}"
    );
}

//= test RFC 9113 §6.6
#[test]
fn nothing_is_pushed_to_a_peer_that_has_disabled_it() {
    let mut script = server();
    script.settings([Setting::EnablePush(false)]);
    script.get(1);
    let parent = script.accepted[0].id;
    script.sent();
    let pushed = script
        .end
        .open(request("GET", "/style"), false, Some(parent));
    script.expect_nothing();
    assert_eq!(
        pushed.error().unwrap().as_misuse().copied(),
        Some(Misuse::PeerDisabledServerPush)
    );
}

//= test RFC 9113 §5.1.2
#[test]
fn pushed_responses_count_and_promises_do_not() {
    let mut script = server();
    script.settings([Setting::MaxConcurrentStreams(1)]);
    script.get(1);
    let parent = script.accepted[0].id;
    script.sent();
    let pushed: Vec<_> = (0..2)
        .map(|_| {
            script
                .end
                .open(request("GET", "/style"), false, Some(parent))
        })
        .collect();
    pushed.iter().for_each(|hand| hand.respond(200, false));
    let count = |frames: &[Frame]| {
        let is_promise = |frame: &&Frame| matches!(frame, Frame::PushPromise(_));
        (frames.iter().filter(is_promise).count(), frames.len())
    };
    assert_eq!(count(&script.sent()), (2, 3), "two promises, one response");
    pushed[0].send(bytes::Bytes::new(), true);
    assert_eq!(
        count(&script.sent()),
        (0, 2),
        "an end, and the other response"
    );
}

//= test RFC 9113 §8.4
#[test]
fn promises_at_the_wrong_place_cost_the_connection() {
    let mut script = server();
    script.promise(1, 2, "/");
    script.expect_go_away(Reason::PROTOCOL_ERROR);
    for (parent, promised) in [(1, 3), (3, 2), (2, 4)] {
        let mut script = client();
        script.end.get("/");
        script.sent();
        script.promise(parent, promised, "/");
        script.expect_go_away(Reason::PROTOCOL_ERROR);
    }
}

//= test RFC 9113 §6.6
#[test]
fn a_promise_after_push_was_disabled_costs_the_connection() {
    let config = Config {
        enable_push: Some(false),
        ..Config::default()
    };
    let mut script = Script::new(Role::Client, config);
    script.end.get("/");
    script.sent();
    script.promise(1, 2, "/");
    script.expect_go_away(Reason::PROTOCOL_ERROR);
}

#[test]
fn a_promise_on_a_stream_that_we_reset_is_refused() {
    let mut script = client();
    let hand = script.end.get("/");
    script.sent();
    hand.reset(Reason::CANCEL);
    script.sent();
    script.promise(1, 2, "/");
    script.expect_reset(2, Reason::REFUSED_STREAM);
}

#[test]
fn a_client_keeps_so_many_promises_and_no_more() {
    let config = Config {
        max_concurrent_streams: Some(2),
        ..Config::default()
    };
    let mut script = Script::new(Role::Client, config);
    let hand = script.end.get("/");
    script.sent();
    for promised in [2, 4, 6] {
        script.promise(1, promised, "/style");
    }
    script.expect_reset(6, Reason::REFUSED_STREAM);
    assert_eq!(hand.state.borrow().promises.len(), 2);
}

//= test RFC 9113 §8.4
#[test]
fn a_promise_must_be_safe_and_of_the_same_authority() {
    let mut script = client();
    script.end.get("/");
    script.sent();
    let mut promise = |promised: u32, head: &Head| {
        let fragment = script.fragment(head);
        script.recv(Frame::PushPromise(PushPromise {
            stream_id: id(1),
            promised_id: id(promised),
            fragment,
            end_headers: true,
        }));
        script.expect_reset(promised, Reason::PROTOCOL_ERROR);
    };
    promise(2, &request("POST", "/"));
    let (parts, ()) = http::Request::builder()
        .uri("http://other.test/")
        .body(())
        .unwrap()
        .into_parts();
    promise(4, &Head::Request(Box::new(parts)));
}

//= test RFC 9113 §5.1
#[test]
fn reserved_streams_take_headers_and_resets_only() {
    let mut script = client();
    let hand = script.end.get("/");
    script.sent();
    script.promise(1, 2, "/style");
    script.data(2, &b"x"[..], false);
    script.expect_go_away(Reason::PROTOCOL_ERROR);
    let error = hand.error().unwrap();
    assert_eq!(error.as_violation(), Some(&Violation::ReservedStream));
}

#[test]
fn a_promise_that_nobody_wants_is_cancelled() {
    let mut script = client();
    let hand = script.end.get("/");
    script.sent();
    script.promise(1, 2, "/style");
    let (_, pushed) = hand.state.borrow().promises[0].clone();
    pushed.abandon();
    script.expect_reset(2, Reason::CANCEL);
}

//= test RFC 9113 §6.8
#[test]
fn a_push_that_a_goaway_crosses_costs_nothing() {
    let mut script = client();
    script.end.get("/");
    script.sent();
    script.conn.user_shutdown();
    let Some(ping) = script.sent().into_iter().find_map(|frame| match frame {
        Frame::Ping(ping) => Some(ping.payload),
        _ => None,
    }) else {
        panic!("no ping goes with the warning")
    };
    script.ping(ping, true);
    script.sent();
    // The server has not seen our GOAWAY yet.
    script.promise(1, 2, "/style");
    script.response(2, false);
    script.data(2, &b"style"[..], true);
    script.expect_nothing();
    script.response(1, true);
    assert!(!script.conn.has_streams());
}
