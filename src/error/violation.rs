//! What the peer did wrong: one variant per rule, and one table that says what it costs.
//!
//! Owns: the rules of RFC 9113, 7541, 8441 and 9218 that a peer can break outside the content of a
//! message, and the limits of this crate that a peer can exceed. Does not know: who notices. Every
//! consequence (scope, error code, section) is read from the table below, so no two places can
//! answer the same fault differently.

use std::fmt;

use bytes::Bytes;

use super::rule::MessageRule;
use crate::frame::Reason;

/// How far a fault reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The stream is reset; the connection goes on.
    ///
    /// RST_STREAM is illegal on an idle stream: there, a stream error becomes a connection error.
    Stream,
    /// The connection ends with GOAWAY.
    Connection,
}

/// One row per rule: name, scope, code, section, sentence.
macro_rules! violations {
    ($($name:ident, $scope:ident, $reason:ident, $section:literal, $text:literal;)+) => {
        /// A rule of the protocol, or a limit of this end, that the peer broke.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Violation {
            /// A message is malformed: the rule says how.
            Message(MessageRule),
            $(#[doc = concat!($text, " (", $section, ").")] $name,)+
        }

        impl Violation {
            /// Whether the fault costs a stream or the connection.
            pub const fn scope(&self) -> Scope {
                match self {
                    Violation::Message(_) => Scope::Stream,
                    $(Violation::$name => Scope::$scope,)+
                }
            }

            /// The code that RST_STREAM or GOAWAY carries.
            pub const fn reason(&self) -> Reason {
                match self {
                    Violation::Message(_) => Reason::PROTOCOL_ERROR,
                    $(Violation::$name => Reason::$reason,)+
                }
            }

            /// Where the rule is written down: `RFC 9113 §6.9`, or the option that sets a limit.
            pub const fn section(&self) -> &'static str {
                match self {
                    Violation::Message(rule) => rule.section(),
                    $(Violation::$name => $section,)+
                }
            }

            const fn sentence(&self) -> &'static str {
                match self {
                    Violation::Message(rule) => rule.sentence(),
                    $(Violation::$name => $text,)+
                }
            }

            #[cfg(test)]
            pub(super) const ALL: &'static [Violation] = &[$(Violation::$name,)+];
        }
    };
}

