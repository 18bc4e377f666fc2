//! (skeleton: the owner of `proto` replaces this)

/// Names a slot and the stream that lived in it: a key outlives its slot and then finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    slot: u32,
    generation: u32,
}

impl Key {
    pub(crate) const fn new(slot: u32, generation: u32) -> Key {
        Key { slot, generation }
    }
    /// As one word, below 2^63 (generations are kept to 31 bits).
    pub(crate) const fn to_bits(self) -> u64 {
        ((self.generation as u64) << 32) | self.slot as u64
    }
    pub(crate) const fn from_bits(bits: u64) -> Key {
        Key { slot: bits as u32, generation: (bits >> 32) as u32 }
    }
}
