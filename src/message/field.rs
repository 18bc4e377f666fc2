//! Which fields a message may have (RFC 9113 §8.2).
//!
//! Owns: the validity of one field, the fields that are about a connection, the joining of cookies.
//! Does not know: requests, responses. Serves both directions.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, COOKIE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::content_length::ContentLength;
use super::priority::PRIORITY;
use crate::error::MessageRule;

/// The rules that need only the field itself. Most characters are guarded by `http`'s types; what these
/// let through, a quotation mark in a name, `hpack` takes out of what comes, `check_all` out of what goes.
pub(super) fn check(name: &HeaderName, value: &HeaderValue) -> Result<(), MessageRule> {
    match name.as_str() {
        //= RFC 9113 §8.2.2 a message has no connection-specific fields
        "connection" | "keep-alive" | "proxy-connection" | "transfer-encoding" | "upgrade" => {
            return Err(MessageRule::ConnectionField);
        }
        //= RFC 9113 §8.2.2 te may only be trailers
        "te" if !value.as_bytes().eq_ignore_ascii_case(b"trailers") => {
            return Err(MessageRule::TeValue);
        }
        _ => {}
    }
    //= RFC 9113 §8.2.1 a value does not start or end with a blank
    let blank = |octet: Option<&u8>| matches!(octet, Some(b' ' | b'\t'));
    match blank(value.as_bytes().first()) || blank(value.as_bytes().last()) {
        true => Err(MessageRule::FieldValue),
        false => Ok(()),
    }
}

/// The same for all fields of a message that is to be sent. Answers what they say of its content.
pub(super) fn check_all(fields: &HeaderMap) -> Result<ContentLength, MessageRule> {
    let mut notes = Notes::default();
    for (name, value) in fields {
        //= RFC 9113 §8.2.1 a field name is a token: a quotation mark is in none
        if name.as_str().contains('"') {
            return Err(MessageRule::FieldName);
        }
        check(name, value)?;
        notes.take(name, value)?;
    }
    Ok(notes.length)
}

/// What the fields of a message say that matters to those who pass it on. Noted in passing: to look
/// each of them up in the map afterwards costs more than all the rest.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) length: ContentLength,
    pub(super) has_host: bool,
    pub(super) has_priority: bool,
}

impl Notes {
    /// A field more, which was checked.
    pub(super) fn take(
        &mut self,
        name: &HeaderName,
        value: &HeaderValue,
    ) -> Result<(), MessageRule> {
        match *name {
            // A second one is what request smuggling is made of.
            HOST if self.has_host => return Err(MessageRule::SeveralHosts),
            HOST => self.has_host = true,
            CONTENT_LENGTH if self.length != ContentLength::Unknown => {
                return Err(MessageRule::ContentLengthValue);
            }
            CONTENT_LENGTH => self.length = ContentLength::parse(value)?,
            _ => self.has_priority |= name.as_str() == PRIORITY,
        }
        Ok(())
    }
}

/// Adds a field that was received and checked.
pub(super) fn insert(
    fields: &mut HeaderMap,
    name: HeaderName,
    value: HeaderValue,
) -> Result<(), MessageRule> {
    match fields.try_append(name, value) {
        Ok(_) => Ok(()),
        Err(_) => Err(MessageRule::TooManyFields),
    }
}

/// The crumbs of a cookie, which may come as many fields.
#[derive(Debug, Default)]
pub(super) enum Cookies {
    #[default]
    None,
    /// The usual case: nothing to join, nothing copied.
    One(HeaderValue),
    Joined {
        text: Vec<u8>,
        sensitive: bool,
    },
}

impl Cookies {
    //= RFC 9113 §8.2.3 crumbs are joined with "; " before anything else sees them
    pub(super) fn push(&mut self, crumb: HeaderValue) {
        match self {
            Cookies::None => *self = Cookies::One(crumb),
            Cookies::One(first) => {
                let sensitive = first.is_sensitive() || crumb.is_sensitive();
                let mut text = first.as_bytes().to_vec();
                join(&mut text, crumb.as_bytes());
                *self = Cookies::Joined { text, sensitive };
            }
            Cookies::Joined { text, sensitive } => {
                *sensitive |= crumb.is_sensitive();
                join(text, crumb.as_bytes());
            }
        }
    }

    /// Puts the one cookie field, if there is one, where the others are.
    pub(super) fn finish(self, fields: &mut HeaderMap) -> Result<(), MessageRule> {
        let cookie = match self {
            Cookies::None => return Ok(()),
            Cookies::One(crumb) => crumb,
            Cookies::Joined { text, sensitive } => {
                let mut joined = HeaderValue::from_maybe_shared(Bytes::from(text))
                    .map_err(|_| MessageRule::FieldValue)?;
                joined.set_sensitive(sensitive);
                joined
            }
        };
        check(&COOKIE, &cookie)?;
        insert(fields, COOKIE, cookie)
    }
}

/// An empty crumb adds nothing: it would leave a blank at the end of the value.
fn join(text: &mut Vec<u8>, crumb: &[u8]) {
    if !text.is_empty() && !crumb.is_empty() {
        text.extend_from_slice(b"; ");
    }
    text.extend_from_slice(crumb);
}
