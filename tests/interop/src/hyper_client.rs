//! What a program sees through hyper's client, against any server with the routes of
//! `hyper_server`.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, future, stream};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::rt::{Read, Write};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::bodies::{self, Body, expect_pattern};
use crate::checks::{Checks, Failure, Result, ensure, eventually, find, given_up, same};
use crate::net::Peers;

pub type Sender = SendRequest<Body>;
type Served = tokio::task::JoinHandle<hyper::Result<()>>;

pub async fn check(peers: &Peers) -> i32 {
    let mut checks = Checks::default();
    checks
        .run("bodies down, of every size", bodies_down(peers))
        .await;
    checks
        .run("bodies up, of every size", bodies_up(peers))
        .await;
    checks
        .run("bodies both ways at once", both_ways(peers))
        .await;
    checks.run("trailers both ways", trailers(peers)).await;
    checks
        .run("heads: HEAD, 204, 304, fields, query", heads(peers))
        .await;
    checks
        .run("many streams at once", many(peers, "plain", 100))
        .await;
    checks
        .run("more streams than the server takes", many(peers, "few", 40))
        .await;
    checks
        .run("small windows both ways", many(peers, "small", 20))
        .await;
    checks.run("1xx before the answer", informed(peers)).await;
    checks.run("TLS", over_tls(peers)).await;
    checks
        .run("an answer before the body was sent", early_answer(peers))
        .await;
    checks.run("a tunnel by CONNECT", tunnel(peers, None)).await;
    checks
        .run("a tunnel by extended CONNECT", tunnel(peers, Some("echo")))
        .await;
    checks.run("keep-alive", keep_alive(peers)).await;
    checks
        .run("keep-alive gives a dead server up", dead_server())
        .await;
    checks
        .run("keep-alive gives a dead client up", dead_client(peers))
        .await;
    checks.run("adaptive windows", adaptive(peers)).await;
    checks
        .run("graceful shutdown", graceful_shutdown(peers))
        .await;
    checks.run("a body that fails", failing_body(peers)).await;
    checks
        .run("a request body that fails", failing_request(peers))
        .await;
    checks
        .run("a connection that breaks", broken_connection(peers))
        .await;
    checks
        .run("fields over the limit", long_fields(peers))
        .await;
    checks
        .run("cancellation at every poll", cancellation(peers))
        .await;
    checks
        .run(
            "a dropped response ends its stream",
            dropped_response(peers),
        )
        .await;
    checks
        .run(
            "the connection ends with its last handle",
            last_handle(peers),
        )
        .await;
    checks.finish()
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.timer(TokioTimer::new());
    builder
}

pub async fn open<I>(builder: &Builder<TokioExecutor>, io: I) -> Result<(Sender, Served)>
where
    I: Read + Write + Unpin + Send + 'static,
{
    let (sender, connection) = builder.handshake(io).await?;
    Ok((sender, tokio::spawn(connection)))
}

pub async fn plain(peers: &Peers, name: &str) -> Result<Sender> {
    Ok(open(&builder(), TokioIo::new(peers.connect(name).await?))
        .await?
        .0)
}

pub fn request(method: Method, path: &str, body: Body) -> Request<Body> {
    let uri = format!("http://localhost{path}");
    Request::builder()
        .method(method)
        .uri(uri)
        .body(body)
        .expect("a valid request")
}

pub async fn get(sender: &mut Sender, path: &str) -> Result<Response<Incoming>> {
    sender.ready().await?;
    Ok(sender
        .send_request(request(Method::GET, path, bodies::empty()))
        .await?)
}

async fn post(sender: &mut Sender, path: &str, body: Body) -> Result<Response<Incoming>> {
    sender.ready().await?;
    Ok(sender
        .send_request(request(Method::POST, path, body))
        .await?)
}

pub async fn text(response: Response<Incoming>) -> Result<String> {
    Ok(String::from_utf8(
        response.into_body().collect().await?.to_bytes().to_vec(),
    )?)
}

const SIZES: [usize; 11] = [
    0, 1, 16_383, 16_384, 16_385, 32_768, 65_535, 65_536, 1_048_576, 2_097_153, 9_000_000,
];

async fn bodies_down(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    for size in SIZES {
        for route in ["bytes", "full"] {
            let response = get(&mut sender, &format!("/{route}/{size}")).await?;
            expect_pattern(response.into_body(), size).await?;
        }
    }
    Ok(())
}

async fn bodies_up(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    for size in SIZES {
        let response = post(&mut sender, "/sink", bodies::streamed(size)).await?;
        same("octets", text(response).await?, size.to_string())?;
        let whole = bodies::full(bodies::pattern(0, size));
        same(
            "octets",
            text(post(&mut sender, "/sink", whole).await?).await?,
            size.to_string(),
        )?;
    }
    Ok(())
}

