//! Downloads: from the payload that a handler sends to the transport, without a kernel, which leaves
//! frames, batches and writes. Prints how large the writes were, too.

mod support;

use bytes::Bytes;
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use fairmux::{SendStream, server};
use http::Response;

use support::script::{Script, Served};
use support::wire;

/// Streams that send, and what each sends at a time.
const STREAMS: usize = 20;
const PIECE: usize = 64 * 1024;

static PAGE: [u8; PIECE] = [7; PIECE];

/// A transport that takes many slices a call, or one.
const TRANSPORTS: [&str; 2] = ["vectored", "joined"];
const BATCHES: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];

fn main() {
    if support::is_bench() {
        divan::main();
        figures();
    }
}

/// Twenty streams send 64 KiB each.
#[divan::bench(args = TRANSPORTS)]
fn large(bencher: Bencher, transport: &str) {
    let mut download = Download::new(transport, 64 << 10);
    bencher
        .counter(BytesCount::new(STREAMS * PIECE))
        .bench_local(|| download.round(PIECE));
}

/// Twenty streams send 100 bytes each.
#[divan::bench]
fn small(bencher: Bencher) {
    let mut download = Download::new("vectored", 64 << 10);
    bencher
        .counter(ItemsCount::new(STREAMS))
        .bench_local(|| download.round(100));
}

/// By the size of a batch, over a transport that takes many slices.
#[divan::bench(args = BATCHES)]
fn batch(bencher: Bencher, size: usize) {
    let mut download = Download::new("vectored", size);
    bencher
        .counter(BytesCount::new(STREAMS * PIECE))
        .bench_local(|| download.round(PIECE));
}

fn figures() {
    println!("\n transport      batch    bytes a write    frames a batch");
    for transport in TRANSPORTS {
        for size in BATCHES {
            let mut download = Download::new(transport, size);
            for _ in 0..20 {
                download.round(PIECE);
            }
            let counts = download.served.script.counts();
            let stats = download.served.connection.stats();
            let frames = stats.frames_sent as f64 / stats.batches as f64;
            let per_write = counts.written / counts.writes;
            println!("{transport:>10}  {size:>9}    {per_write:>13}    {frames:>14.1}");
        }
    }
}

struct Download {
    served: Served,
    streams: Vec<SendStream<Bytes>>,
}

impl Download {
    fn new(transport: &str, batch: usize) -> Download {
        let script = match transport {
            "joined" => Script::joined(),
            _ => Script::default(),
        };
        let mut builder = server::Builder::new();
        builder.batch_size(batch);
        let mut served = Served::with(&builder, script, (wire::WIDE, wire::WIDE));
        let ids = (0..STREAMS as u32).map(|stream| 1 + 2 * stream);
        let requests = ids.map(|id| wire::request(id, wire::Method::Get, "/"));
        served.script.say(requests.collect::<Vec<_>>().concat());
        let begin = |(_, mut respond): support::script::Asked| {
            let stream = respond.send_response(Response::new(()), false);
            stream.expect("the stream is open")
        };
        let streams = served.run().into_iter().map(begin).collect();
        Download { served, streams }
    }

    fn round(&mut self, length: usize) {
        for stream in &mut self.streams {
            let piece = Bytes::from_static(&PAGE[..length]);
            stream.send_data(piece, false).expect("the stream is open");
        }
        let before = self.served.connection.stats().data_sent;
        let (bytes, each) = ((STREAMS * length) as u64, length as u32);
        while self.served.connection.stats().data_sent < before + bytes {
            self.served.turn();
        }
        // As much window as was used.
        let script = &self.served.script;
        script.say(wire::window_update(0, bytes as u32));
        for stream in &self.streams {
            script.say(wire::window_update(stream.stream_id().as_u32(), each));
        }
        self.served.turn();
    }
}
