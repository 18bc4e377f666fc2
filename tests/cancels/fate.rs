//! Chance, and what it makes of a download.

use std::time::Duration;

/// The same numbers for the same seed.
pub(crate) struct Dice(u64);

/// What becomes of a download.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    /// It is read to its end, now and then with a pause.
    Whole,
    /// The client drops what it has of it after so many bytes.
    DroppedAt(usize),
    /// The client resets the stream after so many bytes.
    ResetAt(usize),
    /// The client gives up after this time.
    LateAtClient(Duration),
    /// The server gives up after this time.
    LateAtServer(Duration),
    /// The server resets the stream after so many bytes.
    FailsAt(usize),
    /// The server drops the stream after so many bytes.
    VanishesAt(usize),
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Less than `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        number as usize % sides
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }

    /// What becomes of a download of so many bytes.
    pub(crate) fn fate(&mut self, size: usize) -> Fate {
        let at = 1 + self.roll(size - 1);
        // Some before anything has come, some when most is there already.
        let time = Duration::from_micros((size as u64 / 20) << self.roll(8) >> 3);
        match self.roll(14) {
            0 | 1 => Fate::DroppedAt(at),
            2 | 3 => Fate::ResetAt(at),
            4 | 5 => Fate::LateAtClient(time),
            6 => Fate::LateAtServer(time),
            7 => Fate::FailsAt(at),
            8 => Fate::VanishesAt(at),
            _ => Fate::Whole,
        }
    }
}
