//! What does a stream cost that leaves a queue, with 10 to 100 000 in it?
//!
//! - From its middle: streams with DATA wait for the connection's window, and some of them are reset.
//! - At its head: producers wait for send room, and those that hold it are reset, so that as many of
//!   the others are resumed.
//!
//! Counted are the instructions, since time also tells how much of so many streams the caches of the
//! machine hold.

mod support;

use std::collections::VecDeque;
use std::process::ExitCode;
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::Bytes;
use fairmux::{Reason, SendStream, server};
use http::Response;

use support::measure::{self, timed};
use support::script::{Script, Served};
use support::{Failure, wire};

const QUEUED: [usize; 5] = [10, 100, 1_000, 10_000, 100_000];
/// Streams that leave in one turn.
const LEAVING: usize = 5;
const TURNS: usize = 400;
const WARM: usize = 100;
const BOUND: f64 = 1.10;

static PAGE: [u8; 4096] = [7; 4096];

/// Streams that hold all of the room, a quantum each.
const HOLDERS: usize = 4;
const QUANTUM: usize = 16 * 1024;

static QUANTUM_OF_BYTES: [u8; QUANTUM] = [7; QUANTUM];

fn main() -> Result<ExitCode, Failure> {
    if !support::is_bench() {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(work) = measure::alone() {
        let (what, queued) = work.split_once(' ').ok_or("what, and how many?")?;
        run(what, queued.parse()?);
        return Ok(ExitCode::SUCCESS);
    }
    let leaves = flat("leave", "of one stream that leaves from the middle")?;
    let resumes = flat("resume", "of one end that resumes one that waits for room")?;
    Ok(ExitCode::from(u8::from(!(leaves && resumes))))
}

/// Nanoseconds of one.
fn run(what: &str, queued: usize) -> f64 {
    match what {
        "leave" => Waiting::new(queued).leave(),
        _ => Asking::new(queued).resume(),
    }
}

/// Whether it costs the same, however many are queued.
fn flat(what: &str, explained: &str) -> Result<bool, Failure> {
    println!("  queued   ns of CPU   instructions   ({explained})");
    let mut counts = Vec::new();
    for queued in QUEUED {
        let time = run(what, queued);
        let count = measure::instructions(&format!("{what} {queued}"))?;
        let each = if what == "leave" { LEAVING } else { HOLDERS };
        let count = count.map(|count| count as f64 / (each * TURNS) as f64);
        let shown = count.map_or("-".into(), |count| format!("{count:.0}"));
        println!("{queued:>8}   {time:>9.0}   {shown:>12}");
        counts.extend(count);
    }
    let (Some(first), true) = (counts.first(), counts.len() == QUEUED.len()) else {
        println!("valgrind is not installed: no instructions counted");
        return Ok(true);
    };
    let worst = counts.iter().copied().fold(0.0, f64::max) / first;
    Ok(measure::verdict(
        "instructions, worst : 10 queued",
        worst,
        BOUND,
    ))
}

/// What does a piece of work, and looks at its time.
type Measure<'a> = &'a mut dyn FnMut(&mut dyn FnMut());

/// The time of the work in all turns, once some have gone before: the allocator tidies up once after
/// so much was set up, which is not what is asked.
fn of_turns(mut turn: impl FnMut(Measure<'_>)) -> Duration {
    for _ in 0..WARM {
        turn(&mut |work| work());
    }
    let mut time = Duration::ZERO;
    for _ in 0..TURNS {
        turn(&mut |work| time += timed(work));
    }
    time
}

/// A connection whose window is closed, and the streams that wait for it.
struct Waiting {
    served: Served,
    streams: VecDeque<SendStream<Bytes>>,
    queued: usize,
    next_id: u32,
}

impl Waiting {
    fn new(queued: usize) -> Waiting {
        let served = Served::new(Script::default(), wire::WIDE, 65_535);
        let mut waiting = Waiting {
            served,
            streams: VecDeque::new(),
            queued,
            next_id: 1,
        };
        // One stream uses up the window and stays the first of those that wait.
        waiting.open(1, 65_536);
        waiting.queued = queued;
        waiting.refill();
        let stats = waiting.served.connection.stats();
        assert_eq!(stats.waiting_for_turn + stats.waiting_for_credit, queued);
        waiting
    }

    /// Resets streams in the middle, and lets others come. Answers nanoseconds for one reset.
    fn leave(&mut self) -> f64 {
        let time = of_turns(|measure| self.turn(measure));
        let stats = self.served.connection.stats();
        assert_eq!(stats.resets_sent, (LEAVING * (TURNS + WARM)) as u64);
        time.as_nanos() as f64 / (LEAVING * TURNS) as f64
    }

    fn turn(&mut self, measure: Measure<'_>) {
        self.refill();
        let middle = self.streams.len() / 2 - LEAVING / 2;
        let mut leaving: Vec<_> = self.streams.drain(middle..middle + LEAVING).collect();
        measure(&mut || {
            for stream in &mut leaving {
                stream.send_reset(Reason::CANCEL);
            }
            self.served.turn();
        });
    }

    fn refill(&mut self) {
        let missing = self.queued - self.streams.len();
        self.open(missing, PAGE.len());
    }

    fn open(&mut self, count: usize, length: usize) {
        let mut requests = Vec::new();
        for _ in 0..count {
            requests.extend(wire::request(self.next_id, wire::Method::Get, "/"));
            self.next_id += 2;
        }
        self.served.script.say(requests);
        for (_, mut respond) in self.served.run() {
            let stream = respond.send_response(Response::new(()), false);
            let mut stream = stream.expect("the stream is open");
            let body = match length {
                4096 => Bytes::from_static(&PAGE),
                _ => Bytes::from(vec![7; length]),
            };
            stream.send_data(body, true).expect("the stream is open");
            self.streams.push_back(stream);
        }
        self.served.run();
    }
}

/// A connection whose room is full, and the streams that wait for some: the first of them hold all
/// of it, the others have used what is theirs in any case.
struct Asking {
    served: Served,
    /// It has used up the window, so nothing leaves.
    _stopper: SendStream<Bytes>,
    streams: VecDeque<SendStream<Bytes>>,
    next_id: u32,
}

impl Asking {
    fn new(queued: usize) -> Asking {
        let mut builder = server::Builder::new();
        builder.send_room(HOLDERS * QUANTUM);
        let mut served = Served::with(&builder, Script::default(), (wire::WIDE, 65_535));
        served.script.say(wire::request(1, wire::Method::Get, "/"));
        let (_, mut respond) = served.run().remove(0);
        let stopper = respond.send_response(Response::new(()), false);
        let mut stopper = stopper.expect("the stream is open");
        let body = Bytes::from(vec![7; 65_536]);
        stopper.send_data(body, true).expect("the stream is open");
        served.run();
        let mut asking = Asking {
            served,
            _stopper: stopper,
            streams: VecDeque::new(),
            next_id: 3,
        };
        asking.open(HOLDERS + queued);
        asking
    }

    /// Those that hold the room are reset, and the next that wait are granted it. Answers
    /// nanoseconds for one of them.
    fn resume(&mut self) -> f64 {
        let time = of_turns(|measure| self.turn(measure));
        let stats = self.served.connection.stats();
        assert_eq!(stats.resumed_by_end, (HOLDERS * (TURNS + WARM)) as u64);
        time.as_nanos() as f64 / (HOLDERS * TURNS) as f64
    }

    fn turn(&mut self, measure: Measure<'_>) {
        let mut leaving: Vec<_> = self.streams.drain(..HOLDERS).collect();
        measure(&mut || {
            for stream in &mut leaving {
                stream.send_reset(Reason::CANCEL);
            }
            self.served.turn();
        });
        self.hold();
        self.open(HOLDERS);
    }

    /// The first in the queue use what room there is.
    fn hold(&mut self) {
        for stream in self.streams.iter_mut().take(HOLDERS) {
            let body = Bytes::from_static(&QUANTUM_OF_BYTES);
            stream.send_data(body, false).expect("the stream is open");
        }
        self.served.run();
    }

    fn open(&mut self, count: usize) {
        let mut requests = Vec::new();
        for _ in 0..count {
            requests.extend(wire::request(self.next_id, wire::Method::Get, "/"));
            self.next_id += 2;
        }
        self.served.script.say(requests);
        let is_first = self.streams.is_empty();
        for (_, mut respond) in self.served.run() {
            let stream = respond.send_response(Response::new(()), false);
            let mut stream = stream.expect("the stream is open");
            let body = Bytes::from_static(&QUANTUM_OF_BYTES);
            stream.send_data(body, false).expect("the stream is open");
            self.streams.push_back(stream);
        }
        if is_first {
            self.hold();
        }
        let after = if is_first {
            HOLDERS
        } else {
            self.streams.len() - count
        };
        for stream in self.streams.iter_mut().skip(after) {
            stream.reserve_capacity(1);
            let mut cx = Context::from_waker(Waker::noop());
            assert!(stream.poll_capacity(&mut cx).is_pending());
        }
        self.served.run();
        let stats = self.served.connection.stats();
        assert_eq!(stats.waiting_for_room, self.streams.len() - HOLDERS);
    }
}
