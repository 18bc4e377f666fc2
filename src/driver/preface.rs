//! How a connection begins: the client's 24 octets.
//!
//! Owns: the octets, and how many have come. Does not know: the SETTINGS frame that follows on
//! both sides, and how long all that may take; both are `proto`'s.

use bytes::{Buf, BytesMut};

use crate::error::Violation;

//= RFC 9113 §3.4 the client begins with these octets, in front of its SETTINGS
/// What a client sends first.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What is still to come of the peer's preface.
#[derive(Debug)]
pub(super) struct Preface {
    missing: &'static [u8],
}

impl Preface {
    /// A server waits for the client's octets.
    pub(super) fn from_client() -> Preface {
        Preface { missing: PREFACE }
    }

    /// A client waits for nothing: the server's preface is its SETTINGS frame alone.
    pub(super) fn from_server() -> Preface {
        Preface { missing: &[] }
    }

    pub(super) fn is_done(&self) -> bool {
        self.missing.is_empty()
    }

    /// Takes what has come of it. The first wrong octet is told at once: who speaks another
    /// protocol may wait for an answer before it sends 24 of them.
    pub(super) fn take(&mut self, unread: &mut BytesMut) -> Result<(), Violation> {
        let length = self.missing.len().min(unread.len());
        let (expected, rest) = self.missing.split_at(length);
        //= RFC 9113 §3.4 a wrong preface is a connection error of type PROTOCOL_ERROR
        if unread[..length] != *expected {
            return Err(Violation::BadPreface);
        }
        unread.advance(length);
        self.missing = rest;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Preface {
        Preface::from_client()
    }

    #[test]
    fn is_done_after_the_last_octet_and_leaves_what_follows() {
        //= test RFC 9113 §3.4
        for cut in 0..=PREFACE.len() {
            let mut preface = server();
            let mut unread = BytesMut::from(&PREFACE[..cut]);
            assert_eq!(preface.take(&mut unread), Ok(()));
            assert_eq!(preface.is_done(), cut == PREFACE.len());
            unread.extend_from_slice(&PREFACE[cut..]);
            unread.extend_from_slice(b"more");
            assert_eq!(preface.take(&mut unread), Ok(()));
            assert!(preface.is_done());
            assert_eq!(unread, b"more"[..]);
        }
    }

    #[test]
    fn a_wrong_octet_is_a_fault_at_once() {
        //= test RFC 9113 §3.4
        for wrong in 0..PREFACE.len() {
            let mut bytes = BytesMut::from(PREFACE);
            bytes[wrong] ^= 1;
            bytes.truncate(wrong + 1);
            assert_eq!(server().take(&mut bytes), Err(Violation::BadPreface));
        }
    }

    #[test]
    fn a_client_waits_for_none() {
        assert!(Preface::from_server().is_done());
    }
}
