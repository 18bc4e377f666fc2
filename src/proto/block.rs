//! A header block as it arrives: HEADERS or PUSH_PROMISE and its CONTINUATIONs, as one.
//!
//! Owns: the fragments of the one block that is open. Does not know: what is in it, what becomes of
//! it. Keeps: its part of I3; the block is bounded in frames, empty frames, octets and time.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};

use super::config::Config;
use crate::error::Violation;
use crate::frame::StreamId;

/// What a header block belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// HEADERS; whether the stream ends behind them.
    Message { end: bool },
    /// PUSH_PROMISE of this stream.
    Promise(StreamId),
}

/// A block whose last fragment has not come.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) id: StreamId,
    pub(super) purpose: Purpose,
    fragments: BytesMut,
    frames: usize,
    empty: usize,
    started: Instant,
}

impl Block {
    pub(super) fn new(id: StreamId, purpose: Purpose, first: &Bytes, now: Instant) -> Block {
        Block {
            id,
            purpose,
            fragments: BytesMut::from(&first[..]),
            frames: 0,
            empty: usize::from(first.is_empty()),
            started: now,
        }
    }

    /// Adds the fragment of a CONTINUATION.
    pub(super) fn push(&mut self, fragment: &Bytes, config: &Config) -> Result<(), Violation> {
        self.frames += 1;
        self.empty += usize::from(fragment.is_empty());
        if self.empty > config.limits.max_empty_continuations {
            return Err(Violation::EmptyContinuations);
        }
        if self.frames > config.continuation_limit() {
            return Err(Violation::TooManyContinuations);
        }
        // Huffman coding may lengthen a string, but not to twice its size with any sane encoder.
        let octets = self.fragments.len() + fragment.len();
        if octets
            > config
                .list_limit()
                .saturating_mul(2)
                .max(config.frame_limit())
        {
            return Err(Violation::HeaderListFarTooLong);
        }
        self.fragments.extend_from_slice(fragment);
        Ok(())
    }

    /// All fragments as one.
    pub(super) fn into_octets(self) -> Bytes {
        self.fragments.freeze()
    }

    /// When the block must be finished.
    pub(super) fn deadline(&self, timeout: Option<Duration>) -> Option<Instant> {
        self.started.checked_add(timeout?)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test needs a first moment")]
mod tests {
    use super::*;

    fn block() -> Block {
        let id = StreamId::new(1);
        let first = Bytes::from_static(b"a");
        Block::new(id, Purpose::Message { end: false }, &first, Instant::now())
    }

    #[test]
    fn fragments_become_one_block() {
        let mut block = block();
        block
            .push(&Bytes::from_static(b"bc"), &Config::default())
            .unwrap();
        block
            .push(&Bytes::from_static(b"d"), &Config::default())
            .unwrap();
        assert_eq!(block.into_octets(), b"abcd"[..]);
    }

    #[test]
    fn the_second_empty_fragment_is_a_fault() {
        let mut block = block();
        assert_eq!(block.push(&Bytes::new(), &Config::default()), Ok(()));
        let second = block.push(&Bytes::new(), &Config::default());
        assert_eq!(second, Err(Violation::EmptyContinuations));
    }

    #[test]
    fn a_block_has_eight_continuations_and_not_one_more() {
        let (mut block, config) = (block(), Config::hardened());
        for _ in 0..8 {
            assert_eq!(block.push(&Bytes::from_static(b"x"), &config), Ok(()));
        }
        let ninth = block.push(&Bytes::from_static(b"x"), &config);
        assert_eq!(ninth, Err(Violation::TooManyContinuations));
    }

    #[test]
    fn a_block_is_never_longer_than_twice_the_list_limit() {
        let (mut block, config) = (block(), Config::hardened());
        let fragment = Bytes::from(vec![0; 16_384]);
        assert_eq!(block.push(&fragment, &config), Ok(()));
        let second = block.push(&fragment, &config);
        assert_eq!(second, Err(Violation::HeaderListFarTooLong));
    }
}
