//! Two ends under random operations, with the real handles, hand-over and driver.
//!
//! The simulation of `proto` has a model in the place of handles and asks what a connection does;
//! this one asks whether all of it together stalls, forgets a task, leaks or lets more be buffered
//! than it may. The invariants are checked after every step. A failure prints the seed of the world
//! and the operations that are needed to fail.

mod party;
mod socket;
mod task;
mod world;

use self::world::{Op, Seen, WEIGHTS, World};
use crate::proto::tests::chance::{operations, simulate};

/// Plays `count` operations in each of the worlds.
fn run(world: fn(u64) -> World, seeds: std::ops::RangeInclusive<u64>, count: usize) -> Seen {
    let play = |seed, ops: &[Op]| {
        let mut world = world(seed);
        ops.iter().for_each(|op| world.operate(*op));
        world.finish()
    };
    let mut seen = Seen::default();
    for seed in seeds {
        seen.add(&simulate(seed, operations(&WEIGHTS, seed, count), play));
    }
    println!("{seen:?}");
    seen
}

#[test]
fn sim_real_handles_under_random_operations() {
    let (seeds, count) = if cfg!(debug_assertions) {
        (1..=50, 300)
    } else {
        (1..=1_500, 1_000)
    };
    run(World::new, seeds, count);
}

#[test]
fn sim_real_handles_short_of_room() {
    let (seeds, count) = if cfg!(debug_assertions) {
        (1..=16, 3_000)
    } else {
        (1..=200, 3_000)
    };
    let seen = run(World::short_of_room, seeds, count);
    assert!(seen.grants > 20, "grants are what this is about");
}
