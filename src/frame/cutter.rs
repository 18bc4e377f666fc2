//! Cuts frames from the front of what was read.
//!
//! Owns: how much of a payload that nobody wants is still to come. Does not know: where the octets
//! come from. Keeps its part of I3: at most one frame of the announced size waits in the buffer; a
//! longer one, and one of an unknown type, is skipped by counting.

use bytes::{Buf, BytesMut};

use super::head::{HEAD_LEN, Head};
use super::malformed::Malformed;
use super::{Frame, decode};

/// The place in the peer's octets.
#[derive(Debug, Default)]
pub(crate) struct Cutter {
    /// Octets of an unwanted payload that have yet to come.
    skip: usize,
}

impl Cutter {
    /// Cuts one frame; `Ok(None)`: it is not whole yet.
    ///
    /// A fault is told once and its frame is consumed: the next call goes on behind it. So a fault
    /// that costs only a stream costs nothing more. Too long is told from the head alone.
    pub(crate) fn cut(
        &mut self,
        buffer: &mut BytesMut,
        max_frame_size: usize,
    ) -> Result<Option<Frame>, Malformed> {
        self.drop_unwanted(buffer);
        let Some(octets) = buffer.first_chunk() else {
            return Ok(None);
        };
        let head = Head::parse(octets);
        //= RFC 9113 §4.2 longer than the announced size is FRAME_SIZE_ERROR
        if head.length > max_frame_size {
            self.skip_frame(&head, buffer);
            return Err(head.too_long(max_frame_size));
        }
        if !head.kind.is_known() {
            self.skip_frame(&head, buffer);
            return Ok(Some(Frame::Unknown(head)));
        }
        if buffer.len() - HEAD_LEN < head.length {
            return Ok(None);
        }
        buffer.advance(HEAD_LEN);
        decode(head, buffer.split_to(head.length).freeze()).map(Some)
    }

    /// Whether the peer stopped between two frames, given what `buffer` still holds.
    #[cfg(test)]
    pub(super) fn is_between_frames(&self, buffer: &BytesMut) -> bool {
        buffer.is_empty() && self.skip == 0
    }

    fn skip_frame(&mut self, head: &Head, buffer: &mut BytesMut) {
        buffer.advance(HEAD_LEN);
        self.skip = head.length;
        self.drop_unwanted(buffer);
    }

    fn drop_unwanted(&mut self, buffer: &mut BytesMut) {
        let count = self.skip.min(buffer.len());
        buffer.advance(count);
        self.skip -= count;
    }
}
