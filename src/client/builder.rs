//! The options that only a client has, and the start of its connection.
//!
//! Owns: `client::Builder`. Does not know: what the options do (`proto::config`).

use bytes::Buf;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Connection, SendRequest};
use crate::driver::Driver;
use crate::error::Error;

/// Options of a client connection; those of both sides are on [`fairmux::Builder`](crate::Builder).
///
/// # Examples
///
/// ```
/// # use tokio::io::{AsyncRead, AsyncWrite};
/// use fairmux::client::{Builder, Connection, SendRequest};
///
/// # async fn doc<T: AsyncRead + AsyncWrite + Unpin>(io: T) -> Result<(), fairmux::Error> {
/// let (requests, connection): (SendRequest<&'static [u8]>, Connection<T, &'static [u8]>) =
///     Builder::new().initial_window_size(1 << 20).enable_push(false).handshake(io).await?;
/// # Ok(())
/// # }
/// ```
pub type Builder = crate::share::Builder<Client>;

/// Marks a [`Builder`](crate::Builder) as that of a client.
#[derive(Clone, Copy, Debug)]
pub struct Client(());

impl Builder {
    /// How many streams this client has open at once before the server has said how many it
    /// takes. Requests beyond wait.
    ///
    /// Default: no limit. The server's first SETTINGS replace it: by the value they bring, or by
    /// "no limit" if they bring none ([RFC 9113 section 5.1.2][s]).
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-5.1.2
    pub fn initial_max_send_streams(&mut self, initial: usize) -> &mut Self {
        self.config_mut().initial_max_send_streams = initial;
        self
    }

    /// Whether the server may push responses.
    ///
    /// Default: `true`, as in the protocol. With `false`, announced as SETTINGS_ENABLE_PUSH, a
    /// PUSH_PROMISE is a connection error ([RFC 9113 section 8.4][s]).
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-8.4
    pub fn enable_push(&mut self, enabled: bool) -> &mut Self {
        self.config_mut().enable_push = Some(enabled);
        self
    }

    /// The id of the first request, instead of 1.
    ///
    /// # Panics
    ///
    /// If `stream_id` is not odd ([RFC 9113 section 5.1.1][s]).
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-5.1.1
    #[cfg(feature = "unstable")]
    pub fn initial_stream_id(&mut self, stream_id: u32) -> &mut Self {
        let id = crate::frame::StreamId::new(stream_id);
        //= RFC 9113 §5.1.1 streams of a client have odd ids
        assert!(id.is_client_initiated(), "stream id must be odd");
        self.config_mut().initial_stream_id = id;
        self
    }

    /// Starts a client connection over `io`, which must be ready for HTTP/2: TLS with `h2` agreed
    /// by ALPN, or a server known to speak it.
    ///
    /// The future completes once the connection preface and our SETTINGS are written
    /// ([RFC 9113 section 3.4](https://www.rfc-editor.org/rfc/rfc9113.html#section-3.4)); it does
    /// not wait for the server's SETTINGS, so requests leave at once.
    ///
    /// `B` is the type of the payload that requests will send.
    ///
    /// # Errors
    ///
    /// If `io` cannot be written to.
    pub fn handshake<T, B>(
        &self,
        io: T,
    ) -> impl Future<Output = Result<(SendRequest<B>, Connection<T, B>), Error>> + use<T, B>
    where
        T: AsyncRead + AsyncWrite + Unpin,
        B: Buf,
    {
        super::connection::begin(self.start(|config| Driver::client(io, config)))
    }
}
