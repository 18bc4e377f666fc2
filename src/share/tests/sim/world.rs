//! Two ends of a connection: the real driver, the real handles, a socket in memory, a clock.
//!
//! Owns: what can happen, and what must hold after each step. A turn of a driver runs only if its
//! task was woken, and so does a task of the application: so what nobody wakes stays asleep, and the
//! checks find it.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::Request;

use super::party::Party;
use super::socket::{Pipe, Shared, Socket};
use super::task::{Flag, Tally, Task};
use crate::driver::Driver;
use crate::driver::tests::Next;
use crate::driver::tests::clock::Clock;
use crate::error::Error;
use crate::frame::{Reason, Setting, StreamId};
use crate::handoff::tests::probe::{self, Probe};
use crate::handoff::{Cell, Promise};
use crate::proto::tests::audit::{self, Fairness};
use crate::proto::tests::chance::{self, Dice};
use crate::proto::tests::load::Load;
use crate::proto::{Config, Role};

/// What every stream may have buffered whatever the others hold.
const FLOOR: usize = 16 * 1024;

/// What can happen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Open,
    Push,
    Accept,
    /// A producer that is not waiting does something.
    Produce,
    /// A reader takes something.
    Consume,
    Release,
    /// Tasks that were woken run.
    Run,
    /// A task begins to wait for its slot, for a reset, or for promises.
    Wait,
    Disturb,
    Settings,
    TargetWindow,
    Prioritise,
    Ping,
    Shutdown,
    Abort,
    Elapse,
    /// The peer stops to read, or goes on.
    Freeze,
    /// One turn of a driver that was woken.
    Turn,
}

pub(super) type Op = chance::Op<Kind>;

/// How often each happens.
pub(super) const WEIGHTS: [(Kind, usize); 18] = [
    (Kind::Open, 25),
    (Kind::Push, 8),
    (Kind::Accept, 30),
    (Kind::Produce, 220),
    (Kind::Consume, 120),
    (Kind::Release, 80),
    (Kind::Run, 130),
    (Kind::Wait, 15),
    (Kind::Disturb, 10),
    (Kind::Settings, 8),
    (Kind::TargetWindow, 5),
    (Kind::Prioritise, 10),
    (Kind::Ping, 4),
    (Kind::Shutdown, 1),
    (Kind::Abort, 1),
    (Kind::Elapse, 6),
    (Kind::Freeze, 6),
    (Kind::Turn, 330),
];

/// What a run has seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) steps: usize,
    pub(super) producers: Tally,
    pub(super) others: Tally,
    pub(super) turns: u64,
    pub(super) idle_turns: u64,
    pub(super) grants: u64,
    pub(super) bytes: u64,
    pub(super) streams: u64,
}

/// One end and its application.
pub(super) struct End {
    pub(super) driver: Driver<Socket, Load>,
    flag: Arc<Flag>,
    waker: Waker,
    pub(super) over: Option<Result<(), Error>>,
    pub(super) parties: Vec<Party>,
    pong: Task,
    config: Config,
    fairness: Fairness,
    output: Shared,
    input: Shared,
    /// What parties that are gone sent beyond the capacity.
    beyond: usize,
    /// Messages of parties that are gone: what was sent.
    seen: Seen,
}

pub(super) struct World {
    dice: Dice,
    clock: Clock,
    pub(super) ends: [End; 2],
    probes: [Vec<Probe>; 2],
    shutting_down: bool,
    may_break: bool,
    crowd: usize,
    frozen: [bool; 2],
    steps: usize,
    /// What each end has sent on each stream, and whether it ended it undisturbed.
    messages: [HashMap<StreamId, (usize, bool)>; 2],
}

impl World {
    pub(super) fn new(seed: u64) -> World {
        let mut dice = Dice::new(seed);
        let crowd = match seed % 50 {
            0 => 1_000,
            1..4 => 200,
            4..20 => 4,
            20..30 => 1,
            _ => 40,
        };
        let timeouts = dice.once_in(4);
        let configs = [(); 2].map(|()| config(&mut dice, crowd, timeouts));
        let pipes = [Pipe::new(&mut dice), Pipe::new(&mut dice)];
        let mut world = World::with(dice, configs, pipes);
        world.crowd = crowd;
        world.may_break = timeouts;
        world
    }

