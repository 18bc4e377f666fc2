//! Bodies that can be recognised: byte *n* is a function of *n*.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{Stream, stream};
use http_body::Frame;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;

use crate::checks::{Failure, Result, ensure, same};

pub type Body = BoxBody<Bytes, Failure>;

const CHUNK: usize = 16_000;

pub fn pattern(from: usize, length: usize) -> Bytes {
    (from..from + length).map(|at| (at % 251) as u8).collect()
}

pub fn empty() -> Body {
    full(Bytes::new())
}

pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(never).boxed()
}

/// The pattern in chunks.
pub fn chunks(length: usize) -> impl Stream<Item = Result<Bytes>> {
    stream::iter(
        (0..length)
            .step_by(CHUNK)
            .map(move |at| Ok(pattern(at, CHUNK.min(length - at)))),
    )
}

pub fn streamed(length: usize) -> Body {
    frames(futures_util::StreamExt::map(chunks(length), |chunk| {
        chunk.map(Frame::data)
    }))
}

pub fn frames(frames: impl Stream<Item = Result<Frame<Bytes>>> + Send + Sync + 'static) -> Body {
    BodyExt::boxed(StreamBody::new(frames))
}

/// Reads a body to its end and compares it with the pattern.
pub async fn expect_pattern(body: Incoming, length: usize) -> Result {
    let bytes = body.collect().await?.to_bytes();
    same("length", bytes.len(), length)?;
    ensure("the content differs", bytes == pattern(0, length))
}

fn never(error: Infallible) -> Failure {
    match error {}
}
