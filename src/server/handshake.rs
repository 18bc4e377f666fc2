//! The beginning of a server's connection.
//!
//! Owns: `handshake` and its future. Does not know: how preface and SETTINGS are exchanged
//! (`driver::preface`).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Builder, Connection};
use crate::driver::Driver;
use crate::error::Error;

/// Starts a server connection over `io` with the default options; see [`Builder::handshake`].
///
/// # Examples
///
/// ```
/// # use tokio::io::{AsyncRead, AsyncWrite};
/// # async fn doc<T: AsyncRead + AsyncWrite + Unpin>(io: T) -> Result<(), fairmux::Error> {
/// let mut connection = fairmux::server::handshake(io).await?;
/// while let Some(stream) = connection.accept().await {
///     let (request, mut respond) = stream?;
///     println!("{}", request.uri());
///     respond.send_response(http::Response::new(()), true)?;
/// }
/// # Ok(())
/// # }
/// ```
pub fn handshake<T>(io: T) -> Handshake<T, Bytes>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    Builder::new().handshake(io)
}

/// Resolves to the [`Connection`] once the client's preface has come and our SETTINGS are written
/// ([RFC 9113 section 3.4](https://www.rfc-editor.org/rfc/rfc9113.html#section-3.4)). It does not
/// wait for the client's SETTINGS.
///
/// # Errors
///
/// If `io` fails or ends first, or if what comes is not the preface of HTTP/2.
#[must_use = "futures do nothing unless polled"]
pub struct Handshake<T, B: Buf = Bytes> {
    driver: Option<Box<Driver<T, B>>>,
}

impl<T, B: Buf> Handshake<T, B> {
    pub(super) fn new(driver: Box<Driver<T, B>>) -> Self {
        Handshake {
            driver: Some(driver),
        }
    }
}

impl<T, B> Future for Handshake<T, B>
where
    T: AsyncRead + AsyncWrite + Unpin,
    B: Buf,
{
    type Output = Result<Connection<T, B>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut driver = self
            .driver
            .take()
            .expect("a future is not polled after its end");
        match driver.poll_handshake(cx) {
            Poll::Ready(begun) => Poll::Ready(begun.map(|()| Connection::new(driver))),
            Poll::Pending => {
                self.driver = Some(driver);
                Poll::Pending
            }
        }
    }
}

// No payload is ever pinned.
impl<T: Unpin, B: Buf> Unpin for Handshake<T, B> {}

impl<T, B> fmt::Debug for Handshake<T, B>
where
    T: AsyncRead + AsyncWrite + fmt::Debug,
    B: fmt::Debug + Buf,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("server::Handshake")
    }
}
