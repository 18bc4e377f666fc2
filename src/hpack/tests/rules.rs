//! RFC 7541, one test for each rule that a decoder enforces.

use http::HeaderValue;

use super::super::huffman_table::{CODES, LENGTHS, SYMBOLS};
use super::super::{DecodeError, Decoder, Encoder, Field, Name, Pseudo, Value, huffman};
use super::{
    Budget, NO_LIMIT, decode, decode_within, encode, encode_one, fault, hex, plain, to_plain,
};

//= test RFC 7541 §2.1
#[test]
fn order_is_kept() {
    let block = hex("82 4001 6101 31 4001 6201 32 84 4001 6101 33");
    let names: Vec<_> = decode(&mut Decoder::new(4096), &block).unwrap();
    let expected = [
        (":method", "GET"),
        ("a", "1"),
        ("b", "2"),
        (":path", "/"),
        ("a", "3"),
    ];
    assert_eq!(names, expected.map(|(name, value)| plain(name, value)));
}

//= test RFC 7541 §2.3.2
#[test]
fn duplicate_entries_are_lawful() {
    let mut decoder = Decoder::new(4096);
    let twice = decode(&mut decoder, &hex("4001 6101 31 4001 6101 31 be bf")).unwrap();
    assert_eq!(twice, vec![plain("a", "1"); 4]);
    assert_eq!(decoder.table().contents().len(), 2);
}

//= test RFC 7541 §6.1
#[test]
fn index_zero_is_an_error() {
    assert_eq!(fault("80"), DecodeError::IndexZero);
    assert_eq!(fault("82 80"), DecodeError::IndexZero);
}

//= test RFC 7541 §2.3.3
#[test]
fn index_past_both_tables_is_an_error() {
    assert_eq!(fault("be"), DecodeError::IndexOutOfRange);
    assert_eq!(fault("4001 6101 31 be bf"), DecodeError::IndexOutOfRange);
    assert_eq!(fault("ff ff ff ff 07"), DecodeError::IndexOutOfRange);
}

//= test RFC 7541 §2.3.3
#[test]
fn name_index_past_both_tables_is_an_error() {
    assert_eq!(fault("7e 0131"), DecodeError::NameIndexOutOfRange);
    assert_eq!(fault("0f2f 0131"), DecodeError::NameIndexOutOfRange);
    assert_eq!(fault("1f2f 0131"), DecodeError::NameIndexOutOfRange);
}

//= test RFC 7541 §5.1
#[test]
fn integers_too_large_or_too_long_are_errors() {
    let first_octets = [
        "ff",   // 7 bits: indexed field
        "7f",   // 6 bits: stored literal
        "3f",   // 5 bits: size update
        "0f",   // 4 bits: literal
        "1f",   // 4 bits: literal, never stored
        "007f", // 7 bits: string length
        "00ff", // 7 bits: length of a Huffman string
    ];
    let tails = [
        "ffffffff0f",
        "ffffffffff01",
        "8080808080 00",
        "8080808080808080808000",
        "ffffffff7f",
    ];
    for first in first_octets {
        for tail in tails {
            assert_eq!(
                fault(&format!("{first}{tail}")),
                DecodeError::IntegerTooLarge,
                "{first} {tail}"
            );
        }
    }
}

//= test RFC 7541 §5.1
#[test]
fn trailing_zeros_within_the_limit_are_lawful() {
    let fields = decode(&mut Decoder::new(4096), &hex("ff 80 80 80 80 00")).map(|_| ());
    assert_eq!(fields, Err(DecodeError::IndexOutOfRange));
    let fields = decode(&mut Decoder::new(4096), &hex("1f 80 80 00 0131")).unwrap();
    assert_eq!(fields, [plain("accept-charset", "1")]);
}

//= test RFC 7541 §5.2
#[test]
fn string_past_the_block_is_an_error() {
    assert_eq!(fault("4002 61"), DecodeError::StringPastEnd);
    assert_eq!(fault("4001 6102 31"), DecodeError::StringPastEnd);
    assert_eq!(fault("4001 6182 31"), DecodeError::StringPastEnd);
    assert_eq!(fault("007f ff ff ff 07 61"), DecodeError::StringPastEnd);
}

//= test RFC 7541 §5.2
#[test]
fn padding_longer_than_seven_bits_is_an_error() {
    assert_eq!(fault("0081 ff"), DecodeError::PaddingTooLong);
    // "a" is 00011, then three ones, then eight more.
    assert_eq!(fault("0082 1fff"), DecodeError::PaddingTooLong);
    assert_eq!(fault("0084 1fff ffff"), DecodeError::PaddingTooLong);
}

