//! Comparison with the `hpack` crate in both directions, and octets that nobody meant.
//!
//! The other decoder panics on some blocks, so it is only given what our encoder wrote.

use bytes::BytesMut;
use http::HeaderValue;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::{Budget, Decoder, Encoder, Name, huffman};
use super::{NO_LIMIT, Plain, decode, decode_within, encode};

fn name() -> impl Strategy<Value = Vec<u8>> {
    let known = select(vec![
        ":method",
        ":path",
        ":scheme",
        ":authority",
        ":status",
        ":protocol",
        "accept",
        "accept-encoding",
        "authorization",
        "cookie",
        "set-cookie",
        "content-length",
        "etag",
        "user-agent",
        "x-a",
        "x-b",
        "x-request-id",
    ]);
    prop_oneof![
        4 => known.prop_map(|name| name.as_bytes().to_vec()),
        1 => "[a-z0-9-]{1,40}".prop_map(String::into_bytes),
    ]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => select(vec!["", "GET", "200", "/", "https", "gzip, deflate", "one", "two"])
            .prop_map(|value| value.as_bytes().to_vec()),
        2 => "[ -~]{0,60}".prop_map(|value| value.trim().as_bytes().to_vec()),
        1 => vec(0x80..=0xffu8, 0..30),
        1 => (1500..5000usize).prop_map(|length| vec![b'x'; length]),
    ]
}

fn blocks() -> impl Strategy<Value = Vec<Vec<Plain>>> {
    vec(vec((name(), value()), 0..12), 1..12)
}

