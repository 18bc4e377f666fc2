//! What can go wrong, as values: `Error` for users, with `Violation` and `Misuse` inside.
//!
//! Owns: the public error, its questions (those of h2 0.4 and a few more) and who caused it. Does
//! not know: streams, connections, how an error travels. Depends on `frame` and `hpack` only to
//! turn their faults into violations.

mod convert;
mod misuse;
mod rule;
mod violation;

use std::{fmt, io};

use bytes::Bytes;

pub use self::misuse::Misuse;
pub use self::rule::MessageRule;
pub use self::violation::{Scope, Violation};
use crate::frame::{Reason, StreamId};

/// An error of a connection or a stream.
///
/// It was caused by the peer (a reset, a GOAWAY, a broken rule), by the transport, or by the
/// caller. The questions below tell which; [`reason`] gives the code that was sent or received.
///
/// # Examples
///
/// ```
/// use fairmux::Error;
///
/// fn next_step(error: &Error) -> &'static str {
///     if error.is_not_processed() {
///         "send the request again, on another connection"
///     } else if error.as_misuse().is_some() {
///         "mend this program: nothing was sent, and the connection lives"
///     } else if error.is_reset() {
///         "give up this stream; others go on"
///     } else {
///         "connect again"
///     }
/// }
/// ```
///
/// [`reason`]: Error::reason
pub struct Error {
    kind: Kind,
    /// The peer has said that it did nothing with the stream.
    unprocessed: bool,
}

enum Kind {
    /// RST_STREAM was received or sent.
    Reset(StreamId, Reason, Initiator),
    /// GOAWAY was received or sent. Its text lies apart: each stream has room for an error.
    GoAway(Box<Bytes>, Reason, Initiator),
    /// The peer broke a rule, on this stream or on the connection.
    Violation(StreamId, Violation),
    /// A bare code from the caller.
    Reason(Reason),
    /// The caller broke a rule.
    Misuse(Misuse),
    /// The transport failed.
    Io(io::Error),
}

/// Who ended a stream or a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Initiator {
    /// The application.
    User,
    /// This crate.
    Library,
    /// The peer.
    Remote,
}

impl Error {
    /// RST_STREAM, sent or received.
    pub(crate) fn reset(id: StreamId, reason: Reason, initiator: Initiator) -> Error {
        Kind::Reset(id, reason, initiator).into()
    }

    /// GOAWAY, sent or received.
    pub(crate) fn go_away(debug: Bytes, reason: Reason, initiator: Initiator) -> Error {
        Kind::GoAway(Box::new(debug), reason, initiator).into()
    }

    /// A failed transport.
    pub(crate) fn io(error: io::Error) -> Error {
        Kind::Io(error).into()
    }

    /// A rule that the peer broke; `id` is `StreamId::CONNECTION` if it costs the connection.
    pub(crate) fn violation(id: StreamId, violation: Violation) -> Error {
        Kind::Violation(id, violation).into()
    }

    /// The same error, of a stream that the peer says it has not touched.
    pub(crate) fn into_not_processed(mut self) -> Error {
        self.unprocessed = true;
        self
    }

    /// The code that was received, or sent because of a fault. None for errors of the transport
    /// and of the caller.
    pub fn reason(&self) -> Option<Reason> {
        match &self.kind {
            Kind::Reset(_, reason, _) | Kind::GoAway(_, reason, _) | Kind::Reason(reason) => {
                Some(*reason)
            }
            Kind::Violation(_, violation) => Some(violation.reason()),
            Kind::Misuse(_) | Kind::Io(_) => None,
        }
    }

    /// Whether the transport failed.
    pub fn is_io(&self) -> bool {
        matches!(self.kind, Kind::Io(_))
    }

    /// The error of the transport, if it failed.
    pub fn get_io(&self) -> Option<&io::Error> {
        match &self.kind {
            Kind::Io(error) => Some(error),
            _ => None,
        }
    }

    /// The error of the transport, if it failed.
    pub fn into_io(self) -> Option<io::Error> {
        match self.kind {
            Kind::Io(error) => Some(error),
            _ => None,
        }
    }

    /// Whether GOAWAY, sent or received, is the cause.
    pub fn is_go_away(&self) -> bool {
        match &self.kind {
            Kind::GoAway(..) => true,
            Kind::Violation(id, _) => id.is_connection(),
            _ => false,
        }
    }

    /// Whether RST_STREAM, sent or received, is the cause.
    pub fn is_reset(&self) -> bool {
        match &self.kind {
            Kind::Reset(..) => true,
            Kind::Violation(id, _) => !id.is_connection(),
            _ => false,
        }
    }

    /// Whether the error came in a frame from the peer.
    pub fn is_remote(&self) -> bool {
        self.initiator() == Some(Initiator::Remote)
    }

    /// Whether this crate ended the stream or the connection, because the peer broke a rule.
    pub fn is_library(&self) -> bool {
        self.initiator() == Some(Initiator::Library)
    }

