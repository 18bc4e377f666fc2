//! RFC 9113 §4.3: field blocks and the state of their compression.

use super::support::{
    COMPRESSION_ERROR, End, Frame, PROTOCOL_ERROR, REFUSED_STREAM, Setup, both, client,
    continuation, data, frame, headers, indexed_literal, kind, ping, priority, push_promise, reset,
    server, setting, settings, window_update,
};

/// The first entry of the dynamic table.
const NEWEST: [u8; 1] = [0xbe];

//= test RFC 9113 §4.3
// 12. Between the frames of a block nothing may come, of whatever kind and stream.
#[test]
fn blocks_are_contiguous() {
    let intruders: [fn(u32) -> Frame; 9] = [
        |id| data(id, "x"),
        |id| headers(id),
        |id| headers(id + 2).request("GET", "/"),
        |id| priority(id, 0),
        |id| reset(id, super::support::CANCEL),
        |_| settings(),
        |_| ping([0; 8]),
        |id| window_update(id, 1),
        |id| continuation(id + 2),
    ];
    for intruder in intruders {
        server(async |peer| {
            peer.send(headers(1).request("GET", "/").no_end_headers());
            peer.send(intruder(1));
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
        client(async |peer| {
            let (id, _call) = peer.call("GET", "/").await;
            peer.send(headers(id).response(200).no_end_headers());
            peer.send(intruder(id));
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §4.3
// 12. The block of a PUSH_PROMISE is contiguous too.
#[test]
fn promised_blocks_are_contiguous() {
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).request("GET", "/").no_end_headers());
        peer.send(headers(id).response(200));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §4.3
// 13. A block that cannot be decoded ends the connection with COMPRESSION_ERROR.
#[test]
fn undecodable_block() {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(headers(id).raw([0x80]).end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

//= test RFC 9113 §4.3
// 13. The same for the block of a promise.
#[test]
fn undecodable_promise() {
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).raw([0x80]));
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

//= test RFC 9113 §4.3
// 14. The block of a stream that is refused changes the table like any other.
#[test]
fn block_of_a_refused_stream_is_decoded() {
    let setup = Setup::new().serving(|b| {
        b.max_concurrent_streams(1);
    });
    setup.server(async |peer| {
        let first = peer.open().await;
        let refused = peer.fresh_id();
        let entry = indexed_literal("checksum", "1");
        peer.send(headers(refused).request("GET", "/").raw(entry).end_stream());
        peer.expect_reset(refused, REFUSED_STREAM).await;
        peer.send(headers(first).raw(NEWEST).end_stream());
        let exchange = &peer.exchanges().await[0];
        assert_eq!(exchange.end, End::Complete);
        assert_eq!(exchange.trailers.as_ref().unwrap()["checksum"], "1");
    });
}

//= test RFC 9113 §4.3
// 14. The block of a stream that we have reset changes the table like any other.
#[test]
fn block_of_a_reset_stream_is_decoded() {
    let entry = indexed_literal("checksum", "1");
    server(async |peer| {
        let gone = peer.reset_by_subject().await;
        peer.send(headers(gone).raw(&entry).end_stream());
        let id = peer.fresh_id();
        peer.send(headers(id).request("GET", "/").raw(NEWEST).end_stream());
        peer.expect_response(id, 200).await;
        let exchange = peer.exchanges().await.pop().unwrap();
        assert_eq!(exchange.request.headers()["checksum"], "1");
    });
    client(async |peer| {
        let gone = peer.reset_by_subject().await;
        peer.send(headers(gone).response(200).raw(&entry).end_stream());
        let (id, call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(200).raw(NEWEST).end_stream());
        assert_eq!(
            call.done().await.response.unwrap().headers()["checksum"],
            "1"
        );
    });
}

//= test RFC 9113 §4.3
// 14. The block of a malformed message changes the table like any other.
#[test]
fn block_of_a_malformed_message_is_decoded() {
    server(async |peer| {
        let id = peer.fresh_id();
        let entry = indexed_literal("checksum", "1");
        peer.send(headers(id).field("Bad Name", "").raw(entry).end_stream());
        peer.expect_reset(id, PROTOCOL_ERROR).await;
        let id = peer.fresh_id();
        peer.send(headers(id).request("GET", "/").raw(NEWEST).end_stream());
        peer.expect_response(id, 200).await;
        let exchange = peer.exchanges().await.pop().unwrap();
        assert_eq!(exchange.request.headers()["checksum"], "1");
    });
}

fn starts_with_update(block: &[u8], most: u8) {
    assert_eq!(block[0] & 0xe0, 0x20, "no size update: {block:x?}");
    assert!(block[0] & 0x1f <= most, "more than was allowed: {block:x?}");
}

//= test RFC 9113 §4.3.1
// 15. After the peer has lowered the table size our next block begins with a size update.
#[test]
fn block_after_a_smaller_table_begins_with_an_update() {
    let small = settings().set(setting::HEADER_TABLE_SIZE, 0);
    Setup::new().settings(small.clone()).server(async |peer| {
        peer.send(headers(1).request("GET", "/").end_stream());
        starts_with_update(&peer.expect_response(1, 200).await.block, 0);
    });
    client(async |peer| {
        peer.closed().await;
        peer.send(small.clone());
        peer.settle().await;
        let _call = peer
            .caller()
            .call(super::support::request("GET", "/"), false);
        starts_with_update(&peer.expect_kind(kind::HEADERS).await.block, 0);
    });
}

/// A setup whose endpoint announces no table.
fn without_table() -> Setup {
    let setup = Setup::new().serving(|b| {
        b.header_table_size(0);
    });
    setup.calling(|b| {
        b.header_table_size(0);
    })
}

//= test RFC 9113 §4.3.1
// 15. The peer's block without the size update that it owes is a decoding error.
#[test]
fn missing_size_update() {
    without_table().server(async |peer| {
        peer.send(headers(1).request("GET", "/").end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
    without_table().client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(200).end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

//= test RFC 9113 §4.3.1
// 15. With the size update the block is fine, and the next one needs none.
#[test]
fn owed_size_update() {
    without_table().server(async |peer| {
        peer.send(headers(1).raw([0x20]).request("GET", "/").end_stream());
        peer.expect_response(1, 200).await;
        peer.expect_alive().await;
    });
    without_table().client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(headers(id).raw([0x20]).response(200).end_stream());
        assert_eq!(call.done().await.status(), Some(200));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §4.3
// 12. A block may be cut anywhere into CONTINUATION frames, the last one may be empty.
#[test]
fn block_in_many_frames() {
    server(async |peer| {
        let block = headers(1).request("GET", "/").payload;
        let (first, rest) = block.split_at(1);
        peer.send(headers(1).raw(first).no_end_headers().end_stream());
        for octets in rest.chunks(16) {
            peer.send(frame(kind::CONTINUATION, 0, 1, octets));
        }
        peer.send(continuation(1));
        peer.expect_response(1, 200).await;
    });
}
