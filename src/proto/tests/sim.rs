//! Two ends under random operations; the invariants are checked after every step.
//!
//! Its handles are a model; the simulation of `share` has the real ones. A failure prints the seed
//! of the world and the operations that are needed to fail.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;

use super::audit::{self, Fairness, check_full, check_room, check_streams, free_config};
use super::chance::{self, Dice, operations};
use super::load::{load, payload};
use super::pair::{End, Hand, request};
use crate::frame::{Reason, Setting};
use crate::message::Head;
use crate::proto::{Config, Lifecycle, Role};

type Op = chance::Op<Kind>;

/// What can happen.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Open,
    Push,
    Send,
    /// A producer asks for room, and sends what it was granted at some other time, or never.
    WantRoom,
    SendGranted,
    Release,
    /// A reset, or handles that are dropped.
    Disturb,
    /// SETTINGS: the initial window, the limit of streams, the largest frame.
    Settings,
    TargetWindow,
    Prioritise,
    Ping,
    Shutdown,
    Abort,
    Elapse,
    /// The peer stops to read, or goes on.
    Freeze,
    Write,
    Deliver,
}

/// How often each happens, of a thousand.
const WEIGHTS: [(Kind, usize); 17] = [
    (Kind::Open, 80),
    (Kind::Push, 30),
    (Kind::Send, 170),
    (Kind::WantRoom, 30),
    (Kind::SendGranted, 30),
    (Kind::Release, 130),
    (Kind::Disturb, 30),
    (Kind::Settings, 15),
    (Kind::TargetWindow, 10),
    (Kind::Prioritise, 20),
    (Kind::Ping, 5),
    (Kind::Shutdown, 1),
    (Kind::Abort, 1),
    (Kind::Elapse, 10),
    (Kind::Freeze, 8),
    (Kind::Write, 330),
    (Kind::Deliver, 100),
];

/// One message, as its sender knows it. What was sent is known by length: byte n is `n + id`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that was done"
)]
struct Sender {
    hand: Hand,
    sent: usize,
    headed: bool,
    ended: bool,
    disturbed: bool,
}

struct World {
    dice: Dice,
    ends: [End; 2],
    /// Octets from each end that the other has not got.
    wires: [BytesMut; 2],
    senders: [Vec<Sender>; 2],
    shutting_down: bool,
    /// One end has been told to break off, or may have by its clock.
    may_break: bool,
    frozen: [bool; 2],
    /// Streams at most.
    crowd: usize,
    fairness: [Fairness; 2],
    steps: usize,
    /// Grants until the last turn.
    grants: [u64; 2],
}

fn config(dice: &mut Dice, crowd: usize, timeouts: bool) -> Config {
    let mut config = free_config();
    config.max_concurrent_streams = Some(1 + dice.roll(crowd / 4) as u32);
    config.send_room = [0, 5_000, 50_000, 128 << 10][dice.roll(4)];
    if timeouts {
        config.limits.stall_timeout = Some(Duration::from_secs(2));
    }
    config.initial_window_size = [0, 1, 100, 65_535, 1_000_000][dice.roll(5)];
    config.initial_connection_window_size = [None, Some(65_535), Some(1 << 20)][dice.roll(3)];
    config.max_frame_size = [None, Some(16_384), Some(100_000)][dice.roll(3)];
    config.batch_size = [1, 1_000, 20_000, 65_536][dice.roll(4)];
    config
}

impl World {
    fn new(seed: u64) -> World {
        let mut dice = Dice::new(seed);
        let crowd = match seed % 50 {
            0 => 1_000,
            1..5 => 200,
            5..10 => 4,
            _ => 60,
        };
        let timeouts = dice.roll(4) == 0;
        let client = End::new(Role::Client, config(&mut dice, crowd, timeouts));
        let server = End::new(Role::Server, config(&mut dice, crowd, timeouts));
        World {
            dice,
            ends: [client, server],
            wires: [BytesMut::new(), BytesMut::new()],
            senders: [Vec::new(), Vec::new()],
            shutting_down: false,
            may_break: timeouts,
            frozen: [false; 2],
            crowd,
            fairness: Default::default(),
            steps: 0,
            grants: [0; 2],
        }
    }

