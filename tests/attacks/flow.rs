//! Flow control turned against who keeps to it: credit in drops, none, too much; output that nobody takes.

use std::time::Duration;

use crate::harness::{Flood, Mode, Options, Target, cpu, default, get, hardened, id, post};
use crate::support::{
    CANCEL, FLOW_CONTROL_ERROR, Frame, data, kind, ping, reset, setting, settings, window_update,
};

const SECOND: Duration = Duration::from_secs(1);
/// The protocol's own window.
const WINDOW: u64 = 65_535;
/// What a stream may have buffered, whatever the others do.
const FLOOR: isize = 16 * 1024;
/// Growth of the heap that is no growth.
const NOISE: isize = 8 * 1024;

fn loose(options: &mut fairmux::server::Builder) {
    options
        .hardened()
        .max_unproductive_frames(u32::MAX, 0)
        .max_early_resets(u32::MAX, 0)
        .max_faults(u32::MAX, 0);
}

fn patient(options: &mut fairmux::server::Builder) {
    options
        .hardened()
        .stream_stall_timeout(None)
        .connection_stall_timeout(None);
}

fn initial_window(size: u32) -> Frame {
    settings().set(setting::INITIAL_WINDOW_SIZE, size)
}

/// Streams with a large answer, and this window for each.
fn downloads(target: &mut Target, window: u32, streams: usize) {
    target.send(&initial_window(window));
    target.send(&window_update(0, 0x7fff_0000));
    (0..streams).for_each(|number| target.send(&get(id(number), "/flow/4000000")));
    target.run();
}

// 12. Windows of one octet, opened octet by octet.
pub(crate) fn data_dribble() {
    let open = |target: &mut Target| downloads(target, 1, 100);
    let drop = |number: usize, out: &mut Vec<u8>| {
        out.extend(window_update(id(number % 100), 1).encode());
    };
    for options in [hardened as Options, default] {
        let mut target = Flood::new(&drop).prepared(&open).survives(options, 20_000);
        assert_eq!(
            (target.seen.data, target.seen.frames(kind::DATA)),
            (20_100, 20_100)
        );
        // A chunk in the hand of each handler, and as much buffered.
        let kept = target.heap();
        assert!(kept < 2 * 100 * FLOOR, "{kept} octets");
        // Another connection has its answer in the next round but one.
        let mut other = target.beside(options);
        (0..1000).for_each(|number| target.send(&window_update(id(number % 100), 1)));
        other.send(&get(1, "/"));
        let rounds = (0..)
            .take_while(|_| other.seen.ended == 0 && other.round())
            .count();
        assert!(rounds <= 3, "{rounds} rounds");
    }
    let growth = Flood::new(&drop)
        .prepared(&open)
        .growth(hardened, Mode::Free, 20_000);
    assert!(growth < NOISE, "{growth} octets");
    // Each costs about what a PING and its answer do.
    let dribble = cpu(|| {
        Flood::new(&drop).prepared(&open).survives(hardened, 20_000);
    });
    let asks = |number: usize, out: &mut Vec<u8>| {
        out.extend(ping((number as u64).to_be_bytes()).encode());
    };
    let pings = cpu(|| {
        Flood::new(&asks).prepared(&open).survives(hardened, 20_000);
    });
    println!("  20 000 updates: {dribble:?}, PINGs: {pings:?}");
    assert!(dribble < 10 * pings, "{dribble:?}, as many PINGs {pings:?}");
    // An octet a second on each stream is no progress.
    stalls(1, |target, _| {
        (0..100).for_each(|number| target.send(&window_update(id(number), 1)))
    });
}

/// What the attacker does each second ends all streams with CANCEL, soon after the time limit, and only
/// because of it.
fn stalls(window: u32, each_second: impl Fn(&mut Target, usize)) {
    let wait = |options: Options, seconds: usize| {
        let mut target = Target::server(options);
        downloads(&mut target, window, 100);
        let before = target.seen.data;
        for second in 0..seconds {
            each_second(&mut target, second);
            target.pass(SECOND);
        }
        assert_eq!(target.seen.go_away, None);
        (
            target.seen.resets(CANCEL),
            target.app.alive.get(),
            target.seen.data - before,
        )
    };
    for (options, limit) in [(hardened as Options, 30), (default, 60)] {
        assert_eq!(wait(options, limit - 1).1, 100);
        let (resets, alive, _) = wait(options, limit + limit / 2);
        assert_eq!((resets, alive), (100, 0));
    }
    let (resets, alive, _) = wait(patient, 300);
    assert_eq!((resets, alive), (0, 100), "the limit alone ends them");
}

