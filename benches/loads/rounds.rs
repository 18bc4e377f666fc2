//! Rounds: in each, every server has its turn with the same load, so that all meet the same machine.

use std::process::Command;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};

use super::Failure;
use super::client::{self, Load, Outcome};
use super::options::Client;
use super::peer::{Peer, Usage};
use crate::support::measure;

/// One server and what its turns have cost.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) turns: Vec<Turn>,
}

/// What one load has cost a server.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) usage: Usage,
    /// KiB of resident memory at most.
    pub(crate) peak: u64,
    pub(crate) outcome: Outcome,
}

/// Loads the servers in turn. The first turn of each, shorter, is not counted.
pub(crate) fn run(
    peers: &mut [Peer],
    load: &Load,
    rounds: usize,
    client: Client,
) -> Result<Vec<Series>, Failure> {
    let warm_up = Load {
        requests: (load.requests / 10).max(load.connections),
        ..load.clone()
    };
    let turns = (load.requests * rounds + warm_up.requests) * peers.len();
    let bar = bar(turns as u64);
    for peer in &mut *peers {
        turn(peer, &warm_up, client, &bar)?;
    }
    let mut all: Vec<_> = peers.iter().map(Series::of).collect();
    for _ in 0..rounds {
        for (peer, series) in peers.iter_mut().zip(&mut all) {
            series.turns.push(turn(peer, load, client, &bar)?);
        }
    }
    bar.finish_and_clear();
    Ok(all)
}

fn bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} requests, {eta} left  {msg}");
    let bar = ProgressBar::new(length);
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

fn turn(peer: &mut Peer, load: &Load, client: Client, bar: &ProgressBar) -> Result<Turn, Failure> {
    bar.set_message(peer.name.clone());
    peer.forget_peak();
    let before = peer.usage()?;
    let outcome = match client {
        Client::Own => {
            let (bar, base) = (bar.clone(), bar.position());
            let watch = move |done| bar.set_position(base + done);
            client::run(peer.addr, peer.is_tls, load, Arc::new(watch))
        }
        Client::H2load => h2load(peer, load),
    };
    let outcome = outcome.map_err(|why| format!("{}: {why}", peer.name))?;
    if client == Client::H2load {
        bar.inc(load.requests as u64);
    }
    Ok(Turn {
        usage: peer.usage()? - before,
        peak: peer.peak()?,
        outcome,
    })
}

/// The same with `h2load`; windows must be 2^n - 1.
fn h2load(peer: &Peer, load: &Load) -> Result<Outcome, Failure> {
    let bits = |window: u32| (window + 1).ilog2().to_string();
    let scheme = if peer.is_tls { "https" } else { "http" };
    let output = Command::new("h2load")
        .args(["-n", &load.requests.to_string()])
        .args(["-c", &load.connections.to_string()])
        .args(["-m", &load.streams.to_string()])
        .args(["-w", &bits(load.windows.0), "-W", &bits(load.windows.1)])
        .arg(format!("{scheme}://{}{}", peer.addr, load.path))
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !text.contains(" 0 failed, 0 errored, 0 timeout") {
        return Err(format!("h2load: {text}").into());
    }
    let wall = text
        .lines()
        .find_map(|line| line.strip_prefix("finished in "))
        .and_then(|line| line.split(',').next())
        .and_then(seconds);
    Ok(Outcome {
        wall: wall.ok_or("h2load says no time")?,
        ..Outcome::default()
    })
}

/// "1.25s" or "830.20ms".
fn seconds(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let value: f64 = digits.parse().ok()?;
    match &text[digits.len()..] {
        "s" => Some(value),
        "ms" => Some(value / 1e3),
        "us" => Some(value / 1e6),
        _ => None,
    }
}

impl Series {
    fn of(peer: &Peer) -> Series {
        Series {
            name: peer.name.clone(),
            turns: Vec::new(),
        }
    }

    /// The middle of what its turns say.
    pub(crate) fn median(&self, value: impl Fn(&Turn) -> f64) -> f64 {
        measure::median(self.turns.iter().map(value).collect())
    }

    pub(crate) fn cpu(&self) -> f64 {
        self.median(|turn| turn.usage.cpu)
    }

    /// The CPU time of this server in parts of another's, turn by turn.
    pub(crate) fn ratio(&self, other: &Series) -> f64 {
        let pairs = self.turns.iter().zip(&other.turns);
        let ratios = pairs.map(|(own, other)| own.usage.cpu / other.usage.cpu);
        measure::median(ratios.collect())
    }
}

/// The series of that name.
pub(crate) fn find<'a>(all: &'a [Series], name: &str) -> Option<&'a Series> {
    all.iter().find(|series| series.name == name)
}

/// All turns, for a file.
pub(crate) fn figures(all: &[Series]) -> Vec<serde_json::Value> {
    let servers = all.iter().map(|series| {
        let turns: Vec<_> = series.turns.iter().map(Turn::figures).collect();
        serde_json::json!({ "name": series.name, "turns": turns })
    });
    servers.collect()
}

impl Turn {
    fn figures(&self) -> serde_json::Value {
        let counts = self.usage.counts.unwrap_or_default();
        let mut latencies = self.outcome.latencies.clone();
        let mut latency = |share| measure::quantile(&mut latencies, share);
        serde_json::json!({
            "cpu": self.usage.cpu,
            "wall": self.outcome.wall,
            "peak_kib": self.peak,
            "writes": counts.writes,
            "written": counts.written,
            "reads": counts.reads,
            "read": counts.read,
            "records": counts.records,
            "allocations": counts.allocations,
            "latency_p50": latency(0.5),
            "latency_p99": latency(0.99),
        })
    }
}
