//! Padding of DATA, HEADERS and PUSH_PROMISE (RFC 9113 §6.1).
//!
//! Owns: how it is taken off and put on. Does not know: what lies between.
//!
//! ```text
//! [Pad Length (8)], fields and content, Padding (..)
//! ```

use bytes::{Buf, Bytes};
#[cfg(test)]
use bytes::{BufMut, BytesMut};

use super::head::{Head, PADDED};
use super::malformed::Malformed;

/// Takes the pad length and the padding off. At least `fixed` octets, the fields that the frame
/// must have, are left.
pub(super) fn strip(head: &Head, mut payload: Bytes, fixed: usize) -> Result<Bytes, Malformed> {
    let padded = head.has(PADDED);
    //= RFC 9113 §4.2 too short for mandatory fields is FRAME_SIZE_ERROR
    let Some(room) = payload.len().checked_sub(fixed + usize::from(padded)) else {
        return Err(head.too_short(payload.len()));
    };
    if padded {
        let padding = usize::from(payload.get_u8());
        //= RFC 9113 §6.1 padding as long as the payload or longer is PROTOCOL_ERROR
        //= RFC 9113 §6.2, §6.6 so is padding that leaves no room for the fields
        if padding > room {
            return Err(Malformed::PaddingTooLong {
                kind: head.kind,
                stream_id: head.stream_id,
            });
        }
        payload.truncate(payload.len() - padding);
    }
    Ok(payload)
}

/// Appends `count` octets of padding.
#[cfg(test)]
pub(super) fn put(count: u8, out: &mut BytesMut) {
    //= RFC 9113 §6.1 padding is sent as zeros
    out.put_bytes(0, usize::from(count));
}

#[cfg(test)]
mod tests {
    use crate::frame::tests::decoded;
    use crate::frame::{Frame, Kind, Malformed, StreamId};

    const PADDED: u8 = 0x8;

    fn fault(kind: Kind, flags: u8, payload: &[u8]) -> Malformed {
        decoded(kind, flags, 1, payload).expect_err("malformed")
    }

    //= test RFC 9113 §6.1 padding >= payload is a connection error PROTOCOL_ERROR
    #[test]
    fn padding_that_fills_the_payload_is_refused() {
        let (kind, stream_id) = (Kind::DATA, StreamId::new(1));
        let too_long = Malformed::PaddingTooLong { kind, stream_id };
        for length in 1..=40_u8 {
            let mut payload = vec![0; usize::from(length)];
            payload[0] = length - 1;
            let Ok(Frame::Data(data)) = decoded(kind, PADDED, 1, &payload) else {
                panic!("padding only is well formed")
            };
            assert_eq!((data.data.len(), data.flow_len), (0, length.into()));
            for padding in length..=u8::MAX {
                payload[0] = padding;
                assert_eq!(fault(kind, PADDED, &payload), too_long);
            }
        }
    }

    //= test RFC 9113 §6.2, §6.6 padding that eats into the fields is PROTOCOL_ERROR
    #[test]
    fn padding_that_eats_the_fields_is_refused() {
        let stream_id = StreamId::new(1);
        let headers = [&[4][..], &[0; 5], b"abc"].concat();
        let kind = Kind::HEADERS;
        let flags = PADDED | 0x20;
        assert_eq!(
            fault(kind, flags, &headers),
            Malformed::PaddingTooLong { kind, stream_id }
        );
        let promise = [&[4][..], &[0, 0, 0, 2], b"abc"].concat();
        let kind = Kind::PUSH_PROMISE;
        assert_eq!(
            fault(kind, PADDED, &promise),
            Malformed::PaddingTooLong { kind, stream_id }
        );
    }

    //= test RFC 9113 §4.2 no pad length where the flag demands one is FRAME_SIZE_ERROR
    #[test]
    fn missing_fields_are_a_wrong_size() {
        let short = |kind, flags, length: usize| {
            let stream_id = StreamId::new(1);
            let found = fault(kind, flags, &vec![0; length]);
            assert_eq!(
                found,
                Malformed::TooShort {
                    kind,
                    stream_id,
                    length
                }
            );
        };
        short(Kind::DATA, PADDED, 0);
        short(Kind::HEADERS, PADDED, 0);
        (0..5).for_each(|length| short(Kind::HEADERS, 0x20, length));
        (0..6).for_each(|length| short(Kind::HEADERS, PADDED | 0x20, length));
        (0..4).for_each(|length| short(Kind::PUSH_PROMISE, 0, length));
        (0..5).for_each(|length| short(Kind::PUSH_PROMISE, PADDED, length));
    }

    /// A receiver need not look at what padding contains.
    #[test]
    fn content_of_padding_is_not_judged() {
        let Ok(Frame::Data(data)) = decoded(Kind::DATA, PADDED, 1, [2, b'x', 9, 9]) else {
            panic!("well formed")
        };
        assert_eq!(&data.data[..], b"x");
    }
}
