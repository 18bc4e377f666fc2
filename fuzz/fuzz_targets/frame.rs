//! Frames: no panic, and the pieces in which octets come change nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, octets) = input;
    fairmux::fuzzing::frames(octets, usize::from(piece));
});
