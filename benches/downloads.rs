//! 32 connections × 20 streams, each downloading 10 MB: what a gigabyte costs a server on fairmux, on
//! h2, on hyper, and one that sends canned frames and does nothing else, which is the floor.

mod loads;
mod support;

use std::process::ExitCode;

use clap::Parser;
use serde_json::json;

use loads::client::{Load, WIDE};
use loads::options::{Common, part_name};
use loads::peer::{Counts, Peer};
use loads::report::{self, Table, number};
use loads::rounds::{self, Series};
use loads::{Failure, tls};

#[derive(Clone, Debug, Parser)]
struct Options {
    #[command(flatten)]
    common: Common,
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// Downloads of a connection, all at once.
    #[arg(long, default_value_t = 20)]
    streams: usize,
    /// Bytes of a download.
    #[arg(long, default_value_t = 10 << 20)]
    size: u64,
    /// Options of the server on fairmux: `Order` in `loads/serve` has them (--batch, --room, --unsent,
    /// --delay, --tls-buffer, --windows).
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    knobs: String,
}

const SERVERS: [&str; 4] = ["fairmux", "h2", "hyper", "floor"];

fn main() -> ExitCode {
    loads::main(bench)
}

fn bench(options: Options) -> Result<(), Failure> {
    tls::make()?;
    let mut parts = Vec::new();
    for &is_tls in options.common.transport.parts() {
        let mut peers = start(&options, is_tls)?;
        let requests = options.connections * options.streams;
        let load = Load {
            connections: options.connections,
            streams: options.streams,
            requests,
            path: format!("/bytes/{}", options.size),
            windows: WIDE,
        };
        let common = &options.common;
        let all = rounds::run(&mut peers, &load, common.rounds, common.client)?;
        let gigabytes = requests as f64 * options.size as f64 / 1e9;
        println!(
            "\n{}, {gigabytes:.2} GB a turn, {} rounds",
            part_name(is_tls),
            common.rounds
        );
        print(&all, gigabytes);
        parts.push(json!({
            "transport": part_name(is_tls),
            "gigabytes": gigabytes,
            "servers": rounds::figures(&all),
        }));
        if common.draw {
            draw(is_tls, &all, gigabytes)?;
        }
    }
    report::save("downloads", &parts.into())
}

fn start(options: &Options, is_tls: bool) -> Result<Vec<Peer>, Failure> {
    let size = options.size.to_string();
    let wanted = SERVERS.iter().filter(|name| options.common.wants(name));
    let start = |name: &&str| {
        let mut args = vec!["--library", name, "--size", &size];
        if *name == "fairmux" {
            args.extend(options.knobs.split_whitespace());
        }
        Peer::start(name, is_tls, &args)
    };
    wanted.map(start).collect()
}

fn print(all: &[Series], gigabytes: f64) {
    let (floor, hyper) = (rounds::find(all, "floor"), rounds::find(all, "hyper"));
    let mut table = Table::new(&[
        "server",
        "CPU s/GB",
        "× floor",
        "× hyper",
        "wall s",
        "peak MB",
        "writes/MB",
        "KB/write",
        "records/MB",
    ]);
    for series in all {
        let ratio = |other: Option<&Series>| other.map_or(f64::NAN, |other| series.ratio(other));
        let megabytes = gigabytes * 1e3;
        let count = |value: fn(Counts) -> f64| {
            series.median(|turn| turn.usage.counts.map_or(f64::NAN, value))
        };
        let records = count(|counts| counts.records as f64);
        table.row(vec![
            series.name.clone(),
            number(series.cpu() / gigabytes, 3),
            number(ratio(floor), 2),
            number(ratio(hyper), 2),
            number(series.median(|turn| turn.outcome.wall), 2),
            number(series.median(|turn| turn.peak as f64) / 1024.0, 1),
            number(count(|counts| counts.writes as f64) / megabytes, 1),
            number(
                count(|counts| counts.written as f64 / counts.writes as f64) / 1e3,
                1,
            ),
            number(
                if records > 0.0 {
                    records / megabytes
                } else {
                    f64::NAN
                },
                1,
            ),
        ]);
    }
    table.print();
}

fn draw(is_tls: bool, all: &[Series], gigabytes: f64) -> Result<(), Failure> {
    let bars: Vec<_> = all
        .iter()
        .map(|series| (series.name.clone(), series.cpu() / gigabytes))
        .collect();
    let part = part_name(is_tls);
    let title = format!("CPU seconds of the server for 1 GB, {part}");
    report::draw(
        &format!("downloads-{}", part.replace(' ', "-")),
        &title,
        &bars,
    )
}
