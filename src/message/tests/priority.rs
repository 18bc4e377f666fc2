//! Priority signals.

use http::{HeaderMap, HeaderValue};

use crate::message::Priority;

fn priority(urgency: u8, incremental: bool) -> Priority {
    Priority {
        urgency,
        incremental,
    }
}

#[test]
fn values_are_dictionaries() {
    //= test RFC 9218 §4.1
    assert_eq!(Priority::parse(b"u=0"), Some(priority(0, false)));
    assert_eq!(Priority::parse(b"u=7, i"), Some(priority(7, true)));
    assert_eq!(Priority::parse(b"i=?1,u=5"), Some(priority(5, true)));
    assert_eq!(
        Priority::parse(b"u=1, u=2, i, i=?0"),
        Some(priority(2, false))
    );
}

#[test]
fn what_is_unknown_or_out_of_range_is_ignored() {
    //= test RFC 9218 §4
    let default = priority(3, false);
    for text in [
        "", "u=8", "u=-1", "u=a", "u=1.0", "i=1", "x=1", "u=(1 2)", "u=1, u=9",
    ] {
        assert_eq!(Priority::parse(text.as_bytes()), Some(default), "{text}");
    }
    assert_eq!(Priority::parse(b"x;y=1, u=1;z, i"), Some(priority(1, true)));
}

#[test]
fn what_cannot_be_parsed_says_nothing() {
    for text in [
        &b"u=1,"[..],
        b"u=1 i",
        b"=",
        b"\xff",
        b"U=1",
        b"u=99999999999999999999",
    ] {
        assert_eq!(Priority::parse(text), None);
    }
}

#[test]
fn several_lines_are_one_dictionary() {
    let mut headers = HeaderMap::new();
    assert_eq!(Priority::of(&headers), None);
    headers.append("priority", HeaderValue::from_static("u=1"));
    assert_eq!(Priority::of(&headers), Some(priority(1, false)));
    headers.append("priority", HeaderValue::from_static("i"));
    assert_eq!(Priority::of(&headers), Some(priority(1, true)));
    headers.append("priority", HeaderValue::from_static("?"));
    assert_eq!(Priority::of(&headers), None);
}

#[test]
fn what_is_written_reads_the_same() {
    for urgency in 0..=7 {
        for incremental in [false, true] {
            let one = priority(urgency, incremental);
            assert_eq!(Priority::parse(&one.to_bytes()), Some(one));
        }
    }
}
