//! A mixed load for as long as one likes: whole requests, cancelled ones, resets, slow readers, uploads that are
//! given up, connections that come and go. Afterwards no stream and no task is left, and memory is flat.
//!
//! `soak [SECONDS [http://HOST:PORT]]`: with an address the load goes to `serve` there, else both ends are in
//! this process. Memory is counted for the whole of it, so this is a program without the test harness.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod calls;
mod server;

use std::alloc::System;
use std::sync::Arc;
use std::time::Duration;

use fairmux::Stats;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use self::calls::{Caller, Chance, Tally};
use self::server::Server;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Connections at once.
const CONNECTIONS: u64 = 6;
/// What may be live at the end of a part beyond what was at the end of the second.
const SLACK: isize = 64 * 1024;

fn main() {
    // Whichever task it is: a panic is the end.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        std::process::exit(101);
    }));
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let seconds = args.first().map_or(2, |seconds| seconds.parse().unwrap());
    let addr = args.get(1).map(|url| {
        url.trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned()
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(soak(Duration::from_secs(seconds), addr.map(Arc::from)));
}

/// Ten parts, each until all of its connections are gone.
async fn soak(time: Duration, addr: Option<Arc<str>>) {
    let server = addr.is_none().then(|| Arc::new(Server::default()));
    let mut base = None;
    let mut all = Tally::default();
    for part in 0..10 {
        let until = Instant::now() + time / 10;
        let mut loads = JoinSet::new();
        for lane in 0..CONNECTIONS {
            let chance = Chance::new(part * CONNECTIONS + lane);
            loads.spawn(load(until, chance, addr.clone(), server.clone()));
        }
        let tallies = loads.join_all().await;
        let tally = tallies.into_iter().fold(Tally::default(), Tally::and);
        nothing_is_left(server.as_deref()).await;
        let live = live_bytes();
        println!("part {part}: {tally}; {live} bytes live, no task, no stream");
        // The first parts fill what stays: tables of the runtime, of the allocator.
        if part == 1 {
            base = Some(live);
        }
        let growth = live - base.unwrap_or(live);
        assert!(
            growth <= SLACK,
            "{growth} bytes more than after the second part"
        );
        all = all.and(tally);
    }
    println!("in all: {all}");
    assert!(all.covers_all(), "some kind of call never happened");
}

/// Connections, one after the other.
async fn load(
    until: Instant,
    mut chance: Chance,
    addr: Option<Arc<str>>,
    server: Option<Arc<Server>>,
) -> Tally {
    let mut tally = Tally::default();
    while Instant::now() < until {
        let more = match (&addr, &server) {
            (Some(addr), _) => {
                let io = TcpStream::connect(&**addr).await.unwrap();
                io.set_nodelay(true).unwrap();
                connection(until, &mut chance, io).await
            }
            (None, Some(server)) => {
                let (near, far) = tokio::io::duplex(64 * 1024);
                tokio::spawn(Arc::clone(server).serve(far));
                connection(until, &mut chance, near).await
            }
            (None, None) => return tally,
        };
        tally = tally.and(more);
    }
    tally
}

/// One connection, which ends in good order or is broken off.
async fn connection<T>(until: Instant, chance: &mut Chance, io: T) -> Tally
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (requests, mut connection) = fairmux::client::handshake(io).await.unwrap();
    let driver = tokio::spawn(async move {
        (&mut connection).await.unwrap();
        assert_empty(&connection.stats());
    });
    let until = until.min(Instant::now() + Duration::from_millis(200 + chance.below(1800)));
    let caller = Caller::new(requests);
    let mut calls = JoinSet::new();
    for _ in 0..1 + chance.below(10) {
        calls.spawn(caller.clone().calls(until, Chance::new(chance.next())));
    }
    let is_broken_off = chance.below(4) == 0;
    if is_broken_off {
        sleep(Duration::from_millis(chance.below(300))).await;
        driver.abort();
        assert!(driver.await.unwrap_err().is_cancelled());
        // They hear of it, each in its own way.
        while calls.join_next().await.is_some() {}
        return Tally::broken_off();
    }
    let mut tally = Tally::connection();
    while let Some(calls) = calls.join_next().await {
        tally = tally.and(
            calls
                .unwrap()
                .expect("nothing has gone wrong on this connection"),
        );
    }
    drop(caller);
    driver.await.unwrap();
    tally
}

/// Waits, for a short while, until nothing runs any more.
async fn nothing_is_left(server: Option<&Server>) {
    let begin = Instant::now();
    loop {
        let tasks = Handle::current().metrics().num_alive_tasks();
        if tasks == 0 {
            break;
        }
        let waited = begin.elapsed();
        assert!(waited < Duration::from_secs(30), "{tasks} tasks are left");
        sleep(Duration::from_millis(10)).await;
    }
    if let Some(server) = server {
        assert_eq!(server.streams_left(), 0, "streams are left");
    }
}

/// What a connection that has ended well may not hold.
fn assert_empty(stats: &Stats) {
    assert_eq!(stats.streams_alive, 0);
    assert_eq!(stats.room_used, 0);
    assert_eq!(stats.waiting_for_room, 0);
}

fn live_bytes() -> isize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated) as isize
}
