//! Requests, both ways (RFC 9113 §8.3.1, 8.4, 8.5; RFC 8441).
//!
//! Owns: which pseudo-header fields a request has and how they make a URI, CONNECT, promised
//! requests. Does not know: streams. The rules that both directions share are functions of `http`
//! types, called by `take_request` and by `check_request`.

use bytes::BytesMut;
use http::header::HOST;
use http::request::Parts;
use http::uri::{self, Authority, PathAndQuery, Scheme, Uri};
use http::{HeaderMap, HeaderValue, Method, Request, Version};

use super::content_length::ContentLength;
use super::field;
use super::list::FieldList;
use super::pseudo::{self, PseudoFields};
use crate::error::{MessageRule, Misuse, Violation};
use crate::ext::Protocol;
use crate::hpack::{Encoder, Pseudo};

/// What this end has agreed to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestRules<'a> {
    /// SETTINGS_ENABLE_CONNECT_PROTOCOL was sent.
    pub(crate) extended_connect: bool,
    /// An :authority that was good before. Most requests of a connection name the same one, and
    /// to check it anew costs more than all the other parts of the URI.
    pub(crate) known_authority: Option<&'a Authority>,
}

impl FieldList {
    /// A request that a client sent.
    pub(crate) fn take_request(
        &mut self,
        rules: RequestRules<'_>,
    ) -> Result<Box<Parts>, Violation> {
        Ok(self.request(rules)?)
    }

    /// A request that a server promised to answer.
    pub(crate) fn take_promised_request(&mut self) -> Result<Box<Parts>, Violation> {
        let parts = self.request(RequestRules::default())?;
        promise(&parts)?;
        Ok(parts)
    }

    fn request(&mut self, rules: RequestRules<'_>) -> Result<Box<Parts>, MessageRule> {
        let has_host = self.has_host();
        let (pseudo, fields) = self.finish()?;
        //= RFC 9113 §8.3 :status is not for requests
        if pseudo.status.is_some() {
            return Err(MessageRule::PseudoDirection);
        }
        //= RFC 9113 §8.3.1 a request has a :method
        let method = pseudo.method.take().ok_or(MessageRule::MethodMissing)?;
        let protocol = pseudo.protocol.take();
        //= RFC 8441 §3 only after the server has said that it knows the extension
        if protocol.is_some() && !rules.extended_connect {
            return Err(MessageRule::ProtocolNotEnabled);
        }
        let authority = authority_of(pseudo, rules.known_authority)?;
        let target = Target::new(&method, protocol.is_some(), pseudo, authority)?;
        target.check(&method, protocol.as_ref())?;
        if has_host {
            check_host(&fields, &target)?;
        }
        Ok(into_parts(method, target, fields, protocol))
    }
}

/// A request that a client is about to send.
pub(crate) fn check_request(request: &Parts) -> Result<(), Misuse> {
    let uri = &request.uri;
    let protocol = request.extensions.get::<Protocol>();
    let connect = request.method == Method::CONNECT && protocol.is_none();
    if !connect && uri.scheme().is_none() {
        match uri.authority() {
            Some(_) => return Err(MessageRule::SchemeMissing.into()),
            // What an HTTP/1 proxy forwards has only a path, which is fine: its version says so.
            None if request.version == Version::HTTP_2 => {
                return Err(Misuse::MissingUriSchemeAndAuthority);
            }
            None => {}
        }
    }
    Ok(check_outgoing(request, protocol)?)
}

/// A request that a server is about to promise.
pub(crate) fn check_promise(request: &Parts) -> Result<(), Misuse> {
    if request.uri.scheme().is_none() {
        return Err(Misuse::MissingUriSchemeAndAuthority);
    }
    check_outgoing(request, request.extensions.get::<Protocol>())?;
    Ok(promise(request)?)
}

