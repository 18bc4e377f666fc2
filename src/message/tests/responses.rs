//! Responses and trailers that come in.

use http::StatusCode;

use super::{list, rule};
use crate::error::MessageRule;
use crate::message::Head;

fn refused(lines: &[(&str, &str)]) -> MessageRule {
    rule(list(lines).take_response().unwrap_err())
}

#[test]
fn response_is_final_or_informational() {
    let Ok(Head::Response(parts)) = list(&[(":status", "404"), ("a", "b")]).take_response() else {
        panic!("not a final response")
    };
    assert_eq!(parts.status, StatusCode::NOT_FOUND);
    assert_eq!(parts.headers["a"], "b");
    let Ok(Head::Informational(parts)) = list(&[(":status", "103")]).take_response() else {
        panic!("not an informational response")
    };
    assert_eq!(parts.status, StatusCode::EARLY_HINTS);
}

#[test]
fn status_is_there_once_and_has_three_digits() {
    //= test RFC 9113 §8.3.2
    assert_eq!(refused(&[("a", "b")]), MessageRule::StatusMissing);
    assert_eq!(
        refused(&[(":status", "200"), (":status", "200")]),
        MessageRule::PseudoRepeated
    );
    for bad in ["", "20", "2000", "abc", "099", "+20", "20 "] {
        let rule = refused(&[(":status", bad)]);
        let expected = [MessageRule::StatusValue, MessageRule::FieldValue];
        assert!(expected.contains(&rule), "{bad}: {rule}");
    }
}

#[test]
fn status_101_is_refused() {
    //= test RFC 9113 §8.6
    assert_eq!(
        refused(&[(":status", "101")]),
        MessageRule::SwitchingProtocols
    );
}

#[test]
fn pseudo_fields_of_requests_are_not_for_responses() {
    //= test RFC 9113 §8.3
    let fields = [
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "x"),
        (":path", "/"),
        (":protocol", "x"),
    ];
    for field in fields {
        assert_eq!(
            refused(&[(":status", "200"), field]),
            MessageRule::PseudoDirection
        );
    }
    assert_eq!(
        refused(&[("a", "b"), (":status", "200")]),
        MessageRule::PseudoAfterRegular
    );
}

#[test]
fn trailers_have_no_pseudo_fields() {
    //= test RFC 9113 §8.1
    let trailers = |lines: &[(&str, &str)]| list(lines).take_trailers().map_err(rule);
    assert_eq!(trailers(&[("a", "b")]).unwrap()["a"], "b");
    for field in [(":status", "200"), (":method", "GET"), (":path", "/")] {
        assert_eq!(
            trailers(&[field]).unwrap_err(),
            MessageRule::PseudoInTrailers
        );
    }
    assert_eq!(
        trailers(&[(":foo", "x")]).unwrap_err(),
        MessageRule::PseudoUnknown
    );
}
