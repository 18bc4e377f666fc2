//! What is answered: the same heads and the same bytes for every library.

use std::cell::RefCell;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Request, Response};

/// Up to here a body is handed over whole.
pub(super) const AT_ONCE: u64 = 64 * 1024;

/// The longest piece of a body.
pub(super) const LONGEST: usize = 256 * 1024;

static PAGE: [u8; LONGEST] = [b'f'; LONGEST];

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Bytes(u64),
    Sink,
    Wait,
}

impl Asked {
    pub(super) fn of<B>(request: &Request<B>) -> Asked {
        let path = request.uri().path();
        match path.strip_prefix("/bytes/").map(str::parse) {
            Some(Ok(length)) => Asked::Bytes(length),
            _ if path == "/sink" => Asked::Sink,
            _ => Asked::Wait,
        }
    }
}

/// At most `wish` bytes.
pub(super) fn piece(wish: u64) -> Bytes {
    let length = usize::try_from(wish).unwrap_or(LONGEST).min(LONGEST);
    Bytes::from_static(&PAGE[..length])
}

/// The head of an answer with so many bytes.
pub(super) fn head<B>(length: u64, body: B) -> Response<B> {
    let mut head = Response::new(body);
    let fields = head.headers_mut();
    fields.insert(header::DATE, date());
    let kind = HeaderValue::from_static("application/octet-stream");
    fields.insert(header::CONTENT_TYPE, kind);
    fields.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    head
}

/// The date of now, made once a second.
fn date() -> HeaderValue {
    thread_local! {
        static LAST: RefCell<Option<(Duration, HeaderValue)>> = const { RefCell::new(None) };
    }
    let now = SystemTime::now();
    let second = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(Duration::ZERO, |since| Duration::from_secs(since.as_secs()));
    LAST.with_borrow_mut(|last| match last {
        Some((made, value)) if *made == second => value.clone(),
        _ => {
            let text = httpdate::fmt_http_date(now);
            let value = HeaderValue::try_from(text).expect("a date is a valid value");
            *last = Some((second, value.clone()));
            value
        }
    })
}
