//! The write side: how many calls a batch costs, and that no byte is lost or sent twice.

use std::io;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::super::writer::Writer;
use super::script::{Answer, Script, Take};
use crate::proto::Batch;

/// A batch of many pieces: some copied heads, some large payloads.
const PIECES: usize = 10;
const PIECE: usize = 5000;

/// Test bytes: position and batch tell where a byte belongs.
fn piece(batch: usize, index: usize) -> Bytes {
    (0..PIECE)
        .map(|at| (batch * 31 + index * 7 + at) as u8)
        .collect()
}

fn batch_bytes(batch: usize) -> Vec<u8> {
    (0..PIECES).flat_map(|index| piece(batch, index)).collect()
}

struct Bench {
    writer: Writer<Bytes>,
    io: Script,
    /// Batches that were given back.
    done: usize,
    filled: usize,
    /// Batches that are there to be sent.
    batches: usize,
}

impl Bench {
    fn new(io: Script, batches: usize) -> Bench {
        let writer = Writer::new(io.vectored, 64 * 1024, b"");
        Bench {
            writer,
            io,
            done: 0,
            filled: 0,
            batches,
        }
    }

    fn poll(&mut self) -> Poll<io::Result<()>> {
        let mut cx = Context::from_waker(Waker::noop());
        let done = &mut self.done;
        self.writer
            .poll_hand_over(&mut cx, &mut self.io, |batch: &mut Batch<Bytes>| {
                assert!(batch.is_empty());
                batch.forget_rests();
                *done += 1;
            })
    }

    /// What the driver does, until nothing is left. Answers how often it had to wait.
    fn run(&mut self) -> io::Result<usize> {
        let mut waits = 0;
        loop {
            match self.poll() {
                Poll::Pending => {
                    waits += 1;
                    continue;
                }
                Poll::Ready(result) => result?,
            }
            if self.filled < self.batches {
                let pieces = (0..PIECES).map(|index| piece(self.filled, index));
                self.writer.batch().refer_to_all(pieces);
                self.filled += 1;
            }
            if !self.writer.begin() {
                return Ok(waits);
            }
        }
    }

    fn check_all_arrived(&self) {
        let expected: Vec<u8> = (0..self.batches).flat_map(batch_bytes).collect();
        assert!(
            self.io.written == expected,
            "lost, doubled or disordered bytes"
        );
        assert_eq!(self.done, self.batches, "every batch was given back");
    }
}

fn run(io: Script, batches: usize) -> Bench {
    let mut bench = Bench::new(io, batches);
    bench.run().unwrap();
    bench.check_all_arrived();
    assert_eq!(bench.writer.writes() as usize, bench.io.writes.len());
    bench
}

#[test]
fn vectored_io_gets_a_batch_in_one_call_and_one_flush() {
    let bench = run(Script::new(true, Take::All), 3);
    assert_eq!(bench.io.writes, [PIECES * PIECE; 3]);
    assert_eq!(bench.io.slices, [PIECES; 3]);
    assert_eq!(bench.io.flushes, 3);
}

#[test]
fn other_io_gets_a_batch_joined_in_one_call() {
    let bench = run(Script::new(false, Take::All), 3);
    assert_eq!(bench.io.writes, [PIECES * PIECE; 3]);
    assert_eq!(bench.io.slices, [1; 3]);
    assert_eq!(bench.io.flushes, 3);
}

#[test]
fn io_that_only_takes_the_first_slice_is_joined_after_a_while() {
    let bench = run(Script::new(true, Take::FirstSlice), 20);
    let single = bench
        .io
        .writes
        .iter()
        .filter(|&&taken| taken == PIECE)
        .count();
    assert!(single <= 8, "{single} calls took one slice");
    let last = bench.io.writes.iter().rev().take(15);
    assert!(last.into_iter().all(|&taken| taken == PIECES * PIECE));
}

#[test]
fn io_that_takes_one_byte_a_call_gets_every_byte() {
    for vectored in [true, false] {
        run(Script::new(vectored, Take::AtMost(1)), 1);
    }
}

#[test]
fn every_size_of_partial_write_keeps_every_byte() {
    for vectored in [true, false] {
        for limit in [
            7, 9, 4999, 5000, 5001, 16_383, 16_384, 16_385, 33_000, 49_999,
        ] {
            run(Script::new(vectored, Take::AtMost(limit)), 4);
        }
    }
}

#[test]
fn a_short_rest_leaves_with_the_next_batch() {
    // Each call takes all but 9 bytes of one batch: no call is spent on the 9 alone but the last.
    let whole = PIECES * PIECE;
    for vectored in [true, false] {
        let bench = run(Script::new(vectored, Take::AtMost(whole - 9)), 4);
        assert_eq!(
            bench.io.writes,
            [whole - 9, whole - 9, whole - 9, whole - 9, 36]
        );
    }
}

#[test]
fn the_next_batch_is_not_offered_before_the_flush_is_ready() {
    let mut io = Script::new(true, Take::All);
    io.flush_answers.extend([Answer::Pending, Answer::Pending]);
    let mut bench = Bench::new(io, 1);
    bench.writer.batch().refer_to_all([piece(0, 0)]);
    assert!(bench.writer.begin());
    assert!(bench.poll().is_pending());
    assert_eq!(bench.io.writes, [PIECE]);
    assert!(bench.poll().is_pending());
    assert_eq!(bench.io.writes, [PIECE], "written once");
    assert!(bench.poll().is_ready());
    assert_eq!(bench.io.flushes, 1);
}

#[test]
fn pending_at_any_call_loses_nothing() {
    for vectored in [true, false] {
        for call in 0..20 {
            let mut io = Script::new(vectored, Take::AtMost(7_001));
            io.write_answers.extend(vec![Answer::Usual; call]);
            io.write_answers.extend([Answer::Pending, Answer::Pending]);
            io.flush_answers.extend(vec![Answer::Usual; call % 3]);
            io.flush_answers.push_back(Answer::Pending);
            let mut bench = Bench::new(io, 3);
            assert!(bench.run().unwrap() >= 1);
            bench.check_all_arrived();
        }
    }
}

#[test]
fn an_error_at_any_call_is_told() {
    for vectored in [true, false] {
        for unusual in [Answer::Error, Answer::Zero] {
            for call in 0..5 {
                let mut io = Script::new(vectored, Take::AtMost(20_000));
                io.write_answers.extend(vec![Answer::Usual; call]);
                io.write_answers.push_back(unusual);
                let error = Bench::new(io, 3).run().unwrap_err();
                let kind = match unusual {
                    Answer::Zero => io::ErrorKind::WriteZero,
                    _ => io::ErrorKind::ConnectionReset,
                };
                assert_eq!(error.kind(), kind);
            }
        }
        for call in 0..3 {
            let mut io = Script::new(vectored, Take::All);
            io.flush_answers.extend(vec![Answer::Usual; call]);
            io.flush_answers.push_back(Answer::Error);
            assert!(Bench::new(io, 3).run().is_err());
        }
    }
}

#[test]
fn what_comes_first_leaves_with_the_first_batch() {
    let mut bench = Bench::new(Script::new(true, Take::All), 0);
    bench.writer = Writer::new(true, 64 * 1024, b"first");
    bench.writer.batch().refer_to_all([piece(0, 0)]);
    assert!(bench.writer.begin());
    assert!(bench.poll().is_ready());
    assert_eq!(bench.io.writes, [5 + PIECE]);
    assert_eq!(&bench.io.written[..5], b"first");
}
