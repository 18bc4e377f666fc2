//! What goes wrong around a connection: I/O that fails or ends at every place of a conversation, tasks
//! that are dropped at every await, and user code that calls back from inside. Each time every waiting
//! task gets an answer, nothing is left in memory, and nothing panics or hangs.
//!
//! Memory is counted for the whole process, so the cases run one after the other on one thread, without
//! the test harness. An argument chooses those whose name contains it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod calls;
mod load;
mod pipe;
mod talk;
mod tasks;
#[path = "../support/wanted.rs"]
mod wanted;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use pipe::Fault;
use talk::{Case, Run, run};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

type Test = (&'static str, fn());

const TESTS: &[Test] = &[
    (
        "a_conversation_leaves_nothing",
        a_conversation_leaves_nothing,
    ),
    ("io_fails_at_every_call", io_fails_at_every_call),
    ("io_of_single_octets_fails", io_of_single_octets_fails),
    ("input_ends_at_every_octet", input_ends_at_every_octet),
    (
        "tasks_are_dropped_at_every_await",
        tasks_are_dropped_at_every_await,
    ),
    ("calls_from_inside", calls_from_inside),
    ("memory_returns_after_load", load::memory_returns_after_load),
];

fn main() {
    for (name, test) in TESTS.iter().filter(|(name, _)| wanted::is_wanted(name)) {
        println!("test {name} ...");
        test();
        println!("test {name} ... ok");
    }
}

/// Bytes that are allocated and not freed.
fn live_bytes() -> isize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated) as isize
}

/// Runs the case, which must leave no memory allocated. What is allocated once and for all does not
/// count: it is not there a second time. What a thread keeps to use it again goes with the thread.
fn check(case: &Case) -> Run {
    let run_apart = || std::thread::scope(|scope| join(scope.spawn(|| run(case))));
    let before = live_bytes();
    let first = run_apart();
    let after = live_bytes();
    if after != before {
        run_apart();
        let left = live_bytes() - after;
        assert_eq!(left, 0, "bytes are left of {case:?}");
    }
    first
}

fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    let joined = thread.join();
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The sides of a conversation, to give each a fault in turn.
fn at(side: usize, fault: Fault) -> Case {
    let mut case = Case::default();
    case.faults[side] = fault;
    case
}

fn a_conversation_leaves_nothing() {
    for goes_away in [None, Some(1), Some(4)] {
        let whole = check(&Case {
            goes_away,
            ..Case::default()
        });
        println!("  {whole:?}");
    }
}

fn io_fails_at_every_call() {
    for goes_away in [None, Some(3)] {
        for side in [0, 1] {
            let whole = check(&Case {
                goes_away,
                ..Case::default()
            });
            let calls = whole.seen[side].calls;
            for number in 1..=calls {
                let fails_at = Some(number);
                check(&Case {
                    goes_away,
                    ..at(
                        side,
                        Fault {
                            fails_at,
                            ..Fault::default()
                        },
                    )
                });
            }
            println!("  {calls} calls of side {side}");
        }
    }
}

/// Every call moves one octet. So many are there that each run fails at another few of them.
fn io_of_single_octets_fails() {
    for side in [0, 1] {
        let piece = Some(1);
        let whole = check(&at(
            side,
            Fault {
                piece,
                ..Fault::default()
            },
        ));
        let calls = whole.seen[side].calls;
        for number in (1..=calls).step_by(STEP) {
            let fails_at = Some(number);
            check(&at(
                side,
                Fault {
                    piece,
                    fails_at,
                    ..Fault::default()
                },
            ));
        }
        println!("  {calls} calls of side {side}, every {STEP}th fails");
    }
}

/// Debug builds, which are slow, leave some out.
const STEP: usize = if cfg!(debug_assertions) { 11 } else { 1 };

fn input_ends_at_every_octet() {
    for side in [0, 1] {
        let octets = check(&Case::default()).seen[side].octets;
        for end in (0..octets).step_by(STEP) {
            let ends_at = Some(end);
            check(&at(
                side,
                Fault {
                    ends_at,
                    ..Fault::default()
                },
            ));
        }
        println!("  {octets} octets to side {side}, in steps of {STEP}");
    }
}

fn tasks_are_dropped_at_every_await() {
    let polls = check(&Case::default()).polls;
    for number in 1..=polls {
        check(&Case {
            drop_at: Some(number),
            ..Case::default()
        });
    }
    println!("  {polls} polls");
}

fn calls_from_inside() {
    let mut calls = 0;
    let seeds = if cfg!(debug_assertions) { 300 } else { 3000 };
    for seed in 0..seeds {
        let done = check(&Case {
            calls: Some(seed),
            goes_away: (seed % 5 == 0).then_some(5),
            ..Case::default()
        });
        calls += 400 - done.calls_left;
    }
    assert!(calls > seeds * 20, "{calls} calls");
    println!("  {calls} calls in {seeds} conversations");
}
