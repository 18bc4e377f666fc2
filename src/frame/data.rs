//! DATA (RFC 9113 §6.1).
//!
//! Owns: its layout. Does not know: windows; but it says how much the frame takes of them, and
//! that is the whole payload (I5).
//!
//! ```text
//! [Pad Length (8)], Data (..), Padding (..)        flags: END_STREAM 0x1, PADDED 0x8
//! ```

#[cfg(test)]
use bytes::BufMut;
use bytes::{Bytes, BytesMut};

#[cfg(test)]
use super::head::PADDED;
use super::head::{END_STREAM, Head, flag};
use super::malformed::Malformed;
use super::{Kind, StreamId, padding};

/// A part of a body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Data {
    pub(crate) stream_id: StreamId,
    /// A slice of the buffer that was read into; no padding.
    pub(crate) data: Bytes,
    pub(crate) end_stream: bool,
    /// What the frame takes of the windows. More than `data` is long if it was padded.
    pub(crate) flow_len: u32,
}

impl Data {
    pub(super) fn decode(head: Head, payload: Bytes) -> Result<Data, Malformed> {
        let stream_id = head.stream_of()?;
        //= RFC 9113 §6.1 the whole payload, padding included, counts for flow control
        let flow_len = payload.len() as u32; // a frame's length has 24 bits
        let data = padding::strip(&head, payload, 0)?;
        Ok(Data {
            stream_id,
            data,
            end_stream: head.has(END_STREAM),
            flow_len,
        })
    }

    /// Appends the whole frame, with as much padding as `flow_len` leaves room for.
    #[cfg(test)]
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        let room = (self.flow_len as usize).saturating_sub(self.data.len());
        let Some(count) = room.checked_sub(1) else {
            encode_data_head(self.stream_id, self.data.len(), self.end_stream, out);
            return out.put_slice(&self.data);
        };
        let count = u8::try_from(count).unwrap_or(u8::MAX);
        let length = self.data.len() + 1 + usize::from(count);
        let flags = PADDED | flag(END_STREAM, self.end_stream);
        Head {
            length,
            kind: Kind::DATA,
            flags,
            stream_id: self.stream_id,
        }
        .encode(out);
        out.put_u8(count);
        out.put_slice(&self.data);
        padding::put(count, out);
    }
}

/// Appends the head of a DATA frame whose `length` octets follow by another way.
pub(crate) fn encode_data_head(
    stream_id: StreamId,
    length: usize,
    end_stream: bool,
    out: &mut BytesMut,
) {
    let flags = flag(END_STREAM, end_stream);
    Head {
        length,
        kind: Kind::DATA,
        flags,
        stream_id,
    }
    .encode(out);
}

#[cfg(test)]
mod tests {
    use bytes::{Bytes, BytesMut};

    use super::{Data, encode_data_head};
    use crate::frame::tests::{assert_layout, encoded};
    use crate::frame::{Frame, Kind, StreamId};

    fn data(octets: &'static [u8], end_stream: bool, flow_len: u32) -> Frame {
        let data = Bytes::from_static(octets);
        Frame::Data(Data {
            stream_id: StreamId::new(1),
            data,
            end_stream,
            flow_len,
        })
    }

    #[test]
    fn layout() {
        assert_layout(&data(b"abc", false, 3), Kind::DATA, 0, 1, b"abc");
        assert_layout(&data(b"", true, 0), Kind::DATA, 1, 1, b"");
    }

    //= test RFC 9113 §6.1 padding counts for flow control, and is sent as zeros
    #[test]
    fn padding_counts_and_is_zero() {
        assert_layout(&data(b"abc", true, 6), Kind::DATA, 0x9, 1, b"\x02abc\0\0");
        assert_layout(&data(b"abc", false, 4), Kind::DATA, 0x8, 1, b"\0abc");
        assert_eq!(encoded(&data(b"", false, 256)).len(), 9 + 256);
    }

    #[test]
    fn head_alone_announces_what_follows() {
        let mut out = BytesMut::new();
        encode_data_head(StreamId::new(1), 3, true, &mut out);
        out.extend_from_slice(b"abc");
        assert_eq!(out.to_vec(), encoded(&data(b"abc", true, 3)));
    }
}