async fn both_ways(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    for size in SIZES {
        let response = post(&mut sender, "/echo", bodies::streamed(size)).await?;
        expect_pattern(response.into_body(), size).await?;
    }
    Ok(())
}

async fn trailers(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    for size in [0, 10, 100_000] {
        let body = get(&mut sender, &format!("/trailers/{size}"))
            .await?
            .into_body();
        let got = body.collect().await?;
        let trailers = got.trailers().cloned().unwrap_or_default();
        same(
            "x-length",
            trailers["x-length"].to_str()?,
            &size.to_string(),
        )?;
        same("x-twice", trailers.get_all("x-twice").iter().count(), 2)?;
        same("octets", got.to_bytes().len(), size)?;

        let mut trailers = HeaderMap::new();
        trailers.insert("x-sum", size.into());
        let end = stream::iter([Ok(Frame::trailers(trailers))]);
        let data = bodies::chunks(size).map(|chunk| chunk.map(Frame::data));
        let response = post(&mut sender, "/sink", bodies::frames(data.chain(end))).await?;
        same(
            "x-sum",
            response.headers()["x-sum"].to_str()?,
            &size.to_string(),
        )?;
        same("octets", text(response).await?, size.to_string())?;
    }
    Ok(())
}

async fn informed(peers: &Peers) -> Result {
    let mut sender = plain(peers, "informing").await?;
    for _ in 0..3 {
        let response = get(&mut sender, "/").await?;
        same("status", response.status(), StatusCode::OK)?;
        same("body", text(response).await?.as_str(), "hello")?;
    }
    Ok(())
}

async fn heads(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    let head = request(Method::HEAD, "/full/1000", bodies::empty());
    let response = sender.send_request(head).await?;
    same(
        "length of HEAD",
        response.headers()["content-length"].to_str()?,
        "1000",
    )?;
    ensure("a date", response.headers().contains_key("date"))?;
    same("body of HEAD", text(response).await?, String::new())?;
    for status in [204, 205, 304, 404, 500, 599] {
        let response = get(&mut sender, &format!("/status/{status}")).await?;
        same("status", response.status().as_u16(), status)?;
        same("body", text(response).await?, String::new())?;
    }
    let mut several = request(Method::POST, "/echo", bodies::full("x"));
    several.headers_mut().append("x-a", "1".parse()?);
    several.headers_mut().append("x-a", "2".parse()?);
    several.headers_mut().append("x-empty", "".parse()?);
    several
        .headers_mut()
        .append("x-bytes", http::HeaderValue::from_bytes(b"\xfe\xff")?);
    let headers = sender.send_request(several).await?.headers().clone();
    same("x-a", headers.get_all("x-a").iter().count(), 2)?;
    same("x-empty", headers["x-empty"].as_bytes(), b"")?;
    same("x-bytes", headers["x-bytes"].as_bytes(), b"\xfe\xff")?;
    let query = text(get(&mut sender, "/query?a=%20b&c").await?).await?;
    same("target", query.as_str(), "http://localhost/query?a=%20b&c")
}

async fn many(peers: &Peers, listener: &str, count: usize) -> Result {
    let mut sender = plain(peers, listener).await?;
    // Until the server's SETTINGS have come, a client may open more than it takes.
    get(&mut sender, "/").await?;
    let exchanges = (0..count).map(|n| {
        let mut sender = sender.clone();
        async move {
            let size = n * 3000;
            let response = post(&mut sender, "/echo", bodies::streamed(size)).await?;
            expect_pattern(response.into_body(), size).await
        }
    });
    future::try_join_all(exchanges).await?;
    Ok(())
}

async fn over_tls(peers: &Peers) -> Result {
    let io = peers.connect_tls("tls").await?;
    let (mut sender, _) = open(&builder(), TokioIo::new(io)).await?;
    for size in SIZES {
        let response = post(&mut sender, "/echo", bodies::streamed(size)).await?;
        expect_pattern(response.into_body(), size).await?;
    }
    Ok(())
}

async fn early_answer(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    for _ in 0..20 {
        let response = post(&mut sender, "/ignore", bodies::streamed(5_000_000)).await?;
        same("status", response.status(), StatusCode::PAYLOAD_TOO_LARGE)?;
    }
    same(
        "afterwards",
        text(get(&mut sender, "/").await?).await?.as_str(),
        "hello",
    )
}

