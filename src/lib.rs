//! An HTTP/2 multiplexer with fair scheduling. (skeleton)
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
pub mod server;

pub use crate::error::{Error, MessageRule, Misuse, Scope, Violation};
pub use crate::frame::Reason;
pub use crate::share::*;
