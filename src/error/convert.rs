//! Faults of the byte layers as violations.
//!
//! Owns: the mapping of `frame::Malformed` and `hpack::DecodeError` onto the table of rules. Does
//! not know: consequences, which are the table's.

use super::violation::Violation;
use crate::frame::{Kind, Malformed, StreamId};
use crate::hpack::DecodeError;

impl From<Malformed> for Violation {
    fn from(fault: Malformed) -> Violation {
        match fault {
            Malformed::TooLong {
                kind, stream_id, ..
            } => too_long(kind, stream_id),
            Malformed::TooShort { .. } => Violation::FrameTooShort,
            Malformed::WrongLength {
                kind: Kind::PRIORITY,
                ..
            } => Violation::PriorityLength,
            Malformed::WrongLength {
                kind: Kind::SETTINGS,
                ..
            } => Violation::SettingsLength,
            Malformed::WrongLength { .. } => Violation::FrameLength,
            Malformed::ConnectionStream { .. } => Violation::FrameOnConnection,
            Malformed::NotConnectionStream { .. } => Violation::FrameOnStream,
            Malformed::PaddingTooLong { .. } => Violation::PaddingTooLong,
            Malformed::SettingsAckPayload { .. } => Violation::SettingsAckPayload,
            Malformed::EnablePush { .. } => Violation::EnablePushValue,
            Malformed::InitialWindowSize { .. } => Violation::InitialWindowSizeValue,
            Malformed::MaxFrameSize { .. } => Violation::MaxFrameSizeValue,
            Malformed::EnableConnectProtocol { .. } => Violation::ConnectProtocolValue,
            Malformed::NoRfc7540Priorities { .. } => Violation::NoPrioritiesValue,
            Malformed::PromisedConnection { .. } => Violation::PromisedId,
            Malformed::ZeroIncrement { stream_id } if stream_id.is_connection() => {
                Violation::ConnectionZeroIncrement
            }
            Malformed::ZeroIncrement { .. } => Violation::StreamZeroIncrement,
            Malformed::PrioritizedConnection => Violation::PriorityUpdateTarget,
        }
    }
}

//= RFC 9113 §4.2 a wrong size is a connection error where the frame could change the connection
fn too_long(kind: Kind, stream_id: StreamId) -> Violation {
    let carries_block = matches!(
        kind,
        Kind::HEADERS | Kind::PUSH_PROMISE | Kind::CONTINUATION
    );
    match carries_block || kind == Kind::SETTINGS || stream_id.is_connection() {
        true => Violation::FrameTooLong,
        false => Violation::StreamFrameTooLong,
    }
}

//= RFC 9113 §4.3 every decoding error is a connection error COMPRESSION_ERROR
impl From<DecodeError> for Violation {
    fn from(fault: DecodeError) -> Violation {
        match fault {
            DecodeError::IndexZero => Violation::HpackIndexZero,
            DecodeError::IndexOutOfRange => Violation::HpackIndex,
            DecodeError::NameIndexOutOfRange => Violation::HpackNameIndex,
            DecodeError::IntegerTooLarge => Violation::HpackInteger,
            DecodeError::StringPastEnd => Violation::HpackString,
            DecodeError::PaddingTooLong => Violation::HpackPaddingLength,
            DecodeError::PaddingNotOnes => Violation::HpackPaddingBits,
            DecodeError::EndOfStringInside => Violation::HpackEndOfString,
            DecodeError::SizeUpdateTooLarge => Violation::HpackTableSize,
            DecodeError::SizeUpdateAfterField => Violation::HpackLateTableSize,
            DecodeError::SizeUpdateMissing => Violation::HpackMissingTableSize,
            DecodeError::Truncated => Violation::HpackTruncated,
        }
    }
}
