//! A server of hyper: routes that answer in every way in which HTTP/2 can.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::{Body as _, Frame};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::bodies::{self, Body};
use crate::checks::Result;
use crate::net;

/// Handlers and bodies that run, in all connections.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);

struct Connection {
    number: usize,
    shutdown: Notify,
    kill: Notify,
}

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

pub async fn serve(certificates: &str) -> Result {
    let tls = net::acceptor(certificates)?;
    let secure = net::listen("tls").await?;
    tokio::spawn(async move {
        while let Ok((io, _)) = secure.accept().await {
            let tls = tls.clone();
            tokio::spawn(async move {
                if let Ok(io) = tls.accept(io).await {
                    connection(builder("plain"), TokioIo::new(io)).await;
                }
            });
        }
    });
    for name in ["plain", "few", "adaptive", "keepalive", "small"] {
        let listener = net::listen(name).await?;
        tokio::spawn(accept(listener, builder(name)));
    }
    tokio::spawn(inform(net::listen("informing").await?));
    net::until_told().await;
    Ok(())
}

/// A server that says 100 and 103 before its answer, for which hyper has no words in HTTP/2.
async fn inform(listener: TcpListener) {
    while let Ok((io, _)) = listener.accept().await {
        tokio::spawn(async move {
            let mut connection = h2::server::handshake(io).await?;
            while let Some(request) = connection.accept().await {
                let (_, mut respond) = request?;
                for early in [StatusCode::CONTINUE, StatusCode::EARLY_HINTS] {
                    let mut response = Response::new(());
                    *response.status_mut() = early;
                    respond.send_informational(response)?;
                }
                let mut body = respond.send_response(Response::new(()), false)?;
                body.send_data("hello".into(), true)?;
            }
            Ok::<_, h2::Error>(())
        });
    }
}

fn builder(name: &str) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.timer(TokioTimer::new()).enable_connect_protocol();
    match name {
        "few" => builder.max_concurrent_streams(2),
        "adaptive" => builder.adaptive_window(true),
        "keepalive" => builder
            .keep_alive_interval(Duration::from_millis(50))
            .keep_alive_timeout(Duration::from_millis(500)),
        "small" => builder
            .initial_stream_window_size(1000)
            .initial_connection_window_size(70_000)
            .max_send_buf_size(2000)
            .max_header_list_size(2000),
        _ => &mut builder,
    };
    builder
}

async fn accept(listener: TcpListener, builder: Builder<TokioExecutor>) {
    while let Ok((io, _)) = listener.accept().await {
        let _ = io.set_nodelay(true);
        tokio::spawn(connection(builder.clone(), TokioIo::new(io)));
    }
}

async fn connection<I: Read + Write + Unpin>(builder: Builder<TokioExecutor>, io: I) {
    let state = Arc::new(Connection {
        number: CONNECTIONS.fetch_add(1, Ordering::SeqCst),
        shutdown: Notify::new(),
        kill: Notify::new(),
    });
    let of_service = state.clone();
    let service = service_fn(move |request| {
        let state = of_service.clone();
        async move { Ok::<_, Infallible>(answer(request, &state).await) }
    });
    let mut served = std::pin::pin!(builder.serve_connection(io, service));
    loop {
        tokio::select! {
            _ = served.as_mut() => return,
            () = state.kill.notified() => return,
            () = state.shutdown.notified() => served.as_mut().graceful_shutdown(),
        }
    }
}

async fn answer(request: Request<Incoming>, connection: &Connection) -> Response<Body> {
    let active = Active::new();
    let is_head = request.method() == Method::HEAD;
    let mut response = route(request, connection, active).await;
    if is_head {
        // hyper leaves this to its user in HTTP/2.
        let length = response
            .body()
            .size_hint()
            .exact()
            .unwrap_or_default()
            .into();
        response.headers_mut().insert("content-length", length);
        *response.body_mut() = bodies::empty();
    }
    let number = connection.number.into();
    response.headers_mut().insert("x-connection", number);
    response
}