async fn tunnel(peers: &Peers, protocol: Option<&'static str>) -> Result {
    let mut sender = plain(peers, "plain").await?;
    // Until the server's SETTINGS are here, an extended CONNECT is refused on this side.
    get(&mut sender, "/").await?;
    let mut connect = Request::builder()
        .method(Method::CONNECT)
        .uri("localhost:80")
        .body(bodies::empty())?;
    if let Some(protocol) = protocol {
        connect = request(Method::CONNECT, "/tunnel", bodies::empty());
        let protocol = hyper::ext::Protocol::from_static(protocol);
        connect.extensions_mut().insert(protocol);
    }
    let mut response = sender.send_request(connect).await?;
    same("status", response.status(), StatusCode::OK)?;
    let named = response
        .headers()
        .get("x-protocol")
        .map(|it| it.to_str())
        .transpose()?;
    same("protocol", named, protocol)?;
    let upgraded = hyper::upgrade::on(&mut response).await?;
    let (mut reader, mut writer) = tokio::io::split(TokioIo::new(upgraded));
    let sent = tokio::spawn(async move {
        for at in 0..200 {
            writer.write_all(&bodies::pattern(at * 5000, 5000)).await?;
        }
        writer.shutdown().await
    });
    let mut got = Vec::new();
    reader.read_to_end(&mut got).await?;
    sent.await??;
    ensure(
        "the tunnel changes octets",
        got == bodies::pattern(0, 1_000_000),
    )
}

async fn keep_alive(peers: &Peers) -> Result {
    let mut builder = builder();
    builder
        .keep_alive_interval(Duration::from_millis(30))
        .keep_alive_timeout(Duration::from_millis(2000))
        .keep_alive_while_idle(true);
    let io = TokioIo::new(peers.connect("keepalive").await?);
    let (mut sender, _) = open(&builder, io).await?;
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        same(
            "answer",
            text(get(&mut sender, "/").await?).await?.as_str(),
            "hello",
        )?;
    }
    Ok(())
}

async fn dead_server() -> Result {
    let (io, mut silent) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        // SETTINGS, and then nothing more; what comes is taken.
        silent.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await?;
        tokio::io::copy(&mut silent, &mut tokio::io::sink()).await
    });
    let mut builder = builder();
    // While idle too: hyper looks whether a request is open when its connection is polled, and a poll
    // that the request itself caused may come too early to see it, with either crate. Then nothing
    // that a silent server does would cause another.
    builder
        .keep_alive_while_idle(true)
        .keep_alive_interval(Duration::from_millis(500))
        .keep_alive_timeout(Duration::from_millis(500));
    let (mut sender, _) = open(&builder, TokioIo::new(io)).await?;
    let error = get(&mut sender, "/")
        .await
        .err()
        .ok_or("an answer of nobody")?;
    let error = find::<hyper::Error>(&*error).ok_or("no error of hyper")?;
    ensure("not a timeout", error.is_timeout())
}

async fn dead_client(peers: &Peers) -> Result {
    let mut io = peers.connect("keepalive").await?;
    io.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await?;
    io.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await?;
    // The server ends it; how is its affair.
    let _ = io.read_to_end(&mut Vec::new()).await;
    Ok(())
}

async fn adaptive(peers: &Peers) -> Result {
    let mut builder = builder();
    builder.adaptive_window(true);
    let io = TokioIo::new(peers.connect("adaptive").await?);
    let (sender, _) = open(&builder, io).await?;
    let exchanges = (0..4).map(|_| {
        let mut sender = sender.clone();
        async move {
            let response = post(&mut sender, "/echo", bodies::streamed(5_000_000)).await?;
            expect_pattern(response.into_body(), 5_000_000).await
        }
    });
    future::try_join_all(exchanges).await?;
    Ok(())
}

