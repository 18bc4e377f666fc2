//! The fields of one block, as they come out of the decoder.
//!
//! Owns: what has come so far, and the first rule that was broken. Does not know: limits (the
//! decoder keeps them), which kind of message the block will be. A fault does not stop the
//! decoding, or the two ends would no longer agree about the table: it is answered at the end.

use std::borrow::Cow;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};

use super::content_length::ContentLength;
use super::field::{self, Cookies, Notes};
use super::pseudo::PseudoFields;
use super::spare;
use crate::error::MessageRule;
use crate::hpack::{Field, Name, Value};

/// Collects the fields of a message.
#[derive(Debug, Default)]
pub(crate) struct FieldList {
    pseudo: PseudoFields,
    fields: HeaderMap,
    cookies: Cookies,
    notes: Notes,
    /// A regular field came: no pseudo-header field may follow.
    regular: bool,
    fault: Option<MessageRule>,
}

impl FieldList {
    pub(crate) fn new() -> FieldList {
        FieldList::default()
    }

    /// The next field of the block. After a fault nothing is kept.
    pub(crate) fn push(&mut self, field: Cow<'_, Field>) {
        if self.fault.is_none() {
            self.fault = self.take(field).err();
        }
    }

    /// What the message says of its content, as far as it is lawful.
    pub(crate) fn content_length(&self) -> ContentLength {
        self.notes.length
    }

    /// Whether it has a `priority` field.
    pub(crate) fn has_priority(&self) -> bool {
        self.notes.has_priority
    }

    pub(super) fn has_host(&self) -> bool {
        self.notes.has_host
    }

    /// The parts, if all of them were lawful by themselves. They are taken from where they lie: a list
    /// is large, and to move it costs more than to read it.
    pub(super) fn finish(&mut self) -> Result<(&mut PseudoFields, HeaderMap), MessageRule> {
        if let Some(rule) = self.fault {
            return Err(rule);
        }
        std::mem::take(&mut self.cookies).finish(&mut self.fields)?;
        Ok((&mut self.pseudo, std::mem::take(&mut self.fields)))
    }

    fn take(&mut self, field: Cow<'_, Field>) -> Result<(), MessageRule> {
        match &field.name {
            Name::Pseudo(_) | Name::UnknownPseudo(_) if self.regular => {
                //= RFC 9113 §8.3 pseudo-header fields come before all others
                Err(MessageRule::PseudoAfterRegular)
            }
            //= RFC 9113 §8.3 only those that are defined
            Name::UnknownPseudo(_) => Err(MessageRule::PseudoUnknown),
            Name::Pseudo(name) => self.pseudo.put(*name, valid(&field.value)?),
            //= RFC 9113 §8.2.1 names are tokens without upper case
            Name::Malformed(_) => Err(MessageRule::FieldName),
            Name::Regular(name) => {
                if !self.regular {
                    self.regular = true;
                    self.fields = spare::map();
                }
                let value = valid(&field.value)?;
                field::check(name, value)?;
                if *name == COOKIE {
                    self.cookies.push(value.clone());
                    return Ok(());
                }
                self.notes.take(name, value)?;
                field::insert(&mut self.fields, name.clone(), value.clone())
            }
        }
    }
}

//= RFC 9113 §8.2.1 values have no NUL, CR, LF, and no blank at either end
fn valid(value: &Value) -> Result<&HeaderValue, MessageRule> {
    match value {
        Value::Valid(value) => Ok(value),
        Value::Malformed(_) => Err(MessageRule::FieldValue),
    }
}