/// Appends the header block of a request that was checked: pseudo-header fields first.
pub(crate) fn encode_request(request: &Parts, encoder: &mut Encoder, out: &mut BytesMut) {
    let uri = &request.uri;
    let protocol = request.extensions.get::<Protocol>();
    encoder.begin(out);
    encoder.pseudo(Pseudo::Method, request.method.as_str().as_bytes(), out);
    //= RFC 9113 §8.5 CONNECT has no :scheme and no :path
    let connect = request.method == Method::CONNECT && protocol.is_none();
    if !connect {
        let scheme = uri.scheme_str().unwrap_or("http");
        encoder.pseudo(Pseudo::Scheme, scheme.as_bytes(), out);
    }
    if let Some(authority) = uri.authority() {
        encoder.pseudo(Pseudo::Authority, authority.as_str().as_bytes(), out);
    }
    if !connect {
        encode_path(request, encoder, out);
    }
    if let Some(protocol) = protocol {
        encoder.pseudo(Pseudo::Protocol, protocol.as_ref(), out);
    }
    for (name, value) in &request.headers {
        //= RFC 9113 §8.3.1 a Host that differs from :authority is not sent
        if *name != HOST
            || uri
                .authority()
                .is_none_or(|authority| same_host(authority, value, uri.scheme()))
        {
            encoder.field(name, value, out);
        }
    }
}

fn encode_path(request: &Parts, encoder: &mut Encoder, out: &mut BytesMut) {
    let path = request
        .uri
        .path_and_query()
        .map_or("", PathAndQuery::as_str);
    match path.as_bytes() {
        [b'/', ..] | b"*" => encoder.pseudo(Pseudo::Path, path.as_bytes(), out),
        //= RFC 9113 §8.3.1 without a path: * for OPTIONS, a slash for all others
        [] if request.method == Method::OPTIONS => encoder.pseudo(Pseudo::Path, b"*", out),
        // A URI may go from the authority straight to the query.
        query => encoder.pseudo(Pseudo::Path, &[b"/", query].concat(), out),
    }
}

/// Where a request goes: what the URI is made of.
struct Target {
    scheme: Option<Scheme>,
    authority: Option<Authority>,
    path: Option<PathAndQuery>,
}

impl Target {
    fn new(
        method: &Method,
        extended: bool,
        fields: &mut PseudoFields,
        authority: Option<Authority>,
    ) -> Result<Target, MessageRule> {
        let (scheme, path) = (fields.scheme.take(), fields.path.take());
        //= RFC 9113 §8.3.1 the :path * is for OPTIONS
        if *method != Method::OPTIONS && path.as_ref().is_some_and(|path| path.as_str() == "*") {
            return Err(MessageRule::PathValue);
        }
        if *method != Method::CONNECT || extended {
            //= RFC 9113 §8.3.1 a request has a :scheme and a :path
            scheme.as_ref().ok_or(MessageRule::SchemeMissing)?;
            path.as_ref().ok_or(MessageRule::PathMissing)?;
        } else if scheme.is_some() || path.is_some() {
            //= RFC 9113 §8.5 CONNECT has no :scheme and no :path
            return Err(MessageRule::ConnectSchemeOrPath);
        }
        Ok(Target {
            scheme,
            authority,
            path,
        })
    }

    /// The rules about method, authority and protocol together.
    fn check(&self, method: &Method, protocol: Option<&Protocol>) -> Result<(), MessageRule> {
        check_connect(method, self.authority.as_ref(), protocol)
    }

    /// `http` has no URI of a scheme and a path alone: the scheme goes if there is no authority.
    /// The combinations that `new` lets through are all URIs.
    fn into_uri(self) -> Uri {
        let mut parts = uri::Parts::default();
        if self.authority.is_some() {
            parts.scheme = self.scheme;
        }
        parts.authority = self.authority;
        parts.path_and_query = self.path;
        Uri::from_parts(parts).unwrap_or_default()
    }
}

