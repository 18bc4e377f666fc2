//! Requests that come in: pseudo-header fields, URI, CONNECT, promises.

use http::{Method, Version};

use super::{GET, get_but, get_with, list, refused, request, rule};
use crate::error::MessageRule;
use crate::ext::Protocol;
use crate::message::RequestRules;

#[test]
fn request_becomes_method_uri_version_and_fields() {
    let parts = request(&get_with(&[("accept", "*/*"), ("x-a", "1"), ("x-a", "2")])).unwrap();
    assert_eq!(parts.method, Method::GET);
    assert_eq!(parts.uri, "https://example.org/a?b=c");
    assert_eq!(parts.version, Version::HTTP_2);
    assert_eq!(parts.headers["accept"], "*/*");
    assert_eq!(parts.headers.get_all("x-a").iter().count(), 2);
}

#[test]
fn request_without_authority_keeps_its_path_and_host() {
    let mut lines = get_but(":authority", None);
    lines.push(("host", "example.org"));
    let parts = request(&lines).unwrap();
    assert_eq!(parts.uri, "/a?b=c");
    assert_eq!(parts.headers["host"], "example.org");
}

#[test]
fn required_pseudo_fields() {
    //= test RFC 9113 §8.3.1
    assert_eq!(
        refused(&get_but(":method", None)),
        MessageRule::MethodMissing
    );
    assert_eq!(
        refused(&get_but(":scheme", None)),
        MessageRule::SchemeMissing
    );
    assert_eq!(refused(&get_but(":path", None)), MessageRule::PathMissing);
}

#[test]
fn pseudo_fields_are_known_single_first_and_of_requests() {
    //= test RFC 9113 §8.3
    assert_eq!(
        refused(&get_with(&[(":foo", "x")])),
        MessageRule::PseudoUnknown
    );
    assert_eq!(
        refused(&get_with(&[(":status", "200")])),
        MessageRule::PseudoDirection
    );
    for line in GET {
        assert_eq!(refused(&get_with(&[line])), MessageRule::PseudoRepeated);
        let mut late = get_but(line.0, None);
        late.extend([("accept", "*/*"), line]);
        assert_eq!(refused(&late), MessageRule::PseudoAfterRegular);
    }
}

#[test]
fn method_is_a_token() {
    //= test RFC 9110 §9.1
    for bad in [
        "",
        "GE T",
        "GET /admin HTTP/1.1",
        "G\u{e9}T",
        "GET:",
        "(GET)",
    ] {
        assert_eq!(
            refused(&get_but(":method", Some(bad))),
            MessageRule::MethodValue,
            "{bad}"
        );
    }
    assert!(request(&get_but(":method", Some("M-SEARCH"))).is_ok());
}

#[test]
fn path_is_absolute_without_blanks_or_fragment() {
    //= test RFC 9113 §8.3.1
    assert_eq!(refused(&get_but(":path", Some(""))), MessageRule::PathEmpty);
    for bad in [
        "a",
        "*",
        "?a",
        "http://x/",
        "/a b",
        "/a\tb",
        "/#f",
        "/a?b#c",
        "**",
    ] {
        assert_eq!(
            refused(&get_but(":path", Some(bad))),
            MessageRule::PathValue,
            "{bad}"
        );
    }
    let mut options = get_but(":path", Some("*"));
    options[0].1 = "OPTIONS";
    assert_eq!(request(&options).unwrap().uri.path(), "*");
}

#[test]
fn path_longer_than_a_uri_can_be_is_refused() {
    let long = format!("/{}", "a".repeat(70_000));
    assert_eq!(
        refused(&get_but(":path", Some(&long))),
        MessageRule::PathValue
    );
}

#[test]
fn scheme_is_valid() {
    for bad in ["", "ht tp", "http:", "http://", "://", "h\u{e9}", "1a", "-"] {
        assert_eq!(
            refused(&get_but(":scheme", Some(bad))),
            MessageRule::SchemeValue,
            "{bad}"
        );
    }
}

#[test]
fn authority_is_a_host_and_perhaps_a_port() {
    //= test RFC 9113 §8.3.1
    for bad in ["user@example.org", "user:pw@example.org", "@example.org"] {
        assert_eq!(
            refused(&get_but(":authority", Some(bad))),
            MessageRule::UserInfo,
            "{bad}"
        );
    }
    for bad in [
        "", ":80", "a b", "a/b", "a?b", "a#b", "a:b", "a:99999", "a:1:2", "a:+1", "[::1",
    ] {
        let lines = get_but(":authority", Some(bad));
        assert_eq!(refused(&lines), MessageRule::AuthorityValue, "{bad}");
    }
    for good in ["a", "a:80", "a:", "127.0.0.1:8080", "[::1]", "[::1]:443"] {
        assert!(
            request(&get_but(":authority", Some(good))).is_ok(),
            "{good}"
        );
    }
}