async fn graceful_shutdown(peers: &Peers) -> Result {
    let io = TokioIo::new(peers.connect("plain").await?);
    let (mut sender, served) = open(&builder(), io).await?;
    let mut other = sender.clone();
    let slow = tokio::spawn(async move { get(&mut other, "/slow/300").await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    let response = get(&mut sender, "/shutdown/1000000").await?;
    expect_pattern(response.into_body(), 1_000_000).await?;
    expect_pattern(slow.await??.into_body(), 100_000).await?;
    // Both streams were finished, so the connection ends well; then nothing is taken.
    served.await??;
    let error = get(&mut sender, "/")
        .await
        .err()
        .ok_or("taken after the end")?;
    let error = find::<hyper::Error>(&*error).ok_or("no error of hyper")?;
    ensure("not canceled", error.is_canceled() || error.is_closed())
}

async fn failing_body(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    for size in [0, 10, 100_000] {
        // A reset can overtake the response that was not awaited yet.
        let error = match get(&mut sender, &format!("/kill/{size}")).await {
            Ok(response) => response
                .into_body()
                .collect()
                .await
                .err()
                .ok_or("a whole body")?
                .into(),
            Err(error) => error,
        };
        let error = find::<h2::Error>(&*error).ok_or("no error of h2")?;
        ensure(
            "not the server's reset",
            error.is_reset() && error.is_remote(),
        )?;
        same("reason", error.reason(), Some(h2::Reason::INTERNAL_ERROR))?;
    }
    same(
        "afterwards",
        text(get(&mut sender, "/").await?).await?.as_str(),
        "hello",
    )
}

async fn failing_request(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    for size in [0, 10, 100_000] {
        let failure = stream::iter([Err("cut off".into())]);
        let data = bodies::chunks(size).map(|chunk| chunk.map(Frame::data));
        let answer = post(&mut sender, "/echo", bodies::frames(data.chain(failure))).await;
        if let Ok(response) = answer {
            ensure(
                "a whole body",
                response.into_body().collect().await.is_err(),
            )?;
        }
    }
    same(
        "afterwards",
        text(get(&mut sender, "/").await?).await?.as_str(),
        "hello",
    )
}

async fn broken_connection(peers: &Peers) -> Result {
    let io = TokioIo::new(peers.connect("plain").await?);
    let (mut sender, served) = open(&builder(), io).await?;
    let mut endless = get(&mut sender, "/endless").await?.into_body();
    endless.frame().await.ok_or("no data")??;
    ensure(
        "an answer of the dead",
        get(&mut sender, "/dead").await.is_err(),
    )?;
    let error = loop {
        match endless.frame().await {
            Some(Ok(_)) => (),
            Some(Err(error)) => break error,
            None => return Err("a body without an end has ended".into()),
        }
    };
    ensure(
        "no cause",
        std::error::Error::source(&error).is_some() || error.is_closed(),
    )?;
    let _ = served.await?;
    ensure("the sender still open", sender.is_closed())
}

async fn long_fields(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    let response = get(&mut sender, "/head/10000").await?;
    same("length", response.headers()["x-long"].len(), 10_000)?;
    // hyper's client takes 16 KiB of fields.
    ensure(
        "fields over the limit were taken",
        get(&mut sender, "/head/20000").await.is_err(),
    )?;
    same(
        "afterwards",
        text(get(&mut sender, "/").await?).await?.as_str(),
        "hello",
    )?;
    let mut sender = plain(peers, "small").await?;
    get(&mut sender, "/").await?;
    let mut long = request(Method::GET, "/", bodies::empty());
    long.headers_mut()
        .insert("x-long", "v".repeat(5000).parse()?);
    if let Ok(response) = sender.send_request(long).await {
        let status = response.status();
        same(
            "status",
            status,
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        )?;
    }
    Ok(())
}

/// The exchange is given up at its first, second, .. poll; the connection goes on, and no handler
/// and no body is left.
async fn cancellation(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    for polls in 0..60 {
        let mut other = sender.clone();
        let exchange = async move {
            let response = post(&mut other, "/echo", bodies::streamed(400_000)).await?;
            let mut body = response.into_body();
            while let Some(frame) = body.frame().await {
                let _: Frame<Bytes> = frame?;
                tokio::task::yield_now().await;
            }
            Ok::<_, Failure>(())
        };
        if let Some(done) = given_up(polls, exchange).await {
            done?;
        }
    }
    for ms in 0..6 {
        let held = tokio::time::timeout(Duration::from_millis(ms), get(&mut sender, "/hold"));
        ensure("an answer", held.await.is_err())?;
    }
    nobody_left(&mut sender).await?;
    let response = post(&mut sender, "/echo", bodies::streamed(3_000_000)).await?;
    expect_pattern(response.into_body(), 3_000_000).await
}

async fn dropped_response(peers: &Peers) -> Result {
    let mut sender = plain(peers, "plain").await?;
    for frames in 0..5 {
        let mut body = get(&mut sender, "/endless").await?.into_body();
        for _ in 0..frames {
            body.frame().await.ok_or("no data")??;
        }
        drop(body);
    }
    nobody_left(&mut sender).await
}

/// No handler runs and no body is sent, of all clients together.
pub async fn nobody_left(sender: &mut Sender) -> Result {
    eventually("handlers left", async || {
        Ok(text(get(sender, "/active").await?).await? == "0")
    })
    .await
}

async fn last_handle(peers: &Peers) -> Result {
    let io = TokioIo::new(peers.connect("plain").await?);
    let (mut sender, served) = open(&builder(), io).await?;
    let response = get(&mut sender, "/bytes/1000000").await?;
    drop(sender);
    // What is open is finished first.
    expect_pattern(response.into_body(), 1_000_000).await?;
    Ok(served.await??)
}
