//! An endpoint under attack: its socket, its tasks and its time are the test's, its memory is counted.

mod app;
mod clock;
mod seen;
mod tasks;
mod wire;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use fairmux::{client, server};

use crate::live_bytes;
use crate::support::{Code, ENHANCE_YOUR_CALM, Frame, headers, settings, settings_ack};

pub(crate) use app::App;
use clock::Clock;
use seen::Seen;
use tasks::Tasks;
pub(crate) use wire::Mode;
use wire::Socket;

pub(crate) type Requests = client::SendRequest<Bytes>;
/// Writes what is said in the round of this number.
pub(crate) type Round<'a> = &'a dyn Fn(usize, &mut Vec<u8>);
pub(crate) type Options = fn(&mut server::Builder);

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
pub(crate) const MODES: [Mode; 3] = [Mode::Free, Mode::Bytewise, Mode::Blocked];

/// One connection, seen from the attacker.
pub(crate) struct Target {
    socket: Socket,
    tasks: Tasks,
    clock: Clock,
    pub(crate) app: App,
    pub(crate) seen: Seen,
    /// What was allocated before there was a connection.
    base: isize,
    out: Vec<u8>,
}

/// # The beginning
impl Target {
    fn new(mode: Mode, tasks: Tasks, clock: Clock) -> Target {
        Target {
            socket: Socket::new(mode),
            tasks,
            clock,
            app: App::default(),
            seen: Seen::new(),
            base: 0,
            out: Vec::new(),
        }
    }

    /// A server with a connection that has begun.
    pub(crate) fn server(options: impl FnOnce(&mut server::Builder)) -> Target {
        Target::server_in(Mode::Free, options)
    }

    pub(crate) fn server_in(mode: Mode, options: impl FnOnce(&mut server::Builder)) -> Target {
        let mut target = Target::silent_server(mode, options);
        target.shake_hands(&settings());
        target.block(mode);
        target
    }

    /// A server whose client has not said anything.
    pub(crate) fn silent_server(mode: Mode, options: impl FnOnce(&mut server::Builder)) -> Target {
        let target = Target::new(mode, Tasks::default(), Clock::new());
        target.serve(options)
    }

    /// A connection to the same server on the same thread.
    pub(crate) fn beside(&self, options: impl FnOnce(&mut server::Builder)) -> Target {
        let target = Target::new(Mode::Free, self.tasks.clone(), self.clock.clone());
        let mut target = target.serve(options);
        target.shake_hands(&settings());
        target
    }

    fn serve(mut self, options: impl FnOnce(&mut server::Builder)) -> Target {
        let mut builder = server::Builder::new();
        builder.timer(self.clock.clone());
        options(&mut builder);
        self.base = live_bytes();
        self.app.serve(&builder, self.socket.clone(), &self.tasks);
        self.tasks.run();
        self
    }

    /// The client's beginning, with these SETTINGS.
    pub(crate) fn shake_hands(&mut self, first: &Frame) {
        self.socket.give(PREFACE);
        self.send(first);
        self.send(&settings_ack());
        self.run();
    }

    /// A client, and the way to ask for something.
    pub(crate) fn client(options: impl FnOnce(&mut client::Builder)) -> (Target, Requests) {
        let (mut target, requests) = Target::silent_client(options);
        target.send(&settings());
        target.send(&settings_ack());
        target.run();
        (target, requests)
    }

    /// A client whose server has not said anything.
    pub(crate) fn silent_client(options: impl FnOnce(&mut client::Builder)) -> (Target, Requests) {
        let mut target = Target::new(Mode::Free, Tasks::default(), Clock::new());
        let mut builder = client::Builder::new();
        builder.timer(target.clock.clone());
        options(&mut builder);
        target.base = live_bytes();
        let (socket, app) = (target.socket.clone(), target.app.clone());
        let shaken = Rc::new(RefCell::new(None));
        let (tasks, place) = (target.tasks.clone(), shaken.clone());
        target.tasks.spawn(async move {
            let (requests, connection) = builder.handshake::<_, Bytes>(socket).await.unwrap();
            *place.borrow_mut() = Some(requests);
            tasks.spawn(async move {
                let result = connection.await;
                *app.result.borrow_mut() = Some(result);
            });
        });
        target.tasks.run();
        let requests = shaken.take().unwrap();
        let mut wire = target.socket.0.borrow_mut();
        wire.output.drain(..PREFACE.len());
        drop(wire);
        (target, requests)
    }
}

/// # What the attacker does
impl Target {
    pub(crate) fn send(&mut self, frame: &Frame) {
        self.socket.give(&frame.encode());
    }

    pub(crate) fn send_raw(&mut self, octets: &[u8]) {
        self.socket.give(octets);
    }

    /// Lets everybody do all that they can do now, and hears what they say.
    pub(crate) fn run(&mut self) {
        self.tasks.run();
        self.listen();
    }