    fn operate(&mut self, op: Op) {
        self.dice = Dice::new(op.seed);
        self.steps += 1;
        let side = self.dice.roll(2);
        match op.kind {
            Kind::Open => self.open(),
            Kind::Push => self.push(),
            Kind::Send => self.send(side),
            Kind::WantRoom => self.want_room(side),
            Kind::SendGranted => self.send_granted(side),
            Kind::Release => self.release(side),
            Kind::Disturb => self.disturb(side),
            Kind::Settings => self.change_settings(side),
            Kind::TargetWindow => self.ends[side]
                .conn
                .user_set_target_window(65_535 + self.dice.size() as u32),
            Kind::Prioritise => self.prioritise(side),
            Kind::Ping => self.ends[side].conn.user_ping([7; 8]),
            Kind::Shutdown if self.dice.roll(3) == 0 => {
                self.shutting_down = true;
                self.ends[side].conn.user_shutdown();
            }
            Kind::Abort if self.dice.roll(6) == 0 => {
                self.may_break = true;
                self.ends[side].conn.user_abort(Reason::ENHANCE_YOUR_CALM);
            }
            Kind::Shutdown | Kind::Abort => {}
            Kind::Elapse => {
                let time = Duration::from_millis(self.dice.roll(700) as u64);
                self.ends.iter_mut().for_each(|end| end.elapse(time));
            }
            Kind::Freeze => self.frozen[side] ^= true,
            Kind::Write => self.write(side),
            Kind::Deliver => self.deliver(side),
        }
        for end in &mut self.ends {
            end.collect();
        }
        self.note_accepted();
        self.check();
    }

    fn open(&mut self) {
        if self.senders[0].len() >= self.crowd || self.shutting_down {
            return;
        }
        for _ in 0..self.crowd.div_ceil(60) {
            let end = self.dice.roll(2) == 0;
            let hand = self.ends[0].open(request("POST", "/a/path"), end, None);
            self.senders[0].push(Sender {
                hand,
                sent: 0,
                headed: true,
                ended: end,
                disturbed: false,
            });
        }
    }

    fn push(&mut self) {
        let count = self.senders[1].len();
        if count == 0 || count >= self.crowd || self.shutting_down {
            return;
        }
        let parent = &self.senders[1][self.dice.roll(count)];
        if parent.ended || parent.disturbed || !parent.hand.id.is_client_initiated() {
            return;
        }
        let id = parent.hand.id;
        let hand = self.ends[1].open(request("GET", "/pushed"), false, Some(id));
        self.senders[1].push(Sender {
            hand,
            sent: 0,
            headed: false,
            ended: false,
            disturbed: false,
        });
    }

    fn want_room(&mut self, side: usize) {
        let count = self.senders[side].len();
        if count > 0 {
            let sender = &self.senders[side][self.dice.roll(count)];
            if !sender.ended && sender.hand.error().is_none() {
                sender.hand.want_room();
            }
        }
    }

    /// Somebody who holds a grant makes use of it.
    fn send_granted(&mut self, side: usize) {
        let granted = |sender: &Sender| sender.hand.state.borrow().granted;
        let holder = self.senders[side]
            .iter()
            .position(|sender| granted(sender) > 0);
        if let Some(pick) = holder {
            let size =
                std::mem::take(&mut self.senders[side][pick].hand.state.borrow_mut().granted);
            self.send_on(side, pick, size, false);
        }
    }

    fn prioritise(&mut self, side: usize) {
        let count = self.senders[side].len();
        if count > 0 {
            let pick = self.dice.roll(count);
            let (urgency, shared) = (self.dice.roll(8) as u8, self.dice.roll(2) == 0);
            self.senders[side][pick].hand.prioritise(urgency, shared);
        }
    }

    fn send(&mut self, side: usize) {
        let (count, size) = (self.senders[side].len(), self.dice.size());
        if count == 0 {
            return;
        }
        let (pick, end) = (self.dice.roll(count), self.dice.roll(4) == 0);
        self.send_on(side, pick, size, end);
    }

