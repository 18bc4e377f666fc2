//! Padding of DATA, HEADERS and PUSH_PROMISE (RFC 9113 §6.1).
//!
//! Owns: how it is taken off and put on. Does not know: what lies between.
//!
//! ```text
//! [Pad Length (8)], fields and content, Padding (..)
//! ```

use bytes::{Buf, BufMut, Bytes, BytesMut};

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
        //= RFC 9113 §6.2 so is padding that leaves no room for the fields
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
pub(super) fn put(count: u8, out: &mut BytesMut) {
    //= RFC 9113 §6.1 padding is sent as zeros
    out.put_bytes(0, usize::from(count));
}
