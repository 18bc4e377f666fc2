//! What a program sees through reqwest, against any server with the routes of `hyper_server`.

use bytes::Bytes;
use futures_util::{StreamExt, future};
use reqwest::{Body, Client, Response, Version};

use crate::bodies::{self, pattern};
use crate::checks::{Checks, Failure, Result, ensure, find, same};
use crate::net::Peers;

pub async fn check(peers: &Peers) -> i32 {
    let mut checks = Checks::default();
    checks.run("parallel downloads", parallel(peers)).await;
    checks.run("redirects", redirects(peers)).await;
    checks.run("upload streams", uploads(peers)).await;
    checks.run("one connection for all", reuse(peers)).await;
    checks
        .run("a new connection after GOAWAY", after_go_away(peers))
        .await;
    checks
        .run(
            "requests at once while the server says GOAWAY",
            amid_go_away(peers),
        )
        .await;
    checks.run("a body that fails", failing_body(peers)).await;
    checks
        .run("a timeout ends the stream", timeouts(peers))
        .await;
    checks.finish()
}

fn client() -> Result<Client> {
    Ok(Client::builder()
        .no_proxy()
        .http2_prior_knowledge()
        .build()?)
}

/// HTTP/2 by ALPN.
fn tls_client(peers: &Peers) -> Result<Client> {
    let pem = std::fs::read(format!("{}/cert.pem", peers.certificates))?;
    let certificate = reqwest::Certificate::from_pem(&pem)?;
    Ok(Client::builder()
        .no_proxy()
        .tls_certs_only([certificate])
        .build()?)
}

fn url(peers: &Peers, path: &str) -> String {
    format!("http://{}{path}", peers.address("plain"))
}

fn number(response: &Response) -> String {
    let number = response.headers().get("x-connection");
    number
        .and_then(|it| it.to_str().ok())
        .unwrap_or_default()
        .to_owned()
}

async fn parallel(peers: &Peers) -> Result {
    let tls = format!("https://localhost:{}", peers.address("tls").port());
    for (client, base) in [(client()?, url(peers, "")), (tls_client(peers)?, tls)] {
        let downloads = (0..32).map(|at| {
            let request = client.get(format!("{base}/bytes/{}", at * 100_000));
            async move {
                let response = request.send().await?;
                same("version", response.version(), Version::HTTP_2)?;
                let bytes = response.bytes().await?;
                ensure("another body", bytes == pattern(0, at * 100_000))
            }
        });
        future::try_join_all(downloads).await?;
    }
    Ok(())
}

async fn redirects(peers: &Peers) -> Result {
    let client = client()?;
    let response = client.get(url(peers, "/redirect/7")).send().await?;
    same("target", response.url().path(), "/redirect/0")?;
    same("body", response.text().await?.as_str(), "hello")?;
    let error = client.get(url(peers, "/redirect/50")).send().await;
    ensure(
        "no end of redirects",
        error.is_err_and(|error| error.is_redirect()),
    )
}

async fn uploads(peers: &Peers) -> Result {
    let client = client()?;
    for size in [0, 1, 100_000, 8_000_000] {
        let body = Body::wrap_stream(bodies::chunks(size));
        let response = client.post(url(peers, "/echo")).body(body).send().await?;
        let mut length = 0;
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk: Bytes = chunk?;
            ensure("another body", chunk == pattern(length, chunk.len()))?;
            length += chunk.len();
        }
        same("length", length, size)?;
        let whole = client
            .post(url(peers, "/sink"))
            .body(pattern(0, size))
            .send()
            .await?;
        same("octets", whole.text().await?, size.to_string())?;
    }
    Ok(())
}

async fn reuse(peers: &Peers) -> Result {
    let client = client()?;
    let first = number(&client.get(url(peers, "/full/10")).send().await?);
    for _ in 0..20 {
        let response = client.get(url(peers, "/full/10")).send().await?;
        same("connection", number(&response), first.clone())?;
        response.bytes().await?;
    }
    Ok(())
}

async fn after_go_away(peers: &Peers) -> Result {
    let client = client()?;
    for _ in 0..5 {
        let first = client.get(url(peers, "/full/10")).send().await?;
        let last = client.get(url(peers, "/shutdown/200000")).send().await?;
        same("connection", number(&last), number(&first))?;
        ensure("another body", last.bytes().await? == pattern(0, 200_000))?;
        let next = client.get(url(peers, "/full/10")).send().await?;
        ensure("the old connection", number(&next) != number(&first))?;
    }
    Ok(())
}

/// A request that a GOAWAY overtakes is sent again on another connection: no caller notices.
async fn amid_go_away(peers: &Peers) -> Result {
    let client = client()?;
    let requests = (0..200).map(|at| {
        let path = if at % 20 == 10 {
            "/shutdown/1000"
        } else {
            "/bytes/1000"
        };
        let request = client.get(url(peers, path));
        async move {
            tokio::time::sleep(std::time::Duration::from_millis(at * 3)).await;
            let bytes = request.send().await?.bytes().await?;
            ensure("another body", bytes == pattern(0, 1000))
        }
    });
    future::try_join_all(requests).await?;
    Ok(())
}

async fn failing_body(peers: &Peers) -> Result {
    let client = client()?;
    let request = client.get(url(peers, "/kill/50000"));
    let outcome = async { request.send().await?.bytes().await };
    let error = outcome.await.err().ok_or("a whole body")?;
    let error = find::<h2::Error>(&error).ok_or("no error of h2")?;
    same("reason", error.reason(), Some(h2::Reason::INTERNAL_ERROR))
}

async fn timeouts(peers: &Peers) -> Result {
    let client = client()?;
    let limit = std::time::Duration::from_millis(50);
    for path in ["/hold", "/endless"] {
        let request = client.get(url(peers, path)).timeout(limit);
        let outcome = async { Ok::<_, Failure>(request.send().await?.bytes().await?) };
        ensure("an answer", outcome.await.is_err())?;
    }
    crate::checks::eventually("handlers left", async || {
        Ok(client
            .get(url(peers, "/active"))
            .send()
            .await?
            .text()
            .await?
            == "0")
    })
    .await
}
