//! RFC 7541 §5.2: strings in the Huffman code.
//!
//! Owns the coder and decoder over the tables of `huffman_table`. Work is linear in the octets:
//! a look-up decodes one or two short symbols, a search over the lengths a long one. It must not
//! know what the strings mean.

use bytes::BytesMut;

use super::DecodeError;
use super::huffman_table::{
    CODES, END_OF_STRING, LENGTHS, MAX_LENGTH, PAIR_BITS, PAIRS, Pair, RANKS, SYMBOLS,
};

/// Octets that `encode` will write.
pub(super) fn encoded_len(string: &[u8]) -> usize {
    let bits: usize = string
        .iter()
        .map(|&octet| usize::from(LENGTHS[usize::from(octet)]))
        .sum();
    bits.div_ceil(8)
}

/// Appends the code of `string`; `length` is its `encoded_len`.
pub(super) fn encode(string: &[u8], length: usize, out: &mut BytesMut) {
    let start = out.len();
    out.resize(start + length, 0);
    let mut place = &mut out[start..];
    let mut word = 0u64;
    let mut bits = 0;
    for &octet in string {
        let length = u32::from(LENGTHS[usize::from(octet)]);
        word = word << length | u64::from(CODES[usize::from(octet)]);
        bits += length;
        if bits >= 32 {
            bits -= 32;
            let (now, later) = place.split_at_mut(4);
            now.copy_from_slice(&((word >> bits) as u32).to_be_bytes());
            place = later;
        }
    }
    finish(word, bits, place);
}

/// Writes the last `bits` (fewer than 32) of `word`.
fn finish(word: u64, bits: u32, place: &mut [u8]) {
    //= RFC 7541 §5.2: the last octet is filled up with ones
    let aligned = (word << 32 | u64::from(u32::MAX)) >> bits;
    let octets = (aligned as u32).to_be_bytes();
    place.copy_from_slice(&octets[..place.len()]);
}

/// Decodes `string` into `out`, whose former content is lost.
pub(super) fn decode(string: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    // No code is shorter than five bits; a pair may write one octet past the last symbol.
    out.clear();
    out.resize(string.len() / 5 * 8 + 10, 0);
    let mut bits = Bits {
        rest: string,
        word: 0,
        held: 0,
    };
    let mut length = 0;
    loop {
        bits.refill();
        if bits.held < MAX_LENGTH as u32 {
            break;
        }
        length = bits.symbols(out, length)?;
    }
    length = bits.last_symbols(out, length)?;
    out.truncate(length);
    Ok(())
}

/// A window on the bits of a string.
struct Bits<'a> {
    rest: &'a [u8],
    /// The next bits, aligned to the left. Behind the first `held` are bits of `rest`, or zeros.
    word: u64,
    held: u32,
}

impl Bits<'_> {
    fn refill(&mut self) {
        if let Some((chunk, _)) = self.rest.split_first_chunk::<8>() {
            self.word |= u64::from_be_bytes(*chunk) >> self.held;
            let octets = (63 - self.held) / 8;
            self.rest = &self.rest[octets as usize..];
            self.held += octets * 8;
            return;
        }
        while self.held <= 56 {
            let Some((&octet, rest)) = self.rest.split_first() else {
                return;
            };
            self.word |= u64::from(octet) << (56 - self.held);
            self.held += 8;
            self.rest = rest;
        }
    }

    /// Decodes while a whole code is certain to be held. Returns the new length.
    fn symbols(&mut self, out: &mut [u8], mut length: usize) -> Result<usize, DecodeError> {
        while self.held >= MAX_LENGTH as u32 {
            let pair = PAIRS[(self.word >> (64 - PAIR_BITS)) as usize];
            if pair.count == 0 {
                let (symbol, bits) = search((self.word >> 32) as u32);
                out[length] = octet(symbol)?;
                length += 1;
                self.skip(bits);
            } else {
                length = self.write(pair, out, length);
            }
        }
        Ok(length)
    }

    /// Writes the symbols of a pair, which may be one, and goes on behind it. Returns the new length.
    fn write(&mut self, pair: Pair, out: &mut [u8], length: usize) -> usize {
        out[length..length + 2].copy_from_slice(&pair.symbols);
        self.skip(u32::from(pair.bits));
        length + usize::from(pair.count)
    }

    /// Decodes the rest, up to the padding, which must be right. Returns the new length.
    fn last_symbols(&mut self, out: &mut [u8], mut length: usize) -> Result<usize, DecodeError> {
        loop {
            // Behind the string the bits are those of padding: what takes some of them is no symbol.
            let padded = (self.word >> 32) as u32 | u32::MAX >> self.held;
            let pair = PAIRS[(padded >> (32 - PAIR_BITS)) as usize];
            if pair.count > 0 && u32::from(pair.bits) <= self.held {
                length = self.write(pair, out, length);
                continue;
            }
            let (symbol, bits) = search(padded);
            if bits > self.held {
                self.check_padding(padded)?;
                return Ok(length);
            }
            out[length] = octet(symbol)?;
            length += 1;
            self.skip(bits);
        }
    }

    fn check_padding(&self, padded: u32) -> Result<(), DecodeError> {
        //= RFC 7541 §5.2: padding that is not the first bits of the EOS code is an error
        if padded != u32::MAX {
            return Err(DecodeError::PaddingNotOnes);
        }
        //= RFC 7541 §5.2: padding of more than seven bits is an error
        if self.held > 7 {
            return Err(DecodeError::PaddingTooLong);
        }
        Ok(())
    }

    fn skip(&mut self, bits: u32) {
        self.word <<= bits;
        self.held -= bits;
    }
}

//= RFC 7541 §5.2: a string that contains the EOS code is an error
fn octet(symbol: u16) -> Result<u8, DecodeError> {
    debug_assert!(symbol <= END_OF_STRING);
    u8::try_from(symbol).map_err(|_| DecodeError::EndOfStringInside)
}

/// The code that `word` begins with: its symbol and length.
fn search(word: u32) -> (u16, u32) {
    let mut length = 5;
    while length < MAX_LENGTH && u64::from(word) >= RANKS[length].end {
        length += 1;
    }
    let rank = &RANKS[length];
    let offset = (word >> (32 - length)) - rank.first_code;
    (
        SYMBOLS[usize::from(rank.first_position) + offset as usize],
        length as u32,
    )
}
