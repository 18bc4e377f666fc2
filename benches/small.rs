//! Small answers: 13 bytes and 16 KiB, many at a time, and 13 bytes one at a time with its latency.

mod loads;
mod support;

use std::process::ExitCode;

use clap::Parser;
use serde_json::json;

use loads::client::{Load, WIDE};
use loads::options::{Client, Common, part_name};
use loads::report::{self, Table, number};
use loads::rounds::{self, Series, Turn};
use loads::{Failure, others, tls};
use support::measure;

#[derive(Clone, Debug, Parser)]
struct Options {
    #[command(flatten)]
    common: Common,
    /// Requests of a turn; a quarter of them where they are large or come one at a time.
    #[arg(long, default_value_t = 100_000)]
    requests: usize,
    /// Options of the server on fairmux.
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    knobs: String,
}

fn main() -> ExitCode {
    loads::main(bench)
}

fn bench(options: Options) -> Result<(), Failure> {
    tls::make()?;
    let mut parts = Vec::new();
    for &is_tls in options.common.transport.parts() {
        let mut peers = others::start(&options.common, is_tls, &[13, 16_384], &options.knobs)?;
        for (title, load) in loads(options.requests) {
            let common = &options.common;
            let all = rounds::run(&mut peers, &load, common.rounds, common.client)?;
            println!("\n{title}, {}, {} rounds", part_name(is_tls), common.rounds);
            print(&all, &load, common.client);
            parts.push(json!({
                "load": title,
                "transport": part_name(is_tls),
                "requests": load.requests,
                "servers": rounds::figures(&all),
            }));
        }
    }
    report::save("small", &parts.into())
}

fn loads(requests: usize) -> [(&'static str, Load); 3] {
    let load = |connections, streams, requests, size: u32| Load {
        connections,
        streams,
        requests,
        path: format!("/bytes/{size}"),
        windows: WIDE,
    };
    [
        ("13 bytes, 20 × 100", load(20, 100, requests, 13)),
        ("16 KiB, 20 × 50", load(20, 50, requests / 4, 16_384)),
        ("13 bytes, one at a time", load(1, 1, requests / 4, 13)),
    ]
}

fn print(all: &[Series], load: &Load, client: Client) {
    let (hyper, h2o) = (rounds::find(all, "hyper"), rounds::find(all, "h2o"));
    let mut table = Table::new(&[
        "server",
        "CPU s/100 000",
        "× hyper",
        "× h2o",
        "requests/s",
        "p50 µs",
        "p99 µs",
        "writes/request",
    ]);
    for series in all {
        let ratio = |other: Option<&Series>| other.map_or(f64::NAN, |other| series.ratio(other));
        let requests = load.requests as f64;
        let latency = |share| match client {
            Client::Own => series.median(|turn| latency(turn, share) * 1e6),
            Client::H2load => f64::NAN,
        };
        let writes = |turn: &Turn| {
            turn.usage
                .counts
                .map_or(f64::NAN, |counts| counts.writes as f64)
        };
        table.row(vec![
            series.name.clone(),
            number(series.cpu() / requests * 1e5, 3),
            number(ratio(hyper), 2),
            number(ratio(h2o), 2),
            number(requests / series.median(|turn| turn.outcome.wall), 0),
            number(latency(0.5), 0),
            number(latency(0.99), 0),
            number(series.median(writes) / requests, 3),
        ]);
    }
    table.print();
}

fn latency(turn: &Turn, share: f64) -> f64 {
    measure::quantile(&mut turn.outcome.latencies.clone(), share)
}
