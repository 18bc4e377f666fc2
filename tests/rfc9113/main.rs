//! RFC 9113, RFC 7541, RFC 8441 and RFC 9218 on the wire: a test for each rule.
//!
//! One file per section. Above each test stands the rule in our words and its section;
//! `docs/rfc9113.md` maps them to the code. Each script runs with all octets at once, one by one,
//! and cut at each octet.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod hpack;
mod hpack_tables;
mod rfc9218;
mod s3_start;
mod s4_1_frames;
mod s4_3_blocks;
mod s5_1_1_ids;
mod s5_1_states;
mod s5_4_errors;
mod s6_01_data;
mod s6_02_headers;
mod s6_04_reset;
mod s6_05_settings;
mod s6_06_push;
mod s6_08_go_away;
mod s6_09_flow;
mod s6_10_continuation;
mod s8_1_messages;
mod s8_2_fields;
mod s8_3_pseudo;
