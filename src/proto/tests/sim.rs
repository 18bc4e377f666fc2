//! Two ends under random operations; the invariants are checked after every step.
//!
//! What an operation does is drawn from a seed, so a failure repeats: its seed is in the message.

use bytes::{Bytes, BytesMut};
use http::HeaderMap;

use super::pair::{End, Hand, request};
use crate::frame::{Reason, StreamId};
use crate::message::Head;
use crate::proto::config::Rate;
use crate::proto::stream::{Loan, Wait};
use crate::proto::{Config, Connection, Lifecycle, Role};

/// Xorshift: enough for a test, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn size(&mut self) -> usize {
        match self.roll(4) {
            0 => self.roll(4),
            1 => self.roll(300),
            2 => self.roll(5_000),
            _ => self.roll(100_000),
        }
    }
}

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
}

fn config(dice: &mut Dice) -> Config {
    let mut config = Config::default();
    let free = Rate {
        burst: 1_000_000_000,
        per_second: 0,
    };
    config.limits.early_resets = free;
    config.limits.faults = free;
    config.limits.unproductive = free;
    config.max_local_error_reset_streams = None;
    config.data_frame_budget = Some(usize::MAX);
    config.max_pending_accept_reset_streams = usize::MAX;
    config.max_concurrent_reset_streams = 100_000;
    config.max_concurrent_streams = Some(1 + dice.roll(12) as u32);
    config.initial_window_size = [0, 1, 100, 65_535, 1_000_000][dice.roll(5)];
    config.initial_connection_window_size = [None, Some(65_535), Some(1 << 20)][dice.roll(3)];
    config.max_frame_size = [None, Some(16_384), Some(100_000)][dice.roll(3)];
    config.batch_size = [1, 1_000, 20_000, 65_536][dice.roll(4)];
    config
}

fn payload(id: StreamId, from: usize, length: usize) -> Bytes {
    (from..from + length)
        .map(|n| (n + id.as_u32() as usize) as u8)
        .collect()
}

impl World {
    fn new(seed: u64) -> World {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let client = End::new(Role::Client, config(&mut dice));
        let server = End::new(Role::Server, config(&mut dice));
        World {
            dice,
            ends: [client, server],
            wires: [BytesMut::new(), BytesMut::new()],
            senders: [Vec::new(), Vec::new()],
            shutting_down: false,
        }
    }

    fn operate(&mut self) {
        let side = self.dice.roll(2);
        match self.dice.roll(100) {
            0..8 => self.open(),
            8..12 => self.push(),
            12..35 => self.send(side),
            35..50 => self.release(side),
            50..53 => self.disturb(side),
            53 => self.change_settings(side),
            54 if self.dice.roll(40) == 0 => {
                self.shutting_down = true;
                self.ends[side].conn.user_shutdown();
            }
            55 => self.ends[side]
                .conn
                .user_set_target_window(65_535 + self.dice.size() as u32),
            _ => self.write(side),
        }
        self.deliver(side);
        for end in &mut self.ends {
            end.collect();
        }
        self.note_accepted();
        self.check();
    }

