//! Cutting frames from a buffer that fills as it likes.

use bytes::{BufMut, BytesMut};
use proptest::prelude::{any, prop_assert_eq, proptest};

use super::every_frame::{any_frame, samples};
use super::{encoded, octets};
use crate::frame::{
    Cutter, DEFAULT_MAX_FRAME_SIZE, Data, Frame, Head, Kind, LARGEST_MAX_FRAME_SIZE, Malformed,
    StreamId,
};

type Cut = Result<Option<Frame>, Malformed>;

fn cut(cutter: &mut Cutter, buffer: &mut BytesMut) -> Cut {
    cutter.cut(buffer, DEFAULT_MAX_FRAME_SIZE)
}

/// Everything that can be cut from `input` when it comes in these pieces.
fn cut_all<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Result<Frame, Malformed>> {
    let (mut cutter, mut buffer, mut found) = (Cutter::default(), BytesMut::new(), Vec::new());
    for piece in pieces {
        buffer.put_slice(piece);
        while let Some(result) = cut(&mut cutter, &mut buffer).transpose() {
            found.push(result);
        }
    }
    assert!(cutter.is_between_frames(&buffer));
    found
}

#[test]
fn a_frame_cut_at_every_offset_is_the_same_frame() {
    for frame in samples() {
        let input = encoded(&frame);
        for at in 0..input.len() {
            let (mut cutter, mut buffer) = (Cutter::default(), BytesMut::from(&input[..at]));
            assert_eq!(cut(&mut cutter, &mut buffer), Ok(None), "{frame:?} at {at}");
            assert_eq!(cutter.is_between_frames(&buffer), at == 0);
            buffer.put_slice(&input[at..]);
            assert_eq!(cut(&mut cutter, &mut buffer), Ok(Some(frame.clone())));
            assert!(cutter.is_between_frames(&buffer));
        }
    }
}

//= test RFC 9113 §4.2 frames of 2^14 octets are accepted
#[test]
fn frame_of_the_announced_size_is_accepted() {
    let input = octets(Kind::DATA, 0, 1, vec![7; DEFAULT_MAX_FRAME_SIZE]);
    let found = cut_all([&input[..]]);
    assert!(matches!(&found[..], [Ok(Frame::Data(d))] if d.data.len() == DEFAULT_MAX_FRAME_SIZE));
}

//= test RFC 9113 §4.2 longer than announced is FRAME_SIZE_ERROR, told from the head alone
#[test]
fn too_long_is_told_from_the_head_and_skipped() {
    let length = DEFAULT_MAX_FRAME_SIZE + 1;
    let limit = DEFAULT_MAX_FRAME_SIZE;
    let input = octets(Kind::DATA, 0, 5, vec![0; length]);
    let (mut cutter, mut buffer) = (Cutter::default(), BytesMut::from(&input[..9]));
    let (kind, stream_id) = (Kind::DATA, StreamId::new(5));
    let fault = Malformed::TooLong {
        kind,
        stream_id,
        length,
        limit,
    };
    assert_eq!(cut(&mut cutter, &mut buffer), Err(fault));
    assert!(buffer.is_empty());
    for chunk in input[9..].chunks(1000) {
        assert!(!cutter.is_between_frames(&buffer));
        buffer.put_slice(chunk);
        assert_eq!(cut(&mut cutter, &mut buffer), Ok(None));
        assert!(buffer.is_empty(), "an unwanted payload is not kept");
    }
    assert!(cutter.is_between_frames(&buffer));
    buffer.put_slice(&octets(Kind::PING, 0, 0, [1; 8]));
    assert!(matches!(
        cut(&mut cutter, &mut buffer),
        Ok(Some(Frame::Ping(_)))
    ));
}

#[test]
fn largest_announcement_allocates_nothing() {
    let mut buffer = BytesMut::from(&[0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1][..]);
    let capacity = buffer.capacity();
    let result = cut(&mut Cutter::default(), &mut buffer);
    let Err(Malformed::TooLong { length, .. }) = result else {
        panic!("{result:?}")
    };
    assert_eq!(length, LARGEST_MAX_FRAME_SIZE);
    assert!(buffer.capacity() <= capacity);
}

