//! Regular fields that come in: names, values, connection-specific ones, cookies, too many.

use http::header::COOKIE;

use super::{GET, get_with, list, list_of_bytes, refused, request, rule};
use crate::error::MessageRule;
use crate::message::RequestRules;

fn refused_bytes(name: &[u8], value: &[u8]) -> MessageRule {
    let mut lines: Vec<_> = GET
        .iter()
        .map(|(n, v)| (n.as_bytes(), v.as_bytes()))
        .collect();
    lines.push((name, value));
    rule(
        list_of_bytes(&lines)
            .take_request(RequestRules::default())
            .unwrap_err(),
    )
}

#[test]
fn name_is_a_lower_case_token() {
    //= test RFC 9113 §8.2.1
    let separators = *b"\"(),/:;<=>?@[\\]{}";
    for octet in (0..=0x20)
        .chain(0x41..=0x5a)
        .chain(0x7f..=0xff)
        .chain(separators)
    {
        assert_eq!(
            refused_bytes(&[b'a', octet], b"x"),
            MessageRule::FieldName,
            "{octet:#x}"
        );
    }
    for name in [&b""[..], b"a:b", b"a:", b"a b", b" a"] {
        assert_eq!(refused_bytes(name, b"x"), MessageRule::FieldName);
    }
}

#[test]
fn value_has_no_line_breaks_and_no_outer_blanks() {
    //= test RFC 9113 §8.2.1
    for value in [
        &b"a\0b"[..],
        b"a\rb",
        b"a\nb",
        b"a\r\nb: c",
        b" a",
        b"a ",
        b"\ta",
        b"a\t",
    ] {
        assert_eq!(
            refused_bytes(b"x", value),
            MessageRule::FieldValue,
            "{value:?}"
        );
        assert_eq!(
            refused_bytes(b"cookie", value),
            MessageRule::FieldValue,
            "{value:?}"
        );
    }
    assert!(request(&get_with(&[("x", "a\tb c"), ("y", "")])).is_ok());
}

#[test]
fn connection_specific_fields_are_refused_everywhere() {
    //= test RFC 9113 §8.2.2
    for name in [
        "connection",
        "keep-alive",
        "proxy-connection",
        "transfer-encoding",
        "upgrade",
    ] {
        let line = (name, "x");
        assert_eq!(refused(&get_with(&[line])), MessageRule::ConnectionField);
        for status in ["200", "103"] {
            let response = list(&[(":status", status), line]).take_response();
            assert_eq!(rule(response.unwrap_err()), MessageRule::ConnectionField);
        }
        let trailers = list(&[line]).take_trailers();
        assert_eq!(rule(trailers.unwrap_err()), MessageRule::ConnectionField);
    }
}

#[test]
fn te_is_trailers() {
    //= test RFC 9113 §8.2.2
    for value in ["gzip", "trailers, gzip", "trailers;q=1", ""] {
        assert_eq!(refused(&get_with(&[("te", value)])), MessageRule::TeValue);
    }
    let twice = get_with(&[("te", "trailers"), ("te", "gzip")]);
    assert_eq!(refused(&twice), MessageRule::TeValue);
    assert!(request(&get_with(&[("te", "trailers")])).is_ok());
}

#[test]
fn cookie_crumbs_are_joined() {
    //= test RFC 9113 §8.2.3
    let crumbs = [
        ("cookie", "a=b"),
        ("x", "y"),
        ("cookie", ""),
        ("cookie", "c=d"),
        ("cookie", ""),
    ];
    let parts = request(&get_with(&crumbs)).unwrap();
    let cookies: Vec<_> = parts.headers.get_all(COOKIE).iter().collect();
    assert_eq!(cookies, ["a=b; c=d"]);
    let one = request(&get_with(&[("cookie", "a=b; c=d")])).unwrap();
    assert_eq!(one.headers[COOKIE], "a=b; c=d");
}

#[test]
fn many_crumbs_join_to_their_sum() {
    let lines = get_with(&vec![("cookie", "a"); 100_000]);
    let parts = request(&lines).unwrap();
    assert_eq!(parts.headers[COOKIE].len(), 100_000 * 3 - 2);
}

#[test]
fn more_fields_than_a_map_holds_are_a_fault_and_no_panic() {
    //= test RFC 9113 §10.5.1
    let names: Vec<String> = (0..40_000).map(|n| format!("x{n}")).collect();
    let mut lines = GET.to_vec();
    lines.extend(names.iter().map(|name| (name.as_str(), "")));
    assert_eq!(refused(&lines), MessageRule::TooManyFields);
}

#[test]
fn the_first_fault_counts() {
    let lines = get_with(&[("connection", "x"), (":path", "/"), ("te", "gzip")]);
    assert_eq!(refused(&lines), MessageRule::ConnectionField);
}
