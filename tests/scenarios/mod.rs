//! What a client and a server do with each other, in the words that this crate and h2 share.
//!
//! The test that mounts this module says which crate is the client and which the server:
//! `crate::client_crate`, `crate::server_crate`.

mod ending;
mod exchange;
pub(crate) mod support;
mod volume;