    /// Windows are wide and the room is small: what everybody waits for is a grant.
    pub(super) fn short_of_room(seed: u64) -> World {
        let mut dice = Dice::new(seed);
        let configs = [(); 2].map(|()| {
            let mut config = audit::free_config();
            config.send_room = dice.pick(&[5_000, FLOOR, 50_000]);
            config.max_send_buffer_size = 400 << 10;
            config.initial_window_size = 1 << 30;
            config.initial_connection_window_size = Some(1 << 30);
            config.batch_size = dice.pick(&[1_000, 20_000]);
            config
        });
        let pipes = [Pipe::new(&mut dice), Pipe::new(&mut dice)];
        let mut world = World::with(dice, configs, pipes);
        world.crowd = 12;
        world
    }

    pub(super) fn with(mut dice: Dice, configs: [Config; 2], pipes: [Shared; 2]) -> World {
        probe::watch_births();
        let clock = Clock::stop();
        let [near, far] = pipes;
        let [client, server] = configs;
        let end = |role, config: Config, input: &Shared, output: &Shared, vectored| {
            let socket = Socket::new(input, output, vectored);
            End::new(role, config, socket, &clock, [input, output])
        };
        let client = end(Role::Client, client, &far, &near, dice.once_in(2));
        let server = end(Role::Server, server, &near, &far, dice.once_in(2));
        client.driver.hub().shared().add_requester();
        World {
            dice,
            clock,
            ends: [client, server],
            probes: [Vec::new(), Vec::new()],
            shutting_down: false,
            may_break: false,
            crowd: 1_000,
            frozen: [false; 2],
            steps: 0,
            messages: Default::default(),
        }
    }

    pub(super) fn operate(&mut self, op: Op) {
        self.dice = Dice::new(op.seed);
        self.steps += 1;
        let side = self.dice.roll(2);
        match op.kind {
            Kind::Open => self.open(),
            Kind::Push => self.push(),
            Kind::Accept => self.accept(),
            Kind::Produce => self.with_party(side, Party::produce),
            Kind::Consume => self.with_party(side, |party, dice| {
                let most = dice.pick(&[1, 1, 10]);
                let _ = (0..most).all(|_| party.consume());
            }),
            Kind::Release => self.with_party(side, |party, dice| {
                let most = if dice.once_in(2) { 1 } else { dice.size() };
                party.release(most);
            }),
            Kind::Run => self.run_woken(side),
            Kind::Wait => self.wait(side),
            Kind::Disturb => self.with_party(side, Party::disturb),
            Kind::Settings => self.change_settings(side),
            Kind::TargetWindow => {
                let size = 65_535 + self.dice.size() as u32;
                self.ends[side]
                    .driver
                    .command()
                    .user_set_target_window(size);
            }
            Kind::Prioritise => self.with_party(side, |party, dice| party.prioritise(dice)),
            Kind::Ping => self.ends[side].ping(),
            Kind::Shutdown | Kind::Abort => self.say_goodbye(op.kind, side),
            Kind::Elapse => {
                let time = Duration::from_millis(self.dice.roll(700) as u64);
                self.clock.advance(time);
            }
            Kind::Freeze => {
                self.frozen[side] ^= true;
                self.ends[side].input.borrow_mut().freeze(self.frozen[side]);
            }
            Kind::Turn => self.turn(side),
        }
        self.check();
    }

    // ---- what happens --------------------------------------------------------------------

    pub(super) fn open(&mut self) {
        if self.ends[0].parties.len() >= self.crowd {
            return;
        }
        for _ in 0..self.crowd.div_ceil(60) {
            let end = self.dice.roll(3) == 0;
            let request = Request::post("http://host/a/path").body(()).unwrap();
            let (parts, ()) = request.into_parts();
            let opened = self.ends[0].driver.hub().open_request(Box::new(parts), end);
            match opened {
                Ok((writer, reader)) => {
                    let party = Party::request(writer, reader, end);
                    self.ends[0].parties.push(party);
                }
                Err(_) => assert!(
                    self.shutting_down || self.may_break || self.ends[0].over.is_some(),
                    "a stream can be opened"
                ),
            }
        }
    }

