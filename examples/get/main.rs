//! Downloads many URLs at once over HTTP/2: all of an origin over one connection, each a stream.
//!
//! `cargo run --release --example get -- --insecure https://127.0.0.1:8443/bytes/1000000 ...`
//!
//! Prints for each stream its bytes, its time, and its share: its part of all bytes that the
//! connection received while the stream ran. Streams that a server treats alike have alike shares.
//! Exits with 0 if everything came, whole; with 1 if a download failed; with 2 if what was asked
//! for makes no sense.

mod connect;
mod download;
mod options;
mod report;
mod target;

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use indicatif::MultiProgress;
use rustls::ClientConfig;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::Instant;

use crate::download::{Means, Outcome};
use crate::options::Options;
use crate::target::{Origin, Target};

/// How long a server may take to hear our goodbye.
const GOODBYE: Duration = Duration::from_secs(1);

/// Each target by its number, and what came of it.
type Results = Vec<(usize, Result<Outcome, String>)>;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(code) => code,
        Err(why) => {
            eprintln!("get: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<ExitCode, String> {
    let targets = Rc::<[Target]>::from(targets(&options.urls)?);
    let directory = (!options.discard).then(|| Rc::from(options.output.as_path()));
    if let Some(directory) = &directory {
        usable(directory)?;
    }
    let secure = targets.iter().any(|target| target.origin.secure);
    let tls = secure
        .then(|| connect::tls(options.insecure))
        .transpose()
        .map_err(|why| format!("cannot set up TLS: {why}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|why| format!("cannot start: {why}"))?;
    let job = Job {
        targets,
        tls,
        directory,
        patience: options.patience(),
        bars: MultiProgress::new(),
    };
    let start = Instant::now();
    let results = LocalSet::new().block_on(&runtime, job.run());
    Ok(report::print(&job.targets, results, start.elapsed()))
}

fn targets(urls: &[String]) -> Result<Vec<Target>, String> {
    let parse = |url: &String| Target::parse(url).map_err(|why| format!("cannot get {url}: {why}"));
    let mut targets = urls.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    target::tell_apart(&mut targets);
    Ok(targets)
}

fn usable(directory: &Path) -> Result<(), String> {
    match directory.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(format!("{} is no directory", directory.display())),
        Err(why) => Err(format!("cannot write to {}: {why}", directory.display())),
    }
}

/// Everything there is to do.
struct Job {
    targets: Rc<[Target]>,
    tls: Option<Arc<ClientConfig>>,
    directory: Option<Rc<Path>>,
    patience: Duration,
    bars: MultiProgress,
}

impl Job {
    /// Downloads everything, all origins at once.
    async fn run(&self) -> Results {
        let mut origins: HashMap<&Origin, Vec<usize>> = HashMap::new();
        for (number, target) in self.targets.iter().enumerate() {
            origins.entry(&target.origin).or_default().push(number);
        }
        let mut connecting = JoinSet::new();
        for (origin, numbers) in origins {
            let (origin, tls) = (origin.clone(), self.tls.clone());
            connecting.spawn_local(async move { (connect::connect(&origin, tls).await, numbers) });
        }
        let mut results = Results::new();
        let mut downloads = JoinSet::new();
        let mut connections = Vec::new();
        loop {
            tokio::select! {
                Some(Ok((connected, numbers))) = connecting.join_next() => match connected {
                    Ok((requests, connection)) => {
                        self.begin(requests, numbers, &mut downloads);
                        connections.push(connection);
                    }
                    Err(why) => {
                        results.extend(numbers.into_iter().map(|number| (number, Err(why.clone()))));
                    }
                },
                Some(Ok(result)) = downloads.join_next() => results.push(result),
                else => break,
            }
        }
        for connection in connections {
            // Every body is here; how the connection ends changes nothing.
            let _ = tokio::time::timeout(GOODBYE, connection).await;
        }
        results
    }

    /// Starts the downloads of one connection.
    fn begin(
        &self,
        requests: connect::Requests,
        numbers: Vec<usize>,
        downloads: &mut JoinSet<(usize, Result<Outcome, String>)>,
    ) {
        let means = Means {
            requests,
            directory: self.directory.clone(),
            patience: self.patience,
            received: Rc::default(),
        };
        for number in numbers {
            let (means, targets, bars) =
                (means.clone(), Rc::clone(&self.targets), self.bars.clone());
            downloads.spawn_local(async move {
                let target = &targets[number];
                let bar = bars.add(report::bar(&target.name));
                let outcome = download::download(means, target, &bar).await;
                bar.finish_and_clear();
                (number, outcome.map_err(|why| why.to_string()))
            });
        }
    }
}