// 13. All the credit of the world, and a socket that takes nothing.
pub(crate) fn output_that_nobody_takes() {
    let blocked = |options: Options| {
        let mut target = Target::server_in(Mode::Blocked, options);
        downloads(&mut target, 0x7fff_ffff, 8);
        target
    };
    for (options, limit, room) in [(hardened as Options, 60, 128), (default, 120, 256)] {
        let mut target = blocked(options);
        // The room, batches, and for each stream its floor and a chunk in the hand of its handler.
        let kept = target.heap();
        let bound = 2 * room * 1024 + 8 * 2 * FLOOR;
        assert!(kept < bound, "{kept} octets");
        target.pass(limit * SECOND - SECOND);
        assert_eq!(target.app.alive.get(), 8);
        target.pass(limit * SECOND / 2);
        assert!(target.is_over() && target.app.alive.get() == 0);
        assert!(target.app.result.borrow().as_ref().unwrap().is_err());
        let kept = target.heap();
        assert!(kept < NOISE, "{kept} octets are left");
    }
    let mut target = blocked(|options| {
        patient(options);
        options.send_room(1 << 30).max_send_buffer_size(1 << 30);
    });
    let kept = target.heap();
    assert!(kept > 20_000_000, "the room alone bounds it: {kept} octets");
    target.pass(3600 * SECOND);
    assert!(!target.is_over(), "the limit alone ends it");
}

// 14. A window of nothing for ever, or an octet now and then.
pub(crate) fn slow_read() {
    stalls(0, |_, _| {});
    stalls(0, |target, second| {
        target.send(&window_update(id(second % 100), 1))
    });
    stalls(0, |target, second| {
        if second % 29 == 0 {
            (0..100).for_each(|number| target.send(&window_update(id(number), 100)));
        }
    });
    // A slow reader that goes on is served.
    let mut target = Target::server(hardened);
    downloads(&mut target, 0, 100);
    for _ in 0..20 {
        (0..100).for_each(|number| target.send(&window_update(id(number), 1500)));
        target.pass(20 * SECOND);
    }
    assert_eq!(
        (target.seen.data, target.app.alive.get()),
        (20 * 100 * 1500, 100)
    );
}

// 18. WINDOW_UPDATE for the connection, and for streams that are long over.
pub(crate) fn window_update_flood() {
    let begin = |target: &mut Target| {
        target.say(&get(1, "/"));
        target.say(&get(3, "/hold"));
        // A producer that waits for credit of its own stream.
        target.say(&initial_window(0));
        target.say(&get(5, "/flow/100000"));
    };
    for stream in [0, 1] {
        let round = |_: usize, out: &mut Vec<u8>| out.extend(window_update(stream, 1).encode());
        let flood = Flood::new(&round).prepared(&begin);
        // Sixteen are free, two for each stream; SETTINGS cost ten, and a stream gives one back.
        const AT: usize = 10_000 + 16 + 3 * 2 - 10 + 1 + 1;
        flood.is_calmed(hardened, "max_unproductive_frames", AT);
        flood.is_calmed_in(Mode::Free, default, "max_unproductive_frames", AT);
        let mut target = flood.start(loose, Mode::Free);
        let polls = target.app.polls.get();
        target.flood(30_000, 1, &round);
        assert_eq!(target.seen.go_away, None, "the limit alone ends it");
        assert_eq!(target.app.polls.get(), polls, "nobody is woken");
        let growth = flood.growth(loose, Mode::Free, 20_000);
        assert!(growth < NOISE, "{growth} octets");
    }
}

