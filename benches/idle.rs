//! What idle connections and waiting streams hold in memory: 1000 connections, then 50 streams on
//! each that wait for their answer, then all of them reset, and the same again.

mod loads;
mod support;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use indicatif::ProgressBar;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use loads::options::Common;
use loads::parser::{Parser as Frames, Part};
use loads::peer::Peer;
use loads::report::{self, Table, number};
use loads::{Failure, others, tls};
use support::wire::{self, Method};

#[derive(Clone, Debug, Parser)]
struct Options {
    #[command(flatten)]
    common: Common,
    #[arg(long, default_value_t = 1_000)]
    connections: usize,
    /// On each connection.
    #[arg(long, default_value_t = 50)]
    streams: usize,
    /// Times that all streams wait and are reset.
    #[arg(long, default_value_t = 4)]
    times: usize,
}

/// A server needs some time to give up what it no longer needs.
const PAUSE: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    loads::main(bench)
}

fn bench(options: Options) -> Result<(), Failure> {
    tls::make()?;
    allow_files(options.connections as u64 + 200);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut table = Table::new(&[
        "server",
        "bytes/idle connection",
        "bytes/waiting stream",
        "KiB after first reset",
        "after last",
        "growth",
    ]);
    let mut parts = Vec::new();
    for name in others::OURS
        .into_iter()
        .filter(|name| options.common.wants(name))
    {
        let peer = Peer::start(name, false, &["--library", name])?;
        let held = runtime.block_on(hold(&peer, &options))?;
        table.row(held.row(name, &options));
        parts.push(json!({
            "server": name,
            "connections": options.connections,
            "streams": options.streams,
            "kib_begin": held.begin,
            "kib_idle": held.idle,
            "kib_waiting_reset": held.times,
        }));
    }
    println!(
        "\nclear text, {} connections × {} streams",
        options.connections, options.streams
    );
    table.print();
    report::save("idle", &parts.into())
}

fn allow_files(count: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < count) {
        let wanted = Rlimit {
            current: Some(count),
            maximum: limit.maximum,
        };
        // If it cannot be, a connection will fail and say so.
        let _ = setrlimit(Resource::Nofile, wanted);
    }
}

/// KiB of resident memory at each stage.
struct Held {
    begin: u64,
    idle: u64,
    /// While all streams wait, and after they were reset.
    times: Vec<(u64, u64)>,
}

impl Held {
    fn row(&self, name: &str, options: &Options) -> Vec<String> {
        let connections = options.connections as f64;
        let bytes = |from: u64, to: u64| (to as f64 - from as f64) * 1024.0;
        let waiting = self.times.first().map_or(0, |times| times.0);
        let streams = connections * options.streams as f64;
        let resets = (
            self.times.first().map_or(0, |times| times.1),
            self.times.last().map_or(0, |times| times.1),
        );
        vec![
            name.to_owned(),
            number(bytes(self.begin, self.idle) / connections, 0),
            number(bytes(self.idle, waiting) / streams, 0),
            resets.0.to_string(),
            resets.1.to_string(),
            number(resets.1 as f64 / resets.0 as f64, 3),
        ]
    }
}

async fn hold(peer: &Peer, options: &Options) -> Result<Held, Failure> {
    // The first connection pays for what all share.
    drop(Guest::new(peer).await?);
    tokio::time::sleep(PAUSE).await;
    let begin = peer.resident()?;
    let bar = ProgressBar::new((options.connections * (1 + 2 * options.times)) as u64);
    let mut guests = Vec::new();
    for _ in 0..options.connections {
        guests.push(Guest::new(peer).await?);
        bar.inc(1);
    }
    tokio::time::sleep(PAUSE).await;
    let idle = peer.resident()?;
    let mut times = Vec::new();
    for _ in 0..options.times {
        for guest in &mut guests {
            guest.open(options.streams).await?;
            bar.inc(1);
        }
        tokio::time::sleep(PAUSE).await;
        let waiting = peer.resident()?;
        for guest in &mut guests {
            guest.reset(options.streams).await?;
            bar.inc(1);
        }
        tokio::time::sleep(PAUSE).await;
        times.push((waiting, peer.resident()?));
    }
    bar.finish_and_clear();
    Ok(Held { begin, idle, times })
}

/// One connection.
struct Guest {
    io: TcpStream,
    frames: Frames,
    next_id: u32,
}

impl Guest {
    async fn new(peer: &Peer) -> Result<Guest, Failure> {
        let mut guest = Guest {
            io: TcpStream::connect(peer.addr).await?,
            frames: Frames::default(),
            next_id: 1,
        };
        let hello = wire::hello(65_535, 65_535);
        guest.say(hello).await?;
        Ok(guest)
    }

    async fn open(&mut self, streams: usize) -> Result<(), Failure> {
        let mut out = Vec::new();
        for _ in 0..streams {
            out.extend(wire::request(self.next_id, Method::Get, "/wait"));
            self.next_id += 2;
        }
        self.say(out).await
    }

    async fn reset(&mut self, streams: usize) -> Result<(), Failure> {
        let mut out = Vec::new();
        for stream in 1..=streams as u32 {
            let cancel = 8_u32.to_be_bytes();
            let id = self.next_id - 2 * stream;
            out.extend(wire::frame(wire::RST_STREAM, 0, id, &cancel));
        }
        self.say(out).await
    }

    /// Says this and waits until the server has read it: it answers a PING that comes behind.
    async fn say(&mut self, mut out: Vec<u8>) -> Result<(), Failure> {
        out.extend(wire::frame(wire::PING, 0, 0, b"benchmrk"));
        self.io.write_all(&out).await?;
        let mut buffer = [0; 4096];
        let mut is_read = false;
        while !is_read {
            let count = self.io.read(&mut buffer).await?;
            if count == 0 {
                return Err("the server has closed the connection".into());
            }
            let mut answer = Vec::new();
            self.frames.walk(&buffer[..count], |head, part| {
                let is_ack = head.flags & wire::ACK != 0;
                match (head.kind, part) {
                    (wire::SETTINGS, Part::Last(_)) if !is_ack => {
                        answer.extend(wire::frame(wire::SETTINGS, wire::ACK, 0, &[]));
                    }
                    (wire::PING, Part::Last(b"benchmrk")) if is_ack => is_read = true,
                    _ => {}
                }
            });
            self.io.write_all(&answer).await?;
        }
        Ok(())
    }
}