fn authority_of(
    fields: &PseudoFields,
    known: Option<&Authority>,
) -> Result<Option<Authority>, MessageRule> {
    let Some(value) = &fields.authority else {
        return Ok(None);
    };
    match known.filter(|known| known.as_str().as_bytes() == value.as_bytes()) {
        Some(known) => Ok(Some(known.clone())),
        None => pseudo::authority(value).map(Some),
    }
}

fn into_parts(
    method: Method,
    target: Target,
    fields: HeaderMap,
    protocol: Option<Protocol>,
) -> Box<Parts> {
    let mut parts = Box::new(Request::new(()).into_parts().0);
    parts.method = method;
    parts.uri = target.into_uri();
    parts.version = Version::HTTP_2;
    parts.headers = fields;
    if let Some(protocol) = protocol {
        parts.extensions.insert(protocol);
    }
    parts
}

// The rules that both directions share.

fn check_outgoing(request: &Parts, protocol: Option<&Protocol>) -> Result<(), MessageRule> {
    let authority = request.uri.authority();
    if let Some(authority) = authority {
        pseudo::check_authority(authority)?;
    }
    if let Some(protocol) = protocol {
        pseudo::check_protocol(protocol.as_ref())?;
    }
    check_connect(&request.method, authority, protocol)?;
    field::check_all(&request.headers).map(drop)
}

fn check_connect(
    method: &Method,
    authority: Option<&Authority>,
    protocol: Option<&Protocol>,
) -> Result<(), MessageRule> {
    if *method == Method::CONNECT {
        //= RFC 9113 §8.5 :authority says where to connect to
        return authority.map(drop).ok_or(MessageRule::AuthorityMissing);
    }
    //= RFC 8441 §4 :protocol is for CONNECT
    match protocol {
        Some(_) => Err(MessageRule::ProtocolWithoutConnect),
        None => Ok(()),
    }
}

fn promise(request: &Parts) -> Result<(), MessageRule> {
    //= RFC 9113 §8.4 a promised request is safe, cacheable and has no content
    if request.method != Method::GET && request.method != Method::HEAD {
        return Err(MessageRule::PromiseNotSafe);
    }
    if !matches!(
        ContentLength::new(&request.headers)?,
        ContentLength::Unknown | ContentLength::Left(0)
    ) {
        return Err(MessageRule::PromiseContent);
    }
    //= RFC 9113 §8.4.1 a promise names the :authority
    request
        .uri
        .authority()
        .map(drop)
        .ok_or(MessageRule::AuthorityMissing)
}

fn check_host(fields: &HeaderMap, target: &Target) -> Result<(), MessageRule> {
    let Some(host) = fields.get(HOST) else {
        return Ok(());
    };
    match &target.authority {
        //= RFC 9113 §8.3.1 a Host that differs from :authority makes a request malformed
        Some(authority) if !same_host(authority, host, target.scheme.as_ref()) => {
            Err(MessageRule::HostDiffers)
        }
        Some(_) => Ok(()),
        None => pseudo::authority(host)
            .map(drop)
            .map_err(|_| MessageRule::HostValue),
    }
}

/// Letters of a host may differ in case; the default port of the scheme may be named or not.
fn same_host(authority: &Authority, host: &HeaderValue, scheme: Option<&Scheme>) -> bool {
    let (a, b) = (authority.as_str().as_bytes(), host.as_bytes());
    a.eq_ignore_ascii_case(b)
        || without_port(a, scheme).eq_ignore_ascii_case(without_port(b, scheme))
}

fn without_port<'a>(host: &'a [u8], scheme: Option<&Scheme>) -> &'a [u8] {
    let host = host.strip_suffix(b":").unwrap_or(host);
    let port = match scheme.map(Scheme::as_str) {
        Some("https") => ":443",
        Some("http") => ":80",
        _ => return host,
    };
    host.strip_suffix(port.as_bytes()).unwrap_or(host)
}
