//! RFC 9113 §5.1: what a stream may receive in each of its states.

use super::support::{
    CANCEL, Frame, PROTOCOL_ERROR, Peer, STREAM_CLOSED, Setup, both, client, continuation, data,
    headers, kind, priority, push_promise, reset, server, window_update,
};

//= test RFC 9113 §5.1
// 16. An idle stream takes HEADERS and PRIORITY only.
#[test]
fn frames_on_an_idle_stream() {
    let wrong: [fn(u32) -> Frame; 4] = [
        |id| data(id, "x"),
        |id| reset(id, CANCEL),
        |id| window_update(id, 1),
        continuation,
    ];
    for build in wrong {
        for id in [1, 2, 101, 102] {
            both(async |peer| {
                peer.send(build(id));
                peer.expect_go_away(PROTOCOL_ERROR).await;
            });
        }
    }
}

//= test RFC 9113 §5.1
// 16. A client's idle streams take no HEADERS: its peer cannot open a stream with them.
#[test]
fn response_without_request() {
    for id in [1, 2] {
        client(async |peer| {
            peer.send(headers(id).response(200).end_stream());
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §5.1
// 17. A client cannot open a stream whose id belongs to the server.
#[test]
fn headers_on_an_idle_stream_of_the_server() {
    server(async |peer| {
        peer.send(headers(2).request("GET", "/").end_stream());
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

async fn promise(peer: &mut Peer) -> u32 {
    let id = peer.fresh_id();
    peer.send(headers(id).request("GET", "/promise").end_stream());
    peer.expect_kind(kind::PUSH_PROMISE).await.frame.word(0)
}

//= test RFC 9113 §5.1
// 18. A stream that we have promised takes RST_STREAM, PRIORITY and WINDOW_UPDATE only.
#[test]
fn frames_on_a_reserved_local_stream() {
    let wrong: [fn(u32) -> Frame; 2] = [|id| data(id, "x"), |id| headers(id).request("GET", "/")];
    for build in wrong {
        server(async |peer| {
            let promised = promise(peer).await;
            peer.send(build(promised));
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
    server(async |peer| {
        let promised = promise(peer).await;
        peer.send(window_update(promised, 1));
        peer.send(priority(promised, 0));
        peer.send(reset(promised, CANCEL));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.1
// 19. A stream that the peer has promised takes HEADERS, RST_STREAM and PRIORITY only.
#[test]
fn frames_on_a_reserved_remote_stream() {
    let wrong: [fn(u32) -> Frame; 2] = [|id| data(id, "x"), |id| window_update(id, 1)];
    for build in wrong {
        client(async |peer| {
            let (id, _call) = peer.call("GET", "/").await;
            peer.send(push_promise(id, 2).request("GET", "/pushed"));
            peer.send(build(2));
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).request("GET", "/pushed"));
        peer.send(priority(2, 0));
        peer.send(reset(2, CANCEL));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.1
// 20. A stream that the peer has ended takes neither DATA nor HEADERS any more.
#[test]
fn frames_on_a_half_closed_remote_stream() {
    let wrong: [fn(u32) -> Frame; 2] = [
        |id| data(id, "x"),
        |id| headers(id).field("late", "1").end_stream(),
    ];
    for build in wrong {
        both(async |peer| {
            let id = peer.half_closed_remote().await;
            peer.send(build(id));
            peer.expect_stream_error(id, STREAM_CLOSED).await;
        });
    }
}

//= test RFC 9113 §5.1
// 20. A stream that the peer has ended takes WINDOW_UPDATE, PRIORITY and RST_STREAM.
#[test]
fn stream_frames_on_a_half_closed_remote_stream() {
    both(async |peer| {
        let id = peer.half_closed_remote().await;
        peer.send(window_update(id, 1));
        peer.send(priority(id, 0));
        peer.send(reset(id, CANCEL));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.1
// 21. A stream that we have ended takes every frame of a message.
#[test]
fn frames_on_a_half_closed_local_stream() {
    server(async |peer| {
        let id = peer.half_closed_local().await;
        peer.send(window_update(id, 1));
        peer.send(priority(id, 0));
        peer.send(data(id, "body"));
        peer.send(headers(id).field("checksum", "1").end_stream());
        let exchange = peer.exchanges().await.pop().unwrap();
        assert_eq!(exchange.body, b"body");
        assert_eq!(exchange.trailers.unwrap()["checksum"], "1");
        peer.expect_alive().await;
    });
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(window_update(id, 1));
        peer.send(priority(id, 0));
        peer.send(headers(id).response(200));
        peer.send(data(id, "body"));
        peer.send(headers(id).field("checksum", "1").end_stream());
        let outcome = call.done().await;
        assert_eq!(outcome.body, b"body");
        assert_eq!(outcome.trailers.unwrap()["checksum"], "1");
    });
}

//= test RFC 9113 §5.1
// 22. WINDOW_UPDATE and RST_STREAM that cross our END_STREAM are no error.
#[test]
fn late_frames_on_a_closed_stream() {
    both(async |peer| {
        let id = peer.closed().await;
        peer.send(window_update(id, 1));
        peer.send(reset(id, CANCEL));
        peer.send(window_update(id, 1));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.1
// 22. A closed stream takes no DATA and no HEADERS: its error, or the connection's.
#[test]
fn messages_on_a_closed_stream() {
    let wrong: [fn(u32) -> Frame; 2] = [
        |id| data(id, "x"),
        |id| headers(id).field("late", "1").end_stream(),
    ];
    for build in wrong {
        both(async |peer| {
            let id = peer.closed().await;
            peer.send(build(id));
            peer.expect_either(id, STREAM_CLOSED).await;
        });
    }
}

//= test RFC 9113 §5.1
// 23. Frames that cross our RST_STREAM are processed as little as possible and dropped.
#[test]
fn frames_after_our_reset_are_dropped() {
    both(async |peer| {
        let id = peer.reset_by_subject().await;
        if !peer.is_server() {
            peer.send(headers(id).response(200));
        }
        peer.send(data(id, "body"));
        peer.send(window_update(id, 1));
        peer.send(headers(id).field("checksum", "1").end_stream());
        peer.send(reset(id, CANCEL));
        peer.expect_nothing().await;
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.1
// 23. DATA that crosses our RST_STREAM counts on the connection's window and comes back.
#[test]
fn data_after_our_reset_is_credited() {
    Setup::new().few_cuts().both(async |peer| {
        let id = peer.reset_by_subject().await;
        if !peer.is_server() {
            peer.send(headers(id).response(200));
        }
        let mut window = 65_535;
        for _ in 0..10 {
            peer.send(data(id, vec![0; 16_000]).padded(255));
            window += peer.credit(0).await as usize;
            window -= 16_256;
            assert!(window >= 16_256, "credit leaks: {window} octets are left");
        }
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.1
// 24. Nothing is sent on a stream that the peer has reset.
#[test]
fn nothing_is_sent_on_a_closed_stream() {
    Setup::new().few_cuts().server(async |peer| {
        let id = peer.fresh_id();
        peer.send(headers(id).request("GET", "/bytes/100000").end_stream());
        peer.expect_response(id, 200).await;
        peer.expect_octets(id, 65_535).await;
        peer.send(reset(id, CANCEL));
        peer.send(window_update(0, 100_000));
        peer.expect_nothing().await;
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.1
// 25. PRIORITY is legal in every state.
#[test]
fn priority_in_every_state() {
    both(async |peer| {
        peer.send(priority(201, 0));
        peer.send(priority(202, 201));
        let states = [
            peer.open().await,
            peer.half_closed_local().await,
            peer.half_closed_remote().await,
            peer.closed().await,
            peer.reset_by_subject().await,
            peer.reset_by_peer().await,
        ];
        for id in states {
            peer.send(priority(id, 0));
        }
        peer.expect_nothing().await;
        peer.expect_alive().await;
    });
}
