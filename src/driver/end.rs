//! How a connection ends: last words, shut-down, failed I/O, and who hears of it.
//!
//! Owns: the closing of the I/O and how long it may take. Does not know: why the connection ends;
//! `proto` says that, and with which result. Keeps I7 at the end: whoever waits for anything of the
//! connection gets an error.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Buf;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Driver, Halt, Stage};
use crate::error::Error;
use crate::proto::{Lifecycle, Role};

/// Reads after the end, to empty what the peer still sent.
const LAST_READS: usize = 16;
/// The time that a peer has to take our last words.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time that a client has to close its side after a good end.
const LINGER: Duration = Duration::from_secs(2);

impl<T, B> Driver<T, B>
where
    T: AsyncRead + AsyncWrite + Unpin,
    B: Buf,
{
    /// Shuts the I/O down, and lets everybody know how it ended.
    pub(super) fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let result = match self.connection.lifecycle() {
            Lifecycle::Closed(result) => result,
            _ => Ok(()),
        };
        if !self.is_broken() {
            ready!(self.poll_part(cx, result.is_ok()));
        }
        self.hub.end(result.clone().err().unwrap_or_else(gone));
        self.stage = Stage::Over(result);
        Poll::Ready(())
    }

    /// Closes our side of the I/O. After a good end a server waits until the client closes its own, if
    /// anything wakes it otherwise: what the client sends before it knows would be answered with a
    /// reset, and that takes the end of the last responses away from it.
    fn poll_part(&mut self, cx: &mut Context<'_>, is_good: bool) -> Poll<()> {
        if !matches!(self.stage, Stage::Lingering) {
            // All that matters has been written: how the I/O takes the end changes nothing.
            let _ = ready!(Pin::new(&mut self.io).poll_shutdown(cx));
            if is_good && self.role == Role::Server && self.alarm.has_timer() {
                self.stage = Stage::Lingering;
                self.parting = self.alarm.now().checked_add(LINGER);
                self.hub.end(gone());
            }
        }
        let halt = self.empty_input(cx);
        if !matches!(self.stage, Stage::Lingering) || halt == Halt::Idle {
            return Poll::Ready(());
        }
        if halt == Halt::Bound {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Sets the time for the end when it begins, and gives up when that is over: a peer that does
    /// not read must not keep the connection.
    pub(super) fn watch_end(&mut self, now: Instant) {
        if self.parting.is_none() && self.is_ending() {
            self.parting = now.checked_add(PATIENCE);
        }
        if self.parting.is_some_and(|until| until <= now) {
            self.io_failed(io::ErrorKind::TimedOut.into());
        }
    }

    pub(super) fn read_failed(&mut self, error: io::Error) {
        // TLS says so when the peer just closed. That cuts nothing off if nothing is open.
        let cut_off = error.kind() != io::ErrorKind::UnexpectedEof || self.connection.has_streams();
        if cut_off {
            self.io_failed(error);
        } else {
            self.connection.recv_eof();
        }
    }

    /// From here on the I/O is not touched any more. The connection keeps an earlier, better
    /// reason for its end.
    pub(super) fn io_failed(&mut self, error: io::Error) {
        self.connection.fail(Error::io(error));
        self.stage = Stage::Broken;
    }

    pub(super) fn is_broken(&self) -> bool {
        matches!(self.stage, Stage::Broken | Stage::Over(_))
    }

    fn is_ending(&self) -> bool {
        let lifecycle = self.connection.lifecycle();
        matches!(lifecycle, Lifecycle::Closing | Lifecycle::Closed(_))
    }

    /// Reads while the last words cannot leave: the peer may be waiting for that before it takes
    /// them. What comes is dropped.
    pub(super) fn make_way(&mut self, cx: &mut Context<'_>, wrote: Halt) -> Halt {
        if wrote == Halt::Blocked && self.is_ending() && !self.is_broken() {
            self.empty_input(cx)
        } else {
            Halt::Idle
        }
    }

    /// Reads what the peer had sent by now. TCP answers unread bytes with a reset, and that would
    /// take our last words (a GOAWAY) away from the peer.
    fn empty_input(&mut self, cx: &mut Context<'_>) -> Halt {
        for _ in 0..LAST_READS {
            self.reader.unread().clear();
            match self.reader.poll_read(cx, &mut self.io) {
                Poll::Ready(Ok(1..)) => {}
                Poll::Ready(_) => return Halt::Idle,
                Poll::Pending => return Halt::Blocked,
            }
        }
        Halt::Bound
    }
}

impl<T, B: Buf> Drop for Driver<T, B> {
    fn drop(&mut self) {
        self.connection.fail(gone());
        self.hub.end(gone());
    }
}

/// What handles hear of a connection that has ended, if they hear nothing worse.
fn gone() -> Error {
    let text = "the connection is closed";
    Error::io(io::Error::new(io::ErrorKind::BrokenPipe, text))
}