    fn send_on(&mut self, side: usize, pick: usize, size: usize, end: bool) {
        let sender = &mut self.senders[side][pick];
        if sender.ended || sender.hand.error().is_some() {
            return;
        }
        if !sender.headed {
            let (parts, ()) = http::Response::new(()).into_parts();
            sender
                .hand
                .send_head(Head::Response(Box::new(parts)), false);
            sender.headed = true;
        }
        let trailers = end && self.dice.roll(3) == 0;
        let data = load(&mut self.dice, payload(sender.hand.id, sender.sent, size));
        sender.hand.send_load(data, end && !trailers);
        sender.sent += size;
        sender.ended = end;
        if trailers {
            sender.hand.send_trailers(HeaderMap::new());
        }
    }

    fn release(&mut self, side: usize) {
        let count = self.senders[side].len();
        if count > 0 {
            let pick = self.dice.roll(count);
            let bytes = if self.dice.roll(2) == 0 {
                1
            } else {
                self.dice.size()
            };
            self.senders[side][pick].hand.release(bytes);
        }
    }

    /// A reset, or handles that are dropped.
    fn disturb(&mut self, side: usize) {
        let count = self.senders[side].len();
        if count == 0 {
            return;
        }
        let (pick, kind) = (self.dice.roll(count), self.dice.roll(3));
        let sender = &mut self.senders[side][pick];
        sender.disturbed = true;
        match kind {
            0 => sender.hand.reset(Reason::CANCEL),
            1 => sender.hand.abandon(),
            _ => return sender.hand.stop_reading(),
        }
        sender.ended = true;
    }

    fn change_settings(&mut self, side: usize) {
        let (size, kind) = (self.dice.size() as u32, self.dice.roll(4));
        let conn = &mut self.ends[side].conn;
        let entry = match kind {
            0 => Setting::MaxConcurrentStreams(
                1 + size % conn.config.max_concurrent_streams.unwrap_or(100),
            ),
            1 => Setting::MaxFrameSize((16_384 + size).min(conn.config.frame_limit() as u32)),
            2 => Setting::InitialWindowSize([0, 1, 1_000, 65_535, 200_000][size as usize % 5]),
            _ => Setting::InitialWindowSize(size),
        };
        let _ = conn.settings.announce(entry);
    }

    /// Fills and writes, perhaps not to the end.
    fn write(&mut self, side: usize) {
        let end = &mut self.ends[side];
        end.conn.fill(&mut end.batch);
        let mut before = end.conn.stats().room_grants;
        while end.conn.end_turn() {
            let grants = end.conn.stats().room_grants;
            assert!(
                grants > before || grants > self.grants[side],
                "another turn needs a reason"
            );
            before = grants;
            self.grants[side] = grants;
        }
        self.grants[side] = end.conn.stats().room_grants;
        if end.batch.is_empty() {
            end.conn.fall_asleep();
        }
        check_full(&end.conn, end.batch.remaining(), side);
        check_room(&end.conn);
        self.fairness[side].check(&end.conn);
        let mut out = BytesMut::new();
        end.batch.join_into(&mut out);
        if self.dice.roll(3) == 0 {
            out.truncate(self.dice.roll(out.len() + 1));
        }
        end.batch.advance(out.len());
        if end.batch.is_empty() {
            end.conn.batch_written(&mut end.batch);
        }
        self.wires[side].unsplit(out);
    }

    /// Some of what is on the wire arrives.
    fn deliver(&mut self, side: usize) {
        if self.frozen[side] {
            return;
        }
        let there = self.wires[side].len();
        let some = if self.dice.roll(2) == 0 {
            there
        } else {
            self.dice.roll(there + 1)
        };
        let octets = self.wires[side].split_to(some);
        self.arrive(side, &octets);
    }

    fn arrive(&mut self, side: usize, octets: &[u8]) {
        self.ends[1 - side].input(octets);
        if self.ends[side].conn.is_done() && self.wires[side].is_empty() {
            self.ends[1 - side].conn.recv_eof();
        }
    }

