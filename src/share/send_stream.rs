//! `SendStream`: the sending half of a stream, after its head.
//!
//! Owns: the public meaning of capacity, data, trailers and reset. Does not know: how capacity is
//! worked out, when data leaves. Keeps none of I1..I7 itself: it passes every call to `handoff`.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Buf;
use http::HeaderMap;

use crate::error::Error;
use crate::frame::{Reason, StreamId};
use crate::handoff::{PollReset, Writer};
use crate::message::Priority;

/// Sends the body of a message and its trailers.
///
/// [`SendRequest::send_request`] and [`SendResponse::send_response`] give one once the head of the
/// message is on its way.
///
/// # Ending the stream
///
/// A body ends in one of three ways: `end_of_stream` is set with the head or with
/// [`send_data`], trailers are sent with [`send_trailers`], or the stream is reset with
/// [`send_reset`]. If every handle of the stream is dropped before, the exchange is cancelled:
/// RST_STREAM with [`Reason::CANCEL`] is sent.
///
/// # Flow control
///
/// The peer decides how many bytes of body it takes (RFC 9113, section 5.2). There is a window
/// for each stream and one for the whole connection; both shrink by what is sent as DATA and grow
/// when the peer sends WINDOW_UPDATE.
///
/// What cannot be sent yet is kept in memory. [`send_data`] always accepts, so a producer that
/// does not ask before it sends can fill the memory. There are two ways to produce only what can
/// leave soon:
///
/// * [`send`] hands the data over and waits until what is left of it fits the capacity;
/// * [`reserve_capacity`] says how much is to be sent, [`poll_capacity`] tells when some of it
///   may be, and [`send_data`] hands it over.
///
/// The capacity of a stream, in bytes, is what its own window, the bound on what it may have
/// buffered and the room of the connection's send buffer allow now. **Unlike in h2 it reserves
/// nothing of the connection window**: that window is shared out in fair order at the moment in
/// which frames are written. A stream that asks for capacity and then does not use it holds
/// nobody up.
///
/// Hand over 64 KiB or more at a time where there is so much. A producer that hands over single frames
/// is often empty when its turn comes, and the turn goes to others, however urgent its stream is.
///
/// # Example
///
/// ```no_run
/// use bytes::Bytes;
///
/// # async fn example(mut body: fairmux::SendStream<Bytes>) -> Result<(), fairmux::Error> {
/// for _ in 0..1000 {
///     body.send(Bytes::from_static(&[0; 65_536])).await?;
/// }
/// body.send_data(Bytes::new(), true)?;
/// # Ok(())
/// # }
/// ```
///
/// [`SendRequest::send_request`]: crate::client::SendRequest::send_request
/// [`SendResponse::send_response`]: crate::server::SendResponse::send_response
/// [`send`]: SendStream::send
/// [`send_data`]: SendStream::send_data
/// [`send_trailers`]: SendStream::send_trailers
/// [`send_reset`]: SendStream::send_reset
/// [`reserve_capacity`]: SendStream::reserve_capacity
/// [`poll_capacity`]: SendStream::poll_capacity
pub struct SendStream<B> {
    writer: Writer<B>,
}

impl<B: Buf> SendStream<B> {
    pub(crate) fn new(writer: Writer<B>) -> SendStream<B> {
        SendStream { writer }
    }

    /// Says that `capacity` bytes are to be sent, counted from now.
    ///
    /// The number is the whole request, not an addition to an earlier one: after
    /// `reserve_capacity(100)` and `reserve_capacity(200)` it is 200, and `reserve_capacity(0)`
    /// takes the request back. Data that is sent counts against it: after a request for 100 and
    /// five bytes of data, 95 are left of it.
    ///
    /// Nothing is returned here. [`capacity`](SendStream::capacity) tells what there is, and
    /// [`poll_capacity`](SendStream::poll_capacity) waits for more.
    pub fn reserve_capacity(&mut self, capacity: usize) {
        self.writer.reserve(capacity);
    }

    /// The bytes that could be sent now: no more than what was asked for with
    /// [`reserve_capacity`](SendStream::reserve_capacity).
    pub fn capacity(&self) -> usize {
        self.writer.capacity()
    }