async fn route(request: Request<Incoming>, of: &Connection, active: Active) -> Response<Body> {
    if request.method() == Method::CONNECT {
        return tunnel(request, active);
    }
    let path = request.uri().path().to_owned();
    let (name, number) = path[1..].split_once('/').unwrap_or((&path[1..], "0"));
    let number: usize = number.parse().unwrap_or(0);
    match name {
        "bytes" => Response::new(bodies::streamed(number)),
        "full" => Response::new(bodies::full(bodies::pattern(0, number))),
        "echo" => echo(request),
        "sink" => sink(request.into_body()).await,
        "trailers" => Response::new(with_trailers(number)),
        "ignore" => status(StatusCode::PAYLOAD_TOO_LARGE),
        "status" => status(StatusCode::from_u16(number as u16).unwrap_or_default()),
        "active" => Response::new(bodies::full(
            (ACTIVE.load(Ordering::SeqCst) - 1).to_string(),
        )),
        "hold" => std::future::pending().await,
        "slow" => {
            tokio::time::sleep(Duration::from_millis(number as u64)).await;
            Response::new(bodies::streamed(100_000))
        }
        "endless" => Response::new(endless(active)),
        "shutdown" => {
            of.shutdown.notify_one();
            tokio::time::sleep(Duration::from_millis(100)).await;
            Response::new(bodies::streamed(number))
        }
        "kill" => Response::new(cut_off(number)),
        "dead" => {
            of.kill.notify_one();
            std::future::pending().await
        }
        "redirect" if number > 0 => redirect(number - 1),
        "head" => with_header(number),
        "query" => Response::new(bodies::full(request.uri().to_string())),
        _ => Response::new(bodies::full("hello")),
    }
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(bodies::empty());
    *response.status_mut() = status;
    response
}

fn echo(request: Request<Incoming>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let mut response = Response::new(body.map_err(Into::into).boxed());
    for (name, value) in &head.headers {
        if name.as_str().starts_with("x-") {
            response.headers_mut().append(name, value.clone());
        }
    }
    response
}

async fn sink(mut body: Incoming) -> Response<Body> {
    let (mut length, mut trailers) = (0, HeaderMap::new());
    while let Some(Ok(frame)) = body.frame().await {
        match frame.into_data() {
            Ok(data) => length += data.len(),
            Err(frame) => trailers = frame.into_trailers().unwrap_or_default(),
        }
    }
    let mut response = Response::new(bodies::full(length.to_string()));
    response.headers_mut().extend(trailers);
    response
}

fn with_trailers(length: usize) -> Body {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-length", length.into());
    trailers.append("x-twice", "1".parse().unwrap());
    trailers.append("x-twice", "2".parse().unwrap());
    let end = stream::iter([Ok(Frame::trailers(trailers))]);
    let data = bodies::chunks(length).map(|chunk| chunk.map(Frame::data));
    bodies::frames(data.chain(end))
}

fn endless(active: Active) -> Body {
    let chunks = stream::repeat_with(move || {
        let _held = &active;
        Ok(Frame::data(Bytes::from_static(&[7; 16_384])))
    });
    bodies::frames(chunks)
}

/// A body that fails after `length` bytes.
fn cut_off(length: usize) -> Body {
    let failure = stream::iter([Err("cut off".into())]);
    let data = bodies::chunks(length).map(|chunk| chunk.map(Frame::data));
    bodies::frames(data.chain(failure))
}

fn redirect(left: usize) -> Response<Body> {
    let mut response = status(StatusCode::FOUND);
    let target = format!("/redirect/{left}").parse().unwrap();
    response.headers_mut().insert("location", target);
    response
}

fn with_header(length: usize) -> Response<Body> {
    let mut response = status(StatusCode::OK);
    let value = "v".repeat(length).parse().unwrap();
    response.headers_mut().insert("x-long", value);
    response
}

fn tunnel(mut request: Request<Incoming>, active: Active) -> Response<Body> {
    let protocol = request
        .extensions()
        .get::<hyper::ext::Protocol>()
        .map(|it| it.as_str().to_owned());
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let _active = active;
        let Ok(upgraded) = upgrade.await else { return };
        let (mut reader, mut writer) = tokio::io::split(TokioIo::new(upgraded));
        let _ = tokio::io::copy(&mut reader, &mut writer).await;
        let _ = tokio::io::AsyncWriteExt::shutdown(&mut writer).await;
    });
    let mut response = status(StatusCode::OK);
    if let Some(protocol) = protocol {
        let value = protocol.parse().unwrap();
        response.headers_mut().insert("x-protocol", value);
    }
    response
}
