//! One download of 1 GB over TLS: HTTP/2 by fairmux and by hyper on h2, against HTTP/1.1 by hyper, with
//! the same TLS. The times of HTTP/2 in parts of those of HTTP/1.1 beside them, at p50, p80, p90.

mod loads;
mod support;

use std::process::ExitCode;

use clap::Parser;
use serde_json::json;

use loads::client::{self, WIDE};
use loads::options::Common;
use loads::peer::Peer;
use loads::report::{self, Table, number};
use loads::{Failure, tls};
use support::measure;

#[derive(Clone, Debug, Parser)]
struct Options {
    #[command(flatten)]
    common: Common,
    #[arg(long, default_value_t = 1 << 30)]
    size: u64,
    /// Options of the server on fairmux.
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    knobs: String,
}

const SERVERS: [&str; 3] = ["hyper1", "fairmux", "hyper"];

/// What the turns of one server took: seconds of the clock, and of its CPU.
struct Series {
    name: &'static str,
    turns: Vec<(f64, f64)>,
}

fn main() -> ExitCode {
    loads::main(bench)
}

fn bench(options: Options) -> Result<(), Failure> {
    tls::make()?;
    let start = |name: &'static str| {
        let mut args = vec!["--library", name];
        if name == "fairmux" {
            args.extend(options.knobs.split_whitespace());
        }
        Peer::start(name, true, &args)
    };
    let mut peers = SERVERS
        .into_iter()
        .map(start)
        .collect::<Result<Vec<_>, _>>()?;
    let mut all = SERVERS.map(|name| Series {
        name,
        turns: Vec::new(),
    });
    let rounds = options.common.rounds;
    let bar = indicatif::ProgressBar::new(((rounds + 1) * SERVERS.len()) as u64);
    // The first round is not counted.
    for round in 0..=rounds {
        for (peer, series) in peers.iter_mut().zip(&mut all) {
            let turn = turn(peer, options.size)?;
            if round > 0 {
                series.turns.push(turn);
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    print(&all, options.size as f64 / 1e9);
    let figures = all.map(|series| json!({ "name": series.name, "wall_and_cpu": series.turns }));
    report::save("large", &figures.to_vec().into())
}

fn turn(peer: &mut Peer, size: u64) -> Result<(f64, f64), Failure> {
    let cpu = peer.cpu()?;
    let path = format!("/bytes/{size}");
    let wall = if peer.name == "hyper1" {
        client::run_http1(peer.addr, &path, size)?
    } else {
        let load = client::Load {
            connections: 1,
            streams: 1,
            requests: 1,
            path,
            windows: WIDE,
        };
        client::run(peer.addr, true, &load, std::sync::Arc::new(|_| ()))?.wall
    };
    Ok((wall, peer.cpu()? - cpu))
}

fn print(all: &[Series], gigabytes: f64) {
    println!("\n{gigabytes:.2} GB over TLS, one stream");
    let mut table = Table::new(&[
        "server",
        "CPU s/GB",
        "CPU × HTTP/1.1",
        "p50 s",
        "p80 s",
        "p90 s",
        "p50 ×",
        "p80 ×",
        "p90 ×",
    ]);
    let first = &all[0];
    for series in all {
        let at = |share| measure::quantile(&mut series.walls(), share);
        let base = |share| measure::quantile(&mut first.walls(), share);
        let cpu = measure::median(series.turns.iter().map(|turn| turn.1).collect());
        let pairs = series.turns.iter().zip(&first.turns);
        let ratio = measure::median(pairs.map(|(own, first)| own.1 / first.1).collect());
        let mut words = vec![
            series.name.to_owned(),
            number(cpu / gigabytes, 3),
            number(ratio, 3),
        ];
        words.extend([0.5, 0.8, 0.9].map(|share| number(at(share), 3)));
        words.extend([0.5, 0.8, 0.9].map(|share| number(at(share) / base(share), 3)));
        table.row(words);
    }
    table.print();
}

impl Series {
    fn walls(&self) -> Vec<f64> {
        self.turns.iter().map(|turn| turn.0).collect()
    }
}
