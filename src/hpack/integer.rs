//! RFC 7541 §5.1: integers with a prefix of 1 to 8 bits, and the cursor that reads a block.
//!
//! Owns the bounds of both: no read passes the end of the block, no integer passes 2^32-1. It must
//! not know what the numbers count.

use bytes::{BufMut, BytesMut};

use super::DecodeError;

/// Continuation octets that an integer may have: five carry any 32 bits.
const MAX_CONTINUATION: u32 = 5;

/// What is left of a header block.
#[derive(Debug)]
pub(super) struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub(super) fn new(block: &'a [u8]) -> Input<'a> {
        Input { rest: block }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Reads an integer whose first octet keeps its low `prefix` bits for it.
    pub(super) fn integer(&mut self, prefix: u32) -> Result<usize, DecodeError> {
        let mask = u8::MAX >> (8 - prefix);
        let start = self.octet()? & mask;
        if start < mask {
            return Ok(usize::from(start));
        }
        self.continued(u64::from(mask))
    }

    //= RFC 7541 §5.1: an integer above our limit in value or in octets is a decoding error
    fn continued(&mut self, start: u64) -> Result<usize, DecodeError> {
        let mut value = start;
        for position in 0..MAX_CONTINUATION {
            let octet = self.octet()?;
            value += u64::from(octet & 0x7f) << (7 * position);
            if octet & 0x80 == 0 {
                return u32::try_from(value)
                    .ok()
                    .and_then(|value| usize::try_from(value).ok())
                    .ok_or(DecodeError::IntegerTooLarge);
            }
        }
        Err(DecodeError::IntegerTooLarge)
    }

    /// Takes the next `length` octets, which a string announced.
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        //= RFC 7541 §5.2: a string lies within its block
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(DecodeError::StringPastEnd)?;
        self.rest = rest;
        Ok(taken)
    }

    //= RFC 7541 §3.1: a block that ends inside a representation is a decoding error
    fn octet(&mut self) -> Result<u8, DecodeError> {
        let (&octet, rest) = self.rest.split_first().ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(octet)
    }
}

/// Writes `value`; the first octet is `flags` with the low `prefix` bits left free.
pub(super) fn encode(flags: u8, prefix: u32, value: usize, out: &mut BytesMut) {
    let mask = u8::MAX >> (8 - prefix);
    match u8::try_from(value) {
        Ok(small) if small < mask => out.put_u8(flags | small),
        _ => {
            out.put_u8(flags | mask);
            encode_rest(value - usize::from(mask), out);
        }
    }
}

fn encode_rest(mut value: usize, out: &mut BytesMut) {
    while value >= 0x80 {
        out.put_u8((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.put_u8(value as u8);
}
