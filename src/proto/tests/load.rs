//! Bodies of simulations: what they are made of, and how their bytes are known again.
//!
//! Owns: the pattern. Byte n of the body of stream s is n + s, so a lost, doubled or misplaced one
//! shows. Does not know: who sends.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::LazyLock;

use bytes::{Buf, Bytes};

use super::chance::Dice;
use crate::frame::StreamId;

static PATTERN: LazyLock<Bytes> = LazyLock::new(|| (0..1 << 18).map(|n: u32| n as u8).collect());

/// A payload: in one piece, or in many of which only the first can be seen.
#[derive(Debug)]
pub(crate) enum Load {
    One(Bytes),
    Many(VecDeque<Bytes>),
    /// One that says once that it has so many bytes, and has none.
    Void(Cell<usize>),
}

impl Buf for Load {
    fn remaining(&self) -> usize {
        match self {
            Load::One(bytes) => bytes.len(),
            Load::Many(parts) => parts.iter().map(Bytes::len).sum(),
            Load::Void(said) => said.take(),
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            Load::One(bytes) => bytes,
            Load::Many(parts) => parts.front().map_or(&[], |part| part),
            Load::Void(_) => &[],
        }
    }

    fn advance(&mut self, mut count: usize) {
        match self {
            Load::One(bytes) => bytes.advance(count),
            Load::Void(_) => assert_eq!(count, 0),
            Load::Many(parts) => {
                while count > 0 {
                    let part = parts.front_mut().expect("no more than remains");
                    let step = count.min(part.len());
                    part.advance(step);
                    count -= step;
                    if part.is_empty() {
                        parts.pop_front();
                    }
                }
            }
        }
    }
}

/// A part of the body of stream `id`, without a copy if it is not longer than the pattern.
pub(crate) fn payload(id: StreamId, from: usize, length: usize) -> Bytes {
    let phase = (from + id.as_u32() as usize) % 256;
    if phase + length <= PATTERN.len() {
        return PATTERN.slice(phase..phase + length);
    }
    (phase..phase + length).map(|n| n as u8).collect()
}

/// The same in one piece or in many.
pub(crate) fn load(dice: &mut Dice, mut data: Bytes) -> Load {
    if dice.roll(2) == 0 {
        return Load::One(data);
    }
    let mut parts = VecDeque::new();
    while !data.is_empty() {
        let length = match dice.roll(3) {
            0 => 1 + dice.roll(10),
            _ => 1 + dice.roll(20_000),
        };
        parts.push_back(data.split_to(length.min(data.len())));
    }
    Load::Many(parts)
}
