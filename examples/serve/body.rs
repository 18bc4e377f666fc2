//! Owns the bodies that take time: they are written as capacity comes, and read no faster than
//! they are used up. Memory is bounded by one piece per stream.

use std::future::poll_fn;
use std::time::Duration;

use bytes::Bytes;

use crate::page;
use crate::reply::Sender;
use fairmux::{Error, Reason, RecvStream};

/// The piece in which memory is allocated for a body.
pub(crate) const PIECE: usize = 64 * 1024;

/// How much of a body that nobody wanted is read, and for how long.
const DISCARDED: usize = 64 * 1024;
const DISCARD_TIME: Duration = Duration::from_secs(10);

/// Where the bytes of `/bytes/N` and `/fresh/N` come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Slices of one page.
    Shared,
    /// New memory for each piece.
    Fresh,
}

impl Source {
    /// At most `wish` bytes from `offset` on.
    pub(crate) fn piece(self, offset: u64, wish: usize) -> Bytes {
        match self {
            Self::Shared => page::slice(offset, wish),
            Self::Fresh => page::copy(offset, wish.min(PIECE)),
        }
    }
}

/// Waits until some of `wish` bytes may be sent, and says how many.
pub(crate) async fn capacity(stream: &mut Sender, wish: usize) -> Result<usize, Error> {
    stream.reserve_capacity(wish);
    let now = match stream.capacity() {
        0 => poll_fn(|cx| stream.poll_capacity(cx)).await,
        some => Some(Ok(some)),
    };
    let now = now.unwrap_or_else(|| Err(Reason::CANCEL.into()))?;
    Ok(now.min(wish))
}

/// Sends `piece` as capacity comes.
pub(crate) async fn send(stream: &mut Sender, mut piece: Bytes, end: bool) -> Result<(), Error> {
    while !piece.is_empty() {
        let now = capacity(stream, piece.len()).await?;
        let now = piece.split_to(now);
        stream.send_data(now, end && piece.is_empty())?;
    }
    Ok(())
}

/// Sends `len` bytes of `source`, to the end of the stream. `len` is not zero.
pub(crate) async fn generate(mut stream: Sender, source: Source, len: u64) -> Result<(), Error> {
    let mut sent = 0;
    while sent < len {
        let left = usize::try_from(len - sent).unwrap_or(usize::MAX);
        let now = capacity(&mut stream, left.min(page::LONGEST)).await?;
        let piece = source.piece(sent, now);
        sent += piece.len() as u64;
        stream.send_data(piece, sent == len)?;
    }
    Ok(())
}

/// Sends back what comes. What has not gone out is not released, so a client that does not read is
/// not read from.
pub(crate) async fn echo(mut body: RecvStream, mut stream: Sender) -> Result<(), Error> {
    while let Some(piece) = body.data().await {
        let piece = piece?;
        let len = piece.len();
        send(&mut stream, piece, false).await?;
        body.flow_control().release_capacity(len)?;
    }
    match body.trailers().await? {
        Some(trailers) => stream.send_trailers(trailers),
        None => stream.send_data(Bytes::new(), true),
    }
}

/// Reads to the end and counts the bytes.
pub(crate) async fn count(mut body: RecvStream) -> Result<u64, Error> {
    let mut count = 0;
    while let Some(piece) = body.data().await {
        let len = piece?.len();
        count += len as u64;
        body.flow_control().release_capacity(len)?;
    }
    body.trailers().await?;
    Ok(count)
}

/// Reads and forgets a body that the answer did not need, within bounds. Beyond them the stream is
/// dropped, which tells the client to stop.
pub(crate) async fn discard(mut body: RecvStream) -> Result<(), Error> {
    let reading = async {
        let mut left = DISCARDED;
        while let Some(piece) = body.data().await {
            let len = piece?.len();
            if len > left {
                return Ok(());
            }
            left -= len;
            body.flow_control().release_capacity(len)?;
        }
        Ok(())
    };
    tokio::time::timeout(DISCARD_TIME, reading)
        .await
        .unwrap_or(Ok(()))
}

/// The count as an answer's body.
pub(crate) fn counted(count: u64) -> Bytes {
    Bytes::from(format!("{count}\n"))
}
