//! Answers of 1 MiB to clients whose windows are 64 KiB: what it costs to stop and to go on.

mod loads;
mod support;

use std::process::ExitCode;

use clap::Parser;
use serde_json::json;

use loads::client::Load;
use loads::options::{Common, part_name};
use loads::report::{self, Table, number};
use loads::rounds::{self, Series, Turn};
use loads::{Failure, others, tls};

#[derive(Clone, Debug, Parser)]
struct Options {
    #[command(flatten)]
    common: Common,
    #[arg(long, default_value_t = 2_000)]
    requests: usize,
    /// Bytes of an answer.
    #[arg(long, default_value_t = 1 << 20)]
    size: u64,
    /// Of each stream, and of the connection.
    #[arg(long, default_value_t = 65_535)]
    window: u32,
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
        let mut peers = others::start(&options.common, is_tls, &[options.size], &options.knobs)?;
        let load = Load {
            connections: 20,
            streams: 20,
            requests: options.requests,
            path: format!("/bytes/{}", options.size),
            windows: (options.window, options.window),
        };
        let common = &options.common;
        let all = rounds::run(&mut peers, &load, common.rounds, common.client)?;
        let gigabytes = options.requests as f64 * options.size as f64 / 1e9;
        println!(
            "\n{}, windows of {} bytes",
            part_name(is_tls),
            options.window
        );
        print(&all, gigabytes);
        parts.push(json!({
            "transport": part_name(is_tls),
            "gigabytes": gigabytes,
            "servers": rounds::figures(&all),
        }));
    }
    report::save("windows", &parts.into())
}

fn print(all: &[Series], gigabytes: f64) {
    let hyper = rounds::find(all, "hyper");
    let mut table = Table::new(&[
        "server", "CPU s/GB", "× hyper", "wall s", "KB/write", "reads/MB",
    ]);
    for series in all {
        let count =
            |value: fn(&Turn) -> Option<f64>| series.median(|turn| value(turn).unwrap_or(f64::NAN));
        let written = count(|turn| {
            turn.usage
                .counts
                .map(|c| c.written as f64 / c.writes as f64)
        });
        let reads = count(|turn| turn.usage.counts.map(|counts| counts.reads as f64));
        table.row(vec![
            series.name.clone(),
            number(series.cpu() / gigabytes, 3),
            number(hyper.map_or(f64::NAN, |hyper| series.ratio(hyper)), 2),
            number(series.median(|turn| turn.outcome.wall), 2),
            number(written / 1e3, 1),
            number(reads / gigabytes / 1e3, 1),
        ]);
    }
    table.print();
}