    /// Waits until the capacity has grown.
    ///
    /// Ask with [`reserve_capacity`](SendStream::reserve_capacity) before. The number is the whole
    /// capacity, in bytes, and more than zero. It can be less than what was asked for, however
    /// long one waits: send that much at once, then wait for the rest. It can be less than the last
    /// answer, if data was sent since.
    ///
    /// `None` says that nothing can be sent any more, because the sending half is closed.
    ///
    /// # Errors
    ///
    /// The stream or the connection has failed.
    pub fn poll_capacity(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<usize, Error>>> {
        self.writer.poll_capacity(cx)
    }

    /// Hands over a part of the body, and with `end_of_stream` says that it was the last.
    ///
    /// It returns at once. What exceeds the capacity is kept in memory without a bound, and
    /// counts against the stream: it gets no further capacity until that has been sent.
    ///
    /// The data may be sent as several DATA frames, or together with other data of this stream.
    ///
    /// # Errors
    ///
    /// The sending half is closed already, the stream was reset, or the data would exceed the
    /// announced `content-length`. Nothing is sent then.
    pub fn send_data(&mut self, data: B, end_of_stream: bool) -> Result<(), Error> {
        self.writer.send_data(data, end_of_stream)
    }

    /// Hands over a part of the body, and waits until what is left of it fits the capacity.
    ///
    /// This is [`send_data`](SendStream::send_data) with back pressure. The connection may send the
    /// value at once, in the stream's turns, but as long as this waits none of it counts as buffered:
    /// it is still the caller's, whatever its length. So what completed calls have left to be sent
    /// never exceeds the bounds: one quantum (16 KiB) for each stream, and for all together the
    /// [`send_room`](crate::client::Builder::send_room). A value longer than the stream can have
    /// buffered is ready when the last part of it fits.
    ///
    /// # Cancellation
    ///
    /// The value is handed over when the future is first polled. Dropping the future later does not
    /// take it back: all of it is sent, in order, before anything that follows. At most one value can
    /// be left so: the next `send` keeps its own until that one fits, and if it is dropped meanwhile,
    /// nothing of its value was sent.
    ///
    /// # Errors
    ///
    /// Those of [`poll_capacity`](SendStream::poll_capacity) and
    /// [`send_data`](SendStream::send_data).
    pub async fn send(&mut self, data: B) -> Result<(), Error> {
        let mut data = Some(data);
        poll_fn(|cx| self.writer.poll_send(cx, &mut data)).await
    }

    /// Sends trailers, and ends the stream with them.
    ///
    /// # Errors
    ///
    /// The sending half is closed already, the stream was reset, the body is shorter than the
    /// announced `content-length`, or a field is not allowed in trailers (RFC 9113, section 8.1).
    pub fn send_trailers(&mut self, trailers: HeaderMap) -> Result<(), Error> {
        self.writer.send_trailers(trailers)
    }

    /// Cancels the exchange: RST_STREAM with `reason` is sent (RFC 9113, section 6.4).
    ///
    /// Data that has not left yet is dropped. A response that is still awaited ends with an error
    /// that carries `reason`. A stream that is over already is left alone.
    pub fn send_reset(&mut self, reason: Reason) {
        self.writer.send_reset(reason);
    }

    /// Waits until the peer resets the stream, and answers its reason.
    ///
    /// A server uses this to stop working on an answer that nobody wants any more.
    ///
    /// # Errors
    ///
    /// The connection has failed: then its error comes instead of a reason.
    pub fn poll_reset(&mut self, cx: &mut Context<'_>) -> Poll<Result<Reason, Error>> {
        self.writer.poll_reset(cx, PollReset::Streaming)
    }

    /// Changes the stream's place in the sending order of this end (RFC 9218).
    ///
    /// Streams of a lower `urgency` (0 to 7, higher values count as 7) go first. Within one urgency,
    /// streams that are `incremental` take turns, and the others are served one after the other.
    /// Where nobody has said anything a stream has urgency 3 and takes turns, as if incremental. At a client the change is also sent to the server, as
    /// PRIORITY_UPDATE.
    pub fn set_priority(&mut self, urgency: u8, incremental: bool) {
        self.writer.set_priority(Priority {
            urgency: urgency.min(7),
            incremental,
        });
    }

    /// The identifier of the stream.
    pub fn stream_id(&self) -> StreamId {
        self.writer.id()
    }
}

impl<B> fmt::Debug for SendStream<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendStream")
            .field("writer", &self.writer)
            .finish()
    }
}
