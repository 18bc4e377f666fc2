//! The options that only a server has, and the start of its connection.
//!
//! Owns: `server::Builder`. Does not know: what the options do (`proto::config`).

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
