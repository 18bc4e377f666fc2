//! Does a stream that has nothing to send cost those that have? CPU per DATA frame with ten busy
//! streams alone, and with ten busy ones among 10 000 idle ones. The bound is 10 % more.

mod support;

use std::process::ExitCode;

use bytes::Bytes;
use fairmux::SendStream;
use http::Response;

use support::measure::{self, timed};
use support::script::{Asked, Script, Served};
use support::{Failure, wire};

const IDLE: usize = 10_000;
const BUSY: usize = 10;
/// Large enough to be referred to and not copied.
const PIECE: usize = 4096;
const ROUNDS: usize = 15;
/// Frames of one stream in one round.
const FRAMES: usize = 2_000;
const BOUND: f64 = 1.10;

static PAGE: [u8; PIECE] = [7; PIECE];

fn main() -> Result<ExitCode, Failure> {
    if !support::is_bench() {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(idle) = measure::alone() {
        Load::new(idle.parse()?).round();
        return Ok(ExitCode::SUCCESS);
    }
    let is_kept = by_time() & by_instructions()?;
    Ok(ExitCode::from(u8::from(!is_kept)))
}

/// In turn with each other, so that both meet the same machine.
fn by_time() -> bool {
    let (mut few, mut many) = (Load::new(0), Load::new(IDLE));
    let (mut few_costs, mut ratios) = (Vec::new(), Vec::new());
    few.round();
    many.round();
    for _ in 0..ROUNDS {
        let alone = few.round();
        few_costs.push(alone);
        ratios.push(many.round() / alone);
    }
    let (cost, ratio) = (measure::median(few_costs), measure::median(ratios));
    println!("{BUSY} busy streams alone: {cost:.0} ns of CPU a frame");
    println!("with {IDLE} idle ones: {:.0} ns", cost * ratio);
    measure::verdict("CPU per frame, many : few", ratio, BOUND)
}

fn by_instructions() -> Result<bool, Failure> {
    let counts = (
        measure::instructions("0")?,
        measure::instructions(&IDLE.to_string())?,
    );
    let (Some(few), Some(many)) = counts else {
        println!("valgrind is not installed: no instructions counted");
        return Ok(true);
    };
    let per_frame = |count: u64| count as f64 / (BUSY * FRAMES) as f64;
    println!("alone: {:.0} instructions a frame", per_frame(few));
    println!("with {IDLE} idle ones: {:.0}", per_frame(many));
    let ratio = many as f64 / few as f64;
    Ok(measure::verdict("instructions, many : few", ratio, BOUND))
}

/// A connection with busy streams, spread among idle ones.
struct Load {
    served: Served,
    busy: Vec<SendStream<Bytes>>,
    _idle: Vec<Asked>,
}

impl Load {
    fn new(idle: usize) -> Load {
        let mut served = Served::new(Script::default(), wire::WIDE, wire::WIDE);
        let mut requests = Vec::new();
        for stream in 0..idle + BUSY {
            let id = 1 + 2 * stream as u32;
            requests.extend(wire::request(id, wire::Method::Get, "/"));
        }
        served.script.say(requests);
        let (mut busy, mut rest) = (Vec::new(), Vec::new());
        for (at, (request, mut respond)) in served.run().into_iter().enumerate() {
            if at % (idle / BUSY + 1) == 0 && busy.len() < BUSY {
                let stream = respond.send_response(Response::new(()), false);
                busy.push(stream.expect("the stream is open"));
            } else {
                rest.push((request, respond));
            }
        }
        assert_eq!((busy.len(), rest.len()), (BUSY, idle));
        Load {
            served,
            busy,
            _idle: rest,
        }
    }

    /// Sends, and answers the nanoseconds of CPU that a frame took.
    fn round(&mut self) -> f64 {
        // What is sent in this round, back into the window of the connection, and of each stream.
        let bytes = (FRAMES * PIECE) as u32;
        if self.served.connection.stats().data_sent > 0 {
            self.served
                .script
                .say(wire::window_update(0, bytes * BUSY as u32));
            for stream in &self.busy {
                let id = stream.stream_id().as_u32();
                self.served.script.say(wire::window_update(id, bytes));
            }
            self.served.run();
        }
        let before = self.served.connection.stats().data_frames_sent;
        let time = timed(&mut || {
            for _ in 0..FRAMES {
                for stream in &mut self.busy {
                    let piece = Bytes::from_static(&PAGE);
                    stream.send_data(piece, false).expect("the stream is open");
                }
                self.served.turn();
            }
        });
        let frames = self.served.connection.stats().data_frames_sent - before;
        assert_eq!(frames, (BUSY * FRAMES) as u64, "each piece became a frame");
        time.as_nanos() as f64 / frames as f64
    }
}
