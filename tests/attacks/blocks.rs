//! Header blocks: without an end, and larger than they look.

use std::time::Duration;

use crate::allocated;
use crate::harness::{Flood, MODES, Mode, Options, Target, ask, cpu, default, hardened, id};
use crate::support::{
    COMPRESSION_ERROR, Frame, PROTOCOL_ERROR, continuation, headers, indexed_literal, kind,
    literal, setting, settings, window_update,
};

/// The list limit of the hardened preset.
const LIST: isize = 16 * 1024;

fn loose(options: &mut fairmux::server::Builder) {
    options
        .hardened()
        .max_header_list_size(64 << 20)
        .max_header_fields(1 << 20)
        .max_continuations(usize::MAX);
}

/// The fields of a request, as short as they can be.
const REQUEST: &[u8] = &[0x82, 0x84, 0x87, 0x01, 0x01, b'x'];

fn request(id: u32, rest: impl AsRef<[u8]>) -> Frame {
    headers(id).raw(REQUEST).raw(rest).end_stream()
}

// 3. A header block without an end.
pub(crate) fn continuation_flood() {
    let begin = |target: &mut Target| target.say(&headers(1).request("GET", "/").no_end_headers());
    let part = |octets: Vec<u8>| {
        let frame = continuation(1).raw(octets).no_end_headers().encode();
        move |_: usize, out: &mut Vec<u8>| out.extend(&frame)
    };
    let small = part(literal_fields(1));
    Flood::new(&small)
        .prepared(&begin)
        .is_calmed(hardened, "too_many_continuations", 9);
    // By default as many as the longest list needs, and a quarter: 16 MiB in frames of 16 KiB.
    Flood::new(&small).prepared(&begin).is_calmed_in(
        Mode::Free,
        default,
        "too_many_continuations",
        1281,
    );
    Flood::new(&small).prepared(&begin).survives(loose, 5000);

    let empty = part(Vec::new());
    for options in [hardened as Options, default, loose] {
        Flood::new(&empty)
            .prepared(&begin)
            .is_calmed(options, "one empty fragment", 2);
    }
    // All ones: octets that Huffman coding makes longest.
    let large = part([&[0, 0xff, 0xff, 0x7f][..], &[0xff; 8000]].concat());
    for mode in MODES {
        let mut target = Target::server_in(mode, hardened);
        begin(&mut target);
        let before = target.heap();
        let mut held = 0;
        for _ in 0..9 {
            target.flood(1, 1, &large);
            held = held.max(target.heap() - before);
        }
        target.take(None);
        target.assert_calmed("header_list_way_too_large");
        assert!(held <= 2 * LIST + LIST, "{held} octets are held of a block");
    }
    let mut target = Flood::new(&large).prepared(&begin).survives(loose, 100);
    assert!(target.heap() > 8 * LIST, "the limit alone bounds it");
    let unread = target.unread();
    target.pass(Duration::from_secs(9));
    assert_eq!(target.seen.go_away, None);
    target.pass(Duration::from_secs(1));
    target.assert_calmed("header_block_timeout");
    assert_eq!(unread, 0);
    let patient: Options = |options| {
        loose(options);
        options.header_block_timeout(None);
    };
    let mut target = Flood::new(&large).prepared(&begin).survives(patient, 1);
    target.pass(Duration::from_secs(3600));
    assert_eq!(target.seen.go_away, None, "the limit alone ends it");

    // What comes after the end is not even read.
    let mut target = Target::server(hardened);
    begin(&mut target);
    target.flood(20, 20, &small);
    target.assert_calmed("too_many_continuations");
    let worked = allocated(|| (0..100).for_each(|_| target.run()));
    assert_eq!(worked, 0);
}

fn literal_fields(count: usize) -> Vec<u8> {
    (0..count).flat_map(|_| [0, 1, b'a', 1, b'b']).collect()
}

