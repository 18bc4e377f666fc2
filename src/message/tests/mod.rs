//! Tests of the message rules, by subject. Field lists go through the real decoder.

mod content;
mod fields;
mod outgoing;
mod priority;
mod requests;
mod responses;
mod smuggling;

use bytes::BytesMut;
use http::request::Parts;

use super::{FieldList, RequestRules};
use crate::error::{MessageRule, Violation};
use crate::hpack::{Budget, Decoder, Encoder};

type Line<'a> = (&'a [u8], &'a [u8]);

pub(super) const GET: [(&str, &str); 4] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "example.org"),
    (":path", "/a?b=c"),
];

pub(super) fn get_with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&GET[..], more].concat()
}

/// The request with one pseudo-header field replaced, or left out.
pub(super) fn get_but<'a>(name: &str, value: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
    let mut lines: Vec<(&str, &str)> = GET.to_vec();
    lines.retain(|line| line.0 != name || value.is_some());
    for line in lines.iter_mut().filter(|line| line.0 == name) {
        line.1 = value.unwrap_or_default();
    }
    lines
}

pub(super) fn list(lines: &[(&str, &str)]) -> FieldList {
    let lines: Vec<Line<'_>> = lines
        .iter()
        .map(|(n, v)| (n.as_bytes(), v.as_bytes()))
        .collect();
    list_of_bytes(&lines)
}

/// Encodes literals without indexing, so that anything can be said, and decodes them.
pub(super) fn list_of_bytes(lines: &[Line<'_>]) -> FieldList {
    let mut block = Vec::new();
    for (name, value) in lines {
        block.push(0);
        string(name, &mut block);
        string(value, &mut block);
    }
    decode(&block)
}

pub(super) fn decode(block: &[u8]) -> FieldList {
    let mut list = FieldList::new();
    let budget = Budget {
        bytes: usize::MAX >> 1,
        fields: usize::MAX >> 1,
    };
    Decoder::new(4096)
        .decode(block, budget, &mut |field| list.push(field))
        .unwrap();
    list
}

fn string(text: &[u8], out: &mut Vec<u8>) {
    let mut length = text.len();
    if length < 127 {
        out.push(length as u8);
    } else {
        out.push(127);
        length -= 127;
        while length >= 128 {
            out.push((length % 128) as u8 | 128);
            length /= 128;
        }
        out.push(length as u8);
    }
    out.extend_from_slice(text);
}

pub(super) fn request(lines: &[(&str, &str)]) -> Result<Parts, MessageRule> {
    list(lines)
        .take_request(RequestRules::default())
        .map(|parts| *parts)
        .map_err(rule)
}

pub(super) fn refused(lines: &[(&str, &str)]) -> MessageRule {
    request(lines)
        .map(|parts| panic!("accepted: {parts:?}"))
        .unwrap_err()
}

pub(super) fn rule(violation: Violation) -> MessageRule {
    match violation {
        Violation::Message(rule) => rule,
        other => panic!("not a rule of messages: {other}"),
    }
}

/// What an encoder wrote, as names and values.
pub(super) fn lines_of(write: impl FnOnce(&mut Encoder, &mut BytesMut)) -> Vec<(String, String)> {
    let mut block = BytesMut::new();
    write(&mut Encoder::new(), &mut block);
    let mut lines = Vec::new();
    let budget = Budget {
        bytes: usize::MAX >> 1,
        fields: usize::MAX >> 1,
    };
    let mut take = |field: std::borrow::Cow<'_, crate::hpack::Field>| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        lines.push((text(field.name.as_bytes()), text(field.value.as_bytes())));
    };
    Decoder::new(4096)
        .decode(&block, budget, &mut take)
        .unwrap();
    lines
}
