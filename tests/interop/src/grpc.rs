//! A gRPC service whose messages are octets: `grpc_peer.py` has the same one.
//!
//! The request's metadata say what is to happen: `sleep-ms`, `fail` (a code), `fail-after`
//! (messages), `count`, `size`. What begins with `x-` comes back.

use bytes::{Buf, BufMut, Bytes};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::{KeyAndValueRef, MetadataMap};
use tonic::{Code, Request, Status};

pub const UNARY: &str = "/interop.Echo/Unary";
pub const SERVER_STREAM: &str = "/interop.Echo/ServerStream";
pub const CLIENT_STREAM: &str = "/interop.Echo/ClientStream";
pub const BOTH: &str = "/interop.Echo/Both";
pub const ACTIVE: &str = "/interop.Echo/Active";
pub const LARGE: usize = 64 << 20;

#[derive(Clone, Copy, Debug, Default)]
pub struct Octets;

impl Codec for Octets {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Octets;
    type Decoder = Octets;

    fn encoder(&mut self) -> Octets {
        Octets
    }

    fn decoder(&mut self) -> Octets {
        Octets
    }
}

impl Encoder for Octets {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put(item);
        Ok(())
    }
}

impl Decoder for Octets {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

/// The number under `name`.
pub fn number<T>(request: &Request<T>, name: &str) -> Option<u64> {
    request.metadata().get(name)?.to_str().ok()?.parse().ok()
}

/// What the request asks for as its status, if not success.
pub fn failure<T>(request: &Request<T>) -> Option<Status> {
    let code = number(request, "fail")?;
    let details = Bytes::from_static(b"\x00details\xff");
    let metadata = echoed(request.metadata());
    let code = Code::from_i32(code as i32);
    Some(Status::with_details_and_metadata(
        code,
        "as asked: ü%",
        details,
        metadata,
    ))
}

/// The metadata that come back.
pub fn echoed(metadata: &MetadataMap) -> MetadataMap {
    let mut echoed = MetadataMap::new();
    for entry in metadata.iter() {
        match entry {
            KeyAndValueRef::Ascii(key, value) if key.as_str().starts_with("x-") => {
                echoed.append(key.clone(), value.clone());
            }
            KeyAndValueRef::Binary(key, value) if key.as_str().starts_with("x-") => {
                echoed.append_bin(key.clone(), value.clone());
            }
            _ => (),
        }
    }
    echoed
}
