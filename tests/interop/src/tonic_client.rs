//! What a program sees through tonic's client, against any server of the service of `grpc`.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, future, stream};
use tonic::client::Grpc;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::bodies::pattern;
use crate::checks::{Checks, Failure, Result, ensure, eventually, given_up, same};
use crate::grpc::{self, Octets};
use crate::net::Peers;

type Client = Grpc<Channel>;

/// `peer` is the kind of server: one that is not tonic has no second address and no health service.
pub async fn check(peers: &Peers, peer: &str) -> i32 {
    let mut checks = Checks::default();
    checks.run("unary", unary(peers)).await;
    checks.run("unary, many at once", many(peers)).await;
    checks
        .run("server streaming", server_streaming(peers))
        .await;
    checks
        .run("client streaming", client_streaming(peers))
        .await;
    checks.run("streaming both ways", both_ways(peers)).await;
    checks.run("64 MB up and down", large(peers)).await;
    checks.run("metadata", metadata(peers)).await;
    checks
        .run("errors in trailers only, and after messages", errors(peers))
        .await;
    checks.run("deadlines", deadlines(peers)).await;
    checks
        .run("cancellation at every poll", cancellation(peers))
        .await;
    checks.run("keep-alive", keep_alive(peers)).await;
    if peer == "tonic" {
        checks.run("a balance of two servers", balance(peers)).await;
        checks.run("health", health(peers)).await;
    }
    checks.finish()
}

fn endpoint(peers: &Peers, name: &str) -> Result<Endpoint> {
    Ok(Endpoint::from_shared(format!(
        "http://{}",
        peers.address(name)
    ))?)
}

async fn client(peers: &Peers) -> Result<Client> {
    Ok(of_channel(endpoint(peers, "plain")?.connect().await?))
}

fn of_channel(channel: Channel) -> Client {
    Grpc::new(channel)
        .max_decoding_message_size(2 * grpc::LARGE)
        .max_encoding_message_size(2 * grpc::LARGE)
}