/// Table sizes that the peer sets between blocks.
fn sizes() -> impl Strategy<Value = Vec<usize>> {
    vec(
        prop_oneof![Just(4096), Just(0), 0..600usize, Just(1 << 20)],
        12,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_we_encode_both_decode(blocks in blocks(), sizes in sizes()) {
        let mut encoder = Encoder::new();
        let mut ours = Decoder::new(4096);
        let mut theirs = hpack::Decoder::new();
        for (fields, size) in blocks.into_iter().zip(sizes) {
            encoder.set_max_table_size(size);
            let block = encode(&mut encoder, &fields);
            prop_assert_eq!(theirs.decode(&block).unwrap(), fields.clone());
            prop_assert_eq!(decode(&mut ours, &block).unwrap(), fields);
        }
    }

    #[test]
    fn what_they_encode_we_decode(blocks in blocks()) {
        let mut encoder = hpack::Encoder::new();
        let mut decoder = Decoder::new(4096);
        for fields in blocks {
            let block = encoder.encode(fields.iter().map(|(name, value)| (&name[..], &value[..])));
            prop_assert_eq!(decode(&mut decoder, &block).unwrap(), fields);
        }
    }

    #[test]
    fn huffman_is_undone(string in vec(any::<u8>(), 0..200)) {
        let mut coded = BytesMut::new();
        let length = huffman::encoded_len(&string);
        huffman::encode(&string, length, &mut coded);
        prop_assert_eq!(coded.len(), length);
        let mut decoded = Vec::new();
        huffman::decode(&coded, &mut decoded).unwrap();
        prop_assert_eq!(&decoded, &string);
        let theirs = hpack::huffman::HuffmanDecoder::new().decode(&coded);
        prop_assert_eq!(theirs.unwrap(), string);
    }

    /// Bit by bit over the code table, as the RFC tells it.
    #[test]
    fn huffman_decoder_agrees_with_a_slow_one(string in vec(any::<u8>(), 0..24)) {
        let mut decoded = Vec::new();
        let result = huffman::decode(&string, &mut decoded);
        prop_assert_eq!(result.ok().map(|()| decoded), slow_huffman(&string));
    }

    #[test]
    fn any_octets_are_decoded_or_refused(
        blocks in vec(vec(any::<u8>(), 0..200), 1..6),
        bytes in 0..2000usize,
        count in 0..20usize,
    ) {
        let mut decoder = Decoder::new(4096);
        for block in blocks {
            let budget = Budget { bytes, fields: count };
            let Ok((fields, consumed)) = decode_within(&mut decoder, &block, budget) else { break };
            prop_assert!(consumed.fields <= block.len());
            prop_assert!(fields.len() <= count);
            prop_assert!(fields.iter().map(|field| field.size()).sum::<usize>() <= bytes);
            prop_assert!(decoder.table().size() <= 4096);
        }
    }

    /// Nearly lawful blocks reach deeper than random ones.
    #[test]
    fn damaged_blocks_are_decoded_or_refused(
        blocks in blocks(),
        at in any::<prop::sample::Index>(),
        octet: u8,
    ) {
        let mut encoder = Encoder::new();
        let mut decoder = Decoder::new(4096);
        for fields in blocks {
            let mut block = encode(&mut encoder, &fields);
            if !block.is_empty() {
                let at = at.index(block.len());
                block[at] = octet;
            }
            if decode(&mut decoder, &block).is_err() {
                break;
            }
        }
    }

    /// A budget changes what is handed out and nothing else.
    #[test]
    fn budget_leaves_the_table_alone(blocks in blocks(), bytes in 0..3000usize, count in 0..9usize) {
        let mut encoder = Encoder::new();
        let mut free = Decoder::new(4096);
        let mut bounded = Decoder::new(4096);
        for fields in blocks {
            let block = encode(&mut encoder, &fields);
            let (all, total) = decode_within(&mut free, &block, NO_LIMIT).unwrap();
            let budget = Budget { bytes, fields: count };
            let (some, consumed) = decode_within(&mut bounded, &block, budget).unwrap();
            prop_assert_eq!(&some[..], &all[..some.len()]);
            prop_assert_eq!(consumed.over, some.len() < all.len());
            prop_assert_eq!(consumed.list_size, total.list_size);
            prop_assert_eq!(bounded.table().contents(), free.table().contents());
        }
    }

    /// A block cut anywhere is refused, or is the whole of its first fields.
    #[test]
    fn cut_block_yields_a_prefix(fields in vec((name(), value()), 1..8)) {
        let block = encode(&mut Encoder::new(), &fields);
        for end in 0..block.len() {
            if let Ok(some) = decode(&mut Decoder::new(4096), &block[..end]) {
                prop_assert_eq!(&some[..], &fields[..some.len()]);
                prop_assert!(some.len() < fields.len());
            }
        }
    }

    #[test]
    fn values_are_as_lawful_as_http_says(octets in vec(any::<u8>(), 0..8)) {
        let lawful = HeaderValue::from_bytes(&octets).is_ok();
        let mut block = vec![0x0f, 0x13, octets.len() as u8];
        block.extend(&octets);
        let (fields, _) = decode_within(&mut Decoder::new(4096), &block, NO_LIMIT).unwrap();
        prop_assert!(matches!(fields[0].name, Name::Regular(_)));
        if !lawful {
            prop_assert!(matches!(fields[0].value, super::super::Value::Malformed(_)));
        }
    }
}

/// `None` for any fault.
fn slow_huffman(string: &[u8]) -> Option<Vec<u8>> {
    use super::super::huffman_table::{CODES, LENGTHS};
    let mut decoded = Vec::new();
    let (mut code, mut length) = (0u32, 0u8);
    for bit in string
        .iter()
        .flat_map(|octet| (0..8).rev().map(move |bit| octet >> bit & 1))
    {
        code = code << 1 | u32::from(bit);
        length += 1;
        let symbol = (0..257).find(|&symbol| LENGTHS[symbol] == length && CODES[symbol] == code);
        if let Some(symbol) = symbol {
            decoded.push(u8::try_from(symbol).ok()?);
            (code, length) = (0, 0);
        }
    }
    (length <= 7 && code == (1 << length) - 1).then_some(decoded)
}
