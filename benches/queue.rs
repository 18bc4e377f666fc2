//! What does a stream cost that leaves the queue from its middle? Streams with DATA wait for the
//! connection's window; some in the middle are reset, with 10 to 100 000 in the queue. Counted are the
//! instructions, since time also tells how much of so many streams the caches of the machine hold.

mod support;

use std::collections::VecDeque;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use fairmux::{Reason, SendStream};
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

fn main() -> Result<ExitCode, Failure> {
    if !support::is_bench() {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(queued) = measure::alone() {
        Waiting::new(queued.parse()?).leave();
        return Ok(ExitCode::SUCCESS);
    }
    println!("  queued   ns of CPU   instructions   (of one stream that leaves from the middle)");
    let mut counts = Vec::new();
    for queued in QUEUED {
        let time = Waiting::new(queued).leave();
        let count = measure::instructions(&queued.to_string())?;
        let count = count.map(|count| count as f64 / (LEAVING * TURNS) as f64);
        let shown = count.map_or("-".into(), |count| format!("{count:.0}"));
        println!("{queued:>8}   {time:>9.0}   {shown:>12}");
        counts.extend(count);
    }
    let (Some(first), true) = (counts.first(), counts.len() == QUEUED.len()) else {
        println!("valgrind is not installed: no instructions counted");
        return Ok(ExitCode::SUCCESS);
    };
    let worst = counts.iter().copied().fold(0.0, f64::max) / first;
    let is_kept = measure::verdict("instructions, worst : 10 queued", worst, BOUND);
    Ok(ExitCode::from(u8::from(!is_kept)))
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
        // The allocator tidies up once after so much was set up, which is not what is asked.
        for _ in 0..WARM {
            self.turn(|work| work());
        }
        let mut time = Duration::ZERO;
        for _ in 0..TURNS {
            self.turn(|work| time += timed(work));
        }
        let stats = self.served.connection.stats();
        assert_eq!(stats.resets_sent, (LEAVING * (TURNS + WARM)) as u64);
        time.as_nanos() as f64 / (LEAVING * TURNS) as f64
    }

    fn turn(&mut self, measure: impl FnOnce(&mut dyn FnMut())) {
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
