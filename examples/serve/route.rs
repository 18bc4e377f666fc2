//! Owns which path means what, and who may ask it how. An answer that is ready at once is given at
//! once; only one that takes time gets a task.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Method, Request, StatusCode};

use crate::body::{self, Source};
use crate::files::{self, Asked};
use crate::reply::{self, Responder};
use crate::{page, target};
use fairmux::{Error, RecvStream};

/// Up to here a body is handed over whole.
const AT_ONCE: u64 = body::PIECE as u64;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const BINARY: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// What a path means.
#[derive(Debug, PartialEq, Eq)]
enum Route {
    Index,
    Bytes(Source, u64),
    Echo,
    Sink,
    Status(StatusCode),
    File(PathBuf),
    Nothing,
}

impl Route {
    fn of(path: &str) -> Self {
        let mut segments = path.splitn(3, '/').skip(1);
        match (segments.next(), segments.next()) {
            (Some(""), None) => Self::Index,
            (Some("echo"), None) => Self::Echo,
            (Some("sink"), None) => Self::Sink,
            (Some("bytes"), Some(count)) => Self::bytes(Source::Shared, count),
            (Some("fresh"), Some(count)) => Self::bytes(Source::Fresh, count),
            (Some("status"), Some(code)) => Self::status(code),
            _ => target::relative(path).map_or(Self::Nothing, Self::File),
        }
    }

    fn bytes(source: Source, count: &str) -> Self {
        count
            .parse()
            .map_or(Self::Nothing, |count| Self::Bytes(source, count))
    }

    /// Final ones: 1xx comes before an answer and is none.
    fn status(code: &str) -> Self {
        match code.parse().map(StatusCode::from_u16) {
            Ok(Ok(status)) if (200..600).contains(&status.as_u16()) => Self::Status(status),
            _ => Self::Nothing,
        }
    }

    /// The methods it knows, as `allow` says them; `None` for all.
    fn allow(&self) -> Option<&'static str> {
        match self {
            Self::Sink | Self::Status(_) | Self::Nothing => None,
            Self::Echo => Some("POST"),
            // Whoever probes a server posts to its root.
            Self::Index => Some("GET, HEAD, POST"),
            Self::Bytes(..) | Self::File(_) => Some("GET, HEAD"),
        }
    }

    fn allows(&self, method: &Method) -> bool {
        let is_read = [Method::GET, Method::HEAD].contains(method);
        match self {
            Self::Sink | Self::Status(_) | Self::Nothing => true,
            Self::Echo => method == Method::POST,
            Self::Index => is_read || method == Method::POST,
            Self::Bytes(..) | Self::File(_) => is_read,
        }
    }
}

/// Answers one request.
pub(crate) fn answer(
    root: &Arc<Path>,
    request: Request<RecvStream>,
    respond: Responder,
) -> Result<(), Error> {
    let route = Route::of(request.uri().path());
    tracing::info!(method = %request.method(), path = request.uri().path(), ?route, "request");
    let with_body = request.method() != Method::HEAD;
    if !route.allows(request.method()) {
        let allow = route.allow().unwrap_or_default();
        reply::not_allowed(respond, allow, with_body)?;
        return discard(request);
    }
    match route {
        Route::Index => index(respond, with_body)?,
        Route::Bytes(source, len) => bytes(respond, source, len, with_body)?,
        Route::Echo => return echo(request, respond),
        Route::Sink => return sink(request, respond),
        Route::Status(status) => respond_only(respond, status)?,
        Route::File(relative) => {
            let (parts, _) = request.into_parts();
            let asked = Asked {
                method: parts.method,
                uri: parts.uri,
                fields: parts.headers,
            };
            let root = Arc::clone(root);
            spawn(|| files::answer(root, relative, asked, respond));
            return Ok(());
        }
        Route::Nothing => reply::status(respond, StatusCode::NOT_FOUND, with_body)?,
    }
    discard(request)
}

/// Reads what the client sends although nobody asked for it: a small body costs less than a reset.
fn discard(request: Request<RecvStream>) -> Result<(), Error> {
    let body = request.into_body();
    if !body.is_end_stream() {
        spawn(|| body::discard(body));
    }
    Ok(())
}

fn index(respond: Responder, with_body: bool) -> Result<(), Error> {
    let head = reply::head_of(StatusCode::OK, HTML, page::INDEX.len() as u64);
    reply::whole(
        respond,
        head,
        Bytes::from_static(page::INDEX.as_bytes()),
        with_body,
    )
}

