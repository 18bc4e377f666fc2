//! RFC 9113 §6.6 and §8.4: PUSH_PROMISE and server push.

use super::support::{
    CANCEL, End, Frame, PROTOCOL_ERROR, Peer, REFUSED_STREAM, Setup, client, data, flag, frame,
    headers, kind, push_promise, server, settings, settings_ack,
};

//= test RFC 9113 §8.4
// 70. A client cannot push.
#[test]
fn server_refuses_a_promise() {
    server(async |peer| {
        let id = peer.open().await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

fn no_push() -> Setup {
    Setup::new().calling(|b| {
        b.enable_push(false);
    })
}

//= test RFC 9113 §6.6
// 71. Once push is off and acknowledged, a promise ends the connection.
#[test]
fn promise_when_push_is_off() {
    no_push().client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.6
// 71. Until then it may have been on its way: it costs no more than itself.
#[test]
fn promise_before_the_ack() {
    no_push().no_handshake().client(async |peer| {
        peer.expect_preface().await;
        peer.never_acknowledge();
        peer.send(settings());
        let (id, call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.expect_reset(2, REFUSED_STREAM).await;
        peer.send(headers(id).response(200).end_stream());
        assert_eq!(call.done().await.end, End::Complete);
        peer.send(settings_ack());
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 4).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.6
// 72. A promise belongs to a stream.
#[test]
fn promise_on_stream_zero() {
    // A server refuses every promise.
    client(async |peer| {
        let (_id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(0, 2).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.6
// 73. The parent is open or half-closed (local): not idle, not ended by the server.
#[test]
fn promise_on_a_stream_in_the_wrong_state() {
    client(async |peer| {
        peer.send(push_promise(1, 2).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    client(async |peer| {
        let id = peer.half_closed_remote().await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    client(async |peer| {
        let id = peer.closed().await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.6
// 73. The parent is a stream of the client, not a promised one.
#[test]
fn promise_on_a_promised_stream() {
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.send(headers(2).response(200));
        peer.send(push_promise(2, 4).request("GET", "/more"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.6
// 73. A promise on a stream that we have reset may have crossed the reset.
#[test]
fn promise_on_a_stream_that_we_reset() {
    client(async |peer| {
        let id = peer.reset_by_subject().await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        only_refuses(peer, 2).await;
        // The promised stream is reserved by it, so that nobody can promise it again.
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    client(async |peer| {
        let id = peer.reset_by_subject().await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        only_refuses(peer, 2).await;
        peer.expect_alive().await;
    });
}

/// Nothing comes but, perhaps, a reset of a promised stream that nobody waits for.
async fn only_refuses(peer: &mut Peer, promised: u32) {
    for frame in peer.everything().await {
        assert_eq!(
            (frame.kind, frame.id),
            (kind::RST_STREAM, promised),
            "{frame:?}"
        );
    }
}

//= test RFC 9113 §6.6
// 74. The promised id is a new, even one.
#[test]
fn promise_of_an_impossible_stream() {
    for promised in [0, 1, 3] {
        client(async |peer| {
            let (id, _call) = peer.call("GET", "/").await;
            peer.send(push_promise(id, promised).request("GET", "/pushed"));
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.send(headers(2).response(200).end_stream());
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.6
// 75. Padding longer than what is left for the block ends the connection.
#[test]
fn promise_with_too_much_padding() {
    for says in [2, 255] {
        client(async |peer| {
            let (id, _call) = peer.call("GET", "/").await;
            let flags = flag::END_HEADERS | flag::PADDED;
            peer.send(frame(
                kind::PUSH_PROMISE,
                flags,
                id,
                [says, 0, 0, 0, 2, 0x82],
            ));
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
}

/// A promise that costs the promised stream, while its parent and the connection go on.
fn malformed_promise(build: impl Fn(Frame) -> Frame) {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(build(push_promise(id, 2)));
        peer.expect_reset(2, PROTOCOL_ERROR).await;
        peer.send(headers(id).response(200).end_stream());
        let outcome = call.done().await;
        assert_eq!((outcome.end, outcome.pushed.len()), (End::Complete, 0));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §8.4
// 76. Only a safe and cacheable method can be promised.
#[test]
fn promise_of_an_unsafe_request() {
    for method in ["POST", "PUT", "DELETE", "CONNECT", "PATCH"] {
        malformed_promise(|frame| frame.request(method, "/pushed"));
    }
}

//= test RFC 9113 §8.4
// 76. A promised request has no content.
#[test]
fn promise_of_a_request_with_content() {
    malformed_promise(|frame| frame.request("GET", "/pushed").field("content-length", "5"));
}

//= test RFC 9113 §8.4.1
// 76. A promised request is complete and well-formed.
#[test]
fn promise_of_an_incomplete_request() {
    malformed_promise(|frame| frame.field(":method", "GET").field(":scheme", "https"));
    malformed_promise(|frame| frame.request("GET", "/pushed").field("Upper", "case"));
    malformed_promise(|frame| frame.request("GET", "/pushed").field("connection", "close"));
    malformed_promise(|frame| frame.request("GET", "/pushed").field("te", "gzip"));
    malformed_promise(|frame| frame.request("GET", "/pushed").field(":status", "200"));
}

//= test RFC 9113 §8.4
// 77. A promise for another authority than that of its request costs the promised stream.
#[test]
fn promise_for_another_authority() {
    malformed_promise(|frame| {
        let head = frame.field(":method", "GET").field(":scheme", "https");
        head.field(":authority", "other.example")
            .field(":path", "/pushed")
    });
    // The scheme is a part of the origin.
    malformed_promise(|frame| {
        let head = frame.field(":method", "GET").field(":scheme", "http");
        head.field(":authority", "example.com")
            .field(":path", "/pushed")
    });
}

//= test RFC 9113 §8.4.1
// 76. A promise in order is shown to the application, and then its response.
#[test]
fn promise_in_order() {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.send(headers(id).response(200).end_stream());
        peer.send(headers(2).response(200));
        peer.send(data(2, "pushed").end_stream());
        let outcome = call.done().await;
        peer.settle().await;
        let (path, pushed) = &outcome.pushed[0];
        assert_eq!(path, "/pushed");
        assert_eq!(
            (pushed.borrow().status(), pushed.borrow().end),
            (Some(200), End::Complete)
        );
        assert_eq!(pushed.borrow().body, b"pushed");
    });
}

//= test RFC 9113 §8.4.1
// 76. Our promise comes before the response that may refer to it, and its response follows.
#[test]
fn own_push() {
    server(async |peer| {
        peer.send(headers(1).request("GET", "/push").end_stream());
        let promise = peer.expect_kind(kind::PUSH_PROMISE).await;
        assert_eq!((promise.frame.id, promise.frame.word(0)), (1, 2));
        assert_eq!(promise.field(":path"), Some("/pushed"));
        assert_eq!(promise.field(":authority"), Some("example.com"));
        let mut ended = Vec::new();
        while ended.len() < 2 {
            let frame = peer.expect_frame().await.frame;
            ended.extend(frame.is_end_stream().then_some(frame.id));
        }
        ended.sort_unstable();
        assert_eq!(ended, [1, 2]);
    });
}

//= test RFC 9113 §5.4.2
// 36. The reset of a promise is not answered.
#[test]
fn refused_push() {
    server(async |peer| {
        peer.send(headers(1).request("GET", "/promise").end_stream());
        let promised = peer.expect_kind(kind::PUSH_PROMISE).await.frame.word(0);
        peer.send(super::support::reset(promised, CANCEL));
        peer.expect_nothing().await;
        peer.expect_alive().await;
    });
}
