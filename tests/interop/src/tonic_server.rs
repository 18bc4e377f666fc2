//! The service of `grpc`, and gRPC's health service, on tonic.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService};
use tonic::transport::Server;
use tonic::transport::server::Router;
use tonic::{Request, Response, Status, Streaming};
use tower::service_fn;

use crate::bodies;
use crate::checks::Result;
use crate::grpc::{self, Octets, echoed, failure, number};
use crate::net;

type Messages = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;
type Answer<T> = std::result::Result<Response<T>, Status>;

static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// Counted while a call goes on.
struct Active(());

impl Active {
    fn new() -> Active {
        ACTIVE.fetch_add(1, Ordering::SeqCst);
        Active(())
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        ACTIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

pub async fn serve() -> Result {
    let plain = net::listen("plain").await?;
    // Two more of the same, to balance between.
    let (first, second) = (net::listen("first").await?, net::listen("second").await?);
    for (name, listener) in [("plain", plain), ("first", first), ("second", second)] {
        let incoming = TcpListenerStream::new(listener);
        tokio::spawn(router(name).await.serve_with_incoming(incoming));
    }
    net::until_told().await;
    Ok(())
}

async fn router(name: &'static str) -> Router {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter
        .set_service_status("interop.Echo", tonic_health::ServingStatus::Serving)
        .await;
    Server::builder()
        .http2_keepalive_interval(Some(Duration::from_millis(50)))
        .http2_keepalive_timeout(Some(Duration::from_secs(5)))
        .add_service(health)
        .add_service(Echo { name })
}

#[derive(Clone)]
struct Echo {
    name: &'static str,
}

impl NamedService for Echo {
    const NAME: &'static str = "interop.Echo";
}

impl tower::Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let name = self.name;
        Box::pin(async move { Ok(call(request, name).await) })
    }
}

async fn call(request: http::Request<Body>, name: &'static str) -> http::Response<Body> {
    let mut grpc = Grpc::new(Octets)
        .max_decoding_message_size(2 * grpc::LARGE)
        .max_encoding_message_size(2 * grpc::LARGE);
    let path = request.uri().path().to_owned();
    match path.as_str() {
        grpc::UNARY => {
            grpc.unary(service_fn(move |it| unary(it, name)), request)
                .await
        }
        grpc::SERVER_STREAM => {
            grpc.server_streaming(service_fn(server_stream), request)
                .await
        }
        grpc::CLIENT_STREAM => {
            grpc.client_streaming(service_fn(client_stream), request)
                .await
        }
        grpc::BOTH => grpc.streaming(service_fn(both), request).await,
        grpc::ACTIVE => grpc.unary(service_fn(active), request).await,
        _ => Status::unimplemented(path).into_http(),
    }
}

async fn unary(request: Request<Bytes>, name: &'static str) -> Answer<Bytes> {
    let _active = Active::new();
    if let Some(ms) = number(&request, "sleep-ms") {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    if let Some(status) = failure(&request) {
        return Err(status);
    }
    let size = number(&request, "size");
    let metadata = echoed(request.metadata());
    let message = match size {
        Some(size) => bodies::pattern(0, size as usize),
        None => request.into_inner(),
    };
    let mut response = Response::new(message);
    *response.metadata_mut() = metadata;
    response
        .metadata_mut()
        .insert("server", name.parse().expect("a word"));
    Ok(response)
}

async fn server_stream(request: Request<Bytes>) -> Answer<Messages> {
    let active = Active::new();
    if let Some(status) = failure(&request).filter(|_| number(&request, "fail-after").is_none()) {
        return Err(status);
    }
    let count = number(&request, "count").unwrap_or(u64::MAX);
    let fails = number(&request, "fail-after");
    let status = failure(&request);
    let metadata = echoed(request.metadata());
    let message = request.into_inner();
    let messages = stream::iter(0..count).map(move |at| {
        let _held = &active;
        match (fails, &status) {
            (Some(after), Some(status)) if at == after => Err(status.clone()),
            _ => Ok(message.clone()),
        }
    });
    let mut response = Response::new(Box::pin(messages) as Messages);
    *response.metadata_mut() = metadata;
    Ok(response)
}

async fn client_stream(request: Request<Streaming<Bytes>>) -> Answer<Bytes> {
    let _active = Active::new();
    let mut messages = request.into_inner();
    let (mut count, mut length) = (0, 0);
    while let Some(message) = messages.message().await? {
        count += 1;
        length += message.len();
    }
    Ok(Response::new(format!("{count} {length}").into()))
}

async fn both(request: Request<Streaming<Bytes>>) -> Answer<Messages> {
    let active = Active::new();
    let metadata = echoed(request.metadata());
    let messages = request.into_inner().map(move |message| {
        let _held = &active;
        message
    });
    let mut response = Response::new(Box::pin(messages) as Messages);
    *response.metadata_mut() = metadata;
    Ok(response)
}

async fn active(_: Request<Bytes>) -> Answer<Bytes> {
    Ok(Response::new(
        ACTIVE.load(Ordering::SeqCst).to_string().into(),
    ))
}
