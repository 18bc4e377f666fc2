//! RFC 9113 §6.8: GOAWAY.

use super::support::{
    Code, End, NO_ERROR, Over, PROTOCOL_ERROR, Peer, Setup, both, client, data, frame, go_away,
    headers, indexed_literal, kind, request, reset, server, window_update,
};

//= test RFC 9113 §6.8
// 82. GOAWAY belongs to the connection.
#[test]
fn go_away_on_a_stream() {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(frame(kind::GOAWAY, 0, id, [0; 8]));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.8
// 83. The last stream id of a peer never goes up.
#[test]
fn rising_last_stream_id() {
    client(async |peer| {
        peer.call("GET", "/").await;
        peer.send(go_away(1, NO_ERROR));
        peer.send(go_away(3, NO_ERROR));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    server(async |peer| {
        peer.open().await;
        peer.send(go_away(0, NO_ERROR));
        peer.send(go_away(2, NO_ERROR));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

/// Reads the two GOAWAY frames of a graceful end; the last stream of each.
async fn drain(peer: &mut Peer) -> (u32, u32) {
    peer.app()
        .order(|connection| connection.graceful_shutdown());
    // Something must come in to make the connection's task look.
    let first = peer.expect_kind(kind::GOAWAY).await.frame;
    let second = peer.expect_kind(kind::GOAWAY).await.frame;
    for frame in [&first, &second] {
        assert_eq!(Code(frame.word(4)), NO_ERROR);
    }
    (first.word(0), second.word(0))
}

//= test RFC 9113 §6.8
// 83. Our own graceful end names all streams first, then the last one that was processed.
#[test]
fn graceful_end_in_two_steps() {
    server(async |peer| {
        peer.send(headers(5).request("GET", "/hold").end_stream());
        peer.settle().await;
        assert_eq!(drain(peer).await, ((1 << 31) - 1, 5));
    });
}

//= test RFC 9113 §6.8
// 83. A graceful end waits for the streams that are open, then the connection closes.
#[test]
fn graceful_end_waits() {
    server(async |peer| {
        peer.send(headers(1).request("POST", "/"));
        peer.settle().await;
        drain(peer).await;
        peer.send(data(1, "the rest").end_stream());
        peer.expect_response(1, 200).await;
        peer.expect_eof().await;
        assert_eq!(*peer.app().result.borrow(), Some(Over::Cleanly));
    });
}

//= test RFC 9113 §6.8
// 84. After a GOAWAY no stream is opened; those up to its last id go on.
#[test]
fn no_request_after_go_away() {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(go_away(id, NO_ERROR));
        peer.settle().await;
        let late = peer.caller().call(request("GET", "/"), false);
        peer.expect_nothing().await;
        assert!(matches!(late.done().await.end, End::Failed(_)));
        peer.send(headers(id).response(200));
        peer.send(data(id, "x").end_stream());
        let outcome = call.done().await;
        assert_eq!((outcome.end, &outcome.body[..]), (End::Complete, &b"x"[..]));
    });
}

//= test RFC 9113 §6.8
// 84. Streams above the last id were not processed: they fail as the peer's doing.
#[test]
fn go_away_fails_later_streams() {
    client(async |peer| {
        let (first, kept) = peer.call("GET", "/").await;
        let (_, failed) = peer.call("GET", "/").await;
        peer.send(go_away(first, NO_ERROR));
        let outcome = failed.done().await;
        assert!(matches!(outcome.end, End::Failed(_)) && outcome.remote);
        peer.send(headers(first).response(200).end_stream());
        assert_eq!(kept.done().await.end, End::Complete);
    });
}

//= test RFC 9113 §6.8
// 84. A server that was told to go away promises nothing more.
#[test]
fn no_promise_after_go_away() {
    server(async |peer| {
        peer.send(go_away(0, NO_ERROR));
        peer.send(headers(1).request("GET", "/push").end_stream());
        let all = peer.everything().await;
        assert!(all.iter().all(|f| f.kind != kind::PUSH_PROMISE), "{all:?}");
    });
}

//= test RFC 9113 §6.8
// 85. After our GOAWAY the blocks of new streams are still decoded, and then dropped.
#[test]
fn blocks_after_our_go_away() {
    server(async |peer| {
        let id = peer.open().await;
        drain(peer).await;
        let late = headers(id + 2).request("POST", "/");
        peer.send(late.raw(indexed_literal("checksum", "1")));
        peer.send(data(id + 2, "late").end_stream());
        peer.expect_nothing().await;
        peer.send(headers(id).raw([0xbe]).end_stream());
        let exchanges = peer.exchanges().await;
        assert_eq!(exchanges.len(), 1);
        assert_eq!(exchanges[0].trailers.as_ref().unwrap()["checksum"], "1");
    });
}

//= test RFC 9113 §6.8
// 85. After our GOAWAY the DATA of new streams still counts on the connection's window.
#[test]
fn data_after_our_go_away() {
    Setup::new().few_cuts().server(async |peer| {
        let id = peer.open().await;
        drain(peer).await;
        peer.send(headers(id + 2).request("POST", "/"));
        let mut window = 65_535;
        for _ in 0..10 {
            assert!(window >= 16_000, "credit leaks: {window} octets are left");
            peer.send(data(id + 2, vec![0; 16_000]));
            window += peer.credit(0).await;
            window -= 16_000;
        }
    });
}

//= test RFC 9113 §5.1
// 16. After our GOAWAY too, an idle stream that the peer cannot open is idle.
#[test]
fn idle_streams_of_ours_after_our_go_away() {
    for late in [reset(100, NO_ERROR), window_update(100, 1), data(100, "x")] {
        server(async |peer| {
            peer.open().await;
            drain(peer).await;
            peer.send(late.clone());
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.8
// 86. Any code is accepted; streams that are open go on.
#[test]
fn go_away_with_an_unknown_code() {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(go_away(id, Code(0xdead_beef)).raw("some text"));
        peer.send(headers(id).response(200).end_stream());
        assert_eq!(call.done().await.end, End::Complete);
    });
    server(async |peer| {
        peer.send(headers(1).request("POST", "/"));
        peer.send(go_away(0, Code(0xdead_beef)));
        peer.send(data(1, "x").end_stream());
        peer.expect_response(1, 200).await;
    });
}
