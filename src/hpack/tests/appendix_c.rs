//! RFC 7541 Appendix C, every example.

use bytes::BytesMut;

use super::super::integer::{self, Input};
use super::super::{Decoder, Encoder, huffman};
use super::{Plain, decode, encode, hex, plain};

//= test RFC 7541 §C.1
#[test]
fn c_1_integers() {
    for (value, prefix, octets) in [(10, 5, "0a"), (1337, 5, "1f9a0a"), (42, 8, "2a")] {
        let mut out = BytesMut::new();
        integer::encode(0, prefix, value, &mut out);
        assert_eq!(out, hex(octets));
        assert_eq!(Input::new(&out).integer(prefix), Ok(value));
    }
}

//= test RFC 7541 §C.2
#[test]
fn c_2_single_fields() {
    let cases = [
        (
            "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
            "custom-key",
            "custom-header",
            55,
        ),
        (
            "040c 2f73 616d 706c 652f 7061 7468",
            ":path",
            "/sample/path",
            0,
        ),
        (
            "1008 7061 7373 776f 7264 0673 6563 7265 74",
            "password",
            "secret",
            0,
        ),
        ("82", ":method", "GET", 0),
    ];
    for (block, name, value, table_size) in cases {
        let mut decoder = Decoder::new(4096);
        assert_eq!(
            decode(&mut decoder, &hex(block)),
            Ok(vec![plain(name, value)])
        );
        assert_eq!(decoder.table().size(), table_size);
    }
}

fn requests() -> [Vec<Plain>; 3] {
    let begin = |scheme, path| {
        vec![
            plain(":method", "GET"),
            plain(":scheme", scheme),
            plain(":path", path),
            plain(":authority", "www.example.com"),
        ]
    };
    let mut requests = [
        begin("http", "/"),
        begin("http", "/"),
        begin("https", "/index.html"),
    ];
    requests[1].push(plain("cache-control", "no-cache"));
    requests[2].push(plain("custom-key", "custom-value"));
    requests
}

fn responses() -> [Vec<Plain>; 3] {
    let begin = |status, date| {
        vec![
            plain(":status", status),
            plain("cache-control", "private"),
            plain("date", date),
            plain("location", "https://www.example.com"),
        ]
    };
    let date = "Mon, 21 Oct 2013 20:13:21 GMT";
    let later = "Mon, 21 Oct 2013 20:13:22 GMT";
    let mut responses = [begin("302", date), begin("307", date), begin("200", later)];
    responses[2].push(plain("content-encoding", "gzip"));
    responses[2].push(plain(
        "set-cookie",
        "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    ));
    responses
}

fn check(decoder: &mut Decoder, blocks: [&str; 3], lists: [Vec<Plain>; 3], sizes: [usize; 3]) {
    for ((block, list), size) in blocks.into_iter().zip(lists).zip(sizes) {
        assert_eq!(decode(decoder, &hex(block)), Ok(list));
        assert_eq!(decoder.table().size(), size);
    }
}

//= test RFC 7541 §C.3
#[test]
fn c_3_requests_without_huffman() {
    let blocks = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    check(&mut Decoder::new(4096), blocks, requests(), [57, 110, 164]);
}

const C_4: [&str; 3] = [
    "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
    "8286 84be 5886 a8eb 1064 9cbf",
    "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
];

//= test RFC 7541 §C.4
#[test]
fn c_4_requests_with_huffman() {
    check(&mut Decoder::new(4096), C_4, requests(), [57, 110, 164]);
}

//= test RFC 7541 §C.4
#[test]
fn c_4_requests_encoded() {
    let mut encoder = Encoder::new();
    for (block, list) in C_4.into_iter().zip(requests()) {
        assert_eq!(encode(&mut encoder, &list), hex(block));
    }
}

//= test RFC 7541 §C.5
#[test]
fn c_5_responses_without_huffman() {
    let blocks = [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032
         303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63
         6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0
         5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851
         5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
    ];
    check(&mut Decoder::new(256), blocks, responses(), [222, 222, 215]);
}

//= test RFC 7541 §C.6
#[test]
fn c_6_responses_with_huffman() {
    let blocks = [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b
         ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad
         94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160
         65c0 03ed 4ee5 b106 3d50 07",
    ];
    check(&mut Decoder::new(256), blocks, responses(), [222, 222, 215]);
}

/// Our encoder stores neither `location` nor `set-cookie`, so its blocks differ from those of the
/// example; the strings do not.
//= test RFC 7541 §C.6
#[test]
fn c_6_responses_encoded() {
    let mut encoder = Encoder::new();
    encoder.set_max_table_size(256);
    let mut decoder = Decoder::new(4096);
    for list in responses() {
        let block = encode(&mut encoder, &list);
        assert_eq!(decode(&mut decoder, &block), Ok(list));
        assert!(decoder.table().size() <= 256);
    }
    let strings = [
        ("302", "6402"),
        ("private", "aec3 771a 4b"),
        ("307", "640e ff"),
        (
            "Mon, 21 Oct 2013 20:13:21 GMT",
            "d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff",
        ),
        (
            "https://www.example.com",
            "9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3",
        ),
        ("gzip", "9bd9 ab"),
    ];
    for (string, octets) in strings {
        let mut out = BytesMut::new();
        huffman::encode(
            string.as_bytes(),
            huffman::encoded_len(string.as_bytes()),
            &mut out,
        );
        assert_eq!(out, hex(octets));
    }
}
