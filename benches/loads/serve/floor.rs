//! What no server can beat: it looks only for HEADERS, and answers each with canned frames, many in
//! one vectored write. Flow control, and whatever else the client says, is ignored.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::Order;
use crate::loads::parser::Parser;
use crate::support::wire::{self, HEAD, Head};

/// Payload of a frame.
const FRAME: usize = 16 * 1024;

/// Frames of one write.
const FRAMES: usize = 16;

static PAGE: [u8; FRAME] = [b'f'; FRAME];

/// `:status: 200`.
const BLOCK: &[u8] = &[0x88];

pub(super) async fn serve<T: AsyncRead + AsyncWrite + Unpin>(io: T, order: &Order) {
    let frames = order.batch.map_or(FRAMES, |batch| (batch / FRAME).max(1));
    let mut floor = Floor {
        io,
        size: order.size,
        frames,
        asked: VecDeque::new(),
        heads: Vec::new(),
    };
    // An error means that the client has left.
    let _ = floor.run().await;
}

struct Floor<T> {
    io: T,
    size: u64,
    frames: usize,
    asked: VecDeque<u32>,
    /// Kept for its memory.
    heads: Vec<Piece>,
}

/// A run of octets of ours, and how much payload follows it.
struct Piece {
    head: [u8; HEAD + 1 + HEAD],
    length: usize,
    payload: usize,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Floor<T> {
    async fn run(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        let mut preface = [0; wire::PREFACE.len()];
        self.io.read_exact(&mut preface).await?;
        let settings = wire::frame(wire::SETTINGS, 0, 0, &[]);
        self.io.write_all(&settings).await?;
        let mut parser = Parser::default();
        loop {
            let count = self.io.read(&mut buffer).await?;
            if count == 0 {
                return Ok(());
            }
            parser.walk(&buffer[..count], |head, part| {
                if head.kind == wire::HEADERS && part.is_last() {
                    self.asked.push_back(head.id);
                }
            });
            self.answer().await?;
        }
    }

    /// Writes all answers, `frames` DATA frames a call.
    async fn answer(&mut self) -> io::Result<()> {
        while let Some(id) = self.asked.pop_front() {
            let mut left = self.size;
            let mut first = true;
            while left > 0 {
                let payload = left.min(FRAME as u64) as usize;
                left -= payload as u64;
                self.heads.push(Piece::new(id, payload, first, left == 0));
                first = false;
                if self.heads.len() == self.frames {
                    self.write().await?;
                }
            }
        }
        self.write().await
    }

    async fn write(&mut self) -> io::Result<()> {
        let slices = self.heads.iter().flat_map(|piece| {
            let head = IoSlice::new(&piece.head[..piece.length]);
            [head, IoSlice::new(&PAGE[..piece.payload])]
        });
        let mut slices: Vec<_> = slices.collect();
        let mut left = &mut slices[..];
        while !left.is_empty() {
            let io = &mut self.io;
            let taken = poll_fn(|cx| Pin::new(&mut *io).poll_write_vectored(cx, left)).await?;
            IoSlice::advance_slices(&mut left, taken);
        }
        self.heads.clear();
        self.io.flush().await
    }
}

impl Piece {
    fn new(id: u32, payload: usize, first: bool, last: bool) -> Piece {
        let mut head = [0; HEAD + 1 + HEAD];
        let mut length = 0;
        if first {
            let headers = Head {
                length: BLOCK.len(),
                kind: wire::HEADERS,
                flags: wire::END_HEADERS,
                id,
            };
            head[..HEAD].copy_from_slice(&headers.octets());
            head[HEAD] = BLOCK[0];
            length = HEAD + 1;
        }
        let data = Head {
            length: payload,
            kind: wire::DATA,
            flags: if last { wire::END_STREAM } else { 0 },
            id,
        };
        head[length..length + HEAD].copy_from_slice(&data.octets());
        Piece {
            head,
            length: length + HEAD,
            payload,
        }
    }
}
