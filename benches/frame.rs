//! Octets to frames and back. The layer is compiled into this bench: it names nothing above it, so
//! that needs no door in the crate.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    unnameable_types,
    unfulfilled_lint_expectations,
    reason = "a layer of the crate, of which a bench uses a part"
)]

#[path = "../src/frame/mod.rs"]
mod frame;
mod support;

use bytes::{Bytes, BytesMut};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};

use frame::{Cutter, DEFAULT_MAX_FRAME_SIZE, Frame, StreamId, encode_data_head, encode_headers};
use support::wire;

/// Frames in a buffer.
const FRAMES: usize = 64;

fn main() {
    if support::is_bench() {
        divan::main();
    }
}

/// Whole frames, cut from a buffer one after the other.
#[divan::bench(args = ["data 16 KiB", "data 100 B", "headers", "window update", "ping", "settings"])]
fn cut(bencher: Bencher, kind: &str) {
    let one = match kind {
        "data 16 KiB" => wire::frame(wire::DATA, 0, 1, &[7; DEFAULT_MAX_FRAME_SIZE]),
        "data 100 B" => wire::frame(wire::DATA, 0, 1, &[7; 100]),
        "headers" => wire::request(1, wire::Method::Get, "/bytes/13"),
        "window update" => wire::window_update(1, 1000),
        "ping" => wire::frame(wire::PING, 0, 0, b"12345678"),
        _ => wire::frame(wire::SETTINGS, 0, 0, &[0, 4, 0, 0, 0xff, 0xff]),
    };
    let octets = one.repeat(FRAMES);
    bencher
        .counter(ItemsCount::new(FRAMES))
        .counter(BytesCount::new(octets.len()))
        .with_inputs(|| BytesMut::from(&octets[..]))
        .bench_refs(|buffer| {
            let mut cutter = Cutter::default();
            let mut count = 0;
            while let Ok(Some(frame)) = cutter.cut(buffer, DEFAULT_MAX_FRAME_SIZE) {
                black_box::<Frame>(frame);
                count += 1;
            }
            assert_eq!(count, FRAMES);
        });
}

/// Heads of DATA, whose payload goes another way.
#[divan::bench]
fn data_heads(bencher: Bencher) {
    let id = StreamId::new(1);
    let mut out = BytesMut::with_capacity(FRAMES * wire::HEAD);
    bencher.counter(ItemsCount::new(FRAMES)).bench_local(|| {
        out.clear();
        for _ in 0..FRAMES {
            encode_data_head(id, black_box(DEFAULT_MAX_FRAME_SIZE), false, &mut out);
        }
        black_box(out.len())
    });
}

/// A header block as HEADERS.
#[divan::bench]
fn headers(bencher: Bencher) {
    let id = StreamId::new(1);
    let block = Bytes::from(wire::request_block(wire::Method::Get, "/bytes/13"));
    let mut out = BytesMut::with_capacity(FRAMES * 64);
    bencher.counter(ItemsCount::new(FRAMES)).bench_local(|| {
        out.clear();
        for _ in 0..FRAMES {
            encode_headers(
                id,
                black_box(&block),
                true,
                DEFAULT_MAX_FRAME_SIZE,
                &mut out,
            );
        }
        black_box(out.len())
    });
}
