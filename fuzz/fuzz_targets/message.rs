//! Requests: one that we accept, written down for HTTP/1.1, is exactly one request there.

#![no_main]

use http::{Method, Request};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|block: &[u8]| {
    if let Some(request) = fairmux::fuzzing::request(block) {
        check(&request);
    }
});

fn check(request: &Request<()>) {
    let octets = to_http1(request);
    let mut fields = [httparse::EMPTY_HEADER; 1100];
    let mut parsed = httparse::Request::new(&mut fields);
    let status = parsed.parse(&octets).expect("it is one");
    let length = status.unwrap();
    assert_eq!(length, octets.len(), "it is exactly one");
    assert_eq!(parsed.method, Some(request.method().as_str()));
    assert_eq!(parsed.headers.len(), request.headers().len() + 1);
    let lengths = request.headers().get_all("content-length").iter();
    for value in lengths {
        let digits = value.as_bytes();
        assert!(!digits.is_empty() && digits.iter().all(u8::is_ascii_digit));
    }
    for name in ["transfer-encoding", "connection", "upgrade", "keep-alive"] {
        assert!(!request.headers().contains_key(name), "{name}");
    }
}

/// As a gateway would write it.
fn to_http1(request: &Request<()>) -> Vec<u8> {
    let uri = request.uri();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let target = match uri.path_and_query() {
        _ if request.method() == Method::CONNECT => authority,
        Some(path) => path.as_str(),
        None => "/",
    };
    let mut out = format!(
        "{} {target} HTTP/1.1\r\nhost: {authority}\r\n",
        request.method()
    );
    let mut out = std::mem::take(&mut out).into_bytes();
    for (name, value) in request.headers() {
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out
}
