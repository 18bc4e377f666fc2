//! The server side: requests come in, responses go out.
//!
//! # Starting
//!
//! [`handshake`] (or [`Builder::handshake`], with options; [`hardened`](crate::Builder::hardened)
//! ones for a server that anybody can reach) takes an I/O type that is ready for HTTP/2, and
//! resolves to a [`Connection`].
//!
//! # One request
//!
//! [`Connection::accept`] returns two halves. The [`http::Request`] has the head and, as its body,
//! a [`RecvStream`](crate::RecvStream) for the octets and trailers. The [`SendResponse`] answers:
//! informational responses, promises of others that the client will need, then the response, whose
//! body a [`SendStream`](crate::SendStream) sends under flow control. Both halves work
//! independently, on whatever task. A response may begin, and end, before the request has.
//!
//! # Driving
//!
//! All reading and writing is done where the [`Connection`] is polled: in
//! [`accept`](Connection::accept), or in [`poll_closed`](Connection::poll_closed) when no further
//! stream is wanted. A task that waits elsewhere, for a file or for one stream's body, holds all
//! streams up; so hand what takes time to a task of its own.
//!
//! # The end
//!
//! [`graceful_shutdown`](Connection::graceful_shutdown) announces the end and lets the streams
//! finish, [`abrupt_shutdown`](Connection::abrupt_shutdown) does not. Go on with `accept` until it
//! returns `None`.
//!
//! # Example
//!
//! ```no_run
//! use fairmux::server::{self, SendResponse};
//! use http::{Request, Response};
//! use tokio::net::{TcpListener, TcpStream};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let listener = TcpListener::bind("127.0.0.1:8080").await?;
//!     loop {
//!         let (io, _) = listener.accept().await?;
//!         tokio::spawn(async move {
//!             if let Err(error) = serve(io).await {
//!                 eprintln!("connection: {error}");
//!             }
//!         });
//!     }
//! }
//!
//! async fn serve(io: TcpStream) -> Result<(), fairmux::Error> {
//!     let mut connection = server::Builder::new().hardened().handshake(io).await?;
//!     while let Some(stream) = connection.accept().await {
//!         let (request, respond) = stream?;
//!         hello(request, respond)?;
//!     }
//!     Ok(())
//! }
//!
//! fn hello(
//!     _request: Request<fairmux::RecvStream>,
//!     mut respond: SendResponse<&'static [u8]>,
//! ) -> Result<(), fairmux::Error> {
//!     let mut body = respond.send_response(Response::new(()), false)?;
//!     body.send_data(b"hello", true)
//! }
//! ```

mod builder;
mod connection;
mod handshake;
mod push;
mod respond;

pub use builder::{Builder, Server};
pub use connection::Connection;
pub use handshake::{Handshake, handshake};
pub use push::SendPushedResponse;
pub use respond::SendResponse;
