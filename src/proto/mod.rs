//! The connection, sans I/O: RFC 9113 sections 5 and 6 for both roles, scheduling, limits.
//!
//! Owns: everything that is decided about streams and the connection. Does not know: tasks, locks,
//! sockets, clocks, or who is above; it meets them in two traits, [`port::Port`] and
//! [`port::Ports`], and in values. All of it runs under one `&mut self`, so a test or a simulation
//! can drive it with no runtime at all.
//!
//! How to call it is said at [`connection::Connection`]. Where each invariant is kept:
//!
//! | invariant | kept in |
//! |---|---|
//! | I1 no stall | `settle` (lists), `turn` (credit), `settle::resume_waiting` (room) |
//! | I2 fair | `scheduler`, `turn` (quantum) |
//! | I3 bounded | `block`, `limits`, `ids`, `config` (the numbers), `recv` (windows) |
//! | I4 gone when over | `settle`, `remove`, the one exit |
//! | I5 window conservation | `flow`, `turn` (sending), `recv` (receiving) |
//! | I6 order | `send`: blocks are compressed as they enter a batch |
//! | I7 wake once, wake always | above; here: a port is called once a change |

mod bandwidth;
mod batch;
mod block;
mod config;
mod connection;
mod faults;
mod flow;
mod heads;
mod ids;
mod limits;
mod ping;
pub(crate) mod port;
mod queue;
mod quiet;
mod recv;
mod scheduler;
mod send;
mod settings;
mod settle;
pub(crate) mod short_queue;
mod shutdown;
mod stall;
mod state;
mod stats;
mod stream;
pub(crate) mod streams;
mod turn;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use batch::Batch;
pub(crate) use config::{Config, Rate, Role};
pub(crate) use connection::{Connection, Event};
pub(crate) use shutdown::Lifecycle;
pub use stats::Stats;
