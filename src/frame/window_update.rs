//! WINDOW_UPDATE (RFC 9113 §6.9).
//!
//! Owns: its layout. Does not know: the windows.
//!
//! ```text
//! Reserved (1), Window Size Increment (31)
//! ```

use bytes::{BufMut, BytesMut};

use super::head::Head;
use super::malformed::Malformed;
use super::{Kind, MAX_WINDOW_SIZE, StreamId};

/// Credit for more DATA, on one stream or on the connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WindowUpdate {
    pub(crate) stream_id: StreamId,
    /// 1 to 2^31-1.
    pub(crate) increment: u32,
}

impl WindowUpdate {
    pub(super) fn decode(head: Head, payload: &[u8]) -> Result<WindowUpdate, Malformed> {
        let stream_id = head.stream_id;
        //= RFC 9113 §6.9 a length other than 4 is a connection error FRAME_SIZE_ERROR
        let increment = u32::from_be_bytes(*head.exactly(payload)?) & MAX_WINDOW_SIZE;
        //= RFC 9113 §6.9 an increment of 0 is PROTOCOL_ERROR, of the stream or of the connection
        if increment == 0 {
            return Err(Malformed::ZeroIncrement { stream_id });
        }
        Ok(WindowUpdate {
            stream_id,
            increment,
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        let (kind, stream_id) = (Kind::WINDOW_UPDATE, self.stream_id);
        Head {
            length: 4,
            kind,
            flags: 0,
            stream_id,
        }
        .encode(out);
        out.put_u32(self.increment & MAX_WINDOW_SIZE);
    }
}
