//! Pseudo-header fields and the values that they may have (RFC 9113 §8.3, RFC 8441 §4).
//!
//! Owns: their slots, and one checked conversion per field. Does not know: which of them a message
//! needs. Values are checked apart from each other, so none can reach into its neighbour.

use bytes::Bytes;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Method, StatusCode};

use crate::error::MessageRule;
use crate::ext::Protocol;
use crate::hpack::Pseudo;

/// What came in front of the regular fields.
#[derive(Debug, Default)]
pub(super) struct PseudoFields {
    pub(super) method: Option<Method>,
    pub(super) scheme: Option<Scheme>,
    /// Not parsed: most likely it is known.
    pub(super) authority: Option<HeaderValue>,
    pub(super) path: Option<PathAndQuery>,
    pub(super) protocol: Option<Protocol>,
    pub(super) status: Option<StatusCode>,
}

impl PseudoFields {
    pub(super) fn put(&mut self, name: Pseudo, value: &HeaderValue) -> Result<(), MessageRule> {
        let is_new = match name {
            Pseudo::Method => self.method.replace(method(value)?).is_none(),
            Pseudo::Scheme => self.scheme.replace(scheme(value)?).is_none(),
            Pseudo::Authority => self.authority.replace(value.clone()).is_none(),
            Pseudo::Path => self.path.replace(path(value)?).is_none(),
            Pseudo::Protocol => self.protocol.replace(protocol(value)?).is_none(),
            Pseudo::Status => self.status.replace(status(value)?).is_none(),
        };
        //= RFC 9113 §8.3 the same pseudo-header field does not come twice
        match is_new {
            true => Ok(()),
            false => Err(MessageRule::PseudoRepeated),
        }
    }

    pub(super) const fn has_request(&self) -> bool {
        self.method.is_some()
            || self.scheme.is_some()
            || self.authority.is_some()
            || self.path.is_some()
            || self.protocol.is_some()
    }
}

fn method(value: &HeaderValue) -> Result<Method, MessageRule> {
    //= RFC 9110 §9.1 a method is a token
    Method::from_bytes(value.as_bytes()).map_err(|_| MessageRule::MethodValue)
}

fn scheme(value: &HeaderValue) -> Result<Scheme, MessageRule> {
    //= RFC 3986 §3.1 a scheme begins with a letter; `http` would take an empty one
    match value.as_bytes() {
        b"https" => Ok(Scheme::HTTPS),
        b"http" => Ok(Scheme::HTTP),
        [first, ..] if first.is_ascii_alphabetic() => {
            Scheme::try_from(value.as_bytes()).map_err(|_| MessageRule::SchemeValue)
        }
        _ => Err(MessageRule::SchemeValue),
    }
}

pub(super) fn authority(value: &HeaderValue) -> Result<Authority, MessageRule> {
    let parsed = Authority::try_from(value.as_bytes()).map_err(|_| MessageRule::AuthorityValue)?;
    check_authority(&parsed)?;
    Ok(parsed)
}

/// Both ways: a host and perhaps a port, nothing else.
pub(super) fn check_authority(authority: &Authority) -> Result<(), MessageRule> {
    //= RFC 9113 §8.3.1 :authority has no user information
    if authority.as_str().contains('@') {
        return Err(MessageRule::UserInfo);
    }
    let host = authority.host();
    let is_port = |port: &str| port.is_empty() || port.parse::<u16>().is_ok();
    let port = match authority.as_str().strip_prefix(host) {
        Some("") => {
            return if host.is_empty() {
                Err(MessageRule::AuthorityValue)
            } else {
                Ok(())
            };
        }
        Some(rest) => rest.strip_prefix(':').filter(|port| !port.starts_with('+')),
        None => None,
    };
    match port.is_some_and(is_port) && !host.is_empty() {
        true => Ok(()),
        false => Err(MessageRule::AuthorityValue),
    }
}

fn path(value: &HeaderValue) -> Result<PathAndQuery, MessageRule> {
    let text = value.as_bytes();
    //= RFC 9113 §8.3.1 :path is not empty, and begins with a slash unless it is *
    match text {
        [] => return Err(MessageRule::PathEmpty),
        b"/" => return Ok(PathAndQuery::from_static("/")),
        b"*" => return Ok(PathAndQuery::from_static("*")),
        [b'/', ..] => {}
        _ => return Err(MessageRule::PathValue),
    }
    // `http` would cut a fragment off: what we pass on would not be what came.
    if text.contains(&b'#') {
        return Err(MessageRule::PathValue);
    }
    PathAndQuery::try_from(text).map_err(|_| MessageRule::PathValue)
}

fn protocol(value: &HeaderValue) -> Result<Protocol, MessageRule> {
    check_protocol(value.as_bytes())?;
    Protocol::try_from_bytes(Bytes::copy_from_slice(value.as_bytes()))
        .map_err(|_| MessageRule::ProtocolValue)
}

/// Both ways: an upgrade token, perhaps with a version.
pub(super) fn check_protocol(text: &[u8]) -> Result<(), MessageRule> {
    let is_token =
        |octet: &u8| octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~/".contains(octet);
    match !text.is_empty() && text.iter().all(is_token) {
        true => Ok(()),
        false => Err(MessageRule::ProtocolValue),
    }
}

fn status(value: &HeaderValue) -> Result<StatusCode, MessageRule> {
    let status = StatusCode::from_bytes(value.as_bytes()).map_err(|_| MessageRule::StatusValue)?;
    check_status(status)?;
    Ok(status)
}

/// Both ways: any but 101.
pub(super) fn check_status(status: StatusCode) -> Result<(), MessageRule> {
    //= RFC 9113 §8.6 101 is not used
    match status {
        StatusCode::SWITCHING_PROTOCOLS => Err(MessageRule::SwitchingProtocols),
        _ => Ok(()),
    }
}
