//! Error codes (RFC 9113 §7).
//!
//! Owns: the numbers, their names and their meaning in words. Does not know: which fault has which
//! code.

use std::fmt;

/// Why a stream was reset or a connection is going away: the error code of RST_STREAM and GOAWAY.
///
/// Any number is a reason; those that RFC 9113 defines have names here.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reason(u32);

impl Reason {
    /// Nothing went wrong; a GOAWAY of a graceful shutdown carries it.
    pub const NO_ERROR: Reason = Reason(0x0);
    /// The peer broke a rule that has no code of its own.
    pub const PROTOCOL_ERROR: Reason = Reason(0x1);
    /// Something failed inside the endpoint.
    pub const INTERNAL_ERROR: Reason = Reason(0x2);
    /// The peer sent more than the window allowed, or opened a window too far.
    pub const FLOW_CONTROL_ERROR: Reason = Reason(0x3);
    /// Our SETTINGS were not acknowledged in time.
    pub const SETTINGS_TIMEOUT: Reason = Reason(0x4);
    /// A frame came for a stream whose sender had already ended it.
    pub const STREAM_CLOSED: Reason = Reason(0x5);
    /// A frame was too long, too short, or not as long as its type demands.
    pub const FRAME_SIZE_ERROR: Reason = Reason(0x6);
    /// The stream was turned away before anything was done for it; the request can be sent again.
    pub const REFUSED_STREAM: Reason = Reason(0x7);
    /// The stream is no longer wanted.
    pub const CANCEL: Reason = Reason(0x8);
    /// A header block could not be decompressed, so the two ends no longer agree.
    pub const COMPRESSION_ERROR: Reason = Reason(0x9);
    /// The connection behind a CONNECT request broke.
    pub const CONNECT_ERROR: Reason = Reason(0xa);
    /// The peer causes more work than it should.
    pub const ENHANCE_YOUR_CALM: Reason = Reason(0xb);
    /// The transport below is not secure enough.
    pub const INADEQUATE_SECURITY: Reason = Reason(0xc);
    /// The request must be made over HTTP/1.1.
    pub const HTTP_1_1_REQUIRED: Reason = Reason(0xd);

    /// The meaning in a few words.
    pub fn description(&self) -> &str {
        match *self {
            Reason::NO_ERROR => "no error",
            Reason::PROTOCOL_ERROR => "protocol violated",
            Reason::INTERNAL_ERROR => "internal error of the endpoint",
            Reason::FLOW_CONTROL_ERROR => "flow-control limits violated",
            Reason::SETTINGS_TIMEOUT => "settings not acknowledged in time",
            Reason::STREAM_CLOSED => "frame received for a closed stream",
            Reason::FRAME_SIZE_ERROR => "frame of a wrong size",
            Reason::REFUSED_STREAM => "stream refused before any processing",
            Reason::CANCEL => "stream no longer needed",
            Reason::COMPRESSION_ERROR => "header compression state lost",
            Reason::CONNECT_ERROR => "connection made for a CONNECT request failed",
            Reason::ENHANCE_YOUR_CALM => "peer generates excessive load",
            Reason::INADEQUATE_SECURITY => "transport security inadequate",
            Reason::HTTP_1_1_REQUIRED => "HTTP/1.1 required",
            _ => "unknown error code",
        }
    }

    fn name(self) -> Option<&'static str> {
        Some(match self {
            Reason::NO_ERROR => "NO_ERROR",
            Reason::PROTOCOL_ERROR => "PROTOCOL_ERROR",
            Reason::INTERNAL_ERROR => "INTERNAL_ERROR",
            Reason::FLOW_CONTROL_ERROR => "FLOW_CONTROL_ERROR",
            Reason::SETTINGS_TIMEOUT => "SETTINGS_TIMEOUT",
            Reason::STREAM_CLOSED => "STREAM_CLOSED",
            Reason::FRAME_SIZE_ERROR => "FRAME_SIZE_ERROR",
            Reason::REFUSED_STREAM => "REFUSED_STREAM",
            Reason::CANCEL => "CANCEL",
            Reason::COMPRESSION_ERROR => "COMPRESSION_ERROR",
            Reason::CONNECT_ERROR => "CONNECT_ERROR",
            Reason::ENHANCE_YOUR_CALM => "ENHANCE_YOUR_CALM",
            Reason::INADEQUATE_SECURITY => "INADEQUATE_SECURITY",
            Reason::HTTP_1_1_REQUIRED => "HTTP_1_1_REQUIRED",
            _ => return None,
        })
    }
}

//= RFC 9113 §7 unknown error codes are no error by themselves
impl From<u32> for Reason {
    fn from(code: u32) -> Reason {
        Reason(code)
    }
}

impl From<Reason> for u32 {
    fn from(reason: Reason) -> u32 {
        reason.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Reason({:#x})", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Reason;

    #[test]
    fn fourteen_codes_have_their_own_name_and_words() {
        let all: Vec<Reason> = (0..14).map(Reason::from).collect();
        let names: HashSet<String> = all.iter().map(|r| format!("{r:?}")).collect();
        let words: HashSet<&str> = all.iter().map(Reason::description).collect();
        assert_eq!((names.len(), words.len()), (14, 14));
        assert!(!words.contains(Reason::from(14).description()));
        assert_eq!(format!("{:?}", Reason::from(13)), "HTTP_1_1_REQUIRED");
    }

    //= test RFC 9113 §7 unknown codes are kept as they are
    #[test]
    fn unknown_code_survives() {
        let reason = Reason::from(0xdead_beef);
        assert_eq!(u32::from(reason), 0xdead_beef);
        assert_eq!(format!("{reason:?}"), "Reason(0xdeadbeef)");
        assert_eq!(reason.to_string(), "unknown error code");
    }
}
