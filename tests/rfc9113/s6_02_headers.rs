//! RFC 9113 §6.2 and §6.3: HEADERS and PRIORITY.

use super::support::{
    End, FRAME_SIZE_ERROR, PROTOCOL_ERROR, both, client, continuation, flag, frame, headers, kind,
    priority, server,
};

//= test RFC 9113 §6.2
// 45. HEADERS belongs to a stream: on stream 0 it ends the connection.
#[test]
fn headers_on_stream_zero() {
    both(async |peer| {
        peer.send(headers(0).response(200).end_stream());
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.2
// 46. Padding longer than what is left for the block ends the connection.
#[test]
fn headers_with_too_much_padding() {
    for says in [2, 255] {
        both(async |peer| {
            let id = peer.open().await;
            peer.send(frame(
                kind::HEADERS,
                flag::END_HEADERS | flag::PADDED,
                id,
                [says, 0x88],
            ));
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.2
// 46. Padding and the five octets of PRIORITY together must fit.
#[test]
fn headers_with_too_much_padding_beside_priority() {
    both(async |peer| {
        let id = peer.open().await;
        let flags = flag::END_HEADERS | flag::PADDED | flag::PRIORITY;
        peer.send(frame(kind::HEADERS, flags, id, [2, 0, 0, 0, 0, 15, 0x88]));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.2
// 46. Padding and priority are cut off; what they say has no effect.
#[test]
fn headers_with_padding_and_priority() {
    server(async |peer| {
        peer.send(
            headers(1)
                .request("GET", "/")
                .padded(255)
                .depends_on(0)
                .end_stream(),
        );
        peer.expect_response(1, 200).await;
        peer.send(
            headers(3)
                .request("GET", "/")
                .padded(0)
                .depends_on(77)
                .end_stream(),
        );
        peer.expect_response(3, 200).await;
    });
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(
            headers(id)
                .response(200)
                .padded(9)
                .depends_on(0)
                .end_stream(),
        );
        assert_eq!(call.done().await.status(), Some(200));
    });
}

//= test RFC 9113 §6.2
// 47. The PRIORITY flag needs five octets.
#[test]
fn headers_without_the_octets_of_priority() {
    for length in 0..5 {
        both(async |peer| {
            let id = peer.open().await;
            let flags = flag::END_HEADERS | flag::PRIORITY;
            peer.send(frame(kind::HEADERS, flags, id, vec![0; length]));
            peer.expect_go_away(FRAME_SIZE_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.2
// 48. Without END_HEADERS the next frame is CONTINUATION of the same stream.
#[test]
fn headers_without_continuation() {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(headers(id).field("a", "1").no_end_headers().end_stream());
        peer.send(priority(id, 0));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.2
// 49. END_STREAM of HEADERS holds for the CONTINUATION frames behind it.
#[test]
fn end_stream_before_continuation() {
    server(async |peer| {
        peer.send(
            headers(1)
                .field(":method", "GET")
                .no_end_headers()
                .end_stream(),
        );
        let rest = continuation(1)
            .field(":scheme", "https")
            .field(":authority", "example.com");
        peer.send(rest.field(":path", "/"));
        peer.expect_response(1, 200).await;
        assert_eq!(peer.exchanges().await[0].end, End::Complete);
    });
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(headers(id).no_end_headers().end_stream());
        peer.send(continuation(id).response(200));
        let outcome = call.done().await;
        assert_eq!((outcome.status(), outcome.end), (Some(200), End::Complete));
    });
}

//= test RFC 9113 §6.3
// 50. PRIORITY belongs to a stream.
#[test]
fn priority_on_stream_zero() {
    both(async |peer| {
        peer.send(priority(0, 1));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.3
// 51. PRIORITY of another length than five costs its stream, no more.
#[test]
fn priority_of_another_length() {
    for length in [0, 4, 6] {
        both(async |peer| {
            let id = peer.open().await;
            peer.send(frame(kind::PRIORITY, 0, id, vec![0; length]));
            peer.expect_stream_error(id, FRAME_SIZE_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.3
// 51. On an idle stream no RST_STREAM is legal: there it ends the connection.
#[test]
fn priority_of_another_length_on_an_idle_stream() {
    both(async |peer| {
        peer.send(frame(kind::PRIORITY, 0, 101, [0; 4]));
        peer.expect_go_away(FRAME_SIZE_ERROR).await;
    });
}

//= test RFC 9113 §5.3.2
// 52. What PRIORITY says is ignored, also that a stream depends on itself.
#[test]
fn priority_is_ignored() {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(priority(id, 0));
        peer.send(priority(id, id));
        peer.send(priority(id, 1 << 31 | 99));
        peer.send(priority(99, id));
        peer.expect_nothing().await;
        peer.expect_alive().await;
    });
}
