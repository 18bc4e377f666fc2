//! Uploads of 10 MB, client and server each on fairmux and on h2: what a gigabyte costs either end.

mod loads;
mod support;

use std::future::poll_fn;
use std::net::SocketAddr;
use std::process::ExitCode;

use bytes::Bytes;
use clap::Parser;
use http::Request;
use indicatif::ProgressBar;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use loads::client::now;
use loads::options::{Common, part_name};
use loads::peer::Peer;
use loads::report::{self, Table, number};
use loads::{Failure, tls};
use support::measure;

#[derive(Clone, Debug, Parser)]
struct Options {
    #[command(flatten)]
    common: Common,
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Uploads of a connection, all at once.
    #[arg(long, default_value_t = 8)]
    streams: usize,
    /// Bytes of an upload.
    #[arg(long, default_value_t = 10 << 20)]
    size: usize,
    /// Options of the servers.
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    knobs: String,
}

/// The longest piece that is handed over.
const PIECE: usize = 64 * 1024;

static PAGE: [u8; PIECE] = [b'f'; PIECE];

macro_rules! client {
    ($name:ident, $library:ident) => {
        mod $name {
            use $library::SendStream;
            use $library::client::{Builder, SendRequest};

            use super::*;

            pub(super) async fn connection<T>(io: T, streams: usize, size: usize) -> Done
            where
                T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
            {
                let (ask, connection) = Builder::new().handshake::<T, Bytes>(io).await?;
                let connection = tokio::spawn(connection);
                let mut uploads = JoinSet::new();
                for _ in 0..streams {
                    uploads.spawn(upload(ask.clone(), size));
                }
                drop(ask);
                while let Some(upload) = uploads.join_next().await {
                    upload??;
                }
                // The server is stopped before it says goodbye.
                connection.abort();
                Ok(())
            }

            async fn upload(ask: SendRequest<Bytes>, size: usize) -> Done {
                let request = Request::post("http://localhost/sink").body(())?;
                let (response, mut body) = ask.ready().await?.send_request(request, false)?;
                let mut left = size;
                while left > 0 {
                    let count = capacity(&mut body, left.min(PIECE)).await?;
                    left -= count;
                    body.send_data(Bytes::from_static(&PAGE[..count]), left == 0)?;
                }
                match response.await?.status().is_success() {
                    true => Ok(()),
                    false => Err("the server refuses the upload".into()),
                }
            }

            async fn capacity(body: &mut SendStream<Bytes>, wish: usize) -> Result<usize, Failure> {
                body.reserve_capacity(wish);
                while body.capacity() == 0 {
                    let more = poll_fn(|cx| body.poll_capacity(cx)).await;
                    more.ok_or("the server has stopped the upload")??;
                }
                Ok(body.capacity().min(wish))
            }
        }
    };
}

type Done = Result<(), Failure>;

client!(on_fairmux, fairmux);
client!(on_h2, h2);

const LIBRARIES: [&str; 2] = ["fairmux", "h2"];

fn main() -> ExitCode {
    loads::main(bench)
}

fn bench(options: Options) -> Done {
    tls::make()?;
    let mut parts = Vec::new();
    for &is_tls in options.common.transport.parts() {
        let pairs = rounds(&options, is_tls)?;
        let gigabytes = (options.connections * options.streams * options.size) as f64 / 1e9;
        println!("\n{}, {gigabytes:.2} GB a turn", part_name(is_tls));
        print(&pairs, gigabytes);
        parts.push(json!({
            "transport": part_name(is_tls),
            "gigabytes": gigabytes,
            "pairs": pairs.iter().map(Pair::figures).collect::<Vec<_>>(),
        }));
    }
    report::save("uploads", &parts.into())
}

/// A client and a server, and what their turns have cost each.
struct Pair {
    client: &'static str,
    server: &'static str,
    turns: Vec<Turn>,
}

#[derive(Clone, Copy)]
struct Turn {
    client: f64,
    server: f64,
    wall: f64,
}

