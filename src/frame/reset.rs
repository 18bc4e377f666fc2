//! RST_STREAM (RFC 9113 §6.4).
//!
//! Owns: its layout. Does not know: whether the stream lives.
//!
//! ```text
//! Error Code (32)
//! ```

use bytes::{BufMut, BytesMut};

use super::head::Head;
use super::malformed::Malformed;
use super::{Kind, Reason, StreamId};

/// The abrupt end of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reset {
    pub(crate) stream_id: StreamId,
    pub(crate) reason: Reason,
}

impl Reset {
    pub(super) fn decode(head: Head, payload: &[u8]) -> Result<Reset, Malformed> {
        let stream_id = head.stream_of()?;
        //= RFC 9113 §6.4 a length other than 4 is a connection error FRAME_SIZE_ERROR
        let code = u32::from_be_bytes(*head.exactly(payload)?);
        Ok(Reset {
            stream_id,
            reason: Reason::from(code),
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        Head {
            length: 4,
            kind: Kind::RST_STREAM,
            flags: 0,
            stream_id: self.stream_id,
        }
        .encode(out);
        out.put_u32(self.reason.into());
    }
}

#[cfg(test)]
mod tests {
    use super::Reset;
    use crate::frame::tests::{assert_layout, decoded};
    use crate::frame::{Frame, Kind, Malformed, Reason, StreamId};

    //= test RFC 9113 §6.4 unknown codes are accepted
    #[test]
    fn layout() {
        for (code, octets) in [(8, [0, 0, 0, 8]), (0xfeed_0001, [0xfe, 0xed, 0, 1])] {
            let (stream_id, reason) = (StreamId::new(3), Reason::from(code));
            let frame = Frame::Reset(Reset { stream_id, reason });
            assert_layout(&frame, Kind::RST_STREAM, 0, 3, &octets);
        }
    }

    //= test RFC 9113 §6.4 a length other than 4 is FRAME_SIZE_ERROR
    #[test]
    fn wrong_length_is_refused() {
        let (kind, stream_id) = (Kind::RST_STREAM, StreamId::new(3));
        for length in (0..20).filter(|&length| length != 4) {
            let fault = Malformed::WrongLength {
                kind,
                stream_id,
                length,
            };
            assert_eq!(decoded(kind, 0, 3, vec![0; length]), Err(fault));
        }
    }
}