//= test RFC 7541 §5.2
#[test]
fn padding_that_is_not_ones_is_an_error() {
    assert_eq!(fault("0081 1e"), DecodeError::PaddingNotOnes);
    assert_eq!(fault("0081 18"), DecodeError::PaddingNotOnes);
    // ":", then nine bits of a code of ten.
    assert_eq!(fault("0082 b9fc"), DecodeError::PaddingNotOnes);
}

//= test RFC 7541 §5.2
#[test]
fn end_of_string_inside_a_string_is_an_error() {
    assert_eq!(fault("0084 ffff fffc"), DecodeError::EndOfStringInside);
    assert_eq!(fault("0084 ffff ffff"), DecodeError::EndOfStringInside);
    assert_eq!(fault("0085 1fff ffff ff"), DecodeError::EndOfStringInside);
    assert_eq!(
        fault("008a ffff ffff ffff ffff ffff"),
        DecodeError::EndOfStringInside
    );
}

//= test RFC 7541 §6.3
#[test]
fn size_update_above_our_limit_is_an_error() {
    assert_eq!(fault("3fe2 1f"), DecodeError::SizeUpdateTooLarge);
    assert_eq!(
        decode(&mut Decoder::new(4096), &hex("3fe1 1f 82")),
        Ok(vec![plain(":method", "GET")])
    );
}

//= test RFC 7541 §4.2
#[test]
fn size_update_after_a_field_is_an_error() {
    assert_eq!(fault("82 20"), DecodeError::SizeUpdateAfterField);
    assert_eq!(fault("20 82 20"), DecodeError::SizeUpdateAfterField);
}

//= test RFC 9113 §4.3.1
#[test]
fn size_update_is_demanded_after_a_lower_limit() {
    let mut decoder = Decoder::new(4096);
    decoder.set_max_table_size(100);
    assert_eq!(
        decode(&mut decoder, &hex("82")),
        Err(DecodeError::SizeUpdateMissing)
    );

    let mut decoder = Decoder::new(4096);
    decoder.set_max_table_size(0);
    decoder.set_max_table_size(4096);
    // Up again without having been down.
    assert_eq!(
        decode(&mut decoder, &hex("3fe1 1f 82")),
        Err(DecodeError::SizeUpdateMissing)
    );

    let mut decoder = Decoder::new(4096);
    decoder.set_max_table_size(0);
    decoder.set_max_table_size(4096);
    assert!(decode(&mut decoder, &hex("20 3fe1 1f 82")).is_ok());
    assert!(decode(&mut decoder, &hex("82")).is_ok());
}

//= test RFC 9113 §4.3.1
#[test]
fn no_size_update_is_demanded_of_a_smaller_table() {
    let mut decoder = Decoder::new(4096);
    assert!(decode(&mut decoder, &hex("20 82")).is_ok());
    decoder.set_max_table_size(100);
    assert!(decode(&mut decoder, &hex("82")).is_ok());
    decoder.set_max_table_size(65_536);
    assert!(decode(&mut decoder, &hex("82")).is_ok());
}

//= test RFC 7541 §4.2
#[test]
fn encoder_signals_the_smallest_size_first() {
    let mut encoder = Encoder::new();
    encoder.set_max_table_size(4096);
    assert_eq!(encode(&mut encoder, &[]), []);
    encoder.set_max_table_size(200);
    encoder.set_max_table_size(0);
    encoder.set_max_table_size(100);
    assert_eq!(encode(&mut encoder, &[]), hex("20 3f45"));
    assert_eq!(encode(&mut encoder, &[]), []);
    encoder.set_max_table_size(50);
    assert_eq!(encode(&mut encoder, &[]), hex("3f13"));
    encoder.set_max_table_size(usize::MAX);
    assert_eq!(encode(&mut encoder, &[]), hex("3fe1 1f"));
}

//= test RFC 7541 §3.1
#[test]
fn block_that_ends_inside_a_field_is_an_error() {
    for block in [
        "40", "00", "10", "0f", "7f", "ff", "3f", "ff80", "4001 61", "00 7f", "3fff",
    ] {
        assert_eq!(fault(block), DecodeError::Truncated, "{block}");
    }
}

