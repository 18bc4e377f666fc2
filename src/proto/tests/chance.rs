//! What simulations share: numbers, random operations, and the shrinking of a list that fails.
//!
//! Owns: how an operation is drawn and how a failure is told. Does not know: what an operation does.
//! An operation is a kind and a seed of its own, from which its details are drawn: so a failure
//! repeats, and still does when other operations are left out.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Xorshift: enough for a test, and the same everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        dice.roll(2);
        dice
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.roll(times) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }

    pub(crate) fn size(&mut self) -> usize {
        match self.roll(4) {
            0 => self.roll(4),
            1 => self.roll(300),
            2 => self.roll(5_000),
            _ => self.roll(100_000),
        }
    }
}

/// Something that happens, and the seed of its details.
#[derive(Clone, Copy)]
pub(crate) struct Op<K> {
    pub(crate) kind: K,
    pub(crate) seed: u64,
}

impl<K: fmt::Debug> fmt::Debug for Op<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({})", self.kind, self.seed)
    }
}

/// `count` operations, each kind as often as its weight says.
pub(crate) fn operations<K: Copy>(weights: &[(K, usize)], seed: u64, count: usize) -> Vec<Op<K>> {
    let mut dice = Dice::new(seed ^ 0x5eed);
    let total = weights.iter().map(|(_, weight)| weight).sum();
    let mut draw = || {
        let mut at = dice.roll(total);
        let chosen = weights.iter().find(|(_, weight)| {
            let is_here = at < *weight;
            at = at.saturating_sub(*weight);
            is_here
        });
        let kind = chosen.expect("below the total").0;
        let seed = dice.roll(1 << 40) as u64;
        Op { kind, seed }
    };
    (0..count).map(|_| draw()).collect()
}

/// Plays the operations. If that fails, says with which seed, and which operations are needed.
pub(crate) fn simulate<K, T>(seed: u64, ops: Vec<Op<K>>, play: impl Fn(u64, &[Op<K>]) -> T) -> T
where
    K: Copy + fmt::Debug,
{
    let attempt = |ops: &[Op<K>]| catch_unwind(AssertUnwindSafe(|| play(seed, ops)));
    attempt(&ops).unwrap_or_else(|panic| {
        let text = words(&*panic);
        let fails =
            |ops: &[Op<K>]| attempt(ops).is_err_and(|other| rule(words(&*other)) == rule(text));
        let few = shrink(ops, fails);
        panic!(
            "seed {seed}: {text}\nafter {} operations: {few:?}",
            few.len(),
        )
    })
}

/// The invariant that a message names: fewer operations must break the same.
fn rule(text: &str) -> &str {
    text.split([':', ' ']).next().unwrap_or(text)
}

/// The operations that are needed to fail: parts are left out while it still does.
fn shrink<K: Copy>(mut ops: Vec<Op<K>>, fails: impl Fn(&[Op<K>]) -> bool) -> Vec<Op<K>> {
    let mut part = ops.len() / 2;
    let mut tries = 400;
    while part > 0 && tries > 0 {
        let mut from = 0;
        while from < ops.len() && tries > 0 {
            let mut fewer = ops.clone();
            fewer.drain(from..(from + part).min(ops.len()));
            tries -= 1;
            if fails(&fewer) {
                ops = fewer;
            } else {
                from += part;
            }
        }
        part /= 2;
    }
    ops
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("it panics")
}

#[test]
fn a_failure_shrinks_to_the_operations_that_it_needs() {
    let ops = operations(&[((), 1)], 1, 200);
    let is_needed = |op: &Op<()>| op.seed % 50 == 7;
    let needed = ops.iter().filter(|op| is_needed(op)).count();
    let few = shrink(ops, |ops| {
        ops.iter().filter(|op| is_needed(op)).count() == needed
    });
    assert_eq!(few.len(), needed);
}
