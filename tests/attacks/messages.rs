//! Messages that mean one thing here and another thing behind the next proxy.

use fairmux::client::Builder;

use crate::harness::{MODES, Mode, Options, Target, ask, default, get, hardened, post};
use crate::support::{
    Frame, PROTOCOL_ERROR, STREAM_CLOSED, data, headers, indexed_literal, kind, literal, setting,
    settings,
};

fn hardened_client(options: &mut Builder) {
    options.hardened();
}

/// These frames of stream 1 are malformed: the stream ends with PROTOCOL_ERROR, nothing of it is taken for
/// a whole request, and the connection goes on with both tables in step.
fn is_refused(mut frames: Vec<Frame>, requests: usize) {
    let last = frames
        .iter()
        .rposition(|frame| frame.kind == kind::HEADERS)
        .unwrap();
    frames[last] = frames[last].clone().raw(indexed_literal("in-step", "1"));
    for (options, mode) in [
        (hardened as Options, Mode::Free),
        (hardened, Mode::Bytewise),
        (default, Mode::Free),
    ] {
        let mut target = Target::server_in(mode, options);
        target.app.keep_text();
        for frame in &frames {
            target.say(frame);
        }
        let seen = &target.seen;
        let what = || format!("{:?} of {frames:?}", target.app.text.borrow());
        assert_eq!(seen.resets(PROTOCOL_ERROR), 1, "{}", what());
        assert_eq!(
            (target.app.complete.get(), seen.ended),
            (0, 0),
            "{}",
            what()
        );
        assert_eq!(target.app.requests.get(), requests, "{}", what());
        target.say(&get(3, "/").raw([0xbe]));
        assert_eq!((target.seen.ended, &target.seen.go_away), (1, &None));
        assert!(target.app.text.borrow().contains("in-step: 1"));
    }
}

/// What the application makes of this head, as HTTP/1.1; empty if it does not see it.
fn text_of(frame: Frame) -> String {
    let mut target = Target::server(hardened);
    target.app.keep_text();
    target.say(&frame);
    assert_eq!(target.seen.go_away, None);
    target.app.text.take()
}

fn request() -> Frame {
    post(1, "/read")
}

/// This head of a response is malformed: the request fails with PROTOCOL_ERROR.
fn response_is_refused(frames: Vec<Frame>) {
    let (mut target, mut requests) = Target::client(hardened_client);
    let asked = ask(&mut target, &mut requests, "/");
    for frame in &frames {
        target.say(frame);
    }
    assert_eq!(
        *asked.borrow(),
        Some(Err(Some(PROTOCOL_ERROR))),
        "{frames:?}"
    );
    assert_eq!(
        (target.seen.resets(PROTOCOL_ERROR), &target.seen.go_away),
        (1, &None)
    );
    let asked = ask(&mut target, &mut requests, "/");
    target.say(&headers(3).response(200).end_stream());
    assert_eq!(*asked.borrow(), Some(Ok(200)));
}

// 30. One stream used twice, or on after its end.
pub(crate) fn stream_reuse() {
    for mode in MODES {
        for late in [
            get(1, "/"),
            headers(1).field("a", "b").end_stream(),
            data(1, "x"),
            data(1, "").end_stream(),
        ] {
            // Half-closed: the stream's fault.
            let mut target = Target::server_in(mode, hardened);
            target.say(&get(1, "/hold"));
            target.say(&late);
            target.take(None);
            assert_eq!(target.seen.resets(STREAM_CLOSED), 1, "{late:?}");
            assert_eq!(target.app.requests.get(), 1);
            target.assert_alive(3);
            // Closed: HEADERS are the connection's fault, DATA the stream's.
            let mut target = Target::server(hardened);
            target.say(&get(1, "/"));
            target.say(&late);
            if late.kind == kind::HEADERS {
                target.assert_gone(STREAM_CLOSED, "closed stream");
            } else {
                assert_eq!(target.seen.resets(STREAM_CLOSED), 1, "{late:?}");
                target.assert_alive(3);
            }
            assert!(target.app.requests.get() <= 2, "{late:?}");
        }
        // While it is open a second head is no second request.
        let mut target = Target::server_in(mode, hardened);
        target.say(&post(1, "/hold"));
        target.say(&get(1, "/hold"));
        target.take(None);
        assert_eq!(target.seen.resets(PROTOCOL_ERROR), 1);
        assert_eq!((target.app.requests.get(), target.app.alive.get()), (1, 0));
    }
}

