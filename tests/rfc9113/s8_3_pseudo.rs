//! RFC 9113 §8.3 and §8.5, RFC 8441: pseudo-header fields and CONNECT.

use super::support::{
    End, Frame, PROTOCOL_ERROR, Protocol, Setup, client, data, flag, headers, kind, request,
    server, setting, settings,
};

/// A request that costs its stream and reaches nobody.
fn malformed_request(build: impl Fn(Frame) -> Frame) {
    malformed_request_to(&Setup::new(), build);
}

fn malformed_request_to(setup: &Setup, build: impl Fn(Frame) -> Frame) {
    setup.server(async |peer| {
        peer.send(build(headers(1)).end_stream());
        peer.expect_stream_error(1, PROTOCOL_ERROR).await;
        assert!(
            peer.exchanges().await.iter().all(|e| e.id != 1),
            "it reached the application"
        );
    });
}

/// A response that fails its request and costs no more.
fn malformed_response(build: impl Fn(Frame) -> Frame) {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(build(headers(id)));
        peer.expect_stream_error(id, PROTOCOL_ERROR).await;
        assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
    });
}

//= test RFC 9113 §8.3
// 111. Unknown pseudo-header fields, and those of the other direction, are malformed.
#[test]
fn unknown_pseudo_headers() {
    for name in [":unknown", ":", ":status", ":Path"] {
        malformed_request(|frame| frame.request("GET", "/").field(name, "200"));
    }
    for name in [":unknown", ":path", ":method", ":authority", ":protocol"] {
        malformed_response(|frame| frame.response(200).field(name, "/"));
    }
}

//= test RFC 9113 §8.3
// 112. Pseudo-header fields come before all others.
#[test]
fn late_pseudo_headers() {
    malformed_request(|frame| {
        let most = frame.field(":method", "GET").field(":scheme", "https");
        most.field(":authority", "example.com")
            .field("a", "b")
            .field(":path", "/")
    });
    malformed_response(|frame| frame.field("a", "b").response(200));
}

//= test RFC 9113 §8.3
// 113. A pseudo-header field comes once, even with the same value.
#[test]
fn repeated_pseudo_headers() {
    for (name, value) in [
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/"),
        (":authority", "example.com"),
    ] {
        malformed_request(|frame| frame.request("GET", "/").field(name, value));
    }
    malformed_response(|frame| frame.response(200).response(200));
}

//= test RFC 9113 §8.3.1
// 114. A request has :method, :scheme and :path.
#[test]
fn missing_pseudo_headers() {
    let all = [(":method", "GET"), (":scheme", "https"), (":path", "/")];
    for missing in 0..3 {
        malformed_request(|mut frame| {
            for (_, (name, value)) in all.iter().enumerate().filter(|(at, _)| *at != missing) {
                frame = frame.field(name, value);
            }
            frame.field(":authority", "example.com")
        });
    }
}

//= test RFC 9113 §8.3.1
// 114. :authority may be left out.
#[test]
fn request_without_authority() {
    server(async |peer| {
        let head = headers(1).field(":method", "GET").field(":scheme", "https");
        peer.send(
            head.field(":path", "/")
                .field("host", "example.com")
                .end_stream(),
        );
        peer.expect_response(1, 200).await;
    });
}

//= test RFC 9113 §8.3.1
// 114. A method is a token: nothing else can reach an HTTP/1.1 request line.
#[test]
fn methods_that_are_no_token() {
    for method in ["", "GET /admin HTTP/1.1", "G\tT", "GET\r\n"] {
        malformed_request(|frame| frame.request(method, "/"));
    }
}

//= test RFC 9113 §8.3.1
// 115. :path is not empty, begins with a slash, and has no blanks, control octets or fragment.
#[test]
fn paths_that_are_none() {
    for path in ["", "no/slash", "/a b", "/a\tb", "/\r\nevil: 1", "/a#b"] {
        malformed_request(|frame| frame.request("GET", path));
    }
    malformed_request(|frame| frame.request("GET", "*"));
}

//= test RFC 9113 §8.3.1
// 115. OPTIONS for the whole server says `*`.
#[test]
fn options_of_the_server() {
    server(async |peer| {
        peer.send(headers(1).request("OPTIONS", "*").end_stream());
        peer.expect_response(1, 200).await;
        assert_eq!(peer.exchanges().await[0].request.uri().path(), "*");
    });
}

