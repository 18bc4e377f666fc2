//! A service of `tower` on fairmux alone, without hyper: see `connection.rs`, which is all that it
//! takes. Says hello over clear-text HTTP/2, and ends with Ctrl-C after the requests that are open.
//!
//! ```text
//! cargo run --example hyper_free
//! curl --http2-prior-knowledge http://127.0.0.1:PORT/
//! ```
//!
//! A `Router` of axum is such a service: hand it over in place of `Hello`.

mod connection;

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use fairmux::server::Builder;
use http::{Request, Response};
use http_body_util::Full;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower_service::Service;

use connection::{Incoming, serve_connection};

#[derive(Clone)]
struct Hello;

impl Service<Request<Incoming>> for Hello {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let text = format!("Hello, {}!\n", request.uri().path());
        ready(Ok(Response::new(Full::from(text))))
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/", listener.local_addr()?);
    let (stop, stopped) = watch::channel(false);
    let mut builder = Builder::new();
    builder.hardened();
    loop {
        let io = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            _ = tokio::signal::ctrl_c() => break,
        };
        io.set_nodelay(true)?;
        let (builder, mut stopped) = (builder.clone(), stopped.clone());
        tokio::spawn(async move {
            let shutdown = async {
                // An error says that the program ends: the same.
                let _ = stopped.wait_for(|stopped| *stopped).await;
            };
            if let Err(why) = serve_connection(io, &builder, Hello, shutdown).await {
                eprintln!("closed: {why}");
            }
        });
    }
    stop.send_replace(true);
    drop(stopped);
    // Until the last connection has dropped its receiver.
    stop.closed().await;
    Ok(())
}