fn with(message: Bytes, metadata: &[(&'static str, &str)]) -> Request<Bytes> {
    let mut request = Request::new(message);
    for (name, value) in metadata {
        request
            .metadata_mut()
            .append(*name, value.parse().expect("a value"));
    }
    request
}

async fn call(client: &mut Client, request: Request<Bytes>) -> Result<Response<Bytes>, Status> {
    ready(client).await?;
    client.unary(request, path(grpc::UNARY), Octets).await
}

async fn ready(client: &mut Client) -> Result<(), Status> {
    client
        .ready()
        .await
        .map_err(|error| Status::unknown(error.to_string()))
}

fn path(path: &'static str) -> http::uri::PathAndQuery {
    http::uri::PathAndQuery::from_static(path)
}

async fn receive(
    client: &mut Client,
    request: Request<Bytes>,
) -> Result<Response<Streaming<Bytes>>, Status> {
    ready(client).await?;
    client
        .server_streaming(request, path(grpc::SERVER_STREAM), Octets)
        .await
}

async fn unary(peers: &Peers) -> Result {
    let mut client = client(peers).await?;
    for size in [0, 1, 1000, 16_379, 16_384, 70_000, 3_000_000] {
        let answer = call(&mut client, Request::new(pattern(0, size))).await?;
        ensure("another message", answer.into_inner() == pattern(0, size))?;
    }
    Ok(())
}

async fn many(peers: &Peers) -> Result {
    let client = client(peers).await?;
    let calls = (0..300).map(|at| {
        let mut client = client.clone();
        async move {
            let answer = call(&mut client, Request::new(pattern(at, at * 10))).await?;
            ensure(
                "another message",
                answer.into_inner() == pattern(at, at * 10),
            )
        }
    });
    future::try_join_all(calls).await?;
    Ok(())
}

async fn server_streaming(peers: &Peers) -> Result {
    let mut client = client(peers).await?;
    for (count, size) in [("0", 10), ("1", 0), ("1000", 100), ("50", 100_000)] {
        let request = with(pattern(0, size), &[("count", count)]);
        let mut messages = receive(&mut client, request).await?.into_inner();
        let mut got = 0;
        while let Some(message) = messages.message().await? {
            got += 1;
            ensure("another message", message == pattern(0, size))?;
        }
        same("messages", got.to_string().as_str(), count)?;
        // With no message there may be trailers alone, which are the head.
        let trailers = messages.trailers().await?;
        ensure("no trailers", trailers.is_some() || count == "0")?;
    }
    Ok(())
}

async fn client_streaming(peers: &Peers) -> Result {
    let mut client = client(peers).await?;
    for (count, size) in [(0, 10), (1, 0), (1000, 100), (50, 100_000)] {
        let messages = stream::iter((0..count).map(move |_| pattern(0, size)));
        ready(&mut client).await?;
        let request = Request::new(messages);
        let answer = client
            .client_streaming(request, path(grpc::CLIENT_STREAM), Octets)
            .await?;
        let sum = format!("{count} {}", count * size);
        same("sum", answer.into_inner(), Bytes::from(sum))?;
    }
    Ok(())
}

async fn both_ways(peers: &Peers) -> Result {
    let mut client = client(peers).await?;
    // Each answer is awaited before the next question.
    let (questions, asked) = tokio::sync::mpsc::channel(1);
    let asked = tokio_stream::wrappers::ReceiverStream::new(asked);
    questions.send(pattern(0, 5)).await?;
    ready(&mut client).await?;
    let answer = client
        .streaming(Request::new(asked), path(grpc::BOTH), Octets)
        .await?;
    let mut answers = answer.into_inner();
    for at in 0..100 {
        let size = 5 + at * 700;
        let got = answers.message().await?.ok_or("an early end")?;
        ensure("another message", got == pattern(0, size))?;
        questions.send(pattern(0, size + 700)).await?;
    }
    drop(questions);
    ensure("no last answer", answers.message().await?.is_some())?;
    ensure("an answer too many", answers.message().await?.is_none())?;
    // And as fast as it goes.
    let messages = stream::iter((0..2000).map(|_| pattern(0, 3000)));
    ready(&mut client).await?;
    let answer = client
        .streaming(Request::new(messages), path(grpc::BOTH), Octets)
        .await?;
    same("messages", answer.into_inner().count().await, 2000)
}

async fn large(peers: &Peers) -> Result {
    let mut client = client(peers).await?;
    let message = Bytes::from(vec![42; grpc::LARGE]);
    let answer = call(&mut client, Request::new(message.clone())).await?;
    ensure("another message", answer.into_inner() == message)
}

async fn metadata(peers: &Peers) -> Result {
    let mut client = client(peers).await?;
    let mut request = with(
        Bytes::new(),
        &[("x-a", "1"), ("x-a", "2"), ("x-long", &"v".repeat(6000))],
    );
    let octets = MetadataValue::from_bytes(&[0, 1, 255, 254]);
    request.metadata_mut().insert_bin("x-octets-bin", octets);
    let answer = call(&mut client, request).await?;
    let metadata: &MetadataMap = answer.metadata();
    same("x-a", metadata.get_all("x-a").iter().count(), 2)?;
    same(
        "x-long",
        metadata.get("x-long").map(|it| it.len()),
        Some(6000),
    )?;
    let octets = metadata.get_bin("x-octets-bin").ok_or("no x-octets-bin")?;
    same(
        "x-octets-bin",
        octets.to_bytes()?.as_ref(),
        &[0, 1, 255, 254][..],
    )
}

async fn errors(peers: &Peers) -> Result {
    let mut client = client(peers).await?;
    for code in 1..=16 {
        let request = with(Bytes::new(), &[("fail", &code.to_string()), ("x-a", "1")]);
        let status = call(&mut client, request).await.err().ok_or("a success")?;
        same("code", status.code(), Code::from_i32(code))?;
        same("message", status.message(), "as asked: ü%")?;
        same("details", status.details(), b"\x00details\xff")?;
        same("x-a", status.metadata().get_all("x-a").iter().count(), 1)?;
    }
    let request = with(pattern(0, 50_000), &[("fail", "8"), ("fail-after", "7")]);
    let mut messages = receive(&mut client, request).await?.into_inner();
    for _ in 0..7 {
        messages.message().await?.ok_or("an early end")?;
    }
    let status = messages.message().await.err().ok_or("a success")?;
    same("code", status.code(), Code::ResourceExhausted)?;
    ready(&mut client).await?;
    let none = path("/interop.Echo/None");
    let status = client.unary(Request::new(Bytes::new()), none, Octets).await;
    let status = status.err().ok_or("a success")?;
    same("code", status.code(), Code::Unimplemented)
}

async fn deadlines(peers: &Peers) -> Result {
    let mut client = client(peers).await?;
    let begin = Instant::now();
    let mut request = with(Bytes::new(), &[("sleep-ms", "20000")]);
    request.set_timeout(Duration::from_millis(100));
    let status = call(&mut client, request).await.err().ok_or("a success")?;
    let code = status.code();
    ensure(
        &format!("code {code:?}"),
        matches!(code, Code::DeadlineExceeded | Code::Cancelled),
    )?;
    ensure("late", begin.elapsed() < Duration::from_secs(10))?;
    let mut request = with(Bytes::new(), &[("sleep-ms", "10")]);
    request.set_timeout(Duration::from_secs(30));
    call(&mut client, request).await?;
    nobody_left(&mut client).await
}

async fn cancellation(peers: &Peers) -> Result {
    let mut client = client(peers).await?;
    for polls in 0..40 {
        let mut other = client.clone();
        let exchange = async move {
            let request = with(pattern(0, 20_000), &[("count", "1000000")]);
            let mut messages = receive(&mut other, request).await?.into_inner();
            while messages.message().await?.is_some() {
                tokio::task::yield_now().await;
            }
            Ok::<_, Failure>(())
        };
        ensure(
            "an end of the endless",
            given_up(polls, exchange).await.is_none(),
        )?;
        let mut other = client.clone();
        let endless = stream::repeat_with(|| pattern(0, 10_000));
        let exchange = async move {
            ready(&mut other).await?;
            let sum =
                other.client_streaming(Request::new(endless), path(grpc::CLIENT_STREAM), Octets);
            sum.await
        };
        ensure(
            "an end of the endless",
            given_up(polls, exchange).await.is_none(),
        )?;
        let mut other = client.clone();
        let sleeping = call(&mut other, with(Bytes::new(), &[("sleep-ms", "60000")]));
        let limit = Duration::from_millis(polls as u64 % 5);
        ensure(
            "an end of sleep",
            tokio::time::timeout(limit, sleeping).await.is_err(),
        )?;
    }
    nobody_left(&mut client).await?;
    let answer = call(&mut client, Request::new(pattern(0, 1_000_000))).await?;
    ensure(
        "another message",
        answer.into_inner() == pattern(0, 1_000_000),
    )
}

async fn nobody_left(client: &mut Client) -> Result {
    eventually("calls left at the server", async || {
        ready(client).await?;
        let request = Request::new(Bytes::new());
        let answer = client.unary(request, path(grpc::ACTIVE), Octets).await?;
        Ok(answer.into_inner() == "0")
    })
    .await
}

async fn keep_alive(peers: &Peers) -> Result {
    let endpoint = endpoint(peers, "plain")?
        .http2_keep_alive_interval(Duration::from_millis(30))
        .keep_alive_timeout(Duration::from_secs(2))
        .keep_alive_while_idle(true);
    let mut client = of_channel(endpoint.connect().await?);
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        call(&mut client, Request::new(Bytes::new())).await?;
    }
    Ok(())
}

async fn balance(peers: &Peers) -> Result {
    let endpoints = [endpoint(peers, "first")?, endpoint(peers, "second")?];
    let client = of_channel(Channel::balance_list(endpoints.into_iter()));
    let mut servers = std::collections::HashSet::new();
    // The second may be connected when the first has answered much.
    eventually("one has nothing to do", async || {
        let calls = (0..50).map(|_| call_named(client.clone()));
        servers.extend(future::try_join_all(calls).await?);
        Ok(servers.len() == 2)
    })
    .await
}

/// The name of the server that answers.
async fn call_named(mut client: Client) -> Result<String> {
    let answer = call(&mut client, with(Bytes::new(), &[("sleep-ms", "5")])).await?;
    Ok(answer
        .metadata()
        .get("server")
        .ok_or("no name")?
        .to_str()?
        .to_owned())
}

async fn health(peers: &Peers) -> Result {
    let mut client = HealthClient::new(endpoint(peers, "plain")?.connect().await?);
    let service = "interop.Echo".to_owned();
    let answer = client
        .check(HealthCheckRequest {
            service: service.clone(),
        })
        .await?;
    same("status", answer.into_inner().status, 1)?;
    let mut watched = client
        .watch(HealthCheckRequest { service })
        .await?
        .into_inner();
    same(
        "watched",
        watched.message().await?.ok_or("no status")?.status,
        1,
    )?;
    let other = HealthCheckRequest {
        service: "none".to_owned(),
    };
    same(
        "code",
        client.check(other).await.err().map(|it| it.code()),
        Some(Code::NotFound),
    )
}