// 4. A large field in the table, and a block of references to it.
pub(crate) fn hpack_bomb() {
    let insert = request(1, indexed_literal("a", vec![b'x'; 4000]));
    let bomb = |count: usize| request(3, vec![0xbe; count]);
    for options in [hardened as Options, default] {
        let mut target = Target::server(options);
        target.say(&insert);
        let whole = bomb(16_000);
        let made = allocated(|| {
            target.send(&whole);
            target.run();
        });
        target.assert_calmed("");
        // The frame, the buffer that it is read into, and the fields up to the limit.
        assert!(made < 256 * 1024, "{made} octets for a block of 16 KB");
        assert_eq!(target.app.requests.get(), 1);
    }
    // A little too much costs the request, and both tables stay the same.
    let mut target = Target::server(hardened);
    target.say(&insert);
    target.say(&bomb(5));
    assert_eq!(target.seen.status("431"), 1);
    target.say(&request(5, [0xbe]));
    assert_eq!(
        (target.app.requests.get(), target.app.most_fields.get()),
        (2, 1)
    );
    assert!(target.app.longest_list.get() <= LIST as usize);
    target.assert_alive(7);

    let mut target = Target::server(loose);
    target.say(&insert);
    target.say(&bomb(10_000));
    assert!(
        target.app.longest_list.get() > 40_000_000,
        "the limits alone bound it"
    );
}

// 5. Thousands of fields of one octet each, on many streams that are kept open.
pub(crate) fn http2_bomb() {
    const HEAP: isize = 8 << 20;
    let heap = |options: Options, fields: &[u8]| {
        let mut target = Target::silent_server(Mode::Free, options);
        target.shake_hands(&settings().set(setting::INITIAL_WINDOW_SIZE, 0));
        target.say(&request(1, indexed_literal("a", "")));
        for number in 1..=100 {
            let path = [4, 8].into_iter().chain(*b"/flow/99");
            let head = [0x82, 0x87, 0x01, 0x01, b'x'].into_iter().chain(path);
            let block: Vec<u8> = head.chain(fields.iter().copied()).collect();
            let mut parts = block.chunks(16_000);
            let first = headers(id(number)).raw(parts.next().unwrap());
            target.send(&first.no_end_headers().end_stream());
            for part in parts {
                target.send(&continuation(id(number)).raw(part).no_end_headers());
            }
            target.send(&continuation(id(number)).raw(literal_fields(1)));
            target.say(&window_update(id(number), 1));
        }
        target
    };
    let mut target = heap(hardened, &[0xbe; 120]);
    assert_eq!(target.app.alive.get(), 100);
    let held = target.heap();
    println!("  {held} octets for 100 streams of 120 fields");
    assert!(held < HEAP, "{held} octets");
    // Nobody takes anything: what is kept goes with the streams. An octet now and then is nothing.
    for _ in 0..8 {
        (1..=100).for_each(|number| target.send(&window_update(id(number), 1)));
        target.pass(Duration::from_secs(5));
    }
    assert_eq!((target.app.alive.get(), &target.seen.go_away), (0, &None));
    let left = target.heap();
    assert!(left < 80 * 1024, "{left} of {held} octets are left");
    target.assert_alive(301);

    // One field too many, in pieces of a cookie or not: the application never sees it.
    let crumbs: Vec<u8> = (0..130).flat_map(|_| [0x60, 1, b'a']).collect();
    for fields in [&[0xbe; 130][..], &crumbs] {
        let target = heap(hardened, fields);
        assert_eq!(
            (target.seen.status("431"), target.app.requests.get()),
            (100, 1)
        );
    }
    let target = heap(loose, &[0xbe; 5000]);
    let held = target.heap();
    assert!(held > HEAP, "the limits alone bound it: {held} octets");
    let target = heap(default, &[0xbe; 1001]);
    assert_eq!(target.app.requests.get(), 1, "by default 1000 fields");
}

// 6. A cookie in thousands of crumbs: joining them is linear, and all of them count.
pub(crate) fn cookie_crumbs() {
    let crumbs = |count: usize| {
        let block: Vec<u8> = (0..count).flat_map(|_| [0x0f, 17, 1, b'a']).collect();
        headers(1)
            .raw(REQUEST)
            .no_end_headers()
            .end_stream()
            .encode()
            .into_iter()
            .chain(
                block
                    .chunks(16_000)
                    .flat_map(|part| continuation(1).raw(part).no_end_headers().encode()),
            )
            .chain(continuation(1).raw(literal_fields(1)).encode())
            .collect::<Vec<u8>>()
    };
    let cost = |count: usize| {
        let (mut target, octets) = (Target::server(loose), crumbs(count));
        target.send_raw(&octets);
        let made = allocated(|| target.run());
        assert_eq!(target.app.requests.get(), 1);
        // The longest list is of fields that were joined: "a; a; a".
        let joined = 32 + "cookie".len() + 3 * count - 2;
        assert_eq!(target.app.longest_list.get(), joined + 34);
        made
    };
    let (few, many) = (cost(2000), cost(20_000));
    println!("  {few} octets for 2000 crumbs, {many} for 20 000");
    assert!(
        many < 20 * few,
        "{few} octets for 2000 crumbs, {many} for 20 000"
    );
    let mut target = Target::server(hardened);
    target.send_raw(&crumbs(127));
    target.run();
    assert_eq!(target.app.requests.get(), 0);
    assert_eq!(target.seen.status("200"), 0);
    let mut target = Target::server(hardened);
    target.send_raw(&crumbs(300));
    target.run();
    target.assert_calmed("max_header_fields");
}