    fn push(&mut self) {
        let (count, parents) = (self.ends[1].parties.len(), self.crowd / 2);
        if count == 0 || count >= self.crowd + parents {
            return;
        }
        let parent = self.ends[1].parties[self.dice.roll(count)].id;
        if !parent.is_client_initiated() {
            return;
        }
        let (parts, ()) = Request::get("http://host/pushed")
            .body(())
            .unwrap()
            .into_parts();
        let promised = self.ends[1]
            .driver
            .hub()
            .open_promise(parent, Box::new(parts));
        if let Ok(writer) = promised {
            self.ends[1].parties.push(Party::new(Some(writer), None));
        }
    }

    /// Takes one stream of the peer's, or all.
    fn accept(&mut self) {
        let most = if self.dice.once_in(3) { 1 } else { usize::MAX };
        for _ in 0..most {
            let Some(cell) = self.ends[1].driver.accept_now() else {
                return;
            };
            self.ends[1].welcome(&cell);
        }
    }

    fn with_party(&mut self, side: usize, act: impl FnOnce(&mut Party, &mut Dice)) {
        let parties = &mut self.ends[side].parties;
        if !parties.is_empty() {
            // The older ones more often: they come further.
            let pick = self.dice.roll(parties.len());
            let pick = self.dice.roll(pick + 1);
            act(&mut parties[pick], &mut self.dice);
        }
    }

    fn run_woken(&mut self, side: usize) {
        let end = &mut self.ends[side];
        if end.pong.is_woken() {
            end.poll_pong();
        }
        let most = 1 + self.dice.roll(4);
        let count = end.parties.len();
        let from = self.dice.roll(count.max(1));
        let mut ran = 0;
        for index in (from..count).chain(0..from) {
            if end.parties[index].is_woken() {
                let promise = end.parties[index].run_woken(&mut self.dice);
                end.parties.extend(promise.map(promised));
                ran += 1;
            }
            if ran == most {
                return;
            }
        }
    }

    fn wait(&mut self, side: usize) {
        let kind = self.dice.roll(3);
        let parties = &mut self.ends[side].parties;
        if parties.is_empty() {
            return;
        }
        let pick = self.dice.roll(parties.len());
        let promise = match kind {
            0 if side == 0 => {
                parties[pick].wait_for_slot();
                None
            }
            1 if side == 0 => parties[pick].take_promise(),
            _ => {
                parties[pick].watch_for_reset();
                None
            }
        };
        parties.extend(promise.map(promised));
    }

    fn change_settings(&mut self, side: usize) {
        let size = self.dice.size() as u32;
        let end = &mut self.ends[side];
        let most = end.config.max_concurrent_streams.unwrap_or(100);
        let entry = match self.dice.roll(4) {
            0 => Setting::MaxConcurrentStreams(1 + size % most),
            1 => Setting::MaxFrameSize(
                (16_384 + size).min(end.driver.connection().max_frame_size() as u32),
            ),
            2 => Setting::InitialWindowSize([0, 1, 1_000, 65_535, 200_000][size as usize % 5]),
            _ => Setting::InitialWindowSize(size),
        };
        audit::announce(end.driver.command(), entry);
    }

    fn say_goodbye(&mut self, kind: Kind, side: usize) {
        let connection = self.ends[side].driver.command();
        match kind {
            Kind::Shutdown if self.dice.once_in(3) => {
                self.shutting_down = true;
                connection.user_shutdown();
            }
            Kind::Abort if self.dice.once_in(6) => {
                self.may_break = true;
                connection.user_abort(Reason::ENHANCE_YOUR_CALM);
            }
            _ => {}
        }
    }

    /// One turn of this driver, if its task was woken; or of the other.
    fn turn(&mut self, side: usize) {
        if !self.ends[side].turn() {
            self.ends[1 - side].turn();
        }
    }

    // ---- what must hold ------------------------------------------------------------------

    pub(super) fn check(&mut self) {
        self.note_births();
        for side in 0..2 {
            let end = &mut self.ends[side];
            if let (Some(Err(error)), false) = (&end.over, self.may_break) {
                panic!("end {side} failed: {error}");
            }
            audit::check_streams(end.driver.connection());
            end.check_room();
            end.check_credit(&self.probes[side]);
            if !end.flag.is_set() && end.over.is_none() {
                end.check_asleep(side);
            }
            self.note_messages(side);
            self.probes[side].retain(|probe| !probe.is_last());
        }
    }

