//! Doors for the fuzz targets in `fuzz/`, in builds of `cargo fuzz` alone (`--cfg fuzzing`).
//!
//! Owns: how a target reaches what is not public: frames, header blocks, messages. Does not know:
//! connections, which have public doors. Not part of the API.

use bytes::{Bytes, BytesMut};
use http::Request;

use crate::frame::{Cutter, Frame};
use crate::hpack::{self, Budget, Decoder, Encoder};
use crate::message::{self, FieldList, RequestRules};

/// The same octets give the same frames, in whatever pieces they come.
///
/// # Panics
///
/// If they do not.
pub fn frames(octets: &[u8], piece: usize) {
    let whole = cut(octets, octets.len().max(1));
    let pieces = cut(octets, piece.max(1));
    assert_eq!(whole, pieces, "the pieces change nothing");
}

/// The fields of a block, each name and value, or why there are none.
pub type Fields = Result<Vec<(Bytes, Bytes)>, String>;

/// A decoder that lives over several blocks.
#[derive(Debug)]
pub struct BlockDecoder(Decoder);

impl BlockDecoder {
    /// With the table of every connection's beginning.
    #[must_use]
    pub fn new() -> BlockDecoder {
        BlockDecoder(Decoder::new(hpack::DEFAULT_TABLE_SIZE))
    }

    /// Decodes a block within a budget of octets.
    ///
    /// # Panics
    ///
    /// If more is handed out than the budget allows.
    pub fn decode(&mut self, block: &[u8], bytes: usize) -> Fields {
        let mut fields = Vec::new();
        let mut size = 0;
        let budget = Budget {
            bytes,
            fields: usize::MAX,
        };
        let consumed = self.0.decode(block, budget, &mut |field| {
            size += field.size();
            let name = Bytes::copy_from_slice(field.name.as_bytes());
            fields.push((name, Bytes::copy_from_slice(field.value.as_bytes())));
        });
        assert!(size <= bytes, "nothing is handed out beyond the budget");
        let consumed = consumed.map_err(|error| format!("{error:?}"))?;
        assert!(consumed.over || consumed.list_size == size);
        Ok(fields)
    }
}

impl Default for BlockDecoder {
    fn default() -> Self {
        BlockDecoder::new()
    }
}

/// The request in this block, if it is a lawful one. It is encoded and read again on the way.
///
/// # Panics
///
/// If a request that was accepted is not accepted again after our own encoder.
#[must_use]
pub fn request(block: &[u8]) -> Option<Request<()>> {
    let request = read(&mut Decoder::new(hpack::DEFAULT_TABLE_SIZE), block)?;
    let (parts, ()) = request.into_parts();
    let mut encoded = BytesMut::new();
    message::encode_request(&parts, &mut Encoder::new(), &mut encoded);
    let again = read(&mut Decoder::new(hpack::DEFAULT_TABLE_SIZE), &encoded);
    let again = again.expect("what was accepted is accepted again");
    assert_eq!(again.method(), parts.method);
    assert_eq!(again.uri(), &parts.uri);
    assert_eq!(again.headers(), &parts.headers);
    Some(Request::from_parts(parts, ()))
}

fn read(decoder: &mut Decoder, block: &[u8]) -> Option<Request<()>> {
    let mut list = FieldList::new();
    let budget = Budget {
        bytes: 64 * 1024,
        fields: 1024,
    };
    let consumed = decoder.decode(block, budget, &mut |field| list.push(field));
    if consumed.ok()?.over {
        return None;
    }
    let rules = RequestRules {
        extended_connect: true,
        known_authority: None,
    };
    let parts = list.take_request(rules).ok()?;
    Some(Request::from_parts(*parts, ()))
}

fn cut(octets: &[u8], piece: usize) -> Vec<Result<Frame, String>> {
    let mut cutter = Cutter::default();
    let mut buffer = BytesMut::new();
    let mut frames = Vec::new();
    for piece in octets.chunks(piece) {
        buffer.extend_from_slice(piece);
        loop {
            match cutter.cut(&mut buffer, 16_384) {
                Ok(None) => break,
                Ok(Some(frame)) => frames.push(Ok(frame)),
                Err(fault) => frames.push(Err(format!("{fault:?}"))),
            }
        }
        assert!(buffer.len() <= 16_384 + 9, "one frame at most waits");
    }
    frames
}
