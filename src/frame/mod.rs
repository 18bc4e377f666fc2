//! Frames: octets to values and back (RFC 9113 §4 and §6, RFC 9218 §7.1).
//!
//! Owns: the layout of every frame, its flags, its lengths, its padding, and the faults that can be
//! seen in one frame alone. Does not know: connections, streams and their states, header
//! compression, what a fault costs. A frame is a file; the file is its section. Keeps: nothing is
//! buffered beyond one frame of the size we announced (its part of I3), and the flow-controlled
//! length of DATA is the whole payload (its part of I5).

mod continuation;
mod cutter;
mod data;
mod go_away;
mod head;
mod headers;
mod kind;
mod malformed;
mod padding;
mod ping;
mod priority;
mod push_promise;
mod reason;
mod reset;
mod settings;
mod stream_id;
mod window_update;

#[cfg(test)]
mod tests;

pub(crate) use continuation::Continuation;
pub(crate) use cutter::Cutter;
pub(crate) use data::{Data, encode_data_head};
pub(crate) use go_away::GoAway;
pub(crate) use head::{HEAD_LEN, Head};
pub(crate) use headers::{Headers, encode_headers};
pub(crate) use kind::Kind;
pub(crate) use malformed::Malformed;
pub(crate) use ping::Ping;
#[cfg(test)]
pub(crate) use priority::StreamDependency;
pub(crate) use priority::{Priority, PriorityUpdate};
pub(crate) use push_promise::{PushPromise, encode_push_promise};
pub use reason::Reason;
pub(crate) use reset::Reset;
pub(crate) use settings::{Setting, Settings};
pub use stream_id::StreamId;
pub(crate) use window_update::WindowUpdate;

use bytes::Bytes;
#[cfg(test)]
use bytes::BytesMut;

//= RFC 9113 §4.2 every endpoint takes payloads of 2^14 octets, and none may ask for 2^24 or more
/// The payload that every endpoint accepts, and the least that SETTINGS_MAX_FRAME_SIZE may say.
pub(crate) const DEFAULT_MAX_FRAME_SIZE: usize = 1 << 14;
/// The most that SETTINGS_MAX_FRAME_SIZE may say.
pub(crate) const LARGEST_MAX_FRAME_SIZE: usize = (1 << 24) - 1;
/// The largest flow-control window, and the largest step by which it can be opened.
pub(crate) const MAX_WINDOW_SIZE: u32 = (1 << 31) - 1;

/// One frame, whole and well formed by itself. Whether it may come now is for others to say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame {
    Data(Data),
    Headers(Headers),
    Priority(Priority),
    Reset(Reset),
    Settings(Settings),
    PushPromise(PushPromise),
    Ping(Ping),
    GoAway(GoAway),
    WindowUpdate(WindowUpdate),
    Continuation(Continuation),
    PriorityUpdate(PriorityUpdate),
    /// A type we do not know. Its payload is dropped; its head tells that it came, since inside a
    /// header block even such a frame is an error.
    Unknown(Head),
}

impl Frame {
    /// The octets of a header block that it carries.
    pub(crate) fn block_octets(&self) -> usize {
        match self {
            Frame::Headers(frame) => frame.fragment.len(),
            Frame::PushPromise(frame) => frame.fragment.len(),
            Frame::Continuation(frame) => frame.fragment.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
impl Frame {
    /// Appends the whole frame. An unknown one is not ours to send and adds nothing.
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        match self {
            Frame::Data(frame) => frame.encode(out),
            Frame::Headers(frame) => frame.encode(out),
            Frame::Priority(frame) => frame.encode(out),
            Frame::Reset(frame) => frame.encode(out),
            Frame::Settings(frame) => frame.encode(out),
            Frame::PushPromise(frame) => frame.encode(out),
            Frame::Ping(frame) => frame.encode(out),
            Frame::GoAway(frame) => frame.encode(out),
            Frame::WindowUpdate(frame) => frame.encode(out),
            Frame::Continuation(frame) => frame.encode(out),
            Frame::PriorityUpdate(frame) => frame.encode(out),
            Frame::Unknown(_) => {}
        }
    }
}

/// Makes a frame of a head and its whole payload. DATA and header fragments stay slices of
/// `payload`: nothing is copied.
pub(crate) fn decode(head: Head, payload: Bytes) -> Result<Frame, Malformed> {
    Ok(match head.kind {
        Kind::DATA => Frame::Data(Data::decode(head, payload)?),
        Kind::HEADERS => Frame::Headers(Headers::decode(head, payload)?),
        Kind::PRIORITY => Frame::Priority(Priority::decode(head, &payload)?),
        Kind::RST_STREAM => Frame::Reset(Reset::decode(head, &payload)?),
        Kind::SETTINGS => Frame::Settings(Settings::decode(head, &payload)?),
        Kind::PUSH_PROMISE => Frame::PushPromise(PushPromise::decode(head, payload)?),
        Kind::PING => Frame::Ping(Ping::decode(head, &payload)?),
        Kind::GOAWAY => Frame::GoAway(GoAway::decode(head, payload)?),
        Kind::WINDOW_UPDATE => Frame::WindowUpdate(WindowUpdate::decode(head, &payload)?),
        Kind::CONTINUATION => Frame::Continuation(Continuation::decode(head, payload)?),
        Kind::PRIORITY_UPDATE => Frame::PriorityUpdate(PriorityUpdate::decode(head, payload)?),
        //= RFC 9113 §4.1 frames of unknown types are ignored
        _ => Frame::Unknown(head),
    })
}