    fn note_births(&mut self) {
        for probe in probe::take_births() {
            let is_of = |end: &End| probe.is_of(end.driver.hub().shared());
            let side = self.ends.iter().position(is_of);
            self.probes[side.expect("of one of the two")].push(probe);
        }
    }

    /// Parties that nothing is left of go; what they sent is remembered.
    fn note_messages(&mut self, side: usize) {
        let messages = &mut self.messages[side];
        let seen = &mut self.ends[side].seen;
        let beyond = &mut self.ends[side].beyond;
        self.ends[side].parties.retain(|party| {
            if party.is_gone() {
                messages.insert(party.id, (party.sent, false));
                *beyond += party.beyond;
                let [producer, others] = party.tallies();
                seen.producers.add(producer);
                seen.others.add(others);
            }
            !party.is_gone()
        });
    }

    // ---- the end -------------------------------------------------------------------------

    /// Everybody finishes what they have begun, reads everything, and the ends fall silent.
    pub(super) fn finish(mut self) -> Seen {
        self.dice = Dice::new(1);
        for end in &self.ends {
            end.output.borrow_mut().open_wide();
        }
        self.run_until_all_sleep();
        self.check_finished();
        for end in &mut self.ends {
            end.parties.iter_mut().for_each(|party| {
                party.drop_writer();
                party.drop_reader();
            });
        }
        self.run_until_all_sleep();
        self.check_silent();
        self.ends[0].driver.hub().shared().drop_requester();
        self.run_until_all_sleep();
        for (side, end) in self.ends.iter().enumerate() {
            assert!(end.over.is_some(), "I7: end {side} never hears of the end");
        }
        self.seen()
    }

    fn run_until_all_sleep(&mut self) {
        for _ in 0..100_000 {
            let mut ran = false;
            for side in 0..2 {
                ran |= self.ends[side].turn();
                self.ends[side].widen();
                ran |= self.finish_parties(side);
            }
            while let Some(cell) = self.ends[1].driver.accept_now() {
                self.ends[1].welcome(&cell);
                ran = true;
            }
            self.check();
            if !ran && !self.ends.iter().any(End::is_awake) {
                return;
            }
        }
        self.report();
        panic!("I1: the ends never fall silent");
    }

    /// Whoever can go on does. Answers whether anybody could.
    fn finish_parties(&mut self, side: usize) -> bool {
        let end = &mut self.ends[side];
        let mut ran = end.pong.is_woken();
        if ran {
            end.poll_pong();
        }
        let mut promises = Vec::new();
        for party in &mut end.parties {
            ran |= party.is_woken();
            promises.extend(party.run_woken(&mut self.dice));
            promises.extend(std::iter::from_fn(|| party.take_promise()));
            party.finish(&mut self.dice);
            while party.consume() {
                ran = true;
            }
            party.release(usize::MAX);
        }
        ran |= !promises.is_empty();
        end.parties.extend(promises.into_iter().map(promised));
        ran
    }

    fn check_finished(&mut self) {
        for side in 0..2 {
            for party in &self.ends[side].parties {
                let is_read = party.complete || party.failed || !party.reads();
                if !is_read || party.producer.waits() {
                    self.report();
                    panic!("I1, I7: stream {:?} of end {side} waits for ever", party.id);
                }
                if party.complete && !self.may_break && !party.disturbed {
                    self.check_whole(side, party);
                }
            }
            let end = &self.ends[side];
            assert!(
                !end.pong.waits() || end.over.is_some(),
                "I7: a ping is never answered"
            );
        }
    }

    /// What came is what was sent.
    fn check_whole(&self, side: usize, party: &Party) {
        let far = &self.ends[1 - side].parties;
        let sent = far.iter().find(|far| far.id == party.id);
        if let Some(from) = sent.filter(|from| !from.disturbed && !from.stuck) {
            assert_eq!(party.received, from.sent, "a whole body is whole");
        }
        let gone = self.messages[1 - side].get(&party.id);
        let most = sent.map_or(0, |from| from.sent) + gone.map_or(0, |(sent, _)| *sent);
        assert!(party.received <= most, "I5: no byte comes twice");
    }

