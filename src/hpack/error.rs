//! What can be wrong with a header block, one variant for each rule.
//!
//! Owns the vocabulary, not the consequence: the error layer makes each of these a connection
//! error COMPRESSION_ERROR (RFC 9113 §4.3). After any of them the decoder must not be used again.

use std::fmt;

/// Why a header block cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DecodeError {
    /// An indexed field has index 0.
    IndexZero,
    /// An indexed field lies past the end of both tables.
    IndexOutOfRange,
    /// The name of a literal lies past the end of both tables.
    NameIndexOutOfRange,
    /// An integer is above 2^32-1, or is longer than such integers are.
    IntegerTooLarge,
    /// A string is longer than what is left of the block.
    StringPastEnd,
    /// A Huffman string ends with more than seven bits of padding.
    PaddingTooLong,
    /// A Huffman string ends with bits that are neither a code nor ones.
    PaddingNotOnes,
    /// A Huffman string contains the end-of-string code.
    EndOfStringInside,
    /// A table size update is above the limit that we set.
    SizeUpdateTooLarge,
    /// A table size update comes after a field.
    SizeUpdateAfterField,
    /// We lowered the limit, and the block does not begin with an update that honours it.
    SizeUpdateMissing,
    /// The block ends inside a representation.
    Truncated,
}

impl DecodeError {
    /// The section of RFC 7541 that the peer broke.
    #[cfg(test)]
    pub(crate) fn section(self) -> &'static str {
        match self {
            DecodeError::IndexZero => "6.1",
            DecodeError::IndexOutOfRange | DecodeError::NameIndexOutOfRange => "2.3.3",
            DecodeError::IntegerTooLarge => "5.1",
            DecodeError::StringPastEnd
            | DecodeError::PaddingTooLong
            | DecodeError::PaddingNotOnes
            | DecodeError::EndOfStringInside => "5.2",
            DecodeError::SizeUpdateTooLarge => "6.3",
            DecodeError::SizeUpdateAfterField | DecodeError::SizeUpdateMissing => "4.2",
            DecodeError::Truncated => "3.1",
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DecodeError::IndexZero => "field index 0",
            DecodeError::IndexOutOfRange => "field index past the end of the tables",
            DecodeError::NameIndexOutOfRange => "name index past the end of the tables",
            DecodeError::IntegerTooLarge => "integer too large in a header block",
            DecodeError::StringPastEnd => "string longer than its header block",
            DecodeError::PaddingTooLong => "more than seven bits of Huffman padding",
            DecodeError::PaddingNotOnes => "Huffman padding that is not all ones",
            DecodeError::EndOfStringInside => "end-of-string code inside a Huffman string",
            DecodeError::SizeUpdateTooLarge => "table size update above our limit",
            DecodeError::SizeUpdateAfterField => "table size update after a field",
            DecodeError::SizeUpdateMissing => "table size update missing after a lower limit",
            DecodeError::Truncated => "header block ends inside a field",
        })
    }
}

impl std::error::Error for DecodeError {}
