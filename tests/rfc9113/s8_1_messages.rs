//! RFC 9113 §8.1: the frames of a message, and what a malformed one costs.

use super::support::{
    CANCEL, Code, End, NO_ERROR, PROTOCOL_ERROR, Peer, Setup, both, client, data, headers, kind,
    request, reset, server,
};

/// A message that has begun and not ended: its stream.
async fn begun(peer: &mut Peer) -> u32 {
    let id = peer.open().await;
    if !peer.is_server() {
        peer.send(headers(id).response(200));
    }
    peer.send(data(id, "x"));
    id
}

//= test RFC 9113 §8.1
// 102. After the head of a request or of a final response HEADERS must end the stream.
#[test]
fn trailers_without_end_stream() {
    both(async |peer| {
        let id = begun(peer).await;
        peer.send(headers(id).field("checksum", "1"));
        peer.expect_stream_error(id, PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §8.1
// 103. Trailers have no pseudo-header fields.
#[test]
fn pseudo_header_in_trailers() {
    for name in [":path", ":status", ":method", ":unknown"] {
        both(async |peer| {
            let id = begun(peer).await;
            peer.send(headers(id).field(name, "200").end_stream());
            peer.expect_stream_error(id, PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §8.1.1
// 104. A request whose DATA is not as long as its content-length is malformed, and its
// application never takes it for complete.
#[test]
fn request_of_another_length() {
    for (length, body, trailers) in [
        ("4", "abc", false),
        ("2", "abc", false),
        ("4", "abc", true),
        ("0", "a", false),
    ] {
        server(async |peer| {
            peer.send(
                headers(1)
                    .request("POST", "/hold")
                    .field("content-length", length),
            );
            peer.settle().await;
            if trailers {
                peer.send(data(1, body));
                peer.send(headers(1).field("checksum", "1").end_stream());
            } else {
                peer.send(data(1, body).end_stream());
            }
            peer.expect_stream_error(1, PROTOCOL_ERROR).await;
            let exchange = &peer.exchanges().await[0];
            assert_eq!(exchange.end, End::Failed(Some(PROTOCOL_ERROR)));
        });
    }
    server(async |peer| {
        let head = headers(1).request("POST", "/").field("content-length", "3");
        peer.send(head.end_stream());
        peer.expect_stream_error(1, PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §8.1.1
// 104. Too much is an error before the end comes.
#[test]
fn request_longer_than_its_length() {
    server(async |peer| {
        peer.send(
            headers(1)
                .request("POST", "/hold")
                .field("content-length", "2"),
        );
        peer.send(data(1, "abc"));
        peer.expect_stream_error(1, PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §8.1.1
// 104. The same for a response.
#[test]
fn response_of_another_length() {
    for (length, body) in [("4", "abc"), ("2", "abc"), ("0", "a")] {
        client(async |peer| {
            let (id, call) = peer.call("GET", "/").await;
            peer.send(headers(id).response(200).field("content-length", length));
            peer.send(data(id, body).end_stream());
            peer.expect_stream_failure(id, PROTOCOL_ERROR).await;
            assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
        });
    }
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(
            headers(id)
                .response(200)
                .field("content-length", "3")
                .end_stream(),
        );
        peer.expect_stream_failure(id, PROTOCOL_ERROR).await;
        assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
    });
}

//= test RFC 9113 §8.1.1
// 104. A response to HEAD, 204 and 304 has no content, whatever its length says.
#[test]
fn length_without_content() {
    for (method, status) in [("HEAD", 200), ("GET", 304), ("GET", 204)] {
        client(async |peer| {
            let (id, call) = peer.call(method, "/").await;
            peer.send(
                headers(id)
                    .response(status)
                    .field("content-length", "3")
                    .end_stream(),
            );
            let outcome = call.done().await;
            assert_eq!(
                (outcome.status(), outcome.end),
                (Some(status), End::Complete)
            );
        });
    }
}

//= test RFC 9113 §8.1.1
// 104. Content in such a response makes it malformed; the end may still come in a frame of its own.
#[test]
fn content_where_there_is_none() {
    for (method, status) in [("HEAD", 200), ("GET", 304), ("GET", 204)] {
        client(async |peer| {
            let (id, call) = peer.call(method, "/").await;
            peer.send(headers(id).response(status).field("content-length", "1"));
            peer.send(data(id, "x").end_stream());
            peer.expect_stream_failure(id, PROTOCOL_ERROR).await;
            assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
        });
        client(async |peer| {
            let (id, call) = peer.call(method, "/").await;
            peer.send(headers(id).response(status).field("content-length", "1"));
            peer.send(data(id, "").padded(3).end_stream());
            assert_eq!(call.done().await.end, End::Complete);
        });
    }
}

//= test RFC 9113 §8.1.1
// 104. Our own responses of these kinds have no content, whatever the application tries.
#[test]
fn own_content_where_there_is_none() {
    for (method, path) in [
        ("HEAD", "/bytes/10"),
        ("GET", "/status/204"),
        ("GET", "/status/304"),
    ] {
        server(async |peer| {
            peer.send(headers(1).request(method, path).end_stream());
            let mut last = peer.expect_headers(1).await.frame;
            if !last.is_end_stream() {
                last = peer.expect_octets(1, 0).await;
            }
            assert!(last.is_end_stream());
            peer.expect_alive().await;
        });
    }
}

//= test RFC 9113 §8.1.1
// 104. A length that is no number, is signed, or comes twice is malformed.
#[test]
fn impossible_length() {
    for lengths in [
        &["+1"][..],
        &["-1"],
        &["1, 1"],
        &["0x1"],
        &[""],
        &["1", "2"],
        &["1", "1"],
        &["18446744073709551616"],
        &["18446744073709551617"],
        &["100000000000000000000000000000000000001"],
    ] {
        client(async |peer| {
            let (id, call) = peer.call("POST", "/").await;
            let mut head = headers(id).response(200);
            for length in lengths {
                head = head.field("content-length", length);
            }
            peer.send(head);
            peer.expect_stream_error(id, PROTOCOL_ERROR).await;
            assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
        });
        server(async |peer| {
            let mut head = headers(1).request("POST", "/hold");
            for length in lengths {
                head = head.field("content-length", length);
            }
            peer.send(head);
            peer.send(data(1, "a").end_stream());
            peer.expect_stream_error(1, PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §8.1.1
// 104. A body of the announced length is fine, padding does not count.
#[test]
fn message_of_its_length() {
    server(async |peer| {
        peer.send(headers(1).request("POST", "/").field("content-length", "5"));
        peer.send(data(1, "ab").padded(7));
        peer.send(data(1, "cde").end_stream());
        peer.expect_response(1, 200).await;
    });
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(200).field("content-length", "5"));
        peer.send(data(id, "abcde").padded(7));
        peer.send(headers(id).field("checksum", "1").end_stream());
        assert_eq!(call.done().await.end, End::Complete);
    });
}

//= test RFC 9113 §8.1
// 105. A response begins with HEADERS.
#[test]
fn data_before_the_response() {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(data(id, "x"));
        peer.expect_stream_error(id, PROTOCOL_ERROR).await;
        assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
    });
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(103));
        peer.send(data(id, "x"));
        peer.expect_stream_error(id, PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §8.1
// 119. An interim response cannot end the stream.
#[test]
fn interim_response_with_end_stream() {
    client(async |peer| {
        let (id, call) = peer.call("POST", "/").await;
        peer.send(headers(id).response(103).end_stream());
        peer.expect_stream_error(id, PROTOCOL_ERROR).await;
        assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
    });
}

//= test RFC 9113 §8.1
// 119. Interim responses come before the final one, which ends the stream as usual.
#[test]
fn interim_responses() {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(100));
        peer.send(headers(id).response(103).field("link", "</a>"));
        peer.settle().await;
        peer.send(headers(id).response(200).end_stream());
        let outcome = call.done().await;
        assert_eq!(outcome.status(), Some(200));
        assert_eq!(outcome.informational, [100, 103]);
    });
    server(async |peer| {
        peer.send(headers(1).request("GET", "/info").end_stream());
        assert!(!peer.expect_response(1, 103).await.frame.is_end_stream());
        assert!(peer.expect_response(1, 200).await.frame.is_end_stream());
    });
}

//= test RFC 9113 §8.1
// 119. An interim response after the final one is malformed.
#[test]
fn late_interim_response() {
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(headers(id).response(200));
        peer.send(headers(id).response(103));
        peer.expect_stream_error(id, PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §8.1
// 120. A complete response and a reset without error behind it: the client keeps the response.
#[test]
fn early_response() {
    client(async |peer| {
        let (id, call) = peer.call("POST", "/").await;
        peer.send(headers(id).response(200));
        peer.send(data(id, "early").end_stream());
        peer.send(reset(id, NO_ERROR));
        let outcome = call.done().await;
        assert_eq!(outcome.status(), Some(200));
        assert_eq!(
            (&outcome.body[..], outcome.end),
            (&b"early"[..], End::Complete)
        );
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §8.1
// 120. A reset without error before the response is complete is no end of it.
#[test]
fn early_reset() {
    for code in [NO_ERROR, CANCEL] {
        client(async |peer| {
            let (id, call) = peer.call("POST", "/").await;
            peer.send(headers(id).response(200));
            peer.send(data(id, "half"));
            peer.send(reset(id, code));
            assert_eq!(call.done().await.end, End::Failed(Some(code)));
        });
    }
}

//= test RFC 9113 §8.7
// 122. REFUSED_STREAM tells that nothing was processed: no such request reaches the application.
#[test]
fn refused_request_reaches_nobody() {
    let setup = Setup::new().serving(|b| {
        b.max_concurrent_streams(2);
    });
    setup.server(async |peer| {
        let open = [peer.open().await, peer.open().await];
        for _ in 0..3 {
            let id = peer.fresh_id();
            peer.send(headers(id).request("POST", "/refused"));
            peer.send(data(id, "x").end_stream());
            peer.expect_reset(id, super::support::REFUSED_STREAM).await;
        }
        let reached: Vec<_> = peer.exchanges().await.iter().map(|e| e.id).collect();
        assert_eq!(reached, open);
    });
}

//= test RFC 9113 §8.7
// 122. The last stream of GOAWAY is not below a request that reached the application.
#[test]
fn go_away_covers_every_delivered_request() {
    server(async |peer| {
        for id in [1, 3, 5] {
            peer.send(headers(id).request("GET", "/hold").end_stream());
        }
        peer.settle().await;
        peer.send(data(0, "x"));
        let last = peer.expect_kind(kind::GOAWAY).await.frame.word(0);
        let ids: Vec<_> = peer.exchanges().await.iter().map(|e| e.id).collect();
        assert_eq!((ids, last), (vec![1, 3, 5], 5));
    });
}

//= test RFC 9113 §7
// 123. An unknown error code has no special effect.
#[test]
fn unknown_error_codes() {
    both(async |peer| {
        for code in [0xe, 0xff, u32::MAX] {
            let id = peer.open().await;
            peer.send(reset(id, Code(code)));
        }
        peer.expect_nothing().await;
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §8.1
// 102. Our own messages: head, body, trailers that end the stream.
#[test]
fn own_messages() {
    server(async |peer| {
        peer.send(headers(1).request("GET", "/trailers").end_stream());
        assert!(!peer.expect_response(1, 200).await.frame.is_end_stream());
        peer.expect_octets(1, 1).await;
        let trailers = peer.expect_headers(1).await;
        assert_eq!(trailers.field("checksum"), Some("1"));
        assert!(trailers.frame.is_end_stream());
    });
    client(async |peer| {
        let call = peer.caller().call(request("GET", "/a?b"), false);
        let head = peer.expect_headers(1).await;
        assert!(head.frame.is_end_stream());
        for (name, value) in [
            (":method", "GET"),
            (":scheme", "https"),
            (":authority", "example.com"),
            (":path", "/a?b"),
        ] {
            assert_eq!(head.field(name), Some(value));
        }
        peer.send(headers(1).response(200).end_stream());
        assert_eq!(call.done().await.status(), Some(200));
    });
}