    fn check_silent(&self) {
        let running = self.ends.iter().all(|end| end.over.is_none());
        for side in 0..2 {
            let (end, other) = (&self.ends[side], &self.ends[1 - side]);
            let (from, to) = (end.driver.connection(), other.driver.connection());
            audit::check_silent(from);
            let shared = end.driver.hub().shared();
            assert_eq!(shared.room_used(), 0, "I4: all room is back");
            assert!(self.probes[side].is_empty(), "I4: cells are left");
            assert!(end.parties.is_empty(), "I4: senders are left");
            if running {
                assert_eq!(audit::held(from), 0, "I5: all credit is back");
                assert!(end.output.borrow().is_empty(), "I7: octets are left");
                let (left, expected) = audit::windows(from, to);
                assert_eq!(left, expected, "I5: both ends agree on the window");
            }
        }
    }

    pub(super) fn report(&self) {
        for (side, end) in self.ends.iter().enumerate() {
            println!("end {side}: over {:?}", end.over);
            println!("{:?}", end.driver.connection().stats());
            for party in &end.parties {
                println!("{}", party.report());
            }
            audit::report(end.driver.connection());
        }
    }

    fn seen(&self) -> Seen {
        let mut seen = Seen {
            steps: self.steps,
            ..Seen::default()
        };
        for end in &self.ends {
            seen.add(&end.seen);
            let stats = end.driver.connection().stats();
            seen.turns += stats.turns;
            seen.idle_turns += stats.idle_turns;
            seen.grants += stats.room_grants;
            seen.bytes += stats.data_sent;
            seen.streams += stats.streams_opened;
        }
        seen
    }
}

impl Seen {
    pub(super) fn add(&mut self, other: &Seen) {
        self.steps += other.steps;
        self.producers.add(other.producers);
        self.others.add(other.others);
        self.turns += other.turns;
        self.idle_turns += other.idle_turns;
        self.grants += other.grants;
        self.bytes += other.bytes;
        self.streams += other.streams;
    }
}

impl End {
    fn new(
        role: Role,
        config: Config,
        socket: Socket,
        clock: &Clock,
        [input, output]: [&Shared; 2],
    ) -> End {
        let mut driver = match role {
            Role::Client => Driver::client(socket, config.clone()),
            Role::Server => Driver::server(socket, config.clone()),
        };
        driver.set_timer(crate::driver::SharedTimer::new(clock.clone()));
        let flag = Arc::new(Flag::default());
        flag.set();
        End {
            driver,
            waker: Waker::from(Arc::clone(&flag)),
            flag,
            over: None,
            parties: Vec::new(),
            pong: Task::new(),
            config,
            fairness: Fairness::default(),
            output: Shared::clone(output),
            input: Shared::clone(input),
            beyond: 0,
            seen: Seen::default(),
        }
    }

    /// One turn, if the task was woken. Answers whether it was.
    pub(super) fn turn(&mut self) -> bool {
        if self.over.is_some() || !self.flag.take() {
            return false;
        }
        match self.driver.one_turn(&mut Context::from_waker(&self.waker)) {
            Next::Turn => self.flag.set(),
            Next::Sleep => {}
            Next::Over(result) => {
                if result.is_err() {
                    self.input.borrow_mut().drop_reader();
                }
                self.over = Some(result);
            }
        }
        self.fairness.check(self.driver.connection());
        true
    }

    fn is_awake(&self) -> bool {
        self.over.is_none() && self.flag.is_set()
    }

    /// A stream that the peer has opened gets its application.
    pub(super) fn welcome(&mut self, cell: &Cell<Load>) {
        let (writer, reader) = cell.handles();
        let _ = reader.take_request();
        self.parties.push(Party::answer(writer, reader));
    }

    fn ping(&mut self) {
        let asked = self.driver.hub().shared().send_ping([7; 8]);
        if asked.is_ok() {
            self.poll_pong();
        }
    }

    fn poll_pong(&mut self) {
        let shared = self.driver.hub().shared();
        let _: Poll<Result<(), Error>> = self.pong.poll(|cx| shared.poll_pong(cx));
    }

    /// A window of nothing would be a lawful stall.
    fn widen(&mut self) {
        if self.over.is_none() && self.driver.connection().initial_recv_window() < 65_535 {
            let _ = self.driver.command().user_set_initial_window(65_535);
        }
    }

