//! A socket that counts what goes through it: calls, bytes, TLS records.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

static READS: AtomicU64 = AtomicU64::new(0);
static READ: AtomicU64 = AtomicU64::new(0);
static WRITES: AtomicU64 = AtomicU64::new(0);
static WRITTEN: AtomicU64 = AtomicU64::new(0);
static RECORDS: AtomicU64 = AtomicU64::new(0);

/// How many allocations there were, where the allocator of the bench counts them.
static ALLOCATIONS: OnceLock<fn() -> u64> = OnceLock::new();

/// From now on allocations are among the counters.
pub(super) fn count_allocations(count: fn() -> u64) {
    ALLOCATIONS.get_or_init(|| count);
}

/// All counters of this process as one JSON object.
pub(super) fn totals() -> serde_json::Value {
    let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let allocations = ALLOCATIONS.get().map_or(0, |count| count());
    serde_json::json!({
        "reads": value(&READS),
        "read": value(&READ),
        "writes": value(&WRITES),
        "written": value(&WRITTEN),
        "records": value(&RECORDS),
        "allocations": allocations,
    })
}

fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}

pub(super) struct Counted<T> {
    io: T,
    records: Option<Records>,
}

impl<T> Counted<T> {
    pub(super) fn new(io: T, is_tls: bool) -> Counted<T> {
        Counted {
            io,
            records: is_tls.then(Records::default),
        }
    }

    fn wrote<'a>(&mut self, count: usize, slices: impl Iterator<Item = &'a [u8]>) {
        add(&WRITES, 1);
        add(&WRITTEN, count);
        if let Some(records) = &mut self.records {
            records.follow(count, slices);
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Counted<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, buf))?;
        add(&READS, 1);
        add(&READ, buf.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Counted<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.io).poll_write(cx, octets))?;
        self.wrote(count, std::iter::once(octets));
        Poll::Ready(Ok(count))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.io).poll_write_vectored(cx, slices))?;
        self.wrote(count, slices.iter().map(|slice| &**slice));
        Poll::Ready(Ok(count))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// The octets in front of a record: kind, version, length.
const HEAD: usize = 5;

/// Counts TLS records by their heads.
#[derive(Default)]
struct Records {
    head: [u8; HEAD],
    /// Octets of the head that were seen.
    seen: usize,
    /// Octets of the payload that were not.
    left: usize,
}

impl Records {
    fn follow<'a>(&mut self, count: usize, slices: impl Iterator<Item = &'a [u8]>) {
        let mut left = count;
        for slice in slices {
            let taken = left.min(slice.len());
            self.walk(&slice[..taken]);
            left -= taken;
        }
    }

    fn walk(&mut self, mut octets: &[u8]) {
        while !octets.is_empty() {
            if self.left > 0 {
                let skipped = self.left.min(octets.len());
                self.left -= skipped;
                octets = &octets[skipped..];
                continue;
            }
            self.head[self.seen] = octets[0];
            self.seen += 1;
            octets = &octets[1..];
            if self.seen == HEAD {
                self.seen = 0;
                self.left = usize::from(u16::from_be_bytes([self.head[3], self.head[4]]));
                add(&RECORDS, 1);
            }
        }
    }
}
