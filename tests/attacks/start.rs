//! The beginning and the end of a connection, and what a hostile server does to a client.

use std::time::Duration;

use fairmux::client::Builder;

use crate::allocated;
use crate::harness::{MODES, Mode, Options, Round, Target, ask, default, get, hardened, id, post};
use crate::support::{
    Code, ENHANCE_YOUR_CALM, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, PROTOCOL_ERROR, REFUSED_STREAM,
    continuation, frame, go_away, headers, indexed_literal, kind, ping, push_promise, settings,
    settings_ack,
};

const SECOND: Duration = Duration::from_secs(1);
const SETTINGS_TIMEOUT: Code = Code(4);
/// Growth of the heap that is no growth.
const NOISE: isize = 8 * 1024;
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

fn hardened_client(options: &mut Builder) {
    options.hardened();
}

fn default_client(_: &mut Builder) {}

fn loose_client(options: &mut Builder) {
    options
        .hardened()
        .max_unproductive_frames(u32::MAX, 0)
        .max_informational(usize::MAX)
        .max_concurrent_streams(1_000_000);
}

// 23. A frame of 16 MiB is announced: nobody waits for it.
pub(crate) fn oversized_frame() {
    const ANNOUNCED: usize = (1 << 24) - 1;
    let head = |kind, stream| frame(kind, 0, stream, []).claim(ANNOUNCED);
    for options in [hardened as Options, default] {
        for (kind, stream) in [
            (kind::HEADERS, 3),
            (kind::SETTINGS, 0),
            (kind::PING, 0),
            (kind::GOAWAY, 0),
            (kind::WINDOW_UPDATE, 0),
            (kind::PUSH_PROMISE, 1),
            (kind::CONTINUATION, 1),
        ] {
            for mode in MODES {
                let mut target = Target::server_in(mode, options);
                target.say(&post(1, "/hold"));
                target.send(&head(kind, stream));
                let made = allocated(|| target.run());
                target.take(None);
                target.assert_gone(FRAME_SIZE_ERROR, "SETTINGS_MAX_FRAME_SIZE");
                assert!(made < 64 * 1024, "{made} octets for nine of type {kind}");
            }
        }
        // DATA counts for the window before it has come, and is far beyond it.
        let mut target = Target::server(options);
        target.say(&post(1, "/hold"));
        target.send(&head(kind::DATA, 1));
        let made = allocated(|| target.run());
        target.assert_gone(FLOW_CONTROL_ERROR, "window of the connection");
        assert!(made < 64 * 1024, "{made} octets for nine of DATA");
    }
    let mut target = Target::server(|options| {
        options.max_frame_size(1 << 20);
    });
    target.say(
        &headers(1)
            .request("GET", "/")
            .field("a", vec![b'a'; 100_000])
            .end_stream(),
    );
    assert_eq!(target.seen.ended, 1, "a frame within the limit is taken");
}

// 24. The last stream id comes first; and a client that has none left.
pub(crate) fn stream_id_exhaustion() {
    const LAST: u32 = 0x7fff_ffff;
    for options in [hardened as Options, default] {
        let mut target = Target::server(options);
        target.assert_alive(LAST);
        // The next one cannot be but lower, or of the wrong side.
        for lower in [LAST - 2, 1] {
            let mut target = Target::server(options);
            target.assert_alive(LAST);
            target.say(&get(lower, "/"));
            let (code, _) = target.seen.go_away.clone().unwrap();
            assert_eq!((code, target.app.requests.get()), (PROTOCOL_ERROR, 1));
        }
        target.app.shut_down();
        target.say(&ping([0; 8]));
        target.say(&ping([0; 8]).ack());
        assert_eq!(
            target.seen.go_away.as_ref().unwrap().0,
            Code(0),
            "it ends in good order"
        );
    }
    let (mut target, mut requests) = Target::client(|options| {
        options.initial_stream_id(LAST - 2);
    });
    for _ in 0..2 {
        assert!(ask(&mut target, &mut requests, "/").borrow().is_none());
    }
    let refused = ask(&mut target, &mut requests, "/");
    assert_eq!(
        *refused.borrow(),
        Some(Err(None)),
        "the application must connect anew"
    );
    assert_eq!(
        (target.seen.last_id, target.seen.frames(kind::HEADERS)),
        (LAST, 2)
    );
}

