//! One request and its response, in all their forms.

use std::future::poll_fn;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};

use super::support::{
    Body, Respond, fields, get, link, link_with, manual, pattern, pong, post, status, within,
};
use crate::client_crate::{self, client};
use crate::server_crate::{self, server};
use crate::{read_all, send_all};

async fn echo(request: Request<Body>, mut respond: Respond) {
    let mut body = request.into_body();
    let mut out = respond.send_response(status(200), false).unwrap();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        let length = chunk.len();
        send_all!(out, chunk, false);
        body.flow_control().release_capacity(length).unwrap();
    }
    match body.trailers().await.unwrap() {
        Some(trailers) => out.send_trailers(trailers).unwrap(),
        None => out.send_data(Bytes::new(), true).unwrap(),
    }
}

#[tokio::test]
async fn a_get_has_head_and_body() {
    let link = link(|request, mut respond| async move {
        assert_eq!(request.method(), Method::GET);
        assert_eq!(request.uri(), "https://example.com/page?q=1");
        assert_eq!(request.headers()["x-asked"], "yes");
        assert!(request.body().is_end_stream());
        let response = Response::builder()
            .header("x-answered", "too")
            .body(())
            .unwrap();
        let mut body = respond.send_response(response, false).unwrap();
        body.send_data(Bytes::from_static(b"hello"), true).unwrap();
    })
    .await;
    let mut request = get("/page?q=1");
    request
        .headers_mut()
        .insert("x-asked", "yes".parse().unwrap());
    let mut requests = link.requests.clone().ready().await.unwrap();
    let (response, _) = requests.send_request(request, true).unwrap();
    assert_eq!(response.stream_id().as_u32(), 1);
    let mut response = within(response).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["x-answered"], "too");
    assert_eq!(read_all!(*response.body_mut()), b"hello");
    assert!(response.body().is_end_stream());
}

