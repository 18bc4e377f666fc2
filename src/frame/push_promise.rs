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

    #[cfg(test)]
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

#[cfg(test)]
mod tests {
    use bytes::{Bytes, BytesMut};

    use super::{PushPromise, encode_push_promise};
    use crate::frame::tests::{assert_layout, decoded, octets};
    use crate::frame::{Frame, Kind, Malformed, StreamId};

    fn promise(end_headers: bool) -> PushPromise {
        PushPromise {
            stream_id: StreamId::new(1),
            promised_id: StreamId::new(2),
            fragment: Bytes::from_static(b"ab"),
            end_headers,
        }
    }

    #[test]
    fn layout() {
        for (flags, end) in [(0, false), (4, true)] {
            let frame = Frame::PushPromise(promise(end));
            assert_layout(&frame, Kind::PUSH_PROMISE, flags, 1, b"\0\0\0\x02ab");
        }
    }

    #[test]
    fn padding_and_reserved_bit_come_off() {
        let found = decoded(Kind::PUSH_PROMISE, 0xc, 1, b"\x01\x80\0\0\x02ab\0");
        assert_eq!(found, Ok(Frame::PushPromise(promise(true))));
    }

    //= test RFC 9113 §5.1.1 stream 0 cannot be promised
    #[test]
    fn promise_of_stream_0_is_refused() {
        let fault = Malformed::PromisedConnection {
            stream_id: StreamId::new(1),
        };
        assert_eq!(
            decoded(Kind::PUSH_PROMISE, 4, 1, b"\x80\0\0\0ab"),
            Err(fault)
        );
    }

    //= test RFC 9113 §4.2 never longer than the peer allows, the promised id included
    #[test]
    fn long_promise_is_continued() {
        let mut out = BytesMut::new();
        encode_push_promise(
            StreamId::new(1),
            StreamId::new(2),
            b"abcdefghi",
            6,
            &mut out,
        );
        let two = [
            octets(Kind::PUSH_PROMISE, 0, 1, b"\0\0\0\x02ab"),
            octets(Kind::CONTINUATION, 0, 1, b"cdefgh"),
            octets(Kind::CONTINUATION, 4, 1, b"i"),
        ];
        assert_eq!(out.to_vec(), two.concat());
    }
}
