//! 400 000 requests over 20 connections: does a connection that has served many cost more, in time or
//! in memory, than a young one? Each server is looked at after every tenth.

mod loads;
mod support;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use clap::Parser;
use indicatif::ProgressBar;
use serde_json::json;

use loads::client::{self, Load, WIDE};
use loads::options::{Common, part_name};
use loads::peer::Peer;
use loads::report::{self, Table, number};
use loads::{Failure, others, tls};
use support::measure;

#[derive(Clone, Debug, Parser)]
struct Options {
    #[command(flatten)]
    common: Common,
    #[arg(long, default_value_t = 400_000)]
    requests: usize,
    #[arg(long, default_value_t = 20)]
    connections: usize,
    /// Open at once on a connection.
    #[arg(long, default_value_t = 100)]
    streams: usize,
}

/// CPU seconds and KiB of resident memory after each tenth.
type Course = Vec<(f64, u64)>;

const TENTHS: u64 = 10;

fn main() -> ExitCode {
    loads::main(bench)
}

fn bench(options: Options) -> Result<(), Failure> {
    tls::make()?;
    let mut parts = Vec::new();
    for &is_tls in options.common.transport.parts() {
        let peers = others::start(&options.common, is_tls, &[13], "")?;
        println!("\n{}, {} requests", part_name(is_tls), options.requests);
        let mut table = Table::new(&[
            "server",
            "CPU s/100 000, first tenth",
            "last tenth",
            "last : first",
            "KiB after first tenth",
            "after last",
        ]);
        for peer in peers {
            let name = peer.name.clone();
            let shared = Arc::new(peer);
            let rounds = (0..options.common.rounds).map(|_| course(&shared, &options));
            let courses = rounds.collect::<Result<Vec<_>, _>>()?;
            table.row(row(&name, &courses, options.requests));
            parts.push(json!({
                "transport": part_name(is_tls),
                "server": name,
                "courses": courses,
            }));
        }
        table.print();
    }
    report::save("many_requests", &parts.into())
}

fn course(peer: &Arc<Peer>, options: &Options) -> Result<Course, Failure> {
    let load = Load {
        connections: options.connections,
        streams: options.streams,
        requests: options.requests,
        path: "/bytes/13".into(),
        windows: WIDE,
    };
    let course = Arc::new(Mutex::new(vec![(peer.cpu()?, peer.resident()?)]));
    let bar = ProgressBar::new(options.requests as u64).with_message(peer.name.clone());
    let tenth = options.requests as u64 / TENTHS;
    let watch = {
        let (course, bar, peer) = (Arc::clone(&course), bar.clone(), Arc::clone(peer));
        move |done: u64| {
            bar.set_position(done);
            let mut course = course.lock().expect("nobody panics with it");
            if done / tenth >= course.len() as u64 {
                if let (Ok(cpu), Ok(resident)) = (peer.cpu(), peer.resident()) {
                    course.push((cpu, resident));
                }
            }
        }
    };
    client::run(peer.addr, peer.is_tls, &load, Arc::new(watch))?;
    bar.finish_and_clear();
    let course = course.lock().expect("nobody panics with it").clone();
    Ok(course)
}

fn row(name: &str, courses: &[Course], requests: usize) -> Vec<String> {
    let median =
        |value: &dyn Fn(&Course) -> f64| measure::median(courses.iter().map(value).collect());
    let cost = |course: &Course, tenth: usize| course[tenth].0 - course[tenth - 1].0;
    let last = |course: &Course| course.len() - 1;
    let scale = 1e5 / (requests as f64 / TENTHS as f64);
    vec![
        name.to_owned(),
        number(median(&|course| cost(course, 1)) * scale, 3),
        number(median(&|course| cost(course, last(course))) * scale, 3),
        number(
            median(&|course| cost(course, last(course)) / cost(course, 1)),
            2,
        ),
        number(median(&|course| course[1].1 as f64), 0),
        number(median(&|course| course[last(course)].1 as f64), 0),
    ]
}
