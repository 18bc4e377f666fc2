//! The content length, announced and counted.

use http::{HeaderMap, HeaderValue, StatusCode};

use super::{get_with, list, refused, rule};
use crate::error::MessageRule;
use crate::message::ContentLength;

fn length(values: &[&'static str]) -> Result<ContentLength, MessageRule> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append("content-length", HeaderValue::from_static(value));
    }
    ContentLength::new(&headers)
}

#[test]
fn length_is_one_number() {
    //= test RFC 9110 §8.6
    assert_eq!(length(&[]), Ok(ContentLength::Unknown));
    assert_eq!(length(&["0"]), Ok(ContentLength::Left(0)));
    assert_eq!(
        length(&["18446744073709551615"]),
        Ok(ContentLength::Left(u64::MAX))
    );
    for bad in [
        "",
        "+1",
        "-1",
        "1,1",
        "1, 1",
        "0x1",
        "1 ",
        "18446744073709551616",
        "a",
    ] {
        assert_eq!(
            length(&[bad]),
            Err(MessageRule::ContentLengthValue),
            "{bad}"
        );
    }
    assert_eq!(length(&["1", "1"]), Err(MessageRule::ContentLengthValue));
}

#[test]
fn bad_length_makes_a_message_malformed() {
    for value in ["+1", "1,1", "x"] {
        let line = ("content-length", value);
        assert_eq!(refused(&get_with(&[line])), MessageRule::ContentLengthValue);
        let response = list(&[(":status", "200"), line]).take_response();
        assert_eq!(rule(response.unwrap_err()), MessageRule::ContentLengthValue);
    }
    let line = ("content-length", "1");
    assert_eq!(
        refused(&get_with(&[line, line])),
        MessageRule::ContentLengthValue
    );
}

#[test]
fn content_adds_up_to_its_length() {
    //= test RFC 9113 §8.1.1
    let mut left = length(&["5"]).unwrap();
    assert_eq!(left.end(), Err(MessageRule::ContentLengthMissed));
    assert_eq!(left.recv(3), Ok(()));
    assert_eq!(left.recv(0), Ok(()));
    assert_eq!(left.end(), Err(MessageRule::ContentLengthMissed));
    assert_eq!(left.recv(3), Err(MessageRule::ContentLengthExceeded));
    assert_eq!(left.recv(2), Ok(()));
    assert_eq!(left.end(), Ok(()));
    assert_eq!(left.recv(1), Err(MessageRule::ContentLengthExceeded));
}

#[test]
fn answers_without_content_may_name_a_length() {
    //= test RFC 9113 §8.1.1
    let answer = |status: StatusCode, to_head| length(&["5"]).unwrap().of_answer(status, to_head);
    for mut length in [
        answer(StatusCode::OK, true),
        answer(StatusCode::NO_CONTENT, false),
        answer(StatusCode::NOT_MODIFIED, false),
    ] {
        assert_eq!(length.end(), Ok(()));
        assert_eq!(length.recv(0), Ok(()));
        assert_eq!(length.recv(1), Err(MessageRule::ContentForbidden));
    }
    assert_eq!(answer(StatusCode::OK, false), ContentLength::Left(5));
}
