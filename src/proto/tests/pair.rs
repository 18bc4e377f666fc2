//! Two ends in one process, on virtual time, with ports made of queues.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, Request, Response};

use super::load::Load;
use crate::error::Error;
use crate::frame::{Cutter, Frame, Reason, StreamId};
use crate::message::{Head, Priority};
use crate::proto::port::{Birth, Delivery, Interest, News, Outgoing, Port, Ports};
use crate::proto::streams::Key;
use crate::proto::{Batch, Config, Connection, Event, Role};

/// What all streams of one end share.
#[derive(Clone)]
pub(super) struct Table {
    pub(super) shared: Rc<Shared>,
}

#[derive(Default)]
pub(super) struct Shared {
    posted: RefCell<Vec<Key>>,
    /// Credit of streams without a slot.
    credit: Cell<usize>,
    pub(super) held: Cell<usize>,
    pub(super) initial_window: Cell<u32>,
    pub(super) room_used: Cell<usize>,
    pub(super) room_limit: Cell<usize>,
    pub(super) resumed: Cell<usize>,
    pub(super) room_returned: Cell<usize>,
}

impl Shared {
    pub(super) fn credit_waiting(&self) -> usize {
        self.credit.get()
    }
}

impl Ports for Table {
    type Port = Hand;

    fn open_remote(&self, id: StreamId) -> Hand {
        Hand::new(id, &self.shared)
    }

    fn held(&self) -> usize {
        self.shared.held.get()
    }

    fn set_initial_window(&self, size: u32) {
        self.shared.initial_window.set(size);
    }

    fn free_room(&self) -> usize {
        self.shared
            .room_limit
            .get()
            .saturating_sub(self.shared.room_used.get())
    }

    fn room_returned(&self) -> usize {
        self.shared.room_returned.get()
    }

    fn room_resumed(&self) {
        self.shared.resumed.set(self.shared.resumed.get() + 1);
    }
}

/// A stream as the application sees it.
#[derive(Clone)]
pub(super) struct Hand {
    pub(super) id: StreamId,
    shared: Rc<Shared>,
    pub(super) state: Rc<RefCell<HandState>>,
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a test looks at each by itself"
)]
pub(super) struct HandState {
    key: Option<Key>,
    posted: bool,
    gone: bool,
    settled: bool,
    // What came in.
    pub(super) heads: Vec<Head>,
    pub(super) body: Vec<u8>,
    /// Delivered, not released.
    pub(super) unreleased: usize,
    pub(super) trailers: Option<HeaderMap>,
    pub(super) end: bool,
    pub(super) error: Option<Error>,
    pub(super) promises: Vec<(Box<http::request::Parts>, Hand)>,
    pub(super) unwanted: bool,
    released: usize,
    // What goes out.
    out: Outgoing<Load>,
    queued: usize,
    pub(super) in_queue: usize,
    reset: Option<Reason>,
    priority: Option<Priority>,
    pub(super) wants_room: bool,
    wants_more: bool,
    /// How often it was looked at for more room.
    pub(super) looks: usize,
    pub(super) granted: usize,
    abandoned: bool,
    pub(super) opened: bool,
    pub(super) credit: i64,
    pub(super) window_opened: usize,
    pub(super) stopped: Option<Reason>,
}

impl Hand {
    fn new(id: StreamId, shared: &Rc<Shared>) -> Hand {
        Hand {
            id,
            shared: Rc::clone(shared),
            state: Rc::default(),
        }
    }

    fn change(&self, change: impl FnOnce(&mut HandState)) {
        let mut state = self.state.borrow_mut();
        change(&mut state);
        if let (Some(key), false, false) = (state.key, state.posted, state.gone) {
            state.posted = true;
            self.shared.posted.borrow_mut().push(key);
        }
    }

    pub(super) fn send_head(&self, head: Head, end: bool) {
        self.change(|state| {
            state.out.heads.push_back(head);
            state.out.end |= end;
        });
    }

    pub(super) fn respond(&self, status: u16, end: bool) {
        let (parts, ()) = Response::builder()
            .status(status)
            .body(())
            .unwrap()
            .into_parts();
        self.send_head(Head::Response(Box::new(parts)), end);
    }

