//! RFC 9218: the setting, the field, PRIORITY_UPDATE.

use super::support::{
    FRAME_SIZE_ERROR, Frame, PROTOCOL_ERROR, Setup, client, frame, headers, kind, priority_update,
    server, setting, settings, window_update,
};

//= test RFC 9218 §2.1
// The first SETTINGS of either end say that the priorities of RFC 7540 are ignored; no later one does.
#[test]
fn old_priorities_are_renounced_once() {
    let renounces = |all: &[Frame]| -> Vec<u32> {
        let entries = all.iter().filter(|frame| frame.kind == kind::SETTINGS);
        let of_one = |frame: &Frame| frame.entries().into_iter().collect::<Vec<_>>();
        let entries = entries.flat_map(of_one);
        entries
            .filter(|(id, _)| *id == setting::NO_RFC7540_PRIORITIES)
            .map(|(_, value)| value)
            .collect()
    };
    Setup::new().no_handshake().server(async |peer| {
        peer.send_preface();
        peer.send(settings());
        peer.app()
            .order(|connection| connection.set_initial_window_size(10).unwrap());
        let all = peer.everything().await;
        assert_eq!(renounces(&all[..1]), [1]);
        assert_eq!(renounces(&all), [1]);
    });
    Setup::new().no_handshake().client(async |peer| {
        peer.expect_preface().await;
        let all = peer.everything().await;
        assert_eq!(renounces(&all[..1]), [1]);
    });
}

//= test RFC 9218 §7.1
// PRIORITY_UPDATE belongs to the connection.
#[test]
fn priority_update_on_a_stream() {
    server(async |peer| {
        let id = peer.open().await;
        peer.send(frame(
            kind::PRIORITY_UPDATE,
            0,
            id,
            [0, 0, 0, 1, b'u', b'=', b'1'],
        ));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9218 §7.1
// It prioritizes a stream, and stream 0 is none.
#[test]
fn priority_update_of_stream_zero() {
    server(async |peer| {
        peer.send(priority_update(0, "u=1"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9218 §7.1
// It is never shorter than the stream id in it.
#[test]
fn priority_update_too_short() {
    for length in 0..4 {
        server(async |peer| {
            peer.send(frame(kind::PRIORITY_UPDATE, 0, 0, vec![0; length]));
            peer.expect_go_away(FRAME_SIZE_ERROR).await;
        });
    }
}

//= test RFC 9218 §7.1
// Only clients send it.
#[test]
fn client_refuses_a_priority_update() {
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(priority_update(id, "u=1"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9218 §7.1
// A promised stream that is still idle cannot be prioritized.
#[test]
fn priority_update_of_an_idle_push() {
    server(async |peer| {
        peer.send(priority_update(2, "u=1"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9218 §7.1
// A value that cannot be parsed is ignored, and one for an idle, open or closed stream is legal.
#[test]
fn priority_updates_that_are_fine() {
    server(async |peer| {
        for value in [
            "u=1",
            "u=7, i",
            "",
            "u=9",
            "?",
            "u=",
            "\u{fc}",
            "u=1, u=2, x;y=z",
        ] {
            peer.send(priority_update(1, value));
        }
        peer.send(headers(1).request("GET", "/").end_stream());
        peer.expect_response(1, 200).await;
        peer.send(priority_update(1, "u=0"));
        peer.send(priority_update(3, "i").reserved_bit());
        peer.send(frame(kind::PRIORITY_UPDATE, 0xff, 0, [0x80, 0, 0, 3]));
        peer.expect_alive().await;
    });
}

//= test RFC 9218 §5
// A `priority` field that cannot be parsed is ignored and reaches the application as it came.
#[test]
fn priority_field_that_is_none() {
    server(async |peer| {
        peer.send(
            headers(1)
                .request("GET", "/")
                .field("priority", "u=, ?")
                .end_stream(),
        );
        peer.expect_response(1, 200).await;
        assert_eq!(
            peer.exchanges().await[0].request.headers()["priority"],
            "u=, ?"
        );
    });
}

//= test RFC 9218 §4.1
// A more urgent response goes first.
#[test]
fn urgent_response_goes_first() {
    let closed = settings().set(setting::INITIAL_WINDOW_SIZE, 0);
    Setup::new()
        .settings(closed)
        .few_cuts()
        .server(async |peer| {
            peer.send(window_update(0, 100_000));
            for (id, priority) in [(1, "u=7"), (3, "u=0")] {
                let head = headers(id)
                    .request("GET", "/bytes/60000")
                    .field("priority", priority);
                peer.send(head.end_stream());
                peer.expect_response(id, 200).await;
            }
            // Both wait for the same credit, which comes for both at once.
            peer.send(settings().set(setting::INITIAL_WINDOW_SIZE, 60_000));
            let mut ended = Vec::new();
            while ended.len() < 2 {
                let frame = peer.expect_kind(kind::DATA).await.frame;
                ended.extend(frame.is_end_stream().then_some(frame.id));
            }
            assert_eq!(ended, [3, 1]);
        });
}
