//! `Port`: the seam between the connection and the handles of one stream.
//!
//! Owns: the two traits and the values that cross them. Does not know: locks, tasks, wakers, who
//! implements it. The connection keeps one `Port` inside each stream's slot: what arrives is
//! delivered through it, what the application wants is collected from it; no second look-up, no
//! event queue, and the layers above are never named.

use bytes::{Buf, Bytes};
use http::HeaderMap;

use super::short_queue::ShortQueue;
use super::streams::Key;
use crate::error::Error;
use crate::frame::{Reason, StreamId};
use crate::message::{Head, Priority};

/// Makes the ports of streams that the peer opens, and says how many the application still holds.
pub(crate) trait Ports {
    /// The port this makes.
    type Port: Port;
    /// A port for a stream that the peer has opened (a request, or a promised response).
    fn open_remote(&self, id: StreamId) -> Self::Port;
    /// Streams opened by the peer whose handles the application still holds, in a slot or not; but
    /// not those that have ended well.
    fn held(&self) -> usize;
    /// The peer's SETTINGS_INITIAL_WINDOW_SIZE as it is now: the base of every send window.
    fn set_initial_window(&self, size: u32);
    /// Send room that may be granted to producers who wait for it.
    fn free_room(&self) -> usize;
    /// A number that changes whenever there comes to be more room for producers who take it directly.
    fn room_returned(&self) -> usize;
    /// Nobody waits for send room any more: producers may take it directly again.
    fn room_resumed(&self);
}

/// The far side of one stream: its handles. Cheap to clone; every clone is the same stream.
///
/// Calls may take locks and wake tasks; none calls back into the connection.
pub(crate) trait Port: Clone {
    /// What the application sends as DATA.
    type Buf: Buf;

    /// The stream has got a slot: from here on news are posted under this key.
    fn adopt(&self, key: Key);

    // What the peer sent, for the reader. `end`: this was the last the peer will send.
    /// A request, a response or a 1xx.
    fn deliver_head(&self, head: Head, end: bool);
    /// Bytes of the body. If nobody can read them any more they are not kept, and the caller gets
    /// `Delivery::Unwanted` and returns their credit at once.
    fn deliver_data(&self, data: Bytes, end: bool) -> Delivery;
    /// Trailers, or an empty map where the end came alone. Always the end.
    fn deliver_trailers(&self, trailers: HeaderMap);
    /// A promise on this stream (client): the promised request, and the port of its stream.
    fn deliver_promise(&self, request: Box<http::request::Parts>, promised: Self);
    /// Both halves are over because of `error`. What was delivered before stays readable, then
    /// the error (except that a complete message stays complete). Answers the receive credit, in
    /// bytes, that was delivered and not collected: the caller returns it to the connection window
    /// now, and later releases count for nothing.
    fn fail(&self, error: Error) -> usize;
    /// The stream's slot goes away after a normal end: releases from here on go to the
    /// connection-wide counter. Answers what was released and not yet collected.
    fn retire(&self) -> usize;

    // What the application sends.
    /// Moves everything the handles queued since the last call into `into`, and answers what else
    /// they want. Clears the posted mark.
    fn collect(&self, into: &mut Outgoing<Self::Buf>) -> News;
    /// `bytes` of what was collected entered a batch: they no longer count against the producer.
    /// Wakes a producer that waits for capacity if it has some now.
    fn took(&self, bytes: usize);
    /// Whether the producer that waits for room holds less of it than its share, while `free` bytes
    /// are left. One that holds more waits until some of its own have been sent.
    fn takes(&self, free: usize) -> bool {
        free > 0
    }
    /// The producer that waits for room may buffer one quantum more, and is woken. A grant
    /// reserves nothing.
    fn grant(&self, bytes: usize);
    /// Room has come or gone: wakes the producer that waits for more than it knows of, if there is a
    /// good deal more now. True if it still waits.
    fn look_for_more(&self) -> bool {
        false
    }
    /// The stream's send window counted from its birth, less the peer's initial window: the sum
    /// of its WINDOW_UPDATEs. (A window is initial + credit - bytes sent.) Wakes a producer that
    /// waits for window, if it has some now.
    fn set_credit(&self, credit: i64);
    /// The initial window grew: wakes a producer that waits for window, if it has some now.
    fn window_opened(&self);
    /// The stream's HEADERS are on their way (it has a concurrency slot): wakes who waits for it.
    fn opened(&self);
    /// The peer, or this connection, has ended the sending half early while the receiving half
    /// lives on (RST_STREAM(NO_ERROR) after a complete response): `poll_reset` answers `reason`,
    /// further sends fail, queued data has been dropped.
    fn stop_sending(&self, reason: Reason);
}

/// What became of delivered bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Delivery {
    /// They wait for the reader, who will return their credit.
    Kept,
    /// Nobody reads: the credit is the caller's to return.
    Unwanted,
}

/// What the application has queued for one stream, in the order in which it must leave:
/// `heads`, then `data`, then `trailers`; `end` closes the last of them.
#[derive(Debug)]
pub(crate) struct Outgoing<B> {
    /// Header blocks: 1xx, then the response; or the request; one at most for a promise.
    pub(crate) heads: ShortQueue<Head>,
    /// Parts of the body as the application gave them. Empty ones are not queued.
    pub(crate) data: ShortQueue<B>,
    /// Trailers, which are always the end.
    pub(crate) trailers: Option<Box<HeaderMap>>,
    /// Nothing will follow.
    pub(crate) end: bool,
}

/// What a stream's handles want besides sending what they queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Bytes of DATA newly queued.
    pub(crate) queued: usize,
    /// Receive credit returned by the reader (bytes).
    pub(crate) released: usize,
    /// The application resets the stream.
    pub(crate) reset: Option<Reason>,
    /// RFC 9218 signal: the server's override, or the client's change.
    pub(crate) priority: Option<Priority>,
    /// What of the producer and the handles the connection must know.
    pub(crate) interest: Interest,
}

/// What the producer of a stream waits for, or that nobody is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Nothing.
    #[default]
    None,
    /// The producer waits for send room (it asked for capacity and its floor is used up).
    Room,
    /// The producer may send, and waits for more room than it was told of.
    MoreRoom,
    /// The last handle is gone: cancel what is not finished.
    Abandoned,
}

/// How the producer of a stream waits for send room. Later ones come before earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RoomWait {
    /// Not at all.
    #[default]
    Nothing,
    /// It may send, and waits to hear of more room: it is in `watching_list`.
    More,
    /// For its turn to be granted some, for it has none or its value does not fit: it is in
    /// `waiting_in_list`.
    Turn,
}

/// A stream that the application opens: handed from the opening queue to the connection, in id
/// order.
#[derive(Debug)]
pub(crate) struct Birth<P> {
    /// Its id, already final.
    pub(crate) id: StreamId,
    /// The stream it is promised on (server push), or none (client request).
    pub(crate) parent: Option<StreamId>,
    /// Its far side; the head to send is collected from it.
    pub(crate) port: P,
}

impl<B> Default for Outgoing<B> {
    fn default() -> Self {
        Outgoing {
            heads: ShortQueue::default(),
            data: ShortQueue::default(),
            trailers: None,
            end: false,
        }
    }
}