    fn open(&mut self) {
        if self.senders[0].len() > 60 || self.shutting_down {
            return;
        }
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

    fn push(&mut self) {
        let count = self.senders[1].len();
        if count == 0 || count > 60 || self.shutting_down {
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

    fn send(&mut self, side: usize) {
        let (count, size) = (self.senders[side].len(), self.dice.size());
        if count == 0 {
            return;
        }
        let (pick, end) = (self.dice.roll(count), self.dice.roll(4) == 0);
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
        sender
            .hand
            .send(payload(sender.hand.id, sender.sent, size), end && !trailers);
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
        let size = [0, 1, 1_000, 65_535, 200_000][self.dice.roll(5)];
        let _ = self.ends[side].conn.user_set_initial_window(size);
    }

    /// Fills and writes, perhaps not to the end.
    fn write(&mut self, side: usize) {
        let end = &mut self.ends[side];
        end.conn.fill(&mut end.batch);
        check_full(&end.conn, end.batch.remaining(), side);
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
        let there = self.wires[side].len();
        let some = if self.dice.roll(2) == 0 {
            there
        } else {
            self.dice.roll(there + 1)
        };
        let octets = self.wires[side].split_to(some);
        self.ends[1 - side].input(&octets);
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
            if let Lifecycle::Closed(Err(error)) = end.conn.lifecycle() {
                panic!("end {side} failed: {error}");
            }
            check_streams(&end.conn);
            let kept: usize = self.hands(side).iter().map(|hand| hand.credit_out()).sum();
            let gone = end.shared.credit_waiting();
            assert_eq!(
                end.conn.recv_window.held(),
                kept + gone,
                "I5: credit of end {side}"
            );
        }
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
                self.ends[1 - side].input(&octets);
            }
            self.ends.iter_mut().for_each(End::collect);
            self.note_accepted();
            self.check();
            if quiet && self.ends.iter().all(|end| !end.conn.has_streams()) {
                return self.check_finished();
            }
        }
        for end in &self.ends {
            for (_, stream) in end.conn.streams.iter() {
                println!(
                    "{:?} {:?} {:?} queued {} window {} credit {} recv {:?}",
                    stream.id,
                    stream.state,
                    stream.wait,
                    stream.queued,
                    stream.send.left(end.conn.settings.peer.initial_window),
                    end.conn.connection_credit(),
                    stream.recv,
                );
            }
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
            if to.is_complete() && !to.state.borrow().unwanted && !from.disturbed {
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

/// Every stream is where it says, and nowhere else; every window adds up.
fn check_streams<R: crate::proto::port::Ports>(conn: &Connection<R>) {
    assert!(
        conn.recv_window.is_conserved(),
        "I5: the connection's window"
    );
    let mut waiting = 0;
    for (slot, stream) in conn.streams.iter() {
        assert!(
            !stream.is_over(),
            "I4: {:?} is over and still there",
            stream.id
        );
        assert!(
            stream.recv.is_conserved(),
            "I5: the window of {:?}",
            stream.id
        );
        assert_eq!(conn.streams.resolve(stream.key), Some(slot));
        let wants = stream.wants(conn.settings.peer.initial_window);
        assert_eq!(stream.wait, wants, "list membership of {:?}", stream.id);
        waiting += usize::from(stream.wait != Wait::Nothing);
    }
    assert_eq!(
        conn.scheduler.members(&conn.streams),
        waiting,
        "lists hold who waits, once"
    );
}

/// After a fill that left space, nobody who could send is waiting.
fn check_full<R: crate::proto::port::Ports>(conn: &Connection<R>, filled: usize, side: usize) {
    let full = filled >= conn.config.batch_size;
    if full || !matches!(conn.lifecycle(), Lifecycle::Open | Lifecycle::Draining) {
        return;
    }
    assert!(conn.control.is_empty() && conn.replies.is_empty());
    let may_open = conn.counts.local < conn.settings.peer.max_streams;
    for (_, stream) in conn.streams.iter() {
        let open = stream.send.open(conn.settings.peer.initial_window) > 0;
        let able = stream.queued > 0 && stream.state.can_send() && stream.out.heads.is_empty();
        let hidden = stream.loan == Loan::Hidden;
        assert!(
            !(able && open && !hidden && conn.connection_credit() > 0),
            "I1: stream {:?} of end {side} could send: {:?}",
            stream.id,
            stream.wait
        );
        assert!(
            !matches!(stream.wait, Wait::Promise | Wait::Head),
            "I1: heads need no credit"
        );
        assert!(
            stream.wait != Wait::Open || !may_open,
            "I1: there is a slot"
        );
    }
}

fn run(seed: u64, steps: usize) {
    let mut world = World::new(seed);
    for _ in 0..steps {
        world.operate();
    }
    world.finish();
}

#[test]
fn sim_two_ends_under_random_operations() {
    let seeds = if cfg!(debug_assertions) { 100 } else { 2_000 };
    for seed in 1..=seeds {
        let outcome = std::panic::catch_unwind(|| run(seed, 400));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}
