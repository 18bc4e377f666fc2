//! The encoder: what it stores, what it never stores, and what it is allowed to forget.

use http::HeaderValue;

use super::super::encoder_table::{CAPACITY, EncoderTable};
use super::super::static_table::{self, Match};
use super::super::{Decoder, Encoder, Name, Pseudo};
use super::{decode, encode, encode_one, encode_pseudo, plain};

//= test RFC 7541 §A
#[test]
fn static_table_agrees_with_itself() {
    for index in 1..=static_table::LEN {
        let field = static_table::field(index).unwrap();
        let found = match &field.name {
            Name::Pseudo(name) => static_table::find_pseudo(*name, field.value.as_bytes()),
            Name::Regular(name) => static_table::find_regular(name, field.value.as_bytes()),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, Match::Field(index));
    }
    assert_eq!(static_table::field(0), None);
    assert_eq!(static_table::field(62), None);
}

//= test RFC 7541 §7.1.3
#[test]
fn secrets_are_never_indexed() {
    let value = HeaderValue::from_static("short");
    for name in [
        "authorization",
        "proxy-authorization",
        "set-cookie",
        "cookie",
    ] {
        let mut encoder = Encoder::new();
        let block = encode_one(&mut encoder, name, &value);
        assert_eq!(block[0] & 0xf0, 0x10, "{name}");
        assert_eq!(encode_one(&mut encoder, name, &value), block, "{name}");
    }
    let mut encoder = Encoder::new();
    let long = HeaderValue::from_static("session=0123456789abcdef");
    assert_eq!(encode_one(&mut encoder, "cookie", &long)[0] & 0xc0, 0x40);
    assert_eq!(encode_one(&mut encoder, "cookie", &long), [0xbe]);
}

//= test RFC 7541 §7.1.3
#[test]
fn sensitive_value_is_not_looked_up() {
    let mut encoder = Encoder::new();
    let open = HeaderValue::from_static("same");
    let mut secret = open.clone();
    secret.set_sensitive(true);
    encode_one(&mut encoder, "x-key", &open);
    assert_eq!(encode_one(&mut encoder, "x-key", &secret)[0] & 0xf0, 0x10);
    let mut empty = HeaderValue::from_static("");
    empty.set_sensitive(true);
    assert_eq!(encode_one(&mut encoder, "accept", &empty)[0] & 0xf0, 0x10);
}

#[test]
fn volatile_fields_do_not_enter_the_table() {
    let mut encoder = Encoder::new();
    let value = HeaderValue::from_static("12345");
    for name in ["content-length", "etag", "age", "location", "range"] {
        let block = encode_one(&mut encoder, name, &value);
        assert_eq!(block[0] & 0xf0, 0, "{name}");
    }
    assert_eq!(encode_pseudo(&mut encoder, Pseudo::Path, "/a")[0], 4);
    assert_eq!(
        encode_pseudo(&mut encoder, Pseudo::Authority, "a.b")[0],
        0x41
    );
    assert_eq!(
        encode_pseudo(&mut encoder, Pseudo::Authority, "a.b"),
        [0xbe]
    );
    assert_eq!(
        encode_pseudo(&mut encoder, Pseudo::Protocol, "websocket")[0],
        0x40
    );
    assert_eq!(
        encode_pseudo(&mut encoder, Pseudo::Protocol, "other")[0],
        0x7e
    );
}

#[test]
fn string_is_coded_only_if_that_is_shorter() {
    let mut encoder = Encoder::new();
    assert_eq!(
        encode_one(&mut encoder, "etag", &HeaderValue::from_static("{}")),
        b"\x0f\x13\x02{}"
    );
    assert_eq!(
        encode_one(&mut encoder, "etag", &HeaderValue::from_static("aa")),
        b"\x0f\x13\x02aa"
    );
    assert_eq!(
        encode_one(&mut encoder, "etag", &HeaderValue::from_static("000"))[2],
        0x82
    );
}

#[test]
fn one_large_field_does_not_empty_the_table() {
    let mut encoder = Encoder::new();
    let small = HeaderValue::from_static("small");
    let large = HeaderValue::from_str(&"x".repeat(3500)).unwrap();
    encode_one(&mut encoder, "x-small", &small);
    assert_eq!(encode_one(&mut encoder, "x-large", &large)[0], 0);
    assert_eq!(encode_one(&mut encoder, "x-small", &small), [0xbe]);
}

#[test]
fn table_is_capped_whatever_the_peer_allows() {
    let mut encoder = Encoder::new();
    encoder.set_max_table_size(1 << 30);
    let mut decoder = Decoder::new(4096);
    for i in 0..1000 {
        let field = plain("x-unique", &format!("value-{i}"));
        let block = encode(&mut encoder, std::slice::from_ref(&field));
        assert_eq!(decode(&mut decoder, &block), Ok(vec![field]));
    }
    assert!(decoder.table().size() <= CAPACITY);
}

#[test]
fn newest_equal_entry_is_found_and_evicted_ones_are_not() {
    let mut table = EncoderTable::new();
    table.set_max_size(34 * 3);
    let insert = |table: &mut EncoderTable, value: &[u8]| {
        let hash = table.hash(b"a", value);
        table.insert(hash, b"a", value);
    };
    let find =
        |table: &EncoderTable, value: &[u8]| table.find(table.hash(b"a", value), b"a", value);
    for value in [b"1", b"2", b"1"] {
        insert(&mut table, value);
    }
    assert_eq!(find(&table, b"1"), Some(62));
    assert_eq!(find(&table, b"2"), Some(63));
    insert(&mut table, b"3");
    insert(&mut table, b"4");
    assert_eq!(find(&table, b"1"), Some(64));
    assert_eq!(find(&table, b"2"), None);
    assert_eq!(table.find_name(table.hash(b"a", b""), b"a"), Some(62));
    table.set_max_size(0);
    assert_eq!(find(&table, b"4"), None);
    assert_eq!(table.find_name(table.hash(b"a", b""), b"a"), None);
}

/// Names and values meet at a boundary that the hash and the comparison must see.
#[test]
fn fields_with_equal_concatenation_differ() {
    let mut table = EncoderTable::new();
    table.insert(table.hash(b"ab", b"c"), b"ab", b"c");
    assert_eq!(table.find(table.hash(b"a", b"bc"), b"a", b"bc"), None);
    assert_eq!(table.find(table.hash(b"ab", b"c"), b"ab", b"c"), Some(62));
}
