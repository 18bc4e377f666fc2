//! The content that a message announces, counted as it passes.
//!
//! Owns: the value of `content-length` and what is left of it. Does not know: DATA frames, padding,
//! windows. Serves both directions.

use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::error::MessageRule;

/// How much content may still come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ContentLength {
    /// The message does not say.
    #[default]
    Unknown,
    /// So many octets, no more and no fewer.
    Left(u64),
    /// The message cannot have content, whatever length it names: the answer to HEAD, 204, 304.
    None,
}

impl ContentLength {
    /// What the head of a message announces.
    pub(crate) fn new(headers: &HeaderMap) -> Result<ContentLength, MessageRule> {
        let mut values = headers.get_all(CONTENT_LENGTH).iter();
        let Some(first) = values.next() else {
            return Ok(ContentLength::Unknown);
        };
        match values.next() {
            Some(_) => Err(MessageRule::ContentLengthValue),
            None => ContentLength::parse(first),
        }
    }

    /// What the value of the field says.
    pub(super) fn parse(value: &HeaderValue) -> Result<ContentLength, MessageRule> {
        //= RFC 9110 §8.6 several lengths, lists of them and signs are not one number
        parse(value.as_bytes())
            .map(ContentLength::Left)
            .ok_or(MessageRule::ContentLengthValue)
    }

    /// What it means in an answer: `to_head` says that HEAD was the question.
    pub(crate) fn of_answer(self, status: StatusCode, to_head: bool) -> ContentLength {
        //= RFC 9113 §8.1.1 answers to HEAD, 204 and 304 may name a length and have no content
        match to_head || matches!(status.as_u16(), 204 | 304) {
            true => ContentLength::None,
            false => self,
        }
    }

    /// So many octets of content passed.
    pub(crate) fn recv(&mut self, octets: usize) -> Result<(), MessageRule> {
        match self {
            ContentLength::Unknown => Ok(()),
            ContentLength::None if octets == 0 => Ok(()),
            ContentLength::None => Err(MessageRule::ContentForbidden),
            ContentLength::Left(left) => {
                //= RFC 9113 §8.1.1 content-length must equal the sum of the DATA payloads
                *left = left
                    .checked_sub(octets as u64)
                    .ok_or(MessageRule::ContentLengthExceeded)?;
                Ok(())
            }
        }
    }

    /// The content is over.
    pub(crate) const fn end(&self) -> Result<(), MessageRule> {
        match self {
            ContentLength::Unknown | ContentLength::None | ContentLength::Left(0) => Ok(()),
            ContentLength::Left(_) => Err(MessageRule::ContentLengthMissed),
        }
    }
}

fn parse(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |sum, octet| {
        let digit = octet.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
