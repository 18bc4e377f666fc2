//! What the caller did wrong: one variant per fault, each with what to do instead.
//!
//! Owns: the faults of this crate's users. Does not know: who notices. Nothing is sent because of
//! one, and the connection lives on.

use std::fmt;

use super::rule::MessageRule;

/// A rule of this crate, or of HTTP/2, that the caller broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Misuse {
    /// The message is malformed: the rule says how.
    MalformedHeaders(MessageRule),
    /// The request's URI has neither scheme nor authority, and its version says HTTP/2.
    MissingUriSchemeAndAuthority,
    /// The stream has ended, was reset, or its end has been queued already.
    InactiveStream,
    /// The head of the message was sent before.
    HeadSentTwice,
    /// Data or trailers before the head, or anything that this state of the stream does not allow.
    UnexpectedFrame,
    /// One piece of data is longer than can be counted.
    PayloadTooBig,
    /// More streams wait to open than the connection lets wait.
    Rejected,
    /// More bytes were released than were received.
    ReleaseCapacityTooBig,
    /// The connection has used up its stream ids.
    OverflowedStreamId,
    /// `poll_reset` of a `SendResponse` after its response was sent.
    PollResetAfterSendResponse,
    /// A ping while another has not been answered.
    SendPingWhilePending,
    /// New settings while the peer has not acknowledged the last ones.
    SendSettingsWhilePending,
    /// A push to a peer that has disabled them.
    PeerDisabledServerPush,
    /// A push on a stream that cannot carry a promise.
    PushParent,
    /// An informational response whose status is not 1xx.
    InvalidInformationalStatusCode,
    /// A final response whose status is 1xx.
    InformationalAsResponse,
    /// An option or argument outside the range that the protocol allows.
    OutOfRange,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Misuse::MalformedHeaders(rule) = self {
            return write!(f, "malformed headers, nothing was sent: {rule}");
        }
        f.write_str(self.advice())
    }
}

impl Misuse {
    const fn advice(&self) -> &'static str {
        match self {
            Misuse::MalformedHeaders(_) => "malformed headers",
            Misuse::MissingUriSchemeAndAuthority => {
                "the request URI has no scheme and no authority: give an absolute URI"
            }
            Misuse::InactiveStream => "inactive stream: send nothing after its end or a reset",
            Misuse::HeadSentTwice => "the head was sent already: send it once",
            Misuse::UnexpectedFrame => "unexpected frame: send the head, then data, then trailers",
            Misuse::PayloadTooBig => "payload too big: send it in smaller pieces",
            Misuse::Rejected => "rejected, too many streams wait to open: call `ready` first",
            Misuse::ReleaseCapacityTooBig => {
                "released more than was received: release each byte once"
            }
            Misuse::OverflowedStreamId => "stream ids are used up: open a new connection",
            Misuse::PollResetAfterSendResponse => {
                "poll_reset after send_response: poll the stream that send_response gave"
            }
            Misuse::SendPingWhilePending => "a ping is on its way: wait for its pong first",
            Misuse::SendSettingsWhilePending => {
                "SETTINGS are on their way: wait until the peer has acknowledged them"
            }
            Misuse::PeerDisabledServerPush => "the peer has disabled push: answer requests only",
            Misuse::PushParent => {
                "a push must belong to a request that is not yet answered in full"
            }
            Misuse::InvalidInformationalStatusCode => {
                "an informational response must be 1xx: use send_response for others"
            }
            Misuse::InformationalAsResponse => {
                "a response must not be 1xx: use send_informational for those"
            }
            Misuse::OutOfRange => "the value is outside the range that HTTP/2 allows",
        }
    }
}

impl std::error::Error for Misuse {}

impl From<MessageRule> for Misuse {
    fn from(rule: MessageRule) -> Misuse {
        Misuse::MalformedHeaders(rule)
    }
}
