//! A transport without a kernel: what the peer says is put in by hand, what is written is counted.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};
use fairmux::server::{self, Connection, SendResponse};
use http::Request;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::wire;

/// A clone is the same transport.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    state: Rc<RefCell<State>>,
}

#[derive(Debug, Default)]
struct State {
    input: VecDeque<Bytes>,
    counts: Counts,
    is_joined: bool,
}

/// What went through a transport.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reads: u64,
    pub(crate) read: u64,
    /// The least space that a read was offered.
    pub(crate) least_space: Option<usize>,
    pub(crate) writes: u64,
    pub(crate) written: u64,
}

impl Script {
    /// One that takes a single slice a call, as some kinds of TLS do.
    pub(crate) fn joined() -> Script {
        let script = Script::default();
        script.state.borrow_mut().is_joined = true;
        script
    }

    /// The peer says this. Nothing is nothing, and not the end.
    pub(crate) fn say(&self, octets: impl Into<Bytes>) {
        let octets = octets.into();
        if !octets.is_empty() {
            self.state.borrow_mut().input.push_back(octets);
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.state.borrow().counts
    }
}

impl AsyncRead for Script {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let state = &mut *self.state.borrow_mut();
        let Some(front) = state.input.front_mut() else {
            return Poll::Pending;
        };
        let space = buf.remaining();
        let count = space.min(front.len());
        buf.put_slice(&front[..count]);
        front.advance(count);
        if front.is_empty() {
            state.input.pop_front();
        }
        state.counts.reads += 1;
        state.counts.read += count as u64;
        let least = state.counts.least_space.get_or_insert(space);
        *least = space.min(*least);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(octets)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = slices.iter().map(|slice| slice.len()).sum();
        let counts = &mut self.state.borrow_mut().counts;
        counts.writes += 1;
        counts.written += length as u64;
        Poll::Ready(Ok(length))
    }

    fn is_write_vectored(&self) -> bool {
        !self.state.borrow().is_joined
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A server's end over a script, driven by hand.
pub(crate) struct Served {
    pub(crate) script: Script,
    pub(crate) connection: Connection<Script, Bytes>,
}

/// A request, and the way to answer it.
pub(crate) type Asked = (Request<fairmux::RecvStream>, SendResponse<Bytes>);

impl Served {
    /// Past the handshake; the peer has opened its windows this far.
    pub(crate) fn new(script: Script, stream_window: u32, connection_window: u32) -> Served {
        let builder = server::Builder::new();
        Served::with(&builder, script, (stream_window, connection_window))
    }

    pub(crate) fn with(builder: &server::Builder, script: Script, windows: (u32, u32)) -> Served {
        script.say(wire::hello(windows.0, windows.1));
        let mut handshake = std::pin::pin!(builder.handshake(script.clone()));
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(Ok(connection)) = handshake.as_mut().poll(&mut cx) else {
            panic!("the handshake has all it needs");
        };
        // Only what was said can be acknowledged.
        script.say(wire::frame(wire::SETTINGS, wire::ACK, 0, &[]));
        Served { script, connection }
    }

    /// Lets the connection do all that it can, and answers the requests that came.
    pub(crate) fn run(&mut self) -> Vec<Asked> {
        let mut cx = Context::from_waker(Waker::noop());
        let mut asked = Vec::new();
        // After so many turns in a row it wakes itself and pauses, so twice pending is the end.
        let mut pauses = 0;
        while pauses < 2 {
            match self.connection.poll_accept(&mut cx) {
                Poll::Ready(Some(Ok(request))) => asked.push(request),
                Poll::Ready(Some(Err(why))) => panic!("the connection has failed: {why}"),
                Poll::Ready(None) => panic!("the connection has ended"),
                Poll::Pending => pauses += 1,
            }
        }
        asked
    }

    /// One poll, without requests.
    pub(crate) fn turn(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        assert!(self.connection.poll_accept(&mut cx).is_pending());
    }
}
