//! The options that only a server has, and the start of its connection.
//!
//! Owns: `server::Builder`. Does not know: what the options do (`proto::config`).

use std::time::Duration;

use bytes::Buf;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Handshake;
use crate::driver::Driver;

/// Options of a server connection; those of both sides are on [`fairmux::Builder`](crate::Builder).
///
/// # Examples
///
/// ```
/// # use tokio::io::{AsyncRead, AsyncWrite};
/// use fairmux::server::{Builder, Handshake};
///
/// # fn doc<T: AsyncRead + AsyncWrite + Unpin>(io: T) -> Handshake<T, &'static [u8]> {
/// Builder::new().hardened().max_concurrent_streams(200).handshake(io)
/// # }
/// ```
pub type Builder = crate::share::Builder<Server>;

/// Marks a [`Builder`](crate::Builder) as that of a server.
#[derive(Clone, Copy, Debug)]
pub struct Server(());

impl Builder {
    /// Lets clients use extended CONNECT
    /// ([RFC 8441](https://www.rfc-editor.org/rfc/rfc8441.html#section-3)), for instance for
    /// WebSockets. Such a request carries an [`ext::Protocol`](crate::ext::Protocol) among its
    /// extensions.
    ///
    /// Default: off.
    pub fn enable_connect_protocol(&mut self) -> &mut Self {
        self.config_mut().enable_connect_protocol = true;
        self
    }

    /// How long after the client has answered the PING of
    /// [`graceful_shutdown`](super::Connection::graceful_shutdown) new streams are still taken. Then a
    /// GOAWAY names the last one, and later ones are ignored
    /// ([RFC 9113 section 6.8](https://www.rfc-editor.org/rfc/rfc9113.html#section-6.8)).
    ///
    /// Default, hardened too: not at all, as with h2. It needs a [`timer`](Self::timer). A proxy may answer the
    /// PING before it sends requests that it had already given to the connection, and not every one asks
    /// again elsewhere when they are ignored; a second is plenty.
    pub fn shutdown_grace(&mut self, grace: impl Into<Option<Duration>>) -> &mut Self {
        self.config_mut().limits.shutdown_grace = grace.into();
        self
    }

    /// Starts a server connection over `io`, which must be ready for HTTP/2: TLS with `h2` agreed
    /// by ALPN, or clear text with prior knowledge.
    ///
    /// `B` is the type of the payload that responses will send.
    pub fn handshake<T, B>(&self, io: T) -> Handshake<T, B>
    where
        T: AsyncRead + AsyncWrite + Unpin,
        B: Buf,
    {
        Handshake::new(self.start(|config| Driver::server(io, config)))
    }
}
