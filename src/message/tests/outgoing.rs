//! Messages that go out: the same rules as misuse, and what reaches the wire.

use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, Version};

use super::lines_of;
use crate::error::{MessageRule, Misuse};
use crate::ext::Protocol;
use crate::message::{
    ContentLength, check_informational, check_promise, check_request, check_response,
    check_trailers, encode_request, encode_response, encode_trailers,
};

fn parts(method: Method, uri: &str, fields: &[(&'static str, &'static str)]) -> Parts {
    let mut request = Request::builder()
        .method(method)
        .uri(uri)
        .version(Version::HTTP_2);
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn get(uri: &str) -> Parts {
    parts(Method::GET, uri, &[])
}

fn wire(request: &Parts) -> Vec<(String, String)> {
    assert_eq!(check_request(request), Ok(()));
    lines_of(|encoder, out| encode_request(request, encoder, out))
}

fn pairs(lines: &[(String, String)]) -> Vec<(&str, &str)> {
    lines
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

const CONNECTION_FIELDS: [&str; 5] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

#[test]
fn request_is_written_pseudo_first() {
    let request = parts(
        Method::POST,
        "https://example.org/a?b",
        &[("accept", "*/*")],
    );
    assert_eq!(
        pairs(&wire(&request)),
        [
            (":method", "POST"),
            (":scheme", "https"),
            (":authority", "example.org"),
            (":path", "/a?b"),
            ("accept", "*/*"),
        ]
    );
}

#[test]
fn relative_uri_needs_an_http_1_version() {
    let mut request = get("/a");
    assert_eq!(
        check_request(&request),
        Err(Misuse::MissingUriSchemeAndAuthority)
    );
    request.version = Version::HTTP_11;
    assert_eq!(
        pairs(&wire(&request)),
        [(":method", "GET"), (":scheme", "http"), (":path", "/a")]
    );
    let missing = Misuse::MalformedHeaders(MessageRule::SchemeMissing);
    assert_eq!(check_request(&get("example.org:80")), Err(missing));
}

#[test]
fn path_is_never_empty() {
    //= test RFC 9113 §8.3.1
    let path = |request: &Parts| {
        wire(request)
            .into_iter()
            .find(|line| line.0 == ":path")
            .unwrap()
            .1
    };
    assert_eq!(path(&get("http://example.org")), "/");
    assert_eq!(path(&get("http://example.org?a")), "/?a");
    let mut options = parts(Method::OPTIONS, "*", &[]);
    options.version = Version::HTTP_11;
    assert_eq!(path(&options), "*");
}

#[test]
fn connect_is_written_without_scheme_and_path() {
    //= test RFC 9113 §8.5
    for uri in ["example.org:443", "https://example.org:443/"] {
        let lines = wire(&parts(Method::CONNECT, uri, &[]));
        assert_eq!(
            pairs(&lines),
            [(":method", "CONNECT"), (":authority", "example.org:443")]
        );
    }
    let nowhere = parts(Method::CONNECT, "/", &[]);
    let missing = Misuse::MalformedHeaders(MessageRule::AuthorityMissing);
    assert_eq!(check_request(&nowhere), Err(missing));
}

#[test]
fn extended_connect_is_written_with_its_protocol() {
    //= test RFC 8441 §4
    let mut request = parts(Method::CONNECT, "https://example.org/chat", &[]);
    request
        .extensions
        .insert(Protocol::from_static("websocket"));
    assert_eq!(
        pairs(&wire(&request)),
        [
            (":method", "CONNECT"),
            (":scheme", "https"),
            (":authority", "example.org"),
            (":path", "/chat"),
            (":protocol", "websocket"),
        ]
    );
    request.method = Method::GET;
    let rule = Misuse::MalformedHeaders(MessageRule::ProtocolWithoutConnect);
    assert_eq!(check_request(&request), Err(rule));
    request.method = Method::CONNECT;
    request.extensions.insert(Protocol::from("a b"));
    let rule = Misuse::MalformedHeaders(MessageRule::ProtocolValue);
    assert_eq!(check_request(&request), Err(rule));
}

#[test]
fn connection_fields_are_never_sent() {
    //= test RFC 9113 §8.2.2
    let rule = Misuse::MalformedHeaders(MessageRule::ConnectionField);
    for name in CONNECTION_FIELDS {
        let request = parts(Method::GET, "http://a/", &[(name, "x")]);
        assert_eq!(check_request(&request), Err(rule));
        assert_eq!(check_promise(&request), Err(rule));
        let mut response = Response::new(()).into_parts().0;
        response.headers.insert(name, HeaderValue::from_static("x"));
        assert_eq!(check_response(&response), Err(rule));
        assert_eq!(check_trailers(&response.headers), Err(rule));
        response.status = http::StatusCode::EARLY_HINTS;
        assert_eq!(check_informational(&response), Err(rule));
    }
    let te = parts(Method::GET, "http://a/", &[("te", "gzip")]);
    assert_eq!(
        check_request(&te),
        Err(Misuse::MalformedHeaders(MessageRule::TeValue))
    );
}

#[test]
fn names_that_are_no_token_are_not_sent() {
    //= test RFC 9113 §8.2.1
    // One of the ways to make a name lets a quotation mark through.
    let name = http::HeaderName::from_lowercase(b"a\"b").unwrap();
    let mut request = get("http://a/");
    request.headers.insert(name, "1".parse().unwrap());
    let refused = Err(MessageRule::FieldName.into());
    assert_eq!(check_request(&request), refused);
}

#[test]
fn values_with_outer_blanks_are_not_sent() {
    //= test RFC 9113 §8.2.1
    let rule = Misuse::MalformedHeaders(MessageRule::FieldValue);
    for value in [" a", "a ", "\ta", "a\t"] {
        let mut fields = HeaderMap::new();
        fields.insert("x", HeaderValue::from_str(value).unwrap());
        assert_eq!(check_trailers(&fields), Err(rule));
    }
}

#[test]
fn authority_is_sent_without_user_information() {
    //= test RFC 9113 §8.3.1
    let rule = Misuse::MalformedHeaders(MessageRule::UserInfo);
    assert_eq!(check_request(&get("http://user@example.org/")), Err(rule));
}

#[test]
fn host_that_differs_is_left_out() {
    //= test RFC 9113 §8.3.1
    let has_host = |value| {
        let request = parts(Method::GET, "http://example.org/", &[("host", value)]);
        wire(&request).iter().any(|line| line.0 == "host")
    };
    assert!(has_host("example.org"));
    assert!(!has_host("other.example"));
    let twice = parts(Method::GET, "http://a/", &[("host", "a"), ("host", "a")]);
    let rule = Misuse::MalformedHeaders(MessageRule::SeveralHosts);
    assert_eq!(check_request(&twice), Err(rule));
}

#[test]
fn length_is_one_number() {
    //= test RFC 9110 §8.6
    let rule = Misuse::MalformedHeaders(MessageRule::ContentLengthValue);
    let request = parts(Method::POST, "http://a/", &[("content-length", "+1")]);
    assert_eq!(check_request(&request), Err(rule));
    let twice = [("content-length", "1"), ("content-length", "1")];
    assert_eq!(
        check_request(&parts(Method::POST, "http://a/", &twice)),
        Err(rule)
    );
}

#[test]
fn statuses_go_where_they_belong() {
    let with = |status: u16| {
        Response::builder()
            .status(status)
            .body(())
            .unwrap()
            .into_parts()
            .0
    };
    assert_eq!(check_response(&with(200)), Ok(ContentLength::Unknown));
    assert_eq!(
        check_response(&with(103)),
        Err(Misuse::InformationalAsResponse)
    );
    assert_eq!(check_informational(&with(103)), Ok(()));
    assert_eq!(
        check_informational(&with(200)),
        Err(Misuse::InvalidInformationalStatusCode)
    );
    //= test RFC 9113 §8.6
    let rule = Misuse::MalformedHeaders(MessageRule::SwitchingProtocols);
    assert_eq!(check_informational(&with(101)), Err(rule));
    assert_eq!(check_response(&with(101)), Err(rule));
}

#[test]
fn promise_is_complete_and_safe() {
    //= test RFC 9113 §8.4
    assert_eq!(check_promise(&get("https://a/style.css")), Ok(()));
    assert_eq!(
        check_promise(&get("/style.css")),
        Err(Misuse::MissingUriSchemeAndAuthority)
    );
    let rule = Misuse::MalformedHeaders(MessageRule::PromiseNotSafe);
    assert_eq!(
        check_promise(&parts(Method::POST, "https://a/", &[])),
        Err(rule)
    );
    let rule = Misuse::MalformedHeaders(MessageRule::PromiseContent);
    let content = parts(Method::GET, "https://a/", &[("content-length", "1")]);
    assert_eq!(check_promise(&content), Err(rule));
}

#[test]
fn response_and_trailers_are_written() {
    let response = Response::builder()
        .status(404)
        .header("a", "b")
        .body(())
        .unwrap();
    let (response, ()) = response.into_parts();
    let lines = lines_of(|encoder, out| encode_response(&response, encoder, out));
    assert_eq!(pairs(&lines), [(":status", "404"), ("a", "b")]);
    let lines = lines_of(|encoder, out| encode_trailers(&response.headers, encoder, out));
    assert_eq!(pairs(&lines), [("a", "b")]);
}
