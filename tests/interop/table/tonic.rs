//! tonic's `Grpc` on a server of hyper, for `compare`: `Unary` sends the message back, `ServerStream` sends it a thousand
//! times. Its options are those of `examples/hyper_peer`.

#[allow(dead_code, reason = "the methods and metadata of the interop checks")]
#[path = "../src/grpc.rs"]
mod grpc;

use std::convert::Infallible;
use std::pin::Pin;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::{Request, Response, Status};
use tower::service_fn;

type Messages = Pin<Box<dyn futures_core::Stream<Item = Result<Bytes, Status>> + Send>>;

const MESSAGES: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads: usize = std::env::args().nth(2).unwrap_or("1".into()).parse()?;
    let mut builder = match threads {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder
        .worker_threads(threads)
        .enable_all()
        .build()?
        .block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("http://{}/\nhttps://none", listener.local_addr()?);
            loop {
                let io = listener.accept().await?.0;
                io.set_nodelay(true)?;
                let service = hyper::service::service_fn(answer);
                let served = http2::Builder::new(TokioExecutor::new());
                tokio::spawn(served.serve_connection(TokioIo::new(io), service));
            }
        })
}

async fn answer(request: http::Request<Incoming>) -> Result<http::Response<Body>, Infallible> {
    let request = request.map(Body::new);
    let mut grpc = Grpc::new(grpc::Octets);
    Ok(match request.uri().path() {
        grpc::UNARY => grpc.unary(service_fn(unary), request).await,
        grpc::SERVER_STREAM => grpc.server_streaming(service_fn(stream), request).await,
        _ => Status::unimplemented("no such method").into_http(),
    })
}

async fn unary(request: Request<Bytes>) -> Result<Response<Bytes>, Status> {
    Ok(Response::new(request.into_inner()))
}

async fn stream(request: Request<Bytes>) -> Result<Response<Messages>, Status> {
    let message = request.into_inner();
    let messages = tokio_stream::iter(std::iter::repeat_n(Ok(message), MESSAGES));
    Ok(Response::new(Box::pin(messages)))
}
