//! RFC 9113 §6.10: CONTINUATION.

use super::support::{PROTOCOL_ERROR, both, client, continuation, headers, push_promise, server};

//= test RFC 9113 §6.10
// 99. CONTINUATION belongs to a stream.
#[test]
fn continuation_on_stream_zero() {
    both(async |peer| {
        peer.send(continuation(0).field("a", "1"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.10
// 100. CONTINUATION follows a frame that left its block open, nothing else.
#[test]
fn continuation_of_nothing() {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(continuation(id).field("a", "1"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    server(async |peer| {
        peer.send(headers(1).request("GET", "/hold").no_end_headers());
        peer.send(continuation(1));
        peer.send(continuation(1));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.send(continuation(id).field("a", "1"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.10
// 101. CONTINUATION of another stream does not continue the block.
#[test]
fn continuation_of_another_stream() {
    server(async |peer| {
        peer.send(headers(1).request("GET", "/").no_end_headers());
        peer.send(continuation(3));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(
            push_promise(id, 2)
                .request("GET", "/pushed")
                .no_end_headers(),
        );
        // The block belongs to the parent, not to the promised stream.
        peer.send(continuation(2));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.10
// 101. The block of a promise continues on its parent.
#[test]
fn continuation_of_a_promise() {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).field(":method", "GET").no_end_headers());
        let rest = continuation(id)
            .field(":scheme", "https")
            .field(":authority", "example.com");
        peer.send(rest.field(":path", "/pushed"));
        peer.send(headers(id).response(200).end_stream());
        assert_eq!(call.done().await.pushed[0].0, "/pushed");
    });
}
