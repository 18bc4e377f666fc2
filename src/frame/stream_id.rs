//! Stream identifiers (RFC 9113 §5.1.1).
//!
//! Owns: the 31 bits and whose they are. Does not know: which streams exist. A value here never has
//! the reserved bit set.

use std::fmt;

const RESERVED: u32 = 1 << 31;

/// The number of a stream: odd if the client opened it, even if the server did.
///
/// 0 stands for the connection as a whole and is never the number of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(u32);

impl StreamId {
    /// The connection itself.
    pub(crate) const CONNECTION: StreamId = StreamId(0);
    /// The last number there is.
    pub(crate) const MAX: StreamId = StreamId(!RESERVED);

    //= RFC 9113 §4.1 the reserved bit is no part of the identifier
    /// Drops the reserved bit.
    pub(crate) const fn new(value: u32) -> StreamId {
        StreamId(value & !RESERVED)
    }

    /// The number, the same as by `From<StreamId> for u32`, but usable in constants.
    pub const fn as_u32(&self) -> u32 {
        self.0
    }

    pub(crate) const fn is_connection(self) -> bool {
        self.0 == 0
    }

    //= RFC 9113 §5.1.1 streams of the client are odd, streams of the server even, 0 is neither
    pub(crate) const fn is_client_initiated(self) -> bool {
        self.0 % 2 == 1
    }

    pub(crate) const fn is_server_initiated(self) -> bool {
        self.0 != 0 && self.0 % 2 == 0
    }

    //= RFC 9113 §5.1.1 identifiers are not reused: after the last there is none
    /// The next number of the same side.
    pub(crate) const fn next(self) -> Option<StreamId> {
        if self.0 > StreamId::MAX.0 - 2 {
            None
        } else {
            Some(StreamId(self.0 + 2))
        }
    }
}

impl From<StreamId> for u32 {
    fn from(id: StreamId) -> u32 {
        id.0
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::StreamId;

    //= test RFC 9113 §5.1.1 odd and even, 0 is never a stream
    #[test]
    fn sides() {
        let side = |id: u32| {
            let id = StreamId::new(id);
            (
                id.is_connection(),
                id.is_client_initiated(),
                id.is_server_initiated(),
            )
        };
        assert_eq!(side(0), (true, false, false));
        assert_eq!(side(1), (false, true, false));
        assert_eq!(side(2), (false, false, true));
        assert_eq!(side(u32::MAX), (false, true, false));
        assert_eq!(side(0x8000_0000), (true, false, false));
    }

    //= test RFC 9113 §5.1.1 identifiers run out
    #[test]
    fn identifiers_run_out() {
        assert_eq!(StreamId::new(1).next(), Some(StreamId::new(3)));
        assert_eq!(StreamId::new(0x7fff_fffd).next(), Some(StreamId::MAX));
        assert_eq!(StreamId::new(0x7fff_fffe).next(), None);
        assert_eq!(StreamId::MAX.next(), None);
    }

    #[test]
    fn number_is_what_it_was_made_of() {
        assert_eq!(StreamId::new(7).as_u32(), 7);
        assert_eq!(u32::from(StreamId::new(7)), 7);
        assert_eq!(StreamId::new(7).to_string(), "7");
    }
}