// 7. Fields without name and value: they are malformed, and each counts.
pub(crate) fn empty_fields() {
    for empty in [&[0, 0, 0][..], &[0, 0x80, 0x80]] {
        let block = |count: usize| empty.repeat(count);
        for (options, far_too_many) in [(hardened as Options, 300), (default, 2100)] {
            let mut target = Target::server(options);
            target.say(&request(1, block(1)));
            assert_eq!(target.seen.resets(PROTOCOL_ERROR), 1);
            assert_eq!(target.app.requests.get(), 0);
            target.say(&request(3, block(far_too_many)));
            target.assert_calmed("max_header_fields");
        }
        let mut target = Target::server(loose);
        target.say(&request(1, block(5000)));
        assert_eq!(
            target.seen.resets(PROTOCOL_ERROR),
            1,
            "the limit alone makes it a flood"
        );
        let forgiving: Options = |options| {
            options
                .hardened()
                .max_faults(u32::MAX, 0)
                .max_local_error_reset_streams(None);
        };
        let round =
            |number: usize, out: &mut Vec<u8>| out.extend(request(id(number), block(100)).encode());
        Flood::new(&round).is_calmed(hardened, "max_faults", 201);
        let growth = Flood::new(&round).growth(forgiving, Mode::Free, 5000);
        assert!(growth < 8192, "{growth} octets");
    }
}

// 27. SETTINGS of a server that ask for too much.
pub(crate) fn bad_settings() {
    for harden in [false, true] {
        let preset = |options: &mut fairmux::client::Builder| {
            if harden {
                options.hardened();
            }
        };
        for size in [0, 16_383, 1 << 24, u32::MAX] {
            let (mut target, mut requests) = Target::silent_client(preset);
            ask(&mut target, &mut requests, "/");
            target.say(&settings().set(setting::MAX_FRAME_SIZE, size));
            target.assert_gone(PROTOCOL_ERROR, "SETTINGS_MAX_FRAME_SIZE");
            let continuations = target.seen.frames(kind::CONTINUATION);
            assert_eq!(continuations, 0, "nothing is sent in frames of {size}");
        }
        // A table of 4 GiB: ours stays as it is.
        let (mut target, mut requests) = Target::client(preset);
        target.say(&settings().set(setting::HEADER_TABLE_SIZE, u32::MAX));
        let mut sizes = Vec::new();
        for number in 0..3000 {
            let asked = ask(
                &mut target,
                &mut requests,
                &format!("/{number}/{:0>200}", number),
            );
            target.say(&headers(id(number)).response(200).end_stream());
            assert!(matches!(*asked.borrow(), Some(Ok(_))));
            if number % 1000 == 999 {
                sizes.push(target.heap());
            }
        }
        let growth = sizes[2] - sizes[0];
        assert!(growth < 4096, "{growth} octets");
        // No stream at all: requests wait, and leave nothing when they are given up.
        let (mut target, requests) = Target::client(preset);
        target.say(&settings().set(setting::MAX_CONCURRENT_STREAMS, 0));
        let mut left = Vec::new();
        for _ in 0..10 {
            let waits = |_| ask(&mut target, &mut requests.clone(), "/");
            let asked: Vec<_> = (0..100).map(waits).collect();
            assert!(asked.iter().all(|asked| asked.borrow().is_none()));
            target.app.release();
            target.run();
            left.push(target.heap());
        }
        assert_eq!(target.seen.frames(kind::HEADERS), 0);
        let growth = left[9] - left[0];
        assert!(growth < 4096, "{growth} octets are left of 900 requests");
    }
}

