//! The client side: requests go out, responses come in.
//!
//! # Starting
//!
//! [`handshake`] (or [`Builder::handshake`], with options) takes an I/O type that is ready for
//! HTTP/2 and returns two handles. [`SendRequest`] starts streams. [`Connection`] is the future
//! that does the work for all of them: spawn it, or poll it beside what waits for responses.
//!
//! # One request
//!
//! [`SendRequest::ready`] waits until the server takes one more stream;
//! [`send_request`](SendRequest::send_request) then returns two halves at once. The
//! [`SendStream`](crate::SendStream) sends the body, under flow control, and trailers. The
//! [`ResponseFuture`] resolves to the response, whose body is a
//! [`RecvStream`](crate::RecvStream); informational responses
//! ([`poll_informational`](ResponseFuture::poll_informational)) and pushed ones
//! ([`push_promises`](ResponseFuture::push_promises)) are asked for there. Both halves work
//! independently, on whatever task.
//!
//! Handles that are dropped tell the server: when nobody can read the response any more, the stream
//! is reset with CANCEL.
//!
//! # The end
//!
//! When the last [`SendRequest`] and the last stream are gone, the connection says goodbye and its
//! future ends. When the server says GOAWAY, streams that it takes go on, those that it does not
//! take fail with an error that says so, and new ones are refused.
//!
//! # Example
//!
//! ```no_run
//! use fairmux::client;
//! use http::Request;
//! use tokio::net::TcpStream;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let io = TcpStream::connect("127.0.0.1:8080").await?;
//!     let (requests, connection) = client::handshake(io).await?;
//!     tokio::spawn(async move {
//!         if let Err(error) = connection.await {
//!             eprintln!("connection: {error}");
//!         }
//!     });
//!
//!     let mut requests = requests.ready().await?;
//!     let request = Request::get("http://127.0.0.1:8080/").body(())?;
//!     let (response, _) = requests.send_request(request, true)?;
//!     let mut body = response.await?.into_body();
//!     while let Some(chunk) = body.data().await {
//!         let chunk = chunk?;
//!         println!("{} bytes", chunk.len());
//!         // What has been used is released, so that the server may send more.
//!         body.flow_control().release_capacity(chunk.len())?;
//!     }
//!     Ok(())
//! }
//! ```

mod builder;
mod connection;
mod push;
mod response;
mod send_request;

pub use builder::{Builder, Client};
pub use connection::{Connection, handshake};
pub use push::{PushPromise, PushPromises, PushedResponseFuture};
pub use response::ResponseFuture;
pub use send_request::{ReadySendRequest, SendRequest};
