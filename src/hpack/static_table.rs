//! RFC 7541 Appendix A: the static table, both ways.
//!
//! Owns the 61 fields as ready `http` values, so that decoding one costs no allocation, and the
//! way back from a name to its index, which is a `match` and no search.

use http::{HeaderName, HeaderValue, header};

use super::{Field, Name, Pseudo, Value};

/// Number of entries; the dynamic table begins behind it.
pub(super) const LEN: usize = 61;

/// What the static table says of a field. Indices count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    Field(usize),
    Name(usize),
    Nothing,
}

/// The entry at `index`, which counts from 1.
pub(super) fn field(index: usize) -> Option<&'static Field> {
    FIELDS.get(index.checked_sub(1)?)
}

pub(super) fn find_pseudo(name: Pseudo, value: &[u8]) -> Match {
    match (name, value) {
        (Pseudo::Authority, b"") => Match::Field(1),
        (Pseudo::Authority, _) => Match::Name(1),
        (Pseudo::Method, b"GET") => Match::Field(2),
        (Pseudo::Method, b"POST") => Match::Field(3),
        (Pseudo::Method, _) => Match::Name(2),
        (Pseudo::Path, b"/") => Match::Field(4),
        (Pseudo::Path, b"/index.html") => Match::Field(5),
        (Pseudo::Path, _) => Match::Name(4),
        (Pseudo::Scheme, b"http") => Match::Field(6),
        (Pseudo::Scheme, b"https") => Match::Field(7),
        (Pseudo::Scheme, _) => Match::Name(6),
        (Pseudo::Status, _) => find_status(value),
        (Pseudo::Protocol, _) => Match::Nothing,
    }
}

fn find_status(value: &[u8]) -> Match {
    match value {
        b"200" => Match::Field(8),
        b"204" => Match::Field(9),
        b"206" => Match::Field(10),
        b"304" => Match::Field(11),
        b"400" => Match::Field(12),
        b"404" => Match::Field(13),
        b"500" => Match::Field(14),
        _ => Match::Name(8),
    }
}

pub(super) fn find_regular(name: &HeaderName, value: &[u8]) -> Match {
    let Some(index) = index_of(name) else {
        return Match::Nothing;
    };
    let same = match index {
        16 => value == b"gzip, deflate",
        _ => value.is_empty(),
    };
    if same {
        Match::Field(index)
    } else {
        Match::Name(index)
    }
}

fn index_of(name: &HeaderName) -> Option<usize> {
    let index = match *name {
        header::ACCEPT_CHARSET => 15,
        header::ACCEPT_ENCODING => 16,
        header::ACCEPT_LANGUAGE => 17,
        header::ACCEPT_RANGES => 18,
        header::ACCEPT => 19,
        header::ACCESS_CONTROL_ALLOW_ORIGIN => 20,
        header::AGE => 21,
        header::ALLOW => 22,
        header::AUTHORIZATION => 23,
        header::CACHE_CONTROL => 24,
        header::CONTENT_DISPOSITION => 25,
        header::CONTENT_ENCODING => 26,
        header::CONTENT_LANGUAGE => 27,
        header::CONTENT_LENGTH => 28,
        header::CONTENT_LOCATION => 29,
        header::CONTENT_RANGE => 30,
        header::CONTENT_TYPE => 31,
        header::COOKIE => 32,
        header::DATE => 33,
        header::ETAG => 34,
        header::EXPECT => 35,
        header::EXPIRES => 36,
        header::FROM => 37,
        header::HOST => 38,
        header::IF_MATCH => 39,
        header::IF_MODIFIED_SINCE => 40,
        header::IF_NONE_MATCH => 41,
        header::IF_RANGE => 42,
        header::IF_UNMODIFIED_SINCE => 43,
        header::LAST_MODIFIED => 44,
        header::LINK => 45,
        header::LOCATION => 46,
        header::MAX_FORWARDS => 47,
        header::PROXY_AUTHENTICATE => 48,
        header::PROXY_AUTHORIZATION => 49,
        header::RANGE => 50,
        header::REFERER => 51,
        header::REFRESH => 52,
        header::RETRY_AFTER => 53,
        header::SERVER => 54,
        header::SET_COOKIE => 55,
        header::STRICT_TRANSPORT_SECURITY => 56,
        header::TRANSFER_ENCODING => 57,
        header::USER_AGENT => 58,
        header::VARY => 59,
        header::VIA => 60,
        header::WWW_AUTHENTICATE => 61,
        _ => return None,
    };
    Some(index)
}