    /// I3: what is buffered is what the room says, and no more than its bound.
    fn check_room(&mut self) {
        let mut above = 0;
        let mut excess = 0;
        for party in &mut self.parties {
            let Some(out) = &party.out else { continue };
            let producer = out.producer();
            above += producer.buffered.saturating_sub(FLOOR);
            party.excess = party.excess.min(producer.buffered);
            excess += party.excess;
        }
        let beyond: usize = self.parties.iter().map(|party| party.beyond).sum();
        assert_eq!(
            self.driver.stats().sent_beyond_capacity,
            (beyond + self.beyond) as u64,
            "I3: what is sent beyond the capacity is counted"
        );
        let used = self.driver.hub().shared().room_used();
        assert_eq!(used, above, "I3: room that is used is room that is full");
        assert!(
            used <= self.config.send_room + excess,
            "I3: {used} bytes, {excess} of them beyond the capacity"
        );
    }

    /// I5: what the connection has not got back is in a cell, or on its way. I7: nobody waits for
    /// what a cell has.
    fn check_credit(&self, probes: &[Probe]) {
        for probe in probes {
            let forgotten = probe.forgotten();
            assert!(forgotten.is_none(), "I7: {forgotten:?} of {:?}", probe.id());
        }
        if self.over.is_none() {
            let kept: usize = probes.iter().map(Probe::credit_out).sum();
            let gone = self.driver.hub().shared().credit_waiting();
            let held = audit::held(self.driver.connection());
            assert_eq!(held, kept + gone, "I5: credit");
        }
    }

    /// I1, I7: the task sleeps, so there is nothing for it to do.
    fn check_asleep(&mut self, side: usize) {
        let shared = self.driver.hub().shared();
        assert!(
            !shared.has_news() && !self.driver.hub().has_births(),
            "I7: end {side} sleeps while handles have news"
        );
        let is_awaited = shared.room_is_awaited();
        let takes_output = self.output.borrow().space() > 0;
        if takes_output {
            assert!(
                !self.driver.holds_output(),
                "I7: end {side} sleeps with output in hand"
            );
            audit::check_full(self.driver.connection(), 0, side);
        }
        let conn = self.driver.connection();
        assert!(
            !(self.input.borrow().is_readable() && conn.wants_read()),
            "I7: end {side} sleeps while there is something to read"
        );
        audit::check_room(conn);
        let waiting = conn.stats().waiting_for_room;
        assert!(
            waiting > 0 || !is_awaited,
            "I1: the flag stands and nobody waits"
        );
        for party in &self.parties {
            // Who stands in the list is woken by a grant, once enough of the room is free: `check_room`.
            let forgotten = !audit::stands_in_list(conn, party.id)
                && party
                    .out
                    .as_ref()
                    .is_some_and(|out| out.producer().is_forgotten);
            assert!(
                !forgotten,
                "I7: the producer of {:?} has capacity",
                party.id
            );
        }
    }
}

fn promised(promise: Promise) -> Party {
    Party::new(None, Some(promise.reader))
}

fn config(dice: &mut Dice, crowd: usize, timeouts: bool) -> Config {
    let mut config = audit::free_config();
    config.max_concurrent_streams = Some(1 + dice.roll(crowd / 4 + 1) as u32);
    config.send_room = dice.pick(&[0, 5_000, 50_000, 128 << 10]);
    config.frames_per_turn = dice.pick(&[1, 8, 256]);
    if timeouts {
        config.limits.stall_timeout = Some(Duration::from_secs(2));
    }
    // In every second world only the room is short.
    if dice.once_in(2) {
        config.max_send_buffer_size = 400 << 10;
        config.initial_window_size = 1_000_000;
    } else {
        config.max_send_buffer_size = dice.pick(&[1, 1_000, 20_000, 400 << 10]);
        config.initial_window_size = dice.pick(&[0, 1, 100, 65_535, 1_000_000]);
    }
    config.initial_connection_window_size = dice.pick(&[None, Some(65_535), Some(1 << 20)]);
    config.max_frame_size = dice.pick(&[None, Some(16_384), Some(100_000)]);
    config.batch_size = dice.pick(&[1, 1_000, 20_000, 65_536]);
    config
}
