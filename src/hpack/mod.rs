//! RFC 7541, HPACK: header blocks to fields and back.
//!
//! | RFC 7541 | file |
//! |---|---|
//! | §2.3.1 and Appendix A, the static table | `static_table` |
//! | §2.3.2, §4, the dynamic table: what the peer filled | `table` |
//! | the same for what we filled, found by content | `encoder_table` |
//! | §5.1, integers | `integer` |
//! | §5.2 and Appendix B, strings | `huffman`, `huffman_table` |
//! | §6, representations, read | `decoder` |
//! | §6, representations, written | `encoder` |
//!
//! Owns both compression contexts of a connection. It must not know streams, frames or what a
//! field means: an unlawful name or value is decoded, marked, and left to the message layer.
//! Keeps its half of I6: fields enter a block, and the table, in the order of the calls.

mod decoder;
mod encoder;
mod encoder_table;
mod error;
mod field;
mod huffman;
mod huffman_table;
mod integer;
mod static_table;
mod table;

pub(crate) use self::decoder::{Budget, Consumed, Decoder};
pub(crate) use self::encoder::Encoder;
pub(crate) use self::error::DecodeError;
pub(crate) use self::field::{Field, Name, Pseudo, Value};

/// SETTINGS_HEADER_TABLE_SIZE until a SETTINGS frame says otherwise (RFC 9113 §6.5.2).
pub(crate) const DEFAULT_TABLE_SIZE: usize = 4096;

/// What an entry costs beyond its octets (RFC 7541 §4.1).
const ENTRY_OVERHEAD: usize = 32;

#[cfg(test)]
mod tests;
