//! The connection of a server: what accepts streams and does all the work.
//!
//! Owns: `Connection`. Does not know: how a turn goes (`driver`), what a frame is.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http::Request;
use tokio::io::{AsyncRead, AsyncWrite};

use super::SendResponse;
use crate::driver::Driver;
use crate::error::Error;
use crate::frame::Reason;
use crate::handoff::Cell;
use crate::proto::Stats;
use crate::share::{self, PingPong, RecvStream};

/// A server's connection: accepts the streams that the client opens.
///
/// It reads and writes for all streams, so [`SendResponse`], [`SendStream`](crate::SendStream) and
/// [`RecvStream`] only make progress while it is polled: by [`accept`](Self::accept) or, where no
/// new stream is wanted, by [`poll_closed`](Self::poll_closed). Go on until one of them has said
/// that the connection is over. Dropping it drops `io` and fails all handles.
#[must_use = "streams do nothing unless polled"]
pub struct Connection<T, B: Buf> {
    /// Apart, so that whoever holds or moves the connection does not hold or move all of it.
    driver: Box<Driver<T, B>>,
    pings_taken: bool,
    /// `accept` has said why the connection is over.
    told: bool,
}

impl<T, B> Connection<T, B>
where
    T: AsyncRead + AsyncWrite + Unpin,
    B: Buf,
{
    pub(super) fn new(driver: Box<Driver<T, B>>) -> Self {
        Connection {
            driver,
            pings_taken: false,
            told: false,
        }
    }

    /// The next request, and the handle that answers it. `None`: the connection is over.
    ///
    /// Meanwhile the whole connection makes progress. Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// What ended the connection, if that was not in good order; `None` follows.
    pub async fn accept(
        &mut self,
    ) -> Option<Result<(Request<RecvStream>, SendResponse<B>), Error>> {
        poll_fn(|cx| self.poll_accept(cx)).await
    }

    /// As [`accept`](Self::accept), by polling.
    #[expect(clippy::type_complexity, reason = "h2's signature")]
    pub fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(Request<RecvStream>, SendResponse<B>), Error>>> {
        match ready!(self.driver.poll_accept(cx)) {
            Some(Ok(cell)) => Poll::Ready(Some(Ok(self.hand_out(&cell)))),
            // Said once: a loop that goes on after errors ends too.
            Some(Err(error)) if !std::mem::replace(&mut self.told, true) => {
                Poll::Ready(Some(Err(error)))
            }
            Some(Err(_)) | None => Poll::Ready(None),
        }
    }

    /// Ready when the connection is over, and `io` shut down. Until then a call does all the work
    /// of the connection except handing out requests, which wait for the next
    /// [`accept`](Self::accept).
    ///
    /// # Errors
    ///
    /// What ended the connection, if that was not in good order.
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.driver.poll(cx)
    }

    /// Sets the window of the whole connection that is aimed at: the octets of DATA that may be
    /// on their way or unread, of all streams together.
    ///
    /// More than now is given to the client at once with a WINDOW_UPDATE; less is reached by
    /// keeping back credit as it is released. Default: 65 535, or what
    /// [`Builder::initial_connection_window_size`](crate::Builder::initial_connection_window_size)
    /// says.
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
    /// It is announced with SETTINGS and holds once the client has acknowledged it
    /// ([RFC 9113 section 6.9.2](https://www.rfc-editor.org/rfc/rfc9113.html#section-6.9.2)).
    ///
    /// # Errors
    ///
    /// If an earlier change of settings has not been acknowledged yet.
    ///
    /// # Panics
    ///
    /// If `size` exceeds 2^31-1.
    pub fn set_initial_window_size(&mut self, size: u32) -> Result<(), Error> {
        share::assert_window_size(size);
        Ok(self.driver.command().user_set_initial_window(size)?)
    }

    /// Lets the client use extended CONNECT from now on
    /// ([RFC 8441](https://www.rfc-editor.org/rfc/rfc8441.html#section-3)); there is no way back.
    ///
    /// # Errors
    ///
    /// If an earlier change of settings has not been acknowledged yet.
    pub fn enable_connect_protocol(&mut self) -> Result<(), Error> {
        Ok(self.driver.command().user_enable_connect_protocol()?)
    }

    /// Ends the connection with GOAWAY(`reason`), whatever is open: all streams fail.
    ///
    /// It must still be polled until it is over. Meant for when something outside went wrong;
    /// otherwise see [`graceful_shutdown`](Self::graceful_shutdown).
    pub fn abrupt_shutdown(&mut self, reason: Reason) {
        self.driver.command().user_abort(reason);
    }

    /// Ends the connection once the streams on it are done.
    ///
    /// It must still be polled until it is over, and requests that are on their way are still
    /// accepted: the first GOAWAY announces the end, the second, a round trip later, names the last
    /// stream that is served
    /// ([RFC 9113 section 6.8](https://www.rfc-editor.org/rfc/rfc9113.html#section-6.8)).
    pub fn graceful_shutdown(&mut self) {
        self.driver.command().user_shutdown();
    }

    /// The handle that sends PINGs; `None` from the second call on.
    pub fn ping_pong(&mut self) -> Option<PingPong> {
        let first = !std::mem::replace(&mut self.pings_taken, true);
        first.then(|| PingPong::new(self.driver.hub().shared().clone()))
    }

    /// Whether any stream is open.
    pub fn has_streams(&self) -> bool {
        self.driver.connection().has_streams()
    }

    /// How many pushed responses may be open at once: the client's SETTINGS_MAX_CONCURRENT_STREAMS.
    pub fn max_concurrent_send_streams(&self) -> usize {
        self.driver.hub().shared().max_send_streams()
    }

    /// How many streams the client may have open at once: our SETTINGS_MAX_CONCURRENT_STREAMS, once
    /// the client has acknowledged it
    /// ([`Builder::max_concurrent_streams`](crate::Builder::max_concurrent_streams)).
    pub fn max_concurrent_recv_streams(&self) -> usize {
        self.driver.hub().shared().max_recv_streams()
    }

    /// How many streams the connection keeps anything of: those that are open, and those whose
    /// handles are still held.
    #[cfg(feature = "unstable")]
    pub fn num_wired_streams(&self) -> usize {
        self.driver.hub().shared().wired_streams()
    }

    /// What this connection has done so far, in numbers.
    ///
    /// Read it between two calls of [`accept`](Self::accept): in a `select!` with an interval, for
    /// example, since an `accept` that is dropped loses nothing.
    pub fn stats(&self) -> Stats {
        self.driver.stats()
    }

    fn hand_out(&self, cell: &Cell<B>) -> (Request<RecvStream>, SendResponse<B>) {
        let (writer, reader) = cell.handles();
        let request = reader
            .take_request()
            .expect("a stream is accepted with its request");
        let respond = SendResponse::new(writer, self.driver.hub().clone());
        (request.map(|()| RecvStream::new(reader)), respond)
    }
}

#[cfg(feature = "stream")]
impl<T, B> futures_core::Stream for Connection<T, B>
where
    T: AsyncRead + AsyncWrite + Unpin,
    B: Buf,
{
    type Item = Result<(Request<RecvStream>, SendResponse<B>), Error>;

    fn poll_next(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_accept(cx)
    }
}

// No payload is ever pinned.
impl<T: Unpin, B: Buf> Unpin for Connection<T, B> {}

impl<T, B> fmt::Debug for Connection<T, B>
where
    T: fmt::Debug,
    B: fmt::Debug + Buf,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("driver", &self.driver)
            .finish()
    }
}
