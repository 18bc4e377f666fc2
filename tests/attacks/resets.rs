//! Streams that end early: resets that come, and resets that are provoked.

use crate::harness::{Flood, Mode, Options, Target, default, get, hardened, id, post};
use crate::support::{
    CANCEL, Frame, data, frame, headers, kind, ping, priority, reset, window_update,
};

/// Streams that may be reset and still held by the application.
const MOST_HELD: usize = 100 + 25;
/// Growth of the heap that is no growth: tables find their size.
const NOISE: isize = 8 * 1024;
/// Rounds of a long load.
const LOAD: usize = if cfg!(debug_assertions) {
    30_000
} else {
    2_000_000
};

fn loose(options: &mut fairmux::server::Builder) {
    options
        .hardened()
        .max_early_resets(u32::MAX, 0)
        .max_faults(u32::MAX, 0)
        .max_local_error_reset_streams(None)
        .max_unproductive_frames(u32::MAX, 0)
        .max_pending_accept_reset_streams(usize::MAX);
}

fn write(out: &mut Vec<u8>, frame: &Frame) {
    out.extend(frame.encode());
}

/// What comes apart: a round says one of them.
fn apart(
    first: impl Fn(u32) -> Frame,
    second: impl Fn(u32) -> Frame,
) -> impl Fn(usize, &mut Vec<u8>) {
    move |number, out| {
        let stream = id(number / 2);
        write(
            out,
            &if number % 2 == 0 {
                first(stream)
            } else {
                second(stream)
            },
        );
    }
}

/// What comes together, so that the application never sees the stream.
fn together(
    first: impl Fn(u32) -> Frame,
    second: impl Fn(u32) -> Frame,
) -> impl Fn(usize, &mut Vec<u8>) {
    move |number, out| {
        write(out, &first(id(number)));
        write(out, &second(id(number)));
    }
}

// 1. A stream is opened and reset at once, again and again: who does the work pays, not who asks.
pub(crate) fn rapid_reset() {
    let cancel = |id| reset(id, CANCEL);
    let (held, stuck) = (|id| get(id, "/hold"), |id| get(id, "/stuck"));
    let (one_by_one, at_once) = (apart(held, cancel), together(held, cancel));
    for (options, burst) in [(hardened as Options, 200), (default, 1000)] {
        Flood::new(&one_by_one).is_calmed(options, "max_early_resets", 2 * burst + 2);
        Flood::new(&at_once).is_calmed(options, "max_early_resets", burst + 1);
        let many = Flood::new(&at_once).at_once(64);
        many.is_calmed(options, "too_many_resets", 64);
    }
    let target = Flood::new(&one_by_one).survives(loose, 8000);
    assert_eq!(target.app.requests.get(), 4000, "the limit alone ends it");
    Flood::new(&at_once).at_once(64).survives(loose, 4000);

    // Handlers that do not notice: so many are alive, and no more are begun.
    let stuck = apart(stuck, cancel);
    let target = Flood::new(&stuck).survives(loose, 2000);
    assert_eq!(target.app.most_alive.get(), MOST_HELD);
    let many: Options = |options| {
        loose(options);
        options.max_concurrent_streams(10_000);
    };
    let target = Flood::new(&stuck).survives(many, 2000);
    let most = target.app.most_alive.get();
    assert_eq!(most, 1000, "the limit on streams alone bounds them");

    let growth = Flood::new(&one_by_one).growth(loose, Mode::Free, LOAD);
    assert!(growth < NOISE, "{growth} octets");

    // Who cancels a tenth of ten thousand requests is no attacker.
    let tenth = |id: u32| if id % 20 == 1 { "/hold" } else { "/" };
    let honest = apart(
        |id| get(id, tenth(id)),
        |id| {
            if tenth(id) == "/" {
                ping([0; 8]).ack()
            } else {
                reset(id, CANCEL)
            }
        },
    );
    let target = Flood::new(&honest).survives(hardened, 20_000);
    assert_eq!(target.seen.ended, 9000);
}

