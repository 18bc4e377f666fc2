//! PUSH_PROMISE (RFC 9113 §6.6).
//!
//! Owns: its layout, and the splitting of a block that is longer than a frame. Does not know:
//! whether push is allowed, or the promised stream free.
//!
//! ```text
//! [Pad Length (8)], Reserved (1), Promised Stream ID (31), Fragment (..), Padding (..)
//! flags: END_HEADERS 0x4, PADDED 0x8
//! ```

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::head::{END_HEADERS, Head, flag};
use super::malformed::Malformed;
use super::{Kind, StreamId, continuation, padding};

const PROMISED_LEN: usize = 4;

/// The beginning of a promised request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PushPromise {
    /// The stream that the promise belongs to.
    pub(crate) stream_id: StreamId,
    /// The stream on which the answer will come.
    pub(crate) promised_id: StreamId,
    /// A slice of the buffer that was read into.
    pub(crate) fragment: Bytes,
    pub(crate) end_headers: bool,
}

impl PushPromise {
    pub(super) fn decode(head: Head, payload: Bytes) -> Result<PushPromise, Malformed> {
        let stream_id = head.stream_of()?;
        let mut fragment = padding::strip(&head, payload, PROMISED_LEN)?;
        let promised_id = StreamId::new(fragment.get_u32());
        //= RFC 9113 §5.1.1 stream 0 cannot be opened
        if promised_id.is_connection() {
            return Err(Malformed::PromisedConnection { stream_id });
        }
        let end_headers = head.has(END_HEADERS);
        Ok(PushPromise {
            stream_id,
            promised_id,
            fragment,
            end_headers,
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        let flags = flag(END_HEADERS, self.end_headers);
        encode(self.stream_id, self.promised_id, &self.fragment, flags, out);
    }
}

/// Appends a whole promise: PUSH_PROMISE, and CONTINUATION for what is beyond `max_frame_size`.
pub(crate) fn encode_push_promise(
    stream_id: StreamId,
    promised_id: StreamId,
    block: &[u8],
    max_frame_size: usize,
    out: &mut BytesMut,
) {
    let (first, rest) = continuation::split(block, max_frame_size.saturating_sub(PROMISED_LEN));
    encode(
        stream_id,
        promised_id,
        first,
        flag(END_HEADERS, rest.is_empty()),
        out,
    );
    continuation::encode_rest(stream_id, rest, max_frame_size, out);
}

fn encode(
    stream_id: StreamId,
    promised_id: StreamId,
    fragment: &[u8],
    flags: u8,
    out: &mut BytesMut,
) {
    let length = PROMISED_LEN + fragment.len();
    Head {
        length,
        kind: Kind::PUSH_PROMISE,
        flags,
        stream_id,
    }
    .encode(out);
    out.put_u32(promised_id.as_u32());
    out.put_slice(fragment);
}
