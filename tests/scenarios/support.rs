//! A client and a server on the two ends of a pipe in memory.

use std::future::{Future, poll_fn};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use tokio::io::{DuplexStream, duplex};
use tokio::task::JoinHandle;

use crate::client_crate::{self, client};
use crate::server_crate::{self, server};

pub(crate) type Body = server_crate::RecvStream;
pub(crate) type Respond = server::SendResponse<Bytes>;

/// Both ends, at work.
pub(crate) struct Link {
    pub(crate) requests: client::SendRequest<Bytes>,
    /// Ends when the client's connection does.
    pub(crate) client: JoinHandle<Result<(), client_crate::Error>>,
    /// Ends when the server's connection does.
    pub(crate) server: JoinHandle<Result<(), server_crate::Error>>,
}

/// Every request gets a task that runs `handle`.
pub(crate) async fn link<H, F>(handle: H) -> Link
where
    H: Fn(Request<Body>, Respond) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    link_with(&client::Builder::new(), &server::Builder::new(), handle).await
}

pub(crate) async fn link_with<H, F>(from: &client::Builder, to: &server::Builder, handle: H) -> Link
where
    H: Fn(Request<Body>, Respond) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (near, far) = duplex(64 * 1024);
    let accepting = to.handshake::<_, Bytes>(far);
    let server = tokio::spawn(async move {
        let mut connection = accepting.await?;
        while let Some(stream) = connection.accept().await {
            let (request, respond) = stream?;
            tokio::spawn(handle(request, respond));
        }
        Ok(())
    });
    let (requests, client) = start_client(from, near).await;
    Link {
        requests,
        client,
        server,
    }
}

pub(crate) async fn start_client(
    from: &client::Builder,
    io: DuplexStream,
) -> (
    client::SendRequest<Bytes>,
    JoinHandle<Result<(), client_crate::Error>>,
) {
    let (requests, connection) = from.handshake::<_, Bytes>(io).await.unwrap();
    (requests, tokio::spawn(connection))
}

/// A server that the test itself accepts from.
pub(crate) async fn manual(
    from: &client::Builder,
    to: &server::Builder,
) -> (
    client::SendRequest<Bytes>,
    JoinHandle<Result<(), client_crate::Error>>,
    server::Connection<DuplexStream, Bytes>,
) {
    let (near, far) = duplex(64 * 1024);
    let ((requests, client), connection) =
        tokio::join!(start_client(from, near), to.handshake::<_, Bytes>(far));
    (requests, client, connection.unwrap())
}

impl Link {
    pub(crate) async fn get(&self, path: &str) -> Response<client_crate::RecvStream> {
        let mut requests = self.requests.clone().ready().await.unwrap();
        let (response, _) = requests.send_request(get(path), true).unwrap();
        within(response).await.unwrap()
    }
}

/// Fails the test rather than hang it.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future)
        .await
        .expect("it takes too long")
}

pub(crate) fn get(path: &str) -> Request<()> {
    Request::get(format!("https://example.com{path}"))
        .body(())
        .unwrap()
}

pub(crate) fn post(path: &str) -> Request<()> {
    Request::post(format!("https://example.com{path}"))
        .body(())
        .unwrap()
}

pub(crate) fn status(code: u16) -> Response<()> {
    Response::builder()
        .status(StatusCode::from_u16(code).unwrap())
        .body(())
        .unwrap()
}

pub(crate) fn fields(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect()
}

/// Bytes that differ from place to place.
pub(crate) fn pattern(length: usize) -> Bytes {
    (0..length).map(|index| (index % 251) as u8).collect()
}

/// The rest of a body, released as it is read.
#[macro_export]
macro_rules! read_all {
    ($body:expr) => {{
        let body = &mut $body;
        let mut all = Vec::new();
        while let Some(chunk) = $crate::scenarios::support::within(body.data()).await {
            let chunk = chunk.unwrap();
            body.flow_control().release_capacity(chunk.len()).unwrap();
            all.extend_from_slice(&chunk);
        }
        all
    }};
}

/// Sends all of `data` as capacity comes, and the end if `end`.
#[macro_export]
macro_rules! send_all {
    ($stream:expr, $data:expr, $end:expr) => {{
        let (stream, mut data) = (&mut $stream, bytes::Bytes::from($data));
        while !data.is_empty() {
            stream.reserve_capacity(data.len());
            let more = std::future::poll_fn(|cx| stream.poll_capacity(cx));
            let capacity = $crate::scenarios::support::within(more)
                .await
                .unwrap()
                .unwrap();
            let chunk = data.split_to(capacity.min(data.len()));
            let last = data.is_empty() && $end;
            if !chunk.is_empty() {
                stream.send_data(chunk, last).unwrap();
            }
        }
    }};
}

pub(crate) async fn pong(mut pings: client_crate::PingPong) -> Result<(), client_crate::Error> {
    pings.ping(client_crate::Ping::opaque()).await.map(drop)
}

/// The reason for which the client has reset the stream.
pub(crate) async fn reset_of(respond: &mut Respond) -> server_crate::Reason {
    within(poll_fn(|cx| respond.poll_reset(cx))).await.unwrap()
}
