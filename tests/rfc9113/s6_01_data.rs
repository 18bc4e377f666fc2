//! RFC 9113 §6.1: DATA.

use super::support::{
    End, FLOW_CONTROL_ERROR, PROTOCOL_ERROR, Peer, STREAM_CLOSED, Setup, both, data, flag, headers,
    kind,
};

/// A stream of which the peer's message has begun.
async fn with_body(peer: &mut Peer) -> u32 {
    let id = peer.open().await;
    if !peer.is_server() {
        peer.send(headers(id).response(200));
        peer.settle().await;
    }
    id
}

//= test RFC 9113 §6.1
// 40. DATA belongs to a stream: on stream 0 it ends the connection.
#[test]
fn data_on_stream_zero() {
    both(async |peer| {
        peer.send(data(0, "x"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.1
// 41. DATA on a stream that the sender has ended is a stream error.
#[test]
fn data_after_end_stream() {
    both(async |peer| {
        let id = peer.half_closed_remote().await;
        peer.send(data(id, "x").end_stream());
        peer.expect_stream_error(id, STREAM_CLOSED).await;
    });
}

//= test RFC 9113 §6.1
// 42. Padding as long as the payload, or longer, leaves no room for its own length.
#[test]
fn data_with_too_much_padding() {
    for says in [4, 5, 255] {
        both(async |peer| {
            let id = with_body(peer).await;
            peer.send(data(id, "abc").padded_badly(says, 0));
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.1
// 42. Padding that takes all but its own length is legal, as are 255 octets of it.
#[test]
fn data_with_much_padding() {
    both(async |peer| {
        let id = with_body(peer).await;
        peer.send(data(id, "a").padded(0));
        peer.send(data(id, "").padded(3));
        peer.send(data(id, "b").padded(255));
        peer.expect_alive().await;
        if peer.is_server() {
            assert_eq!(peer.exchanges().await[0].body, b"ab");
        }
    });
}

//= test RFC 9113 §6.1
// 43. Padding counts: the window of a stream is used up by the whole payload.
#[test]
fn padding_counts_for_the_stream() {
    let setup = Setup::new().few_cuts().serving(|b| {
        b.initial_window_size(1_000);
    });
    setup.server(async |peer| {
        let id = peer.fresh_id();
        peer.send(headers(id).request("POST", "/unread"));
        peer.send(data(id, vec![0; 999]));
        // One octet is left, and the octet that tells the length of padding takes it.
        assert_eq!(peer.credit(id).await, 0);
        peer.send(data(id, "").padded(0));
        let credit = peer.credit(id).await;
        peer.send(data(id, vec![0; credit as usize + 1]));
        peer.expect_either(id, FLOW_CONTROL_ERROR).await;
    });
}

//= test RFC 9113 §6.1
// 43. Padding counts: the connection's window is used up by the whole payload.
#[test]
fn padding_counts_for_the_connection() {
    let setup = Setup::new().few_cuts().serving(|b| {
        b.initial_window_size(32_767)
            .initial_connection_window_size(65_535);
    });
    setup.server(async |peer| {
        for _ in 0..2 {
            let id = peer.fresh_id();
            peer.send(headers(id).request("POST", "/unread"));
            peer.send(data(id, vec![0; 16_384]));
            peer.send(data(id, vec![0; 16_383]));
        }
        let id = peer.fresh_id();
        peer.send(headers(id).request("POST", "/unread"));
        // One octet is left, and the octet that tells the length of padding takes it.
        assert_eq!(peer.credit(0).await, 0);
        peer.send(data(id, "").padded(0));
        let credit = peer.credit(0).await;
        peer.send(data(id, vec![0; credit as usize + 1]));
        peer.expect_go_away(FLOW_CONTROL_ERROR).await;
    });
}

//= test RFC 9113 §6.1
// 43. Padding that nobody reads comes back as credit, on both windows.
#[test]
fn padding_is_credited() {
    let setup = Setup::new().few_cuts().serving(|b| {
        b.initial_window_size(2_000);
    });
    setup.server(async |peer| {
        let id = peer.open().await;
        let (mut stream, mut connection) = (2_000, 65_535);
        for _ in 0..600 {
            peer.send(data(id, "x").padded(255));
            stream -= 257;
            connection -= 257;
            for frame in peer.everything().await {
                match frame.id {
                    0 => connection += frame.word(0),
                    _ => stream += frame.word(0),
                }
            }
            assert!(stream >= 257 && connection >= 257, "credit leaks");
        }
        assert_eq!(peer.exchanges().await[0].body.len(), 600);
    });
}

//= test RFC 9113 §6.1
// 44. Padding is sent as zero. We send none: the auditor of all tests would look at it.
#[test]
fn own_padding_is_zero() {
    Setup::new().few_cuts().server(async |peer| {
        peer.send(headers(1).request("GET", "/bytes/60000").end_stream());
        let all = peer.everything().await;
        let data: Vec<_> = all.iter().filter(|f| f.kind == kind::DATA).collect();
        assert_eq!(data.iter().map(|f| f.payload.len()).sum::<usize>(), 60_000);
        assert!(
            data.iter().all(|f| !f.has(flag::PADDED)),
            "padding is of no use here"
        );
    });
}

//= test RFC 9113 §6.1
// 40. A body arrives in order and ends with its END_STREAM.
#[test]
fn body_arrives() {
    both(async |peer| {
        if peer.is_server() {
            peer.send(headers(1).request("POST", "/"));
            peer.send(data(1, "ab"));
            peer.send(data(1, "cd").end_stream());
            peer.expect_response(1, 200).await;
            let exchange = &peer.exchanges().await[0];
            return assert_eq!(
                (&exchange.body[..], exchange.end),
                (&b"abcd"[..], End::Complete)
            );
        }
        let (id, call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(200));
        peer.send(data(id, "ab"));
        peer.send(data(id, "cd").end_stream());
        let outcome = call.done().await;
        assert_eq!(
            (&outcome.body[..], outcome.end),
            (&b"abcd"[..], End::Complete)
        );
    });
}
