//! `PingPong`: PING frames of the application, one at a time.
//!
//! Owns: the payload that marks a ping as the application's. Does not know: the connection's own
//! pings. Which pong answers which ping is told by the payload, in `proto`.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::error::Error;
use crate::handoff::Shared;
use crate::sync::Arc;

/// Marks a PING as the application's. It has no other meaning.
const PAYLOAD: [u8; 8] = *b"fairping";

/// Sends PING frames and waits for their answers (RFC 9113, section 6.7).
///
/// A connection gives out one of these: see `ping_pong` of
/// [`client::Connection`](crate::client::Connection::ping_pong) and
/// [`server::Connection`](crate::server::Connection::ping_pong). It is of use to measure the
/// round trip, and to find out whether the peer is still there. The connection must be polled
/// meanwhile.
///
/// ```no_run
/// # async fn example(mut ping_pong: fairmux::PingPong) -> Result<(), fairmux::Error> {
/// let start = std::time::Instant::now();
/// ping_pong.ping(fairmux::Ping::opaque()).await?;
/// println!("round trip: {:?}", start.elapsed());
/// # Ok(())
/// # }
/// ```
// Not `Clone`: there is one outstanding ping, and one task that waits for it.
pub struct PingPong {
    shared: Arc<Shared>,
}

/// What [`PingPong::ping`] sends.
pub struct Ping {
    _private: (),
}

/// The peer's answer to a [`Ping`].
pub struct Pong {
    _private: (),
}

impl PingPong {
    pub(crate) fn new(shared: Arc<Shared>) -> PingPong {
        PingPong { shared }
    }

    /// Sends a PING and waits for the answer.
    ///
    /// # Errors
    ///
    /// An earlier ping has not been answered, or the connection is over.
    pub async fn ping(&mut self, ping: Ping) -> Result<Pong, Error> {
        self.send_ping(ping)?;
        poll_fn(|cx| self.poll_pong(cx)).await
    }

    /// Sends a PING; [`poll_pong`](PingPong::poll_pong) waits for the answer.
    ///
    /// # Errors
    ///
    /// Those of [`ping`](PingPong::ping).
    pub fn send_ping(&mut self, ping: Ping) -> Result<(), Error> {
        let Ping { _private: () } = ping;
        self.shared.send_ping(PAYLOAD)
    }

    /// Waits for the answer to the last ping.
    ///
    /// # Errors
    ///
    /// The connection is over.
    pub fn poll_pong(&mut self, cx: &mut Context<'_>) -> Poll<Result<Pong, Error>> {
        self.shared.poll_pong(cx).map_ok(|()| Pong { _private: () })
    }
}

impl Ping {
    /// A ping whose payload is the library's choice. Do not depend on it.
    pub fn opaque() -> Ping {
        Ping { _private: () }
    }
}

impl fmt::Debug for PingPong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PingPong").finish_non_exhaustive()
    }
}

impl fmt::Debug for Ping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ping").finish()
    }
}

impl fmt::Debug for Pong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pong").finish()
    }
}