#[test]
fn host_agrees_with_authority() {
    //= test RFC 9113 §8.3.1
    for bad in ["example.com", "example.org.evil", "", "example.org:8443"] {
        assert_eq!(
            refused(&get_with(&[("host", bad)])),
            MessageRule::HostDiffers,
            "{bad}"
        );
    }
    for good in ["example.org", "EXAMPLE.org", "example.org:443"] {
        assert!(request(&get_with(&[("host", good)])).is_ok(), "{good}");
    }
    // The default port is the scheme's own.
    assert_eq!(
        refused(&get_with(&[("host", "example.org:80")])),
        MessageRule::HostDiffers
    );
    let mut other = get_but(":authority", Some("example.org:443"));
    other.push(("host", "example.org:80"));
    assert_eq!(refused(&other), MessageRule::HostDiffers);
    let twice = get_with(&[("host", "example.org"), ("host", "example.org")]);
    assert_eq!(refused(&twice), MessageRule::SeveralHosts);
    let mut alone = get_but(":authority", None);
    alone.push(("host", "a b"));
    assert_eq!(refused(&alone), MessageRule::HostValue);
}

#[test]
fn connect_has_an_authority_and_nothing_else() {
    //= test RFC 9113 §8.5
    let connect = [(":method", "CONNECT"), (":authority", "example.org:443")];
    let parts = request(&connect).unwrap();
    assert_eq!(parts.uri, "example.org:443");
    assert_eq!(refused(&connect[..1]), MessageRule::AuthorityMissing);
    for more in [(":scheme", "https"), (":path", "/")] {
        let lines = [&connect[..], &[more]].concat();
        assert_eq!(refused(&lines), MessageRule::ConnectSchemeOrPath);
    }
}

#[test]
fn extended_connect_follows_rfc_8441() {
    //= test RFC 8441 §4
    let rules = RequestRules {
        known_authority: None,
        extended_connect: true,
    };
    let take = |lines: &[(&str, &str)]| list(lines).take_request(rules).map_err(rule);
    let mut lines = get_but(":method", Some("CONNECT"));
    lines.push((":protocol", "websocket"));
    let parts = take(&lines).unwrap();
    assert_eq!(parts.uri, "https://example.org/a?b=c");
    assert_eq!(
        parts.extensions.get::<Protocol>().unwrap().as_str(),
        "websocket"
    );

    for (name, rule) in [
        (":scheme", MessageRule::SchemeMissing),
        (":path", MessageRule::PathMissing),
        (":authority", MessageRule::AuthorityMissing),
    ] {
        let without: Vec<_> = lines
            .iter()
            .copied()
            .filter(|line| line.0 != name)
            .collect();
        assert_eq!(take(&without).unwrap_err(), rule);
    }
    let of_get = get_with(&[(":protocol", "websocket")]);
    assert_eq!(
        take(&of_get).unwrap_err(),
        MessageRule::ProtocolWithoutConnect
    );
    lines.last_mut().unwrap().1 = "web socket";
    assert_eq!(take(&lines).unwrap_err(), MessageRule::ProtocolValue);
}

#[test]
fn extended_connect_needs_the_setting() {
    //= test RFC 8441 §3
    let mut lines = get_but(":method", Some("CONNECT"));
    lines.push((":protocol", "websocket"));
    assert_eq!(refused(&lines), MessageRule::ProtocolNotEnabled);
}

#[test]
fn promised_request_is_safe_and_without_content() {
    //= test RFC 9113 §8.4
    let promise = |lines: &[(&str, &str)]| list(lines).take_promised_request().map_err(rule);
    assert!(promise(&GET).is_ok());
    assert!(promise(&get_with(&[("content-length", "0")])).is_ok());
    for bad in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let lines = get_but(":method", Some(bad));
        assert_eq!(promise(&lines).unwrap_err(), MessageRule::PromiseNotSafe);
    }
    let content = get_with(&[("content-length", "1")]);
    assert_eq!(promise(&content).unwrap_err(), MessageRule::PromiseContent);
    let nowhere = get_but(":authority", None);
    assert_eq!(
        promise(&nowhere).unwrap_err(),
        MessageRule::AuthorityMissing
    );
}
