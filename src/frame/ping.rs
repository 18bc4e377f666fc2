//! PING (RFC 9113 §6.7).
//!
//! Owns: its layout. Does not know: who asked.
//!
//! ```text
//! Opaque Data (64)        flags: ACK 0x1
//! ```

use bytes::{BufMut, BytesMut};

use super::head::{ACK, Head, flag};
use super::malformed::Malformed;
use super::{Kind, StreamId};

/// A question whose answer shows that the peer lives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ping {
    pub(crate) ack: bool,
    pub(crate) payload: [u8; 8],
}

impl Ping {
    pub(super) fn decode(head: Head, payload: &[u8]) -> Result<Ping, Malformed> {
        //= RFC 9113 §6.7 on a stream is a connection error PROTOCOL_ERROR
        head.must_be_connection()?;
        //= RFC 9113 §6.7 a length other than 8 is a connection error FRAME_SIZE_ERROR
        let payload = *head.exactly(payload)?;
        Ok(Ping {
            ack: head.has(ACK),
            payload,
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        let (flags, stream_id) = (flag(ACK, self.ack), StreamId::CONNECTION);
        Head {
            length: self.payload.len(),
            kind: Kind::PING,
            flags,
            stream_id,
        }
        .encode(out);
        out.put_slice(&self.payload);
    }
}
