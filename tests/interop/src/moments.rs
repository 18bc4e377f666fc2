//! When each `poll_*` of h2's handles is ready, and what errors say: printed, to be compared between
//! the two crates line by line. Both ends of every connection are of the same crate.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Error, Ping, Reason, RecvStream, SendStream, client, server};
use http::{HeaderMap, Request, Response};
use tokio::io::{DuplexStream, duplex};

/// Prints every situation. Polls by hand never yield: tokio's budget for tasks would run out.
pub async fn print() {
    tokio::task::unconstrained(print_all()).await;
}

async fn print_all() {
    requests_that_wait().await;
    requests_and_their_ends().await;
    capacity().await;
    capacity_at_the_end().await;
    resets().await;
    bodies().await;
    early_answers().await;
    pings().await;
    graceful_ends().await;
    abrupt_ends().await;
    windows().await;
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polls by hand: says what came, and whether the waker of a poll before that was pending was woken.
struct Watch {
    title: &'static str,
    woken: Arc<Woken>,
    waits: bool,
}

impl Watch {
    fn new(title: &'static str) -> Watch {
        Watch {
            title,
            woken: Arc::default(),
            waits: false,
        }
    }

    fn poll<T>(&mut self, when: &str, poll: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Option<T>
    where
        T: Told,
    {
        let was_woken = self.woken.0.swap(0, Ordering::Relaxed) > 0;
        let waker = Waker::from(Arc::clone(&self.woken));
        let polled = poll(&mut Context::from_waker(&waker));
        let (said, value) = match polled {
            Poll::Pending => ("pending".to_owned(), None),
            Poll::Ready(value) => (value.told(), Some(value)),
        };
        let woken = match (self.waits, value.is_some(), was_woken) {
            (true, true, false) => ", and nobody was woken",
            _ => "",
        };
        println!("{}: {when}: {said}{woken}", self.title);
        self.waits = value.is_none();
        value
    }
}

/// What a value says of itself that programs look at.
trait Told {
    fn told(&self) -> String;
}

impl Told for Error {
    fn told(&self) -> String {
        let is = [
            ("io", self.is_io()),
            ("go_away", self.is_go_away()),
            ("reset", self.is_reset()),
            ("remote", self.is_remote()),
            ("library", self.is_library()),
        ];
        let is: Vec<_> = is
            .iter()
            .filter(|(_, is)| *is)
            .map(|(name, _)| *name)
            .collect();
        format!("error of {:?}, is {}", self.reason(), is.join(" "))
    }
}

impl Told for () {
    fn told(&self) -> String {
        "ready".to_owned()
    }
}

impl Told for usize {
    fn told(&self) -> String {
        format!("ready, {self}")
    }
}

impl Told for Reason {
    fn told(&self) -> String {
        format!("ready, {self:?}")
    }
}

impl Told for Bytes {
    fn told(&self) -> String {
        format!("ready, {} bytes", self.len())
    }
}

impl Told for HeaderMap {
    fn told(&self) -> String {
        format!("ready, {} fields", self.len())
    }
}

impl Told for h2::Pong {
    fn told(&self) -> String {
        "ready, a pong".to_owned()
    }
}

impl<T> Told for Response<T> {
    fn told(&self) -> String {
        format!("ready, {}", self.status())
    }
}

impl<A, B> Told for (Request<A>, B) {
    fn told(&self) -> String {
        format!("ready, {}", self.0.uri().path())
    }
}

impl<T: Told, E: Told> Told for Result<T, E> {
    fn told(&self) -> String {
        match self {
            Ok(value) => value.told(),
            Err(error) => error.told(),
        }
    }
}

impl<T: Told> Told for Option<T> {
    fn told(&self) -> String {
        match self {
            Some(value) => value.told(),
            None => "ready, none".to_owned(),
        }
    }
}

type Accepted = (Request<RecvStream>, SendResponse<Bytes>);

/// Both ends of one connection, driven by hand.
struct Pair {
    requests: client::SendRequest<Bytes>,
    connection: Option<client::Connection<DuplexStream>>,
    server: Option<server::Connection<DuplexStream, Bytes>>,
    pings: h2::PingPong,
    accepted: Vec<Accepted>,
}

impl Pair {
    async fn new(setup: impl FnOnce(&mut client::Builder, &mut server::Builder)) -> Pair {
        let (near, far) = duplex(1 << 20);
        let (mut ours, mut theirs) = (client::Builder::new(), server::Builder::new());
        setup(&mut ours, &mut theirs);
        let (near, far) = tokio::join!(ours.handshake(near), theirs.handshake(far));
        let ((requests, mut connection), server) = (near.unwrap(), far.unwrap());
        let pings = connection.ping_pong().unwrap();
        let mut pair = Pair {
            requests,
            connection: Some(connection),
            server: Some(server),
            pings,
            accepted: Vec::new(),
        };
        pair.run();
        pair
    }

    /// Lets both ends do all that they can do. Requests are accepted.
    fn run(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..20 {
            if let Some(connection) = &mut self.connection {
                if Pin::new(connection).poll(&mut cx).is_ready() {
                    self.connection = None;
                }
            }
            if let Some(server) = &mut self.server {
                match server.poll_accept(&mut cx) {
                    Poll::Ready(Some(Ok(accepted))) => self.accepted.push(accepted),
                    Poll::Ready(_) => self.server = None,
                    Poll::Pending => {}
                }
            }
        }
    }

    fn ask(&mut self, path: &str, end: bool) -> (client::ResponseFuture, SendStream<Bytes>) {
        let request = Request::get(format!("http://a.test{path}"))
            .body(())
            .unwrap();
        self.requests.send_request(request, end).unwrap()
    }

    /// A request that has come, and the handles of both ends.
    fn asked(&mut self, end: bool) -> (client::ResponseFuture, SendStream<Bytes>, Accepted) {
        let (response, stream) = self.ask("/", end);
        self.run();
        (response, stream, self.accepted.remove(0))
    }
}

fn future<F: Future + Unpin>(future: &mut F) -> impl FnOnce(&mut Context<'_>) -> Poll<F::Output> {
    |cx| Pin::new(future).poll(cx)
}

fn answer(respond: &mut SendResponse<Bytes>, end: bool) -> SendStream<Bytes> {
    respond.send_response(Response::new(()), end).unwrap()
}

async fn requests_that_wait() {
    let mut pair = Pair::new(|_, server| {
        server.max_concurrent_streams(1);
    })
    .await;
    let mut ready = Watch::new("poll_ready");
    let mut requests = pair.requests.clone();
    ready.poll("at the beginning", |cx| requests.poll_ready(cx));
    let _first = pair.ask("/first", true);
    pair.run();
    ready.poll("a stream is open, one is allowed", |cx| {
        requests.poll_ready(cx)
    });
    let second = Request::get("http://a.test/second").body(()).unwrap();
    let (second, _) = requests.send_request(second, true).unwrap();
    ready.poll("a request waits for a slot", |cx| requests.poll_ready(cx));
    pair.run();
    println!("requests that came: {}", pair.accepted.len());
    answer(&mut pair.accepted[0].1, true);
    pair.run();
    ready.poll("the slot is free", |cx| requests.poll_ready(cx));
    println!("requests that came: {}", pair.accepted.len());
    let mut second = second;
    let mut response = Watch::new("ResponseFuture");
    response.poll("before the answer", future(&mut second));
    answer(&mut pair.accepted[1].1, true);
    pair.run();
    response.poll("after it", future(&mut second));
    pair.server.as_mut().unwrap().graceful_shutdown();
    pair.run();
    ready.poll("after GOAWAY", |cx| requests.poll_ready(cx));
}

async fn requests_and_their_ends() {
    let mut pair = Pair::new(|_, _| {}).await;
    let mut server = pair.server.take().unwrap();
    let mut accept = Watch::new("poll_accept");
    accept.poll("nothing was asked", |cx| server.poll_accept(cx));
    let (_response, _stream) = pair.ask("/asked", false);
    pair.run();
    let accepted = accept.poll("a request has come", |cx| server.poll_accept(cx));
    accept.poll("and no other", |cx| server.poll_accept(cx));
    drop(accepted);
    accept.poll("it is dropped unanswered", |cx| server.poll_accept(cx));
    pair.run();
    drop(pair);
    accept.poll("the client is gone", |cx| server.poll_accept(cx));
    let mut closed = Watch::new("poll_closed");
    closed.poll("after that", |cx| server.poll_closed(cx));
}

async fn capacity() {
    let mut pair = Pair::new(|_, server| {
        server.initial_window_size(100);
    })
    .await;
    let (_response, mut stream, (request, _respond)) = pair.asked(false);
    let mut body = request.into_body();
    let mut watch = Watch::new("poll_capacity");
    watch.poll("nothing was reserved", |cx| stream.poll_capacity(cx));
    stream.reserve_capacity(40);
    pair.run();
    watch.poll("40 are reserved", |cx| stream.poll_capacity(cx));
    watch.poll("and again", |cx| stream.poll_capacity(cx));
    println!("capacity: {}", stream.capacity());
    stream
        .send_data(Bytes::from_static(&[0; 40]), false)
        .unwrap();
    println!("capacity when 40 are sent: {}", stream.capacity());
    stream.reserve_capacity(1000);
    pair.run();
    watch.poll("60 of the window are left", |cx| stream.poll_capacity(cx));
    stream
        .send_data(Bytes::from_static(&[0; 60]), false)
        .unwrap();
    pair.run();
    watch.poll("none is left", |cx| stream.poll_capacity(cx));
    let mut data = Watch::new("poll_data");
    data.poll("100 were sent", |cx| body.poll_data(cx));
    data.poll("the rest", |cx| body.poll_data(cx));
    body.flow_control().release_capacity(100).unwrap();
    pair.run();
    watch.poll("100 were read", |cx| stream.poll_capacity(cx));
    stream.reserve_capacity(10);
    println!("capacity when less is wanted: {}", stream.capacity());
    stream.reserve_capacity(0);
    println!("capacity when none is wanted: {}", stream.capacity());
    watch.poll("none is wanted", |cx| stream.poll_capacity(cx));
}

async fn capacity_at_the_end() {
    let mut pair = Pair::new(|_, _| {}).await;
    let mut watch = Watch::new("poll_capacity");
    let (_response, mut stream, _other) = pair.asked(false);
    stream.send_data(Bytes::new(), true).unwrap();
    watch.poll("after the end", |cx| stream.poll_capacity(cx));
    pair.run();
    watch.poll("when the end has left", |cx| stream.poll_capacity(cx));

    let mut watch = Watch::new("poll_capacity of a stream that was reset");
    let (_response, mut stream, (_request, mut respond)) = pair.asked(false);
    stream.reserve_capacity(10);
    respond.send_reset(Reason::REFUSED_STREAM);
    pair.run();
    watch.poll("by the peer", |cx| stream.poll_capacity(cx));
    println!(
        "send_data then: {}",
        stream
            .send_data(Bytes::new(), true)
            .map_err(told_user)
            .told()
    );
    let (_response, mut stream, _other) = pair.asked(false);
    stream.send_reset(Reason::CANCEL);
    watch.poll("by ourselves", |cx| stream.poll_capacity(cx));
}

/// Misuse of a handle: the two crates say it in other words, and both say that it is the user's.
fn told_user(error: Error) -> Error {
    println!("an error of the caller: {}", error.reason().is_none());
    error
}

async fn resets() {
    let mut pair = Pair::new(|_, _| {}).await;
    let mut watch = Watch::new("poll_reset of a response");
    let (response, mut stream, (_request, mut respond)) = pair.asked(false);
    watch.poll("nothing happened", |cx| respond.poll_reset(cx));
    stream.send_reset(Reason::CANCEL);
    pair.run();
    watch.poll("the client has cancelled", |cx| respond.poll_reset(cx));
    let mut response = response;
    Watch::new("ResponseFuture").poll("we have cancelled", future(&mut response));

    let mut watch = Watch::new("poll_reset of a stream");
    let (mut response, mut stream, (request, mut respond)) = pair.asked(false);
    watch.poll("nothing happened", |cx| stream.poll_reset(cx));
    let mut body = request.into_body();
    respond.send_reset(Reason::ENHANCE_YOUR_CALM);
    pair.run();
    watch.poll("the server has reset", |cx| stream.poll_reset(cx));
    Watch::new("ResponseFuture").poll("the server has reset", future(&mut response));
    Watch::new("poll_data").poll("we have reset", |cx| body.poll_data(cx));

    let mut watch = Watch::new("poll_reset of a response that was sent");
    let (_response, _stream, (_request, mut respond)) = pair.asked(true);
    let mut sent = answer(&mut respond, false);
    watch.poll("the body is open", |cx| sent.poll_reset(cx));
    sent.send_data(Bytes::from_static(b"all"), true).unwrap();
    pair.run();
    watch.poll("all is sent", |cx| sent.poll_reset(cx));

    let mut watch = Watch::new("poll_reset of a stream whose handles the peer has dropped");
    let (response, stream, (_request, mut respond)) = pair.asked(false);
    watch.poll("nothing happened", |cx| respond.poll_reset(cx));
    drop((response, stream));
    pair.run();
    watch.poll("they are dropped", |cx| respond.poll_reset(cx));
}

async fn bodies() {
    let mut pair = Pair::new(|_, _| {}).await;
    let (mut response, _stream, (request, mut respond)) = pair.asked(true);
    let mut body = request.into_body();
    println!(
        "a request without a body is at its end: {}",
        body.is_end_stream()
    );
    Watch::new("poll_data").poll("of it", |cx| body.poll_data(cx));
    Watch::new("poll_trailers").poll("of it", |cx| body.poll_trailers(cx));
    let mut sent = answer(&mut respond, false);
    pair.run();
    let answered = Watch::new("ResponseFuture").poll("the head has come", future(&mut response));
    let mut body = answered.unwrap().unwrap().into_body();
    let mut data = Watch::new("poll_data");
    data.poll("no body yet", |cx| body.poll_data(cx));
    println!("at its end: {}", body.is_end_stream());
    sent.send_data(Bytes::from_static(b"part"), false).unwrap();
    pair.run();
    data.poll("a part has come", |cx| body.poll_data(cx));
    let mut trailers = HeaderMap::new();
    trailers.insert("a", "b".parse().unwrap());
    sent.send_trailers(trailers).unwrap();
    pair.run();
    println!("at its end, with trailers: {}", body.is_end_stream());
    data.poll("trailers have come", |cx| body.poll_data(cx));
    let mut watch = Watch::new("poll_trailers");
    watch.poll("they have come", |cx| body.poll_trailers(cx));
    watch.poll("they were taken", |cx| body.poll_trailers(cx));
    println!("at its end, trailers taken: {}", body.is_end_stream());

    let (mut response, _stream, (_request, mut respond)) = pair.asked(true);
    let mut sent = answer(&mut respond, false);
    sent.send_data(Bytes::from_static(b"part"), false).unwrap();
    pair.run();
    sent.send_reset(Reason::INTERNAL_ERROR);
    pair.run();
    let answered =
        Watch::new("ResponseFuture").poll("head, part and reset have come", future(&mut response));
    let mut body = answered.unwrap().unwrap().into_body();
    let mut data = Watch::new("poll_data of a body that was reset");
    data.poll("first", |cx| body.poll_data(cx));
    data.poll("second", |cx| body.poll_data(cx));
    data.poll("third", |cx| body.poll_data(cx));
}

async fn early_answers() {
    let mut pair = Pair::new(|_, _| {}).await;
    let (mut response, _stream, (_request, mut respond)) = pair.asked(true);
    let mut watch = Watch::new("poll_informational");
    watch.poll("nothing has come", |cx| response.poll_informational(cx));
    let early = Response::builder().status(103).body(()).unwrap();
    respond.send_informational(early).unwrap();
    pair.run();
    watch.poll("103 has come", |cx| response.poll_informational(cx));
    watch.poll("it was taken", |cx| response.poll_informational(cx));
    answer(&mut respond, true);
    pair.run();
    watch.poll("the response has come", |cx| {
        response.poll_informational(cx)
    });
    Watch::new("ResponseFuture").poll("after that", future(&mut response));
}

async fn pings() {
    let mut pair = Pair::new(|_, _| {}).await;
    let mut watch = Watch::new("poll_pong");
    watch.poll("none was sent", |cx| pair.pings.poll_pong(cx));
    println!(
        "send_ping: {}",
        pair.pings.send_ping(Ping::opaque()).is_ok()
    );
    println!(
        "another one: {}",
        pair.pings.send_ping(Ping::opaque()).is_ok()
    );
    pair.run();
    watch.poll("it was answered", |cx| pair.pings.poll_pong(cx));
    watch.poll("the answer was taken", |cx| pair.pings.poll_pong(cx));
    println!(
        "send_ping: {}",
        pair.pings.send_ping(Ping::opaque()).is_ok()
    );
    pair.connection = None;
    watch.poll("the connection is dropped", |cx| pair.pings.poll_pong(cx));
}

async fn graceful_ends() {
    let mut pair = Pair::new(|_, _| {}).await;
    let (mut response, _stream, (_request, mut respond)) = pair.asked(true);
    pair.server.as_mut().unwrap().graceful_shutdown();
    pair.run();
    println!(
        "with a stream open both ends are there: {}",
        pair.connection.is_some() && pair.server.is_some()
    );
    let refused = Request::get("http://a.test/").body(()).unwrap();
    println!(
        "send_request after GOAWAY: {}",
        pair.requests.send_request(refused, true).map(drop).told()
    );
    answer(&mut respond, true);
    pair.run();
    Watch::new("ResponseFuture").poll("answered after GOAWAY", future(&mut response));
    println!(
        "then both are over: {}",
        pair.connection.is_none() && pair.server.is_none()
    );

    let mut pair = Pair::new(|_, _| {}).await;
    let mut connection = pair.connection.take().unwrap();
    let mut watch = Watch::new("client::Connection");
    watch.poll("there is a SendRequest", future(&mut connection));
    drop((pair.requests, pair.pings));
    watch.poll("there is none", future(&mut connection));
    let server = pair.server.as_mut().unwrap();
    let mut accept = Watch::new("poll_accept");
    accept.poll("the client has left", |cx| server.poll_accept(cx));
    watch.poll("the server knows", future(&mut connection));
}

async fn abrupt_ends() {
    let mut pair = Pair::new(|_, _| {}).await;
    let (mut response, mut stream, (request, mut respond)) = pair.asked(false);
    pair.server
        .as_mut()
        .unwrap()
        .abrupt_shutdown(Reason::INTERNAL_ERROR);
    let mut connection = pair.connection.take().unwrap();
    pair.run();
    let mut watch = Watch::new("client::Connection");
    let ended = pin!(async { (&mut connection).await });
    let mut ended = ended;
    watch.poll("the server gave up", |cx| ended.as_mut().poll(cx));
    Watch::new("ResponseFuture").poll("the server gave up", future(&mut response));
    Watch::new("poll_reset").poll("the server gave up", |cx| stream.poll_reset(cx));
    Watch::new("poll_capacity").poll("the server gave up", |cx| stream.poll_capacity(cx));
    Watch::new("poll_ready").poll("the server gave up", |cx| pair.requests.poll_ready(cx));
    let mut body = request.into_body();
    Watch::new("poll_data of the server").poll("it gave up", |cx| body.poll_data(cx));
    Watch::new("poll_reset of the server").poll("it gave up", |cx| respond.poll_reset(cx));

    let mut pair = Pair::new(|_, _| {}).await;
    let (mut response, mut stream, (request, mut respond)) = pair.asked(false);
    drop(pair.connection.take());
    Watch::new("ResponseFuture").poll("our connection is dropped", future(&mut response));
    Watch::new("poll_reset").poll("our connection is dropped", |cx| stream.poll_reset(cx));
    let mut server = pair.server.take().unwrap();
    Watch::new("poll_accept").poll("the pipe has ended", |cx| server.poll_accept(cx));
    let mut body = request.into_body();
    Watch::new("poll_data of the server").poll("the pipe has ended", |cx| body.poll_data(cx));
    Watch::new("poll_reset of the server").poll("the pipe has ended", |cx| respond.poll_reset(cx));
}

async fn windows() {
    let mut pair = Pair::new(|_, server| {
        server
            .initial_window_size(1000)
            .initial_connection_window_size(100_000);
    })
    .await;
    let (_response, mut stream, (request, _respond)) = pair.asked(false);
    let mut body = request.into_body();
    stream
        .send_data(Bytes::from_static(&[0; 700]), false)
        .unwrap();
    pair.run();
    let flow = body.flow_control();
    println!(
        "available {}, used {}",
        flow.available_capacity(),
        flow.used_capacity()
    );
    println!(
        "release more than was received: {}",
        flow.release_capacity(701).is_err()
    );
    flow.release_capacity(300).unwrap();
    println!(
        "available {}, used {}",
        flow.available_capacity(),
        flow.used_capacity()
    );
    let data = Watch::new("poll_data").poll("after that", |cx| body.poll_data(cx));
    drop(data);
    let limits = (
        pair.requests.current_max_send_streams(),
        pair.requests.current_max_recv_streams(),
    );
    println!("streams: {limits:?}");
    println!(
        "extended CONNECT: {}",
        pair.requests.is_extended_connect_protocol_enabled()
    );
    let server = pair.server.as_mut().unwrap();
    println!(
        "extended CONNECT of the server: {:?}",
        server.enable_connect_protocol().is_ok()
    );
    pair.run();
    println!(
        "extended CONNECT: {}",
        pair.requests.is_extended_connect_protocol_enabled()
    );
}