    /// What the application sees of the peer's streams can be answered from now on.
    fn note_accepted(&mut self) {
        for hand in std::mem::take(&mut self.ends[1].accepted) {
            self.senders[1].push(Sender {
                hand,
                sent: 0,
                headed: false,
                ended: false,
                disturbed: false,
            });
        }
    }

    fn check(&self) {
        for (side, end) in self.ends.iter().enumerate() {
            if let (Lifecycle::Closed(Err(error)), false) = (end.conn.lifecycle(), self.may_break) {
                panic!("end {side} failed: {error}");
            }
            check_streams(&end.conn);
            let kept = self.credit_out(side);
            let gone = end.shared.credit_waiting();
            assert_eq!(
                end.conn.recv_window.held(),
                kept + gone,
                "I5: credit of end {side}"
            );
        }
    }

    fn credit_out(&self, side: usize) -> usize {
        let of = |sender: &Sender| {
            let state = sender.hand.state.borrow();
            let promised = state.promises.iter().map(|(_, hand)| hand.credit_out());
            sender.hand.credit_out() + promised.sum::<usize>()
        };
        self.senders[side].iter().map(of).sum()
    }

    fn hands(&self, side: usize) -> Vec<Hand> {
        let own = self.senders[side].iter().map(|sender| sender.hand.clone());
        let promised = self.senders[side].iter().flat_map(|sender| {
            let state = sender.hand.state.borrow();
            state
                .promises
                .iter()
                .map(|(_, hand)| hand.clone())
                .collect::<Vec<_>>()
        });
        own.chain(promised).collect()
    }

    /// Each sender, and the hand that its message comes to.
    fn messages(&self) -> Vec<(&Sender, Hand)> {
        let mut messages = Vec::new();
        for side in 0..2 {
            let far = self.hands(1 - side);
            for sender in &self.senders[side] {
                let to = far.iter().find(|hand| hand.id == sender.hand.id);
                messages.extend(to.map(|hand| (sender, hand.clone())));
            }
        }
        messages
    }

    /// Everybody finishes what they have begun, reads everything, and the ends fall silent.
    fn finish(&mut self) {
        self.frozen = [false; 2];
        self.dice = Dice::new(1);
        for _ in 0..3_000 {
            let mut quiet = true;
            for side in 0..2 {
                self.note_accepted();
                self.end_messages(side);
                for hand in self.hands(side) {
                    hand.release(usize::MAX);
                }
                self.ends[side].collect();
                self.write(side);
                quiet &= self.wires[side].is_empty() && self.ends[side].batch.is_empty();
                let octets = self.wires[side].split();
                self.arrive(side, &octets);
            }
            self.ends.iter_mut().for_each(End::collect);
            self.note_accepted();
            self.check();
            if quiet && self.ends.iter().all(|end| !end.conn.has_streams()) {
                return self.check_finished();
            }
        }
        for end in &self.ends {
            audit::report(&end.conn);
        }
        panic!("I1: the ends never finish");
    }

    fn end_messages(&mut self, side: usize) {
        // A window of nothing would be a lawful stall.
        if self.ends[side].conn.settings.local.initial_window < 65_535 {
            let _ = self.ends[side].conn.user_set_initial_window(65_535);
        }
        for sender in &mut self.senders[side] {
            if sender.ended || sender.hand.error().is_some() {
                continue;
            }
            if !sender.headed {
                sender.hand.respond(200, false);
                sender.headed = true;
            }
            sender.hand.send(Bytes::new(), true);
            sender.ended = true;
        }
    }

