//! PRIORITY (RFC 9113 §6.3, deprecated) and PRIORITY_UPDATE (RFC 9218 §7.1).
//!
//! Owns: their layouts. Does not know: what a priority means. The first is checked for its length
//! and then ignored by others; the second carries a field value that others parse.
//!
//! ```text
//! PRIORITY         Exclusive (1), Stream Dependency (31), Weight (8)
//! PRIORITY_UPDATE  Reserved (1), Prioritized Stream ID (31), Priority Field Value (..)
//! ```

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::head::Head;
use super::malformed::Malformed;
use super::{Kind, StreamId};

/// Octets of a `StreamDependency`.
pub(super) const DEPENDENCY_LEN: usize = 5;
const PRIORITIZED_LEN: usize = 4;
const EXCLUSIVE: u32 = 1 << 31;

/// The priority signal of RFC 7540.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamDependency {
    pub(crate) stream_id: StreamId,
    /// One less than the weight it stands for.
    pub(crate) weight: u8,
    pub(crate) exclusive: bool,
}

impl StreamDependency {
    pub(super) fn parse(octets: &[u8; DEPENDENCY_LEN]) -> StreamDependency {
        let [s3, s2, s1, s0, weight] = *octets;
        let word = u32::from_be_bytes([s3, s2, s1, s0]);
        StreamDependency {
            stream_id: StreamId::new(word),
            weight,
            exclusive: word & EXCLUSIVE != 0,
        }
    }

    #[cfg(test)]
    pub(super) fn encode(&self, out: &mut BytesMut) {
        let exclusive = if self.exclusive { EXCLUSIVE } else { 0 };
        out.put_u32(self.stream_id.as_u32() | exclusive);
        out.put_u8(self.weight);
    }
}

/// The deprecated signal in a frame of its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Priority {
    pub(crate) stream_id: StreamId,
    pub(crate) dependency: StreamDependency,
}

impl Priority {
    pub(super) fn decode(head: Head, payload: &[u8]) -> Result<Priority, Malformed> {
        let stream_id = head.stream_of()?;
        //= RFC 9113 §6.3 a length other than 5 is a stream error FRAME_SIZE_ERROR
        let octets = head.exactly(payload)?;
        Ok(Priority {
            stream_id,
            dependency: StreamDependency::parse(octets),
        })
    }

    #[cfg(test)]
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        let (length, kind) = (DEPENDENCY_LEN, Kind::PRIORITY);
        Head {
            length,
            kind,
            flags: 0,
            stream_id: self.stream_id,
        }
        .encode(out);
        self.dependency.encode(out);
    }
}

/// The client's wish for the order of answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PriorityUpdate {
    pub(crate) prioritized_id: StreamId,
    /// The value of a `priority` field, unparsed.
    pub(crate) value: Bytes,
}

impl PriorityUpdate {
    pub(super) fn decode(head: Head, mut payload: Bytes) -> Result<PriorityUpdate, Malformed> {
        //= RFC 9218 §7.1 on a stream is a connection error PROTOCOL_ERROR
        head.must_be_connection()?;
        //= RFC 9218 §7.1 shorter than 4 octets is a connection error FRAME_SIZE_ERROR
        if payload.len() < PRIORITIZED_LEN {
            return Err(head.too_short(payload.len()));
        }
        let prioritized_id = StreamId::new(payload.get_u32());
        //= RFC 9218 §7.1 prioritizing stream 0 is a connection error PROTOCOL_ERROR
        if prioritized_id.is_connection() {
            return Err(Malformed::PrioritizedConnection);
        }
        Ok(PriorityUpdate {
            prioritized_id,
            value: payload,
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        let (length, kind) = (PRIORITIZED_LEN + self.value.len(), Kind::PRIORITY_UPDATE);
        Head {
            length,
            kind,
            flags: 0,
            stream_id: StreamId::CONNECTION,
        }
        .encode(out);
        out.put_u32(self.prioritized_id.as_u32());
        out.put_slice(&self.value);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Priority, PriorityUpdate, StreamDependency};
    use crate::frame::tests::{assert_layout, decoded};
    use crate::frame::{Frame, Kind, Malformed, StreamId};

    #[test]
    fn layout() {
        for (exclusive, octet) in [(true, 0x80), (false, 0)] {
            let stream_id = StreamId::new(3);
            let dependency = StreamDependency {
                stream_id,
                weight: 15,
                exclusive,
            };
            let frame = Frame::Priority(Priority {
                stream_id: StreamId::new(5),
                dependency,
            });
            assert_layout(&frame, Kind::PRIORITY, 0, 5, &[octet, 0, 0, 3, 15]);
        }
    }

    //= test RFC 9113 §6.3 a length other than 5 is an error of the stream it names
    #[test]
    fn priority_of_a_wrong_length_names_its_stream() {
        let (kind, stream_id) = (Kind::PRIORITY, StreamId::new(5));
        for length in (0..20).filter(|&length| length != 5) {
            let fault = Malformed::WrongLength {
                kind,
                stream_id,
                length,
            };
            assert_eq!(decoded(kind, 0, 5, vec![0; length]), Err(fault));
        }
    }

    #[test]
    fn layout_of_the_update() {
        for value in ["u=7, i", ""] {
            let (prioritized_id, value) = (StreamId::new(3), Bytes::from_static(value.as_bytes()));
            let payload = [&[0, 0, 0, 3], &value[..]].concat();
            let frame = Frame::PriorityUpdate(PriorityUpdate {
                prioritized_id,
                value,
            });
            assert_layout(&frame, Kind::PRIORITY_UPDATE, 0, 0, &payload);
        }
    }

    #[test]
    fn reserved_bit_of_the_update_is_ignored() {
        let (prioritized_id, value) = (StreamId::new(3), Bytes::new());
        let update = Frame::PriorityUpdate(PriorityUpdate {
            prioritized_id,
            value,
        });
        assert_eq!(
            decoded(Kind::PRIORITY_UPDATE, 0, 0, [0x80, 0, 0, 3]),
            Ok(update)
        );
    }

    //= test RFC 9218 §7.1 shorter than 4 octets, or for stream 0
    #[test]
    fn update_that_names_no_stream_is_refused() {
        let (kind, stream_id) = (Kind::PRIORITY_UPDATE, StreamId::CONNECTION);
        for length in 0..4 {
            let fault = Malformed::TooShort {
                kind,
                stream_id,
                length,
            };
            assert_eq!(decoded(kind, 0, 0, vec![0; length]), Err(fault));
        }
        assert_eq!(
            decoded(kind, 0, 0, [0; 4]),
            Err(Malformed::PrioritizedConnection)
        );
    }
}
