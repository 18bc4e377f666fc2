//! An application of axum: streams, events and WebSockets, in clear text and over TLS.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Path;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{any, get, post};
use axum_server::tls_rustls::RustlsConfig;
use futures_util::{Stream, StreamExt, stream};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::bodies;
use crate::checks::Result;
use crate::hyper_free::serve_connection;
use crate::net;

pub async fn serve(certificates: &str) -> Result {
    let plain = net::listen("plain").await?;
    tokio::spawn(async move { axum::serve(plain, application()).await });
    let pem = |name| format!("{certificates}/{name}.pem");
    let config = RustlsConfig::from_pem_file(pem("cert"), pem("key")).await?;
    let secure = net::listen("tls").await?.into_std()?;
    let mut server = axum_server::from_tcp_rustls(secure, config)?;
    server.http_builder().http2().enable_connect_protocol();
    tokio::spawn(server.serve(application().into_make_service()));
    let direct = net::listen("direct").await?;
    tokio::spawn(accept_directly(direct));
    net::until_told().await;
    Ok(())
}

/// The application on fairmux alone, without hyper.
async fn accept_directly(listener: TcpListener) {
    let mut builder = fairmux::server::Builder::new();
    builder.hardened();
    while let Ok((io, _)) = listener.accept().await {
        let (builder, stop) = (builder.clone(), Arc::new(Notify::new()));
        let stopped = stop.clone();
        let shutdown = move || {
            stop.notify_one();
            async { "soon" }
        };
        let application = application().route("/shutdown", get(shutdown));
        tokio::spawn(async move {
            serve_connection(io, &builder, application, stopped.notified()).await
        });
    }
}

pub fn application() -> Router {
    Router::new()
        .route("/", get(|| async { "Hello, World!" }))
        .route("/bytes/{length}", get(bytes))
        .route("/echo", post(|body: Body| async { body }))
        .route("/sum", post(sum))
        .route(
            "/json",
            post(|Json(value): Json<Vec<u32>>| async { Json(value) }),
        )
        .route("/events/{count}", get(events))
        .route(
            "/socket",
            any(|upgrade: WebSocketUpgrade| async { upgrade.on_upgrade(socket) }),
        )
}

async fn bytes(Path(length): Path<usize>) -> Response {
    Body::from_stream(bodies::chunks(length)).into_response()
}

async fn sum(body: Body) -> String {
    let mut chunks = body.into_data_stream();
    let mut length = 0;
    while let Some(Ok(chunk)) = chunks.next().await {
        length += chunk.len();
    }
    length.to_string()
}

async fn events(Path(count): Path<usize>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = stream::iter(0..count).then(|at| async move {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(Event::default().event("count").data(at.to_string()))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_millis(3)))
}

/// Sends every message back.
async fn socket(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if matches!(message, Message::Text(_) | Message::Binary(_))
            && socket.send(message).await.is_err()
        {
            return;
        }
    }
}
