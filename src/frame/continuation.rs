//! CONTINUATION (RFC 9113 §6.10).
//!
//! Owns: its layout, and the cutting of blocks into fragments. Does not know: which block it
//! continues, and whether one is open.
//!
//! ```text
//! Fragment (..)        flags: END_HEADERS 0x4
//! ```

use bytes::{BufMut, Bytes, BytesMut};

use super::head::{END_HEADERS, Head, flag};
use super::malformed::Malformed;
use super::{Kind, StreamId};

/// The next part of a header block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Continuation {
    pub(crate) stream_id: StreamId,
    /// A slice of the buffer that was read into.
    pub(crate) fragment: Bytes,
    pub(crate) end_headers: bool,
}

impl Continuation {
    pub(super) fn decode(head: Head, payload: Bytes) -> Result<Continuation, Malformed> {
        let stream_id = head.stream_of()?;
        Ok(Continuation {
            stream_id,
            fragment: payload,
            end_headers: head.has(END_HEADERS),
        })
    }

    #[cfg(test)]
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        encode(self.stream_id, &self.fragment, self.end_headers, out);
    }
}

/// The part of a block that fits into `room` octets, and the rest.
pub(super) fn split(block: &[u8], room: usize) -> (&[u8], &[u8]) {
    // A room of nothing would be cut from for ever; no peer's limit is under 2^14.
    block.split_at(block.len().min(room.max(1)))
}

/// Appends the frames that carry what the first frame of a block could not; none for no rest.
pub(super) fn encode_rest(
    stream_id: StreamId,
    mut rest: &[u8],
    max_frame_size: usize,
    out: &mut BytesMut,
) {
    while !rest.is_empty() {
        let (fragment, after) = split(rest, max_frame_size);
        encode(stream_id, fragment, after.is_empty(), out);
        rest = after;
    }
}

fn encode(stream_id: StreamId, fragment: &[u8], end_headers: bool, out: &mut BytesMut) {
    let flags = flag(END_HEADERS, end_headers);
    Head {
        length: fragment.len(),
        kind: Kind::CONTINUATION,
        flags,
        stream_id,
    }
    .encode(out);
    out.put_slice(fragment);
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Continuation, split};
    use crate::frame::tests::assert_layout;
    use crate::frame::{Frame, Kind, StreamId};

    #[test]
    fn layout() {
        for (flags, end_headers) in [(0, false), (4, true)] {
            let (stream_id, fragment) = (StreamId::new(1), Bytes::from_static(b"abc"));
            let frame = Frame::Continuation(Continuation {
                stream_id,
                fragment,
                end_headers,
            });
            assert_layout(&frame, Kind::CONTINUATION, flags, 1, b"abc");
        }
    }

    #[test]
    fn room_of_nothing_still_makes_progress() {
        assert_eq!(split(b"ab", 0), (&b"a"[..], &b"b"[..]));
    }
}
