//! Tests of the layer: the examples of RFC 7541, one test for each of its rules, and comparison
//! with another implementation.

mod appendix_c;
mod encoding;
mod properties;
mod rules;

use bytes::BytesMut;
use http::{HeaderName, HeaderValue};

use super::{Budget, Consumed, DecodeError, Decoder, Encoder, Field, Name, Pseudo};

/// A field as plain octets.
type Plain = (Vec<u8>, Vec<u8>);

const NO_LIMIT: Budget = Budget {
    bytes: usize::MAX,
    fields: usize::MAX,
};

fn plain(name: &str, value: &str) -> Plain {
    (name.into(), value.into())
}

fn to_plain(field: &Field) -> Plain {
    (
        field.name.as_bytes().to_vec(),
        field.value.as_bytes().to_vec(),
    )
}

/// Octets from hexadecimal digits; blanks are for the eye.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits
        .bytes()
        .filter(|octet| !octet.is_ascii_whitespace())
        .collect();
    let digit = |octet: u8| (octet as char).to_digit(16).unwrap() as u8;
    digits
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

fn decode_within(
    decoder: &mut Decoder,
    block: &[u8],
    budget: Budget,
) -> Result<(Vec<Field>, Consumed), DecodeError> {
    let mut fields = Vec::new();
    let consumed = decoder.decode(block, budget, &mut |field| fields.push(field.into_owned()))?;
    Ok((fields, consumed))
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Plain>, DecodeError> {
    let (fields, _) = decode_within(decoder, block, NO_LIMIT)?;
    Ok(fields.iter().map(to_plain).collect())
}

/// What a fresh decoder says of a block that it must refuse.
fn fault(block: &str) -> DecodeError {
    decode(&mut Decoder::new(4096), &hex(block)).unwrap_err()
}

fn encode(encoder: &mut Encoder, fields: &[Plain]) -> Vec<u8> {
    let mut out = BytesMut::new();
    encoder.begin(&mut out);
    for (name, value) in fields {
        match Name::from_bytes(name) {
            Name::Pseudo(pseudo) => encoder.pseudo(pseudo, value, &mut out),
            Name::Regular(name) => {
                encoder.field(&name, &HeaderValue::from_bytes(value).unwrap(), &mut out);
            }
            other => panic!("not to be sent: {other:?}"),
        }
    }
    out.to_vec()
}

fn encode_one(encoder: &mut Encoder, name: &'static str, value: &HeaderValue) -> Vec<u8> {
    let mut out = BytesMut::new();
    encoder.field(&HeaderName::from_static(name), value, &mut out);
    out.to_vec()
}

fn encode_pseudo(encoder: &mut Encoder, name: Pseudo, value: &str) -> Vec<u8> {
    let mut out = BytesMut::new();
    encoder.pseudo(name, value.as_bytes(), &mut out);
    out.to_vec()
}
