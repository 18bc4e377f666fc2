//! Tests over all frames, and the helpers of the tests beside each.

mod cutter;
mod every_frame;

use bytes::{Bytes, BytesMut};

use super::{Frame, Head, Kind, Malformed, StreamId, decode};

/// Decodes a frame given by its parts.
pub(super) fn decoded(
    kind: Kind,
    flags: u8,
    stream_id: u32,
    payload: impl AsRef<[u8]>,
) -> Result<Frame, Malformed> {
    let payload = Bytes::copy_from_slice(payload.as_ref());
    let stream_id = StreamId::new(stream_id);
    decode(
        Head {
            length: payload.len(),
            kind,
            flags,
            stream_id,
        },
        payload,
    )
}

/// The octets of a frame given by its parts.
pub(super) fn octets(kind: Kind, flags: u8, stream_id: u32, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let mut out = Vec::new();
    let stream_id = StreamId::new(stream_id);
    Head {
        length: payload.len(),
        kind,
        flags,
        stream_id,
    }
    .encode(&mut out);
    out.extend_from_slice(payload);
    out
}

pub(super) fn encoded(frame: &Frame) -> Vec<u8> {
    let mut out = BytesMut::new();
    frame.encode(&mut out);
    out.to_vec()
}

/// The layout holds in both directions.
pub(super) fn assert_layout(frame: &Frame, kind: Kind, flags: u8, id: u32, payload: &[u8]) {
    assert_eq!(encoded(frame), octets(kind, flags, id, payload));
    assert_eq!(decoded(kind, flags, id, payload).as_ref(), Ok(frame));
}
