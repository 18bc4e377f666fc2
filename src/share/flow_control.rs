//! `FlowControl`: gives window back to the peer as a body is consumed.
//!
//! Owns: the public meaning of received, used and released bytes. Does not know: when a
//! WINDOW_UPDATE is sent. The count itself, which keeps I5, is in `handoff`.

use std::fmt;

use crate::error::Error;
use crate::frame::StreamId;
use crate::handoff::Reader;

/// Gives receive window back to the peer, for one stream and the connection.
///
/// Each stream, and the connection, has a window: the bytes of body that the peer may send before
/// it must wait (RFC 9113, section 5.2). What arrives is taken off both. As the application is
/// done with bytes it calls [`release_capacity`](FlowControl::release_capacity), which adds them
/// to both again.
///
/// Not every call becomes a WINDOW_UPDATE frame: small amounts are gathered until together they
/// are worth one.
///
/// For example, with a window of 1024 bytes: 600 arrive, and the peer may send 424 more. After a
/// release of 200 it may send 624. It does, and must wait. A release of 1024 opens the whole
/// window again.
///
/// A clone acts on the same stream. Clones may outlive the [`RecvStream`]; what was released when
/// that was dropped cannot be released again.
///
/// [`RecvStream`]: crate::RecvStream
#[derive(Clone)]
pub struct FlowControl {
    reader: Reader,
}

impl FlowControl {
    pub(crate) fn new(reader: Reader) -> FlowControl {
        FlowControl { reader }
    }

    /// The identifier of the stream.
    pub fn stream_id(&self) -> StreamId {
        self.reader.id()
    }

    /// The bytes that the peer could still send on this stream.
    ///
    /// Negative if the window was made smaller than what is under way (RFC 9113, section 6.9.2).
    pub fn available_capacity(&self) -> isize {
        self.reader.available_capacity()
    }

    /// The bytes that have arrived and have not been released, read or not.
    pub fn used_capacity(&self) -> usize {
        self.reader.used_capacity()
    }

    /// Gives `size` bytes back, to the window of the stream and to that of the connection.
    ///
    /// # Errors
    ///
    /// `size` is more than what has arrived on the stream and has not been released. Nothing is
    /// released then.
    pub fn release_capacity(&mut self, size: usize) -> Result<(), Error> {
        self.reader.release(size)
    }

    pub(super) fn reader(&self) -> &Reader {
        &self.reader
    }
}

impl fmt::Debug for FlowControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowControl")
            .field("reader", &self.reader)
            .finish()
    }
}
