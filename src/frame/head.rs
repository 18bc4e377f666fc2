//! The nine octets before every payload (RFC 9113 §4.1).
//!
//! Owns: their layout and the flag bits. Does not know: which flags a frame type defines, or how
//! long a payload may be.
//!
//! ```text
//! Length (24), Type (8), Flags (8), Reserved (1), Stream Identifier (31)
//! ```

use bytes::BufMut;

use super::malformed::Malformed;
use super::{Kind, StreamId};

/// Octets of a frame head.
pub(crate) const HEAD_LEN: usize = 9;

// Flag bits. A bit has its meaning only in the frames that define it.
pub(super) const END_STREAM: u8 = 0x01;
pub(super) const ACK: u8 = 0x01;
pub(super) const END_HEADERS: u8 = 0x04;
pub(super) const PADDED: u8 = 0x08;
pub(super) const PRIORITY: u8 = 0x20;

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Octets of the payload; at most 2^24-1.
    pub(crate) length: usize,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    pub(crate) stream_id: StreamId,
}

impl Head {
    pub(crate) fn parse(octets: &[u8; HEAD_LEN]) -> Head {
        let [l2, l1, l0, kind, flags, s3, s2, s1, s0] = *octets;
        Head {
            length: usize::from(l2) << 16 | usize::from(l1) << 8 | usize::from(l0),
            kind: Kind::new(kind),
            flags,
            //= RFC 9113 §4.1 the reserved bit is ignored when received
            stream_id: StreamId::new(u32::from_be_bytes([s3, s2, s1, s0])),
        }
    }

    pub(crate) fn encode(&self, out: &mut impl BufMut) {
        debug_assert!(
            self.length <= super::LARGEST_MAX_FRAME_SIZE,
            "length has 24 bits"
        );
        out.put_uint(self.length as u64, 3);
        out.put_u8(self.kind.octet());
        out.put_u8(self.flags);
        //= RFC 9113 §4.1 the reserved bit is sent as 0
        out.put_u32(self.stream_id.as_u32());
    }

    //= RFC 9113 §4.1 flags without a meaning for the frame type are ignored
    /// Frames look only at the flags they define.
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The stream, for types that belong to one.
    pub(super) fn stream_of(&self) -> Result<StreamId, Malformed> {
        //= RFC 9113 §6.1, §6.2, §6.3, §6.4, §6.6, §6.10 on stream 0 is a connection error
        //= PROTOCOL_ERROR
        if self.stream_id.is_connection() {
            return Err(Malformed::ConnectionStream { kind: self.kind });
        }
        Ok(self.stream_id)
    }

    /// For types that belong to the connection.
    pub(super) fn must_be_connection(&self) -> Result<(), Malformed> {
        if self.stream_id.is_connection() {
            return Ok(());
        }
        Err(Malformed::NotConnectionStream {
            kind: self.kind,
            stream_id: self.stream_id,
        })
    }

    /// The payload, for types that have one length only.
    pub(super) fn exactly<'a, const N: usize>(
        &self,
        payload: &'a [u8],
    ) -> Result<&'a [u8; N], Malformed> {
        payload
            .try_into()
            .map_err(|_| self.wrong_length(payload.len()))
    }

    pub(super) fn wrong_length(&self, length: usize) -> Malformed {
        Malformed::WrongLength {
            kind: self.kind,
            stream_id: self.stream_id,
            length,
        }
    }

    pub(super) fn too_short(&self, length: usize) -> Malformed {
        Malformed::TooShort {
            kind: self.kind,
            stream_id: self.stream_id,
            length,
        }
    }

    pub(super) fn too_long(&self, limit: usize) -> Malformed {
        let Head {
            length,
            kind,
            stream_id,
            ..
        } = *self;
        Malformed::TooLong {
            kind,
            stream_id,
            length,
            limit,
        }
    }
}

/// `flag` if `set`, else no bit at all.
pub(super) fn flag(flag: u8, set: bool) -> u8 {
    if set { flag } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{HEAD_LEN, Head};
    use crate::frame::{Kind, StreamId};

    fn encoded(head: Head) -> Vec<u8> {
        let mut out = Vec::new();
        head.encode(&mut out);
        out
    }

    #[test]
    fn layout_is_the_rfcs() {
        let head = Head {
            length: 0x01_02_03,
            kind: Kind::HEADERS,
            flags: 0x25,
            stream_id: StreamId::new(0x0405_0607),
        };
        assert_eq!(encoded(head), [1, 2, 3, 1, 0x25, 4, 5, 6, 7]);
        assert_eq!(Head::parse(&[1, 2, 3, 1, 0x25, 4, 5, 6, 7]), head);
    }

    //= test RFC 9113 §4.1 reserved bit ignored, sent as 0
    #[test]
    fn reserved_bit_is_ignored_and_sent_as_zero() {
        let head = Head::parse(&[0, 0, 0, 0, 0, 0x80, 0, 0, 3]);
        assert_eq!(head.stream_id, StreamId::new(3));
        assert_eq!(encoded(head)[5], 0);
    }

    #[test]
    fn extremes_survive() {
        let all = [0xff; HEAD_LEN];
        let head = Head::parse(&all);
        assert_eq!(
            (head.length, head.stream_id),
            ((1 << 24) - 1, StreamId::MAX)
        );
        assert_eq!(
            encoded(head),
            [0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]
        );
    }
}
