//! Whatever is accepted as a request stays one request when it is written as HTTP/1.1.

use http::Method;
use http::request::Parts;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert_eq, proptest};
use proptest::{collection, prop_oneof, sample};

use super::list_of_bytes;
use crate::message::RequestRules;

/// As a gateway would write it that trusts this crate: no check, no escape.
fn serialize(parts: &Parts) -> Vec<u8> {
    let mut out = Vec::new();
    let target = match parts.method == Method::CONNECT {
        true => parts.uri.authority().unwrap().as_str(),
        false => parts.uri.path_and_query().unwrap().as_str(),
    };
    out.extend_from_slice(format!("{} {target} HTTP/1.1\r\n", parts.method).as_bytes());
    if let Some(authority) = parts.uri.authority() {
        out.extend_from_slice(format!("host: {authority}\r\n").as_bytes());
    }
    let mut content = 0;
    for (name, value) in &parts.headers {
        if name == "host" && parts.uri.authority().is_some() {
            continue;
        }
        if name == "content-length" {
            content = value.to_str().unwrap().parse().unwrap();
        }
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out.resize(out.len() + content, b'x');
    out
}

#[derive(Debug, PartialEq)]
struct Parsed {
    method: Vec<u8>,
    target: Vec<u8>,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
}

/// A strict HTTP/1.1 parser: one request from the front, and what is left.
fn parse(text: &[u8]) -> Result<(Parsed, &[u8]), &'static str> {
    let (line, mut rest) = line(text)?;
    let words: Vec<&[u8]> = line.split(|octet| *octet == b' ').collect();
    let &[method, target, b"HTTP/1.1"] = &words[..] else {
        return Err("request line");
    };
    if !is_token(method) || target.is_empty() || target.iter().any(|o| *o <= 0x20 || *o == 0x7f) {
        return Err("method or target");
    }
    let mut fields: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    loop {
        let (text, after) = self::line(rest)?;
        rest = after;
        if text.is_empty() {
            break;
        }
        let colon = text
            .iter()
            .position(|octet| *octet == b':')
            .ok_or("no colon")?;
        let value = text[colon + 1..].strip_prefix(b" ").ok_or("no blank")?;
        if !is_token(&text[..colon]) {
            return Err("field name");
        }
        fields.push((text[..colon].to_vec(), value.to_vec()));
    }
    let named = |name: &[u8]| {
        fields
            .iter()
            .filter(|field| field.0 == name)
            .collect::<Vec<_>>()
    };
    if !named(b"transfer-encoding").is_empty() || !named(b"connection").is_empty() {
        return Err("framing of HTTP/1");
    }
    let content = match named(b"content-length")[..] {
        [] => 0,
        [one] => std::str::from_utf8(&one.1)
            .unwrap()
            .parse()
            .map_err(|_| "length")?,
        _ => return Err("several lengths"),
    };
    if named(b"host").len() > 1 {
        return Err("several hosts");
    }
    let rest = rest.get(content..).ok_or("content too short")?;
    Ok((
        Parsed {
            method: method.to_vec(),
            target: target.to_vec(),
            fields,
        },
        rest,
    ))
}

fn line(text: &[u8]) -> Result<(&[u8], &[u8]), &'static str> {
    let end = text
        .windows(2)
        .position(|pair| pair == b"\r\n")
        .ok_or("no line end")?;
    if text[..end]
        .iter()
        .any(|octet| matches!(octet, b'\r' | b'\n' | 0))
    {
        return Err("bare CR, LF or NUL");
    }
    Ok((&text[..end], &text[end + 2..]))
}

fn is_token(text: &[u8]) -> bool {
    let tchar = |o: &u8| o.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(o);
    !text.is_empty() && text.iter().all(tchar)
}

/// Pieces that mean something to HTTP/1, and anything else.
fn text() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&str; 20] = [
        "a",
        "/",
        "GET",
        "POST",
        "\r\n",
        "\n",
        "\r",
        "\0",
        " ",
        "\t",
        ":",
        "HTTP/1.1",
        "?",
        "#",
        "@",
        "host",
        "5",
        ",",
        "\r\n\r\nGET / HTTP/1.1\r\n",
        "\u{e9}",
    ];
    let piece = prop_oneof![
        8 => sample::select(&PIECES[..]).prop_map(|text| text.as_bytes().to_vec()),
        1 => collection::vec(any::<u8>(), 1..3),
    ];
    collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn value(usual: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let usual = sample::select(usual).prop_map(|text| text.as_bytes().to_vec());
    let framed = (usual.clone(), text()).prop_map(|(usual, text)| [usual, text].concat());
    prop_oneof![6 => usual, 1 => framed, 1 => text()]
}

type Line = (Vec<u8>, Vec<u8>);

fn named(name: &'static str, usual: &'static [&'static str]) -> impl Strategy<Value = Line> {
    (Just(name.as_bytes().to_vec()), value(usual))
}

fn regular() -> impl Strategy<Value = Line> {
    prop_oneof![
        named("content-length", &["0", "3", "12"]),
        named("host", &["a", "a.b:80"]),
        named("cookie", &["a=b", "c", ""]),
        named("te", &["trailers"]),
        named("transfer-encoding", &["chunked"]),
        named("connection", &["close"]),
        named("x", &["y", ""]),
        (text(), text()),
    ]
}

fn request() -> impl Strategy<Value = Vec<Line>> {
    let pseudo = (
        named(":method", &["GET", "POST", "OPTIONS", "CONNECT"]),
        named(":scheme", &["http", "https"]),
        named(":authority", &["a", "a.b:80"]),
        named(":path", &["/", "/a?b", "*"]),
    );
    (pseudo, collection::vec(regular(), 0..5), any::<u8>()).prop_map(|(pseudo, fields, without)| {
        let (method, scheme, authority, path) = pseudo;
        let connect = method.1 == b"CONNECT";
        let mut lines = vec![method];
        lines.extend([scheme, path].into_iter().filter(|_| !connect));
        lines.extend(Some(authority).filter(|_| connect || without % 4 != 0));
        lines.extend(fields);
        lines
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn accepted_request_is_exactly_one_http_1_request(lines in request()) {
        //= test RFC 9113 §10.3
        let borrowed: Vec<(&[u8], &[u8])> = lines.iter().map(|(n, v)| (&n[..], &v[..])).collect();
        if let Ok(parts) = list_of_bytes(&borrowed).take_request(RequestRules::default()) {
            let text = serialize(&parts);
            let (parsed, rest) = parse(&text).map_err(|why| {
                proptest::test_runner::TestCaseError::fail(format!("{why}: {parts:?}"))
            })?;
            prop_assert_eq!(rest.len(), 0);
            prop_assert_eq!(&parsed.method, &lines[0].1);
            let dropped = usize::from(
                parts.uri.authority().is_some() && !parts.headers.contains_key("host"),
            );
            prop_assert_eq!(parsed.fields.len(), parts.headers.len() + dropped);
        }
    }
}

#[test]
fn the_parser_notices_what_it_is_for() {
    assert!(parse(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").is_ok());
    let two = b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n";
    assert_eq!(parse(two).unwrap().1.len(), 18);
    for bad in [
        &b"GET / x HTTP/1.1\r\n\r\n"[..],
        b"GET / HTTP/1.1\r\na\nb: c\r\n\r\n",
        b"GET / HTTP/1.1\r\na b: c\r\n\r\n",
        b"GET / HTTP/1.1\r\nconnection: c\r\n\r\n",
        b"GET / HTTP/1.1\r\ncontent-length: 3\r\n\r\nab",
    ] {
        assert!(parse(bad).is_err());
    }
}
