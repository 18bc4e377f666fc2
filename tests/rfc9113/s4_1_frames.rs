//! RFC 9113 §4.1 and §4.2: the form and the size of frames.

use super::support::{
    Code, End, FRAME_SIZE_ERROR, Frame, Setup, both, client, data, flag, frame, go_away, headers,
    kind, ping, priority, push_promise, request, reset, server, setting, settings, window_update,
};

const MAX: usize = 16_384;

//= test RFC 9113 §4.1
// 5. A frame of an unknown type is dropped, wherever it comes.
#[test]
fn unknown_frame_types_are_ignored() {
    both(async |peer| {
        let id = peer.open().await;
        for kind in [0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x11, 0x42, 0xfe, 0xff] {
            peer.send(frame(kind, 0xff, 0, "?"));
            peer.send(frame(kind, 0, id, ""));
            peer.send(frame(kind, 0, id + 100, "??"));
        }
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §4.1
// 5. Each of the types that no RFC of this crate defines is dropped.
#[test]
fn every_unknown_type_is_ignored() {
    Setup::new().few_cuts().both(async |peer| {
        for kind in (0x0a..=0xff).filter(|&kind| kind != kind::PRIORITY_UPDATE) {
            peer.send(frame(kind, 0, 0, [0; 16]));
        }
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §4.1
// 6. Flags that a frame type does not define mean nothing.
#[test]
fn undefined_flags_are_ignored() {
    both(async |peer| {
        peer.send(settings().more_flags(0xfe));
        peer.send(window_update(0, 1).more_flags(0xff));
        peer.send(ping(*b"flagging").more_flags(0xfe));
        let pong = peer.expect_kind(kind::PING).await.frame;
        assert_eq!(
            (pong.flags, &pong.payload[..]),
            (flag::ACK, &b"flagging"[..])
        );
        let id = peer.open().await;
        if !peer.is_server() {
            peer.send(headers(id).response(200).more_flags(0xd2));
        }
        peer.send(window_update(id, 1).more_flags(0xff));
        peer.send(priority(id, 0).more_flags(0xff));
        peer.send(data(id, "x").more_flags(0xf6));
        peer.send(reset(id, Code(8)).more_flags(0xff));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §4.1
// 7. The reserved bit is ignored: in the head of a frame and before 31-bit values.
#[test]
fn reserved_bits_are_ignored() {
    both(async |peer| {
        peer.send(ping(*b"reserved").reserved_bit());
        let pong = peer.expect_kind(kind::PING).await.frame;
        assert_eq!(&pong.payload, b"reserved");
        let id = peer.open().await;
        peer.send(window_update(id, 1 << 31 | 1).reserved_bit());
        peer.send(window_update(0, 1 << 31 | 1));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §4.1
// 7. The reserved bit before the promised stream id is ignored.
#[test]
fn reserved_bit_of_a_promise_is_ignored() {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 1 << 31 | 2).request("GET", "/pushed"));
        peer.send(headers(2).response(200).end_stream());
        peer.send(headers(id).response(200).end_stream());
        assert_eq!(call.done().await.pushed[0].0, "/pushed");
    });
}

//= test RFC 9113 §4.2
// 8. Every endpoint takes frames of 16,384 octets.
#[test]
fn frames_of_16384_octets_are_accepted() {
    Setup::new().few_cuts().both(async |peer| {
        let id = peer.open().await;
        if !peer.is_server() {
            peer.send(headers(id).response(200));
        }
        peer.send(data(id, vec![b'x'; MAX]));
        peer.send(frame(0xbe, 0, 0, vec![0; MAX]));
        peer.expect_alive().await;
        if peer.is_server() {
            assert_eq!(peer.exchanges().await[0].body.len(), MAX);
        }
    });
}

fn refuses_head(first: impl Fn(u32) -> Frame) {
    both(async |peer| {
        let id = peer.open().await;
        // The head alone must do: nobody waits for a payload that is too long.
        let head = first(id).encode()[..9].to_vec();
        peer.send_raw(head);
        peer.expect_go_away(FRAME_SIZE_ERROR).await;
    });
}

//= test RFC 9113 §4.2
// 9. A frame above our limit that changes the connection's state ends the connection.
#[test]
fn too_long_headers() {
    refuses_head(|id| headers(id).claim(MAX + 1));
}

//= test RFC 9113 §4.2
// 9. The same for SETTINGS, although the length is a multiple of six.
#[test]
fn too_long_settings() {
    refuses_head(|_| settings().claim(16_386));
}

//= test RFC 9113 §4.2
// 9. The same for PUSH_PROMISE.
#[test]
fn too_long_push_promise() {
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send_raw(&push_promise(id, 2).claim(MAX + 1).encode()[..9]);
        peer.expect_go_away(FRAME_SIZE_ERROR).await;
    });
}

//= test RFC 9113 §4.2
// 9. The same for CONTINUATION.
#[test]
fn too_long_continuation() {
    server(async |peer| {
        peer.send(headers(1).no_end_headers());
        peer.send_raw(&frame(kind::CONTINUATION, 0, 1, "").claim(MAX + 1).encode()[..9]);
        peer.expect_go_away(FRAME_SIZE_ERROR).await;
    });
}

//= test RFC 9113 §4.2
// 9. The same for any frame on stream 0, known or not, however long it claims to be.
#[test]
fn too_long_on_stream_zero() {
    refuses_head(|_| frame(kind::PING, 0, 0, "").claim(MAX + 1));
    refuses_head(|_| frame(0xbe, 0, 0, "").claim((1 << 24) - 1));
}

//= test RFC 9113 §4.2
// 9. DATA above our limit may cost only its stream.
#[test]
fn too_long_data() {
    Setup::new().few_cuts().both(async |peer| {
        let id = peer.open().await;
        peer.send(data(id, vec![0; MAX + 1]));
        peer.expect_either(id, FRAME_SIZE_ERROR).await;
    });
}

//= test RFC 9113 §4.2
// 9. The limit is the one that we announced, once it is acknowledged.
#[test]
fn announced_frame_size_holds() {
    let setup = Setup::new().few_cuts().serving(|b| {
        b.max_frame_size(20_000);
    });
    setup.server(async |peer| {
        let id = peer.open().await;
        peer.send(data(id, vec![b'x'; 20_000]));
        peer.expect_alive().await;
        assert_eq!(peer.exchanges().await[0].body.len(), 20_000);
        peer.send_raw(&data(id, "").claim(20_001).encode()[..9]);
        peer.send_raw(vec![0; 20_001]);
        peer.expect_either(id, FRAME_SIZE_ERROR).await;
    });
}

//= test RFC 9113 §4.2
// 10. No frame above the peer's limit is sent: header blocks and DATA are split.
#[test]
fn long_messages_are_split() {
    Setup::new().few_cuts().client(async |peer| {
        let mut long = request("POST", "/");
        long.headers_mut()
            .insert("long", "#".repeat(40_000).parse().unwrap());
        let call = peer.caller().call(long, true);
        let head = peer.expect_kind(kind::HEADERS).await;
        assert!(!head.frame.has(flag::END_HEADERS));
        assert_eq!(head.field("long").map(str::len), Some(40_000));
        peer.settle().await;
        call.send(&[b'x'; 40_000], true);
        // The auditor looks at the length of each frame.
        assert!(
            peer.expect_octets(head.frame.id, 40_000)
                .await
                .is_end_stream()
        );
    });
}

//= test RFC 9113 §4.2
// 10. A larger limit of the peer may be used, and holds.
#[test]
fn larger_frames_only_when_allowed() {
    let large = settings()
        .set(setting::MAX_FRAME_SIZE, 20_000)
        .set(setting::INITIAL_WINDOW_SIZE, 1 << 20);
    Setup::new()
        .few_cuts()
        .settings(large)
        .server(async |peer| {
            peer.send(window_update(0, 1 << 20));
            peer.send(headers(1).request("GET", "/bytes/100000").end_stream());
            peer.expect_response(1, 200).await;
            assert!(peer.expect_octets(1, 100_000).await.is_end_stream());
        });
}

//= test RFC 9113 §4.2
// 11. A frame too short for its fixed fields is a frame size error.
#[test]
fn too_short_frames() {
    let short: [fn(u32) -> Frame; 4] = [
        |_| frame(kind::GOAWAY, 0, 0, [0; 7]),
        |id| frame(kind::HEADERS, flag::PADDED | flag::END_HEADERS, id, ""),
        |id| {
            frame(
                kind::HEADERS,
                flag::PRIORITY | flag::END_HEADERS,
                id,
                [0; 4],
            )
        },
        |id| {
            frame(
                kind::HEADERS,
                flag::PADDED | flag::PRIORITY | flag::END_HEADERS,
                id,
                [0; 5],
            )
        },
    ];
    for build in short {
        both(async |peer| {
            let id = peer.open().await;
            peer.send(build(id));
            peer.expect_go_away(FRAME_SIZE_ERROR).await;
        });
    }
}

//= test RFC 9113 §4.2
// 11. DATA with PADDED and without the octet for it.
#[test]
fn too_short_data() {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(frame(kind::DATA, flag::PADDED, id, ""));
        peer.expect_either(id, FRAME_SIZE_ERROR).await;
    });
}

//= test RFC 9113 §4.2
// 11. PUSH_PROMISE without room for the promised id.
#[test]
fn too_short_push_promise() {
    for (flags, length) in [(0, 3), (flag::PADDED, 0), (flag::PADDED, 4)] {
        client(async |peer| {
            let (id, _call) = peer.call("GET", "/").await;
            let flags = flags | flag::END_HEADERS;
            peer.send(frame(kind::PUSH_PROMISE, flags, id, vec![0; length]));
            peer.expect_go_away(FRAME_SIZE_ERROR).await;
        });
    }
}

//= test RFC 9113 §4.1
// 7. The reserved bit before GOAWAY's last stream id is ignored.
#[test]
fn reserved_bit_of_go_away_is_ignored() {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(go_away(1 << 31 | id, Code(0)));
        peer.send(headers(id).response(200).end_stream());
        let outcome = call.done().await;
        assert_eq!((outcome.status(), outcome.end), (Some(200), End::Complete));
    });
}