//= test RFC 9113 §8.3.1
// 116. :authority has no user information.
#[test]
fn authority_with_userinfo() {
    for authority in [
        "user@example.com",
        "user:secret@example.com",
        "@example.com",
    ] {
        malformed_request(|frame| {
            let head = frame.field(":method", "GET").field(":scheme", "https");
            head.field(":authority", authority).field(":path", "/")
        });
    }
}

//= test RFC 9113 §8.3.1
// 116. A Host field that names another host than :authority is malformed.
#[test]
fn host_other_than_authority() {
    malformed_request(|frame| frame.request("GET", "/").field("host", "other.example"));
    server(async |peer| {
        peer.send(
            headers(1)
                .request("GET", "/")
                .field("host", "example.com")
                .end_stream(),
        );
        peer.expect_response(1, 200).await;
        let uri = peer.exchanges().await[0].request.uri().clone();
        assert_eq!(uri.authority().unwrap(), "example.com");
    });
}

//= test RFC 9113 §8.3.1
// 116. :authority, or Host in its place, is a host and perhaps a port: nothing that another reader
// could take for another place.
#[test]
fn authorities_that_are_none() {
    for authority in [
        "",
        ":443",
        "example.com:x",
        "example.com:+80",
        "example.com:-1",
        "example.com:65536",
        "example.com:8 0",
        "example.com:80:80",
        "exam ple.com",
        "example.com/a",
        "example.com?a",
        "example.com#a",
        "[::1",
        "a,b@c",
    ] {
        malformed_request(|frame| {
            let head = frame.field(":method", "GET").field(":scheme", "https");
            head.field(":authority", authority).field(":path", "/")
        });
        malformed_request(|frame| {
            let head = frame.field(":method", "GET").field(":scheme", "https");
            head.field(":path", "/").field("host", authority)
        });
    }
    for authority in [
        "example.com:8080",
        "example.com:",
        "[::1]:8443",
        "127.0.0.1",
    ] {
        server(async |peer| {
            let head = headers(1).field(":method", "GET").field(":scheme", "https");
            let head = head.field(":authority", authority).field(":path", "/");
            peer.send(head.end_stream());
            peer.expect_response(1, 200).await;
            let uri = peer.exchanges().await[0].request.uri().clone();
            assert_eq!(uri.authority().unwrap(), authority);
        });
    }
}

//= test RFC 9113 §8.3.1
// 116. Two Host fields could name two places, even when they do not.
#[test]
fn host_twice() {
    for second in ["example.com", "other.example"] {
        malformed_request(|frame| {
            let head = frame.request("GET", "/").field("host", "example.com");
            head.field("host", second)
        });
        malformed_request(|frame| {
            let head = frame.field(":method", "GET").field(":scheme", "https");
            let head = head.field(":path", "/").field("host", "example.com");
            head.field("host", second)
        });
    }
}

fn connect(frame: Frame) -> Frame {
    frame
        .field(":method", "CONNECT")
        .field(":authority", "example.com:443")
}

//= test RFC 9113 §8.5
// 117. CONNECT has :authority, and neither :scheme nor :path.
#[test]
fn malformed_connect() {
    malformed_request(|frame| frame.field(":method", "CONNECT"));
    malformed_request(|frame| connect(frame).field(":scheme", "https"));
    malformed_request(|frame| connect(frame).field(":path", "/"));
    malformed_request(|frame| connect(frame).field(":scheme", "https").field(":path", "/"));
}

//= test RFC 9113 §8.5
// 117. CONNECT opens a tunnel: DATA both ways until each side ends it.
#[test]
fn connect_opens_a_tunnel() {
    server(async |peer| {
        peer.send(connect(headers(1)));
        assert!(!peer.expect_response(1, 200).await.frame.is_end_stream());
        peer.send(data(1, "ping"));
        peer.expect_octets(1, 4).await;
        peer.send(data(1, "").end_stream());
        assert!(peer.expect_octets(1, 0).await.is_end_stream());
    });
}

fn extended() -> Setup {
    Setup::new().serving(|b| {
        b.enable_connect_protocol();
    })
}

