//! I/O that follows a script, and remembers every call.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a write call takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Take {
    All,
    AtMost(usize),
    FirstSlice,
}

/// Unusual answers, in the order of the calls; after the last one all is well.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Usual,
    Pending,
    Zero,
    Error,
}

#[derive(Debug)]
pub(super) struct Script {
    pub(super) vectored: bool,
    pub(super) take: Take,
    pub(super) write_answers: VecDeque<Answer>,
    pub(super) flush_answers: VecDeque<Answer>,
    /// What the peer sends, a read at a time at most.
    pub(super) input: VecDeque<Vec<u8>>,
    /// The space that each read was offered.
    pub(super) offered: Vec<usize>,
    pub(super) written: Vec<u8>,
    /// What each write took.
    pub(super) writes: Vec<usize>,
    /// The number of slices of each write.
    pub(super) slices: Vec<usize>,
    pub(super) flushes: usize,
}

impl Script {
    pub(super) fn new(vectored: bool, take: Take) -> Script {
        Script {
            vectored,
            take,
            write_answers: VecDeque::new(),
            flush_answers: VecDeque::new(),
            input: VecDeque::new(),
            offered: Vec::new(),
            written: Vec::new(),
            writes: Vec::new(),
            slices: Vec::new(),
            flushes: 0,
        }
    }

    pub(super) fn reading(input: impl IntoIterator<Item = Vec<u8>>) -> Script {
        let mut script = Script::new(true, Take::All);
        script.input = input.into_iter().collect();
        script
    }

    fn limit(&self, slices: &[IoSlice<'_>]) -> usize {
        let whole = slices.iter().map(|slice| slice.len()).sum();
        match self.take {
            Take::All => whole,
            Take::AtMost(limit) => whole.min(limit),
            Take::FirstSlice => slices.first().map_or(0, |slice| slice.len()),
        }
    }
}

fn answer(answers: &mut VecDeque<Answer>, cx: &Context<'_>) -> Option<Poll<io::Result<usize>>> {
    match answers.pop_front()? {
        Answer::Usual => None,
        Answer::Pending => {
            cx.waker().wake_by_ref();
            Some(Poll::Pending)
        }
        Answer::Zero => Some(Poll::Ready(Ok(0))),
        Answer::Error => Some(Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))),
    }
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.offered.push(buffer.remaining());
        let Some(mut bytes) = self.input.pop_front() else {
            return Poll::Pending;
        };
        let rest = bytes.split_off(bytes.len().min(buffer.remaining()));
        buffer.put_slice(&bytes);
        if !rest.is_empty() {
            self.input.push_front(rest);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(unusual) = answer(&mut self.write_answers, cx) {
            return unusual;
        }
        let taken = self.limit(slices);
        let whole = slices.iter().flat_map(|slice| slice.iter().copied());
        let bytes: Vec<u8> = whole.take(taken).collect();
        self.written.extend_from_slice(&bytes);
        self.writes.push(taken);
        self.slices.push(slices.len());
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(unusual) = answer(&mut self.flush_answers, cx) {
            return unusual.map_ok(|_| ());
        }
        self.flushes += 1;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }
}
