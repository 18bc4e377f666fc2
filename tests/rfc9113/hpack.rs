//! RFC 7541 on the wire: fields, indices, integers and strings.

use super::support::{COMPRESSION_ERROR, Peer, both, headers, indexed_literal, integer, server};

/// Octets that make any block undecodable.
pub(super) fn undecodable(octets: &[u8]) {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(headers(id).raw(octets).end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
    server(async |peer| {
        peer.send(headers(1).request("GET", "/").raw(octets).end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
        assert!(peer.exchanges().await.is_empty());
    });
}

/// The values of a field in a request that consists of `blocks` on one stream each, of the last.
pub(super) async fn values(peer: &mut Peer, blocks: &[Vec<u8>], name: &str) -> Vec<String> {
    for block in blocks {
        let id = peer.fresh_id();
        peer.send(headers(id).request("GET", "/").raw(block).end_stream());
        peer.expect_response(id, 200).await;
    }
    let exchange = peer.exchanges().await.pop().unwrap();
    let all = exchange.request.headers().get_all(name).iter();
    all.map(|value| value.to_str().unwrap().to_owned())
        .collect()
}

//= test RFC 7541 §2.3.3
// 126. Fields keep their order, and a table may hold an entry twice.
#[test]
fn order_and_duplicates() {
    server(async |peer| {
        let twice = [
            indexed_literal("a", "1"),
            indexed_literal("a", "1"),
            vec![0xbf, 0xbe],
        ];
        assert_eq!(values(peer, &[twice.concat()], "a").await, ["1"; 4]);
        let ordered = [
            indexed_literal("a", "3"),
            vec![0xbf, 0xbe],
            indexed_literal("a", "2"),
        ];
        assert_eq!(
            values(peer, &[ordered.concat()], "a").await,
            ["3", "1", "3", "2"]
        );
    });
}

//= test RFC 7541 §6.1
// 127. Index 0 is no field.
#[test]
fn index_zero() {
    undecodable(&[0x80]);
}

//= test RFC 7541 §2.3.3
// 128. An index behind the last entry of the tables.
#[test]
fn index_behind_the_tables() {
    undecodable(&[0xbe]);
    undecodable(&integer(0x80, 7, 500));
    undecodable(&[indexed_literal("a", "1"), vec![0xbf]].concat());
}

//= test RFC 7541 §2.3.3
// 129. The index of a literal's name behind the last entry, in all three kinds of literal.
#[test]
fn name_index_behind_the_tables() {
    for (pattern, bits) in [(0x40, 6), (0x00, 4), (0x10, 4)] {
        let mut block = integer(pattern, bits, 62);
        block.extend([1, b'a']);
        undecodable(&block);
    }
}

//= test RFC 7541 §5.1
// 130. Integers that are too large or too long, with each prefix.
#[test]
fn integers_without_end() {
    for (before, first) in [
        (&[][..], 0xff),
        (&[], 0x7f),
        (&[], 0x0f),
        (&[], 0x1f),
        (&[0][..], 0x7f),
        (&[0], 0xff),
    ] {
        for rest in [[0xff; 12], [0x80; 12]] {
            let mut block = [before, &[first][..], &rest[..]].concat();
            block.extend([0, 1, b'a']);
            undecodable(&block);
        }
        undecodable(&[before, &[first, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, b'a'][..]].concat());
    }
    server(async |peer| {
        peer.send(
            headers(1)
                .raw([0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f])
                .end_stream(),
        );
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

//= test RFC 7541 §5.1
// 130. An integer that ends before its last octet.
#[test]
fn integers_cut_off() {
    for octets in [&[0xff][..], &[0x7f], &[0x0f], &[0x1f, 0x80], &[0x00, 0x7f]] {
        undecodable(octets);
    }
    server(async |peer| {
        peer.send(headers(1).raw([0x3f]).end_stream());
        peer.expect_go_away(COMPRESSION_ERROR).await;
    });
}

//= test RFC 7541 §5.1
// 130. A longer form of a small integer is no error.
#[test]
fn integers_with_a_trailing_zero() {
    server(async |peer| {
        // Name 15 of the static table is accept-charset.
        let block = vec![0x0f, 0x80, 0x00, 1, b'a'];
        assert_eq!(values(peer, &[block], "accept-charset").await, ["a"]);
    });
}

//= test RFC 7541 §5.2
// 131. A string that is longer than its block.
#[test]
fn string_longer_than_its_block() {
    undecodable(&[0x00, 5, b'a']);
    undecodable(&[0x00, 1, b'a', 5, b'b']);
    undecodable(&[0x00, 1, b'a', 0x85, 0x1f]);
    undecodable(&[0x40, 1, b'a', 0x7f, 0x80, 0x01, b'b']);
}

//= test RFC 7541 §5.2
// 132. Huffman padding is shorter than an octet.
#[test]
fn huffman_padding_too_long() {
    undecodable(&[0x00, 1, b'x', 0x82, 0x1f, 0xff]);
    undecodable(&[0x00, 0x82, 0x1f, 0xff, 1, b'x']);
}

//= test RFC 7541 §5.2
// 133. Huffman padding is all ones.
#[test]
fn huffman_padding_not_ones() {
    undecodable(&[0x00, 1, b'x', 0x81, 0x18]);
    undecodable(&[0x00, 1, b'x', 0x81, 0x1e]);
}

//= test RFC 7541 §5.2
// 134. A Huffman coded string does not contain the end of string.
#[test]
fn huffman_end_of_string() {
    undecodable(&[0x00, 1, b'x', 0x84, 0xff, 0xff, 0xff, 0xff]);
    undecodable(&[0x00, 1, b'x', 0x85, 0x1f, 0xff, 0xff, 0xff, 0xff]);
}

//= test RFC 7541 §5.2
// 132. Legal padding, of up to seven ones, is no part of the string.
#[test]
fn huffman_strings() {
    server(async |peer| {
        let block = vec![0x00, 0x81, 0x1f, 0x81, 0x1f];
        assert_eq!(values(peer, &[block], "a").await, ["a"]);
    });
}
