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

#[cfg(test)]
mod tests {
    use super::Ping;
    use crate::frame::tests::{assert_layout, decoded};
    use crate::frame::{Frame, Kind, Malformed, StreamId};

    #[test]
    fn layout() {
        for (flags, ack) in [(0, false), (1, true)] {
            let frame = Frame::Ping(Ping {
                ack,
                payload: *b"8 octets",
            });
            assert_layout(&frame, Kind::PING, flags, 0, b"8 octets");
        }
    }

    //= test RFC 9113 §6.7 a length other than 8 is FRAME_SIZE_ERROR
    #[test]
    fn wrong_length_is_refused() {
        let (kind, stream_id) = (Kind::PING, StreamId::CONNECTION);
        for length in (0..20).filter(|&length| length != 8) {
            let fault = Malformed::WrongLength {
                kind,
                stream_id,
                length,
            };
            assert_eq!(decoded(kind, 0, 0, vec![0; length]), Err(fault));
        }
    }
}