    pub(super) fn send(&self, data: impl Into<Bytes>, end: bool) {
        self.send_load(Load::One(data.into()), end);
    }

    pub(super) fn send_load(&self, data: Load, end: bool) {
        self.change(|state| {
            if state.error.is_some() || state.stopped.is_some() {
                return;
            }
            let length = data.remaining();
            if length > 0 {
                state.queued += length;
                state.in_queue += length;
                self.shared
                    .room_used
                    .set(self.shared.room_used.get() + length);
                state.out.data.push_back(data);
            }
            state.out.end |= end;
        });
    }

    pub(super) fn send_trailers(&self, trailers: HeaderMap) {
        self.change(|state| {
            state.out.trailers = Some(Box::new(trailers));
            state.out.end = true;
        });
    }

    pub(super) fn want_room(&self) {
        self.change(|state| state.wants_room = true);
    }

    pub(super) fn want_more_room(&self) {
        self.change(|state| state.wants_more = true);
    }

    pub(super) fn prioritise(&self, urgency: u8, incremental: bool) {
        self.change(|state| {
            state.priority = Some(Priority {
                urgency,
                incremental,
            })
        });
    }

    pub(super) fn reset(&self, reason: Reason) {
        self.change(|state| state.reset = Some(reason));
    }

    /// Every handle is dropped: unread data is let go of.
    pub(super) fn abandon(&self) {
        let unreleased = self.state.borrow().unreleased;
        self.release(unreleased);
        self.change(|state| {
            state.abandoned = true;
            state.unwanted = true;
        });
    }

    pub(super) fn stop_reading(&self) {
        let unreleased = self.state.borrow().unreleased;
        self.release(unreleased);
        self.state.borrow_mut().unwanted = true;
    }

    /// The reader is done with so many bytes.
    pub(super) fn release(&self, bytes: usize) {
        let (settled, gone) = {
            let mut state = self.state.borrow_mut();
            let bytes = bytes.min(state.unreleased);
            state.unreleased -= bytes;
            if state.settled {
            } else if state.gone {
                self.shared.credit.set(self.shared.credit.get() + bytes);
            } else {
                state.released += bytes;
            }
            (state.settled, state.gone)
        };
        if !settled && !gone {
            self.change(|_| {});
        }
    }

    /// Receive credit that the connection counts on.
    pub(super) fn credit_out(&self) -> usize {
        let state = self.state.borrow();
        if state.settled {
            0
        } else {
            state.unreleased + state.released
        }
    }

    pub(super) fn error(&self) -> Option<Error> {
        self.state.borrow().error.clone()
    }

    pub(super) fn reason(&self) -> Option<Reason> {
        self.error().and_then(|error| error.reason())
    }

    pub(super) fn body(&self) -> Vec<u8> {
        self.state.borrow().body.clone()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.state.borrow().end
    }

    fn drop_queue(&self, state: &mut HandState) {
        self.shared
            .room_used
            .set(self.shared.room_used.get() - state.in_queue);
        state.in_queue = 0;
        state.queued = 0;
        state.out = Outgoing::default();
    }
}

impl Port for Hand {
    type Buf = Load;

    fn adopt(&self, key: Key) {
        self.state.borrow_mut().key = Some(key);
    }

    fn deliver_head(&self, head: Head, end: bool) {
        let mut state = self.state.borrow_mut();
        assert!(
            !state.end && state.error.is_none(),
            "nothing comes after the end"
        );
        state.heads.push(head);
        state.end |= end;
    }

    fn deliver_data(&self, data: Bytes, end: bool) -> Delivery {
        let mut state = self.state.borrow_mut();
        assert!(
            !state.end && state.error.is_none(),
            "nothing comes after the end"
        );
        assert!(!data.is_empty() || end, "empty DATA is not delivered");
        state.end |= end;
        if state.unwanted {
            return Delivery::Unwanted;
        }
        state.body.extend_from_slice(&data);
        state.unreleased += data.len();
        Delivery::Kept
    }

    fn deliver_trailers(&self, trailers: HeaderMap) {
        let mut state = self.state.borrow_mut();
        assert!(
            !state.end && state.error.is_none(),
            "nothing comes after the end"
        );
        state.trailers = Some(trailers);
        state.end = true;
    }

