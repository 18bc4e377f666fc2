//! RFC 9113 §3.2, §3.4: how a connection starts.

use std::path::Path;

use super::support::{
    Frame, PROTOCOL_ERROR, Setup, flag, frame, kind, ping, settings, settings_ack,
};

//= test RFC 9113 §3.4
// 1. A server begins with SETTINGS.
#[test]
fn server_begins_with_settings() {
    Setup::new().no_handshake().server(async |peer| {
        peer.send_preface();
        peer.send(settings());
        let first = &peer.everything().await[0];
        assert_eq!((first.kind, first.flags), (kind::SETTINGS, 0));
    });
}

//= test RFC 9113 §3.4
// 1. A server's SETTINGS wait for nothing: a client that acknowledges them in one breath with its
// preface is heard.
#[test]
fn server_has_said_its_settings_before_it_hears_anything() {
    Setup::new().no_handshake().server(async |peer| {
        peer.never_acknowledge();
        peer.send_preface();
        peer.send(settings());
        peer.send(settings_ack());
        let all = peer.everything().await;
        assert!(all.iter().all(|frame| frame.kind != kind::GOAWAY));
    });
}

//= test RFC 9113 §3.4
// 1. A client begins with the 24 octets and SETTINGS, and waits for nothing before them.
#[test]
fn client_begins_with_preface_and_settings() {
    Setup::new().no_handshake().client(async |peer| {
        peer.expect_preface().await;
        let first = &peer.everything().await[0];
        assert_eq!((first.kind, first.flags), (kind::SETTINGS, 0));
    });
}

//= test RFC 9113 §3.4
// 2. Other octets than the preface end the connection; the GOAWAY may be left out.
#[test]
fn server_refuses_a_bad_preface() {
    let starts: [&[u8]; 3] = [
        b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r",
        &[0; 24],
    ];
    for start in starts {
        Setup::new().no_handshake().server(async |peer| {
            peer.send_raw(start);
            peer.expect_refusal(PROTOCOL_ERROR).await;
        });
    }
}

fn not_settings() -> [Frame; 3] {
    [
        ping(*b"too soon"),
        settings_ack(),
        frame(0xbe, 0, 0, "unknown"),
    ]
}

//= test RFC 9113 §3.4
// 2. The first frame of a client is SETTINGS, nothing else and no ACK.
#[test]
fn server_refuses_another_first_frame() {
    for first in not_settings() {
        Setup::new().no_handshake().server(async |peer| {
            peer.send_preface();
            peer.send(first.clone());
            peer.send(settings());
            peer.expect_refusal(PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §3.4
// 2. The first frame of a server is SETTINGS, nothing else and no ACK.
#[test]
fn client_refuses_another_first_frame() {
    for first in not_settings() {
        Setup::new().no_handshake().client(async |peer| {
            peer.expect_preface().await;
            peer.send(first.clone());
            peer.send(settings());
            peer.expect_refusal(PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §3.4
// 3. The SETTINGS of the peer's preface are acknowledged, once.
#[test]
fn preface_settings_are_acknowledged() {
    Setup::new().no_handshake().both(async |peer| {
        if peer.is_server() {
            peer.send_preface();
        } else {
            peer.expect_preface().await;
        }
        peer.send(settings());
        let all = peer.everything().await;
        let acks = all
            .iter()
            .filter(|f| f.kind == kind::SETTINGS && f.has(flag::ACK));
        assert_eq!(acks.count(), 1);
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §3.2
// 4. `h2` is the only name for ALPN: `h2c` appears nowhere in the crate and its programs.
#[test]
fn h2c_is_never_offered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["src", "examples"] {
        assert!(
            !mentions(&root.join(folder), "b\"h2c\""),
            "{folder} offers h2c"
        );
    }
}

fn mentions(folder: &Path, what: &str) -> bool {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return mentions(&path, what);
        }
        std::fs::read_to_string(path).is_ok_and(|text| text.contains(what))
    })
}
