//! How often a server allocates for one small request: the library, the handler and the runtime.

mod loads;
mod support;

use std::alloc::System;
use std::process::ExitCode;

use clap::Parser;
use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use loads::client::{Load, WIDE};
use loads::options::{Common, part_name};
use loads::peer::Peer;
use loads::report::{self, Table, number};
use loads::rounds::{self, Series};
use loads::{Failure, others, tls};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[derive(Clone, Debug, Parser)]
struct Options {
    #[command(flatten)]
    common: Common,
    #[arg(long, default_value_t = 50_000)]
    requests: usize,
}

fn main() -> ExitCode {
    loads::serve::count_allocations(|| {
        let stats = ALLOCATOR.stats();
        (stats.allocations + stats.reallocations) as u64
    });
    loads::main(bench)
}

fn bench(options: Options) -> Result<(), Failure> {
    tls::make()?;
    let mut parts = Vec::new();
    for &is_tls in options.common.transport.parts() {
        let wanted = others::OURS
            .into_iter()
            .filter(|name| options.common.wants(name));
        let start = |name| Peer::start(name, is_tls, &["--library", name]);
        let mut peers = wanted.map(start).collect::<Result<Vec<_>, _>>()?;
        let load = Load {
            connections: 20,
            streams: 100,
            requests: options.requests,
            path: "/bytes/13".into(),
            windows: WIDE,
        };
        let common = &options.common;
        let all = rounds::run(&mut peers, &load, common.rounds, common.client)?;
        println!("\n13 bytes, 20 × 100, {}", part_name(is_tls));
        print(&all, options.requests as f64);
        parts.push(json!({
            "transport": part_name(is_tls),
            "requests": options.requests,
            "servers": rounds::figures(&all),
        }));
    }
    report::save("allocations", &parts.into())
}

fn print(all: &[Series], requests: f64) {
    let per_request = |series: &Series| {
        let count = series.median(|turn| {
            let counts = turn.usage.counts;
            counts.map_or(f64::NAN, |counts| counts.allocations as f64)
        });
        count / requests
    };
    let hyper = rounds::find(all, "hyper").map_or(f64::NAN, per_request);
    let mut table = Table::new(&["server", "allocations/request", "× hyper"]);
    for series in all {
        let count = per_request(series);
        let words = [number(count, 2), number(count / hyper, 2)];
        table.row([vec![series.name.clone()], words.into()].concat());
    }
    table.print();
}
