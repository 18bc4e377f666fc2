//! Owns the heads of answers, and the answers that are ready at once. Knows nothing of files.

use std::cell::RefCell;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{Response, StatusCode};

use crate::conditions;
use fairmux::server::SendResponse;
use fairmux::{Error, SendStream};

/// Plain text, for people.
pub(crate) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// What this program writes bodies to.
pub(crate) type Sender = SendStream<Bytes>;

/// What this program answers through.
pub(crate) type Responder = SendResponse<Bytes>;

/// A head with the status and the date.
pub(crate) fn head(status: StatusCode) -> Response<()> {
    let mut head = Response::new(());
    *head.status_mut() = status;
    if let Some(date) = today() {
        head.headers_mut().insert(header::DATE, date);
    }
    head
}

/// A head for `len` bytes of `kind`.
pub(crate) fn head_of(status: StatusCode, kind: HeaderValue, len: u64) -> Response<()> {
    let mut head = head(status);
    head.headers_mut().insert(header::CONTENT_TYPE, kind);
    head.headers_mut()
        .insert(header::CONTENT_LENGTH, decimal(len));
    head
}

/// The number as a field's value, in memory of its size.
fn decimal(mut number: u64) -> HeaderValue {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    HeaderValue::from_bytes(&digits[first..]).expect("digits are lawful")
}

/// Sends an answer whose body is here already. `with_body` is false for HEAD.
pub(crate) fn whole(
    mut respond: Responder,
    head: Response<()>,
    body: Bytes,
    with_body: bool,
) -> Result<(), Error> {
    let end = !with_body || body.is_empty();
    let mut stream = respond.send_response(head, end)?;
    if end {
        Ok(())
    } else {
        stream.send_data(body, true)
    }
}

/// Says the status in words.
pub(crate) fn status(respond: Responder, status: StatusCode, with_body: bool) -> Result<(), Error> {
    let (head, body) = in_words(status);
    whole(respond, head, body, with_body)
}

/// 405, with the methods that would have been right.
pub(crate) fn not_allowed(
    respond: Responder,
    allow: &'static str,
    with_body: bool,
) -> Result<(), Error> {
    let (mut head, body) = in_words(StatusCode::METHOD_NOT_ALLOWED);
    let allow = HeaderValue::from_static(allow);
    head.headers_mut().insert(header::ALLOW, allow);
    whole(respond, head, body, with_body)
}

fn in_words(status: StatusCode) -> (Response<()>, Bytes) {
    let body = Bytes::from_static(status.canonical_reason().unwrap_or("").as_bytes());
    (head_of(status, TEXT, body.len() as u64), body)
}

/// A date as a field's value.
pub(crate) fn date(time: SystemTime) -> Option<HeaderValue> {
    let date = httpdate::fmt_http_date(conditions::date(time)?);
    HeaderValue::try_from(date).ok()
}

/// The date of now, made once a second.
fn today() -> Option<HeaderValue> {
    thread_local! {
        static LAST: RefCell<Option<(SystemTime, HeaderValue)>> = const { RefCell::new(None) };
    }
    let now = conditions::date(SystemTime::now())?;
    LAST.with_borrow_mut(|last| match last {
        Some((second, value)) if *second == now => Some(value.clone()),
        _ => {
            let value = date(now)?;
            *last = Some((now, value.clone()));
            Some(value)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_are() {
        for number in [0, 9, 10, 116, 16_384, u64::MAX] {
            assert_eq!(decimal(number), HeaderValue::from(number));
        }
    }
}