fn web_socket(frame: Frame) -> Frame {
    let head = frame
        .field(":method", "CONNECT")
        .field(":protocol", "websocket");
    head.field(":scheme", "https")
        .field(":path", "/chat")
        .field(":authority", "example.com")
}

//= test RFC 8441 §4
// 117. Extended CONNECT has :scheme, :path, :authority and :protocol.
#[test]
fn extended_connect() {
    extended().server(async |peer| {
        peer.send(web_socket(headers(1)));
        peer.expect_response(1, 200).await;
        let request = &peer.exchanges().await[0].request;
        assert_eq!(
            request.extensions().get::<Protocol>().unwrap().as_str(),
            "websocket"
        );
        assert_eq!(request.uri().path(), "/chat");
    });
}

//= test RFC 8441 §4
// 117. Extended CONNECT without :scheme or :path, or :protocol with another method, is malformed.
#[test]
fn malformed_extended_connect() {
    let proto = (":protocol", "websocket");
    malformed_request_to(&extended(), |frame| connect(frame).field(proto.0, proto.1));
    malformed_request_to(&extended(), |frame| {
        connect(frame)
            .field(proto.0, proto.1)
            .field(":path", "/chat")
    });
    malformed_request_to(&extended(), |frame| {
        connect(frame)
            .field(proto.0, proto.1)
            .field(":scheme", "https")
    });
    malformed_request_to(&extended(), |frame| {
        frame.request("GET", "/").field(proto.0, proto.1)
    });
    malformed_request_to(&extended(), |frame| {
        let head = frame.field(":method", "CONNECT").field(proto.0, proto.1);
        head.field(":scheme", "https").field(":path", "/chat")
    });
    malformed_request_to(&extended(), |frame| {
        web_socket(frame).field(proto.0, proto.1)
    });
    for value in ["", "web socket", "a,b", "web\u{e9}"] {
        malformed_request_to(&extended(), |frame| {
            let head = frame.field(":method", "CONNECT").field(":protocol", value);
            let head = head.field(":scheme", "https").field(":path", "/chat");
            head.field(":authority", "example.com")
        });
    }
}

//= test RFC 8441 §4
// 117. Extended CONNECT without our setting is malformed.
#[test]
fn extended_connect_that_was_not_allowed() {
    malformed_request(web_socket);
}

//= test RFC 8441 §4
// 117. Our own extended CONNECT says all of them, once the server allows it.
#[test]
fn own_extended_connect() {
    let allowed = settings().set(setting::ENABLE_CONNECT_PROTOCOL, 1);
    Setup::new().settings(allowed).client(async |peer| {
        let mut chat = request("CONNECT", "/chat");
        chat.extensions_mut().insert(Protocol::from("websocket"));
        let _call = peer.caller().call(chat, true);
        let head = peer.expect_kind(kind::HEADERS).await;
        for (name, value) in [
            (":method", "CONNECT"),
            (":protocol", "websocket"),
            (":scheme", "https"),
            (":path", "/chat"),
            (":authority", "example.com"),
        ] {
            assert_eq!(head.field(name), Some(value));
        }
        assert!(!head.frame.has(flag::END_STREAM));
    });
}

//= test RFC 9113 §8.5
// 117. Our own CONNECT has :authority, and neither :scheme nor :path.
#[test]
fn own_connect() {
    client(async |peer| {
        let uri = "example.com:443";
        let tunnel = http::Request::builder()
            .method("CONNECT")
            .uri(uri)
            .body(())
            .unwrap();
        let _call = peer.caller().call(tunnel, true);
        let head = peer.expect_kind(kind::HEADERS).await;
        assert_eq!(head.field(":method"), Some("CONNECT"));
        assert_eq!(head.field(":authority"), Some(uri));
        assert_eq!((head.field(":scheme"), head.field(":path")), (None, None));
    });
}

