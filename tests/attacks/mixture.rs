//! All attacks in one: random frames, valid and not, with bursts of each kind, on a socket that sometimes
//! takes nothing and a clock that sometimes runs. The bounds of the hardened preset hold all the time.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::harness::{Mode, Target, get, hardened, post};
use crate::support::{
    CANCEL, Frame, continuation, data, frame, go_away, headers, indexed_literal, kind, ping,
    priority, priority_update, reset, setting, settings, window_update,
};

/// What one connection with its streams and handlers may have at most.
const HEAP: isize = 8 << 20;
/// Streams that may be open, or reset and still held.
const HELD: usize = 100 + 25;
const SEEDS: u64 = if cfg!(debug_assertions) { 50 } else { 3000 };
const STEPS: usize = 400;
const PATHS: [&str; 5] = ["/", "/hold", "/stuck", "/read", "/flow/200000"];

struct Attacker {
    random: u64,
    next: u32,
    pings: u64,
    /// What the window of the connection still takes.
    credit: usize,
}

impl Attacker {
    fn draw(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % below as u64) as usize
    }

    /// A stream that was opened lately; seldom another, which may be fatal.
    fn stream(&mut self) -> u32 {
        match self.draw(2000) {
            0 => 0,
            1 => self.next + 2 * self.draw(50) as u32,
            2 => 2 * self.draw(10) as u32,
            _ => self
                .next
                .saturating_sub(2 * (1 + self.draw(110)) as u32)
                .max(1),
        }
    }

    /// DATA within the window of the connection, as far as the attacker knows.
    fn data(&mut self, stream: u32, length: usize, padding: u8) -> Frame {
        let length = length.min(self.credit.saturating_sub(256));
        self.credit = self.credit.saturating_sub(length + 256);
        let frame = data(stream, vec![7; length]);
        if padding > 0 {
            frame.padded(padding)
        } else {
            frame
        }
    }

    fn open(&mut self) -> Vec<Frame> {
        let (path, stream) = (PATHS[self.draw(PATHS.len())], self.next);
        self.next += 2;
        let head = match self.draw(2) {
            0 => get(stream, path),
            _ => post(stream, path),
        };
        // Seldom so much that it is fatal.
        let most = if self.draw(100) == 0 { 300 } else { 130 };
        match self.draw(6) {
            0 => vec![head.raw(indexed_literal("a", vec![b'x'; self.draw(most)]))],
            1 => vec![head.raw(vec![0xbe; self.draw(most)])],
            2 => vec![head.raw([0x60, 1, b'a'].repeat(self.draw(most)))],
            3 => {
                let parts = self.draw(most / 16);
                let part = |_| {
                    continuation(stream)
                        .field("b", [b'y'; 100])
                        .no_end_headers()
                };
                let first = [head.no_end_headers()].into_iter();
                let parts = (0..parts).map(part);
                first.chain(parts).chain([continuation(stream)]).collect()
            }
            _ => vec![head],
        }
    }

    fn frames(&mut self) -> Vec<Frame> {
        let (stream, number) = (self.stream(), self.draw(1 << 17) as u32);
        let one = match self.draw(18) {
            0..=4 => return self.open(),
            5 => {
                let length = self.draw(16_000);
                self.data(stream, length, 0)
            }
            6 => {
                let (length, padding) = (self.draw(3), self.draw(255) as u8);
                self.data(stream, length, padding)
            }
            7 => data(stream, "").end_stream(),
            8 => reset(stream, CANCEL),
            9 | 10 => window_update(stream, 1 + number),
            11 => window_update(0, 1 + number / 16),
            12 => settings().set(setting::INITIAL_WINDOW_SIZE, number),
            13 => settings().set(setting::HEADER_TABLE_SIZE, number),
            14 => priority(stream, stream + 2),
            15 => priority_update(stream | 1, "u=3, i"),
            16 => {
                self.pings += 1;
                ping((self.pings - 1).to_be_bytes())
            }
            _ if self.draw(20) == 0 => self.seldom(stream, number),
            _ => settings().set(setting::MAX_FRAME_SIZE, 16_384 + number),
        };
        vec![one]
    }

    fn seldom(&mut self, stream: u32, number: u32) -> Frame {
        match self.draw(8) {
            0 => go_away(number, CANCEL),
            1 => frame(
                self.draw(256) as u8,
                self.draw(256) as u8,
                stream,
                vec![1; self.draw(100)],
            ),
            2 => headers(stream).field("a", "b").end_stream(),
            3 => headers(stream).raw(vec![0x80 | self.draw(128) as u8; 3]),
            4 => window_update(stream, 0x7fff_ffff),
            5 => window_update(stream, 0),
            _ => frame(0xf0, 0, stream, vec![0; self.draw(16_000)]),
        }
    }

    fn step(&mut self, target: &mut Target) {
        match self.draw(30) {
            0 => target.take(Some(self.draw(20_000))),
            1 | 2 => target.take(None),
            3 => target.pass(Duration::from_millis(self.draw(9000) as u64)),
            4 => {
                // The same again and again; streams are new ones.
                let (frames, times) = (self.frames(), self.draw(300));
                let again = match frames[0].kind {
                    kind::HEADERS | kind::DATA => 1,
                    _ => times,
                };
                for _ in 0..again {
                    frames.iter().for_each(|frame| target.send(frame));
                }
                for _ in again..times.min(15) {
                    self.open().iter().for_each(|frame| target.send(frame));
                    target.send(&reset(self.next - 2, CANCEL));
                }
            }
            _ => self.frames().iter().for_each(|frame| target.send(frame)),
        }
    }
}

pub(crate) fn any_mixture() {
    let mut whys = BTreeMap::new();
    let (mut most, mut ended, mut steps) = (0, 0, 0);
    for seed in 1..=SEEDS {
        let mut attacker = Attacker {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            next: 3,
            pings: 0,
            credit: 65_535,
        };
        let mode = if seed % 10 == 0 {
            Mode::Bytewise
        } else {
            Mode::Free
        };
        let mut target = Target::server_in(mode, hardened);
        target.seen.forget_pongs();
        // Something for one-octet references to refer to.
        target.say(&get(1, "/").raw(indexed_literal("a", "")));
        for _ in 0..STEPS {
            let before = target.seen.credit;
            attacker.step(&mut target);
            target.run();
            attacker.credit += (target.seen.credit - before) as usize;
            steps += 1;
            let (heap, alive) = (target.heap(), target.app.alive.get());
            assert!(heap < HEAP, "seed {seed}: {heap} octets");
            assert!(alive <= HELD, "seed {seed}: {alive} handlers");
            most = most.max(heap);
            if target.is_over() {
                ended += 1;
                let why = target
                    .seen
                    .go_away
                    .clone()
                    .map_or_else(String::new, |(_, why)| why);
                *whys.entry(why).or_insert(0) += 1;
                break;
            }
        }
        // The attacker falls silent: what was kept of it goes, but what its streams may hold.
        target.take(None);
        target.pass(Duration::from_secs(200));
        target.app.release();
        target.run();
        if target.is_over() {
            let (heap, alive) = (target.heap(), target.app.alive.get());
            assert!(
                heap < 64 * 1024 && alive == 0,
                "seed {seed}: {heap} octets, {alive} handlers"
            );
        }
    }
    for (why, times) in &whys {
        println!("  {times} times: {why}");
    }
    println!("  {steps} steps, {ended} of {SEEDS} connections were ended, {most} octets at most");
}
