//! What HTTP/2 adds to a request: the protocol of an extended CONNECT.
//!
//! Owns: one newtype. Does not know: requests. It travels in a request's extensions, both ways.

use std::fmt;
use std::str::Utf8Error;

use bytes::Bytes;

/// The `:protocol` of an extended CONNECT request ([RFC 8441]), such as `websocket`.
///
/// A server finds it in the extensions of the request it accepted; a client puts it into those of
/// the request that it sends.
///
/// [RFC 8441]: https://www.rfc-editor.org/rfc/rfc8441.html#section-4
#[derive(Clone, Eq, PartialEq)]
pub struct Protocol(Text);

#[derive(Clone, Eq)]
enum Text {
    Static(&'static str),
    Owned(Bytes),
}

impl Protocol {
    /// A protocol whose name is known when the program is compiled.
    pub const fn from_static(value: &'static str) -> Self {
        Protocol(Text::Static(value))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Static(text) => text,
            // Checked when it was made.
            Text::Owned(bytes) => std::str::from_utf8(bytes).unwrap_or_default(),
        }
    }

    /// A protocol from what the peer sent.
    pub(crate) fn try_from_bytes(bytes: Bytes) -> Result<Self, Utf8Error> {
        std::str::from_utf8(&bytes)?;
        Ok(Protocol(Text::Owned(bytes)))
    }
}

impl<'a> From<&'a str> for Protocol {
    fn from(value: &'a str) -> Self {
        Protocol(Text::Owned(Bytes::copy_from_slice(value.as_bytes())))
    }
}

impl AsRef<[u8]> for Protocol {
    fn as_ref(&self) -> &[u8] {
        self.as_str().as_bytes()
    }
}

impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Text {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Text::Static(text) => text.as_bytes(),
            Text::Owned(bytes) => bytes,
        }
    }
}