// 25. GOAWAY again and again, with a rising id or a long text; and what comes after one.
pub(crate) fn go_away_games() {
    for (options, limit) in [
        (hardened_client as fn(&mut Builder), 10_001),
        (default_client, 10_001),
    ] {
        let (mut target, mut requests) = Target::client(options);
        let asked = ask(&mut target, &mut requests, "/");
        target.say(&go_away(1, Code(0)));
        target.say(&go_away(3, Code(0)));
        target.assert_gone(PROTOCOL_ERROR, "must not rise");
        assert!(matches!(*asked.borrow(), Some(Err(_))));

        let (mut target, mut requests) = Target::client(options);
        let asked = ask(&mut target, &mut requests, "/");
        let long = go_away(1, Code(0)).raw([b'x'; 16_000]).encode();
        let round = |_: usize, out: &mut Vec<u8>| out.extend(&long);
        let before = target.heap();
        target.flood(1000, 1, &round);
        let kept = target.heap() - before;
        assert!(
            kept < 2 * NOISE,
            "{kept} octets are kept of a thousand texts of 16 KB"
        );
        assert!(asked.borrow().is_none(), "the request goes on");
        assert_eq!(1000 + target.flood(11_000, 1, &round), limit);
        target.assert_calmed("max_unproductive_frames");
    }
    let (mut target, mut requests) = Target::client(loose_client);
    let _asked = ask(&mut target, &mut requests, "/");
    let short = go_away(1, Code(0)).encode();
    target.flood(20_000, 10, &|_, out| out.extend(&short));
    assert_eq!(target.seen.go_away, None, "the limit alone ends it");

    // After a fatal error nothing more is heard.
    let mut target = Target::server(hardened);
    target.send(&frame(kind::SETTINGS, 0, 1, []));
    (0..100).for_each(|number| target.send(&get(id(number), "/")));
    target.run();
    let (code, _) = target.seen.go_away.clone().unwrap();
    assert_eq!((code, target.app.requests.get()), (PROTOCOL_ERROR, 0));

    // Blocks of streams that came too late change the table all the same.
    let mut target = Target::server(hardened);
    target.say(&post(1, "/read"));
    target.app.shut_down();
    target.say(&ping([0; 8]));
    target.say(&frame(kind::PING, 1, 0, target.seen.ping.clone()));
    target.say(&post(3, "/").raw(indexed_literal("late", "1")).end_stream());
    assert_eq!(
        target.app.requests.get(),
        1,
        "it was told that 3 is ignored"
    );
    target.say(&headers(1).raw([0xbe]).end_stream());
    assert_eq!((target.app.complete.get(), target.seen.ended), (1, 1));
}

// 26. Promises without end.
pub(crate) fn push_flood() {
    let promise = |number: usize, out: &mut Vec<u8>| {
        let promised = 2 * number as u32 + 2;
        out.extend(push_promise(1, promised).request("GET", "/pushed").encode());
    };
    for (options, most) in [
        (hardened_client as fn(&mut Builder), 100),
        (default_client, 200),
    ] {
        let (mut target, mut requests) = Target::client(options);
        let asked = ask(&mut target, &mut requests, "/");
        let before = target.heap();
        let taken = target.flood(1000, 1, &promise);
        assert_eq!(taken, 1000);
        assert_eq!(target.seen.resets(REFUSED_STREAM), 1000 - most);
        let kept = target.heap() - before;
        assert!(
            kept < 2048 * most as isize,
            "{kept} octets for {most} promises"
        );
        assert!(asked.borrow().is_none(), "the request goes on");
        let rest = |number: usize, out: &mut Vec<u8>| promise(1000 + number, out);
        target.flood(12_000, 1, &rest);
        target.assert_calmed("max_unproductive_frames");
    }
    let (mut target, mut requests) = Target::client(loose_client);
    let _asked = ask(&mut target, &mut requests, "/");
    target.flood(5000, 1, &promise);
    assert_eq!(
        target.seen.resets(REFUSED_STREAM),
        0,
        "the limit alone refuses them"
    );

    let (mut target, mut requests) = Target::client(|options| {
        options.hardened().enable_push(false);
    });
    let _asked = ask(&mut target, &mut requests, "/");
    target.flood(1, 1, &promise);
    target.assert_gone(PROTOCOL_ERROR, "SETTINGS_ENABLE_PUSH");
    // Ids that cannot be promised: of the wrong side, none, used before.
    for promised in [3, 0, 2] {
        let (mut target, mut requests) = Target::client(hardened_client);
        let _asked = ask(&mut target, &mut requests, "/");
        target.say(&push_promise(1, 4).request("GET", "/pushed"));
        target.say(&push_promise(1, promised).request("GET", "/pushed"));
        target.assert_gone(PROTOCOL_ERROR, "");
    }
}

// 31. Half a beginning, a slow one, or another protocol.
pub(crate) fn handshake() {
    type Step = fn(&mut Target, usize);
    let silent: Step = |_, _| {};
    let slow: Step = |target, second| {
        if let Some(octet) = PREFACE.get(second) {
            target.send_raw(&[*octet]);
        }
    };
    let no_settings: Step = |target, second| {
        if second == 0 {
            target.send_raw(PREFACE);
        }
    };
    let wait = |options: Options, step: Step, seconds: usize| {
        let mut target = Target::silent_server(Mode::Free, options);
        for second in 0..seconds {
            step(&mut target, second);
            target.pass(SECOND);
        }
        target
    };
    for step in [silent, slow, no_settings] {
        for options in [hardened as Options, default] {
            assert!(!wait(options, step, 9).is_over());
            let mut target = wait(options, step, 10);
            target.assert_gone(PROTOCOL_ERROR, "handshake_timeout");
            target.pass(10 * SECOND);
            let left = target.heap();
            assert!(left < NOISE, "{left} octets are left");
        }
        let patient: Options = |options| {
            options
                .hardened()
                .handshake_timeout(None)
                .settings_timeout(None);
        };
        let target = wait(patient, step, 3600);
        assert!(!target.is_over(), "the limit alone ends it");
    }
    other_protocols();
}

