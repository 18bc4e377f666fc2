//! Tests of the errors: h2's questions, the table of consequences, the texts.

use std::collections::HashSet;
use std::io;

use bytes::Bytes;

use super::{Error, Initiator, MessageRule, Misuse, Scope, Violation};
use crate::frame::{Kind, Malformed, Reason, StreamId};
use crate::hpack::DecodeError;

const ONE: StreamId = StreamId::new(1);

#[test]
fn questions_are_answered_as_in_h2() {
    let reset = Error::reset(ONE, Reason::CANCEL, Initiator::Remote);
    assert!(reset.is_reset() && reset.is_remote() && !reset.is_go_away() && !reset.is_library());
    assert_eq!(reset.reason(), Some(Reason::CANCEL));

    let away = Error::go_away(Bytes::new(), Reason::NO_ERROR, Initiator::Library);
    assert!(away.is_go_away() && away.is_library() && !away.is_reset() && !away.is_remote());

    let own = Error::reset(ONE, Reason::CANCEL, Initiator::User);
    assert!(own.is_reset() && !own.is_remote() && !own.is_library());

    let bare = Error::from(Reason::HTTP_1_1_REQUIRED);
    assert_eq!(bare.reason(), Some(Reason::HTTP_1_1_REQUIRED));
    assert!(!bare.is_reset() && !bare.is_go_away() && !bare.is_io());

    let misuse = Error::from(Misuse::Rejected);
    assert_eq!(
        (misuse.reason(), misuse.as_misuse()),
        (None, Some(&Misuse::Rejected))
    );
}

#[test]
fn violation_is_the_library_s_error() {
    let stream = Error::violation(ONE, Violation::HalfClosedStream);
    assert!(stream.is_reset() && stream.is_library() && !stream.is_go_away());
    assert_eq!(stream.reason(), Some(Reason::STREAM_CLOSED));
    assert_eq!(stream.as_violation(), Some(&Violation::HalfClosedStream));

    let connection = Error::violation(StreamId::CONNECTION, Violation::BadPreface);
    assert!(connection.is_go_away() && connection.is_library() && !connection.is_reset());
    assert!(
        connection.to_string().contains("RFC 9113 §3.4"),
        "{connection}"
    );
}

