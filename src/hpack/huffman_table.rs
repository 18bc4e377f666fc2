//! RFC 7541 Appendix B, as tables made when the crate is compiled.
//!
//! Owns the data of the code and nothing else. The code is canonical: within a length, codes rise
//! with the symbol, and longer codes follow shorter ones. So the lengths alone define it.

/// The symbol that ends no string: it may never be sent.
pub(super) const END_OF_STRING: u16 = 256;

/// The longest code.
pub(super) const MAX_LENGTH: usize = 30;

/// Bits that one look-up of `PAIRS` sees.
pub(super) const PAIR_BITS: usize = 11;

/// Length of the code of each symbol, in bits.
#[rustfmt::skip]
pub(super) static LENGTHS: [u8; 257] = LENGTHS_DATA;

#[rustfmt::skip]
const LENGTHS_DATA: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

/// Code of each symbol, in the low bits.
pub(super) static CODES: [u32; 257] = CODES_DATA;

const CODES_DATA: [u32; 257] = codes();

/// Symbols in the order of their codes.
pub(super) static SYMBOLS: [u16; 257] = symbols();

/// All codes of one length: where they begin and end among the 32-bit words, and in `SYMBOLS`.
#[derive(Clone, Copy)]
pub(super) struct Rank {
    /// The first word, codes aligned to the left, that is past the codes of this length.
    pub(super) end: u64,
    pub(super) first_code: u32,
    pub(super) first_position: u16,
}

/// By length.
pub(super) static RANKS: [Rank; MAX_LENGTH + 1] = ranks();

/// What `PAIR_BITS` bits begin with: up to two symbols, or none if the first code is longer.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) symbols: [u8; 2],
    pub(super) count: u8,
    /// Bits that the symbols take together.
    pub(super) bits: u8,
}

pub(super) static PAIRS: [Pair; 1 << PAIR_BITS] = pairs();

const fn codes() -> [u32; 257] {
    let mut codes = [0; 257];
    let mut code = 0;
    let mut length = 1;
    while length <= MAX_LENGTH {
        code <<= 1;
        let mut symbol = 0;
        while symbol < 257 {
            if LENGTHS_DATA[symbol] as usize == length {
                codes[symbol] = code;
                code += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    codes
}

const fn symbols() -> [u16; 257] {
    let mut symbols = [0; 257];
    let mut position = 0;
    let mut length = 1;
    while length <= MAX_LENGTH {
        let mut symbol = 0;
        while symbol < 257 {
            if LENGTHS_DATA[symbol] as usize == length {
                symbols[position] = symbol as u16;
                position += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    symbols
}

const fn ranks() -> [Rank; MAX_LENGTH + 1] {
    let mut ranks = [Rank {
        end: 0,
        first_code: 0,
        first_position: 0,
    }; MAX_LENGTH + 1];
    let mut code = 0u32;
    let mut position = 0;
    let mut length = 1;
    while length <= MAX_LENGTH {
        code <<= 1;
        let count = count_of(length);
        ranks[length] = Rank {
            end: ((code + count as u32) as u64) << (32 - length),
            first_code: code,
            first_position: position,
        };
        code += count as u32;
        position += count;
        length += 1;
    }
    ranks
}

const fn count_of(length: usize) -> u16 {
    let mut count = 0;
    let mut symbol = 0;
    while symbol < 257 {
        if LENGTHS_DATA[symbol] as usize == length {
            count += 1;
        }
        symbol += 1;
    }
    count
}

const fn pairs() -> [Pair; 1 << PAIR_BITS] {
    let mut pairs = [Pair {
        symbols: [0; 2],
        count: 0,
        bits: 0,
    }; 1 << PAIR_BITS];
    let mut first = 0;
    while first < 256 {
        let length = LENGTHS_DATA[first];
        if length as usize <= PAIR_BITS {
            let pair = Pair {
                symbols: [first as u8, 0],
                count: 1,
                bits: length,
            };
            fill(&mut pairs, CODES_DATA[first] as usize, pair);
            fill_seconds(&mut pairs, first);
        }
        first += 1;
    }
    pairs
}

/// The entries in which a second code fits behind that of `first`.
const fn fill_seconds(pairs: &mut [Pair; 1 << PAIR_BITS], first: usize) {
    let mut second = 0;
    while second < 256 {
        let length = LENGTHS_DATA[second];
        let bits = LENGTHS_DATA[first] + length;
        if bits as usize <= PAIR_BITS {
            let code = ((CODES_DATA[first] as usize) << length) | CODES_DATA[second] as usize;
            let symbols = [first as u8, second as u8];
            fill(
                pairs,
                code,
                Pair {
                    symbols,
                    count: 2,
                    bits,
                },
            );
        }
        second += 1;
    }
}

/// Writes `pair` to each entry that begins with `code`.
const fn fill(pairs: &mut [Pair; 1 << PAIR_BITS], code: usize, pair: Pair) {
    let free = PAIR_BITS - pair.bits as usize;
    let mut low = 0;
    while low < 1 << free {
        pairs[(code << free) | low] = pair;
        low += 1;
    }
}