fn bytes(mut respond: Responder, source: Source, len: u64, with_body: bool) -> Result<(), Error> {
    let head = reply::head_of(StatusCode::OK, BINARY, len);
    if len <= AT_ONCE || !with_body {
        let body = source.piece(0, usize::try_from(len).unwrap_or(0));
        return reply::whole(respond, head, body, with_body);
    }
    let stream = respond.send_response(head, false)?;
    spawn(move || body::generate(stream, source, len));
    Ok(())
}

fn echo(request: Request<RecvStream>, mut respond: Responder) -> Result<(), Error> {
    let (parts, body) = request.into_parts();
    let mut head = reply::head(StatusCode::OK);
    let kind = parts
        .headers
        .get(header::CONTENT_TYPE)
        .cloned()
        .unwrap_or(BINARY);
    head.headers_mut().insert(header::CONTENT_TYPE, kind);
    let end = body.is_end_stream();
    let stream = respond.send_response(head, end)?;
    if !end {
        spawn(|| body::echo(body, stream));
    }
    Ok(())
}

fn sink(request: Request<RecvStream>, respond: Responder) -> Result<(), Error> {
    let with_body = request.method() != Method::HEAD;
    let body = request.into_body();
    if body.is_end_stream() {
        return counted(respond, 0, with_body);
    }
    spawn(move || async move { counted(respond, body::count(body).await?, with_body) });
    Ok(())
}

fn counted(respond: Responder, count: u64, with_body: bool) -> Result<(), Error> {
    let body = body::counted(count);
    let head = reply::head_of(StatusCode::OK, reply::TEXT, body.len() as u64);
    reply::whole(respond, head, body, with_body)
}

fn respond_only(mut respond: Responder, status: StatusCode) -> Result<(), Error> {
    respond.send_response(reply::head(status), true).map(drop)
}

/// Gives an answer that takes time a task of its own. Its stream may end early; nobody minds. The future
/// is made where it lies: one that is handed over would lie in the task twice.
fn spawn<F>(answer: impl FnOnce() -> F + Send + 'static)
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    tokio::spawn(async move {
        if let Err(why) = answer().await {
            tracing::debug!("an answer ended early: {why}");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        assert_eq!(Route::of("/"), Route::Index);
        assert_eq!(Route::of("/bytes/10"), Route::Bytes(Source::Shared, 10));
        assert_eq!(Route::of("/fresh/0"), Route::Bytes(Source::Fresh, 0));
        assert_eq!(Route::of("/bytes/18446744073709551616"), Route::Nothing);
        assert_eq!(Route::of("/bytes/-1"), Route::Nothing);
        assert_eq!(Route::of("/echo"), Route::Echo);
        assert_eq!(Route::of("/sink"), Route::Sink);
        assert_eq!(
            Route::of("/status/404"),
            Route::Status(StatusCode::NOT_FOUND)
        );
        assert_eq!(Route::of("/status/100"), Route::Nothing);
        assert_eq!(Route::of("/status/999"), Route::Nothing);
        assert_eq!(Route::of("/echoes"), Route::File("echoes".into()));
        assert_eq!(Route::of("/bytes"), Route::File("bytes".into()));
        assert_eq!(Route::of("/a/b/c"), Route::File("a/b/c".into()));
        assert_eq!(Route::of("/../a"), Route::Nothing);
        assert_eq!(Route::of(""), Route::Nothing);
        assert_eq!(Route::of("*"), Route::Nothing);
    }

    #[test]
    fn methods() {
        for route in [Route::Echo, Route::Index, Route::Bytes(Source::Shared, 1)] {
            let allow = route.allow().unwrap();
            for method in [Method::GET, Method::HEAD, Method::POST, Method::PUT] {
                let is_named = allow.split(", ").any(|name| name == method.as_str());
                assert_eq!(route.allows(&method), is_named, "{route:?} {method}");
            }
        }
        assert!(Route::Echo.allows(&Method::POST));
        assert!(!Route::Echo.allows(&Method::GET));
        assert!(Route::Index.allows(&Method::HEAD));
        assert!(!Route::Index.allows(&Method::PUT));
        assert!(Route::Sink.allows(&Method::from_bytes(b"ANY").unwrap()));
    }
}