//= test RFC 8441 §5
// 121. What extended CONNECT opens is such a tunnel too: DATA both ways, END_STREAM closes a side, and
// a length in the response means nothing.
#[test]
fn extended_connect_is_a_tunnel() {
    extended().server(async |peer| {
        peer.send(web_socket(headers(1)));
        assert!(!peer.expect_response(1, 200).await.frame.is_end_stream());
        peer.send(data(1, "ping"));
        peer.expect_octets(1, 4).await;
        peer.send(data(1, "").end_stream());
        assert!(peer.expect_octets(1, 0).await.is_end_stream());
        peer.expect_alive().await;
    });
    extended().server(async |peer| {
        peer.send(web_socket(headers(1)));
        peer.expect_response(1, 200).await;
        peer.send(headers(1).field("checksum", "1").end_stream());
        peer.expect_stream_error(1, PROTOCOL_ERROR).await;
    });
    let allowed = settings().set(setting::ENABLE_CONNECT_PROTOCOL, 1);
    Setup::new().settings(allowed).client(async |peer| {
        let mut chat = request("CONNECT", "/chat");
        chat.extensions_mut().insert(Protocol::from("websocket"));
        let call = peer.caller().call(chat, true);
        let id = peer.expect_kind(kind::HEADERS).await.frame.id;
        peer.send(headers(id).response(200).field("content-length", "2"));
        peer.send(data(id, "ping").end_stream());
        peer.settle().await;
        call.send(b"pong", true);
        assert!(peer.expect_octets(id, 4).await.is_end_stream());
        let outcome = call.done().await;
        assert_eq!(
            (&outcome.body[..], outcome.end),
            (&b"ping"[..], End::Complete)
        );
    });
}

//= test RFC 9113 §8.5
// 121. In a tunnel only DATA and the frames that manage streams are legal.
#[test]
fn trailers_in_a_tunnel() {
    server(async |peer| {
        peer.send(connect(headers(1)));
        peer.expect_response(1, 200).await;
        peer.send(headers(1).field("checksum", "1").end_stream());
        peer.expect_stream_error(1, PROTOCOL_ERROR).await;
    });
    client(async |peer| {
        let tunnel = http::Request::builder()
            .method("CONNECT")
            .uri("example.com:443");
        let call = peer.caller().call(tunnel.body(()).unwrap(), true);
        // The request side stays open, so that the reset has a stream to end.
        let id = peer.expect_kind(kind::HEADERS).await.frame.id;
        peer.send(headers(id).response(200));
        peer.settle().await;
        peer.send(headers(id).field("checksum", "1").end_stream());
        peer.expect_stream_error(id, PROTOCOL_ERROR).await;
        assert_eq!(call.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
    });
}

//= test RFC 9113 §8.3.2
// 118. A response has a :status of three digits.
#[test]
fn status_that_is_none() {
    malformed_response(|frame| frame.field("a", "b"));
    for status in ["", "2", "20", "2000", "abc", "+20", "099", "2 0", "000"] {
        malformed_response(|frame| frame.field(":status", status));
    }
}

//= test RFC 9113 §8.6
// 118. 101 does not exist here, neither as interim nor as final response.
#[test]
fn switching_protocols() {
    malformed_response(|frame| frame.response(101));
}

//= test RFC 9113 §8.3
// 111. What stands in a message does not reach the message behind it.
#[test]
fn good_messages_after_malformed_ones() {
    server(async |peer| {
        let bad = headers(1).request("GET", "/bad").field("x", "1");
        peer.send(bad.field(":path", "/").end_stream());
        peer.expect_reset(1, PROTOCOL_ERROR).await;
        peer.send(headers(3).request("GET", "/good").end_stream());
        peer.expect_response(3, 200).await;
        let [good] = &peer.exchanges().await[..] else {
            panic!("one request is good")
        };
        assert_eq!(good.request.uri().path(), "/good");
        assert!(good.request.headers().is_empty());
    });
    client(async |peer| {
        let (bad, failed) = peer.call("GET", "/").await;
        let (good, call) = peer.call("GET", "/").await;
        let head = headers(bad).response(404).field("x", "1");
        peer.send(head.field(":status", "404"));
        peer.expect_reset(bad, PROTOCOL_ERROR).await;
        assert_eq!(failed.done().await.end, End::Failed(Some(PROTOCOL_ERROR)));
        peer.send(headers(good).response(200).end_stream());
        let outcome = call.done().await;
        assert_eq!(outcome.status(), Some(200));
        assert!(outcome.response.unwrap().headers().is_empty());
        peer.expect_alive().await;
    });
}