#[test]
fn io_error_comes_back_and_its_copies_keep_kind_and_text() {
    let error = Error::io(io::Error::new(
        io::ErrorKind::BrokenPipe,
        "the pipe is gone",
    ));
    let copy = error.clone();
    assert!(copy.is_io());
    assert_eq!(copy.get_io().unwrap().kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(copy.to_string(), "the pipe is gone");
    assert_eq!(error.into_io().unwrap().kind(), io::ErrorKind::BrokenPipe);
    let os = Error::io(io::Error::from_raw_os_error(104)).clone();
    assert_eq!(os.into_io().unwrap().raw_os_error(), Some(104));
}

#[test]
fn only_refused_and_untouched_requests_are_not_processed() {
    //= test RFC 9113 §8.7
    let refused = |by| Error::reset(ONE, Reason::REFUSED_STREAM, by);
    assert!(refused(Initiator::Remote).is_not_processed());
    assert!(!refused(Initiator::Library).is_not_processed());
    assert!(!Error::reset(ONE, Reason::CANCEL, Initiator::Remote).is_not_processed());
    let away = Error::go_away(Bytes::new(), Reason::NO_ERROR, Initiator::Remote);
    assert!(!away.is_not_processed());
    assert!(away.into_not_processed().clone().is_not_processed());
}

#[test]
fn error_has_the_auto_traits_of_h2_s() {
    fn check<T: Send + Sync + Unpin + std::error::Error + 'static>() {}
    check::<Error>();
    check::<Violation>();
    check::<Misuse>();
}

#[test]
fn every_violation_names_its_rule_in_a_sentence_of_its_own() {
    let mut seen = HashSet::new();
    for violation in Violation::ALL {
        let text = violation.to_string();
        assert!(seen.insert(text.clone()), "twice: {text}");
        let section = violation.section();
        assert!(
            section.starts_with("RFC ") || section.starts_with("limit: "),
            "{section}"
        );
        assert!(text.contains(section) && !violation.debug_data().is_empty());
        assert_ne!(violation.reason(), Reason::NO_ERROR);
    }
    for rule in MessageRule::ALL {
        assert!(seen.insert(rule.to_string()), "twice: {rule}");
        let violation = Violation::from(*rule);
        assert_eq!(
            (violation.scope(), violation.reason()),
            (Scope::Stream, Reason::PROTOCOL_ERROR)
        );
        assert_eq!(violation.section(), rule.section());
        assert!(Misuse::from(*rule).to_string().contains(rule.section()));
    }
}

#[test]
fn connection_limits_ask_the_peer_to_calm_down() {
    let limits = Violation::ALL
        .iter()
        .filter(|v| v.section().starts_with("limit: "));
    for limit in limits.filter(|v| v.scope() == Scope::Connection) {
        let expected = match limit {
            Violation::HandshakeTimeout => Reason::PROTOCOL_ERROR,
            _ => Reason::ENHANCE_YOUR_CALM,
        };
        assert_eq!(limit.reason(), expected, "{limit}");
    }
}

#[test]
fn frame_faults_have_the_code_that_the_rfc_names() {
    //= test RFC 9113 §4.2
    let frame = |fault: Malformed| {
        let violation = Violation::from(fault);
        (violation.scope(), violation.reason())
    };
    let too_long = |kind, stream_id| {
        frame(Malformed::TooLong {
            kind,
            stream_id,
            length: 9,
            limit: 8,
        })
    };
    let length = |kind| {
        frame(Malformed::WrongLength {
            kind,
            stream_id: ONE,
            length: 1,
        })
    };
    let size = Reason::FRAME_SIZE_ERROR;
    assert_eq!(too_long(Kind::DATA, ONE), (Scope::Stream, size));
    for kind in [
        Kind::HEADERS,
        Kind::PUSH_PROMISE,
        Kind::CONTINUATION,
        Kind::SETTINGS,
    ] {
        assert_eq!(too_long(kind, ONE), (Scope::Connection, size));
    }
    assert_eq!(
        too_long(Kind::new(0xf0), StreamId::CONNECTION),
        (Scope::Connection, size)
    );
    assert_eq!(length(Kind::PRIORITY), (Scope::Stream, size));
    for kind in [
        Kind::RST_STREAM,
        Kind::SETTINGS,
        Kind::PING,
        Kind::WINDOW_UPDATE,
    ] {
        assert_eq!(length(kind), (Scope::Connection, size));
    }
    assert_eq!(
        frame(Malformed::SettingsAckPayload { length: 6 }),
        (Scope::Connection, size)
    );
    let window = frame(Malformed::InitialWindowSize { value: 1 << 31 });
    assert_eq!(window, (Scope::Connection, Reason::FLOW_CONTROL_ERROR));
    let zero = |stream_id| frame(Malformed::ZeroIncrement { stream_id });
    assert_eq!(zero(ONE), (Scope::Stream, Reason::PROTOCOL_ERROR));
    assert_eq!(
        zero(StreamId::CONNECTION),
        (Scope::Connection, Reason::PROTOCOL_ERROR)
    );
}

#[test]
fn decoding_errors_are_compression_errors() {
    //= test RFC 9113 §4.3
    for fault in [
        DecodeError::IndexZero,
        DecodeError::IndexOutOfRange,
        DecodeError::NameIndexOutOfRange,
        DecodeError::IntegerTooLarge,
        DecodeError::StringPastEnd,
        DecodeError::PaddingTooLong,
        DecodeError::PaddingNotOnes,
        DecodeError::EndOfStringInside,
        DecodeError::SizeUpdateTooLarge,
        DecodeError::SizeUpdateAfterField,
        DecodeError::SizeUpdateMissing,
        DecodeError::Truncated,
    ] {
        let violation = Violation::from(fault);
        assert_eq!(violation.scope(), Scope::Connection);
        assert_eq!(violation.reason(), Reason::COMPRESSION_ERROR);
        assert!(
            violation.section().ends_with(fault.section()),
            "{violation}"
        );
    }
}
