//! Header blocks: what a usual one costs the first time, and once its fields are in the table. The
//! layer is compiled into this bench: it names nothing above it, so that needs no door in the crate.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    unnameable_types,
    unfulfilled_lint_expectations,
    reason = "a layer of the crate, of which a bench uses a part"
)]

#[path = "../src/hpack/mod.rs"]
mod hpack;
mod support;

use bytes::BytesMut;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use http::{HeaderMap, HeaderName, HeaderValue, header};

use hpack::{Budget, DEFAULT_TABLE_SIZE, Decoder, Encoder, Pseudo};

const BUDGET: Budget = Budget {
    bytes: 16 * 1024,
    fields: 128,
};

fn main() {
    if support::is_bench() {
        divan::main();
    }
}

/// A list to encode.
struct List {
    pseudo: Vec<(Pseudo, &'static str)>,
    fields: HeaderMap,
}

impl List {
    /// What a browser asks.
    fn request() -> List {
        let pseudo = vec![
            (Pseudo::Method, "GET"),
            (Pseudo::Scheme, "https"),
            (Pseudo::Authority, "www.example.com"),
            (
                Pseudo::Path,
                "/articles/2024/a-long-name-of-a-page.html?from=search",
            ),
        ];
        let fields = [
            (
                header::USER_AGENT,
                "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
            ),
            (
                header::ACCEPT,
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            ),
            (header::ACCEPT_LANGUAGE, "en-US,en;q=0.5"),
            (header::ACCEPT_ENCODING, "gzip, deflate, br, zstd"),
            (header::COOKIE, "session=0123456789abcdef0123456789abcdef"),
            (HeaderName::from_static("sec-fetch-mode"), "navigate"),
            (HeaderName::from_static("priority"), "u=0, i"),
        ];
        List::new(pseudo, &fields)
    }

    /// What a small answer says.
    fn response() -> List {
        let fields = [
            (header::DATE, "Mon, 21 Oct 2013 20:13:21 GMT"),
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CONTENT_LENGTH, "13"),
        ];
        List::new(vec![(Pseudo::Status, "200")], &fields)
    }

    fn new(pseudo: Vec<(Pseudo, &'static str)>, fields: &[(HeaderName, &'static str)]) -> List {
        let pairs = fields.iter().cloned();
        List {
            pseudo,
            fields: pairs
                .map(|(name, value)| (name, HeaderValue::from_static(value)))
                .collect(),
        }
    }

    fn named(name: &str) -> List {
        match name {
            "request" => List::request(),
            _ => List::response(),
        }
    }

    fn encode(&self, encoder: &mut Encoder, out: &mut BytesMut) {
        encoder.begin(out);
        for (name, value) in &self.pseudo {
            encoder.pseudo(*name, value.as_bytes(), out);
        }
        for (name, value) in &self.fields {
            encoder.field(name, value, out);
        }
    }
}

const LISTS: [&str; 2] = ["request", "response"];

/// On a connection that has sent nothing yet.
#[divan::bench(args = LISTS)]
fn encode_first(bencher: Bencher, name: &str) {
    let list = List::named(name);
    bencher
        .counter(ItemsCount::new(1_usize))
        .with_inputs(|| (Encoder::new(), BytesMut::with_capacity(1024)))
        .bench_refs(|(encoder, out)| list.encode(encoder, out));
}

/// When all is in the table that can be.
#[divan::bench(args = LISTS)]
fn encode_again(bencher: Bencher, name: &str) {
    let list = List::named(name);
    let (mut encoder, mut out) = (Encoder::new(), BytesMut::with_capacity(1024));
    list.encode(&mut encoder, &mut out);
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        out.clear();
        list.encode(&mut encoder, &mut out);
        black_box(out.len())
    });
}

#[divan::bench(args = LISTS)]
fn decode_first(bencher: Bencher, name: &str) {
    let mut block = BytesMut::new();
    List::named(name).encode(&mut Encoder::new(), &mut block);
    bencher
        .counter(ItemsCount::new(1_usize))
        .with_inputs(|| Decoder::new(DEFAULT_TABLE_SIZE))
        .bench_refs(|decoder| decode(decoder, &block));
}

#[divan::bench(args = LISTS)]
fn decode_again(bencher: Bencher, name: &str) {
    let list = List::named(name);
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(DEFAULT_TABLE_SIZE));
    let mut block = BytesMut::new();
    list.encode(&mut encoder, &mut block);
    decode(&mut decoder, &block);
    block.clear();
    list.encode(&mut encoder, &mut block);
    bencher
        .counter(ItemsCount::new(1_usize))
        .bench_local(|| decode(&mut decoder, &block));
}

fn decode(decoder: &mut Decoder, block: &[u8]) {
    let decoded = decoder.decode(block, BUDGET, &mut |field| {
        black_box(field);
    });
    assert!(decoded.is_ok_and(|consumed| !consumed.over));
}