// 19. Windows above 2^31 - 1, and windows below zero.
pub(crate) fn window_overflow() {
    for options in [hardened as Options, default] {
        let mut target = Target::server(options);
        target.say(&window_update(0, 0x7fff_ffff));
        target.assert_gone(FLOW_CONTROL_ERROR, "2^31 - 1");

        let mut target = Target::server(options);
        target.say(&get(1, "/hold"));
        target.say(&window_update(1, 0x7fff_ffff));
        assert_eq!(target.seen.resets(FLOW_CONTROL_ERROR), 1);
        target.assert_alive(3);

        let mut target = Target::server(options);
        target.say(&get(1, "/hold"));
        target.say(&window_update(1, 1));
        target.say(&initial_window(0x7fff_ffff));
        target.assert_gone(FLOW_CONTROL_ERROR, "2^31 - 1");

        // 65,535 octets were sent; the window falls by as many, and each is owed first.
        let mut target = Target::server(options);
        target.say(&window_update(0, 1_000_000));
        target.say(&get(1, "/flow/100000"));
        assert_eq!(target.seen.data, WINDOW);
        target.say(&initial_window(0));
        target.say(&window_update(1, WINDOW as u32));
        assert_eq!(target.seen.data, WINDOW, "the window is 0");
        target.say(&window_update(1, 1));
        assert_eq!(target.seen.data, WINDOW + 1);
        target.say(&window_update(1, 0x7fff_fffe));
        assert_eq!((target.seen.data, target.seen.ended), (100_000, 1));
    }
}

// 20. DATA for streams that nobody knows: its credit comes back, padding too.
pub(crate) fn credit_leak() {
    const OCTETS: u64 = 8000 + 100 + 1;
    let reset_by_us = |target: &mut Target| {
        target.say(&post(1, "/hold"));
        target.say(&window_update(1, 0));
    };
    let forgotten = |target: &mut Target| {
        reset_by_us(target);
        target.pass(2 * SECOND);
    };
    let reset_by_peer = |target: &mut Target| {
        target.say(&post(1, "/hold"));
        target.say(&reset(1, CANCEL));
    };
    let ended = |target: &mut Target| target.say(&get(1, "/"));
    let going_away = |target: &mut Target| {
        target.app.shut_down();
        target.say(&ping([0; 8]));
        target.say(&post(1, "/hold"));
    };
    let round = |_: usize, out: &mut Vec<u8>| out.extend(data(1, [0; 8000]).padded(100).encode());
    let prepare: [&dyn Fn(&mut Target); 5] = [
        &reset_by_us,
        &forgotten,
        &reset_by_peer,
        &ended,
        &going_away,
    ];
    for (case, prepare) in prepare.into_iter().enumerate() {
        let mut target = Target::server(hardened);
        prepare(&mut target);
        let went = target.seen.go_away.take();
        assert_eq!(target.flood(5000, 1, &round), 5000, "case {case}");
        assert_eq!(target.seen.go_away, None, "case {case}, after {went:?}");
        let owed = (5000 * OCTETS).saturating_sub(target.seen.credit);
        assert!(
            owed <= WINDOW,
            "case {case}: {owed} octets of credit are lost"
        );
    }
}

// 21. Requests whose answers find no credit of the connection, and are reset.
pub(crate) fn capacity_queue() {
    let drain = |target: &mut Target| {
        target.say(&get(1, "/flow/65535"));
        assert_eq!((target.seen.data, target.app.alive.get()), (WINDOW, 0));
    };
    let round = |number: usize, out: &mut Vec<u8>| {
        let stream = id(1 + number / 2);
        let frame = if number % 2 == 0 {
            get(stream, "/flow/1000")
        } else {
            reset(stream, CANCEL)
        };
        out.extend(frame.encode());
    };
    let flood = Flood::new(&round).prepared(&drain);
    flood.is_calmed(hardened, "max_early_resets", 402);
    let target = flood.survives(loose, 20_000);
    assert_eq!((target.seen.data, target.app.alive.get()), (WINDOW, 0));
    let growth = flood.growth(loose, Mode::Free, 12_000);
    assert!(growth < NOISE, "{growth} octets");
}

