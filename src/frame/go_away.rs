//! GOAWAY (RFC 9113 §6.8).
//!
//! Owns: its layout. Does not know: which streams still run.
//!
//! ```text
//! Reserved (1), Last-Stream-ID (31), Error Code (32), Additional Debug Data (..)
//! ```

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::head::Head;
use super::malformed::Malformed;
use super::{DEFAULT_MAX_FRAME_SIZE, Kind, Reason, StreamId};

const FIXED_LEN: usize = 8;

/// The announcement that no further streams will be served.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GoAway {
    pub(crate) last_stream_id: StreamId,
    pub(crate) reason: Reason,
    pub(crate) debug_data: Bytes,
}

impl GoAway {
    pub(super) fn decode(head: Head, mut payload: Bytes) -> Result<GoAway, Malformed> {
        //= RFC 9113 §6.8 on a stream is a connection error PROTOCOL_ERROR
        head.must_be_connection()?;
        //= RFC 9113 §4.2 too short for its two fields is FRAME_SIZE_ERROR
        if payload.len() < FIXED_LEN {
            return Err(head.too_short(payload.len()));
        }
        Ok(GoAway {
            last_stream_id: StreamId::new(payload.get_u32()),
            //= RFC 9113 §7 unknown codes are kept, not judged
            reason: Reason::from(payload.get_u32()),
            debug_data: payload,
        })
    }

    /// Debug data that no peer needs to accept is cut off.
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        //= RFC 9113 §4.2 never longer than what every peer accepts
        let debug = self
            .debug_data
            .len()
            .min(DEFAULT_MAX_FRAME_SIZE - FIXED_LEN);
        let (length, stream_id) = (FIXED_LEN + debug, StreamId::CONNECTION);
        Head {
            length,
            kind: Kind::GOAWAY,
            flags: 0,
            stream_id,
        }
        .encode(out);
        out.put_u32(self.last_stream_id.as_u32());
        out.put_u32(self.reason.into());
        out.put_slice(&self.debug_data[..debug]);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::GoAway;
    use crate::frame::tests::{assert_layout, decoded, encoded};
    use crate::frame::{DEFAULT_MAX_FRAME_SIZE, Frame, Kind, Malformed, Reason, StreamId};

    fn go_away(code: u32, debug_data: Bytes) -> Frame {
        let (last_stream_id, reason) = (StreamId::new(5), Reason::from(code));
        Frame::GoAway(GoAway {
            last_stream_id,
            reason,
            debug_data,
        })
    }

    #[test]
    fn layout() {
        let frame = go_away(1, Bytes::from_static(b"why"));
        assert_layout(&frame, Kind::GOAWAY, 0, 0, b"\0\0\0\x05\0\0\0\x01why");
    }

    //= test RFC 9113 §6.8 the reserved bit is ignored, unknown codes are accepted
    #[test]
    fn reserved_bit_is_ignored_and_any_code_accepted() {
        let found = decoded(Kind::GOAWAY, 0, 0, [0x80, 0, 0, 5, 0, 0, 1, 0]);
        assert_eq!(found, Ok(go_away(256, Bytes::new())));
    }

    //= test RFC 9113 §4.2 too short is FRAME_SIZE_ERROR
    #[test]
    fn too_short_is_refused() {
        let (kind, stream_id) = (Kind::GOAWAY, StreamId::CONNECTION);
        for length in 0..8 {
            let fault = Malformed::TooShort {
                kind,
                stream_id,
                length,
            };
            assert_eq!(decoded(kind, 0, 0, vec![0; length]), Err(fault));
        }
    }

    //= test RFC 9113 §4.2 never longer than every peer accepts
    #[test]
    fn long_debug_data_is_cut_off() {
        let frame = go_away(1, Bytes::from(vec![b'x'; DEFAULT_MAX_FRAME_SIZE]));
        assert_eq!(encoded(&frame).len(), 9 + DEFAULT_MAX_FRAME_SIZE);
    }
}
