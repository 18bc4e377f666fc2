//! Calls from inside: a payload, and what it, the wakers and the socket do with the handles of the
//! streams for which they work.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

use bytes::{Buf, Bytes};
use fairmux::{Ping, PingPong, Reason, RecvStream, SendStream, client, server};
use http::{HeaderMap, Request};

/// What a callback may use.
pub(crate) enum Held {
    Sender(SendStream<Payload>),
    Answer(server::SendResponse<Payload>),
    Requests(client::SendRequest<Payload>),
    Body(RecvStream),
    Response(client::ResponseFuture),
    Ping(PingPong),
}

/// The handles that callbacks use, and the numbers from which they draw what they do.
#[derive(Default)]
pub(crate) struct Calls {
    held: Mutex<Vec<Held>>,
    seed: AtomicUsize,
    /// How many more there will be: without an end they would keep the tasks awake for ever.
    left: AtomicUsize,
    depth: AtomicUsize,
}

/// A callback that is called by what it calls goes this deep.
const DEPTH: usize = 3;

impl Calls {
    /// None at all.
    pub(crate) fn none() -> Arc<Calls> {
        Arc::default()
    }

    pub(crate) fn new(seed: usize) -> Arc<Calls> {
        Arc::new(Calls {
            seed: AtomicUsize::new(seed),
            left: AtomicUsize::new(400),
            ..Calls::default()
        })
    }

    pub(crate) fn are_made(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    /// Gives a handle to the callbacks, or lets it go if none are made any more.
    pub(crate) fn keep(&self, held: Held) {
        match self.are_made() {
            true => self.held.lock().unwrap().push(held),
            false => let_go(held),
        }
    }

    /// Drops all handles. Answers how many calls there were left.
    pub(crate) fn end(&self) -> usize {
        let left = self.left.swap(0, Ordering::Relaxed);
        let held = std::mem::take(&mut *self.held.lock().unwrap());
        held.into_iter().for_each(let_go);
        left
    }

    /// Something of the user's was called.
    pub(crate) fn knock(&self) {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 || self.depth.load(Ordering::Relaxed) >= DEPTH {
            return;
        }
        let drawn = self.draw();
        let taken = {
            let mut held = self.held.lock().unwrap();
            match held.len() {
                0 => return,
                count => held.swap_remove(drawn % count),
            }
        };
        self.left.store(left - 1, Ordering::Relaxed);
        self.depth.fetch_add(1, Ordering::Relaxed);
        let kept = self.act(taken, self.draw());
        self.depth.fetch_sub(1, Ordering::Relaxed);
        if let Some(kept) = kept {
            self.keep(kept);
        }
    }

    fn act(&self, held: Held, drawn: usize) -> Option<Held> {
        if drawn % 23 == 0 {
            let_go(held);
            return None;
        }
        let way = drawn / 23 % 8;
        match held {
            Held::Sender(stream) => Some(Held::Sender(use_sender(stream, way))),
            Held::Answer(mut answer) => {
                match way {
                    0 => answer.send_reset(Reason::INTERNAL_ERROR),
                    1 => drop(answer.push_request(request("/pushed"))),
                    2 => drop(answer.poll_reset(&mut noop())),
                    _ => answer.set_priority(way as u8, true),
                }
                Some(Held::Answer(answer))
            }
            Held::Requests(mut requests) => {
                match way {
                    0 => self.ask(&mut requests),
                    1 | 2 => drop(requests.clone()),
                    _ => drop(requests.poll_ready(&mut noop())),
                }
                Some(Held::Requests(requests))
            }
            Held::Body(mut body) => {
                match way {
                    0..3 => drop(body.poll_data(&mut noop())),
                    3 => drop(body.poll_trailers(&mut noop())),
                    4 => drop(body.flow_control().clone()),
                    _ => drop(body.flow_control().release_capacity(way)),
                }
                Some(Held::Body(body))
            }
            Held::Response(mut response) => {
                drop(response.poll_informational(&mut noop()));
                Some(Held::Response(response))
            }
            Held::Ping(mut pings) => {
                drop(pings.send_ping(Ping::opaque()));
                drop(pings.poll_pong(&mut noop()));
                Some(Held::Ping(pings))
            }
        }
    }

    fn ask(&self, requests: &mut client::SendRequest<Payload>) {
        if let Ok((response, stream)) = requests.send_request(request("/plain"), false) {
            self.keep(Held::Response(response));
            self.keep(Held::Sender(stream));
        }
    }

    fn draw(&self) -> usize {
        let next = self.seed.load(Ordering::Relaxed);
        let next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.seed.store(next, Ordering::Relaxed);
        next >> 33
    }
}

/// A sender that just goes leaves its stream open while a task holds another handle of it, and the peer
/// waits for the rest of the body. So it says that none will come.
fn let_go(held: Held) {
    if let Held::Sender(mut stream) = held {
        stream.send_reset(Reason::CANCEL);
    }
}

fn use_sender(mut stream: SendStream<Payload>, way: usize) -> SendStream<Payload> {
    match way {
        0 => stream.send_reset(Reason::CANCEL),
        1 => drop(stream.send_trailers(HeaderMap::new())),
        2 => drop(stream.poll_reset(&mut noop())),
        3 => drop(stream.poll_capacity(&mut noop())),
        4 => stream.set_priority(1, false),
        5 => stream.reserve_capacity(stream.capacity() + 100),
        _ => drop(stream.send_data(Payload::quiet(way * 100), false)),
    }
    stream
}

fn noop() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

pub(crate) fn request(path: &str) -> Request<()> {
    let url = format!("http://example.test{path}");
    Request::post(url).body(()).unwrap()
}

/// A payload that calls back whenever it is asked, moved on or dropped.
pub(crate) struct Payload {
    bytes: Bytes,
    calls: Option<Arc<Calls>>,
}

impl Payload {
    pub(crate) fn new(length: usize, calls: &Arc<Calls>) -> Payload {
        Payload {
            bytes: vec![7; length].into(),
            calls: Some(Arc::clone(calls)),
        }
    }

    /// One that calls nobody.
    pub(crate) fn quiet(length: usize) -> Payload {
        Payload {
            bytes: vec![7; length].into(),
            calls: None,
        }
    }

    fn knock(&self) {
        if let Some(calls) = &self.calls {
            calls.knock();
        }
    }
}

impl Buf for Payload {
    fn remaining(&self) -> usize {
        self.knock();
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.knock();
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.knock();
        self.bytes.advance(count);
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        self.knock();
    }
}
