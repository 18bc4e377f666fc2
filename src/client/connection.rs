//! The connection of a client: the future that does all its work.
//!
//! Owns: `handshake` and `Connection`. Does not know: how a turn goes (`driver`), what a frame is.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Builder, SendRequest};
use crate::driver::Driver;
use crate::error::Error;
use crate::proto::Stats;
use crate::share::{self, PingPong};

/// Starts a client connection over `io` with the default options; see [`Builder::handshake`].
///
/// # Errors
///
/// If `io` cannot be written to.
///
/// # Examples
///
/// ```
/// # use tokio::io::{AsyncRead, AsyncWrite};
/// # async fn doc<T: AsyncRead + AsyncWrite + Unpin>(io: T) -> Result<(), fairmux::Error> {
/// let (requests, connection) = fairmux::client::handshake(io).await?;
/// // `connection` goes to a task of its own; `requests` starts streams.
/// # Ok(())
/// # }
/// ```
pub async fn handshake<T>(io: T) -> Result<(SendRequest<Bytes>, Connection<T, Bytes>), Error>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    Builder::new().handshake(io).await
}

/// A client's connection: a future that must be polled for anything to move.
///
/// It reads and writes for all streams, so [`SendRequest`], [`ResponseFuture`], [`SendStream`] and
/// [`RecvStream`] only make progress while it is polled; most programs spawn it as a task. It ends
/// with `Ok` when the server has closed the connection in good order, or when no `SendRequest` and
/// no stream is left: then it says GOAWAY(NO_ERROR) and shuts `io` down. It ends with an error
/// otherwise, which every handle gets as well. Dropping it drops `io` and fails all handles.
///
/// [`ResponseFuture`]: crate::client::ResponseFuture
/// [`SendStream`]: crate::SendStream
/// [`RecvStream`]: crate::RecvStream
#[must_use = "futures do nothing unless polled"]
pub struct Connection<T, B: Buf = Bytes> {
    driver: Box<Driver<T, B>>,
    pings_taken: bool,
}

/// Drives the connection until the preface has left.
pub(super) async fn begin<T, B>(
    mut driver: Box<Driver<T, B>>,
) -> Result<(SendRequest<B>, Connection<T, B>), Error>
where
    T: AsyncRead + AsyncWrite + Unpin,
    B: Buf,
{
    // Before the first turn: a client without any would end.
    let requests = SendRequest::new(driver.hub().clone());
    poll_fn(|cx| driver.poll_handshake(cx)).await?;
    Ok((
        requests,
        Connection {
            driver,
            pings_taken: false,
        },
    ))
}

impl<T, B> Connection<T, B>
where
    T: AsyncRead + AsyncWrite + Unpin,
    B: Buf,
{
    /// Sets the window of the whole connection that is aimed at: the octets of DATA that may be
    /// on their way or unread, of all streams together.
    ///
    /// More than now is given to the server at once with a WINDOW_UPDATE; less is reached by
    /// keeping back credit as it is released. Default: 65 535, or what
    /// [`Builder::initial_connection_window_size`] says.
    ///
    /// # Panics
    ///
    /// If `size` exceeds 2^31-1.
    pub fn set_target_window_size(&mut self, size: u32) {
        share::assert_window_size(size);
        self.driver.command().user_set_target_window(size);
    }

    /// Sets the window of each stream, also of those that are open already.
    ///
    /// It is announced with SETTINGS and holds once the server has acknowledged it
    /// ([RFC 9113 section 6.9.2](https://www.rfc-editor.org/rfc/rfc9113.html#section-6.9.2)).
    ///
    /// # Errors
    ///
    /// If an earlier change has not been acknowledged yet.
    ///
    /// # Panics
    ///
    /// If `size` exceeds 2^31-1.
    pub fn set_initial_window_size(&mut self, size: u32) -> Result<(), Error> {
        share::assert_window_size(size);
        Ok(self.driver.command().user_set_initial_window(size)?)
    }

    /// The handle that sends PINGs; `None` from the second call on.
    pub fn ping_pong(&mut self) -> Option<PingPong> {
        let first = !std::mem::replace(&mut self.pings_taken, true);
        first.then(|| PingPong::new(self.driver.hub().shared().clone()))
    }

    /// How many streams this client may have open at once: the server's
    /// SETTINGS_MAX_CONCURRENT_STREAMS, or what [`Builder::initial_max_send_streams`] says until
    /// that has come.
    pub fn max_concurrent_send_streams(&self) -> usize {
        self.driver.hub().shared().max_send_streams()
    }

    /// How many streams the server may have open at once: our SETTINGS_MAX_CONCURRENT_STREAMS, once
    /// the server has acknowledged it ([`Builder::max_concurrent_streams`]).
    pub fn max_concurrent_recv_streams(&self) -> usize {
        self.driver.hub().shared().max_recv_streams()
    }

    /// What this connection has done so far, in numbers.
    pub fn stats(&self) -> Stats {
        self.driver.stats()
    }
}

impl<T, B> Future for Connection<T, B>
where
    T: AsyncRead + AsyncWrite + Unpin,
    B: Buf,
{
    type Output = Result<(), Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().driver.poll(cx)
    }
}

// No payload is ever pinned.
impl<T: Unpin, B: Buf> Unpin for Connection<T, B> {}

impl<T, B> fmt::Debug for Connection<T, B>
where
    T: AsyncRead + AsyncWrite,
    T: fmt::Debug,
    B: fmt::Debug + Buf,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("driver", &self.driver)
            .finish()
    }
}