violations! {
    // The start of a connection.
    BadPreface, Connection, PROTOCOL_ERROR, "RFC 9113 §3.4", "The client must begin with the connection preface";
    FirstFrame, Connection, PROTOCOL_ERROR, "RFC 9113 §3.4", "The first frame must be SETTINGS, and not an acknowledgement";
    HandshakeTimeout, Connection, PROTOCOL_ERROR, "limit: handshake_timeout", "The preface and the first SETTINGS must come in time";

    // Frames that are wrong in themselves.
    StreamFrameTooLong, Stream, FRAME_SIZE_ERROR, "RFC 9113 §4.2", "A frame of a stream must not be longer than SETTINGS_MAX_FRAME_SIZE";
    FrameTooLong, Connection, FRAME_SIZE_ERROR, "RFC 9113 §4.2", "A frame that changes the connection must not be longer than SETTINGS_MAX_FRAME_SIZE";
    FrameTooShort, Connection, FRAME_SIZE_ERROR, "RFC 9113 §4.2", "A frame must have room for the fields that its type and flags ask for";
    FrameLength, Connection, FRAME_SIZE_ERROR, "RFC 9113 §4.2", "A frame must have the length that its type asks for";
    PriorityLength, Stream, FRAME_SIZE_ERROR, "RFC 9113 §6.3", "A PRIORITY frame must be five octets long";
    PaddingTooLong, Connection, PROTOCOL_ERROR, "RFC 9113 §6.1", "Padding must be shorter than the payload";
    FrameOnConnection, Connection, PROTOCOL_ERROR, "RFC 9113 §6", "A frame of this type must name a stream, not the connection";
    FrameOnStream, Connection, PROTOCOL_ERROR, "RFC 9113 §6", "A frame of this type must name the connection, not a stream";
    SettingsLength, Connection, FRAME_SIZE_ERROR, "RFC 9113 §6.5", "The length of SETTINGS must be a multiple of six octets";
    SettingsAckPayload, Connection, FRAME_SIZE_ERROR, "RFC 9113 §6.5", "An acknowledgement of SETTINGS must be empty";
    StreamZeroIncrement, Stream, PROTOCOL_ERROR, "RFC 9113 §6.9", "WINDOW_UPDATE of a stream must add at least one octet";
    ConnectionZeroIncrement, Connection, PROTOCOL_ERROR, "RFC 9113 §6.9", "WINDOW_UPDATE of the connection must add at least one octet";

    // Values of settings.
    EnablePushValue, Connection, PROTOCOL_ERROR, "RFC 9113 §6.5.2", "SETTINGS_ENABLE_PUSH must be 0 or 1";
    PushEnabledByServer, Connection, PROTOCOL_ERROR, "RFC 9113 §6.5.2", "A server must not send SETTINGS_ENABLE_PUSH with the value 1";
    InitialWindowSizeValue, Connection, FLOW_CONTROL_ERROR, "RFC 9113 §6.5.2", "SETTINGS_INITIAL_WINDOW_SIZE must be below 2^31";
    MaxFrameSizeValue, Connection, PROTOCOL_ERROR, "RFC 9113 §6.5.2", "SETTINGS_MAX_FRAME_SIZE must be from 2^14 to 2^24 - 1";
    ConnectProtocolValue, Connection, PROTOCOL_ERROR, "RFC 8441 §3", "SETTINGS_ENABLE_CONNECT_PROTOCOL must be 0 or 1";
    ConnectProtocolWithdrawn, Connection, PROTOCOL_ERROR, "RFC 8441 §3", "SETTINGS_ENABLE_CONNECT_PROTOCOL must not go back from 1 to 0";
    NoPrioritiesValue, Connection, PROTOCOL_ERROR, "RFC 9218 §2.1", "SETTINGS_NO_RFC7540_PRIORITIES must be 0 or 1";
    NoPrioritiesChanged, Connection, PROTOCOL_ERROR, "RFC 9218 §2.1", "SETTINGS_NO_RFC7540_PRIORITIES must keep the value of the first SETTINGS";
    UnexpectedSettingsAck, Connection, PROTOCOL_ERROR, "RFC 9113 §6.5.3", "SETTINGS must not be acknowledged before they are sent";
    SettingsTimeout, Connection, SETTINGS_TIMEOUT, "RFC 9113 §6.5.3", "SETTINGS must be acknowledged in time";

    // Header blocks.
    BlockInterrupted, Connection, PROTOCOL_ERROR, "RFC 9113 §4.3", "Nothing but CONTINUATION of the same stream may follow an unfinished header block";
    UnexpectedContinuation, Connection, PROTOCOL_ERROR, "RFC 9113 §6.10", "CONTINUATION must follow an unfinished header block";
    HpackIndexZero, Connection, COMPRESSION_ERROR, "RFC 7541 §6.1", "The index of a field must not be 0";
    HpackIndex, Connection, COMPRESSION_ERROR, "RFC 7541 §2.3.3", "The index of a field must name an entry of a table";
    HpackNameIndex, Connection, COMPRESSION_ERROR, "RFC 7541 §2.3.3", "The index of a name must name an entry of a table";
    HpackInteger, Connection, COMPRESSION_ERROR, "RFC 7541 §5.1", "An integer must not exceed what a field can need";
    HpackString, Connection, COMPRESSION_ERROR, "RFC 7541 §5.2", "A string must end within its header block";
    HpackTruncated, Connection, COMPRESSION_ERROR, "RFC 7541 §3.1", "A header block must end with a whole field";
    HpackPaddingLength, Connection, COMPRESSION_ERROR, "RFC 7541 §5.2", "Huffman padding must be shorter than eight bits";
    HpackPaddingBits, Connection, COMPRESSION_ERROR, "RFC 7541 §5.2", "Huffman padding must be all ones";
    HpackEndOfString, Connection, COMPRESSION_ERROR, "RFC 7541 §5.2", "A Huffman string must not hold the end-of-string symbol";
    HpackTableSize, Connection, COMPRESSION_ERROR, "RFC 7541 §6.3", "A table size update must not exceed SETTINGS_HEADER_TABLE_SIZE";
    HpackLateTableSize, Connection, COMPRESSION_ERROR, "RFC 7541 §4.2", "A table size update must come before the first field";
    HpackMissingTableSize, Connection, COMPRESSION_ERROR, "RFC 7541 §4.2", "A table that had to shrink must be updated by the next header block";

    // States of streams.
    WrongParity, Connection, PROTOCOL_ERROR, "RFC 9113 §5.1.1", "A client opens streams with odd ids, a server with even ones";
    OldStreamId, Connection, PROTOCOL_ERROR, "RFC 9113 §5.1.1", "A new stream must have a higher id than all before it";
    IdleStream, Connection, PROTOCOL_ERROR, "RFC 9113 §5.1", "On an idle stream only HEADERS and PRIORITY are allowed";
    ReservedStream, Connection, PROTOCOL_ERROR, "RFC 9113 §5.1", "A reserved stream does not allow a frame of this type";
    HalfClosedStream, Stream, STREAM_CLOSED, "RFC 9113 §5.1", "Nothing but WINDOW_UPDATE, PRIORITY and RST_STREAM may follow END_STREAM";
    ResetStream, Stream, STREAM_CLOSED, "RFC 9113 §5.1", "Nothing but PRIORITY may follow RST_STREAM";
    SkippedStream, Stream, STREAM_CLOSED, "RFC 9113 §5.1.1", "A stream whose id was skipped is closed and does not allow a frame of this type";
    ForgottenStream, Stream, STREAM_CLOSED, "RFC 9113 §5.1", "A stream that ended long ago does not allow a frame of this type";
    ClosedStream, Connection, STREAM_CLOSED, "RFC 9113 §5.1", "A closed stream does not allow a frame of this type";
    TooManyStreams, Stream, REFUSED_STREAM, "RFC 9113 §5.1.2", "No more streams may be open than SETTINGS_MAX_CONCURRENT_STREAMS says";
    RaisedLastStream, Connection, PROTOCOL_ERROR, "RFC 9113 §6.8", "The last stream id of GOAWAY must not rise";

    // Flow control.
    StreamWindowOverrun, Stream, FLOW_CONTROL_ERROR, "RFC 9113 §6.9.1", "DATA must fit into the window of the stream";
    ConnectionWindowOverrun, Connection, FLOW_CONTROL_ERROR, "RFC 9113 §6.9.1", "DATA must fit into the window of the connection";
    StreamWindowOverflow, Stream, FLOW_CONTROL_ERROR, "RFC 9113 §6.9.1", "The window of a stream must not exceed 2^31 - 1";
    ConnectionWindowOverflow, Connection, FLOW_CONTROL_ERROR, "RFC 9113 §6.9.1", "The window of the connection must not exceed 2^31 - 1";
    InitialWindowOverflow, Connection, FLOW_CONTROL_ERROR, "RFC 9113 §6.9.2", "A change of SETTINGS_INITIAL_WINDOW_SIZE must not take any window above 2^31 - 1";

    // Push and priority.
    PushByClient, Connection, PROTOCOL_ERROR, "RFC 9113 §8.4", "A client must not send PUSH_PROMISE";
    PushDisabled, Connection, PROTOCOL_ERROR, "RFC 9113 §6.6", "PUSH_PROMISE is not allowed while SETTINGS_ENABLE_PUSH is 0";
    PushParent, Connection, PROTOCOL_ERROR, "RFC 9113 §6.6", "PUSH_PROMISE must come on a stream that this end opened and the peer has not closed";
    PromisedId, Connection, PROTOCOL_ERROR, "RFC 9113 §6.6", "A promised stream must be idle and of the server's parity";
    PushNotAuthoritative, Stream, PROTOCOL_ERROR, "RFC 9113 §8.4", "A server must be authoritative for what it promises";
    TooManyPromises, Stream, REFUSED_STREAM, "limit: max_concurrent_streams", "No more promises may be outstanding than this end allows";
    PriorityUpdateByServer, Connection, PROTOCOL_ERROR, "RFC 9218 §7.1", "A server must not send PRIORITY_UPDATE";
    PriorityUpdateLimit, Connection, PROTOCOL_ERROR, "RFC 9218 §7.1", "No more streams may be open, or idle and prioritized, than SETTINGS_MAX_CONCURRENT_STREAMS says";
    PriorityUpdateTarget, Connection, PROTOCOL_ERROR, "RFC 9218 §7.1", "PRIORITY_UPDATE must name a stream that can still be served";

    // Limits. Each is an option of the builders.
    HeaderListTooLong, Stream, PROTOCOL_ERROR, "RFC 9113 §10.5.1", "A header list must fit into max_header_list_size";
    HeaderListFarTooLong, Connection, ENHANCE_YOUR_CALM, "limit: max_header_list_size", "A header list must not exceed max_header_list_size by far";
    TooManyFields, Stream, PROTOCOL_ERROR, "limit: max_header_fields", "A header list must not have more fields than allowed";
    FarTooManyFields, Connection, ENHANCE_YOUR_CALM, "limit: max_header_fields", "A header list must not have many times more fields than allowed";
    TooManyContinuations, Connection, ENHANCE_YOUR_CALM, "limit: max_continuations", "A header block must not be cut into more CONTINUATION frames than allowed";
    EmptyContinuations, Connection, ENHANCE_YOUR_CALM, "limit: one empty fragment a header block", "A header block must not hold more empty fragments than allowed";
    SlowHeaderBlock, Connection, ENHANCE_YOUR_CALM, "limit: header_block_timeout", "A header block must be finished in time";
    TooManyResets, Connection, ENHANCE_YOUR_CALM, "limit: max_pending_accept_reset_streams", "The peer may reset only so many streams before they are accepted";
    EarlyResetFlood, Connection, ENHANCE_YOUR_CALM, "limit: max_early_resets", "The peer may reset only so many streams a second before their response has ended";
    TooManyLocalResets, Connection, ENHANCE_YOUR_CALM, "limit: max_local_error_reset_streams", "The peer may make only so many stream errors on one connection";
    FaultFlood, Connection, ENHANCE_YOUR_CALM, "limit: max_faults", "The peer may make only so many stream errors a second";
    UnproductiveFlood, Connection, ENHANCE_YOUR_CALM, "limit: max_unproductive_frames", "The peer may send only so many frames a second that move nothing forward";
    TooManySettings, Connection, ENHANCE_YOUR_CALM, "limit: max_settings_entries", "SETTINGS must not have more entries than allowed";
    SmallDataFlood, Connection, ENHANCE_YOUR_CALM, "limit: data_frame_budget", "The peer may send only so much DATA in small or empty frames";
    TooManyInformational, Stream, ENHANCE_YOUR_CALM, "limit: max_informational", "Only so many informational responses may come before the final one";
    StreamStalled, Stream, CANCEL, "limit: stream_stall_timeout", "The peer must let through what a stream has to send";
    ConnectionStalled, Connection, ENHANCE_YOUR_CALM, "limit: connection_stall_timeout", "The peer must take what the connection has to send";
    KeepAliveTimeout, Connection, ENHANCE_YOUR_CALM, "limit: keep_alive_timeout", "A peer that is asked whether it is there must answer in time";
}

impl Violation {
    /// What GOAWAY says to the peer's operator: the rule, or the limit and its option. Where h2 has a
    /// word for a limit, that word, since there are tools that look for it.
    pub(crate) fn debug_data(&self) -> Bytes {
        Bytes::from_static(match self {
            Violation::TooManyResets => b"too_many_resets",
            Violation::TooManyLocalResets => b"too_many_internal_resets",
            Violation::TooManyContinuations => b"too_many_continuations",
            Violation::HeaderListFarTooLong => b"header_list_way_too_large",
            Violation::SmallDataFlood => b"too_many_data_frames",
            other if other.section().starts_with("limit: ") => return other.to_string().into(),
            other => other.sentence().as_bytes(),
        })
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.sentence(), self.section())
    }
}

impl std::error::Error for Violation {}

impl From<MessageRule> for Violation {
    fn from(rule: MessageRule) -> Violation {
        Violation::Message(rule)
    }
}