//= test RFC 7541 §4.4
#[test]
fn entry_larger_than_the_table_empties_it() {
    let mut decoder = Decoder::new(68);
    assert!(decode(&mut decoder, &hex("4001 6101 31 4001 6201 32")).is_ok());
    assert_eq!(decoder.table().size(), 68);
    let mut block = hex("4001 6123");
    block.extend([b'x'; 0x23 + 1]);
    block[3] = 0x24;
    assert_eq!(
        decode(&mut decoder, &block),
        Ok(vec![plain("a", &"x".repeat(0x24))])
    );
    assert_eq!(decoder.table().size(), 0);
    assert_eq!(
        decode(&mut decoder, &hex("be")),
        Err(DecodeError::IndexOutOfRange)
    );
}

//= test RFC 7541 §4.1
#[test]
fn entry_size_is_name_and_value_and_32() {
    let mut decoder = Decoder::new(4096);
    assert!(decode(&mut decoder, &hex("4003 616263 0431323334")).is_ok());
    assert_eq!(decoder.table().size(), 3 + 4 + 32);
}

//= test RFC 7541 §4.4
#[test]
fn name_of_an_entry_that_is_evicted_may_be_used() {
    let mut decoder = Decoder::new(40);
    assert!(decode(&mut decoder, &hex("4003 616263 0131")).is_ok());
    assert_eq!(
        decode(&mut decoder, &hex("7e 0132")),
        Ok(vec![plain("abc", "2")])
    );
    let contents: Vec<_> = decoder.table().contents().iter().map(to_plain).collect();
    assert_eq!(contents, [plain("abc", "2")]);
}

//= test RFC 7541 §6.2.3
#[test]
fn never_indexed_stays_never_indexed() {
    let mut encoder = Encoder::new();
    let mut secret = HeaderValue::from_static("secret");
    secret.set_sensitive(true);
    let block = encode_one(&mut encoder, "x-key", &secret);
    assert_eq!(block[0], 0x10);
    let (fields, _) = decode_within(&mut Decoder::new(4096), &block, NO_LIMIT).unwrap();
    let Value::Valid(value) = &fields[0].value else {
        panic!("malformed")
    };
    assert!(value.is_sensitive());
    assert_eq!(encode_one(&mut encoder, "x-key", value), block);
}

//= test RFC 7541 §2.2
#[test]
fn table_is_the_same_however_fields_are_spread_over_blocks() {
    let fields: Vec<_> = (0..40)
        .map(|i| plain(&format!("x-{}", i % 7), &"v".repeat(i * 5 % 90)))
        .collect();
    let mut whole = Decoder::new(600);
    let mut spread = Decoder::new(600);
    let mut encoder = Encoder::new();
    encoder.set_max_table_size(600);
    let mut all = Vec::new();
    for field in &fields {
        let block = encode(&mut encoder, std::slice::from_ref(field));
        assert!(decode(&mut spread, &block).is_ok());
        all.extend(block);
    }
    assert_eq!(decode(&mut whole, &all), Ok(fields));
    assert_eq!(whole.table().contents(), spread.table().contents());
}

//= test RFC 7541 §4.2
#[test]
fn limit_zero_means_no_table() {
    let mut decoder = Decoder::new(0);
    assert_eq!(
        decode(&mut decoder, &hex("4001 6101 31")),
        Ok(vec![plain("a", "1")])
    );
    assert_eq!(
        decode(&mut decoder, &hex("be")),
        Err(DecodeError::IndexOutOfRange)
    );

    let mut encoder = Encoder::new();
    encoder.set_max_table_size(0);
    let first = encode(&mut encoder, &[plain("a", "1")]);
    assert_eq!(first[0], 0x20);
    assert_eq!(encode(&mut encoder, &[plain("a", "1")]), first[1..]);
}

/// The caller tells the limit when the acknowledgment arrives, and not before.
//= test RFC 7541 §4.2
#[test]
fn higher_limit_counts_from_the_acknowledgment_on() {
    let mut decoder = Decoder::new(4096);
    assert_eq!(
        decode(&mut decoder, &hex("3fe1 3f")),
        Err(DecodeError::SizeUpdateTooLarge)
    );
    let mut decoder = Decoder::new(4096);
    decoder.set_max_table_size(8192);
    assert!(decode(&mut decoder, &hex("3fe1 3f")).is_ok());
    assert_eq!(decoder.table().max_size(), 8192);
}