// 43. Credit that comes back late, or that one stream holds: whoever keeps to it gets through.
pub(crate) fn deadlock_by_credit() {
    const UPLOAD: u64 = 700_000;
    for window in [1, 2, 100, 16_384, 65_535] {
        for (piece, unread) in [(1, 0), (1000, 0), (16_384, 5)] {
            if window == 1 && piece != 1 {
                continue;
            }
            let upload = if window < 100 { 500 } else { UPLOAD };
            let piece = if upload == UPLOAD {
                piece.max(100)
            } else {
                piece
            };
            let mut target = Target::server(|options| {
                options.hardened().initial_window_size(window);
            });
            // These have all that their windows allow, and nobody reads them.
            for number in 0..unread {
                target.say(&post(id(number), "/stuck"));
                let octets = vec![0; window.min(16_384) as usize];
                target.say(&data(id(number), octets));
            }
            let stream = id(100);
            target.say(&post(stream, "/read"));
            let used = u64::from(window.min(16_384)) * unread as u64;
            let mut sent = 0;
            while sent < upload {
                let connection = WINDOW + target.seen.credit - used - sent;
                let own = u64::from(window) + target.seen.credit_of(stream) - sent;
                let count = connection.min(own).min(piece).min(upload - sent);
                assert!(
                    count > 0,
                    "window {window}, {unread} unread: stuck after {sent}"
                );
                target.say(&data(stream, vec![0; count as usize]));
                sent += count;
            }
            target.say(&data(stream, "").end_stream());
            assert_eq!(
                (target.app.read.get() as u64, target.seen.ended),
                (upload, 1)
            );
        }
    }
}

// 44. Bodies in drops, a header block and then silence.
pub(crate) fn slow_request() {
    let mut target = Target::server(hardened);
    (0..100).for_each(|number| target.send(&post(id(number), "/read")));
    target.run();
    for _ in 0..60 {
        (0..100).for_each(|number| target.send(&data(id(number), "x")));
        target.pass(10 * SECOND);
    }
    // How long a body may take is the application's to say; what a stream costs meanwhile is not.
    assert_eq!((target.app.alive.get(), &target.seen.go_away), (100, &None));
    let each = target.heap() / 100;
    println!("  {each} octets for a stream that is slow");
    assert!(each < 4096, "{each} octets for each stream");
    for options in [hardened as Options, default] {
        let mut target = Target::server(options);
        target.say(&post(1, "/read").no_end_headers());
        target.pass(9 * SECOND);
        assert_eq!(target.seen.go_away, None);
        target.pass(SECOND);
        target.assert_calmed("header_block_timeout");
    }
    let mut target = Target::server(|options| {
        options.hardened().header_block_timeout(None);
    });
    target.say(&post(1, "/read").no_end_headers());
    target.pass(3600 * SECOND);
    assert_eq!(target.seen.go_away, None, "the limit alone ends it");
}

// 45. DATA under the window that was in force before our SETTINGS were acknowledged.
pub(crate) fn settings_race() {
    for options in [hardened as Options, default] {
        let mut target = Target::silent_server(Mode::Free, |builder| {
            options(builder);
            builder.initial_window_size(100);
        });
        target.send_raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        target.send(&settings());
        target.send(&post(1, "/read"));
        // Nothing is acknowledged yet: the protocol's own window counts.
        (0..4).for_each(|_| target.say(&data(1, [0; 16_000])));
        assert_eq!(
            (target.app.read.get(), &target.seen.go_away),
            (64_000, &None)
        );
        target.say(&crate::support::settings_ack());
        target.say(&data(1, "").end_stream());
        assert_eq!(
            (target.app.complete.get(), target.seen.resets.len()),
            (1, 0)
        );
        // From now on it is ours.
        target.say(&post(3, "/stuck"));
        target.say(&data(3, [0; 101]));
        assert_eq!(target.seen.resets(FLOW_CONTROL_ERROR), 1);
    }
}

