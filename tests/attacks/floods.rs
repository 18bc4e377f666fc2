//! Frames that cost next to nothing to send: many of them.

use crate::harness::{
    Flood, MODES, Mode, Options, Round, Target, cpu, default, get, hardened, id, post,
};
use crate::support::{
    FLOW_CONTROL_ERROR, PROTOCOL_ERROR, data, frame, kind, ping, priority, priority_update,
    setting, settings,
};

fn loose(options: &mut fairmux::server::Builder) {
    options
        .hardened()
        .max_unproductive_frames(u32::MAX, 0)
        .max_queued_replies(usize::MAX)
        .max_settings_entries(usize::MAX);
}

/// Growth of the heap that is no growth.
const NOISE: isize = 8 * 1024;

fn numbered_ping(number: usize, out: &mut Vec<u8>) {
    out.extend(ping((number as u64).to_be_bytes()).encode());
}

// 8. PINGs, and nobody who takes the answers.
pub(crate) fn ping_flood() {
    for options in [hardened as Options, default] {
        for mode in MODES {
            let mut target = Target::server_in(mode, options);
            let before = target.heap();
            let done = target.flood(50_000, 64, &numbered_ping);
            let kept = target.heap() - before;
            assert!(kept < 3 * NOISE, "{mode:?}: {kept} octets are kept");
            assert_eq!(target.is_stopped(), mode == Mode::Blocked, "{mode:?}");
            // All are answered, in the order in which they came.
            target.take(None);
            assert_eq!(target.seen.pongs, done as u64);
            target.assert_alive(1);
        }
    }
    let mut target = Target::server_in(Mode::Blocked, loose);
    let before = target.heap();
    target.flood(50_000, 64, &numbered_ping);
    let kept = target.heap() - before;
    assert_eq!(target.unread(), 0);
    assert!(
        kept > 400 * 1024,
        "the limit alone bounds them: {kept} octets"
    );
}

// 9. SETTINGS without end, with thousands of entries, or such that move all windows.
pub(crate) fn settings_flood() {
    let empty = |_: usize, out: &mut Vec<u8>| out.extend(settings().encode());
    let mut target = Target::server_in(Mode::Blocked, hardened);
    let before = target.heap();
    target.flood(50_000, 64, &empty);
    let kept = target.heap() - before;
    assert!(
        target.is_stopped() && kept < 3 * NOISE,
        "{kept} octets are kept"
    );
    let mut target = Target::server_in(Mode::Blocked, loose);
    target.flood(50_000, 64, &empty);
    assert_eq!(target.unread(), 0, "the limit alone stops it");
    let growth = Flood::new(&empty).growth(hardened, Mode::Free, 5000);
    assert!(growth < NOISE, "{growth} octets");

    let entries = |count| (0..count).fold(settings(), |frame, _| frame.set(0xf0f0, 1));
    for options in [hardened as Options, default] {
        let mut target = Target::server(options);
        target.say(&entries(32));
        target.assert_alive(1);
        target.say(&entries(33));
        target.assert_calmed("max_settings_entries");
    }
    let mut target = Target::server(loose);
    target.say(&entries(2400));
    target.assert_alive(1);

    let toggle = |number: usize, out: &mut Vec<u8>| {
        let size = if number % 2 == 0 { 0 } else { 1 };
        out.extend(settings().set(setting::INITIAL_WINDOW_SIZE, size).encode());
    };
    let open = |target: &mut Target| {
        target.send(&settings().set(setting::INITIAL_WINDOW_SIZE, 0));
        (0..100).for_each(|number| target.send(&get(id(number), "/flow/100000")));
        target.run();
    };
    Flood::new(&toggle)
        .prepared(&open)
        .is_calmed(hardened, "max_unproductive_frames", 1001);
    Flood::new(&toggle).prepared(&open).is_calmed_in(
        Mode::Free,
        default,
        "max_unproductive_frames",
        1001,
    );
    // Until then a change costs no more than ten requests, with a hundred streams that wait.
    let benign = cpu(|| {
        let mut target = Target::server(hardened);
        (0..900).for_each(|number| target.say(&get(id(number), "/")));
    });
    let mut target = Target::server(loose);
    open(&mut target);
    let toggles = cpu(|| {
        target.flood(900, 1, &toggle);
    });
    println!("  900 changes: {toggles:?}, 900 requests: {benign:?}");
    assert!(
        toggles < 10 * benign,
        "{toggles:?} for 900 changes, {benign:?} for 900 requests"
    );
    target.flood(2000, 1, &toggle);
    assert_eq!(target.seen.go_away, None, "the limit alone ends it");
}

