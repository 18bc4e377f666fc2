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

/// Asks for bodies whose windows are closed; `before` is said before the requests, `after` behind them.
/// When all windows open at once, the bodies end in this order.
fn end_in_order(
    before: &[(u32, &str)],
    asked: &[(u32, &str)],
    after: &[(u32, &str)],
    order: &[u32],
) {
    let closed = settings().set(setting::INITIAL_WINDOW_SIZE, 0);
    Setup::new()
        .settings(closed)
        .few_cuts()
        .server(async |peer| {
            peer.send(window_update(0, 200_000));
            for (id, value) in before {
                peer.send(priority_update(*id, value));
            }
            for (id, value) in asked {
                let mut head = headers(*id).request("GET", "/bytes/40000");
                if !value.is_empty() {
                    head = head.field("priority", value);
                }
                peer.send(head.end_stream());
                peer.expect_response(*id, 200).await;
            }
            for (id, value) in after {
                peer.send(priority_update(*id, value));
            }
            peer.send(settings().set(setting::INITIAL_WINDOW_SIZE, 40_000));
            let mut ended = Vec::new();
            while ended.len() < asked.len() {
                let frame = peer.expect_kind(kind::DATA).await.frame;
                ended.extend(frame.is_end_stream().then_some(frame.id));
            }
            assert_eq!(ended, order, "{before:?}, then {asked:?}, then {after:?}");
        });
}

//= test RFC 9218 §7
// The PRIORITY_UPDATE that came last counts: more than one before it, more than the field.
#[test]
fn last_priority_update_counts() {
    let plain = [(1, "u=3"), (3, "u=3"), (5, "u=3")];
    end_in_order(&[], &plain, &[], &[1, 3, 5]);
    end_in_order(&[], &plain, &[(5, "u=1")], &[5, 1, 3]);
    end_in_order(
        &[],
        &plain,
        &[(5, "u=1"), (5, "u=7"), (1, "u=5")],
        &[3, 1, 5],
    );
    end_in_order(&[(5, "u=7"), (5, "u=0")], &plain, &[], &[5, 1, 3]);
    end_in_order(
        &[(5, "u=0"), (3, "u=1")],
        &[(1, "u=2"), (3, "u=7"), (5, "u=6")],
        &[],
        &[5, 3, 1],
    );
    end_in_order(
        &[(1, "u=7")],
        &[(1, "u=0"), (3, "u=3"), (5, "u=3")],
        &[(5, "u=2")],
        &[5, 3, 1],
    );
}

//= test RFC 9218 §7
// A PRIORITY_UPDATE says all: what it leaves out has its default value again.
#[test]
fn priority_update_is_complete() {
    let asked = [(1, "u=6"), (3, "u=7"), (5, "u=4")];
    end_in_order(&[], &asked, &[(3, "")], &[3, 5, 1]);
    end_in_order(&[], &asked, &[(3, "i")], &[3, 5, 1]);
    end_in_order(&[(3, "u=0"), (3, "x=y")], &asked, &[], &[3, 5, 1]);
}

//= test RFC 9218 §4
// Unknown parameters, values out of range and of other types are ignored, one by one.
#[test]
fn parameters_that_mean_nothing() {
    for value in [
        "u=8", "u=-1", "u=1.0", "u=\"1\"", "u", "u=(1)", "i=1", "x=1, y;z", "u=9, x",
    ] {
        let asked = [(1, "u=4"), (3, value), (5, "u=2")];
        end_in_order(&[], &asked, &[], &[5, 3, 1]);
    }
    for value in [
        "u=1, x",
        "u=1;a=b",
        "x, u=1",
        "u=7, u=1",
        "u=1, i=?0",
        "u=1, i=2",
    ] {
        let asked = [(1, "u=4"), (3, value), (5, "u=2")];
        end_in_order(&[], &asked, &[], &[3, 5, 1]);
        end_in_order(
            &[],
            &[(1, "u=4"), (3, "u=7"), (5, "u=2")],
            &[(3, value)],
            &[3, 5, 1],
        );
    }
}

//= test RFC 9218 §4.2
// Responses that are not incremental come one by one; incremental ones share.
#[test]
fn incremental_responses_share() {
    let urgent = |order: &str| format!("u=1{order}");
    for (order, turns) in [("", &[1, 3][..]), (", i", &[1, 3, 1, 3, 1, 3])] {
        let closed = settings().set(setting::INITIAL_WINDOW_SIZE, 0);
        Setup::new()
            .settings(closed)
            .few_cuts()
            .server(async |peer| {
                peer.send(window_update(0, 200_000));
                for id in [1, 3] {
                    let head = headers(id).request("GET", "/bytes/40000");
                    peer.send(head.field("priority", urgent(order)).end_stream());
                    peer.expect_response(id, 200).await;
                }
                peer.send(settings().set(setting::INITIAL_WINDOW_SIZE, 40_000));
                let mut seen = Vec::new();
                let mut left = 80_000;
                while left > 0 {
                    let frame = peer.expect_kind(kind::DATA).await.frame;
                    left -= frame.content().0.len();
                    seen.push(frame.id);
                }
                seen.dedup();
                assert_eq!(seen, turns, "{order}");
            });
    }
}

//= test RFC 9218 §7.1
// Idle streams with a priority count like open ones: more of both than the server allows end the connection.
#[test]
fn priority_updates_above_the_limit() {
    let three = || {
        Setup::new().serving(|b| {
            b.max_concurrent_streams(3);
        })
    };
    three().server(async |peer| {
        peer.expect_alive().await;
        let _open = peer.open().await;
        for id in [11, 13, 11, 13, 13] {
            peer.send(priority_update(id, "u=1"));
        }
        peer.expect_nothing().await;
        peer.send(priority_update(15, "u=1"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    // Ids that were skipped are not idle any more; an ended stream makes place for another.
    three().server(async |peer| {
        for id in [1, 3, 5] {
            peer.send(priority_update(id, "u=1"));
        }
        peer.send(headers(5).request("GET", "/").end_stream());
        peer.expect_response(5, 200).await;
        for id in [7, 9, 11] {
            peer.send(priority_update(id, "u=1"));
        }
        peer.expect_nothing().await;
        peer.send(priority_update(13, "u=1"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    // Before the limit is acknowledged a client need not know it.
    three().no_handshake().server(async |peer| {
        peer.never_acknowledge();
        peer.send_preface();
        peer.send(settings());
        for id in [1, 3, 5, 7] {
            peer.send(priority_update(id, "u=1"));
        }
        peer.expect_alive().await;
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
    let asked = [(1, "u=4"), (3, "u=7"), (5, "u=2")];
    for value in ["?", "u=", "u=1,", "\u{fc}", "U=1", "u=1 i"] {
        end_in_order(&[], &asked, &[(3, value)], &[5, 1, 3]);
        end_in_order(&[(3, "u=0"), (3, value)], &asked, &[], &[3, 5, 1]);
    }
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