    fn deliver_promise(&self, request: Box<http::request::Parts>, promised: Hand) {
        self.state.borrow_mut().promises.push((request, promised));
    }

    fn fail(&self, error: Error) -> usize {
        let mut state = self.state.borrow_mut();
        state.error.get_or_insert(error);
        state.gone = true;
        self.drop_queue(&mut state);
        if std::mem::replace(&mut state.settled, true) {
            return 0;
        }
        state.unreleased + std::mem::take(&mut state.released)
    }

    fn retire(&self) -> usize {
        let mut state = self.state.borrow_mut();
        state.gone = true;
        self.drop_queue(&mut state);
        std::mem::take(&mut state.released)
    }

    fn collect(&self, into: &mut Outgoing<Load>) -> News {
        let mut state = self.state.borrow_mut();
        state.posted = false;
        into.heads.append(&mut state.out.heads);
        into.data.append(&mut state.out.data);
        if let Some(trailers) = state.out.trailers.take() {
            into.trailers = Some(trailers);
        }
        into.end |= std::mem::take(&mut state.out.end);
        News {
            queued: std::mem::take(&mut state.queued),
            released: std::mem::take(&mut state.released),
            reset: state.reset.take(),
            priority: state.priority.take(),
            interest: match () {
                () if state.abandoned => Interest::Abandoned,
                () if state.wants_room => Interest::Room,
                () if state.wants_more => Interest::MoreRoom,
                () => Interest::None,
            },
        }
    }

    fn took(&self, bytes: usize) {
        let mut state = self.state.borrow_mut();
        state.in_queue -= bytes;
        self.shared
            .room_used
            .set(self.shared.room_used.get() - bytes);
    }

    fn look_for_more(&self) -> bool {
        let mut state = self.state.borrow_mut();
        state.looks += 1;
        state.wants_more
    }

    fn grant(&self, bytes: usize) {
        let mut state = self.state.borrow_mut();
        assert!(state.wants_room, "I7: a grant is for who asked, once");
        assert!(!state.gone, "I4: a stream that is over is granted nothing");
        assert!(bytes > 0, "a grant of nothing is a wake-up for nothing");
        state.granted += bytes;
        state.wants_room = false;
    }

    fn set_credit(&self, credit: i64) {
        self.state.borrow_mut().credit = credit;
    }

    fn window_opened(&self) {
        self.state.borrow_mut().window_opened += 1;
    }

    fn opened(&self) {
        self.state.borrow_mut().opened = true;
    }

    fn stop_sending(&self, reason: Reason) {
        let mut state = self.state.borrow_mut();
        state.stopped = Some(reason);
        self.drop_queue(&mut state);
    }
}

/// One end, with its application and its half of the wire.
pub(super) struct End {
    pub(super) conn: Connection<Table>,
    pub(super) shared: Rc<Shared>,
    pub(super) batch: Batch<Load>,
    pub(super) accepted: Vec<Hand>,
    pub(super) events: Vec<Event>,
    pub(super) now: Instant,
    cutter: Cutter,
    incoming: BytesMut,
    next_id: Option<StreamId>,
    births: VecDeque<Birth<Hand>>,
}