/// Whoever speaks another protocol is told at once.
fn other_protocols() {
    let others: [&[u8]; 4] = [
        b"GET / HTTP/1.1\r\nhost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r!",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ];
    for octets in others {
        for mode in MODES {
            let mut target = Target::silent_server(mode, hardened);
            target.send_raw(octets);
            target.run();
            assert!(target.is_over(), "{octets:?}");
            assert_eq!(target.app.requests.get(), 0);
            let code = target.seen.go_away.as_ref().map(|(code, _)| *code);
            assert_eq!(code, Some(PROTOCOL_ERROR));
        }
    }
    for first in [
        ping([0; 8]),
        settings_ack(),
        get(1, "/"),
        frame(0xf0, 0, 0, []),
    ] {
        let mut target = Target::silent_server(Mode::Free, hardened);
        target.send_raw(PREFACE);
        target.say(&first);
        target.assert_gone(PROTOCOL_ERROR, "first frame must be SETTINGS");
        assert_eq!(target.app.requests.get(), 0);
    }
}

// 32. Our SETTINGS are never acknowledged: what they say about memory holds all the same.
pub(crate) fn settings_without_ack() {
    let begin = |options: Options| {
        let mut target = Target::silent_server(Mode::Free, options);
        target.send_raw(PREFACE);
        target.say(&settings());
        target
    };
    let mut target = begin(hardened);
    (0..150).for_each(|number| target.send(&get(id(number), "/stuck")));
    target.run();
    assert_eq!(target.app.alive.get(), 100);
    assert_eq!(target.seen.resets(REFUSED_STREAM), 50);
    // Lists and blocks are bounded, too.
    let mut target = begin(hardened);
    target.say(
        &headers(1)
            .request("GET", "/")
            .field("a", vec![b'a'; 15_000])
            .no_end_headers()
            .end_stream(),
    );
    target.say(&continuation(1).field("b", vec![b'b'; 5000]));
    assert_eq!(
        (target.seen.status("431"), target.app.requests.get()),
        (1, 0)
    );
    // A smaller table is in force at the peer when it says so; until then ours has what it may use.
    let small: Options = |options| {
        options.hardened().header_table_size(0);
    };
    let mut target = begin(small);
    target.say(&get(1, "/").raw(indexed_literal("a", "b")));
    target.say(&get(3, "/").raw([0xbe]));
    assert_eq!(target.seen.ended, 2);

    let mut target = begin(hardened);
    target.pass(29 * SECOND);
    assert_eq!(target.seen.go_away, None);
    target.pass(SECOND);
    target.assert_gone(SETTINGS_TIMEOUT, "acknowledged in time");
    for options in [default as Options, |options| {
        options.hardened().settings_timeout(None);
    }] {
        let mut target = begin(options);
        target.pass(3600 * SECOND);
        assert_eq!(target.seen.go_away, None, "the limit alone ends it");
        target.assert_alive(1);
    }
}

// 40. Informational responses, and never a final one.
pub(crate) fn informational_flood() {
    let hints = headers(1)
        .response(103)
        .field("link", vec![b'x'; 1000])
        .encode();
    let round: Round<'_> = &|_, out| out.extend(&hints);
    for options in [hardened_client as fn(&mut Builder), default_client] {
        let (mut target, mut requests) = Target::client(options);
        let asked = ask(&mut target, &mut requests, "/");
        let before = target.heap();
        target.flood(16, 1, round);
        assert!(asked.borrow().is_none());
        let kept = target.heap() - before;
        assert!(kept < 16 * 2048 + NOISE, "{kept} octets");
        target.flood(1, 1, round);
        assert_eq!(*asked.borrow(), Some(Err(Some(ENHANCE_YOUR_CALM))));
        assert_eq!(target.seen.resets(ENHANCE_YOUR_CALM), 1);
        // The connection goes on.
        let asked = ask(&mut target, &mut requests, "/");
        target.say(&headers(3).response(200).end_stream());
        assert_eq!(*asked.borrow(), Some(Ok(200)));
    }
    let (mut target, mut requests) = Target::client(loose_client);
    let asked = ask(&mut target, &mut requests, "/");
    target.flood(1000, 1, round);
    assert!(asked.borrow().is_none(), "the limit alone ends it");
    target.say(&headers(1).response(200).end_stream());
    assert_eq!(*asked.borrow(), Some(Ok(200)));
}
