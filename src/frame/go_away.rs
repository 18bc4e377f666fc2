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
