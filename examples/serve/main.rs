//! Serves a directory over HTTP/2, in clear text (for clients with prior knowledge) and over TLS.
//!
//! `cargo run --release --example serve` starts on free loopback ports, serves the current
//! directory and prints where. `--help` lists the options.
//!
//! Besides files:
//!
//! - `/` a plain page;
//! - `/bytes/N` N bytes, allocating none of them; `/fresh/N` the same bytes, allocating all of them;
//! - `POST /echo` sends the body back; `/sink` reads it and says how long it was;
//! - `/status/N` answers with that status.

mod body;
mod conditions;
mod fault;
mod files;
mod listen;
mod media;
mod options;
mod page;
mod reply;
mod route;
#[cfg(test)]
mod scratch;
mod socket;
mod target;
mod timer;
mod tls;

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use tokio::net::TcpListener;
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tracing_subscriber::EnvFilter;

use crate::fault::Fault;
use crate::listen::Service;
use crate::options::Options;
use crate::timer::TokioTimer;

/// Threads that wait for disks. More than disks can use would only cost memory.
const READERS: usize = 8;

/// How long the requests that are open at the end may take.
const DRAIN: Duration = Duration::from_secs(20);

/// For how long after clients know requests are still taken that they had begun before.
const GRACE: Duration = Duration::from_millis(500);

/// Window of one upload, and of all uploads of a connection.
const WINDOWS: (u32, u32) = (256 * 1024, 1024 * 1024);

/// Larger writes are cheaper than those that the library makes by itself: docs/tuning.md. An urgent
/// answer waits behind one of them at most.
const BATCH: usize = 256 * 1024;

/// Two batches: while one is written, there is something to choose the next one from.
const ROOM: usize = 2 * BATCH;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report("serve"),
    }
}

fn run(options: &Options) -> Result<(), Fault> {
    log(&options.log)?;
    let root = root(&options.dir)?;
    let runtime = runtime(options.threads)?;
    let served = runtime.block_on(serve(options, root));
    // A thread may still wait for a disk; that is no reason to stay.
    runtime.shutdown_background();
    served
}

async fn serve(options: &Options, root: Arc<Path>) -> Result<(), Fault> {
    let mut signals = signals()?;
    let (close, closed) = watch::channel(false);
    let (stop, stopped) = watch::channel(false);
    let (alive, mut ended) = mpsc::channel(1);
    let service = Service {
        root,
        builder: preset(options),
        stop: stopped,
        _alive: alive,
    };

    let plain = socket::listen(options.listen, "--listen")?;
    let secure = secure(options)?;
    announce(
        &plain,
        secure.as_ref().map(|(listener, _)| listener),
        &service.root,
    );
    let mut listening = JoinSet::new();
    listening.spawn(listen::accept(plain, None, service.clone(), closed.clone()));
    if let Some((listener, tls)) = secure {
        listening.spawn(listen::accept(listener, Some(tls), service.clone(), closed));
    }
    drop(service);

    signals.recv().await;
    // First nobody comes any more, then those who are here are sent away: told in the other order,
    // they would come again. A receiver is missing where nobody is left to be told.
    let _ = close.send(true);
    listening.join_all().await;
    let _ = stop.send(true);
    tokio::select! {
        _ = ended.recv() => {}
        () = tokio::time::sleep(DRAIN) => tracing::warn!("some requests were not done in time"),
        _ = signals.recv() => tracing::warn!("told twice: not waiting for open requests"),
    }
    Ok(())
}

/// The settings of connections: those for the open network.
fn preset(options: &Options) -> fairmux::server::Builder {
    let mut builder = fairmux::server::Builder::new();
    builder
        .hardened()
        .batch_size(BATCH)
        .send_room(ROOM)
        .timer(TokioTimer)
        .shutdown_grace(GRACE)
        .initial_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1);
    if let Some(max) = options.max_streams {
        builder.max_concurrent_streams(max);
    }
    builder
}

fn secure(options: &Options) -> Result<Option<(TcpListener, TlsAcceptor)>, Fault> {
    if options.no_tls {
        return Ok(None);
    }
    let tls = tls::config(options.cert.as_deref().zip(options.key.as_deref()))?;
    Ok(Some((
        socket::listen(options.listen_tls, "--listen-tls")?,
        tls.into(),
    )))
}

fn root(dir: &Path) -> Result<Arc<Path>, Fault> {
    let fault = |why: io::Error| Fault::new(format_args!("cannot serve {}", dir.display()), why);
    let root = dir.canonicalize().map_err(fault)?;
    root.read_dir().map_err(fault)?;
    Ok(root.into())
}

fn log(filter: &str) -> Result<(), Fault> {
    let filter = EnvFilter::try_new(filter)
        .map_err(|why| Fault::new(format_args!("cannot log by {filter:?}"), why))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .init();
    Ok(())
}

fn runtime(threads: u16) -> Result<Runtime, Fault> {
    let mut builder = match threads {
        1 => RuntimeBuilder::new_current_thread(),
        _ => RuntimeBuilder::new_multi_thread(),
    };
    builder
        .worker_threads(threads.into())
        .max_blocking_threads(READERS)
        .enable_all()
        .build()
        .map_err(|why| Fault::new("cannot start threads", why))
}

/// Says where to find us. Whoever reads it may be gone already, which is no fault.
fn announce(plain: &TcpListener, secure: Option<&TcpListener>, root: &Path) {
    let url = |scheme: &str, listener: &TcpListener| match listener.local_addr() {
        Ok(addr) => format!("{scheme}://{}/", reachable(addr)),
        Err(_) => String::from("?"),
    };
    let http = url("http", plain);
    let mut lines = format!(
        "Serving {}\n  {http}  (prior knowledge of HTTP/2)\n",
        root.display()
    );
    let mut tries = format!("Try\n  curl --http2-prior-knowledge {http}bytes/1000\n");
    if let Some(secure) = secure {
        let https = url("https", secure);
        lines += &format!("  {https}\n");
        tries += &format!("  curl --insecure {https}bytes/1000\n");
    }
    let mut out = io::stdout().lock();
    let _ = out
        .write_all((lines + &tries).as_bytes())
        .and_then(|()| out.flush());
}

/// An address to which one can connect: "any" is none.
fn reachable(mut addr: SocketAddr) -> SocketAddr {
    match addr {
        SocketAddr::V4(any) if any.ip().is_unspecified() => addr.set_ip([127, 0, 0, 1].into()),
        SocketAddr::V6(any) if any.ip().is_unspecified() => {
            addr.set_ip(std::net::Ipv6Addr::LOCALHOST.into());
        }
        _ => {}
    }
    addr
}

/// Says when we are told to stop, by SIGINT or SIGTERM.
fn signals() -> Result<mpsc::Receiver<()>, Fault> {
    let fault = |why: io::Error| Fault::new("cannot wait for signals", why);
    let (told, receiver) = mpsc::channel(2);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut term = signal(SignalKind::terminate()).map_err(fault)?;
        let mut int = signal(SignalKind::interrupt()).map_err(fault)?;
        tokio::spawn(async move {
            loop {
                tokio::select! { _ = term.recv() => {} _ = int.recv() => {} }
                if told.send(()).await.is_err() {
                    return;
                }
            }
        });
    }
    #[cfg(not(unix))]
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() && told.send(()).await.is_ok() {}
    });
    Ok(receiver)
}
