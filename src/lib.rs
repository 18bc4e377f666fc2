//! HTTP/2 ([RFC 9113]) for clients and servers, over any asynchronous I/O.
//!
//! One connection is shared by many streams. This crate shares it fairly, never leaves a stream
//! waiting while it could send, hands TLS and the kernel large writes, and frees a stream the moment
//! it is over. The vocabulary is that of `h2` 0.4: the same types and methods, the same defaults.
//!
//! # Where to begin
//!
//! [`client`] sends requests, [`server`] answers them; each has a guide and an example. Both need
//! an I/O type that is ready for HTTP/2: TLS on which ALPN has agreed on `h2`, or a clear connection
//! to a peer that is known to speak it. Any [`tokio::io::AsyncRead`] + [`tokio::io::AsyncWrite`] +
//! `Unpin` will do, on any runtime.
//!
//! # Connections and streams
//!
//! A connection is a value that must be polled: all reading and writing is done there, on one
//! task. The handles of its streams work from any other task, and reach it without waiting for
//! each other. A stream has two halves, a [`SendStream`] and a [`RecvStream`], which end separately.
//! When all handles of a stream are gone before it is complete, it is reset.
//!
//! # Payload
//!
//! What is sent is any [`bytes::Buf`], chosen where the connection begins, and is not copied on its
//! way if it is large; it may borrow, and need neither be `Send` nor `Sync` where the handles need
//! not. What is received is [`bytes::Bytes`].
//!
//! # Flow control
//!
//! HTTP/2 lets a receiver bound what is sent to it, for each stream and for the connection
//! ([RFC 9113 section 5.2]).
//!
//! *Receiving*: what has been used must be released through [`FlowControl`], else the peer runs out
//! of window and stops.
//!
//! *Sending*: [`SendStream::send_data`] takes any amount and keeps it until it can be sent. A sender
//! of more than a little asks [`SendStream::reserve_capacity`] and waits for
//! [`SendStream::poll_capacity`] instead. Capacity is what the stream's own window, its buffer and
//! the connection's send room allow. It **reserves no window of the connection**, unlike in h2: a
//! stream that has capacity and does nothing holds nobody up, and what it sends later may still
//! have to wait for the connection's window.
//!
//! # Priorities
//!
//! Streams take turns, by bytes. The signals of [RFC 9218], the `priority` field and
//! PRIORITY_UPDATE, order them by urgency; [`SendStream::set_priority`] gives the signal.
//!
//! # Errors
//!
//! An [`Error`] answers the questions that h2's answers: what code, whose doing, which layer. Beyond
//! that a fault of the peer names the rule and the section ([`Violation`]), a fault of the caller
//! says what to do ([`Misuse`]) and costs nothing: nothing was sent, the connection lives.
//! [`Error::is_not_processed`] tells that a request is safe to send again.
//!
//! Where [RFC 9113] names an error code, that code is sent, also where h2 sends PROTOCOL_ERROR. A
//! malformed message costs its stream and not the connection.
//!
//! # Limits
//!
//! Nothing that a peer sends is kept without a bound. Bounds that h2 does not have are always on, at
//! values that honest peers do not meet; [`Builder::hardened`] sets all of them for servers that
//! anybody can reach.
//!
//! # Features
//!
//! * `stream`: [`RecvStream`], [`client::PushPromises`] and [`server::Connection`] implement
//!   `futures_core::Stream`.
//! * `unstable`: counters of streams, and the choice of a client's first stream id.
//!
//! # Layers
//!
//! ```text
//!  8  client   server    connections, builders, request and response handles
//!  7  share              the handles that both have, and their options
//!  6  driver             one task per connection: read, run, write
//!  5  handoff            what handles and that task leave for each other
//!  4  proto              the connection: no I/O, no clock, no lock
//!  3  message            field lists and `http` types, and the rules for them
//!  2  error              the public error, faults of the peer, faults of the caller
//!  1  frame    hpack     octets and values
//!  0  sync     ext       locks and atomics, or those of a model checker; `ext::Protocol`
//! ```
//!
//! Each layer knows only those below it.
//!
//! [RFC 9113]: https://www.rfc-editor.org/rfc/rfc9113.html
//! [RFC 9113 section 5.2]: https://www.rfc-editor.org/rfc/rfc9113.html#section-5.2
//! [RFC 9218]: https://www.rfc-editor.org/rfc/rfc9218.html

mod driver;
mod error;
mod frame;
mod handoff;
mod hpack;
mod message;
mod proto;
mod share;
mod sync;

pub mod client;
pub mod ext;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
pub mod server;

pub use crate::driver::Timer;
pub use crate::error::{Error, MessageRule, Misuse, Scope, Violation};
pub use crate::frame::Reason;
pub use crate::proto::Stats;
pub use crate::share::{
    Builder, FlowControl, Ping, PingPong, Pong, RecvStream, SendStream, StreamId,
};