#[tokio::test]
async fn a_response_may_be_a_head_alone() {
    let link = link(|_, mut respond| async move {
        respond.send_response(status(204), true).unwrap();
    })
    .await;
    let mut response = link.get("/").await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    assert!(response.body().is_end_stream());
    assert!(within(response.body_mut().data()).await.is_none());
    assert!(
        within(response.body_mut().trailers())
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn a_post_is_echoed_with_back_pressure() {
    let link = link(echo).await;
    let mut requests = link.requests.clone().ready().await.unwrap();
    let (response, mut stream) = requests.send_request(post("/echo"), false).unwrap();
    let sent = pattern(1 << 20);
    let data = sent.clone();
    let sending = tokio::spawn(async move { send_all!(stream, data, true) });
    let mut response = within(response).await.unwrap();
    assert!(read_all!(*response.body_mut()) == sent);
    within(sending).await.unwrap();
}

#[tokio::test]
async fn trailers_go_both_ways() {
    let link = link(echo).await;
    let mut requests = link.requests.clone().ready().await.unwrap();
    let (response, mut stream) = requests.send_request(post("/"), false).unwrap();
    stream
        .send_data(Bytes::from_static(b"body"), false)
        .unwrap();
    stream
        .send_trailers(fields(&[("x-sum", "17"), ("x-more", "1")]))
        .unwrap();
    let mut response = within(response).await.unwrap();
    assert_eq!(read_all!(*response.body_mut()), b"body");
    let trailers = within(response.body_mut().trailers())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(trailers["x-sum"], "17");
    assert_eq!(trailers["x-more"], "1");
}

#[tokio::test]
async fn informational_responses_come_first() {
    let link = link(|_, mut respond| async move {
        respond.send_informational(status(100)).unwrap();
        let mut hints = status(103);
        hints
            .headers_mut()
            .insert("link", "</style.css>".parse().unwrap());
        respond.send_informational(hints).unwrap();
        respond.send_informational(status(200)).unwrap_err();
        respond.send_response(status(200), true).unwrap();
        respond.send_informational(status(100)).unwrap_err();
    })
    .await;
    let mut requests = link.requests.clone();
    let (mut response, _) = requests.send_request(get("/"), true).unwrap();
    let first = within(poll_fn(|cx| response.poll_informational(cx)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(first.status(), StatusCode::CONTINUE);
    let second = within(poll_fn(|cx| response.poll_informational(cx)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(second.status(), StatusCode::EARLY_HINTS);
    assert_eq!(second.headers()["link"], "</style.css>");
    assert!(
        within(poll_fn(|cx| response.poll_informational(cx)))
            .await
            .is_none()
    );
    assert_eq!(within(response).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn informational_responses_need_not_be_asked_for() {
    let link = link(|_, mut respond| async move {
        respond.send_informational(status(103)).unwrap();
        respond.send_response(status(200), true).unwrap();
    })
    .await;
    assert_eq!(link.get("/").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_response_may_be_pushed() {
    let link = link(|_, mut respond| async move {
        let mut pushed = respond.push_request(get("/style.css")).unwrap();
        assert_eq!(pushed.stream_id().as_u32(), 2);
        let mut body = respond.send_response(status(200), false).unwrap();
        let mut style = pushed.send_response(status(203), false).unwrap();
        style.send_data(Bytes::from_static(b"style"), true).unwrap();
        body.send_data(Bytes::from_static(b"page"), true).unwrap();
    })
    .await;
    let mut requests = link.requests.clone();
    let (mut response, _) = requests.send_request(get("/"), true).unwrap();
    let mut promises = response.push_promises();
    let promise = within(promises.push_promise()).await.unwrap().unwrap();
    assert_eq!(promise.request().uri(), "https://example.com/style.css");
    let (request, style) = promise.into_parts();
    assert_eq!(request.method(), Method::GET);
    assert_eq!(style.stream_id().as_u32(), 2);
    let mut style = within(style).await.unwrap();
    assert_eq!(style.status().as_u16(), 203);
    assert_eq!(read_all!(*style.body_mut()), b"style");
    let mut response = within(response).await.unwrap();
    assert_eq!(read_all!(*response.body_mut()), b"page");
    assert!(within(promises.push_promise()).await.is_none());
}

#[tokio::test]
async fn a_push_that_the_client_does_not_want_is_a_fault_of_the_caller() {
    let (told, mut hear) = tokio::sync::mpsc::unbounded_channel();
    let mut builder = client::Builder::new();
    let link = link_with(builder.enable_push(false), &server::Builder::new(), {
        move |_, mut respond: Respond| {
            told.send(respond.push_request(get("/style.css")).is_err())
                .unwrap();
            respond.send_response(status(200), true).unwrap();
            std::future::ready(())
        }
    })
    .await;
    assert_eq!(link.get("/").await.status(), StatusCode::OK);
    assert_eq!(within(hear.recv()).await, Some(true));
}

#[tokio::test]
async fn connect_makes_a_tunnel() {
    let link = link(|request: Request<Body>, respond| async move {
        assert_eq!(request.method(), Method::CONNECT);
        assert_eq!(request.uri().authority().unwrap(), "example.com:443");
        assert!(request.uri().scheme().is_none());
        echo(request, respond).await;
    })
    .await;
    let request = Request::connect("example.com:443").body(()).unwrap();
    let mut requests = link.requests.clone();
    let (response, mut stream) = requests.send_request(request, false).unwrap();
    let mut response = within(response).await.unwrap();
    for word in ["one", "two"] {
        stream
            .send_data(Bytes::from_static(word.as_bytes()), false)
            .unwrap();
        let heard = within(response.body_mut().data()).await.unwrap().unwrap();
        assert_eq!(heard, word);
    }
    stream.send_data(Bytes::new(), true).unwrap();
    assert!(read_all!(*response.body_mut()).is_empty());
}

#[tokio::test]
async fn extended_connect_names_its_protocol() {
    let mut builder = server::Builder::new();
    let link = link_with(
        &client::Builder::new(),
        builder.enable_connect_protocol(),
        {
            |request: Request<Body>, respond| async move {
                let protocol = request
                    .extensions()
                    .get::<server_crate::ext::Protocol>()
                    .unwrap();
                assert_eq!(protocol.as_str(), "websocket");
                assert_eq!(request.method(), Method::CONNECT);
                assert_eq!(request.uri(), "https://example.com/chat");
                echo(request, respond).await;
            }
        },
    )
    .await;
    // The server's SETTINGS have come once a ping or a response has.
    while !link.requests.is_extended_connect_protocol_enabled() {
        tokio::task::yield_now().await;
    }
    let mut request = get("/chat");
    *request.method_mut() = Method::CONNECT;
    request
        .extensions_mut()
        .insert(client_crate::ext::Protocol::from_static("websocket"));
    let mut requests = link.requests.clone();
    let (response, mut stream) = requests.send_request(request, false).unwrap();
    stream.send_data(Bytes::from_static(b"hi"), true).unwrap();
    let mut response = within(response).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(read_all!(*response.body_mut()), b"hi");
}

#[tokio::test]
async fn extended_connect_can_be_enabled_later() {
    let (requests, client, mut server) =
        manual(&client::Builder::new(), &server::Builder::new()).await;
    let serving = tokio::spawn(async move {
        // SETTINGS can be changed once the first are acknowledged.
        let mut enabled = false;
        poll_fn(|cx| {
            let over = server.poll_closed(cx).map(|_| ());
            enabled = enabled || server.enable_connect_protocol().is_ok();
            if enabled {
                server.poll_closed(cx).map(|_| ())
            } else {
                over
            }
        })
        .await;
    });
    let enabled = async {
        while !requests.is_extended_connect_protocol_enabled() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    };
    within(enabled).await;
    drop(requests);
    within(client).await.unwrap().unwrap();
    within(serving).await.unwrap();
}

#[tokio::test]
async fn pings_are_answered() {
    let (near, far) = tokio::io::duplex(1024);
    let serving = tokio::spawn(async move {
        let mut connection = server::handshake(far).await.unwrap();
        while let Some(stream) = connection.accept().await {
            stream.unwrap();
        }
    });
    let (requests, mut connection) = client::handshake(near).await.unwrap();
    let pings = connection.ping_pong().unwrap();
    assert!(connection.ping_pong().is_none());
    let connection = tokio::spawn(connection);
    within(pong(pings)).await.unwrap();
    drop(requests);
    within(connection).await.unwrap().unwrap();
    within(serving).await.unwrap();
}

#[tokio::test]
async fn a_malformed_message_is_a_fault_of_the_caller_and_costs_nothing() {
    let link = link(|_, mut respond: Respond| async move {
        let mut response = status(200);
        response
            .headers_mut()
            .insert("connection", "close".parse().unwrap());
        respond.send_response(response, true).unwrap_err();
        respond.send_response(status(200), true).unwrap();
    })
    .await;
    let mut request = get("/");
    request
        .headers_mut()
        .insert("transfer-encoding", "chunked".parse().unwrap());
    link.requests
        .clone()
        .send_request(request, true)
        .unwrap_err();
    assert_eq!(link.get("/").await.status(), StatusCode::OK);
}
