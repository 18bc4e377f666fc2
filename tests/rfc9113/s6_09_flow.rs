//! RFC 9113 §6.9: WINDOW_UPDATE and the windows.

use super::support::{
    FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, NO_ERROR, PROTOCOL_ERROR, Peer, Setup, both, client,
    data, frame, headers, kind, reset, server, setting, settings, window_update,
};

const MAX_WINDOW: u32 = (1 << 31) - 1;

//= test RFC 9113 §6.9
// 87. WINDOW_UPDATE of another length than four ends the connection.
#[test]
fn window_update_of_another_length() {
    for length in [0, 3, 5] {
        both(async |peer| {
            let id = peer.open().await;
            peer.send(frame(kind::WINDOW_UPDATE, 0, id, vec![1; length]));
            peer.expect_go_away(FRAME_SIZE_ERROR).await;
        });
        both(async |peer| {
            peer.send(frame(kind::WINDOW_UPDATE, 0, 0, vec![1; length]));
            peer.expect_go_away(FRAME_SIZE_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.9
// 88. An increment of zero costs the stream, or the connection on stream 0.
#[test]
fn window_update_by_zero() {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(window_update(id, 0));
        peer.expect_stream_error(id, PROTOCOL_ERROR).await;
    });
    both(async |peer| {
        peer.send(window_update(0, 0));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §6.9.1
// 89. A window above 2^31-1 costs the stream, or the connection on stream 0.
#[test]
fn window_overflow() {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(window_update(id, MAX_WINDOW - 65_535));
        peer.expect_nothing().await;
        peer.send(window_update(id, 1));
        peer.expect_stream_error(id, FLOW_CONTROL_ERROR).await;
    });
    both(async |peer| {
        peer.send(window_update(0, MAX_WINDOW - 65_535));
        peer.expect_nothing().await;
        peer.send(window_update(0, 1));
        peer.expect_go_away(FLOW_CONTROL_ERROR).await;
    });
}

//= test RFC 9113 §6.9
// 90. WINDOW_UPDATE for a stream that is closed or that the sender has ended is no error.
#[test]
fn window_update_of_a_finished_stream() {
    both(async |peer| {
        let ids = [peer.half_closed_remote().await, peer.closed().await];
        for id in ids {
            peer.send(window_update(id, 1));
        }
        peer.expect_nothing().await;
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.1
// 91. WINDOW_UPDATE for an idle stream ends the connection.
#[test]
fn window_update_of_an_idle_stream() {
    both(async |peer| {
        peer.send(window_update(101, 1));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

/// Lets the endpoint send `length` octets on a stream, END_STREAM at their end.
async fn sending(peer: &mut Peer, length: usize) -> u32 {
    if peer.is_server() {
        let id = peer.fresh_id();
        peer.send(
            headers(id)
                .request("GET", &format!("/bytes/{length}"))
                .end_stream(),
        );
        peer.expect_response(id, 200).await;
        return id;
    }
    let (id, call) = peer.call("POST", "/").await;
    call.send(vec![b'a'; length].leak(), true);
    id
}

//= test RFC 9113 §6.9.1
// 92. No more is sent than both windows allow: here the stream's.
#[test]
fn own_data_stays_in_the_stream_window() {
    let small = settings().set(setting::INITIAL_WINDOW_SIZE, 10);
    Setup::new().settings(small).both(async |peer| {
        let id = sending(peer, 25).await;
        peer.expect_octets(id, 10).await;
        peer.expect_nothing().await;
        peer.send(window_update(id, 10));
        peer.expect_octets(id, 10).await;
        peer.expect_nothing().await;
        peer.send(window_update(id, 100));
        assert!(peer.expect_octets(id, 5).await.is_end_stream());
    });
}

//= test RFC 9113 §6.9.1
// 92. No more is sent than both windows allow: here the connection's.
#[test]
fn own_data_stays_in_the_connection_window() {
    let large = settings().set(setting::INITIAL_WINDOW_SIZE, 1 << 20);
    Setup::new().settings(large).few_cuts().both(async |peer| {
        let id = sending(peer, 70_000).await;
        peer.expect_octets(id, 65_535).await;
        peer.expect_nothing().await;
        peer.send(window_update(0, 1));
        peer.expect_octets(id, 1).await;
        peer.expect_nothing().await;
        peer.send(window_update(0, 10_000));
        assert!(peer.expect_octets(id, 4_464).await.is_end_stream());
    });
}

//= test RFC 9113 §6.9.1
// 92. An empty DATA frame with END_STREAM needs no window.
#[test]
fn own_end_needs_no_window() {
    let none = settings().set(setting::INITIAL_WINDOW_SIZE, 0);
    Setup::new().settings(none.clone()).client(async |peer| {
        let (id, call) = peer.call("POST", "/").await;
        call.send(b"", true);
        assert!(peer.expect_octets(id, 0).await.is_end_stream());
    });
    Setup::new().settings(none).server(async |peer| {
        let connect = headers(1).field(":method", "CONNECT");
        peer.send(connect.field(":authority", "example.com:443"));
        peer.expect_response(1, 200).await;
        peer.send(data(1, "").end_stream());
        assert!(peer.expect_octets(1, 0).await.is_end_stream());
    });
}

//= test RFC 9113 §6.9.2
// 93. A smaller initial window moves all windows, below zero too: then nothing is sent until
// the window is above zero again.
#[test]
fn window_below_zero() {
    let small = settings().set(setting::INITIAL_WINDOW_SIZE, 20);
    Setup::new().settings(small).both(async |peer| {
        let id = sending(peer, 30).await;
        peer.expect_octets(id, 20).await;
        peer.send(settings().set(setting::INITIAL_WINDOW_SIZE, 5));
        peer.expect_nothing().await;
        // Now at -15: fifteen octets bring it to zero.
        peer.send(window_update(id, 15));
        peer.expect_nothing().await;
        peer.send(window_update(id, 1));
        peer.expect_octets(id, 1).await;
        peer.expect_nothing().await;
        peer.send(settings().set(setting::INITIAL_WINDOW_SIZE, 100));
        assert!(peer.expect_octets(id, 9).await.is_end_stream());
    });
}

//= test RFC 9113 §6.9.2
// 93. A larger initial window frees the streams that waited.
#[test]
fn larger_initial_window() {
    let none = settings().set(setting::INITIAL_WINDOW_SIZE, 0);
    Setup::new().settings(none).both(async |peer| {
        let id = sending(peer, 30).await;
        peer.expect_nothing().await;
        peer.send(settings().set(setting::INITIAL_WINDOW_SIZE, 30));
        assert!(peer.expect_octets(id, 30).await.is_end_stream());
    });
}

//= test RFC 9113 §6.9.2
// 94. An initial window that lifts any stream's window above 2^31-1 ends the connection.
#[test]
fn initial_window_overflows_a_stream() {
    both(async |peer| {
        let id = peer.open().await;
        peer.send(window_update(id, 1_000));
        peer.send(settings().set(setting::INITIAL_WINDOW_SIZE, MAX_WINDOW - 1_000));
        peer.expect_nothing().await;
        peer.send(settings().set(setting::INITIAL_WINDOW_SIZE, MAX_WINDOW - 999));
        peer.expect_go_away(FLOW_CONTROL_ERROR).await;
    });
}

//= test RFC 9113 §6.9.2
// 95. SETTINGS leaves the connection's window alone.
#[test]
fn initial_window_is_not_the_connections() {
    let large = settings().set(setting::INITIAL_WINDOW_SIZE, MAX_WINDOW);
    Setup::new().settings(large).few_cuts().both(async |peer| {
        let id = sending(peer, 70_000).await;
        peer.expect_octets(id, 65_535).await;
        peer.expect_nothing().await;
        peer.send(reset(id, NO_ERROR));
        peer.expect_nothing().await;
    });
    let none = settings().set(setting::INITIAL_WINDOW_SIZE, 0);
    Setup::new().settings(none).few_cuts().both(async |peer| {
        let id = sending(peer, 70_000).await;
        peer.send(window_update(id, 100_000));
        peer.expect_octets(id, 65_535).await;
        peer.expect_nothing().await;
    });
}

//= test RFC 9113 §6.9.3
// 96. After we have lowered the window, DATA sent before the peer's ACK is accepted.
#[test]
fn data_in_flight_when_we_shrink() {
    server(async |peer| {
        let id = peer.open().await;
        shrink_to_ten(peer).await;
        peer.send(data(id, [b'x'; 100]));
        peer.send(super::support::settings_ack());
        peer.expect_alive().await;
        assert_eq!(peer.exchanges().await[0].body.len(), 100);
    });
}

//= test RFC 9113 §6.9.3
// 96. From the ACK on the smaller window holds: here it is far below zero already.
#[test]
fn data_after_we_have_shrunk() {
    server(async |peer| {
        let id = peer.fresh_id();
        peer.send(headers(id).request("POST", "/unread"));
        shrink_to_ten(peer).await;
        peer.send(data(id, [b'x'; 100]));
        peer.send(super::support::settings_ack());
        peer.expect_alive().await;
        peer.send(data(id, "x"));
        peer.expect_either(id, FLOW_CONTROL_ERROR).await;
    });
}

/// The endpoint lowers its initial window, and has said so; the peer has not acknowledged it.
async fn shrink_to_ten(peer: &mut Peer) {
    peer.expect_alive().await;
    peer.never_acknowledge();
    peer.app()
        .order(|connection| connection.set_initial_window_size(10).unwrap());
    let said = peer.expect_any(0, kind::SETTINGS).await.frame;
    assert_eq!(said.entries(), [(setting::INITIAL_WINDOW_SIZE, 10)]);
}

//= test RFC 9113 §6.9.1
// 97. A peer that sends more than the stream's window costs the stream, or the connection.
#[test]
fn peer_overruns_the_stream_window() {
    let setup = Setup::new().serving(|b| {
        b.initial_window_size(10);
    });
    let setup = setup.calling(|b| {
        b.initial_window_size(10);
    });
    setup.server(async |peer| {
        let id = peer.fresh_id();
        peer.send(headers(id).request("POST", "/unread"));
        peer.send(data(id, [0; 10]));
        peer.expect_nothing().await;
        peer.send(data(id, [0; 1]));
        peer.expect_either(id, FLOW_CONTROL_ERROR).await;
    });
    setup.client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(200));
        peer.send(data(id, [0; 11]));
        peer.expect_either(id, FLOW_CONTROL_ERROR).await;
    });
}

//= test RFC 9113 §6.9.1
// 97. A peer that sends more than the connection's window ends the connection.
#[test]
fn peer_overruns_the_connection_window() {
    let setup = Setup::new().few_cuts().serving(|b| {
        b.initial_window_size(32_767)
            .initial_connection_window_size(65_535);
    });
    setup.server(async |peer| {
        for lengths in [&[16_384, 16_383][..], &[16_384, 16_383], &[1]] {
            let id = peer.fresh_id();
            peer.send(headers(id).request("POST", "/unread"));
            for &length in lengths {
                peer.send(data(id, vec![0; length]));
            }
        }
        peer.expect_nothing().await;
        let id = peer.fresh_id();
        peer.send(headers(id).request("POST", "/unread"));
        peer.send(data(id, [0; 1]));
        peer.expect_go_away(FLOW_CONTROL_ERROR).await;
    });
}

//= test RFC 9113 §6.9
// 98. DATA for streams that are gone counts on the connection's window, and comes back.
#[test]
fn data_of_dead_streams_is_counted() {
    Setup::new().few_cuts().server(async |peer| {
        let mut window = 65_535;
        for _ in 0..8 {
            let id = peer.reset_by_subject().await;
            assert!(window >= 16_255, "credit leaks: {window} octets are left");
            peer.send(data(id, vec![0; 15_999]).padded(255));
            window += peer.credit(0).await;
            window -= 16_255;
        }
    });
    Setup::new().few_cuts().client(async |peer| {
        let mut window = 65_535;
        for _ in 0..8 {
            let id = peer.reset_by_subject().await;
            peer.send(headers(id).response(200));
            assert!(window >= 16_255, "credit leaks: {window} octets are left");
            peer.send(data(id, vec![0; 15_999]).padded(255));
            window += peer.credit(0).await;
            window -= 16_255;
        }
    });
}

//= test RFC 9113 §6.9
// 98. A body that the peer resets unread gives its credit back.
#[test]
fn unread_body_of_a_reset_stream_is_credited() {
    Setup::new().few_cuts().server(async |peer| {
        let mut window = 65_535;
        for _ in 0..8 {
            let id = peer.fresh_id();
            peer.send(headers(id).request("POST", "/unread"));
            assert!(window >= 16_000, "credit leaks: {window} octets are left");
            peer.send(data(id, vec![0; 16_000]));
            peer.settle().await;
            peer.send(reset(id, super::support::CANCEL));
            window += peer.credit(0).await;
            window -= 16_000;
        }
    });
}

//= test RFC 9113 §6.9.1
// 92. Header blocks and control frames need no window.
#[test]
fn headers_need_no_window() {
    let none = settings().set(setting::INITIAL_WINDOW_SIZE, 0);
    Setup::new().settings(none).server(async |peer| {
        peer.send(headers(1).request("GET", "/bytes/10").end_stream());
        peer.expect_response(1, 200).await;
        peer.expect_alive().await;
    });
    client(async |peer| {
        peer.send(settings().set(setting::INITIAL_WINDOW_SIZE, 0));
        peer.expect_alive().await;
    });
}
