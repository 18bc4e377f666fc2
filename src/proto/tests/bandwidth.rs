//! Windows that follow the connection, on a path with a rate and a delay, in virtual time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};

use super::pair::{End, Hand, Pair};
use crate::proto::Config;

const DELAY: Duration = Duration::from_millis(25);
const ROUND_TRIP: Duration = Duration::from_millis(50);
/// The clock goes in such steps.
const STEP: Duration = Duration::from_micros(250);

/// One direction: so many bytes a step leave, and arrive after the delay.
struct Path {
    per_step: usize,
    /// In the sender's socket.
    waiting: BytesMut,
    flying: VecDeque<(Instant, BytesMut)>,
}

impl Path {
    fn new(bits_per_second: usize) -> Path {
        let steps_per_second = Duration::from_secs(1).as_micros() / STEP.as_micros();
        Path {
            per_step: bits_per_second / 8 / usize::try_from(steps_per_second).unwrap(),
            waiting: BytesMut::new(),
            flying: VecDeque::new(),
        }
    }

    /// One step: what the sender has goes on its way, what has arrived goes to the receiver.
    fn carry(&mut self, from: &mut End, to: &mut End, socket: usize) -> usize {
        while self.waiting.len() < socket {
            let out = from.output();
            if out.is_empty() {
                break;
            }
            self.waiting.unsplit(out);
        }
        let leaving = self.waiting.split_to(self.per_step.min(self.waiting.len()));
        if !leaving.is_empty() {
            self.flying.push_back((from.now + DELAY, leaving));
        }
        let mut arrived = 0;
        while self.flying.front().is_some_and(|(at, _)| *at <= to.now) {
            let (_, octets) = self.flying.pop_front().unwrap();
            arrived += octets.len();
            to.input(&octets);
        }
        to.collect();
        arrived
    }
}

/// Downloads `count` bodies without end. Answers what arrived in each round trip.
struct Download {
    pair: Pair,
    down: Path,
    up: Path,
    bodies: Vec<(Hand, Hand)>,
    /// What the server's socket takes before it blocks.
    socket: usize,
}

impl Download {
    fn new(bits_per_second: usize, count: usize, client: Config, socket: usize) -> Download {
        let mut pair = Pair::new(client, Config::default());
        pair.server.now = pair.client.now;
        let hands: Vec<Hand> = (0..count).map(|_| pair.client.get("/")).collect();
        pair.drive();
        let bodies: Vec<_> = hands
            .into_iter()
            .map(|hand| {
                let server = pair.at_server(&hand);
                server.respond(200, false);
                (hand, server)
            })
            .collect();
        Download {
            pair,
            down: Path::new(bits_per_second),
            up: Path::new(bits_per_second),
            bodies,
            socket,
        }
    }

    fn round_trip(&mut self) -> usize {
        let mut arrived = 0;
        for _ in 0..ROUND_TRIP.as_micros() / STEP.as_micros() {
            for (_, server) in &self.bodies {
                if server.state.borrow().in_queue < 1 << 20 {
                    server.send(Bytes::from_static(&[0; 1 << 20]), false);
                }
            }
            let Pair { client, server } = &mut self.pair;
            self.up.carry(client, server, usize::MAX);
            arrived += self.down.carry(server, client, self.socket);
            for (hand, _) in &self.bodies {
                let unreleased = hand.state.borrow().unreleased;
                hand.release(unreleased);
                hand.state.borrow_mut().body.clear();
            }
            client.now += STEP;
            server.now += STEP;
        }
        arrived
    }

    fn window(&self) -> u32 {
        self.pair.client.conn.initial_recv_window()
    }
}

fn adaptive(budget: u32) -> Config {
    Config {
        window_budget: Some(budget),
        ..Config::default()
    }
}

const GIGABIT: usize = 1_000_000_000;

fn carried(bits_per_second: usize) -> usize {
    bits_per_second / 8 / 20
}

#[test]
fn ten_round_trips_fill_a_gigabit_over_50_milliseconds() {
    for streams in [1, 20] {
        let mut download = Download::new(GIGABIT, streams, adaptive(64 << 20), 256 << 10);
        let arrived: Vec<usize> = (0..13).map(|_| download.round_trip()).collect();
        assert!(
            arrived[10] * 10 >= carried(GIGABIT) * 9,
            "{streams} streams: {arrived:?} of {}",
            carried(GIGABIT)
        );
    }
}

#[test]
fn without_the_option_windows_stay() {
    let mut download = Download::new(GIGABIT, 1, Config::default(), 256 << 10);
    let arrived: Vec<usize> = (0..13).map(|_| download.round_trip()).collect();
    assert!(arrived.iter().all(|bytes| *bytes < 70_000), "{arrived:?}");
}

#[test]
fn a_slow_path_keeps_small_windows() {
    // 20 Mbit/s and 50 ms carry 125 KB; the sender's socket holds a megabyte.
    let mut download = Download::new(GIGABIT / 50, 1, adaptive(64 << 20), 1 << 20);
    for _ in 0..100 {
        download.round_trip();
    }
    let window = download.window() as usize;
    assert!(window >= carried(GIGABIT / 50), "{window}");
    assert!(window <= 4 * carried(GIGABIT / 50), "{window}");
}

#[test]
fn windows_stay_within_the_budget() {
    let mut download = Download::new(GIGABIT, 4, adaptive(1 << 20), 256 << 10);
    for _ in 0..30 {
        download.round_trip();
        let unread = download.pair.client.conn.recv_window.size();
        assert!(unread <= 1 << 20, "{unread}");
    }
    assert_eq!(download.window(), 1 << 19);
}

#[test]
fn a_window_of_the_connection_that_is_larger_already_stays() {
    let config = Config {
        initial_connection_window_size: Some(32 << 20),
        ..adaptive(64 << 20)
    };
    let mut download = Download::new(GIGABIT / 50, 1, config, 1 << 20);
    for _ in 0..100 {
        download.round_trip();
    }
    assert!(download.window() > 65_535, "it was measured");
    assert_eq!(download.pair.client.conn.recv_window.size(), 32 << 20);
}