// 2. The peer breaks a rule so that the server resets the stream: six ways, one price.
pub(crate) fn made_you_reset() {
    type Provoke = fn(u32) -> Frame;
    let ways: [(&str, Provoke); 6] = [
        ("WINDOW_UPDATE of 0", |id| window_update(id, 0)),
        ("a window above 2^31 - 1", |id| {
            window_update(id, 0x7fff_ffff)
        }),
        ("PRIORITY of six octets", |id| {
            frame(kind::PRIORITY, 0, id, [0; 6])
        }),
        ("PRIORITY of four octets", |id| {
            frame(kind::PRIORITY, 0, id, [0; 4])
        }),
        ("HEADERS after the end", |id| {
            headers(id).field("a", "b").end_stream()
        }),
        ("DATA after the end", |id| data(id, "x")),
    ];
    for (name, provoke) in ways {
        println!("  {name}");
        let held = apart(|id| get(id, "/hold"), provoke);
        let flood = Flood::new(&held);
        flood.is_calmed(hardened, "max_faults", 402);
        flood.is_calmed_in(Mode::Free, default, "max_faults", 2002);
        let target = flood.survives(loose, 4000);
        assert_eq!(target.app.requests.get(), 2000, "the limit alone ends it");
        let growth = flood.growth(loose, Mode::Free, LOAD / 5);
        assert!(growth < NOISE, "{growth} octets");

        let stuck = apart(|id| get(id, "/stuck"), provoke);
        let target = Flood::new(&stuck).survives(loose, 2000);
        assert_eq!(target.app.most_alive.get(), MOST_HELD, "{name}");
    }
    // A stream that depends on itself was a fault once. Now nobody looks.
    let itself = apart(|id| get(id, "/"), |id| priority(id, id));
    let target = Flood::new(&itself).survives(hardened, 2000);
    assert_eq!(target.seen.ended, 1000);
}

// 10. Frames that must be answered with RST_STREAM, while nobody takes the answers.
pub(crate) fn reset_flood() {
    let malformed = |number: usize, out: &mut Vec<u8>| {
        write(out, &headers(id(number)).field("A", "b").end_stream());
    };
    let flood = Flood::new(&malformed);
    flood.is_calmed(hardened, "max_faults", 201);
    flood.is_calmed_in(Mode::Free, default, "max_faults", 1001);
    // Nothing is taken: it reads no further, and keeps no more.
    let kept = |options: Options| {
        let mut target = flood.start(options, Mode::Blocked);
        let before = target.heap();
        target.flood(50_000, 64, &malformed);
        (target.is_stopped(), target.heap() - before)
    };
    let (stopped, octets) = kept(loose);
    assert!(stopped && octets < 24 * 1024, "{octets} octets are kept");
    let (stopped, octets) = kept(|options| {
        loose(options);
        options.max_queued_replies(usize::MAX);
    });
    assert!(
        !stopped && octets > 400 * 1024,
        "the limit alone bounds them: {octets} octets"
    );

    // What comes for a stream that was reset, whether its RST_STREAM has left or not.
    let begin = |target: &mut Target| target.say(&post(1, "/hold"));
    for late in [data(1, ""), headers(1).field("A", "b")] {
        let round = |number: usize, out: &mut Vec<u8>| match number {
            // Where nothing is taken, the answer to this is in hand and RST_STREAM waits behind it.
            0 => write(out, &ping([0; 8])),
            1 => write(out, &window_update(1, 0)),
            _ => write(out, &late),
        };
        let flood = Flood::new(&round).prepared(&begin);
        flood.is_calmed(hardened, "max_unproductive_frames", 10_003);
        flood.is_calmed_in(Mode::Free, default, "max_unproductive_frames", 10_003);
        let growth = flood.growth(loose, Mode::Blocked, 20_000);
        assert!(growth < NOISE, "{growth} octets");
    }
    // And for one that ended long ago.
    let begin = |target: &mut Target| target.say(&get(1, "/"));
    let round = |_: usize, out: &mut Vec<u8>| write(out, &data(1, ""));
    Flood::new(&round)
        .prepared(&begin)
        .is_calmed(hardened, "max_unproductive_frames", 10_002);
}