    /// Lets everybody run once. Whether there was somebody.
    pub(crate) fn round(&mut self) -> bool {
        let ran = self.tasks.round();
        self.listen();
        ran
    }

    /// Sends, and lets everybody run.
    pub(crate) fn say(&mut self, frame: &Frame) {
        self.send(frame);
        self.run();
    }

    /// Says what `round` writes, so many times, `batch` of them at once. How many it took until
    /// the connection was at its end, if it was.
    pub(crate) fn flood(&mut self, rounds: usize, batch: usize, round: Round<'_>) -> usize {
        let mut done = 0;
        while done < rounds && self.seen.go_away.is_none() && !self.is_stopped() {
            let next = rounds.min(done + batch);
            let mut out = std::mem::take(&mut self.out);
            (done..next).for_each(|number| round(number, &mut out));
            self.socket.give(&out);
            out.clear();
            self.out = out;
            self.run();
            done = next;
        }
        self.out = Vec::new();
        done
    }

    /// From now on it takes nothing, if that is the mode.
    pub(crate) fn block(&mut self, mode: Mode) {
        if mode == Mode::Blocked {
            self.take(Some(0));
        }
    }

    /// Lets so much of the endpoint's output through, and then no more; none: all of it.
    pub(crate) fn take(&mut self, octets: Option<usize>) {
        self.socket.take(octets);
        self.run();
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, duration: Duration) {
        let until = self.clock.in_a(duration);
        while !self.clock.step(until) {
            self.run();
        }
        self.run();
    }

    /// Begins a task of the endpoint's application.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + 'static) {
        self.tasks.spawn(work);
    }

    /// Hears what was said meanwhile.
    pub(crate) fn hear(&mut self) {
        self.listen();
    }

    fn listen(&mut self) {
        let output = std::mem::take(&mut self.socket.0.borrow_mut().output);
        self.seen.feed(&output);
    }
}

/// # What there is to measure
impl Target {
    /// Octets of memory that the connection, its streams and their handlers have.
    pub(crate) fn heap(&self) -> isize {
        let mut wire = self.socket.0.borrow_mut();
        wire.input.shrink_to_fit();
        let ours = wire.input.capacity() + wire.output.capacity();
        let ours = ours + self.seen.capacity() + self.out.capacity();
        live_bytes() - self.base - ours as isize
    }

    /// Octets that the endpoint has not read.
    pub(crate) fn unread(&self) -> usize {
        self.socket.0.borrow().input.len()
    }

    /// Whether it leaves much unread.
    pub(crate) fn is_stopped(&self) -> bool {
        self.unread() > 64 * 1024
    }

    /// Whether it has shut the socket down, or let go of it.
    pub(crate) fn is_over(&self) -> bool {
        self.socket.0.borrow().is_over || self.app.result.borrow().is_some()
    }

    /// The connection has ended with ENHANCE_YOUR_CALM, and says this.
    pub(crate) fn assert_calmed(&mut self, text: &str) {
        self.assert_gone(ENHANCE_YOUR_CALM, text);
    }

    /// The connection has ended with this code, and says this.
    pub(crate) fn assert_gone(&mut self, code: Code, text: &str) {
        let Some((said, why)) = self.seen.go_away.clone() else {
            panic!("no GOAWAY, {code:?} with {text} was expected");
        };
        assert_eq!(said, code, "{why}");
        assert!(why.contains(text), "{why:?} does not say {text}");
        assert!(self.is_over(), "it goes on after GOAWAY");
    }

    /// An exchange works. On a stream with this id.
    pub(crate) fn assert_alive(&mut self, id: u32) {
        let before = self.seen.ended;
        self.say(&get(id, "/"));
        let go_away = &self.seen.go_away;
        assert!(go_away.is_none(), "{go_away:?}");
        assert_eq!(self.seen.ended, before + 1, "an honest request is answered");
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // Tasks hold what holds them.
        self.app.release();
        self.tasks.clear();
    }
}

/// What came of a request.
pub(crate) type Asked = Rc<RefCell<Option<Result<u16, Option<Code>>>>>;

/// The client's application asks for `path`, until it is released.
pub(crate) fn ask(target: &mut Target, requests: &mut Requests, path: &str) -> Asked {
    let asked = Asked::default();
    let uri = format!("https://example.com{path}");
    let request = http::Request::get(uri).body(()).unwrap();
    let (sent, place, app) = (
        requests.send_request(request, true),
        asked.clone(),
        target.app.clone(),
    );
    target.spawn(async move {
        let code = |error: fairmux::Error| error.reason().map(|reason| Code(reason.into()));
        let (mut response, _) = match sent {
            Ok(handles) => handles,
            Err(error) => {
                *place.borrow_mut() = Some(Err(code(error)));
                return;
            }
        };
        let outcome = app.unless_released(&mut response).await;
        let outcome =
            outcome.map(|outcome| outcome.map(|head| head.status().as_u16()).map_err(code));
        *place.borrow_mut() = outcome;
    });
    target.run();
    asked
}

