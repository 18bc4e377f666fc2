//! What can be wrong with one frame, seen alone.
//!
//! Owns: one variant per rule, with what is needed to judge it. Does not know: what a fault costs;
//! whether it ends a stream or the connection, and with which code, is one table elsewhere.

use super::{Kind, StreamId};

/// The rule that a frame broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// §4.2: longer than the size we announced. The payload is skipped without being buffered.
    TooLong {
        kind: Kind,
        stream_id: StreamId,
        length: usize,
        limit: usize,
    },
    /// §4.2: too short for the fields that its type or its flags demand.
    TooShort {
        kind: Kind,
        stream_id: StreamId,
        length: usize,
    },
    /// §6.3, 6.4, 6.5, 6.7, 6.9: not of the one length, or multiple, that its type has.
    WrongLength {
        kind: Kind,
        stream_id: StreamId,
        length: usize,
    },
    /// §6.1 to 6.4, 6.6, 6.10: on stream 0, but its type belongs to streams.
    ConnectionStream { kind: Kind },
    /// §6.5, 6.7, 6.8, RFC 9218 §7.1: on a stream, but its type belongs to the connection.
    NotConnectionStream { kind: Kind, stream_id: StreamId },
    /// §6.1, 6.2, 6.6: more padding than there is room for.
    PaddingTooLong { kind: Kind, stream_id: StreamId },
    /// §6.5: an acknowledgement with a payload.
    SettingsAckPayload { length: usize },
    /// §6.5.2: neither 0 nor 1.
    EnablePush { value: u32 },
    /// §6.5.2: over 2^31-1.
    InitialWindowSize { value: u32 },
    /// §6.5.2: under 2^14 or over 2^24-1.
    MaxFrameSize { value: u32 },
    /// RFC 8441 §3: neither 0 nor 1.
    EnableConnectProtocol { value: u32 },
    /// RFC 9218 §2.1: neither 0 nor 1.
    NoRfc7540Priorities { value: u32 },
    /// §6.6, 5.1.1: a promise of stream 0.
    PromisedConnection { stream_id: StreamId },
    /// §6.9: a window opened by nothing.
    ZeroIncrement { stream_id: StreamId },
    /// RFC 9218 §7.1: a priority for stream 0.
    PrioritizedConnection,
}
