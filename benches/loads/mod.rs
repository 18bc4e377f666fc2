//! Servers under load: each in a process of its own on one core, the client on another.
//!
//! A bench starts itself again as each server ([`serve`]), loads them in turn ([`client`],
//! [`rounds`]) and compares what it cost them ([`peer`]).

#![allow(dead_code, reason = "each bench uses a part of it")]

pub(crate) mod client;
pub(crate) mod options;
pub(crate) mod others;
pub(crate) mod parser;
pub(crate) mod peer;
pub(crate) mod pin;
pub(crate) mod report;
pub(crate) mod rounds;
pub(crate) mod serve;
pub(crate) mod tls;

use std::error::Error;
use std::process::ExitCode;

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The first argument of a server.
pub(crate) const SERVE: &str = "serve";

/// Runs a bench, or the server that it has started.
pub(crate) fn main<O: clap::Parser>(bench: fn(O) -> Result<(), Failure>) -> ExitCode {
    let mut args: Vec<String> = std::env::args().collect();
    let done = if args.get(1).is_some_and(|arg| arg == SERVE) {
        serve::main(args.split_off(1))
    } else if let Some(at) = args.iter().position(|arg| arg == "--bench") {
        args.remove(at);
        bench(O::parse_from(args))
    } else {
        println!("nothing is measured without --bench");
        Ok(())
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
