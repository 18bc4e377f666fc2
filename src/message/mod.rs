//! Messages: field lists to `http` types and back (RFC 9113 §8, RFC 8441, RFC 9218).
//!
//! Owns: what makes a request, a response, trailers well formed, and their content length. Does not
//! know: streams and their states, frames, who is asking. Every check answers a `MessageRule`,
//! which becomes a `Violation` for what came in and a `Misuse` for what goes out.

mod content_length;
mod field;
mod list;
mod priority;
mod pseudo;
mod request;
mod response;
mod spare;

pub(crate) use self::content_length::ContentLength;
pub(crate) use self::list::FieldList;
pub(crate) use self::priority::Priority;
pub(crate) use self::request::{RequestRules, check_promise, check_request, encode_request};
pub(crate) use self::response::{
    check_informational, check_response, check_trailers, encode_response, encode_trailers,
};
pub(crate) use self::spare::keep as keep_map;

/// The head of a message, as it crosses between the connection and the handles.
#[derive(Clone, Debug)]
pub(crate) enum Head {
    /// What a client asks, or what a server promises that it would have asked.
    Request(Box<http::request::Parts>),
    /// The final answer.
    Response(Box<http::response::Parts>),
    /// 1xx: more heads follow.
    Informational(Box<http::response::Parts>),
}

impl Head {
    /// Its fields, when nothing else of it is needed any more.
    pub(crate) fn into_fields(self) -> http::HeaderMap {
        match self {
            Head::Request(request) => request.headers,
            Head::Response(response) | Head::Informational(response) => response.headers,
        }
    }
}

#[cfg(test)]
mod tests;