// 28. Octets that are no header block.
pub(crate) fn hpack_garbage() {
    let garbage: [(&str, &[u8]); 12] = [
        ("size update that is cut off", &[0x3f]),
        (
            "integer of ten octets",
            &[
                0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01,
            ],
        ),
        (
            "zeros without end",
            &[0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
        ),
        ("integer above 2^28", &[0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]),
        ("index 0", &[0x80]),
        ("index beyond the table", &[0xfe]),
        ("name beyond the table", &[0x7e, 1, b'a']),
        ("string beyond the block", &[0, 1, b'a', 9, b'b']),
        ("size update after a field", &[0x82, 0x20]),
        ("size update beyond the limit", &[0x3f, 0xe2, 0x1f]),
        ("padding of eight bits", &[0, 1, b'a', 0x82, 0x1f, 0xff]),
        ("end of string", &[0, 1, b'a', 0x84, 0xff, 0xff, 0xff, 0xff]),
    ];
    for (name, octets) in garbage {
        for mode in MODES {
            let mut target = Target::server_in(mode, hardened);
            target.say(&headers(1).raw(octets).end_stream());
            target.take(None);
            let (code, text) = target.seen.go_away.clone().unwrap();
            assert_eq!(code, COMPRESSION_ERROR, "{name}: {text}");
            assert!(target.is_over(), "{name}");
        }
        // Cut anywhere, the same.
        for cut in 0..octets.len() {
            let mut target = Target::server(hardened);
            target.send(&headers(1).raw(&octets[..cut]).no_end_headers());
            target.say(&continuation(1).raw(&octets[cut..]));
            assert_eq!(
                target.seen.go_away.as_ref().unwrap().0,
                COMPRESSION_ERROR,
                "{name}"
            );
        }
    }
    hpack_is_linear();
}

/// Time and memory grow with the octets, and not faster: of the worst that can be thought of.
fn hpack_is_linear() {
    let worst: [&[u8]; 4] = [
        &[0xbe],
        &[0x40, 1, b'a', 0],
        &[0, 0x81, 0x1f, 0],
        &[0x0f, 17, 1, b'a'],
    ];
    for pattern in worst {
        let cost = |octets: usize| {
            let mut target = Target::server(|options| {
                loose(options);
                options.max_frame_size(1 << 20);
            });
            target.say(&request(1, indexed_literal("a", "")));
            let block = request(3, pattern.repeat(octets / pattern.len()));
            target.send(&block);
            let mut made = 0;
            let time = cpu(|| made = allocated(|| target.run()));
            (time, made)
        };
        let ((small_time, small), (large_time, large)) = (cost(10_000), cost(100_000));
        println!(
            "  {pattern:02x?}: {small_time:?}, {small} octets; tenfold: {large_time:?}, {large}"
        );
        assert!(
            large < 20 * small,
            "{pattern:02x?}: {small} and {large} octets"
        );
        assert!(
            large_time < 100 * small_time,
            "{pattern:02x?}: {small_time:?}, {large_time:?}"
        );
    }
}

// 29. Names that never come twice: nothing remembers them.
pub(crate) fn unique_names() {
    let round = |number: usize, out: &mut Vec<u8>| {
        let name = format!("x-{number:0>60}");
        out.extend(request(id(number), indexed_literal(name, "v")).encode());
    };
    for options in [hardened as Options, default] {
        let growth = Flood::new(&round).growth(options, Mode::Free, 6000);
        assert!(growth < 4096, "{growth} octets");
        let target = Flood::new(&round).survives(options, 1000);
        assert_eq!(target.app.requests.get(), 1000);
    }
}

// 41. A limit that was announced, and that the peer does not keep.
pub(crate) fn announced_list_limit() {
    let list = |octets: usize| request(1, [literal("a", vec![b'x'; octets])].concat());
    // The pseudo-header fields and the name count as well.
    let fits = LIST as usize - 32 - 1 - (42 + 38 + 44 + 43);
    let mut target = Target::server(hardened);
    let announced = [0, setting::MAX_HEADER_LIST_SIZE as u8, 0, 0, 0x40, 0];
    assert!(
        target
            .seen
            .settings
            .chunks(6)
            .any(|entry| entry == announced)
    );
    target.say(&settings());
    target.say(&list(fits));
    assert_eq!(
        (target.app.requests.get(), target.seen.status("200")),
        (1, 1)
    );
    for extra in [1, 100, 8000] {
        for mode in MODES {
            let mut target = Target::server_in(mode, hardened);
            let frame = list(fits + extra).encode();
            // Longer than a frame may be.
            let block = &frame[9..];
            target.send(&headers(1).raw(&block[..9000]).no_end_headers().end_stream());
            target.say(&continuation(1).raw(&block[9000..]));
            target.take(None);
            assert_eq!(
                (target.app.requests.get(), target.seen.status("431")),
                (0, 1)
            );
            target.assert_alive(3);
        }
    }
    let mut target = Target::server(loose);
    target.say(&list(fits + 1));
    assert_eq!(target.app.requests.get(), 1, "the limit alone refuses it");
}
