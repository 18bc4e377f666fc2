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

#[cfg(test)]
mod tests {
    use super::WindowUpdate;
    use crate::frame::tests::{assert_layout, decoded};
    use crate::frame::{Frame, Kind, MAX_WINDOW_SIZE, Malformed, StreamId};

    fn update(id: u32, increment: u32) -> Frame {
        Frame::WindowUpdate(WindowUpdate {
            stream_id: StreamId::new(id),
            increment,
        })
    }

    #[test]
    fn layout() {
        assert_layout(&update(3, 1), Kind::WINDOW_UPDATE, 0, 3, &[0, 0, 0, 1]);
        let most = update(0, MAX_WINDOW_SIZE);
        assert_layout(&most, Kind::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]);
    }

    #[test]
    fn reserved_bit_is_ignored() {
        let found = decoded(Kind::WINDOW_UPDATE, 0, 3, [0x80, 0, 0, 9]);
        assert_eq!(found, Ok(update(3, 9)));
    }

    //= test RFC 9113 §6.9 an increment of 0, on a stream and on the connection
    #[test]
    fn zero_increment_is_refused_where_it_was_sent() {
        for (id, first) in [(0, 0), (3, 0), (0, 0x80), (3, 0x80)] {
            let fault = Malformed::ZeroIncrement {
                stream_id: StreamId::new(id),
            };
            assert_eq!(
                decoded(Kind::WINDOW_UPDATE, 0, id, [first, 0, 0, 0]),
                Err(fault)
            );
        }
    }

    //= test RFC 9113 §6.9 a length other than 4 is FRAME_SIZE_ERROR
    #[test]
    fn wrong_length_is_refused() {
        let (kind, stream_id) = (Kind::WINDOW_UPDATE, StreamId::new(3));
        for length in (0..20).filter(|&length| length != 4) {
            let fault = Malformed::WrongLength {
                kind,
                stream_id,
                length,
            };
            assert_eq!(decoded(kind, 0, 3, vec![1; length]), Err(fault));
        }
    }
}