// 11. PRIORITY and PRIORITY_UPDATE for streams that are not there: nothing is kept of them.
pub(crate) fn priority_flood() {
    let cycle = |number: usize, out: &mut Vec<u8>| {
        let (one, other) = (id(number % 1000), id((number + 1) % 1000));
        out.extend(priority(one, other).encode());
    };
    let idle = |number: usize, out: &mut Vec<u8>| out.extend(priority(id(number), 0).encode());
    let update = |number: usize, out: &mut Vec<u8>| {
        out.extend(priority_update(id(number % 50), "u=1").encode());
    };
    let rounds: [Round<'_>; 3] = [&cycle, &idle, &update];
    let pings = cpu(|| {
        Flood::new(&numbered_ping)
            .at_once(64)
            .survives(loose, 50_000);
    });
    for round in rounds {
        let flood = Flood::new(round);
        flood.is_calmed(hardened, "max_unproductive_frames", 10_001);
        flood.is_calmed_in(Mode::Free, default, "max_unproductive_frames", 10_001);
        let growth = Flood::new(round)
            .at_once(64)
            .growth(loose, Mode::Free, 50_000);
        assert!(growth < NOISE, "{growth} octets");
        let time = cpu(|| {
            Flood::new(round).at_once(64).survives(loose, 50_000);
        });
        println!("  50 000 of them: {time:?}, PINGs: {pings:?}");
        assert!(time < 10 * pings, "{time:?}, as many PINGs {pings:?}");
    }
    // Streams that are not there yet count as if they were.
    let rising = |number: usize, out: &mut Vec<u8>| {
        out.extend(priority_update(id(number), "u=1").encode());
    };
    let mut target = Target::server(hardened);
    assert_eq!(target.flood(1000, 1, &rising), 101);
    target.assert_gone(PROTOCOL_ERROR, "prioritized");
    let growth = Flood::new(&rising).growth(default, Mode::Free, 9000);
    assert!(growth < NOISE, "{growth} octets");
}

// 15. DATA with nothing in it.
pub(crate) fn empty_data() {
    let begin = |target: &mut Target| target.say(&post(1, "/read"));
    for nothing in [data(1, ""), data(1, "").padded(0), data(1, "").padded(255)] {
        let is_long = nothing.encode().len() > 100;
        let nothing = nothing.encode();
        let round = |_: usize, out: &mut Vec<u8>| out.extend(&nothing);
        let flood = Flood::new(&round).prepared(&begin);
        for options in [hardened as Options, default] {
            flood.is_calmed_in(Mode::Free, options, "max_unproductive_frames", 10_001);
            if is_long {
                // No credit leaves: whoever goes on breaks the rule of the window.
                let mut target = flood.start(options, Mode::Blocked);
                target.flood(1000, 1, &round);
                target.take(None);
                target.assert_gone(FLOW_CONTROL_ERROR, "window of the connection");
            } else {
                flood.is_calmed_in(Mode::Blocked, options, "max_unproductive_frames", 10_001);
            }
        }
        let mut target = flood.start(loose, Mode::Free);
        let polls = target.app.polls.get();
        target.flood(20_000, 1, &round);
        assert_eq!(target.seen.go_away, None, "the limit alone ends it");
        assert_eq!(
            target.app.polls.get(),
            polls,
            "nothing reaches the application"
        );
        let growth = flood.growth(loose, Mode::Free, 20_000);
        assert!(growth < NOISE, "{growth} octets");
    }
    // Small pieces of a live stream are none: the handler reads them as they come.
    let piece = |number: usize, out: &mut Vec<u8>| {
        out.extend(data(1, &[7; 200][..20 + number % 181]).encode());
    };
    let pieces = if cfg!(debug_assertions) {
        20_000
    } else {
        1_000_000
    };
    for batch in [1, 10] {
        let flood = Flood::new(&piece).prepared(&begin).at_once(batch);
        let target = flood.survives(hardened, pieces);
        assert!(target.app.read.get() > 100 * pieces);
    }
}

// 16. DATA of one octet, which nobody reads: it is joined, or it would cost fifty times its length.
pub(crate) fn tiny_data() {
    const WINDOW: usize = 65_535;
    let begin = |target: &mut Target| target.say(&post(1, "/hold"));
    let round = |_: usize, out: &mut Vec<u8>| out.extend(data(1, "x").encode());
    for options in [hardened as Options, default] {
        for (mode, batch) in [
            (Mode::Free, 1),
            (Mode::Free, 100),
            (Mode::Bytewise, 10),
            (Mode::Blocked, 100),
        ] {
            let mut target = Flood::new(&round).prepared(&begin).start(options, mode);
            let before = target.heap();
            target.flood(WINDOW, batch, &round);
            assert_eq!((target.unread(), &target.seen.go_away), (0, &None));
            let kept = target.heap() - before;
            println!("  {mode:?}, by {batch}: {kept} octets for a window of single octets");
            assert!(kept < 4 * 65_535, "{kept} octets");
        }
    }
    // Each piece comes between large frames: it must not keep the buffer of all of them.
    let between = frame(0xf0, 0, 0, [0; 16_384]).encode();
    for length in [1, 10, 63, 64, 100, 255, 256, 500, 1000, 2000, 4000] {
        let mut target = Target::server(loose);
        target.say(&post(1, "/hold"));
        let before = target.heap();
        let round = |_: usize, out: &mut Vec<u8>| {
            out.extend(data(1, vec![b'x'; length]).encode());
            out.extend(&between);
        };
        let pieces = (WINDOW / length).min(1500);
        target.flood(pieces, 1, &round);
        assert_eq!((target.unread(), &target.seen.go_away), (0, &None));
        let kept = target.heap() - before;
        println!("  {kept} octets for {pieces} pieces of {length}");
        assert!(
            kept < 6 * 65_535,
            "{kept} octets for {pieces} pieces of {length}"
        );
    }
    // On demand the frames have a price as well: each costs what it lacks of 256 octets.
    let strict: Options = |options| {
        options.hardened().data_frame_budget(25_600);
    };
    Flood::new(&round)
        .prepared(&begin)
        .is_calmed(strict, "too_many_data_frames", 25_600 / 255 + 1);
}

// 17. More padding than content.
pub(crate) fn padding() {
    let begin = |target: &mut Target| target.say(&post(1, "/read"));
    let round = |_: usize, out: &mut Vec<u8>| out.extend(data(1, "x").padded(255).encode());
    // Five windows and more: all of it counts, and comes back.
    const ROUNDS: usize = 1500;
    let target = Flood::new(&round)
        .prepared(&begin)
        .survives(hardened, ROUNDS);
    assert_eq!(target.app.read.get(), ROUNDS);
    let total = ROUNDS as u64 * 257;
    for credit in [target.seen.credit, target.seen.credit_of(1)] {
        assert!(
            credit <= total && credit + 65_535 >= total,
            "{credit} of {total} octets"
        );
    }
    // It counts while nobody reads, too: of the windows nothing is left for more.
    let mut target = Target::server(loose);
    target.say(&post(1, "/stuck"));
    let one = data(1, [0; 16_000]).padded(255);
    (0..4).for_each(|_| target.send(&one));
    target.say(&data(1, [0; 300]).padded(255));
    target.say(&data(1, [0; 1800]));
    assert_eq!(target.seen.resets(FLOW_CONTROL_ERROR), 0);
    for (says, has) in [(255, 254), (255, 0), (1, 0), (0, 0)] {
        let mut target = Target::server(hardened);
        target.say(&post(1, "/read"));
        target.say(&data(1, "").padded_badly(says, has));
        if says == 0 {
            target.assert_alive(3);
        } else {
            target.assert_gone(PROTOCOL_ERROR, "Padding must be shorter");
        }
    }
}

// 22. Frames of types that nobody knows.
pub(crate) fn unknown_frames() {
    for options in [hardened as Options, default] {
        let mut target = Target::server(options);
        for kind in (0x0a..=0xff).filter(|kind| *kind != kind::PRIORITY_UPDATE) {
            target.say(&frame(kind, 0xff, u32::from(kind) % 3, [0xaa; 40]));
        }
        target.assert_alive(1);
        target.send(&post(3, "/").no_end_headers());
        target.say(&frame(0xf0, 0, 3, [0; 40]));
        target.assert_gone(PROTOCOL_ERROR, "Nothing but CONTINUATION");
    }
    let unknown = |length: usize| {
        let frame = frame(0xf0, 0, 0, vec![0xaa; length]).encode();
        move |_: usize, out: &mut Vec<u8>| out.extend(&frame)
    };
    let short = unknown(10);
    Flood::new(&short).is_calmed(hardened, "max_unproductive_frames", 10_001);
    Flood::new(&short).is_calmed_in(Mode::Free, default, "max_unproductive_frames", 10_001);
    Flood::new(&short).survives(loose, 20_000);
    let long = unknown(16_384);
    for mode in MODES {
        let rounds = if mode == Mode::Bytewise { 20 } else { 2000 };
        let growth = Flood::new(&long).growth(loose, mode, rounds);
        assert!(growth < NOISE, "{mode:?}: {growth} octets");
    }
}

// 33. Frames that never end, from one connection: others have their turn, and so has what it asked for.
pub(crate) fn reading_starves_writing() {
    const FRAMES: usize = 200_000;
    let read_before_answers = |options: Options| {
        let mut target = Target::server(options);
        let mut other = target.beside(options);
        other.send(&get(1, "/"));
        target.send(&get(1, "/"));
        (0..FRAMES).for_each(|_| target.send(&priority(5, 3)));
        let all = target.unread();
        let read = |target: &Target| (all - target.unread()) / 14;
        let (mut own, mut others) = (None, None);
        while own.is_none() || others.is_none() {
            assert!(target.round());
            other.hear();
            own = own.or((target.seen.ended > 0).then(|| read(&target)));
            others = others.or((other.seen.ended > 0).then(|| read(&target)));
        }
        (own.unwrap_or(0), others.unwrap_or(0))
    };
    let few: Options = |options| {
        loose(options);
    };
    let (own, others) = read_before_answers(few);
    println!("  {own} frames were read before its own answer, {others} before that of others");
    // A poll has 16 turns of 256 frames, and one buffer is read ahead.
    assert!(own <= FRAMES / 5 && others <= FRAMES / 5);
    let (own, others) = read_before_answers(|options| {
        loose(options);
        options.frames_per_turn(usize::MAX);
    });
    assert!(
        own.max(others) > FRAMES / 2,
        "the limit alone shares: {own}, {others}"
    );
}
