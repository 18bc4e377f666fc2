//! What hostile peers do, row by row: 48 kinds of attack, each with what must hold under it measured.
//!
//! Memory is counted for the whole process, so the rows run one after the other on one thread, without
//! the test harness. An argument chooses those whose name contains it. `docs/security.md` says which
//! limit and which option bounds an attack; a test here holds it to that.
//!
//! Where a limit ends an attack, the row also loosens that limit and shows that the attack then goes
//! further: what passes without the limit proves nothing about it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod blocks;
mod floods;
mod flow;
mod harness;
mod messages;
mod mixture;
mod page;
mod resets;
mod start;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/wanted.rs"]
mod wanted;

use std::alloc::System;
use std::panic::catch_unwind;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One kind of attack.
struct Row {
    number: usize,
    name: &'static str,
    test: fn(),
}

macro_rules! rows {
    ($($number:literal $module:ident::$name:ident,)+) => {
        &[$(Row { number: $number, name: stringify!($name), test: $module::$name },)+]
    };
}

const ROWS: &[Row] = rows![
    1 resets::rapid_reset,
    2 resets::made_you_reset,
    3 blocks::continuation_flood,
    4 blocks::hpack_bomb,
    5 blocks::http2_bomb,
    6 blocks::cookie_crumbs,
    7 blocks::empty_fields,
    8 floods::ping_flood,
    9 floods::settings_flood,
    10 resets::reset_flood,
    11 floods::priority_flood,
    12 flow::data_dribble,
    13 flow::output_that_nobody_takes,
    14 flow::slow_read,
    15 floods::empty_data,
    16 floods::tiny_data,
    17 floods::padding,
    18 flow::window_update_flood,
    19 flow::window_overflow,
    20 flow::credit_leak,
    21 flow::capacity_queue,
    22 floods::unknown_frames,
    23 start::oversized_frame,
    24 start::stream_id_exhaustion,
    25 start::go_away_games,
    26 start::push_flood,
    27 blocks::bad_settings,
    28 blocks::hpack_garbage,
    29 blocks::unique_names,
    30 messages::stream_reuse,
    31 start::handshake,
    32 start::settings_without_ack,
    33 floods::reading_starves_writing,
    34 messages::content_length,
    35 messages::connection_fields,
    36 messages::header_injection,
    37 messages::pseudo_fields,
    38 messages::extended_connect,
    39 messages::late_fields,
    40 start::informational_flood,
    41 blocks::announced_list_limit,
    42 messages::secrets_are_not_indexed,
    43 flow::deadlock_by_credit,
    44 flow::slow_request,
    45 flow::settings_race,
    46 flow::response_pile,
    47 flow::reset_in_a_frame,
    48 flow::lost_wake_up,
];

/// Tests of the table and of the page; all attacks in one.
const CHECKS: &[(&str, fn())] = &[
    ("no_row_is_left_out", page::no_row_is_left_out),
    ("the_page_names_each_row", page::the_page_names_each_row),
    (
        "the_page_names_real_options",
        page::the_page_names_real_options,
    ),
    ("any_mixture", mixture::any_mixture),
];

fn main() {
    let mut failed = Vec::new();
    let checks = CHECKS.iter().map(|(name, test)| (0, *name, *test));
    let rows = ROWS.iter().map(|row| (row.number, row.name, row.test));
    for (number, name, test) in checks.chain(rows) {
        if !wanted::is_wanted(name) {
            continue;
        }
        let mut passed = false;
        let time = harness::cpu(|| passed = catch_unwind(test).is_ok());
        let millis = time.max(Duration::from_millis(1)).as_millis();
        println!(
            "test {number} {name} ... {} ({millis} ms)",
            if passed { "ok" } else { "FAILED" }
        );
        if !passed {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "failed: {failed:?}");
}

/// Octets that are allocated and not freed.
fn live_bytes() -> isize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated) as isize
}

/// Octets that `work` allocates, whatever it frees.
fn allocated(work: impl FnOnce()) -> usize {
    let before = ALLOCATOR.stats().bytes_allocated;
    work();
    ALLOCATOR.stats().bytes_allocated - before
}
