//! Stands in for the crate `h2`, version 0.4: every public item of it, implemented by [`fairmux`].
//!
//! Put it under a program with `[patch.crates-io]`; nothing of the program, nor of what it depends
//! on, changes. `docs/compat.md` of fairmux says what behaves otherwise, and why.
//!
//! Owns: the list of names. Does not know: anything else. `tests/interop/api` compares this list,
//! and all signatures and traits, with those of h2.

pub use fairmux::{
    Error, FlowControl, Ping, PingPong, Pong, Reason, RecvStream, SendStream, StreamId,
};

/// The client side.
pub mod client {
    pub use fairmux::client::{
        Builder, Connection, PushPromise, PushPromises, PushedResponseFuture, ReadySendRequest,
        ResponseFuture, SendRequest, handshake,
    };
}

/// What HTTP/2 adds to requests.
pub mod ext {
    pub use fairmux::ext::Protocol;
}

/// The server side.
pub mod server {
    pub use fairmux::server::{
        Builder, Connection, Handshake, SendPushedResponse, SendResponse, handshake,
    };
}