#[test]
fn limit_is_the_one_in_force_now() {
    let input = octets(Kind::DATA, 0, 1, vec![0; 20_000]);
    let mut buffer = BytesMut::from(&input[..]);
    let result = Cutter::default().cut(&mut buffer, 20_000);
    assert!(matches!(result, Ok(Some(Frame::Data(_)))));
}

#[test]
fn fault_is_told_once_and_its_frame_is_gone() {
    let mut input = octets(Kind::WINDOW_UPDATE, 0, 3, [0; 4]);
    input.extend(octets(Kind::PRIORITY, 0, 3, [0; 4]));
    input.extend(octets(Kind::PING, 0, 0, [1; 8]));
    let stream_id = StreamId::new(3);
    let found = cut_all([&input[..]]);
    assert_eq!(found[0], Err(Malformed::ZeroIncrement { stream_id }));
    assert_eq!(
        found[1],
        Err(Malformed::WrongLength {
            kind: Kind::PRIORITY,
            stream_id,
            length: 4
        })
    );
    assert!(matches!(found[2], Ok(Frame::Ping(_))));
    assert_eq!(found.len(), 3);
}

//= test RFC 9113 §4.1 every unknown type is ignored
//= test RFC 9113 §5.5 unknown extensions are ignored
#[test]
fn every_unknown_type_is_skipped_by_counting() {
    for kind in (0..=u8::MAX).map(Kind::new).filter(|kind| !kind.is_known()) {
        let input = octets(kind, 0xff, 9, [0xaa; 40]);
        let head = Head {
            length: 40,
            kind,
            flags: 0xff,
            stream_id: StreamId::new(9),
        };
        for at in 9..input.len() {
            let found = cut_all([&input[..at], &input[at..]]);
            assert_eq!(found, [Ok(Frame::Unknown(head))]);
        }
    }
}

#[test]
fn data_is_a_slice_of_what_was_read() {
    let mut buffer = BytesMut::with_capacity(1024);
    buffer.put_slice(&octets(
        Kind::DATA,
        0x8,
        1,
        [&[2][..], b"hello", &[0, 0]].concat(),
    ));
    let start = buffer.as_ptr();
    let result = cut(&mut Cutter::default(), &mut buffer);
    let Ok(Some(Frame::Data(Data { data, .. }))) = result else {
        panic!("{result:?}")
    };
    assert_eq!(&data[..], b"hello");
    assert_eq!(data.as_ptr(), start.wrapping_add(10));
}

proptest! {
    #[test]
    fn frames_cut_anywhere_are_the_same_frames(
        frames in proptest::collection::vec(any_frame(), 1..6),
        size in 1..300_usize,
    ) {
        let input: Vec<u8> = frames.iter().flat_map(encoded).collect();
        let found: Result<Vec<Frame>, Malformed> = cut_all(input.chunks(size)).into_iter().collect();
        prop_assert_eq!(found, Ok(frames));
    }

    /// Nothing panics, nothing is kept beyond one frame, and the end of the input is reached.
    #[test]
    fn noise_does_no_harm(noise in proptest::collection::vec(any::<u8>(), 0..2000), size in 1..99_usize) {
        let (mut cutter, mut buffer) = (Cutter::default(), BytesMut::new());
        for piece in noise.chunks(size) {
            buffer.put_slice(piece);
            while let Ok(Some(_)) | Err(_) = cutter.cut(&mut buffer, 256) {}
            assert!(buffer.len() < 9 + 256);
        }
    }

    /// Known types with short payloads meet every length fault and every flag.
    #[test]
    fn every_head_has_an_answer(
        kind in 0..=0x11_u8,
        flags in any::<u8>(),
        id in 0..4_u32,
        payload in proptest::collection::vec(any::<u8>(), 0..30),
    ) {
        let input = octets(Kind::new(kind), flags, id, &payload);
        let found = cut_all([&input[..]]);
        prop_assert_eq!(found.len(), 1);
        if let Ok(frame) = &found[0] {
            prop_assert_eq!(cut_all([&encoded(frame)[..]]).len(), usize::from(Kind::new(kind).is_known()));
        }
    }
}
