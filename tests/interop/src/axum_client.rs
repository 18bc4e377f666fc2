//! Clients of the application of `axum_server`: reqwest over TLS, and WebSockets through hyper.

use futures_util::{SinkExt, StreamExt, future};
use http::{Method, Request, StatusCode};
use hyper::ext::Protocol;
use hyper::rt::{Read, Write};
use hyper_util::rt::{TokioExecutor, TokioIo};
use reqwest::{Body, Client, Version};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::bodies::{self, pattern};
use crate::checks::{Checks, Result, ensure, given_up, same};
use crate::hyper_client::{get, open, text};
use crate::net::Peers;

pub async fn check(peers: &Peers) -> i32 {
    let mut checks = Checks::default();
    checks.run("TLS and ALPN", hello(peers)).await;
    checks.run("streams down", down(peers)).await;
    checks.run("streams up and both ways", up(peers)).await;
    checks.run("server-sent events", events(peers)).await;
    checks
        .run("WebSocket in clear text", plain_socket(peers))
        .await;
    checks.run("WebSocket over TLS", tls_socket(peers)).await;
    checks.run("a Router without hyper", directly(peers)).await;
    checks.finish()
}

fn client(peers: &Peers) -> Result<Client> {
    let pem = std::fs::read(format!("{}/cert.pem", peers.certificates))?;
    let certificate = reqwest::Certificate::from_pem(&pem)?;
    Ok(Client::builder()
        .no_proxy()
        .tls_certs_only([certificate])
        .build()?)
}

fn url(peers: &Peers, path: &str) -> String {
    format!("https://localhost:{}{path}", peers.address("tls").port())
}

async fn hello(peers: &Peers) -> Result {
    let response = client(peers)?.get(url(peers, "/")).send().await?;
    same("version", response.version(), Version::HTTP_2)?;
    same("body", response.text().await?.as_str(), "Hello, World!")?;
    let response = client(peers)?.get(url(peers, "/none")).send().await?;
    same("status", response.status().as_u16(), 404)?;
    let json = client(peers)?
        .post(url(peers, "/json"))
        .header("content-type", "application/json");
    same(
        "json",
        json.body("[1,2,3]").send().await?.text().await?.as_str(),
        "[1,2,3]",
    )
}

async fn down(peers: &Peers) -> Result {
    let client = client(peers)?;
    let downloads = (0..20).map(|at| {
        let request = client.get(url(peers, &format!("/bytes/{}", at * 150_000)));
        async move {
            let bytes = request.send().await?.bytes().await?;
            ensure("another body", bytes == pattern(0, at * 150_000))
        }
    });
    future::try_join_all(downloads).await?;
    Ok(())
}

async fn up(peers: &Peers) -> Result {
    let client = client(peers)?;
    for size in [0, 1, 70_000, 5_000_000] {
        let body = Body::wrap_stream(bodies::chunks(size));
        let sum = client.post(url(peers, "/sum")).body(body).send().await?;
        same("octets", sum.text().await?, size.to_string())?;
        let body = Body::wrap_stream(bodies::chunks(size));
        let echo = client.post(url(peers, "/echo")).body(body).send().await?;
        ensure("another body", echo.bytes().await? == pattern(0, size))?;
    }
    Ok(())
}

async fn events(peers: &Peers) -> Result {
    let response = client(peers)?.get(url(peers, "/events/30")).send().await?;
    let kind = response.headers()["content-type"].clone();
    same("content-type", kind.to_str()?, "text/event-stream")?;
    let text = response.text().await?;
    for at in 0..30 {
        ensure(
            "an event is missing",
            text.contains(&format!("event: count\ndata: {at}\n\n")),
        )?;
    }
    Ok(())
}

async fn plain_socket(peers: &Peers) -> Result {
    socket(TokioIo::new(peers.connect("plain").await?), "http").await
}

async fn tls_socket(peers: &Peers) -> Result {
    socket(TokioIo::new(peers.connect_tls("tls").await?), "https").await
}

async fn socket<I>(io: I, scheme: &str) -> Result
where
    I: Read + Write + Unpin + Send + 'static,
{
    let builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    let (mut sender, _) = open(&builder, io).await?;
    // Until the server's SETTINGS are here, extended CONNECT is refused on this side.
    same(
        "hello",
        text(get(&mut sender, "/").await?).await?.as_str(),
        "Hello, World!",
    )?;
    let request = Request::builder()
        .method(Method::CONNECT)
        .uri(format!("{scheme}://localhost/socket"))
        .extension(Protocol::from_static("websocket"))
        .header("sec-websocket-version", "13")
        .body(bodies::empty())?;
    let mut response = sender.send_request(request).await?;
    same("status", response.status(), StatusCode::OK)?;
    let upgraded = TokioIo::new(hyper::upgrade::on(&mut response).await?);
    let socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, None).await;
    let (mut sink, mut stream) = socket.split();
    let sent = tokio::spawn(async move {
        for at in 0..100 {
            sink.send(Message::Binary(pattern(0, at * 1000))).await?;
        }
        sink.send(Message::text("end")).await?;
        sink.close().await
    });
    for at in 0..100 {
        let message = stream.next().await.ok_or("an early end")??;
        ensure(
            "another message",
            message == Message::Binary(pattern(0, at * 1000)),
        )?;
    }
    same(
        "last",
        stream.next().await.ok_or("no end")??,
        Message::text("end"),
    )?;
    ensure(
        "no close",
        matches!(stream.next().await, Some(Ok(Message::Close(_)))),
    )?;
    Ok(sent.await??)
}

async fn directly(peers: &Peers) -> Result {
    let builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    let io = TokioIo::new(peers.connect("direct").await?);
    let (mut sender, served) = open(&builder, io).await?;
    let hello = get(&mut sender, "/").await?;
    ensure("a date", hello.headers().contains_key("date"))?;
    let length = hello.headers().get("content-length").cloned();
    same("content-length", length, Some(13.into()))?;
    same("body", text(hello).await?.as_str(), "Hello, World!")?;
    let head = Request::head("http://localhost/").body(bodies::empty())?;
    same(
        "body of HEAD",
        text(sender.send_request(head).await?).await?.as_str(),
        "",
    )?;
    for size in [0, 1, 16_384, 70_000, 5_000_000] {
        let down = get(&mut sender, &format!("/bytes/{size}")).await?;
        bodies::expect_pattern(down.into_body(), size).await?;
        let up = Request::post("http://localhost/echo").body(bodies::streamed(size))?;
        let echo = sender.send_request(up).await?;
        bodies::expect_pattern(echo.into_body(), size).await?;
    }
    // Given up while the service and while the body is at work.
    for at in 0..20 {
        let given_up = given_up(at, get(&mut sender, "/bytes/100000000")).await;
        drop(given_up);
    }
    // What is open when the server shuts down has its answer, and then the connection ends.
    let events = get(&mut sender, "/events/40").await?;
    same(
        "shutdown",
        text(get(&mut sender, "/shutdown").await?).await?.as_str(),
        "soon",
    )?;
    let events = text(events).await?;
    ensure("an event is missing", events.contains("data: 39\n\n"))?;
    Ok(served.await??)
}
