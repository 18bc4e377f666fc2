//! Responses and trailers, both ways (RFC 9113 §8.1, 8.3.2).
//!
//! Owns: what a response needs, which of them are informational, what trailers may not have. Does
//! not know: streams, or which request is answered.

use bytes::BytesMut;
use http::response::Parts;
use http::{HeaderMap, Response, Version};

use super::content_length::ContentLength;
use super::list::FieldList;
use super::{Head, field, pseudo};
use crate::error::{MessageRule, Misuse, Violation};
use crate::hpack::{Encoder, Pseudo};

impl FieldList {
    /// A response that a server sent: the final one or an informational one.
    pub(crate) fn take_response(&mut self) -> Result<Head, Violation> {
        let (pseudo, fields) = self.finish()?;
        //= RFC 9113 §8.3 pseudo-header fields of requests are not for responses
        if pseudo.has_request() {
            return Err(MessageRule::PseudoDirection.into());
        }
        //= RFC 9113 §8.3.2 a response has a :status, informational ones too
        let status = pseudo.status.ok_or(MessageRule::StatusMissing)?;
        let mut parts = Box::new(Response::new(()).into_parts().0);
        parts.status = status;
        parts.version = Version::HTTP_2;
        parts.headers = fields;
        Ok(match status.is_informational() {
            true => Head::Informational(parts),
            false => Head::Response(parts),
        })
    }

    /// The fields after the content.
    pub(crate) fn take_trailers(&mut self) -> Result<HeaderMap, Violation> {
        let (pseudo, fields) = self.finish()?;
        //= RFC 9113 §8.1 trailers have no pseudo-header fields
        match pseudo.has_request() || pseudo.status.is_some() {
            true => Err(MessageRule::PseudoInTrailers.into()),
            false => Ok(fields),
        }
    }
}

/// A final response that is about to be sent. Answers what it says of its content.
pub(crate) fn check_response(response: &Parts) -> Result<ContentLength, Misuse> {
    pseudo::check_status(response.status)?;
    if response.status.is_informational() {
        return Err(Misuse::InformationalAsResponse);
    }
    Ok(field::check_all(&response.headers)?)
}

/// A 1xx that is about to be sent.
pub(crate) fn check_informational(response: &Parts) -> Result<(), Misuse> {
    if !response.status.is_informational() {
        return Err(Misuse::InvalidInformationalStatusCode);
    }
    pseudo::check_status(response.status)?;
    field::check_all(&response.headers)?;
    Ok(())
}

/// Trailers that are about to be sent.
pub(crate) fn check_trailers(trailers: &HeaderMap) -> Result<(), Misuse> {
    field::check_all(trailers)?;
    Ok(())
}

/// Appends the header block of a response that was checked.
pub(crate) fn encode_response(response: &Parts, encoder: &mut Encoder, out: &mut BytesMut) {
    encoder.begin(out);
    encoder.pseudo(Pseudo::Status, response.status.as_str().as_bytes(), out);
    for (name, value) in &response.headers {
        encoder.field(name, value, out);
    }
}

/// Appends the header block of trailers that were checked.
pub(crate) fn encode_trailers(trailers: &HeaderMap, encoder: &mut Encoder, out: &mut BytesMut) {
    encoder.begin(out);
    for (name, value) in trailers {
        encoder.field(name, value, out);
    }
}
