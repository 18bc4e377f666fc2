//! RFC 9113 §8.2 and §10.5.1: fields of requests, responses and trailers.

use super::support::{
    End, Frame, PROTOCOL_ERROR, Peer, Setup, client, data, headers, request, server,
};

/// Fields that spoil a request, a response and trailers: each costs the stream and no more.
fn malformed(spoil: impl Fn(Frame) -> Frame) {
    server(async |peer| {
        peer.send(spoil(headers(1).request("GET", "/")).end_stream());
        refused(peer, 1).await;
        assert!(
            peer.exchanges().await.iter().all(|e| e.id != 1),
            "it reached the application"
        );
    });
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(spoil(headers(id).response(200)));
        refused(peer, id).await;
        assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
    });
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(spoil(headers(id).response(103)));
        refused(peer, id).await;
        assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
    });
    malformed_trailers(&spoil);
}

fn malformed_trailers(spoil: &impl Fn(Frame) -> Frame) {
    server(async |peer| {
        let id = peer.open().await;
        peer.send(spoil(headers(id)).end_stream());
        refused(peer, id).await;
        let exchange = &peer.exchanges().await[0];
        assert_eq!(exchange.end, End::Failed(Some(PROTOCOL_ERROR)));
    });
    client(async |peer| {
        let (id, call) = peer.call("POST", "/").await;
        peer.send(headers(id).response(200));
        peer.send(spoil(headers(id)).end_stream());
        refused(peer, id).await;
        assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
    });
}

async fn refused(peer: &mut Peer, id: u32) {
    peer.expect_stream_error(id, PROTOCOL_ERROR).await;
}

//= test RFC 9113 §8.2.1
// 106. A name has no control octets, blanks, capitals, octets above 0x7e, no colon but in front.
#[test]
fn names_with_forbidden_octets() {
    let names: [&[u8]; 10] = [
        b"", b"a b", b" a", b"a\0", b"a\n", b"a\x1f", b"Upper", b"a\x7f", b"a\xff", b"a:b",
    ];
    for name in names {
        malformed(|frame| frame.field(name, "1"));
    }
}

//= test RFC 9113 §8.2.1
// 107. A value has no NUL, CR or LF.
#[test]
fn values_with_forbidden_octets() {
    for value in [&b"a\0b"[..], b"a\rb", b"a\nb", b"\r\n", b"a\r\nevil: 1"] {
        malformed(|frame| frame.field("a", value));
    }
}

//= test RFC 9113 §8.2.1
// 108. A value neither begins nor ends with a space or a tab.
#[test]
fn values_with_blanks_around() {
    for value in [" a", "a ", "\ta", "a\t", " ", "\t"] {
        malformed(|frame| frame.field("a", value));
    }
}

//= test RFC 9113 §8.2.1
// 108. Blanks inside, and an empty value, are fine.
#[test]
fn values_with_blanks_inside() {
    server(async |peer| {
        peer.send(
            headers(1)
                .request("GET", "/")
                .field("a", "b c\td")
                .field("e", "")
                .end_stream(),
        );
        peer.expect_response(1, 200).await;
        let request = &peer.exchanges().await[0].request;
        assert_eq!(
            (&request.headers()["a"], &request.headers()["e"]).0,
            "b c\td"
        );
        assert_eq!(request.headers()["e"], "");
    });
}

//= test RFC 9113 §8.2.2
// 109. Fields that speak of one connection of HTTP/1.1 are malformed.
#[test]
fn connection_specific_fields() {
    for (name, value) in [
        ("connection", "close"),
        ("proxy-connection", "keep-alive"),
        ("keep-alive", "timeout=5"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "websocket"),
    ] {
        malformed(|frame| frame.field(name, value));
    }
}

//= test RFC 9113 §8.2.2
// 109. `te` says `trailers` or nothing else.
#[test]
fn te_other_than_trailers() {
    for value in ["gzip", "trailers, deflate", "trailers;q=1", ""] {
        malformed(|frame| frame.field("te", value));
    }
    server(async |peer| {
        peer.send(
            headers(1)
                .request("GET", "/")
                .field("te", "trailers")
                .end_stream(),
        );
        peer.expect_response(1, 200).await;
    });
}

//= test RFC 9113 §8.2.2
// 109. An application that asks for such a field is refused; nothing of the request is sent.
#[test]
fn own_connection_specific_fields() {
    for (name, value) in [
        ("connection", "close"),
        ("transfer-encoding", "chunked"),
        ("te", "gzip"),
    ] {
        client(async |peer| {
            let mut bad = request("GET", "/");
            bad.headers_mut().insert(name, value.parse().unwrap());
            let refused = peer.caller().call(bad, false);
            assert_eq!(refused.done().await.end, End::Failed(None));
            peer.expect_nothing().await;
            peer.expect_alive().await;
        });
    }
}