    fn check_finished(&self) {
        for (from, to) in self.messages() {
            let body = to.state.borrow();
            assert!(body.body.len() <= from.sent, "I5: no byte comes twice");
            let expected = payload(to.id, 0, body.body.len());
            assert!(
                body.unwanted || body.body == expected,
                "I6: bytes come in order"
            );
            drop(body);
            let reached = to.is_complete() || to.error().is_some();
            assert!(reached, "I1: stream {:?} has neither end nor error", to.id);
            if to.is_complete() && !self.may_break && !to.state.borrow().unwanted && !from.disturbed
            {
                assert_eq!(
                    to.state.borrow().body.len(),
                    from.sent,
                    "a whole body is whole"
                );
            }
        }
        for side in 0..2 {
            let (from, to) = (&self.ends[side].conn, &self.ends[1 - side].conn);
            if !from.is_done() && !to.is_done() {
                let left = from.send_window.left(65_535);
                assert_eq!(
                    left,
                    to.recv_window.left(),
                    "I5: both ends agree on the window"
                );
            }
            assert_eq!(to.recv_window.held(), 0, "I5: all credit is back");
            assert_eq!(
                self.ends[side].shared.room_used.get(),
                0,
                "I4: all room is back"
            );
            assert_eq!(
                from.counts.local + from.counts.remote,
                0,
                "I4: nothing counts"
            );
        }
    }
}

fn play(seed: u64, ops: &[Op]) -> usize {
    let mut world = World::new(seed);
    ops.iter().for_each(|op| world.operate(*op));
    world.finish();
    world.steps
}

/// Answers the steps made.
fn simulate(seed: u64, count: usize) -> usize {
    chance::simulate(seed, operations(&WEIGHTS, seed, count), play)
}

#[test]
fn sim_two_ends_under_random_operations() {
    let (seeds, count) = if cfg!(debug_assertions) {
        (1..=50, 250)
    } else {
        (1..=5_000, 400)
    };
    let steps: usize = seeds.map(|seed| simulate(seed, count)).sum();
    println!("{steps} steps");
}

/// Everything goes through sockets that hold a few octets, and back.
#[test]
fn sim_echo_on_300_streams_through_tiny_sockets() {
    const BODY: usize = 3_000;
    for socket in [64, 1_000] {
        let mut config = Config::default();
        config.limits.unproductive.burst = u32::MAX;
        config.initial_window_size = 500;
        let client = End::new(Role::Client, config.clone());
        let mut ends = [client, End::new(Role::Server, config)];
        let mut wires = [BytesMut::new(), BytesMut::new()];
        let asked: Vec<Hand> = (0..300).map(|_| ends[0].post("/echo")).collect();
        for hand in &asked {
            hand.send(payload(hand.id, 0, BODY), true);
        }
        let mut answered: Vec<(Hand, usize)> = Vec::new();
        let mut steps = 0;
        while !asked.iter().all(Hand::is_complete) {
            for side in 0..2 {
                write_some(&mut ends[side], &mut wires[side], socket);
                let octets = wires[side].split();
                ends[1 - side].input(&octets);
                ends[1 - side].collect();
            }
            answered.extend(ends[1].accepted.drain(..).map(|hand| {
                hand.respond(200, false);
                (hand, 0)
            }));
            for (hand, echoed) in &mut answered {
                echo(hand, echoed, BODY);
            }
            asked.iter().for_each(|hand| hand.release(usize::MAX));
            ends.iter_mut().for_each(End::collect);
            ends.iter().for_each(|end| check_streams(&end.conn));
            steps += 1;
            assert!(steps < 200_000, "I1: the echo does not come to its end");
        }
        for hand in asked {
            assert_eq!(hand.body(), payload(hand.id, 0, BODY));
        }
    }
}

/// As much as the socket takes.
fn write_some(end: &mut End, wire: &mut BytesMut, socket: usize) {
    if end.batch.is_empty() {
        end.conn.batch_written(&mut end.batch);
        end.conn.fill(&mut end.batch);
        check_full(&end.conn, end.batch.remaining(), 0);
    }
    let mut out = BytesMut::new();
    end.batch.join_into(&mut out);
    out.truncate(socket - wire.len());
    end.batch.advance(out.len());
    wire.unsplit(out);
}

fn echo(hand: &Hand, echoed: &mut usize, whole: usize) {
    let body = hand.state.borrow().body.clone();
    if body.len() > *echoed {
        let fresh = Bytes::copy_from_slice(&body[*echoed..]);
        *echoed = body.len();
        hand.release(fresh.len());
        hand.send(fresh, *echoed == whole);
    }
}