// 46. A hundred large answers, no window, and resets; again and again.
pub(crate) fn response_pile() {
    let begin = |target: &mut Target| target.say(&initial_window(0));
    let round = |number: usize, out: &mut Vec<u8>| {
        let (turn, cancels) = (number / 2, number % 2 == 1);
        for place in 0..100 {
            let stream = id(turn * 100 + place);
            let frame = if cancels {
                reset(stream, CANCEL)
            } else {
                get(stream, "/flow/1000000")
            };
            out.extend(frame.encode());
        }
    };
    let flood = Flood::new(&round).prepared(&begin);
    let mut target = flood.start(loose, Mode::Free);
    target.flood(1, 1, &round);
    // The room, and for each stream its floor and a chunk in the hand of its handler.
    let most = target.heap();
    println!("  {most} octets for 100 answers");
    assert!(
        most < 128 * 1024 + 100 * (2 * FLOOR + 4096),
        "{most} octets"
    );
    let target = flood.survives(loose, 200);
    assert_eq!(target.app.alive.get(), 0);
    let growth = flood.growth(loose, Mode::Free, 200);
    assert!(growth < NOISE, "{growth} octets are left");
    flood.is_calmed(hardened, "max_early_resets", 6);
    let mut target = Target::server(|options| {
        options
            .hardened()
            .send_room(1 << 30)
            .max_send_buffer_size(1 << 30);
    });
    target.say(&initial_window(1_000_000));
    target.take(Some(0));
    target.flood(1, 1, &round);
    let most = target.heap();
    assert!(most > 20_000_000, "the room alone bounds it: {most} octets");
}

// 47. A stream is reset while its DATA frame is half in the socket.
pub(crate) fn reset_in_a_frame() {
    let mut in_frames = 0;
    for cut in (0..40_000).step_by(331).chain(0..64) {
        let mut target = Target::server(hardened);
        target.take(Some(cut));
        target.say(&get(1, "/flow/30000"));
        in_frames += usize::from(target.seen.is_in_frame());
        target.say(&reset(1, CANCEL));
        target.send(&get(3, "/flow/30000"));
        // An octet at a time, then all.
        (0..20).for_each(|_| target.take(Some(1)));
        target.take(None);
        assert!(!target.seen.is_in_frame(), "cut {cut}: a frame has no end");
        // What was not sent of the first is credit for others: in all exactly the window is used.
        target.say(&get(5, "/flow/65535"));
        assert_eq!(target.seen.data, WINDOW, "cut {cut}");
        target.say(&window_update(0, WINDOW as u32));
        assert!(
            target.seen.ended >= 2 && target.seen.go_away.is_none(),
            "cut {cut}"
        );
    }
    assert!(in_frames > 100, "{in_frames} resets within a frame");
}

// 48. Whoever waits is woken: streams die, and windows open, at any moment.
pub(crate) fn lost_wake_up() {
    const STEPS: usize = if cfg!(debug_assertions) {
        30_000
    } else {
        300_000
    };
    let mut random = 1_u64;
    let mut draw = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    let mut target = Target::server(|options| {
        loose(options);
        options.send_room(64 * 1024);
    });
    target.say(&initial_window(20_000));
    let mut open = Vec::new();
    let (mut next, mut destroyed) = (0, 0);
    for _ in 0..STEPS {
        match draw(8) {
            0 | 1 if open.len() < 60 => {
                let path = ["/flow/50000", "/reserve/50000"][draw(2)];
                target.send(&get(id(next), path));
                open.push(id(next));
                next += 1;
            }
            2 if !open.is_empty() => {
                target.send(&reset(open.swap_remove(draw(open.len())), CANCEL));
                destroyed += 1;
            }
            3 | 4 if !open.is_empty() => {
                target.send(&window_update(
                    open[draw(open.len())],
                    1 + draw(5000) as u32,
                ));
            }
            5 | 6 => target.send(&window_update(0, 1 + draw(9000) as u32)),
            _ => target.take(if draw(2) == 0 { None } else { Some(draw(9000)) }),
        }
        if draw(3) == 0 {
            target.run();
        }
    }
    // Now there is credit for all: whoever was forgotten stays.
    target.take(None);
    target.say(&window_update(0, 0x3fff_ffff));
    // Each alone: SETTINGS would look at all of them.
    open.iter()
        .for_each(|stream| target.say(&window_update(*stream, 100_000)));
    assert_eq!((target.app.alive.get(), &target.seen.go_away), (0, &None));
    let forgotten = open
        .iter()
        .filter(|stream| !target.seen.has_ended(**stream));
    assert_eq!(forgotten.count(), 0, "streams with output are forgotten");
    assert!(destroyed > STEPS / 20, "{destroyed} streams were reset");
    target.assert_alive(id(next));
}
