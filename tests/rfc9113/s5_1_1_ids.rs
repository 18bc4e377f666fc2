//! RFC 9113 §5.1.1 and §5.1.2: stream identifiers and concurrency.

use super::support::{
    Frame, PROTOCOL_ERROR, REFUSED_STREAM, STREAM_CLOSED, Setup, both, client, data, headers, kind,
    priority, push_promise, request, reset, server, setting, settings, window_update,
};

const LAST_ID: u32 = (1 << 31) - 1;

//= test RFC 9113 §5.1.1
// 26. A client opens odd streams: an even one ends the connection.
#[test]
fn even_request() {
    for id in [2, 4, 100] {
        server(async |peer| {
            peer.send(headers(id).request("GET", "/").end_stream());
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §5.1.1
// 26. A server promises even streams: an odd one ends the connection.
#[test]
fn odd_promise() {
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, id + 2).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §5.1.1
// 26. Our own ids have our parity and go up.
#[test]
fn own_ids() {
    client(async |peer| {
        for expected in [1, 3, 5] {
            assert_eq!(peer.call("GET", "/").await.0, expected);
        }
    });
    server(async |peer| {
        for (id, promised) in [(1, 2), (3, 4)] {
            peer.send(headers(id).request("GET", "/promise").end_stream());
            let promise = peer.expect_kind(kind::PUSH_PROMISE).await.frame;
            assert_eq!((promise.id, promise.word(0)), (id, promised));
        }
    });
}

//= test RFC 9113 §5.1.1
// 27. A new stream has a larger id than every stream before it.
#[test]
fn request_with_a_lower_id() {
    server(async |peer| {
        peer.send(headers(5).request("GET", "/").end_stream());
        peer.expect_response(5, 200).await;
        peer.send(headers(3).request("GET", "/").end_stream());
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §5.1.1
// 27. A promised stream has a larger id than every promise before it.
#[test]
fn promise_with_a_lower_id() {
    for second in [2, 4] {
        client(async |peer| {
            let (id, _call) = peer.call("GET", "/").await;
            peer.send(push_promise(id, 4).request("GET", "/pushed"));
            peer.send(push_promise(id, second).request("GET", "/pushed"));
            peer.expect_go_away(PROTOCOL_ERROR).await;
        });
    }
}

//= test RFC 9113 §5.1.1
// 28. The first use of an id closes the idle ones below it: they are closed, no longer idle.
#[test]
fn skipped_ids_are_closed() {
    server(async |peer| {
        peer.send(headers(5).request("GET", "/").end_stream());
        peer.expect_response(5, 200).await;
        // On an idle stream this would end the connection.
        peer.send(window_update(3, 1));
        peer.send(priority(1, 0));
        peer.expect_alive().await;
        // A body for one of them comes too late, as for any closed stream.
        peer.send(data(3, "x"));
        peer.expect_either(3, STREAM_CLOSED).await;
    });
}

//= test RFC 9113 §5.1.1
// 29. Stream 0 is never a stream: it cannot be opened or promised.
#[test]
fn stream_zero_is_no_stream() {
    server(async |peer| {
        peer.send(headers(0).request("GET", "/").end_stream());
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
    client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 0).request("GET", "/pushed"));
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

//= test RFC 9113 §5.1.1
// 30. A client whose ids are used up sends no request; what is open goes on.
#[cfg(feature = "unstable")]
#[test]
fn ids_of_a_client_run_out() {
    let setup = Setup::new().calling(|b| {
        b.initial_stream_id(LAST_ID);
    });
    setup.client(async |peer| {
        let (id, last) = peer.call("GET", "/").await;
        assert_eq!(id, LAST_ID);
        let refused = peer.caller().call(request("GET", "/"), false);
        assert_eq!(refused.done().await.end, super::support::End::Failed(None));
        peer.send(headers(id).response(200).end_stream());
        assert_eq!(last.done().await.status(), Some(200));
    });
}

//= test RFC 9113 §5.1.1
// 30. After the last id a client can open no other: a lower one is not new.
#[test]
fn ids_of_a_peer_run_out() {
    server(async |peer| {
        peer.send(headers(LAST_ID).request("GET", "/").end_stream());
        peer.expect_response(LAST_ID, 200).await;
        peer.send(headers(LAST_ID - 2).request("GET", "/").end_stream());
        peer.expect_go_away(PROTOCOL_ERROR).await;
    });
}

/// A setup that allows one stream at a time.
fn one_stream() -> Setup {
    let setup = Setup::new().serving(|b| {
        b.max_concurrent_streams(1);
    });
    setup.calling(|b| {
        b.max_concurrent_streams(1);
    })
}

//= test RFC 9113 §5.1.2
// 31. A request above our limit is refused, reaches nobody, and may be sent again.
#[test]
fn request_above_the_limit() {
    one_stream().server(async |peer| {
        let first = peer.open().await;
        let second = peer.fresh_id();
        peer.send(headers(second).request("GET", "/").end_stream());
        peer.expect_reset(second, REFUSED_STREAM).await;
        assert_eq!(peer.exchanges().await.len(), 1);
        peer.send(reset(first, super::support::CANCEL));
        // The application lets go of the stream as soon as it hears of the reset.
        peer.settle().await;
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.1.2
// 31. A pushed response above our limit is refused, with its promise or at its head; the
// connection and the other streams go on.
#[test]
fn push_above_the_limit() {
    one_stream().client(async |peer| {
        let (id, _call) = peer.call("GET", "/").await;
        peer.send(push_promise(id, 2).request("GET", "/a"));
        peer.send(headers(2).response(200));
        peer.send(push_promise(id, 4).request("GET", "/b"));
        peer.send(headers(4).response(200));
        peer.expect_reset(4, REFUSED_STREAM).await;
        peer.send(data(2, "x").end_stream());
        peer.send(headers(id).response(200).end_stream());
        peer.expect_alive().await;
    });
}

//= test RFC 9113 §5.1.2
// 32. Requests above the peer's limit wait until a stream ends.
#[test]
fn own_requests_respect_the_limit() {
    let one = settings().set(setting::MAX_CONCURRENT_STREAMS, 1);
    Setup::new().settings(one).client(async |peer| {
        let (first, _call) = peer.call("GET", "/").await;
        let second = peer.caller().call(request("GET", "/"), false);
        peer.expect_nothing().await;
        peer.send(headers(first).response(200));
        peer.send(data(first, "x"));
        peer.expect_nothing().await;
        peer.send(data(first, "").end_stream());
        let id = peer.expect_kind(kind::HEADERS).await.frame.id;
        peer.send(headers(id).response(200).end_stream());
        assert_eq!(second.done().await.status(), Some(200));
    });
}

//= test RFC 9113 §5.1.2
// 32. A limit that is lowered later holds for the requests after it.
#[test]
fn own_requests_respect_a_lowered_limit() {
    client(async |peer| {
        let (id, call) = peer.call("GET", "/").await;
        peer.send(settings().set(setting::MAX_CONCURRENT_STREAMS, 0));
        peer.settle().await;
        let waiting = peer.caller().call(request("GET", "/"), false);
        peer.send(headers(id).response(200).end_stream());
        assert_eq!(call.done().await.status(), Some(200));
        peer.expect_nothing().await;
        peer.send(settings().set(setting::MAX_CONCURRENT_STREAMS, 1));
        let id = peer.expect_kind(kind::HEADERS).await.frame.id;
        peer.send(headers(id).response(200).end_stream());
        assert_eq!(waiting.done().await.status(), Some(200));
    });
}

//= test RFC 9113 §5.1.2
// 32. A promise does not count, the pushed response does: it waits for the peer's limit.
#[test]
fn own_pushes_respect_the_limit() {
    let none = settings().set(setting::MAX_CONCURRENT_STREAMS, 0);
    Setup::new().settings(none).server(async |peer| {
        peer.send(headers(1).request("GET", "/push").end_stream());
        let all = peer.everything().await;
        let promised = |f: &&Frame| f.kind == kind::PUSH_PROMISE;
        assert_eq!(all.iter().filter(promised).count(), 1, "{all:?}");
        assert!(
            all.iter().all(|f| f.kind != kind::HEADERS || f.id == 1),
            "{all:?}"
        );
        peer.send(settings().set(setting::MAX_CONCURRENT_STREAMS, 1));
        peer.expect_response(2, 200).await;
    });
}

//= test RFC 9113 §5.1.1
// 27. PRIORITY and unknown frames on an idle stream do not open it.
#[test]
fn priority_opens_nothing() {
    both(async |peer| {
        peer.send(priority(99, 0));
        peer.expect_alive().await;
    });
}
