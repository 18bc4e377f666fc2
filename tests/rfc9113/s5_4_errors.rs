//! RFC 9113 §5.2, §5.4 and §5.5: flow control in general, errors, extensions.

use super::support::{
    CANCEL, Code, End, PROTOCOL_ERROR, Setup, both, client, data, frame, go_away, headers, kind,
    ping, reset, server, settings, window_update,
};

//= test RFC 9113 §5.2.2
// 33. Frames are read while DATA is blocked, so that credit gets through.
#[test]
fn credit_is_read_while_blocked() {
    Setup::new().few_cuts().server(async |peer| {
        peer.send(headers(1).request("GET", "/bytes/100000").end_stream());
        peer.expect_response(1, 200).await;
        peer.expect_octets(1, 65_535).await;
        peer.send(ping(*b"blocked?"));
        peer.expect_kind(kind::PING).await;
        peer.send(window_update(1, 100_000));
        peer.send(window_update(0, 100_000));
        assert!(peer.expect_octets(1, 34_465).await.is_end_stream());
    });
    Setup::new().few_cuts().client(async |peer| {
        let (id, call) = peer.call("POST", "/").await;
        call.send(&[0; 100_000], true);
        peer.expect_octets(id, 65_535).await;
        peer.send(ping(*b"blocked?"));
        peer.expect_kind(kind::PING).await;
        peer.send(window_update(id, 100_000));
        peer.send(window_update(0, 100_000));
        assert!(peer.expect_octets(id, 34_465).await.is_end_stream());
    });
}

//= test RFC 9113 §5.2.2
// 33. A body that nobody reads does not keep other streams' frames from being read.
#[test]
fn unread_body_blocks_nobody() {
    Setup::new().few_cuts().server(async |peer| {
        let id = peer.fresh_id();
        peer.send(headers(id).request("POST", "/unread"));
        for _ in 0..3 {
            peer.send(data(id, vec![0; 16_000]));
        }
        peer.expect_alive().await;
        assert_eq!(peer.unread(), 0);
    });
}

//= test RFC 9113 §5.4.1
// 34. After the GOAWAY for an error the connection is closed, and every request fails.
#[test]
fn connection_is_closed_after_an_error() {
    server(async |peer| {
        peer.open().await;
        peer.send(data(0, "x"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
        let exchange = &peer.exchanges().await[0];
        assert_eq!(exchange.end, End::Failed(Some(PROTOCOL_ERROR)));
    });
    client(async |peer| {
        let (_, call) = peer.call("GET", "/").await;
        peer.send(data(0, "x"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
        let outcome = call.done().await;
        assert_eq!(
            (outcome.end, outcome.remote),
            (End::Failed(Some(PROTOCOL_ERROR)), false)
        );
    });
}

//= test RFC 9113 §5.4.1
// 34. What comes behind the fatal frame is not processed any more.
#[test]
fn nothing_is_processed_after_an_error() {
    server(async |peer| {
        peer.send(data(0, "x"));
        peer.send(headers(1).request("GET", "/").end_stream());
        peer.expect_go_away(PROTOCOL_ERROR).await;
        assert!(peer.exchanges().await.is_empty());
    });
}

//= test RFC 9113 §5.4.1
// 35. GOAWAY carries the last stream that was or might have been processed.
#[test]
fn go_away_names_the_last_stream() {
    server(async |peer| {
        peer.send(headers(1).request("GET", "/hold").end_stream());
        peer.send(headers(5).request("GET", "/hold").end_stream());
        peer.settle().await;
        peer.send(data(0, "x"));
        let frame = peer.expect_kind(kind::GOAWAY).await.frame;
        assert_eq!((frame.word(0), Code(frame.word(4))), (5, PROTOCOL_ERROR));
    });
    client(async |peer| {
        peer.call("GET", "/").await;
        peer.send(data(0, "x"));
        assert_eq!(peer.expect_kind(kind::GOAWAY).await.frame.word(0), 0);
    });
}

//= test RFC 9113 §5.4.2
// 36. A reset is not answered with a reset, whatever the state.
#[test]
fn reset_is_not_answered() {
    both(async |peer| {
        let states = [
            peer.open().await,
            peer.half_closed_local().await,
            peer.half_closed_remote().await,
            peer.closed().await,
            peer.reset_by_subject().await,
            peer.reset_by_peer().await,
        ];
        for id in states {
            peer.send(reset(id, CANCEL));
        }
        peer.expect_nothing().await;
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.4.2
// 37. After our reset any frame of the stream may still be on its way; none is answered.
#[test]
fn frames_in_flight_after_our_reset() {
    both(async |peer| {
        let id = peer.open().await;
        if !peer.is_server() {
            peer.send(headers(id).response(200));
        }
        peer.send(window_update(id, 0));
        peer.send(data(id, "in flight"));
        peer.send(headers(id).field("checksum", "1").end_stream());
        peer.send(window_update(id, 1));
        peer.expect_stream_error(id, PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §5.5
// 38. An extension frame inside a field block ends the connection.
#[test]
fn extension_frame_inside_a_block() {
    server(async |peer| {
        peer.send(headers(1).request("GET", "/").no_end_headers());
        peer.send(frame(0xbe, 0, 0, "?"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(200).no_end_headers());
        peer.send(frame(0xbe, 0, id, "?"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §5.5
// 39. Unknown settings and error codes are ignored or taken as they are.
#[test]
fn unknown_values_are_ignored() {
    both(async |peer| {
        peer.send(settings().set(0x7, 1).set(0xa, u32::MAX).set(0xffff, 7));
        let id = peer.open().await;
        peer.send(reset(id, Code(0xdead_beef)));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.4.3
// 34. When the peer closes the connection in the middle, every open stream fails.
#[test]
fn vanished_peer() {
    server(async |peer| {
        peer.open().await;
        peer.close();
        assert!(matches!(peer.exchanges().await[0].end, End::Failed(_)));
    });
    client(async |peer| {
        let (_, call) = peer.call("GET", "/").await;
        peer.send_raw([0, 0]);
        peer.close();
        assert!(matches!(call.done().await.end, End::Failed(_)));
    });
}

//= test RFC 9113 §5.4.1
// 34. A peer that sends GOAWAY for an error ends the connection on its side.
#[test]
fn go_away_of_the_peer_reaches_the_application() {
    client(async |peer| {
        let (_, call) = peer.call("GET", "/").await;
        peer.send(go_away(0, PROTOCOL_ERROR));
        let outcome = call.done().await;
        assert_eq!(
            (outcome.end, outcome.remote),
            (End::Failed(Some(PROTOCOL_ERROR)), true)
        );
    });
}
