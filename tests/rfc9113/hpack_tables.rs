//! RFC 7541 on the wire: the tables, their sizes, and what is never in them.

use super::hpack::{undecodable, values};
use super::support::{
    COMPRESSION_ERROR, End, Frame, Peer, Setup, both, client, continuation, headers,
    indexed_literal, integer, kind, request, server, setting, settings, settings_ack,
};

//= test RFC 7541 §6.3
// 135. A table size above our limit.
#[test]
fn size_update_above_the_limit() {
    for size in [4_097, 1 << 20] {
        both(async |peer| {
            let id = peer.open().await;
            peer.send(headers(id).raw(integer(0x20, 5, size)).end_stream());
            peer.expect_go_away(COMPRESSION_ERROR).await;
        });
    }
}

//= test RFC 7541 §4.2
// 136. A size update stands at the beginning of a block, nowhere else.
#[test]
fn late_size_update() {
    undecodable(&[0x00, 1, b'a', 1, b'b', 0x20]);
    server(async |peer| {
        peer.send(headers(1).request("GET", "/").raw([0x20]).end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

//= test RFC 7541 §4.2
// 137. When the size went down and up again both sizes are told, the smallest first.
#[test]
fn two_size_updates_of_ours() {
    let twice = settings().set(setting::HEADER_TABLE_SIZE, 0);
    let twice = twice.set(setting::HEADER_TABLE_SIZE, 4_096);
    server(async |peer| {
        peer.closed().await;
        peer.send(twice.clone());
        let id = peer.fresh_id();
        peer.send(headers(id).request("GET", "/").end_stream());
        assert_eq!(
            peer.expect_response(id, 200).await.block[..4],
            [0x20, 0x3f, 0xe1, 0x1f]
        );
    });
    client(async |peer| {
        peer.closed().await;
        peer.send(settings().set(setting::HEADER_TABLE_SIZE, 0));
        peer.send(settings().set(setting::HEADER_TABLE_SIZE, 4_096));
        peer.settle().await;
        let _call = peer.caller().call(request("GET", "/"), false);
        let block = peer.expect_kind(kind::HEADERS).await.block;
        assert_eq!(block[..4], [0x20, 0x3f, 0xe1, 0x1f]);
    });
}

//= test RFC 7541 §4.2
// 137. The peer may tell two sizes at the beginning of a block; the first empties the table.
#[test]
fn two_size_updates_of_the_peer() {
    server(async |peer| {
        assert_eq!(values(peer, &[indexed_literal("a", "1")], "a").await, ["1"]);
        let update = headers(3).raw([0x20, 0x3f, 0xe1, 0x1f]).request("GET", "/");
        peer.send(update.end_stream());
        peer.expect_response(3, 200).await;
        peer.send(headers(5).request("GET", "/").raw([0xbe]).end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

//= test RFC 7541 §3.1
// 138. A block that ends inside a field.
#[test]
fn block_ends_inside_a_field() {
    for octets in [&[0x00][..], &[0x40], &[0x10, 1], &[0x40, 1, b'a'], &[0x41]] {
        undecodable(octets);
    }
}

//= test RFC 7541 §4.4
// 139. An entry larger than the table empties it and is no error.
#[test]
fn entry_larger_than_the_table() {
    server(async |peer| {
        let large = indexed_literal("a", "x".repeat(5_000));
        let blocks = [indexed_literal("a", "1"), large];
        assert_eq!(values(peer, &blocks, "a").await, ["x".repeat(5_000)]);
        peer.send(headers(5).request("GET", "/").raw([0xbe]).end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

//= test RFC 7541 §4.4
// 140. An entry may take its name from the entry that it evicts; sizes count 32 octets more.
#[test]
fn name_of_an_evicted_entry() {
    server(async |peer| {
        let value = "b".repeat(27);
        let mut evicting = vec![0x7e, 27];
        evicting.extend(value.as_bytes());
        // 64 octets: room for one of the two entries, of which the second fills it.
        let block = [
            integer(0x20, 5, 64),
            indexed_literal("aaaaa", "1"),
            evicting,
        ]
        .concat();
        let head = headers(1)
            .raw(&block[..2])
            .request("GET", "/")
            .raw(&block[2..]);
        peer.send(head.end_stream());
        peer.expect_response(1, 200).await;
        assert_eq!(values(peer, &[vec![0xbe]], "aaaaa").await, [value]);
        peer.send(headers(5).request("GET", "/").raw([0xbf]).end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

/// The first octet of each field of a block.
fn kinds_of_fields(mut block: &[u8]) -> Vec<u8> {
    fn skip(block: &mut &[u8], bits: u8) -> usize {
        let max = (1usize << bits) - 1;
        let mut value = block[0] as usize & max;
        *block = &block[1..];
        let mut shift = 0;
        while value >= max {
            let octet = block[0];
            *block = &block[1..];
            value += ((octet & 0x7f) as usize) << shift;
            shift += 7;
            if octet & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut kinds = Vec::new();
    while let Some(&first) = block.first() {
        kinds.push(first);
        let (bits, literal) = match first {
            0x80.. => (7, false),
            0x40.. => (6, true),
            0x20.. => (5, false),
            _ => (4, true),
        };
        let index = skip(&mut block, bits);
        let strings = if literal {
            1 + usize::from(index == 0)
        } else {
            0
        };
        for _ in 0..strings {
            let length = skip(&mut block, 7);
            block = &block[length..];
        }
    }
    kinds
}

//= test RFC 7541 §6.2.3
// 141. A field that came as never indexed is marked, and one so marked is sent so.
#[test]
fn never_indexed_fields() {
    server(async |peer| {
        let secret = [vec![0x10], indexed_literal("secret", "1")[1..].to_vec()].concat();
        peer.send(
            headers(1)
                .request("GET", "/")
                .raw(secret)
                .field("plain", "1")
                .end_stream(),
        );
        peer.expect_response(1, 200).await;
        let request = &peer.exchanges().await[0].request;
        assert!(request.headers()["secret"].is_sensitive());
        assert!(!request.headers()["plain"].is_sensitive());
    });
    client(async |peer| {
        for _ in 0..2 {
            let mut secret = request("GET", "/");
            let mut value = http::HeaderValue::from_static("1");
            value.set_sensitive(true);
            secret.headers_mut().insert("secret", value);
            let _call = peer.caller().call(secret, false);
            let head = peer.expect_kind(kind::HEADERS).await;
            assert_eq!(head.field("secret"), Some("1"));
            let kinds = kinds_of_fields(&head.block);
            assert!(kinds.iter().any(|first| first & 0xf0 == 0x10), "{kinds:x?}");
        }
    });
}

//= test RFC 9113 §4.3
// 142. Wherever a block is cut into frames, the table behind it is the same.
#[test]
fn block_cut_into_frames() {
    let block = headers(1)
        .request("GET", "/")
        .raw(indexed_literal("a", "1"))
        .payload;
    Setup::new().few_cuts().server(async |peer| {
        let mut id = 1;
        for at in 0..=block.len() {
            peer.send(headers(id).raw(&block[..at]).no_end_headers().end_stream());
            peer.send(continuation(id).raw(&block[at..]));
            peer.expect_response(id, 200).await;
            peer.send(headers(id + 2).request("GET", "/").raw([0xbe]).end_stream());
            peer.expect_response(id + 2, 200).await;
            let exchange = peer.exchanges().await.pop().unwrap();
            assert_eq!(exchange.request.headers()["a"], "1");
            id += 4;
        }
    });
}

fn table_of(size: u32) -> Setup {
    let setup = Setup::new().serving(move |b| {
        b.header_table_size(size);
    });
    setup.calling(move |b| {
        b.header_table_size(size);
    })
}

//= test RFC 7541 §4.2
// 143. Without a table everything works: what would be an entry is not one.
#[test]
fn no_table() {
    let entry = indexed_literal("a", "1");
    table_of(0).server(async |peer| {
        peer.send(
            headers(1)
                .raw([0x20])
                .request("GET", "/")
                .raw(&entry)
                .end_stream(),
        );
        peer.expect_response(1, 200).await;
        assert_eq!(peer.exchanges().await[0].request.headers()["a"], "1");
        peer.send(headers(3).request("GET", "/").raw([0xbe]).end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
    let none = settings().set(setting::HEADER_TABLE_SIZE, 0);
    Setup::new().settings(none).both(async |peer| {
        peer.expect_alive().await;
        peer.expect_alive().await;
    });
}

/// Starts a connection whose SETTINGS the peer does not acknowledge.
async fn unacknowledged(peer: &mut Peer) {
    peer.never_acknowledge();
    peer.send_preface();
    peer.send(settings());
    peer.settle().await;
}

fn get(id: u32, octets: &[u8]) -> Frame {
    headers(id).request("GET", "/").raw(octets).end_stream()
}

//= test RFC 7541 §4.2
// 144. Our table size holds from the peer's ACK on, not earlier: here a smaller one.
#[test]
fn smaller_table_holds_from_the_ack() {
    table_of(0).no_handshake().server(async |peer| {
        unacknowledged(peer).await;
        peer.send(get(1, &indexed_literal("a", "1")));
        peer.expect_response(1, 200).await;
        peer.send(get(3, &[0xbe]));
        peer.expect_response(3, 200).await;
        peer.send(settings_ack());
        peer.send(get(5, &[]));
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

//= test RFC 7541 §4.2
// 144. Our table size holds from the peer's ACK on: here a larger one.
#[test]
fn larger_table_holds_from_the_ack() {
    let update = integer(0x20, 5, 8_192);
    table_of(8_192).no_handshake().server(async |peer| {
        unacknowledged(peer).await;
        peer.send(headers(1).raw(&update).request("GET", "/").end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
    table_of(8_192).server(async |peer| {
        peer.send(headers(1).raw(&update).request("GET", "/").end_stream());
        peer.expect_response(1, 200).await;
    });
}

//= test RFC 7541 §4.3
// 140. The peer's smaller size evicts at once.
#[test]
fn smaller_size_evicts() {
    server(async |peer| {
        assert_eq!(values(peer, &[indexed_literal("a", "1")], "a").await, ["1"]);
        // The entry takes 34 octets.
        let update = integer(0x20, 5, 33);
        peer.send(headers(3).raw(update).request("GET", "/").end_stream());
        peer.expect_response(3, 200).await;
        peer.send(get(5, &[0xbe]));
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

//= test RFC 7541 §4.4
// 142. Each direction has a table of its own, and a long conversation keeps it in step.
#[test]
fn tables_stay_in_step() {
    Setup::new().few_cuts().both(async |peer| {
        for _ in 0..20 {
            peer.expect_alive().await;
        }
    });
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(200).raw(indexed_literal("a", "1")));
        peer.send(headers(id).raw([0xbe]).end_stream());
        let outcome = call.done().await;
        assert_eq!(outcome.trailers.unwrap()["a"], "1");
        assert_eq!(outcome.end, End::Complete);
    });
}