//= test RFC 9113 §8.2.1
#[test]
fn unlawful_names_and_values_are_marked_and_the_block_goes_on() {
    let first = |block: &str| {
        let mut decoder = Decoder::new(4096);
        let (fields, _) = decode_within(&mut decoder, &hex(block), NO_LIMIT).unwrap();
        assert_eq!(to_plain(&fields[1]), plain(":method", "GET"), "{block}");
        if block.starts_with('4') {
            assert_eq!(decoder.table().contents(), fields[..1]);
        }
        fields[0].clone()
    };
    for block in [
        "4001 4101 31 82",
        "0000 0131 82",
        "4002 6120 0131 82",
        "0001 0001 31 82",
    ] {
        assert!(
            matches!(
                first(block),
                Field {
                    name: Name::Malformed(_),
                    ..
                }
            ),
            "{block}"
        );
    }
    let values = [
        "00", "0d", "0a", "20", "09", "2061", "6120", "0961", "6109", "610061", "610a61",
    ];
    for value in values {
        let block = format!("4001 61{:02x} {value} 82", value.len() / 2);
        assert!(
            matches!(
                first(&block),
                Field {
                    value: Value::Malformed(_),
                    ..
                }
            ),
            "{value}"
        );
    }
    assert_eq!(
        first("4001 6103 6120 62 82").value,
        Value::from_bytes(b"a b")
    );
    assert!(matches!(first("4001 6102 80ff 82").value, Value::Valid(_)));
    assert!(matches!(
        first("4002 3a61 0131 82").name,
        Name::UnknownPseudo(_)
    ));
    assert_eq!(
        first("4009 3a70 726f 746f 636f 6c01 31 82").name,
        Name::Pseudo(Pseudo::Protocol)
    );
}

//= test RFC 9113 §10.5.1
#[test]
fn past_the_budget_nothing_is_handed_out_and_the_table_stays_in_step() {
    let block = hex("4001 6101 31 4001 6201 32 82 0001 6301 33 be 4001 6401 34");
    let mut free = Decoder::new(4096);
    decode(&mut free, &block).unwrap();
    for (bytes, fields, handed_out) in [(0, 9, 0), (34, 9, 1), (67, 9, 1), (68, 9, 2), (999, 3, 3)]
    {
        let mut decoder = Decoder::new(4096);
        let (list, consumed) =
            decode_within(&mut decoder, &block, Budget { bytes, fields }).unwrap();
        assert_eq!(list.len(), handed_out);
        assert!(consumed.over);
        assert_eq!((consumed.fields, consumed.list_size), (6, 34 * 5 + 42));
        assert_eq!(decoder.table().contents(), free.table().contents());
    }
    let exact = Budget {
        bytes: 34 * 5 + 42,
        fields: 6,
    };
    let (list, consumed) = decode_within(&mut Decoder::new(4096), &block, exact).unwrap();
    assert_eq!(list.len(), 6);
    assert!(!consumed.over);
}

#[test]
fn fields_do_not_share_memory_with_the_block() {
    let block = bytes::Bytes::from(hex("0003 616263 0431323334 1f20 0131"));
    let (fields, _) = decode_within(&mut Decoder::new(4096), &block, NO_LIMIT).unwrap();
    assert!(block.is_unique());
    let range = block.as_ptr_range();
    for field in fields {
        assert!(!range.contains(&field.value.as_bytes().as_ptr()));
        assert!(!range.contains(&field.name.as_bytes().as_ptr()));
    }
}

//= test RFC 7541 §B
#[test]
fn huffman_code_is_a_complete_prefix_code() {
    let total: u64 = LENGTHS.iter().map(|&length| 1 << (30 - length)).sum();
    assert_eq!(total, 1 << 30);
    let mut next = 0;
    for &symbol in &SYMBOLS {
        let (code, length) = (CODES[symbol as usize], LENGTHS[symbol as usize]);
        assert_eq!(u64::from(code) << (30 - length), next, "{symbol}");
        next += 1 << (30 - length);
    }
    assert_eq!(CODES[256], 0x3fff_ffff);
}

//= test RFC 7541 §B
#[test]
fn every_octet_survives_the_huffman_code_at_every_offset() {
    for octet in 0..=255u8 {
        for lead in 0..10 {
            let mut string = vec![b'0'; lead];
            string.extend([octet, b'!', octet, octet]);
            let mut coded = bytes::BytesMut::new();
            huffman::encode(&string, huffman::encoded_len(&string), &mut coded);
            let mut decoded = Vec::new();
            huffman::decode(&coded, &mut decoded).unwrap();
            assert_eq!(decoded, string);
        }
    }
}
