//! The read side: space, the size of the buffer, and what a delivered slice keeps alive.

use std::task::{Context, Poll, Waker};

use bytes::{BufMut, Bytes, BytesMut};

use super::super::reader::{CEILING, FLOOR, KEPT, Reader, spare_buffers};
use super::script::Script;
use crate::frame::{Frame, HEAD_LEN, StreamId, encode_data_head};

const MAX_FRAME: usize = 16_384;

/// `count` DATA frames of `length` bytes each, as the peer would send them.
fn data_frames(count: usize, length: usize) -> Vec<u8> {
    let mut out = BytesMut::new();
    for frame in 0..count {
        encode_data_head(StreamId::new(1), length, false, &mut out);
        out.put_bytes(frame as u8, length);
    }
    out.to_vec()
}

fn in_pieces(bytes: &[u8], size: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    bytes.chunks(size).map(<[u8]>::to_vec)
}

/// Reads and cuts until the script has ended, and answers the payloads.
fn read_all(reader: &mut Reader, io: &mut Script, max_frame_size: usize) -> Vec<Bytes> {
    let mut cx = Context::from_waker(Waker::noop());
    let mut payloads = Vec::new();
    while let Poll::Ready(read) = reader.poll_read(&mut cx, io) {
        assert_ne!(read.unwrap(), 0);
        while let Some(frame) = reader.cut(max_frame_size).unwrap() {
            let Frame::Data(data) = frame else {
                panic!("only DATA was sent: {frame:?}")
            };
            payloads.push(data.data);
        }
    }
    payloads
}

#[test]
fn no_read_is_offered_less_than_the_floor() {
    for length in [0, 1, 100, 5000, 8183, 8184, 16_384] {
        for piece in [1, 2, 777, 8192, 100_000] {
            let sent = data_frames(20, length);
            let mut io = Script::reading(in_pieces(&sent, piece));
            let payloads = read_all(&mut Reader::new(), &mut io, MAX_FRAME);
            assert_eq!(payloads.len(), 20);
            for (frame, payload) in payloads.iter().enumerate() {
                assert!(payload.len() == length && payload.iter().all(|&b| b == frame as u8));
            }
            let least = *io.offered.iter().min().unwrap();
            assert!(
                least >= FLOOR,
                "{least} offered, frames of {length} in pieces of {piece}"
            );
        }
    }
}

#[test]
fn a_long_frame_is_offered_what_it_misses() {
    let sent = data_frames(1, MAX_FRAME);
    let mut io = Script::reading([sent[..100].to_vec(), sent[100..].to_vec()]);
    let payloads = read_all(&mut Reader::new(), &mut io, MAX_FRAME);
    assert_eq!(payloads[0].len(), MAX_FRAME);
    assert!(io.offered[1] >= sent.len() - 100);
    assert_eq!(io.offered.len(), 3, "two reads, and the one that waits");
}

#[test]
fn a_head_alone_does_not_cost_megabytes() {
    let mut sent = BytesMut::new();
    encode_data_head(StreamId::new(1), 8 << 20, false, &mut sent);
    let mut io = Script::reading([sent.to_vec()]);
    read_all(&mut Reader::new(), &mut io, 16 << 20);
    assert!(*io.offered.last().unwrap() <= CEILING);
    // It still arrives if it really comes.
    let sent = data_frames(1, 8 << 20);
    let mut io = Script::reading([sent]);
    let payloads = read_all(&mut Reader::new(), &mut io, 16 << 20);
    assert_eq!(payloads[0].len(), 8 << 20);
}

#[test]
fn the_size_follows_the_traffic_up_and_down() {
    let sent = data_frames(200, MAX_FRAME);
    let mut io = Script::reading([sent]);
    let mut reader = Reader::new();
    drop(read_all(&mut reader, &mut io, MAX_FRAME));
    let most = *io.offered.iter().max().unwrap();
    assert!(
        most > CEILING / 2 && most <= CEILING,
        "{most} offered at most"
    );
    let reads = io.offered.len() - 1;
    assert!(reads < 80, "{reads} reads for 200 frames");
    // A trickle brings it back.
    let mut io = Script::reading(in_pieces(&data_frames(4000, 10), 100));
    drop(read_all(&mut reader, &mut io, MAX_FRAME));
    let last = *io.offered.last().unwrap();
    assert!(last <= 2 * FLOOR, "{last} offered after a trickle");
}