// 34. A length that is not the length.
pub(crate) fn content_length() {
    for (length, body) in [
        ("0", "x"),
        ("5", "abc"),
        ("3", "abcde"),
        ("1", ""),
        ("4", "abc"),
    ] {
        let head = request().field("content-length", length);
        is_refused(vec![head.clone(), data(1, body).end_stream()], 1);
        // The end comes later, by itself or with trailers.
        is_refused(
            vec![head.clone(), data(1, body), data(1, "").end_stream()],
            1,
        );
        is_refused(
            vec![head, data(1, body), headers(1).field("a", "b").end_stream()],
            1,
        );
    }
    is_refused(vec![request().field("content-length", "5").end_stream()], 0);
    for length in [
        "+5",
        "-5",
        "5,5",
        "5, 6",
        "",
        "0x5",
        "5 ",
        "five",
        "99999999999999999999999",
    ] {
        is_refused(
            vec![
                request().field("content-length", length),
                data(1, "abcde").end_stream(),
            ],
            0,
        );
    }
    let two = request()
        .field("content-length", "5")
        .field("content-length", "6");
    is_refused(vec![two], 0);
    let mut target = Target::server(hardened);
    target.say(&request().field("content-length", "5"));
    target.say(&data(1, "abcde").end_stream());
    assert_eq!((target.app.complete.get(), target.seen.ended), (1, 1));

    let head = headers(1).response(200).field("content-length", "5");
    response_is_refused(vec![head.end_stream()]);
}

// 35. Fields that belong to one connection of HTTP/1.1.
pub(crate) fn connection_fields() {
    for (name, value) in [
        ("transfer-encoding", "chunked"),
        ("connection", "close"),
        ("keep-alive", "timeout=5"),
        ("proxy-connection", "keep-alive"),
        ("upgrade", "h2c"),
        ("te", "gzip"),
        ("te", "trailers, gzip"),
    ] {
        is_refused(
            vec![request().field(name, value), data(1, "x").end_stream()],
            0,
        );
        let trailers = headers(1).field(name, value).end_stream();
        is_refused(vec![request(), data(1, "x"), trailers], 1);
        if name != "te" {
            response_is_refused(vec![
                headers(1).response(200).field(name, value).end_stream(),
            ]);
            response_is_refused(vec![headers(1).response(103).field(name, value)]);
        }
    }
    assert!(text_of(request().field("te", "trailers")).contains("te: trailers"));
}

// 36. Octets that end a line, or a name.
pub(crate) fn header_injection() {
    let (mut names, mut values) = (0, 0);
    for octet in 0..=255 {
        let name = [b'x', octet, b'y'];
        let is_name = octet.is_ascii_lowercase()
            || octet.is_ascii_digit()
            || b"!#$%&'*+-.^_`|~".contains(&octet);
        let text = text_of(request().raw(literal(name, "v")).end_stream());
        assert_eq!(text.is_empty(), !is_name, "{octet:#04x} in a name");
        names += usize::from(is_name);
        let value = [b'x', octet, b'y'];
        let is_value = !matches!(octet, 0 | b'\r' | b'\n');
        let text = text_of(request().raw(literal("v", value)).end_stream());
        // Other control octets divide nothing; they may be refused or not.
        if !octet.is_ascii_control() || octet == b'\t' || !is_value {
            assert_eq!(text.is_empty(), !is_value, "{octet:#04x} in a value");
        }
        values += usize::from(!text.is_empty());
    }
    println!("  {names} octets are good in names, {values} in values");
    for (name, value) in [
        ("", "v"),
        (":", "v"),
        (" a", "v"),
        ("a ", "v"),
        ("a:", "v"),
        ("Host", "v"),
        ("a", " v"),
        ("a", "v "),
        ("a", "\tv"),
        ("a", "v\r\nx: y"),
        ("a\r\nx", "v"),
        ("a", "v\0"),
    ] {
        is_refused(vec![request().field(name, value).end_stream()], 0);
        is_refused(
            vec![request(), headers(1).field(name, value).end_stream()],
            1,
        );
        response_is_refused(vec![
            headers(1).response(200).field(name, value).end_stream(),
        ]);
    }
}

/// A request of these fields.
fn head_of(fields: &[(&str, &str)]) -> Frame {
    let add = |frame: Frame, (name, value): &(&str, &str)| frame.field(name, value);
    fields.iter().fold(headers(1), add).end_stream()
}

