//! The type octet of a frame (RFC 9113 §6, RFC 9218 §7.1).
//!
//! Owns: the numbers and the names. Does not know: what any frame contains. A newtype and not an
//! enum, because a peer may send any octet and must not find a gap in a table.

use std::fmt;

/// The type of a frame; any octet is one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Kind(u8);

impl Kind {
    pub(crate) const DATA: Kind = Kind(0x00);
    pub(crate) const HEADERS: Kind = Kind(0x01);
    pub(crate) const PRIORITY: Kind = Kind(0x02);
    pub(crate) const RST_STREAM: Kind = Kind(0x03);
    pub(crate) const SETTINGS: Kind = Kind(0x04);
    pub(crate) const PUSH_PROMISE: Kind = Kind(0x05);
    pub(crate) const PING: Kind = Kind(0x06);
    pub(crate) const GOAWAY: Kind = Kind(0x07);
    pub(crate) const WINDOW_UPDATE: Kind = Kind(0x08);
    pub(crate) const CONTINUATION: Kind = Kind(0x09);
    pub(crate) const PRIORITY_UPDATE: Kind = Kind(0x10);

    pub(crate) const fn new(octet: u8) -> Kind {
        Kind(octet)
    }

    pub(crate) const fn octet(self) -> u8 {
        self.0
    }

    pub(crate) fn is_known(self) -> bool {
        self.name().is_some()
    }

    fn name(self) -> Option<&'static str> {
        Some(match self {
            Kind::DATA => "DATA",
            Kind::HEADERS => "HEADERS",
            Kind::PRIORITY => "PRIORITY",
            Kind::RST_STREAM => "RST_STREAM",
            Kind::SETTINGS => "SETTINGS",
            Kind::PUSH_PROMISE => "PUSH_PROMISE",
            Kind::PING => "PING",
            Kind::GOAWAY => "GOAWAY",
            Kind::WINDOW_UPDATE => "WINDOW_UPDATE",
            Kind::CONTINUATION => "CONTINUATION",
            Kind::PRIORITY_UPDATE => "PRIORITY_UPDATE",
            _ => return None,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "frame type {:#04x}", self.0),
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn every_octet_is_a_kind_and_eleven_are_known() {
        let known: Vec<u8> = (0..=u8::MAX).filter(|&o| Kind::new(o).is_known()).collect();
        assert_eq!(known, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x10]);
        assert_eq!(Kind::new(0x0a).to_string(), "frame type 0x0a");
        assert_eq!(format!("{:?}", Kind::new(8)), "WINDOW_UPDATE");
    }
}
