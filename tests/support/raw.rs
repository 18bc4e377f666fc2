//! A client that writes frames as it likes, and fails when it is told to go away, unless it waits for the
//! end.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::timeout;

use super::frames::{Frame, flag, kind, settings_ack};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) struct Raw {
    io: DuplexStream,
    input: Vec<u8>,
}

impl Raw {
    /// Past the exchange of SETTINGS.
    pub(crate) async fn begin(io: DuplexStream, beginning: &[Frame]) -> Raw {
        let mut peer = Raw {
            io,
            input: Vec::new(),
        };
        peer.io.write_all(PREFACE).await.unwrap();
        peer.send(beginning.iter().cloned()).await;
        peer.until(|frame| frame.kind == kind::SETTINGS && !frame.has(flag::ACK))
            .await;
        peer.send([settings_ack()]).await;
        peer
    }

    pub(crate) async fn send(&mut self, frames: impl IntoIterator<Item = Frame>) {
        let octets: Vec<u8> = frames
            .into_iter()
            .flat_map(|frame| frame.encode())
            .collect();
        self.io.write_all(&octets).await.unwrap();
    }

    /// Reads on to the first frame that is as wanted.
    pub(crate) async fn until(&mut self, is_wanted: impl Fn(&Frame) -> bool) -> Frame {
        loop {
            let frame = self.next().await;
            assert_ne!(frame.kind, kind::GOAWAY, "{frame:?}");
            if is_wanted(&frame) {
                return frame;
            }
        }
    }

    /// Reads on to the end: the frames.
    pub(crate) async fn rest(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        loop {
            while let Some(frame) = Frame::parse(&mut self.input) {
                frames.push(frame);
            }
            if self.io.read_buf(&mut self.input).await.unwrap() == 0 {
                return frames;
            }
        }
    }

    /// Leaves, in the middle of whatever is going on.
    pub(crate) fn close(self) {
        drop(self.io);
    }

    async fn next(&mut self) -> Frame {
        loop {
            if let Some(frame) = Frame::parse(&mut self.input) {
                return frame;
            }
            let read = self.io.read_buf(&mut self.input);
            let read = timeout(Duration::from_secs(100), read).await;
            assert_ne!(read.expect("something comes").unwrap(), 0, "the end");
        }
    }
}