static FIELDS: [Field; LEN] = [
    pseudo(Pseudo::Authority, ""),
    pseudo(Pseudo::Method, "GET"),
    pseudo(Pseudo::Method, "POST"),
    pseudo(Pseudo::Path, "/"),
    pseudo(Pseudo::Path, "/index.html"),
    pseudo(Pseudo::Scheme, "http"),
    pseudo(Pseudo::Scheme, "https"),
    pseudo(Pseudo::Status, "200"),
    pseudo(Pseudo::Status, "204"),
    pseudo(Pseudo::Status, "206"),
    pseudo(Pseudo::Status, "304"),
    pseudo(Pseudo::Status, "400"),
    pseudo(Pseudo::Status, "404"),
    pseudo(Pseudo::Status, "500"),
    regular(header::ACCEPT_CHARSET, ""),
    regular(header::ACCEPT_ENCODING, "gzip, deflate"),
    regular(header::ACCEPT_LANGUAGE, ""),
    regular(header::ACCEPT_RANGES, ""),
    regular(header::ACCEPT, ""),
    regular(header::ACCESS_CONTROL_ALLOW_ORIGIN, ""),
    regular(header::AGE, ""),
    regular(header::ALLOW, ""),
    regular(header::AUTHORIZATION, ""),
    regular(header::CACHE_CONTROL, ""),
    regular(header::CONTENT_DISPOSITION, ""),
    regular(header::CONTENT_ENCODING, ""),
    regular(header::CONTENT_LANGUAGE, ""),
    regular(header::CONTENT_LENGTH, ""),
    regular(header::CONTENT_LOCATION, ""),
    regular(header::CONTENT_RANGE, ""),
    regular(header::CONTENT_TYPE, ""),
    regular(header::COOKIE, ""),
    regular(header::DATE, ""),
    regular(header::ETAG, ""),
    regular(header::EXPECT, ""),
    regular(header::EXPIRES, ""),
    regular(header::FROM, ""),
    regular(header::HOST, ""),
    regular(header::IF_MATCH, ""),
    regular(header::IF_MODIFIED_SINCE, ""),
    regular(header::IF_NONE_MATCH, ""),
    regular(header::IF_RANGE, ""),
    regular(header::IF_UNMODIFIED_SINCE, ""),
    regular(header::LAST_MODIFIED, ""),
    regular(header::LINK, ""),
    regular(header::LOCATION, ""),
    regular(header::MAX_FORWARDS, ""),
    regular(header::PROXY_AUTHENTICATE, ""),
    regular(header::PROXY_AUTHORIZATION, ""),
    regular(header::RANGE, ""),
    regular(header::REFERER, ""),
    regular(header::REFRESH, ""),
    regular(header::RETRY_AFTER, ""),
    regular(header::SERVER, ""),
    regular(header::SET_COOKIE, ""),
    regular(header::STRICT_TRANSPORT_SECURITY, ""),
    regular(header::TRANSFER_ENCODING, ""),
    regular(header::USER_AGENT, ""),
    regular(header::VARY, ""),
    regular(header::VIA, ""),
    regular(header::WWW_AUTHENTICATE, ""),
];

const fn pseudo(name: Pseudo, value: &'static str) -> Field {
    Field {
        name: Name::Pseudo(name),
        value: Value::Valid(HeaderValue::from_static(value)),
    }
}

const fn regular(name: HeaderName, value: &'static str) -> Field {
    Field {
        name: Name::Regular(name),
        value: Value::Valid(HeaderValue::from_static(value)),
    }
}
