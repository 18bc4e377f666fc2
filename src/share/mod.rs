//! The handles that both roles share: what an application holds of one stream, and of the pings.
//!
//! Owns: `SendStream`, `RecvStream`, `FlowControl`, `PingPong`, `Builder`: names, documentation and the
//! mapping of futures onto polls. Does not know: frames, windows, locks, the connection task. The
//! state is in `handoff`; every method here is a call or two into it.

mod builder;
mod flow_control;
mod limits;
mod ping_pong;
mod recv_stream;
mod send_stream;

#[cfg(test)]
mod tests;

pub use self::builder::Builder;
pub(crate) use self::builder::assert_window_size;
pub use self::flow_control::FlowControl;
pub use self::ping_pong::{Ping, PingPong, Pong};
pub use self::recv_stream::RecvStream;
pub use self::send_stream::SendStream;
pub use crate::frame::StreamId;
