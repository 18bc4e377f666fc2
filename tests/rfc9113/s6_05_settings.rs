//! RFC 9113 §6.5, RFC 8441 §3, RFC 9218 §2.1: SETTINGS.

use super::support::{
    FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, Frame, PROTOCOL_ERROR, Peer, Setup, both, client, flag,
    frame, headers, kind, request, server, setting, settings, settings_ack,
};

async fn refuses(peer: &mut Peer, bad: Frame) {
    peer.send(bad);
    peer.expect_go_away(PROTOCOL_ERROR).await;
}

//= test RFC 9113 §6.5
// 58. SETTINGS belongs to the connection.
#[test]
fn settings_on_a_stream() {
    both(async |peer| {
        let id = peer.open().await;
        refuses(peer, frame(kind::SETTINGS, 0, id, "")).await;
    });
}

//= test RFC 9113 §6.5
// 59. The length is a multiple of six.
#[test]
fn settings_of_a_broken_length() {
    for length in [1, 5, 7, 11] {
        both(async |peer| {
            peer.send(frame(kind::SETTINGS, 0, 0, vec![0; length]));
            peer.expect_go_away(FRAME_SIZE_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.5
// 60. An ACK has no payload.
#[test]
fn settings_ack_with_payload() {
    both(async |peer| {
        peer.send(settings_ack().set(setting::MAX_FRAME_SIZE, 16_384));
        peer.expect_go_away(FRAME_SIZE_ERROR).await;
    });
}

//= test RFC 9113 §6.5
// 61. One bad entry spoils the frame, wherever it stands.
#[test]
fn settings_with_one_bad_entry() {
    both(async |peer| {
        let good = settings()
            .set(setting::INITIAL_WINDOW_SIZE, 10)
            .set(0xff, 1);
        refuses(peer, good.set(setting::MAX_FRAME_SIZE, 0).set(0xff, 2)).await;
    });
}

//= test RFC 9113 §6.5.2
// 62. ENABLE_PUSH is 0 or 1.
#[test]
fn enable_push_out_of_range() {
    for value in [2, u32::MAX] {
        both(async |peer| refuses(peer, settings().set(setting::ENABLE_PUSH, value)).await);
    }
}

//= test RFC 9113 §6.5.2
// 63. A server cannot allow a client to push.
#[test]
fn client_refuses_enable_push() {
    client(async |peer| refuses(peer, settings().set(setting::ENABLE_PUSH, 1)).await);
    client(async |peer| {
        peer.send(settings().set(setting::ENABLE_PUSH, 0));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §6.5.2
// 64. INITIAL_WINDOW_SIZE is at most 2^31-1.
#[test]
fn initial_window_out_of_range() {
    for value in [1 << 31, u32::MAX] {
        both(async |peer| {
            peer.send(settings().set(setting::INITIAL_WINDOW_SIZE, value));
            peer.expect_go_away(FLOW_CONTROL_ERROR).await;
        });
    }
}

//= test RFC 9113 §6.5.2
// 65. MAX_FRAME_SIZE lies between 2^14 and 2^24-1.
#[test]
fn max_frame_size_out_of_range() {
    for value in [0, 16_383, 1 << 24, u32::MAX] {
        both(async |peer| refuses(peer, settings().set(setting::MAX_FRAME_SIZE, value)).await);
    }
    for value in [16_384, (1 << 24) - 1] {
        both(async |peer| {
            peer.send(settings().set(setting::MAX_FRAME_SIZE, value));
            peer.expect_alive().await;
        });
    }
}

//= test RFC 9113 §6.5.2
// 66. Unknown settings are ignored, and acknowledged all the same.
#[test]
fn unknown_settings() {
    both(async |peer| {
        peer.send(settings().set(0, 9).set(0x7, 9).set(0xf000, u32::MAX));
        let ack = peer.expect_any(0, kind::SETTINGS).await.frame;
        assert_eq!((ack.flags, ack.payload.len()), (flag::ACK, 0));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §6.5.3
// 67. Each frame gets one ACK, also an empty one.
#[test]
fn each_settings_frame_is_acknowledged() {
    both(async |peer| {
        for _ in 0..3 {
            peer.send(settings());
        }
        let all = peer.everything().await;
        let acks = all
            .iter()
            .filter(|f| f.kind == kind::SETTINGS && f.has(flag::ACK));
        assert_eq!(acks.count(), 3);
    });
}

//= test RFC 9113 §6.5.3
// An ACK for SETTINGS that were never sent, or were acknowledged before, ends the connection.
#[test]
fn ack_of_nothing() {
    both(async |peer| {
        peer.expect_alive().await;
        refuses(peer, settings_ack()).await;
    });
}

//= test RFC 9113 §6.5.3
// 67. The entries of a frame hold in their order: the last of a kind stays.
#[test]
fn entries_in_order() {
    let twice = settings()
        .set(setting::INITIAL_WINDOW_SIZE, 9)
        .set(setting::MAX_FRAME_SIZE, 20_000)
        .set(setting::INITIAL_WINDOW_SIZE, 5);
    server(async |peer| {
        peer.send(twice.clone());
        peer.send(headers(1).request("GET", "/bytes/9").end_stream());
        peer.expect_response(1, 200).await;
        peer.expect_octets(1, 5).await;
        peer.expect_nothing().await;
    });
    client(async |peer| {
        peer.send(twice.clone());
        peer.settle().await;
        let (id, call) = peer.call("POST", "/").await;
        call.send(b"123456789", true);
        peer.expect_octets(id, 5).await;
        peer.expect_nothing().await;
    });
}

//= test RFC 9113 §6.5.3
// 67. All entries of a kind take effect: a bad one is not excused by a good one behind it.
#[test]
fn every_entry_counts() {
    both(async |peer| {
        let twice = settings().set(setting::MAX_FRAME_SIZE, 1);
        refuses(peer, twice.set(setting::MAX_FRAME_SIZE, 16_384)).await;
    });
}

//= test RFC 8441 §3
// 68. ENABLE_CONNECT_PROTOCOL is 0 or 1.
#[test]
fn connect_protocol_out_of_range() {
    both(async |peer| refuses(peer, settings().set(setting::ENABLE_CONNECT_PROTOCOL, 2)).await);
}

//= test RFC 8441 §3
// 68. A server that has allowed extended CONNECT cannot take it back.
#[test]
fn connect_protocol_taken_back() {
    let allowed = settings().set(setting::ENABLE_CONNECT_PROTOCOL, 1);
    Setup::new().settings(allowed.clone()).client(async |peer| {
        assert!(peer.caller().extended_connect());
        peer.send(settings());
        peer.send(settings().set(setting::ENABLE_CONNECT_PROTOCOL, 1));
        peer.expect_alive().await;
        refuses(peer, settings().set(setting::ENABLE_CONNECT_PROTOCOL, 0)).await;
    });
    client(async |peer| {
        peer.send(settings().set(setting::ENABLE_CONNECT_PROTOCOL, 0));
        peer.expect_alive().await;
        assert!(!peer.caller().extended_connect());
    });
}

//= test RFC 9218 §2.1
// 69. NO_RFC7540_PRIORITIES is 0 or 1.
#[test]
fn no_priorities_out_of_range() {
    both(async |peer| refuses(peer, settings().set(setting::NO_RFC7540_PRIORITIES, 2)).await);
}

//= test RFC 9218 §2.1
// 69. NO_RFC7540_PRIORITIES does not change after the first SETTINGS.
#[test]
fn no_priorities_changed() {
    let yes = settings().set(setting::NO_RFC7540_PRIORITIES, 1);
    let no = settings().set(setting::NO_RFC7540_PRIORITIES, 0);
    Setup::new()
        .settings(yes.clone())
        .both(async |peer| refuses(peer, no.clone()).await);
    Setup::new()
        .settings(no.clone())
        .both(async |peer| refuses(peer, yes.clone()).await);
    // Left out in the first frame it has its initial value, zero.
    both(async |peer| refuses(peer, yes.clone()).await);
    Setup::new().settings(yes.clone()).both(async |peer| {
        peer.send(yes.clone());
        peer.send(settings());
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §6.5.2
// 62. Without ENABLE_PUSH no promise is sent.
#[test]
fn push_is_not_sent_when_disabled() {
    let off = settings().set(setting::ENABLE_PUSH, 0);
    Setup::new().settings(off).server(async |peer| {
        peer.send(headers(1).request("GET", "/push").end_stream());
        let all = peer.everything().await;
        assert!(all.iter().all(|f| f.kind != kind::PUSH_PROMISE), "{all:?}");
        peer.expect_alive().await;
    });
}

//= test RFC 8441 §3
// 68. A server says in its first SETTINGS that it knows extended CONNECT, if it is meant to.
#[test]
fn server_allows_extended_connect() {
    for allowed in [false, true] {
        let setup = Setup::new().no_handshake().serving(move |b| {
            if allowed {
                b.enable_connect_protocol();
            }
        });
        setup.server(async |peer| {
            peer.send_preface();
            peer.send(settings());
            let first = peer.expect_any(0, kind::SETTINGS).await.frame;
            let says = first
                .entries()
                .contains(&(setting::ENABLE_CONNECT_PROTOCOL, 1));
            assert_eq!(says, allowed);
        });
    }
}

//= test RFC 8441 §3
// 68. What a client says of extended CONNECT means nothing to a server.
#[test]
fn connect_protocol_of_a_client() {
    server(async |peer| {
        peer.send(settings().set(setting::ENABLE_CONNECT_PROTOCOL, 0));
        peer.send(settings().set(setting::ENABLE_CONNECT_PROTOCOL, 1));
        peer.expect_alive().await;
        let chat = headers(9)
            .field(":method", "CONNECT")
            .field(":protocol", "websocket");
        let chat = chat.field(":scheme", "https").field(":path", "/chat");
        peer.send(chat.field(":authority", "example.com"));
        peer.expect_stream_error(9, PROTOCOL_ERROR).await;
    });
}

//= test RFC 8441 §3
// 68. A client does not use extended CONNECT before the server has allowed it.
#[test]
fn extended_connect_waits_for_the_setting() {
    client(async |peer| {
        let mut connect = request("CONNECT", "/chat");
        connect
            .extensions_mut()
            .insert(super::support::Protocol::from("websocket"));
        let refused = peer.caller().call(connect, true);
        peer.expect_nothing().await;
        assert!(matches!(
            refused.done().await.end,
            super::support::End::Failed(None)
        ));
        peer.expect_alive().await;
    });
}
