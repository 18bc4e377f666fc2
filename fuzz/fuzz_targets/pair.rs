//! Two connections that talk to each other, their handles moved by operations: what arrives is what
//! was sent, no task is left waiting for what has happened, and at the end nothing is held.

#![no_main]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use arbitrary::Arbitrary;
use bytes::Bytes;
use fairmux::{Reason, RecvStream, SendStream, client, server};
use fairmux_fuzz::Tasks;
use http::{HeaderMap, Request, Response};
use libfuzzer_sys::fuzz_target;
use tokio::io::DuplexStream;

#[derive(Arbitrary, Debug)]
struct Input {
    /// Octets that the wire holds each way.
    wire: u16,
    window: u16,
    room: u16,
    limit: Option<u8>,
    operations: Vec<Operation>,
}

/// Streams are counted from the oldest that is left, on the side of its handles.
#[derive(Arbitrary, Debug)]
enum Operation {
    Ask {
        end: bool,
    },
    Answer {
        stream: u8,
        end: bool,
    },
    Inform {
        stream: u8,
    },
    Send {
        side: Side,
        stream: u8,
        length: u16,
        end: bool,
    },
    Reserve {
        side: Side,
        stream: u8,
        length: u16,
    },
    Trailers {
        side: Side,
        stream: u8,
    },
    Reset {
        side: Side,
        stream: u8,
    },
    DropSender {
        side: Side,
        stream: u8,
    },
    Read {
        side: Side,
        stream: u8,
        keep: bool,
    },
    Release {
        side: Side,
        stream: u8,
    },
    DropReader {
        side: Side,
        stream: u8,
    },
    Urgency {
        side: Side,
        stream: u8,
        urgency: u8,
        incremental: bool,
    },
    Window {
        side: Side,
        size: u16,
    },
    Shutdown,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Side {
    Client,
    Server,
}

/// The handles of one side.
#[derive(Default)]
struct Hands {
    senders: Vec<SendStream<Bytes>>,
    readers: Vec<Reader>,
}

struct Reader {
    body: RecvStream,
    read: u64,
    unreleased: usize,
}

/// What operations ask of the tasks that own the connections.
#[derive(Default)]
struct Orders {
    windows: [VecDeque<u32>; 2],
    shutdown: bool,
    wakers: [Option<Waker>; 2],
}

#[derive(Default)]
struct World {
    hands: [Hands; 2],
    accepted: Vec<server::SendResponse<Bytes>>,
    responses: Vec<client::ResponseFuture>,
    orders: Orders,
    /// Octets of bodies that may still be sent.
    budget: usize,
}

/// All octets of bodies in a run. With windows of one octet each costs 36 octets of frames and four
/// rounds: so this stays below the bound of [`Tasks::run`], and where it can, above a window of the
/// connection.
fn budget(wire: u16) -> usize {
    if wire < 16 { 20_000 } else { 120_000 }
}

type Shared = Rc<RefCell<World>>;

fuzz_target!(|input: Input| {
    let (left, right) = tokio::io::duplex(usize::from(input.wire).max(1));
    let mut tasks = Tasks::default();
    let world = Shared::default();
    world.borrow_mut().budget = budget(input.wire);
    let requests: Rc<RefCell<Option<client::SendRequest<Bytes>>>> = Rc::default();
    tasks.spawner().spawn(run_client(
        left,
        client_options(&input),
        Rc::clone(&requests),
        Rc::clone(&world),
    ));
    tasks
        .spawner()
        .spawn(run_server(right, server_options(&input), Rc::clone(&world)));
    tasks.run();
    for operation in input.operations {
        act(&world, &requests, operation);
        tasks.run();
        collect_responses(&world);
    }
    // Every handle goes: both connections must end.
    requests.take();
    let (hands, accepted, responses) = {
        let mut world = world.borrow_mut();
        (
            std::mem::take(&mut world.hands),
            std::mem::take(&mut world.accepted),
            std::mem::take(&mut world.responses),
        )
    };
    drop((hands, accepted, responses));
    tasks.run();
    assert_eq!(tasks.unfinished(), 0, "without handles both ends end");
});

fn client_options(input: &Input) -> client::Builder {
    let mut options = client::Builder::new();
    options
        .initial_window_size(u32::from(input.window))
        .send_room(usize::from(input.room));
    options
}

fn server_options(input: &Input) -> server::Builder {
    let mut options = server::Builder::new();
    options
        .initial_window_size(u32::from(input.window))
        .send_room(usize::from(input.room));
    if let Some(limit) = input.limit {
        options.max_concurrent_streams(u32::from(limit));
    }
    options
}

async fn run_client(
    wire: DuplexStream,
    options: client::Builder,
    requests: Rc<RefCell<Option<client::SendRequest<Bytes>>>>,
    world: Shared,
) {
    let Ok((handle, mut connection)) = options.handshake::<_, Bytes>(wire).await else {
        return;
    };
    *requests.borrow_mut() = Some(handle);
    std::future::poll_fn(|cx| {
        while let Some(size) = next_window(&world, Side::Client, cx) {
            connection.set_target_window_size(size);
            let _ = connection.set_initial_window_size(size);
        }
        std::pin::Pin::new(&mut connection).poll(cx)
    })
    .await
    .expect("two of us agree");
}

async fn run_server(wire: DuplexStream, options: server::Builder, world: Shared) {
    let Ok(mut connection) = options.handshake::<_, Bytes>(wire).await else {
        return;
    };
    loop {
        let accepted = std::future::poll_fn(|cx| {
            while let Some(size) = next_window(&world, Side::Server, cx) {
                connection.set_target_window_size(size);
                let _ = connection.set_initial_window_size(size);
            }
            if std::mem::take(&mut world.borrow_mut().orders.shutdown) {
                connection.graceful_shutdown();
            }
            connection.poll_accept(cx)
        });
        match accepted.await {
            Some(Ok((request, respond))) => {
                let mut world = world.borrow_mut();
                world.hands[Side::Server as usize].readers.push(Reader {
                    body: request.into_body(),
                    read: 0,
                    unreleased: 0,
                });
                world.accepted.push(respond);
            }
            Some(Err(error)) => panic!("two of us agree: {error}"),
            None => break,
        }
    }
    let stats = connection.stats();
    assert_eq!(stats.streams_alive, 0, "I4");
    assert_eq!(stats.room_used, 0, "I3");
}

fn next_window(world: &Shared, side: Side, cx: &Context<'_>) -> Option<u32> {
    let orders = &mut world.borrow_mut().orders;
    orders.wakers[side as usize] = Some(cx.waker().clone());
    orders.windows[side as usize].pop_front()
}

fn act(
    world: &Shared,
    requests: &RefCell<Option<client::SendRequest<Bytes>>>,

    operation: Operation,
) {
    match operation {
        Operation::Ask { end } => ask(world, requests, end),
        Operation::Answer { stream, end } => answer(world, stream, end),
        Operation::Inform { stream } => {
            let mut world = world.borrow_mut();
            if let Some(respond) = pick(&mut world.accepted, stream) {
                let hints = Response::builder().status(103).body(()).unwrap();
                let _ = respond.send_informational(hints);
            }
        }
        Operation::Window { side, size } => {
            let orders = &mut world.borrow_mut().orders;
            orders.windows[side as usize].push_back(u32::from(size));
            wake(orders.wakers[side as usize].take());
        }
        Operation::Shutdown => {
            let orders = &mut world.borrow_mut().orders;
            orders.shutdown = true;
            wake(orders.wakers[Side::Server as usize].take());
        }
        other => act_on_stream(world, other),
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

fn ask(world: &Shared, requests: &RefCell<Option<client::SendRequest<Bytes>>>, end: bool) {
    let mut requests = requests.borrow_mut();
    let Some(requests) = requests.as_mut() else {
        return;
    };
    let request = Request::post("http://a.test/").body(()).unwrap();
    if let Ok((response, sender)) = requests.send_request(request, end) {
        let mut world = world.borrow_mut();
        world.responses.push(response);
        world.hands[Side::Client as usize].senders.push(sender);
    }
}

fn answer(world: &Shared, stream: u8, end: bool) {
    let mut world = world.borrow_mut();
    if world.accepted.is_empty() {
        return;
    }
    let at = usize::from(stream) % world.accepted.len();
    let mut respond = world.accepted.swap_remove(at);
    if let Ok(sender) = respond.send_response(Response::new(()), end) {
        world.hands[Side::Server as usize].senders.push(sender);
    }
}

/// Responses that have come give a body to read.
fn collect_responses(world: &Shared) {
    let mut world = world.borrow_mut();
    let mut cx = Context::from_waker(Waker::noop());
    for mut response in std::mem::take(&mut world.responses) {
        match std::pin::Pin::new(&mut response).poll(&mut cx) {
            Poll::Pending => world.responses.push(response),
            Poll::Ready(Ok(response)) => {
                world.hands[Side::Client as usize].readers.push(Reader {
                    body: response.into_body(),
                    read: 0,
                    unreleased: 0,
                });
            }
            Poll::Ready(Err(_)) => {}
        }
    }
}

fn act_on_stream(world: &Shared, operation: Operation) {
    let mut world = world.borrow_mut();
    match operation {
        Operation::Send {
            side,
            stream,
            length,
            end,
        } => {
            let length = usize::from(length).min(world.budget);
            if let Some(sender) = pick(&mut world.hands[side as usize].senders, stream) {
                let octets = vec![pattern(sender.stream_id().as_u32()); length];
                if sender.send_data(octets.into(), end).is_ok() {
                    world.budget -= length;
                }
            }
        }
        Operation::Reserve {
            side,
            stream,
            length,
        } => {
            if let Some(sender) = pick(&mut world.hands[side as usize].senders, stream) {
                sender.reserve_capacity(usize::from(length));
                if let Poll::Ready(Some(Ok(capacity))) =
                    sender.poll_capacity(&mut Context::from_waker(Waker::noop()))
                {
                    assert!(capacity > 0, "capacity of nothing is not ready");
                }
            }
        }
        Operation::Trailers { side, stream } => {
            if let Some(sender) = pick(&mut world.hands[side as usize].senders, stream) {
                let mut trailers = HeaderMap::new();
                trailers.insert("end", "1".parse().unwrap());
                let _ = sender.send_trailers(trailers);
            }
        }
        Operation::Reset { side, stream } => {
            if let Some(sender) = pick(&mut world.hands[side as usize].senders, stream) {
                sender.send_reset(Reason::CANCEL);
            }
        }
        Operation::DropSender { side, stream } => {
            drop_one(&mut world.hands[side as usize].senders, stream)
        }
        Operation::Read { side, stream, keep } => {
            if let Some(reader) = pick(&mut world.hands[side as usize].readers, stream) {
                read(reader, keep);
            }
        }
        Operation::Release { side, stream } => {
            if let Some(reader) = pick(&mut world.hands[side as usize].readers, stream) {
                let length = std::mem::take(&mut reader.unreleased);
                let _ = reader.body.flow_control().release_capacity(length);
            }
        }
        Operation::DropReader { side, stream } => {
            drop_one(&mut world.hands[side as usize].readers, stream)
        }
        Operation::Urgency {
            side,
            stream,
            urgency,
            incremental,
        } => {
            if let Some(sender) = pick(&mut world.hands[side as usize].senders, stream) {
                sender.set_priority(urgency % 8, incremental);
            }
        }
        Operation::Ask { .. }
        | Operation::Answer { .. }
        | Operation::Inform { .. }
        | Operation::Window { .. }
        | Operation::Shutdown => {}
    }
}

fn read(reader: &mut Reader, keep: bool) {
    let mut cx = Context::from_waker(Waker::noop());
    let expected = pattern(reader.body.stream_id().as_u32());
    while let Poll::Ready(Some(Ok(data))) = reader.body.poll_data(&mut cx) {
        assert!(data.iter().all(|octet| *octet == expected), "what was sent");
        reader.read += data.len() as u64;
        reader.unreleased += data.len();
        if !keep {
            let length = std::mem::take(&mut reader.unreleased);
            let _ = reader.body.flow_control().release_capacity(length);
        }
    }
}

fn pattern(id: u32) -> u8 {
    id as u8
}

fn pick<T>(list: &mut [T], at: u8) -> Option<&mut T> {
    let count = list.len();
    list.get_mut(usize::from(at) % count.max(1))
}

fn drop_one<T>(list: &mut Vec<T>, at: u8) {
    if !list.is_empty() {
        let at = usize::from(at) % list.len();
        list.swap_remove(at);
    }
}
