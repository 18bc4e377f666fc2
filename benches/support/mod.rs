//! What the benches share. Each uses a part of it.

#![allow(dead_code, reason = "each bench uses a part of it")]

pub(crate) mod measure;
pub(crate) mod script;
pub(crate) mod wire;

use std::error::Error;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Whether `cargo bench` started us. `cargo test --benches` does it too, without this mark, and
/// then nothing is measured.
pub(crate) fn is_bench() -> bool {
    let is_asked = std::env::args().any(|arg| arg == "--bench");
    if !is_asked {
        println!("nothing is measured without --bench");
    }
    is_asked
}