fn rounds(options: &Options, is_tls: bool) -> Result<Vec<Pair>, Failure> {
    let start = |name: &'static str| {
        let mut args = vec!["--library", name];
        args.extend(options.knobs.split_whitespace());
        Peer::start(name, is_tls, &args)
    };
    let mut peers = LIBRARIES
        .into_iter()
        .map(start)
        .collect::<Result<Vec<_>, _>>()?;
    let mut pairs = Vec::new();
    for client in LIBRARIES {
        pairs.extend(LIBRARIES.map(|server| Pair {
            client,
            server,
            turns: Vec::new(),
        }));
    }
    let bar = ProgressBar::new(((options.common.rounds + 1) * pairs.len()) as u64);
    // The first round is not counted.
    for round in 0..=options.common.rounds {
        for pair in &mut pairs {
            let peer = peers.iter_mut().find(|peer| peer.name == pair.server);
            let turn = turn(peer.ok_or("each server was started")?, pair.client, options)?;
            if round > 0 {
                pair.turns.push(turn);
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(pairs)
}

fn turn(peer: &mut Peer, client: &'static str, options: &Options) -> Result<Turn, Failure> {
    let server = peer.cpu()?;
    let (own, begin) = (measure::process_cpu(), now());
    load(peer.addr, peer.is_tls, client, options)?;
    let own = measure::process_cpu() - own;
    Ok(Turn {
        client: own.as_secs_f64(),
        server: peer.cpu()? - server,
        wall: begin.elapsed().as_secs_f64(),
    })
}

fn load(addr: SocketAddr, is_tls: bool, client: &'static str, options: &Options) -> Done {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let connector = match is_tls {
        true => Some(tls::connector(b"h2")?),
        false => None,
    };
    runtime.block_on(async {
        let mut tasks: JoinSet<Done> = JoinSet::new();
        for _ in 0..options.connections {
            let (streams, size, connector) = (options.streams, options.size, connector.clone());
            tasks.spawn(async move {
                let io = TcpStream::connect(addr).await?;
                io.set_nodelay(true)?;
                let Some(connector) = connector else {
                    return match client {
                        "h2" => on_h2::connection(io, streams, size).await,
                        _ => on_fairmux::connection(io, streams, size).await,
                    };
                };
                let io = connector.connect("localhost".try_into()?, io).await?;
                match client {
                    "h2" => on_h2::connection(io, streams, size).await,
                    _ => on_fairmux::connection(io, streams, size).await,
                }
            });
        }
        while let Some(task) = tasks.join_next().await {
            task??;
        }
        Ok(())
    })
}

impl Pair {
    fn median(&self, value: fn(&Turn) -> f64) -> f64 {
        measure::median(self.turns.iter().map(value).collect())
    }

    /// In parts of another pair's, turn by turn.
    fn ratio(&self, other: &Pair, value: fn(&Turn) -> f64) -> f64 {
        let pairs = self.turns.iter().zip(&other.turns);
        measure::median(
            pairs
                .map(|(own, other)| value(own) / value(other))
                .collect(),
        )
    }

    fn figures(&self) -> serde_json::Value {
        let turns = self
            .turns
            .iter()
            .map(|turn| json!({ "client": turn.client, "server": turn.server, "wall": turn.wall }));
        json!({
            "client": self.client,
            "server": self.server,
            "turns": turns.collect::<Vec<_>>(),
        })
    }
}

fn print(pairs: &[Pair], gigabytes: f64) {
    let mut table = Table::new(&[
        "client → server",
        "client CPU s/GB",
        "server CPU s/GB",
        "client × h2",
        "server × h2",
        "both × h2 with h2",
        "wall s",
    ]);
    let find = |client: &str, server: &str| {
        pairs
            .iter()
            .find(|pair| (pair.client, pair.server) == (client, server))
    };
    for pair in pairs {
        // The same end on h2, with the same other end.
        let client = find("h2", pair.server);
        let server = find(pair.client, "h2");
        let both = find("h2", "h2");
        let ratio = |other: Option<&Pair>, value: fn(&Turn) -> f64| {
            number(other.map_or(f64::NAN, |other| pair.ratio(other, value)), 2)
        };
        table.row(vec![
            format!("{} → {}", pair.client, pair.server),
            number(pair.median(|turn| turn.client) / gigabytes, 3),
            number(pair.median(|turn| turn.server) / gigabytes, 3),
            ratio(client, |turn| turn.client),
            ratio(server, |turn| turn.server),
            ratio(both, |turn| turn.client + turn.server),
            number(pair.median(|turn| turn.wall), 2),
        ]);
    }
    table.print();
}
