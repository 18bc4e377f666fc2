//! (skeleton)
pub(crate) mod port;
pub(crate) mod streams;