    /// Whether the peer has promised that it did nothing with the request, so that it may be sent
    /// again on another connection even if it is not idempotent.
    ///
    /// True for a stream that the peer refused, and for one above the last id of its GOAWAY.
    pub fn is_not_processed(&self) -> bool {
        //= RFC 9113 §8.7 a request is unprocessed if refused or above GOAWAY's last id
        let refused = matches!(
            self.kind,
            Kind::Reset(_, Reason::REFUSED_STREAM, Initiator::Remote)
        );
        self.unprocessed || refused
    }

    /// The rule that the peer broke, if this crate noticed one.
    pub fn as_violation(&self) -> Option<&Violation> {
        match &self.kind {
            Kind::Violation(_, violation) => Some(violation),
            _ => None,
        }
    }

    /// The rule that the caller broke.
    pub fn as_misuse(&self) -> Option<&Misuse> {
        match &self.kind {
            Kind::Misuse(misuse) => Some(misuse),
            _ => None,
        }
    }

    fn initiator(&self) -> Option<Initiator> {
        match &self.kind {
            Kind::Reset(_, _, initiator) | Kind::GoAway(_, _, initiator) => Some(*initiator),
            Kind::Violation(..) => Some(Initiator::Library),
            Kind::Reason(_) | Kind::Misuse(_) | Kind::Io(_) => None,
        }
    }
}

impl Clone for Error {
    /// Every stream of a connection that failed gets the error. An `io::Error` cannot be cloned:
    /// the copy keeps its kind and its text.
    fn clone(&self) -> Error {
        let kind = match &self.kind {
            Kind::Reset(id, reason, initiator) => Kind::Reset(*id, *reason, *initiator),
            Kind::GoAway(debug, reason, initiator) => {
                Kind::GoAway(debug.clone(), *reason, *initiator)
            }
            Kind::Violation(id, violation) => Kind::Violation(*id, *violation),
            Kind::Reason(reason) => Kind::Reason(*reason),
            Kind::Misuse(misuse) => Kind::Misuse(*misuse),
            Kind::Io(error) => Kind::Io(copy_of(error)),
        };
        Error {
            kind,
            unprocessed: self.unprocessed,
        }
    }
}

fn copy_of(error: &io::Error) -> io::Error {
    match (error.raw_os_error(), error.get_ref()) {
        (Some(code), _) => io::Error::from_raw_os_error(code),
        (None, Some(inner)) => io::Error::new(error.kind(), inner.to_string()),
        (None, None) => error.kind().into(),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Reset(_, reason, initiator) => {
                write!(f, "stream reset {}: {reason}", initiator.by())
            }
            Kind::GoAway(debug, reason, initiator) => {
                write!(f, "connection ended {}: {reason}", initiator.by())?;
                match debug.is_empty() {
                    true => Ok(()),
                    false => write!(f, " ({:?})", debug),
                }
            }
            Kind::Violation(id, violation) if id.is_connection() => {
                write!(
                    f,
                    "the peer broke a rule of the connection: {violation}: {}",
                    violation.reason()
                )
            }
            Kind::Violation(id, violation) => {
                write!(
                    f,
                    "the peer broke a rule of stream {}: {violation}: {}",
                    id.as_u32(),
                    violation.reason()
                )
            }
            Kind::Reason(reason) => write!(f, "protocol error: {reason}"),
            Kind::Misuse(misuse) => write!(f, "user error: {misuse}"),
            Kind::Io(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Reset(id, reason, by) => f
                .debug_tuple("Reset")
                .field(id)
                .field(reason)
                .field(by)
                .finish(),
            Kind::GoAway(debug, reason, by) => f
                .debug_tuple("GoAway")
                .field(debug)
                .field(reason)
                .field(by)
                .finish(),
            Kind::Violation(id, violation) => f
                .debug_tuple("Violation")
                .field(id)
                .field(violation)
                .finish(),
            Kind::Reason(reason) => f.debug_tuple("Reason").field(reason).finish(),
            Kind::Misuse(misuse) => f.debug_tuple("Misuse").field(misuse).finish(),
            Kind::Io(error) => f.debug_tuple("Io").field(error).finish(),
        }
    }
}

impl std::error::Error for Error {}

impl Initiator {
    const fn by(self) -> &'static str {
        match self {
            Initiator::User => "by this application",
            Initiator::Library => "by this end",
            Initiator::Remote => "by the peer",
        }
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Error {
        Error {
            kind,
            unprocessed: false,
        }
    }
}

impl From<Reason> for Error {
    fn from(reason: Reason) -> Error {
        Kind::Reason(reason).into()
    }
}

impl From<Misuse> for Error {
    fn from(misuse: Misuse) -> Error {
        Kind::Misuse(misuse).into()
    }
}

#[cfg(test)]
mod tests;