impl End {
    #[expect(
        clippy::disallowed_methods,
        reason = "virtual time needs a first moment"
    )]
    pub(super) fn new(role: Role, config: Config) -> End {
        let shared = Rc::new(Shared::default());
        shared.initial_window.set(65_535);
        shared.room_limit.set(config.send_room);
        let table = Table {
            shared: Rc::clone(&shared),
        };
        let batch = Batch::new(config.batch_size);
        let first = if role == Role::Client {
            config.initial_stream_id
        } else {
            StreamId::new(2)
        };
        End {
            conn: Connection::new(role, config, table),
            shared,
            batch,
            accepted: Vec::new(),
            events: Vec::new(),
            now: Instant::now(),
            cutter: Cutter::default(),
            incoming: BytesMut::new(),
            next_id: Some(first),
            births: VecDeque::new(),
        }
    }

    /// Queues a stream that the application opens.
    pub(super) fn open(&mut self, head: Head, end: bool, parent: Option<StreamId>) -> Hand {
        let id = self.next_id.expect("ids are left");
        self.next_id = id.next();
        let hand = Hand::new(id, &self.shared);
        hand.send_head(head, end);
        self.births.push_back(Birth {
            id,
            parent,
            port: hand.clone(),
        });
        hand
    }

    pub(super) fn get(&mut self, path: &str) -> Hand {
        self.open(request("GET", path), true, None)
    }

    pub(super) fn post(&mut self, path: &str) -> Hand {
        self.open(request("POST", path), false, None)
    }

    /// Hands the application's news over, as the connection task does.
    pub(super) fn collect(&mut self) {
        while let Some(birth) = self.births.pop_front() {
            self.conn.user_open(birth);
        }
        for key in self.shared.posted.take() {
            self.conn.user_news(key);
        }
        self.conn.user_credit(self.shared.credit.take());
        while let Some(hand) = self.conn.next_accept() {
            self.accepted.push(hand);
        }
        while let Some(event) = self.conn.take_event() {
            self.events.push(event);
        }
    }

    /// One batch of output, whole.
    pub(super) fn output(&mut self) -> BytesMut {
        self.collect();
        self.conn.fill(&mut self.batch);
        let mut out = BytesMut::new();
        self.batch.join_into(&mut out);
        self.batch.advance(out.len());
        if !out.is_empty() {
            self.conn.batch_written(&mut self.batch);
        }
        while self.conn.end_turn() {}
        out
    }

    /// All output, as frames.
    pub(super) fn sent(&mut self) -> Vec<Frame> {
        let mut octets = BytesMut::new();
        loop {
            let out = self.output();
            if out.is_empty() {
                break;
            }
            octets.unsplit(out);
        }
        frames(octets)
    }

    /// The peer's octets have come.
    pub(super) fn input(&mut self, octets: &[u8]) {
        self.incoming.extend_from_slice(octets);
        while self.conn.wants_read() {
            match self
                .cutter
                .cut(&mut self.incoming, self.conn.max_frame_size())
            {
                Ok(None) => break,
                Ok(Some(frame)) => self.conn.recv(Ok(frame), self.now),
                Err(fault) => self.conn.recv(Err(fault), self.now),
            }
        }
    }

    pub(super) fn recv(&mut self, frame: Frame) {
        self.conn.recv(Ok(frame), self.now);
        self.collect();
    }

    pub(super) fn elapse(&mut self, time: Duration) {
        self.now += time;
        self.conn.handle_timeout(self.now);
    }
}

pub(super) fn frames(mut octets: BytesMut) -> Vec<Frame> {
    let mut cutter = Cutter::default();
    let mut frames = Vec::new();
    while let Some(frame) = cutter
        .cut(&mut octets, 1 << 24)
        .expect("we send sound frames")
    {
        frames.push(frame);
    }
    assert!(octets.is_empty(), "a batch ends with a whole frame");
    frames
}

pub(super) fn request(method: &str, path: &str) -> Head {
    let uri = format!("http://example.test{path}");
    let (parts, ()) = Request::builder()
        .method(method)
        .uri(uri)
        .body(())
        .unwrap()
        .into_parts();
    Head::Request(Box::new(parts))
}

/// A client and a server.
pub(super) struct Pair {
    pub(super) client: End,
    pub(super) server: End,
}

impl Pair {
    pub(super) fn new(client: Config, server: Config) -> Pair {
        let mut pair = Pair {
            client: End::new(Role::Client, client),
            server: End::new(Role::Server, server),
        };
        pair.drive();
        pair
    }

    /// One batch each way. False if there was nothing to say.
    pub(super) fn step(&mut self) -> bool {
        let out = self.client.output();
        self.server.input(&out);
        let back = self.server.output();
        self.client.input(&back);
        self.client.collect();
        !out.is_empty() || !back.is_empty()
    }

    /// Until both are silent.
    pub(super) fn drive(&mut self) {
        for _ in 0..100_000 {
            if !self.step() {
                return;
            }
        }
        panic!("the ends never fall silent");
    }

    /// The stream of the server that answers this request.
    pub(super) fn at_server(&self, hand: &Hand) -> Hand {
        let found = self
            .server
            .accepted
            .iter()
            .find(|other| other.id == hand.id);
        found.expect("it was accepted").clone()
    }
}