//= test RFC 9113 §8.2.2
// 109. The same for every other part of a message: interim and final response, trailers, promise.
#[test]
fn own_connection_specific_fields_elsewhere() {
    for part in ["interim", "head", "trailers", "promise"] {
        server(async |peer| {
            let path = format!("/bad/{part}");
            peer.send(headers(1).request("GET", &path).end_stream());
            // The auditor would notice the field; the answer shows that its refusal cost nothing.
            let mut last = peer.expect_response(1, 200).await.frame;
            if !last.is_end_stream() {
                last = peer.expect_octets(1, 0).await;
            }
            assert!(last.is_end_stream());
            peer.expect_alive().await;
        });
    }
    client(async |peer| {
        let (id, call) = peer.call("POST", "/").await;
        let mut fields = http::HeaderMap::new();
        fields.insert("transfer-encoding", "chunked".parse().unwrap());
        let refused = call
            .stream
            .borrow_mut()
            .as_mut()
            .unwrap()
            .send_trailers(fields);
        assert!(refused.is_err());
        call.send(b"", true);
        assert!(peer.expect_data(id).await.is_end_stream());
    });
}

//= test RFC 9113 §8.2.3
// 110. Cookie fields that were split reach the application as one, joined by `; `.
#[test]
fn cookies_are_joined() {
    server(async |peer| {
        let head = headers(1)
            .request("GET", "/")
            .field("cookie", "a=1")
            .field("x", "y");
        peer.send(
            head.field("cookie", "b=2")
                .field("cookie", "c=3")
                .end_stream(),
        );
        peer.expect_response(1, 200).await;
        let request = &peer.exchanges().await[0].request;
        let cookies: Vec<_> = request.headers().get_all("cookie").iter().collect();
        assert_eq!(cookies, ["a=1; b=2; c=3"]);
    });
}

fn small_lists() -> Setup {
    let setup = Setup::new().few_cuts().serving(|b| {
        b.max_header_list_size(1_000);
    });
    setup.calling(|b| {
        b.max_header_list_size(1_000);
    })
}

//= test RFC 9113 §10.5.1
// 125. A field list above our limit is refused, and the connection's table stays in step.
#[test]
fn oversized_field_list() {
    small_lists().server(async |peer| {
        let entry = super::support::indexed_literal("checksum", "1");
        let large = headers(1)
            .request("GET", "/")
            .field("large", "x".repeat(1_200));
        peer.send(large.raw(entry).end_stream());
        let answer = peer.expect_frame().await;
        assert_eq!(answer.frame.id, 1);
        if answer.frame.kind == super::support::kind::HEADERS {
            assert_eq!(answer.field(":status"), Some("431"));
        } else {
            assert_eq!(answer.frame.kind, super::support::kind::RST_STREAM);
        }
        peer.send(headers(3).request("GET", "/").raw([0xbe]).end_stream());
        peer.expect_on(3, super::support::kind::HEADERS).await;
        let exchanges = peer.exchanges().await;
        assert_eq!(exchanges.len(), 1);
        assert_eq!(exchanges[0].request.headers()["checksum"], "1");
    });
    small_lists().client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(200).field("large", "x".repeat(1_200)));
        let answer = peer.expect_frame().await.frame;
        assert_eq!(
            (answer.id, answer.kind),
            (id, super::support::kind::RST_STREAM)
        );
        assert!(matches!(call.done().await.end, End::Failed(_)));
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §10.5.1
// 125. The limit counts 32 octets for each field beside its name and value.
#[test]
fn field_list_of_many_small_fields() {
    small_lists().server(async |peer| {
        let mut head = headers(1).request("GET", "/");
        for _ in 0..40 {
            head = head.field("a", "");
        }
        peer.send(head.end_stream());
        assert_eq!(peer.expect_frame().await.frame.id, 1);
        peer.expect_alive().await;
        assert!(
            peer.exchanges()
                .await
                .iter()
                .all(|exchange| exchange.id != 1)
        );
    });
}

//= test RFC 9113 §8.2.1
// 106. What comes after a malformed head is dropped, and its DATA is credited.
#[test]
fn rest_of_a_malformed_message() {
    server(async |peer| {
        peer.send(headers(1).request("POST", "/").field("Upper", "1"));
        peer.send(data(1, "body"));
        peer.send(headers(1).field("checksum", "1").end_stream());
        refused(peer, 1).await;
    });
}
