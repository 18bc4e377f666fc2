//! HEADERS (RFC 9113 §6.2).
//!
//! Owns: its layout, and the splitting of a block that is longer than a frame. Does not know: what
//! the block says; in which order blocks were compressed.
//!
//! ```text
//! [Pad Length (8)], [Exclusive (1), Stream Dependency (31), Weight (8)], Fragment (..), Padding (..)
//! flags: END_STREAM 0x1, END_HEADERS 0x4, PADDED 0x8, PRIORITY 0x20
//! ```

use bytes::{BufMut, Bytes, BytesMut};

use super::head::{END_HEADERS, END_STREAM, Head, PRIORITY, flag};
use super::malformed::Malformed;
use super::priority::{DEPENDENCY_LEN, StreamDependency};
use super::{Kind, StreamId, continuation, padding};

/// The beginning of a header block: opens a stream, answers on it, or ends it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Headers {
    pub(crate) stream_id: StreamId,
    /// A slice of the buffer that was read into.
    pub(crate) fragment: Bytes,
    pub(crate) end_headers: bool,
    pub(crate) end_stream: bool,
    /// The signal that RFC 9113 deprecates; parsed because it takes room, then not acted on.
    pub(crate) priority: Option<StreamDependency>,
}

impl Headers {
    pub(super) fn decode(head: Head, payload: Bytes) -> Result<Headers, Malformed> {
        let stream_id = head.stream_of()?;
        //= RFC 9113 §6.2 the PRIORITY flag demands five octets more
        let fixed = if head.has(PRIORITY) {
            DEPENDENCY_LEN
        } else {
            0
        };
        let mut fragment = padding::strip(&head, payload, fixed)?;
        let fields = fragment.split_to(fixed);
        Ok(Headers {
            stream_id,
            fragment,
            end_headers: head.has(END_HEADERS),
            end_stream: head.has(END_STREAM),
            priority: fields.first_chunk().map(StreamDependency::parse),
        })
    }

    #[cfg(test)]
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        let fields = if self.priority.is_some() {
            DEPENDENCY_LEN
        } else {
            0
        };
        let flags = flag(END_STREAM, self.end_stream)
            | flag(END_HEADERS, self.end_headers)
            | flag(PRIORITY, self.priority.is_some());
        let length = fields + self.fragment.len();
        Head {
            length,
            kind: Kind::HEADERS,
            flags,
            stream_id: self.stream_id,
        }
        .encode(out);
        if let Some(priority) = &self.priority {
            priority.encode(out);
        }
        out.put_slice(&self.fragment);
    }
}

/// Appends a whole block: HEADERS, and CONTINUATION for what is beyond `max_frame_size`.
pub(crate) fn encode_headers(
    stream_id: StreamId,
    block: &[u8],
    end_stream: bool,
    max_frame_size: usize,
    out: &mut BytesMut,
) {
    let (first, rest) = continuation::split(block, max_frame_size);
    //= RFC 9113 §6.2 END_STREAM stands on HEADERS, whatever CONTINUATION follows
    let flags = flag(END_STREAM, end_stream) | flag(END_HEADERS, rest.is_empty());
    Head {
        length: first.len(),
        kind: Kind::HEADERS,
        flags,
        stream_id,
    }
    .encode(out);
    out.put_slice(first);
    continuation::encode_rest(stream_id, rest, max_frame_size, out);
}

#[cfg(test)]
mod tests {
    use bytes::{Bytes, BytesMut};

    use super::{Headers, encode_headers};
    use crate::frame::tests::{assert_layout, decoded, octets};
    use crate::frame::{Frame, Kind, StreamDependency, StreamId};

    fn headers(fragment: &'static [u8], flags: u8) -> Headers {
        Headers {
            stream_id: StreamId::new(1),
            fragment: Bytes::from_static(fragment),
            end_headers: flags & 0x4 != 0,
            end_stream: flags & 0x1 != 0,
            priority: None,
        }
    }

    #[test]
    fn layout() {
        for flags in [0, 1, 4, 5] {
            assert_layout(
                &Frame::Headers(headers(b"ab", flags)),
                Kind::HEADERS,
                flags,
                1,
                b"ab",
            );
        }
        let stream_id = StreamId::new(3);
        let priority = Some(StreamDependency {
            stream_id,
            weight: 255,
            exclusive: true,
        });
        let frame = Frame::Headers(Headers {
            priority,
            ..headers(b"ab", 5)
        });
        assert_layout(&frame, Kind::HEADERS, 0x25, 1, b"\x80\0\0\x03\xffab");
    }

    #[test]
    fn padding_and_priority_come_off() {
        let Ok(Frame::Headers(found)) =
            decoded(Kind::HEADERS, 0x2c, 1, b"\x02\0\0\0\x03\x10ab\0\0")
        else {
            panic!("well formed")
        };
        assert_eq!(&found.fragment[..], b"ab");
        let stream_id = StreamId::new(3);
        let priority = StreamDependency {
            stream_id,
            weight: 16,
            exclusive: false,
        };
        assert_eq!(found.priority, Some(priority));
    }

    fn split(block: &[u8], end_stream: bool, max_frame_size: usize) -> Vec<u8> {
        let mut out = BytesMut::new();
        encode_headers(
            StreamId::new(1),
            block,
            end_stream,
            max_frame_size,
            &mut out,
        );
        out.to_vec()
    }

    //= test RFC 9113 §4.2 never longer than the peer allows
    //= test RFC 9113 §6.2 END_STREAM on the first, END_HEADERS on the last
    #[test]
    fn long_block_is_continued() {
        assert_eq!(split(b"", true, 3), octets(Kind::HEADERS, 5, 1, b""));
        assert_eq!(split(b"abc", false, 3), octets(Kind::HEADERS, 4, 1, b"abc"));
        let three = [
            octets(Kind::HEADERS, 1, 1, b"abc"),
            octets(Kind::CONTINUATION, 0, 1, b"def"),
            octets(Kind::CONTINUATION, 4, 1, b"g"),
        ];
        assert_eq!(split(b"abcdefg", true, 3), three.concat());
    }
}