// 37. Pseudo-header fields that are more than one thing, or nothing.
pub(crate) fn pseudo_fields() {
    let good = [
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "a.example"),
        (":path", "/read"),
    ];
    let changed = |name: &str, value: &'static str| {
        let fields = good.map(|(n, v)| (n, if n == name { value } else { v }));
        head_of(&fields)
    };
    for (name, value) in [
        (":method", "GET /admin HTTP/1.1"),
        (":method", ""),
        (":method", "GE T"),
        (":method", "GET\r\n"),
        (":path", ""),
        (":path", "read"),
        (":path", "/a b"),
        (":path", "/a HTTP/1.1\r\nx: y"),
        (":path", "/a#b"),
        (":path", "/a\tb"),
        (":path", "*"),
        (":path", "https://b.example/"),
        (":scheme", "ht tp"),
        (":scheme", ""),
        (":authority", "user:secret@a.example"),
        (":authority", "a.example/x"),
        (":authority", "a example"),
        (":authority", "a.example\r\nx"),
        (":authority", ""),
    ] {
        is_refused(vec![changed(name, value)], 0);
    }
    for place in 0..4 {
        let mut fields = good.to_vec();
        fields.insert(place, good[place]);
        is_refused(vec![head_of(&fields)], 0);
        if good[place].0 != ":authority" {
            let mut fields = good.to_vec();
            fields.remove(place);
            is_refused(vec![head_of(&fields)], 0);
        }
        let mut fields = good.to_vec();
        fields.push(("a", "b"));
        fields.push(fields[place]);
        fields.remove(place);
        is_refused(vec![head_of(&fields)], 0);
        let trailers = headers(1).field(good[place].0, good[place].1).end_stream();
        is_refused(vec![request(), trailers], 1);
    }
    for extra in [(":status", "200"), (":unknown", "x"), ("host", "b.example")] {
        let mut fields = good.to_vec();
        let place = if extra.0 == "host" { 4 } else { 0 };
        fields.insert(place, extra);
        is_refused(vec![head_of(&fields)], 0);
    }
    one_request_comes_out();
}

/// Whatever is accepted is, written for HTTP/1.1, one request and no more.
fn one_request_comes_out() {
    let pieces = [
        "GET", "/", "a", " ", "\r\n", "#", "?", "%0d", "@", ":", "HTTP/1.1", "*", "\t", "\0", "[",
        "\\", "é",
    ];
    let mut random = 7_u32;
    let mut draw = |most: usize| {
        let count = 1 + most;
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) as usize % count
    };
    let mut accepted = 0;
    for _ in 0..6000 {
        let mut values = ["GET", "https", "a.example", "/"].map(String::from);
        let at = draw(3);
        let parts = draw(2);
        (0..=parts).for_each(|_| {
            let piece = pieces[draw(pieces.len() - 1)];
            if draw(1) == 0 {
                values[at].push_str(piece);
            } else {
                values[at].insert_str(0, piece);
            }
        });
        let [method, scheme, authority, path] = values.each_ref().map(String::as_str);
        let fields = [
            (":method", method),
            (":scheme", scheme),
            (":authority", authority),
            (":path", path),
        ];
        let text = text_of(head_of(&fields));
        if text.is_empty() {
            continue;
        }
        accepted += 1;
        let lines: Vec<&str> = text.split("\r\n").collect();
        let words: Vec<&str> = lines[0].split(' ').collect();
        assert_eq!((words.len(), words[2]), (3, "HTTP/1.1"), "{text:?}");
        assert_eq!(
            lines.len(),
            2 + 2,
            "{text:?}: the line, the host, an empty one, the end"
        );
        assert!(
            !text.contains(['\0', '\t']) && !words[1].contains('#'),
            "{text:?}"
        );
        assert!(
            words[1].starts_with('/') || words[1] == "*" && method == "OPTIONS",
            "{text:?}"
        );
        assert!(
            !lines[1].contains('@') && !lines[1]["host: ".len()..].contains([' ', '/']),
            "{text:?}"
        );
    }
    println!("  {accepted} of 6000 odd requests are accepted");
    assert!((100..5900).contains(&accepted), "{accepted}");
}