pub(crate) fn get(id: u32, path: &str) -> Frame {
    headers(id).request("GET", path).end_stream()
}

pub(crate) fn post(id: u32, path: &str) -> Frame {
    headers(id).request("POST", path)
}

/// The id of the client's stream number `number`, from 0.
pub(crate) fn id(number: usize) -> u32 {
    2 * number as u32 + 1
}

pub(crate) fn hardened(options: &mut server::Builder) {
    options.hardened();
}

pub(crate) fn default(_: &mut server::Builder) {}

/// The same again and again, from a fresh connection on.
pub(crate) struct Flood<'a> {
    pub(crate) prepare: &'a dyn Fn(&mut Target),
    pub(crate) round: Round<'a>,
    /// Rounds that are said at once.
    pub(crate) batch: usize,
}

impl<'a> Flood<'a> {
    pub(crate) fn new(round: Round<'a>) -> Flood<'a> {
        Flood {
            prepare: &|_| {},
            round,
            batch: 1,
        }
    }

    pub(crate) fn prepared(mut self, prepare: &'a dyn Fn(&mut Target)) -> Flood<'a> {
        self.prepare = prepare;
        self
    }

    pub(crate) fn at_once(mut self, batch: usize) -> Flood<'a> {
        self.batch = batch;
        self
    }

    /// In each mode of the socket it ends the connection, by this limit, after `at` rounds.
    ///
    /// Where nothing is taken the endpoint may stop to read first; what the flood is then is
    /// decided as soon as it goes on.
    pub(crate) fn is_calmed(&self, options: Options, limit: &str, at: usize) {
        self.leaves_others_their_turn(options, at);
        for mode in MODES {
            self.is_calmed_in(mode, options, limit, at);
        }
    }

    pub(crate) fn is_calmed_in(&self, mode: Mode, options: Options, limit: &str, at: usize) {
        let (mut target, rounds) = self.run(options, mode, at + self.batch + 1000);
        if mode == Mode::Blocked {
            target.take(None);
        } else {
            let range = at..at + self.batch;
            assert!(
                range.contains(&rounds),
                "{limit}, {mode:?}: {rounds} rounds, not {range:?}"
            );
        }
        target.assert_calmed(limit);
        assert_eq!(target.app.alive.get(), 0, "handlers of {limit}, {mode:?}");
    }

    /// All of it comes at once. Another connection on the same thread has its answer a few polls later.
    fn leaves_others_their_turn(&self, options: Options, rounds: usize) {
        let mut target = self.start(options, Mode::Free);
        let mut other = target.beside(options);
        let mut out = Vec::new();
        (0..rounds).for_each(|number| (self.round)(number, &mut out));
        target.send_raw(&out);
        other.send(&get(1, "/"));
        let polls = (0..).take_while(|_| other.seen.ended == 0 && other.round());
        let polls = polls.count();
        assert!(
            polls <= 3,
            "{polls} polls until another connection has its answer"
        );
    }

    /// It ends nothing in so many rounds.
    pub(crate) fn survives(&self, options: Options, rounds: usize) -> Target {
        let (target, done) = self.run(options, Mode::Free, rounds);
        assert_eq!((done, &target.seen.go_away), (rounds, &None));
        target
    }

    /// What a flood of so many rounds has left in memory between a tenth of them and the end.
    pub(crate) fn growth(&self, options: Options, mode: Mode, rounds: usize) -> isize {
        let mut target = self.start(options, mode);
        target.flood(rounds / 10, self.batch, self.round);
        let before = target.heap();
        let round = |number: usize, out: &mut Vec<u8>| (self.round)(rounds / 10 + number, out);
        target.flood(rounds - rounds / 10, self.batch, &round);
        target.heap() - before
    }

    fn run(&self, options: Options, mode: Mode, rounds: usize) -> (Target, usize) {
        let mut target = self.start(options, mode);
        let done = target.flood(rounds, self.batch, self.round);
        (target, done)
    }

    /// All is prepared, and then the socket blocks, if that is the mode.
    pub(crate) fn start(&self, options: Options, mode: Mode) -> Target {
        let before = if mode == Mode::Blocked {
            Mode::Free
        } else {
            mode
        };
        let mut target = Target::server_in(before, options);
        (self.prepare)(&mut target);
        target.block(mode);
        target
    }
}

/// The time that this thread has worked.
pub(crate) fn cpu(work: impl FnOnce()) -> Duration {
    let before = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    work();
    let after = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let nanos = (after.tv_sec - before.tv_sec) * 1_000_000_000 + after.tv_nsec - before.tv_nsec;
    Duration::from_nanos(nanos.try_into().unwrap_or(0))
}
