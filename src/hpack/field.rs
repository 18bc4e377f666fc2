//! Header fields as the decoder hands them out.
//!
//! Owns the step from octets to `http` types, so that it is taken once for a table entry and not
//! once for each use. It must not know which fields a message may have. Invariant of its own:
//! a `Regular` name and a `Valid` value are lawful in HTTP/2; all else says so by its variant.

use bytes::Bytes;
use http::{HeaderName, HeaderValue};

use super::ENTRY_OVERHEAD;

/// The names beginning with a colon that RFC 9113 §8.3 and RFC 8441 §4 define.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pseudo {
    Method,
    Scheme,
    Authority,
    Path,
    Protocol,
    Status,
}

impl Pseudo {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Pseudo::Method => ":method",
            Pseudo::Scheme => ":scheme",
            Pseudo::Authority => ":authority",
            Pseudo::Path => ":path",
            Pseudo::Protocol => ":protocol",
            Pseudo::Status => ":status",
        }
    }

    fn from_bytes(name: &[u8]) -> Option<Pseudo> {
        Some(match name {
            b":method" => Pseudo::Method,
            b":scheme" => Pseudo::Scheme,
            b":authority" => Pseudo::Authority,
            b":path" => Pseudo::Path,
            b":protocol" => Pseudo::Protocol,
            b":status" => Pseudo::Status,
            _ => return None,
        })
    }
}

/// A field name. Clones share the octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Pseudo(Pseudo),
    Regular(HeaderName),
    /// Begins with a colon, and no specification we follow defines it.
    UnknownPseudo(Bytes),
    /// Not a token in lower case.
    Malformed(Bytes),
}

impl Name {
    pub(super) fn from_bytes(name: &[u8]) -> Name {
        if name.first() == Some(&b':') {
            return match Pseudo::from_bytes(name) {
                Some(pseudo) => Name::Pseudo(pseudo),
                None => Name::UnknownPseudo(Bytes::copy_from_slice(name)),
            };
        }
        //= RFC 9113 §8.2.1: a field name has no upper case, no control, no space, is not empty
        // `http` takes a quotation mark for a part of a token, which it is not.
        match HeaderName::from_lowercase(name) {
            Ok(valid) if !name.contains(&b'"') => Name::Regular(valid),
            _ => Name::Malformed(Bytes::copy_from_slice(name)),
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Name::Pseudo(pseudo) => pseudo.as_str().as_bytes(),
            Name::Regular(name) => name.as_str().as_bytes(),
            Name::UnknownPseudo(name) | Name::Malformed(name) => name,
        }
    }
}

/// A field value. Clones share the octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Marked sensitive if it came as a never-indexed literal.
    Valid(HeaderValue),
    /// Has a control character, or a blank at an end.
    Malformed(Bytes),
}

impl Value {
    /// The value owns a copy: a view would keep a whole read buffer alive for as long as it lives.
    pub(super) fn from_bytes(value: &[u8]) -> Value {
        //= RFC 9113 §8.2.1: a value has no NUL, CR or LF, and no blank at its start or end
        if !has_outer_blank(value) {
            if let Ok(value) = HeaderValue::from_bytes(value) {
                return Value::Valid(value);
            }
        }
        Value::Malformed(Bytes::copy_from_slice(value))
    }

    pub(super) fn mark_sensitive(&mut self) {
        if let Value::Valid(value) = self {
            value.set_sensitive(true);
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Value::Valid(value) => value.as_bytes(),
            Value::Malformed(value) => value,
        }
    }
}

fn has_outer_blank(value: &[u8]) -> bool {
    let blank = |octet: Option<&u8>| matches!(octet, Some(b' ' | b'\t'));
    blank(value.first()) || blank(value.last())
}

/// One field line. Clones share the octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: Name,
    pub(crate) value: Value,
}

impl Field {
    /// Size as the table and SETTINGS_MAX_HEADER_LIST_SIZE count it.
    pub(crate) fn size(&self) -> usize {
        size(self.name.as_bytes(), self.value.as_bytes())
    }
}

//= RFC 7541 §4.1: the size of an entry is name + value + 32 octets
pub(super) fn size(name: &[u8], value: &[u8]) -> usize {
    name.len() + value.len() + ENTRY_OVERHEAD
}