#[test]
fn kept_slices_pin_at_most_four_times_their_length() {
    for length in [1, 1000, 4000, 10_000, MAX_FRAME] {
        let sent = data_frames(50, length);
        let mut io = Script::reading([sent]);
        for payload in read_all(&mut Reader::new(), &mut io, MAX_FRAME) {
            let pinned = pinned_by(payload);
            assert!(pinned <= 4 * length, "{length} bytes keep {pinned}");
        }
    }
}

/// The size of the allocation that a slice keeps, if the slice is its only owner.
fn pinned_by(slice: Bytes) -> usize {
    match slice.try_into_mut() {
        // Whatever lies in front of the slice cannot be seen from here: the end tells enough.
        Ok(owner) => owner.capacity(),
        Err(_) => 0,
    }
}

#[test]
fn a_quarter_of_the_buffer_is_not_copied() {
    let sent = data_frames(400, MAX_FRAME);
    let mut io = Script::reading([sent]);
    let payloads = read_all(&mut Reader::new(), &mut io, MAX_FRAME);
    let neighbours = payloads
        .windows(2)
        .filter(|pair| pair[0].as_ptr_range().end.wrapping_add(HEAD_LEN) == pair[1].as_ptr())
        .count();
    assert!(
        neighbours > 200,
        "only {neighbours} frames lie beside the one before"
    );
}

#[test]
fn an_empty_buffer_is_given_back_and_comes_again() {
    let mut reader = Reader::new();
    let mut io = Script::reading([data_frames(3, 100)]);
    drop(read_all(&mut reader, &mut io, MAX_FRAME));
    reader.rest();
    assert_eq!(reader.unread().capacity(), 0);
    io.input.push_back(data_frames(1, 100));
    assert_eq!(read_all(&mut reader, &mut io, MAX_FRAME).len(), 1);
}

#[test]
fn the_next_reader_takes_the_buffer_of_one_at_rest_unless_somebody_holds_a_part_of_it() {
    let read = |length: usize| {
        let mut reader = Reader::new();
        let mut io = Script::reading([data_frames(1, length)]);
        let payloads = read_all(&mut reader, &mut io, MAX_FRAME);
        let lies_in = reader.unread().as_ptr();
        reader.rest();
        (lies_in, payloads)
    };
    // A short payload is copied: nobody holds a part.
    let (first, _short) = read(10);
    let (_, held) = read(4000);
    assert!(held[0].as_ptr().addr().abs_diff(first.addr()) < FLOOR);
    let (_, other) = read(4000);
    assert!(other[0].as_ptr().addr().abs_diff(held[0].as_ptr().addr()) >= 4000);
}

#[test]
fn connections_that_take_turns_give_back_and_find_a_buffer_each_up_to_a_bound() {
    let mut readers: Vec<_> = (0..KEPT + 3).map(|_| Reader::new()).collect();
    let read = |readers: &mut [Reader]| {
        for reader in readers {
            let mut io = Script::reading([data_frames(1, 10)]);
            read_all(reader, &mut io, MAX_FRAME);
        }
    };
    read(&mut readers);
    readers.iter_mut().for_each(Reader::rest);
    assert_eq!(spare_buffers(), KEPT);
    read(&mut readers[..5]);
    assert_eq!(spare_buffers(), KEPT - 5);
}

#[test]
fn a_buffer_with_part_of_a_frame_is_kept() {
    let mut reader = Reader::new();
    let mut io = Script::reading([data_frames(1, 100)[..50].to_vec()]);
    drop(read_all(&mut reader, &mut io, MAX_FRAME));
    reader.rest();
    assert_eq!(reader.unread().len(), 50);
}
