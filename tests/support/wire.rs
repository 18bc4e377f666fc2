//! The in-memory connection between the scripted peer and the endpoint under test.
//!
//! It decides how octets are cut into reads and writes: all at once, one octet at a time, or with
//! a pause at one chosen octet, which is how a test moves a cut through its whole input.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How the octets arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As much as there is.
    Whole,
    /// One octet per read and per write.
    Bytewise,
    /// The endpoint finds nothing to read once, after this many octets.
    CutAt(usize),
}

/// What the endpoint can do with what it has to write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Free,
    Blocked,
    Closed,
}

struct Wire {
    mode: Mode,
    to_subject: Vec<u8>,
    read: usize,
    peer_closed: bool,
    reader: Option<Waker>,
    from_subject: Vec<u8>,
    output: Output,
    writer: Option<Waker>,
    listener: Option<Waker>,
}

/// The end that the endpoint under test owns.
pub(crate) struct SubjectEnd(Rc<RefCell<Wire>>);

/// The end that the scripted peer owns.
pub(crate) struct PeerEnd(Rc<RefCell<Wire>>);

pub(crate) fn wire(mode: Mode) -> (SubjectEnd, PeerEnd) {
    let wire = Rc::new(RefCell::new(Wire {
        mode,
        to_subject: Vec::new(),
        read: 0,
        peer_closed: false,
        reader: None,
        from_subject: Vec::new(),
        output: Output::Free,
        writer: None,
        listener: None,
    }));
    (SubjectEnd(wire.clone()), PeerEnd(wire))
}

impl PeerEnd {
    pub(crate) fn write(&self, octets: &[u8]) {
        let mut wire = self.0.borrow_mut();
        wire.to_subject.extend(octets);
        wake(&mut wire.reader);
    }

    /// Ends what the endpoint reads.
    pub(crate) fn close(&self) {
        let mut wire = self.0.borrow_mut();
        wire.peer_closed = true;
        wake(&mut wire.reader);
    }

    /// Keeps the endpoint from writing, as a full socket does, or lets it write again.
    pub(crate) fn block(&self, blocked: bool) {
        let mut wire = self.0.borrow_mut();
        wire.output = match wire.output {
            Output::Closed => Output::Closed,
            _ if blocked => Output::Blocked,
            _ => Output::Free,
        };
        wake(&mut wire.writer);
    }

    /// Octets that the endpoint has left unread.
    pub(crate) fn unread(&self) -> usize {
        let wire = self.0.borrow();
        wire.to_subject.len() - wire.read
    }

    /// Octets that were written to the endpoint so far.
    pub(crate) fn written(&self) -> usize {
        self.0.borrow().to_subject.len()
    }

    /// Appends what has arrived to `into`; `false` when nothing will come any more.
    pub(crate) fn poll_read(&self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<bool> {
        let mut wire = self.0.borrow_mut();
        if !wire.from_subject.is_empty() {
            into.append(&mut wire.from_subject);
            return Poll::Ready(true);
        }
        if wire.output == Output::Closed {
            return Poll::Ready(false);
        }
        wire.listener = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl AsyncRead for SubjectEnd {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut wire = self.0.borrow_mut();
        let mut n = (wire.to_subject.len() - wire.read).min(buf.remaining());
        match wire.mode {
            Mode::CutAt(at) if at == wire.read => {
                wire.mode = Mode::Whole;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Mode::CutAt(at) if at > wire.read => n = n.min(at - wire.read),
            Mode::Bytewise => n = n.min(1),
            _ => {}
        }
        if n == 0 && !wire.peer_closed {
            wire.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let start = wire.read;
        buf.put_slice(&wire.to_subject[start..start + n]);
        wire.read += n;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SubjectEnd {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[io::IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut wire = self.0.borrow_mut();
        if wire.output == Output::Blocked {
            wire.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let octets = bufs.iter().flat_map(|buf| buf.iter());
        let before = wire.from_subject.len();
        let most = if wire.mode == Mode::Bytewise {
            1
        } else {
            usize::MAX
        };
        wire.from_subject.extend(octets.take(most));
        wake(&mut wire.listener);
        Poll::Ready(Ok(wire.from_subject.len() - before))
    }

    fn is_write_vectored(&self) -> bool {
        self.0.borrow().mode != Mode::Bytewise
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        close(&mut self.0.borrow_mut());
        Poll::Ready(Ok(()))
    }
}

impl Drop for SubjectEnd {
    fn drop(&mut self) {
        close(&mut self.0.borrow_mut());
    }
}

fn close(wire: &mut Wire) {
    wire.output = Output::Closed;
    wake(&mut wire.listener);
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