// 38. CONNECT with a protocol, where it was not offered or says too little.
pub(crate) fn extended_connect() {
    let connect = |fields: &[(&str, &str)]| {
        fields
            .iter()
            .fold(headers(1), |frame, (name, value)| frame.field(name, value))
    };
    let whole = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        (":scheme", "https"),
        (":authority", "a.example"),
        (":path", "/hold"),
    ];
    is_refused(vec![connect(&whole)], 0);
    let offered: Options = |options| {
        options.hardened().enable_connect_protocol();
    };
    for missing in 0..whole.len() {
        let mut fields = whole.to_vec();
        fields.remove(missing);
        let mut target = Target::server(offered);
        target.say(&connect(&fields));
        // Without :method there is none; without :protocol it is a CONNECT with too much.
        assert_eq!(
            (
                target.seen.resets(PROTOCOL_ERROR),
                target.app.requests.get()
            ),
            (1, 0),
            "{fields:?}"
        );
        target.assert_alive(3);
    }
    let mut target = Target::server(offered);
    let mut fields = whole;
    fields[0].1 = "GET";
    target.say(&connect(&fields));
    assert_eq!(
        (
            target.seen.resets(PROTOCOL_ERROR),
            target.app.requests.get()
        ),
        (1, 0)
    );
    let mut target = Target::server(offered);
    target.say(&connect(&whole));
    assert_eq!(
        (
            target.seen.resets(PROTOCOL_ERROR),
            target.app.requests.get()
        ),
        (0, 1)
    );

    let offer = |value| settings().set(setting::ENABLE_CONNECT_PROTOCOL, value);
    for value in [0, 2] {
        let (mut target, _requests) = Target::client(hardened_client);
        target.say(&offer(1));
        target.say(&offer(value));
        target.assert_gone(PROTOCOL_ERROR, "SETTINGS_ENABLE_CONNECT_PROTOCOL");
    }
}

// 39. Fields after the end, and heads that are none.
pub(crate) fn late_fields() {
    let trailers = headers(1).field("a", "b");
    is_refused(vec![request(), data(1, "x"), trailers.clone()], 1);
    is_refused(
        vec![request(), trailers.clone(), trailers.clone().end_stream()],
        1,
    );
    // Two trailers: the second finds the stream closed.
    let mut target = Target::server(hardened);
    target.say(&post(1, "/hold"));
    target.say(&trailers.clone().end_stream());
    target.say(&trailers.clone().end_stream());
    assert_eq!(target.seen.resets(STREAM_CLOSED), 1);
    target.assert_alive(3);
    response_is_refused(vec![headers(1).response(103).end_stream()]);
    response_is_refused(vec![headers(1).response(101)]);
    response_is_refused(vec![
        headers(1).response(103),
        trailers.clone().end_stream(),
    ]);
    response_is_refused(vec![trailers.end_stream()]);
    response_is_refused(vec![data(1, "x")]);
}

// 42. Secrets beside text of an attacker: they are never in a table, so their length tells nothing.
pub(crate) fn secrets_are_not_indexed() {
    let (mut target, requests) = Target::client(hardened_client);
    let uri = "https://example.com/";
    let mut blocks = Vec::new();
    for _ in 0..2 {
        let mut request = http::Request::get(uri)
            .header("authorization", "Bearer secret")
            .header("cookie", "k=1")
            .header("x-plain", "the same each time");
        let mut own = http::HeaderValue::from_static("token");
        own.set_sensitive(true);
        request = request.header("x-own", own);
        let sent = requests
            .clone()
            .send_request(request.body(()).unwrap(), true);
        target.run();
        drop(sent);
        blocks.push(target.seen.last_block.clone());
    }
    let has = |block: &[u8], part: &[u8]| block.windows(part.len()).any(|window| window == part);
    for block in &blocks {
        // Literals that are never indexed: 0001, and the index of the name.
        assert!(
            has(block, &[0x1f, 23 - 15]),
            "authorization in {block:02x?}"
        );
        assert!(
            has(block, &[0x1f, 32 - 15]),
            "a short cookie in {block:02x?}"
        );
    }
    // What is no secret is one octet the second time.
    assert!(blocks[0].len() - blocks[1].len() > 10, "{blocks:02x?}");
    assert!(
        blocks[1]
            .iter()
            .filter(|octet| **octet & 0xf0 == 0x10)
            .count()
            >= 3
    );

    let mut target = Target::server(hardened);
    let mut blocks = Vec::new();
    for id in [1, 3] {
        target.say(&get(id, "/secret"));
        assert!(has(&target.seen.last_block, &[0x1f, 55 - 15]), "set-cookie");
        blocks.push(target.seen.last_block.clone());
    }
    assert_eq!(blocks[0].len(), blocks[1].len());
}
