//! RFC 9113 §6.4 and §6.7: RST_STREAM and PING.

use super::support::{
    CANCEL, Code, End, FRAME_SIZE_ERROR, PROTOCOL_ERROR, Setup, both, client, data, flag, frame,
    headers, kind, ping, reset, server, window_update,
};

//= test RFC 9113 §6.4
// 53. RST_STREAM belongs to a stream.
#[test]
fn reset_of_stream_zero() {
    both(async |peer| {
        peer.send(reset(0, CANCEL));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.4
// 54. An idle stream cannot be reset.
#[test]
fn reset_of_an_idle_stream() {
    for id in [1, 2] {
        both(async |peer| {
            peer.send(reset(id, CANCEL));
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.4
// 55. RST_STREAM of another length than four ends the connection.
#[test]
fn reset_of_another_length() {
    for length in [0, 3, 5] {
        both(async |peer| {
            let id = peer.open().await;
            peer.send(frame(kind::RST_STREAM, 0, id, vec![0; length]));
            peer.expect_go_away(FRAME_SIZE_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.4
// 56. After RST_STREAM nothing but PRIORITY is sent for the stream, by neither side's reset.
#[test]
fn nothing_is_sent_after_a_reset() {
    Setup::new().few_cuts().client(async |peer| {
        let (id, call) = peer.call("POST", "/").await;
        call.send(&[0; 100_000], true);
        peer.expect_octets(id, 65_535).await;
        peer.send(reset(id, CANCEL));
        peer.send(window_update(0, 100_000));
        peer.expect_nothing().await;
        assert_eq!(call.done().await.end, End::Failed(Some(CANCEL)));
    });
    Setup::new().few_cuts().client(async |peer| {
        let (id, call) = peer.call("POST", "/").await;
        call.send(&[0; 100_000], true);
        peer.expect_octets(id, 65_535).await;
        call.stream
            .borrow_mut()
            .as_mut()
            .unwrap()
            .send_reset(super::support::Reason::CANCEL);
        peer.expect_reset(id, CANCEL).await;
        peer.send(window_update(0, 100_000));
        peer.send(headers(id).response(200));
        peer.send(data(id, "x"));
        peer.expect_nothing().await;
    });
}

//= test RFC 9113 §6.4
// 57. Any code is accepted, and the application is told.
#[test]
fn reset_with_an_unknown_code() {
    let unknown = Code(0xdead_beef);
    server(async |peer| {
        let id = peer.open().await;
        peer.send(reset(id, unknown));
        assert_eq!(peer.exchanges().await[0].end, End::Failed(Some(unknown)));
        peer.expect_alive().await;
    });
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(reset(id, unknown));
        let outcome = call.done().await;
        assert_eq!(
            (outcome.end, outcome.remote),
            (End::Failed(Some(unknown)), true)
        );
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §6.4
// 53. A reset in the middle of a body is an error and never its end; what came before is there.
#[test]
fn reset_in_the_middle_of_a_body() {
    server(async |peer| {
        let id = peer.open().await;
        peer.send(data(id, "half"));
        peer.send(reset(id, CANCEL));
        let exchange = &peer.exchanges().await[0];
        assert_eq!(exchange.end, End::Failed(Some(CANCEL)));
    });
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(200));
        peer.send(data(id, "half"));
        peer.settle().await;
        peer.send(reset(id, CANCEL));
        let outcome = call.done().await;
        assert_eq!(
            (&outcome.body[..], outcome.end),
            (&b"half"[..], End::Failed(Some(CANCEL)))
        );
    });
}

//= test RFC 9113 §6.7
// 78. PING belongs to the connection.
#[test]
fn ping_on_a_stream() {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(frame(kind::PING, 0, id, [0; 8]));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.7
// 79. PING of another length than eight ends the connection, with ACK too.
#[test]
fn ping_of_another_length() {
    for (flags, length) in [(0, 0), (0, 7), (0, 9), (flag::ACK, 4)] {
        both(async |peer| {
            peer.send(frame(kind::PING, flags, 0, vec![0; length]));
            peer.expect_go_away(FRAME_SIZE_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.7
// 80. PING is answered with ACK and the same octets, in order.
#[test]
fn ping_is_answered() {
    both(async |peer| {
        for payload in [*b"first   ", *b"second  ", [0xff; 8]] {
            peer.send(ping(payload));
        }
        for payload in [*b"first   ", *b"second  ", [0xff; 8]] {
            let pong = peer.expect_kind(kind::PING).await.frame;
            assert_eq!((pong.flags, &pong.payload[..]), (flag::ACK, &payload[..]));
        }
    });
}

//= test RFC 9113 §6.7
// 81. The answer to a PING is not answered, whether we asked or not.
#[test]
fn pong_is_not_answered() {
    both(async |peer| {
        peer.send(ping([7; 8]).ack());
        peer.expect_nothing().await;
        peer.expect_alive().await;
    });
}
