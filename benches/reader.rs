//! Uploads: from the octets that a transport has to the body that a handler reads, without a
//! kernel. Prints how large the reads were, too.

mod support;

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use fairmux::server::SendResponse;
use fairmux::{RecvStream, server};

use support::script::{Script, Served};
use support::wire;

/// Bytes of DATA that lie ready at a time.
const READY: usize = 1 << 20;

const SIZES: [usize; 4] = [16_384, 4_096, 1_000, 100];

fn main() {
    if support::is_bench() {
        divan::main();
        figures();
    }
}

/// Bodies in frames of `size`, read and released by the handler as they come.
#[divan::bench(args = SIZES)]
fn upload(bencher: Bencher, size: usize) {
    let mut upload = Upload::new(size);
    let (frames, bytes) = (upload.frames(), READY);
    bencher
        .counter(ItemsCount::new(frames))
        .counter(BytesCount::new(bytes))
        .bench_local(|| upload.round());
}

fn figures() {
    println!("\n  frame    bytes a read    least space offered");
    for size in SIZES {
        let mut upload = Upload::new(size);
        for _ in 0..20 {
            upload.round();
        }
        let counts = upload.served.script.counts();
        let least = counts.least_space.unwrap_or(0);
        println!(
            "{size:>7}    {:>12}    {least:>19}",
            counts.read / counts.reads
        );
    }
}

struct Upload {
    served: Served,
    body: RecvStream,
    _respond: SendResponse<Bytes>,
    octets: Bytes,
    size: usize,
}

impl Upload {
    fn new(size: usize) -> Upload {
        let mut builder = server::Builder::new();
        builder
            .initial_window_size(2 * READY as u32)
            .initial_connection_window_size(2 * READY as u32);
        let mut served = Served::with(&builder, Script::default(), (wire::WIDE, wire::WIDE));
        let ask = wire::request(1, wire::Method::Post, "/sink");
        served.script.say(ask);
        let (request, respond) = served.run().pop().expect("one request came");
        let frame = wire::frame(wire::DATA, 0, 1, &vec![7; size]);
        Upload {
            served,
            body: request.into_body(),
            _respond: respond,
            octets: frame.repeat(READY / size).into(),
            size,
        }
    }

    fn frames(&self) -> usize {
        READY / self.size
    }

    fn round(&mut self) {
        self.served.script.say(self.octets.clone());
        let mut cx = Context::from_waker(Waker::noop());
        let mut left = self.frames() * self.size;
        while left > 0 {
            // A pause after many turns is no end.
            self.served.turn();
            while let Poll::Ready(Some(Ok(data))) = self.body.poll_data(&mut cx) {
                left -= data.len();
                let released = self.body.flow_control().release_capacity(data.len());
                released.expect("no more than came");
            }
        }
        self.served.turn();
    }
}
