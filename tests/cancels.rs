//! Many downloads over many connections, and on the way some are dropped, reset or given up, by
//! either side: does the server ever rest while it could send, does anybody wait for ever, is nothing
//! left of what is over, and is what was not disturbed complete?

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "cancels/client.rs"]
mod client;
#[path = "cancels/fate.rs"]
mod fate;
#[path = "cancels/server.rs"]
mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fairmux::Stats;
use tokio::net::TcpSocket;
use tokio::runtime;
use tokio::task::JoinSet;
use tokio::time::sleep;

use client::Tally;
use fate::Dice;
use server::Served;

/// So long may nothing at all move. Generous, since the machine may be busy; a stall is for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is done to a server.
#[derive(Clone, Copy)]
struct Load {
    connections: usize,
    /// Downloads of a connection at the same time.
    streams: usize,
    /// Downloads one after the other in each of these places.
    rounds: usize,
    size: usize,
}

/// What all of a run has seen.
#[derive(Default)]
struct Seen {
    tally: Tally,
    servers: Vec<Stats>,
}

#[test]
fn streams_that_end_early_leave_the_server_at_work() {
    let seen = run(Load {
        connections: 8,
        streams: 20,
        rounds: 5,
        size: 150_000,
    });
    seen.check();
}

#[test]
#[ignore = "takes long: `.ci/full cancels`"]
fn streams_that_end_early_leave_the_server_at_work_in_full() {
    let seen = run(Load {
        connections: 32,
        streams: 20,
        rounds: 1,
        size: 10 << 20,
    });
    seen.check();
}

fn run(load: Load) -> Seen {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let seen = runtime.unwrap().block_on(async {
        let moved = Arc::new(AtomicU64::new(0));
        let servers: Arc<Vec<Served>> = (0..load.connections)
            .map(|_| Served::default())
            .collect::<Vec<_>>()
            .into();
        let mut running = JoinSet::new();
        for number in 0..load.connections {
            let (servers, moved) = (Arc::clone(&servers), Arc::clone(&moved));
            running.spawn(async move { connection(load, number, &servers[number], &moved).await });
        }
        let mut seen = Seen::default();
        loop {
            tokio::select! {
                done = running.join_next() => match done {
                    Some(tally) => seen.tally.add(&tally.unwrap()),
                    None => break,
                },
                () = stopped(&moved) => panic!("nothing moves any more: {servers:#?}"),
            }
        }
        seen.servers = servers.iter().map(Served::stats).collect();
        seen
    });
    println!("{:?}", seen.tally);
    seen
}

/// Ready when nothing has moved for too long.
async fn stopped(moved: &AtomicU64) {
    loop {
        let before = moved.load(Ordering::Relaxed);
        sleep(PATIENCE).await;
        if moved.load(Ordering::Relaxed) == before {
            return;
        }
    }
}

/// One connection over a socket with small buffers, its server's side, and all its downloads.
async fn connection(load: Load, number: usize, served: &Served, moved: &Arc<AtomicU64>) -> Tally {
    let mut dice = Dice::new(number as u64 + 1);
    let listener = {
        let socket = TcpSocket::new_v4().unwrap();
        socket
            .set_send_buffer_size(dice.pick(&[4 << 10, 16 << 10, 128 << 10]))
            .unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        socket.listen(1).unwrap()
    };
    let near = TcpSocket::new_v4().unwrap();
    near.set_recv_buffer_size(dice.pick(&[4 << 10, 16 << 10, 128 << 10]))
        .unwrap();
    let near = near.connect(listener.local_addr().unwrap());
    let (near, far) = tokio::join!(near, listener.accept());
    let (near, (far, _)) = (near.unwrap(), far.unwrap());
    let room = dice.pick(&[16 << 10, 32 << 10, 128 << 10]);
    let serving = tokio::spawn(server::serve(far, room, served.clone()));
    let mut link = client::connect(near, &mut dice).await;
    let mut places = JoinSet::new();
    for place in 0..load.streams {
        let mut dice = Dice::new(((number as u64 + 1) << 32) + place as u64);
        let (requests, moved) = (link.requests(), Arc::clone(moved));
        places.spawn(async move {
            let mut tally = Tally::default();
            for _ in 0..load.rounds {
                client::download(requests.clone(), &mut dice, load.size, &moved, &mut tally).await;
                moved.fetch_add(1, Ordering::Relaxed);
            }
            tally
        });
    }
    let mut tally = Tally::default();
    while let Some(place) = places.join_next().await {
        tally.add(&place.unwrap());
    }
    // The server has heard of the last cancel before it answers this, and lets the stream go then.
    link.ping().await;
    while served.stats().streams_alive > 0 {
        sleep(Duration::from_millis(5)).await;
        link.ping().await;
    }
    link.close().await;
    serving.await.unwrap();
    tally
}

impl Seen {
    fn check(&self) {
        let tally = &self.tally;
        let of_each = [
            tally.whole,
            tally.dropped,
            tally.reset,
            tally.late,
            tally.failed,
        ];
        assert!(of_each.iter().all(|count| *count > 0), "{tally:?}");
        let sum = |of: fn(&Stats) -> u64| self.servers.iter().map(of).sum::<u64>();
        println!(
            "servers: {} MB in {} batches, {} turns; {} grants of room, {} of them by the end of another stream; \
             {} stops at the connection's window; {} turns that slept on work",
            sum(|stats| stats.data_sent) / 1_000_000,
            sum(|stats| stats.batches),
            sum(|stats| stats.turns),
            sum(|stats| stats.room_grants),
            sum(|stats| stats.resumed_by_end),
            sum(|stats| stats.connection_window_stalls),
            sum(|stats| stats.stalled_turns),
        );
        for stats in &self.servers {
            assert_eq!(stats.stalled_turns, 0, "never at rest with work: {stats:?}");
            let left = [
                stats.streams_alive,
                stats.waiting_for_turn,
                stats.waiting_for_credit,
                stats.waiting_for_heads,
                stats.waiting_for_room,
                stats.room_used,
            ];
            assert_eq!(left, [0; 6], "all streams are gone: {stats:?}");
        }
        assert!(sum(|stats| stats.resets_received) > 0 && sum(|stats| stats.resets_sent) > 0);
        assert!(sum(|stats| stats.connection_window_stalls) > 0);
        assert!(sum(|stats| stats.room_grants) > 0);
    }
}
