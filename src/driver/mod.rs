//! The task of one connection: the only place that does I/O or reads the clock.
//!
//! Owns: the order of a turn, and when a turn follows another. Does not know: what frames mean or
//! how streams are shared out (`proto`), how handles hand over (`handoff`).
//! Keeps the task's half of I7: before it looks for work it registers its waker, and it sleeps
//! only when everything that it waits for will wake it.
//!
//! A turn reads, hands what arrived to the connection, collects what the handles want, fills a
//! batch, writes it and publishes what handles may know. It is bounded in what it receives, so a
//! peer that keeps sending cannot hold back what we have to say; and turns in a row are bounded,
//! so that it cannot keep other tasks from running either.

mod end;
mod preface;
mod reader;
mod timer;
mod writer;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Buf;
use tokio::io::{AsyncRead, AsyncWrite};

use self::preface::{PREFACE, Preface};
use self::reader::Reader;
use self::timer::Alarm;
use self::writer::Writer;
use crate::error::Error;
use crate::frame::{Frame, StreamId};
use crate::handoff::{Cell, Hub, Limits};
use crate::proto::port::Birth;
use crate::proto::streams::Key;
use crate::proto::{Config, Connection, Event, Role, Stats};
use crate::sync::SharedValue;

pub(crate) use self::timer::SharedTimer;
pub use self::timer::Timer;

/// Turns in a row, before other tasks get their chance.
const TURNS_PER_POLL: usize = 16;

/// So many octets of a header block are as much work as a frame: each may be a field.
const BLOCK_STEP: usize = 128;

/// Runs one connection over `T`.
pub(crate) struct Driver<T, B: Buf> {
    io: T,
    connection: Connection<Hub<B>>,
    hub: Hub<B>,
    role: Role,
    reader: Reader,
    writer: Writer<B>,
    preface: Preface,
    alarm: Alarm,
    /// Filled and emptied within a turn: kept for their memory.
    births: VecDeque<Birth<Cell<B>>>,
    posted: Vec<Key>,
    stage: Stage,
    /// When the peer must have taken the last words, once the end has begun.
    parting: Option<Instant>,
    /// Frames, and reads, in one turn.
    steps: usize,
    /// There is more to do, but other tasks run first.
    pauses: bool,
    /// Streams given out and not heard of since.
    given_out: usize,
    /// The last turn was put off for them.
    has_waited: bool,
}

/// How far the connection has come.
#[derive(Debug)]
enum Stage {
    /// Our SETTINGS have not left yet.
    Starting,
    /// They have.
    Running,
    /// All is said, and our side of the I/O is closed: the peer shall hear it before the rest is.
    Lingering,
    /// The I/O has failed: it is not touched any more.
    Broken,
    /// The I/O was closed or has failed, and everybody knows.
    Over(Result<(), Error>),
}

/// What a turn says about the next.
enum Turn {
    /// There is more to do now.
    Again,
    /// Something will wake the task.
    Wait,
}

/// Where one direction stopped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Halt {
    /// Nothing to do here.
    Idle,
    /// The I/O will wake the task.
    Blocked,
    /// At its bound: there is more to do.
    Bound,
}

impl<T, B> Driver<T, B>
where
    T: AsyncRead + AsyncWrite + Unpin,
    B: Buf,
{
    /// The client's end. The preface leaves with the first batch.
    pub(crate) fn client(io: T, config: impl Into<SharedValue<Config>>) -> Self {
        Driver::new(io, Role::Client, config.into())
    }

    /// The server's end. It says its SETTINGS at once and hears nothing before the preface.
    pub(crate) fn server(io: T, config: impl Into<SharedValue<Config>>) -> Self {
        Driver::new(io, Role::Server, config.into())
    }

    /// With a timer, limits on time wake the task.
    pub(crate) fn set_timer(&mut self, timer: SharedTimer) {
        self.alarm = Alarm::new(Some(timer));
    }

    /// Ready when the peer's preface was read and our SETTINGS have left.
    pub(crate) fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let over = self.poll(cx);
        if over.is_ready() && self.role == Role::Client {
            // Nothing can be asked any more.
            return over.map(|result| result.and(Err(Error::io(io::ErrorKind::BrokenPipe.into()))));
        }
        if self.preface.is_done() && !matches!(self.stage, Stage::Starting) {
            return Poll::Ready(Ok(()));
        }
        over.map(|result| result.and(Err(Error::io(io::ErrorKind::UnexpectedEof.into()))))
    }

    /// Runs the connection. Ready when it is over, with its error if it did not end well.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.pauses = false;
        for _ in 0..TURNS_PER_POLL {
            if let Stage::Over(result) = &self.stage {
                return Poll::Ready(result.clone());
            }
            if let Turn::Wait = self.turn(cx) {
                return Poll::Pending;
            }
        }
        self.pauses = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Runs the connection until the peer has opened a stream. `None` when it is over.
    pub(crate) fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Cell<B>, Error>>> {
        // Streams of one turn are given out without another: no read for each of them.
        if let Some(cell) = self.give_out() {
            return Poll::Ready(Some(Ok(cell)));
        }
        // Whoever accepts in a loop gives way to others here.
        if std::mem::take(&mut self.pauses) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Poll::Ready(result) = self.poll(cx) {
            return Poll::Ready(result.err().map(Err));
        }
        match self.give_out() {
            Some(cell) => Poll::Ready(Some(Ok(cell))),
            None => {
                self.pauses = false;
                Poll::Pending
            }
        }
    }

    /// A stream that the peer has opened.
    fn give_out(&mut self) -> Option<Cell<B>> {
        let cell = self.connection.next_accept();
        self.given_out += usize::from(cell.is_some());
        cell
    }

    /// What is shared with the handles.
    pub(crate) fn hub(&self) -> &Hub<B> {
        &self.hub
    }

    /// The connection, to ask it.
    pub(crate) fn connection(&self) -> &Connection<Hub<B>> {
        &self.connection
    }

    /// What the connection has done, with what only reads, writes and handles know.
    pub(crate) fn stats(&self) -> Stats {
        Stats {
            reads_below_floor: self.reader.below_floor(),
            writes: self.writer.writes(),
            sent_beyond_capacity: self.hub.shared().beyond_capacity(),
            ..self.connection.stats()
        }
    }

    /// The connection, for a command of the application. The next turn acts on it: the task is
    /// woken for that.
    pub(crate) fn command(&mut self) -> &mut Connection<Hub<B>> {
        self.hub.shared().wake_task();
        &mut self.connection
    }

    fn new(io: T, role: Role, config: SharedValue<Config>) -> Self {
        let (preface, first) = match role {
            Role::Client => (Preface::from_server(), PREFACE),
            Role::Server => (Preface::from_client(), &[][..]),
        };
        let hub = new_hub(role, &config);
        let (batch_size, steps) = (config.batch_size, config.frames_per_turn.max(1));
        let connection = Connection::new(role, config, hub.clone());
        hub.shared()
            .set_max_send_streams(connection.max_send_streams());
        hub.shared()
            .set_max_recv_streams(connection.max_recv_streams());
        Driver {
            reader: Reader::new(),
            writer: Writer::new(io.is_write_vectored(), batch_size, first),
            preface,
            alarm: Alarm::new(None),
            births: VecDeque::new(),
            posted: Vec::new(),
            stage: Stage::Starting,
            parting: None,
            steps,
            pauses: false,
            given_out: 0,
            has_waited: false,
            connection,
            hub,
            role,
            io,
        }
    }

    fn turn(&mut self, cx: &mut Context<'_>) -> Turn {
        self.hub.shared().register(cx.waker());
        let now = self.alarm.now();
        self.connection.note_time(now);
        if matches!(self.stage, Stage::Starting) && self.role == Role::Server {
            // A client's leave with its first request. A server's wait for nothing, and the client may
            // be quick to acknowledge them.
            self.write(cx);
        }
        let read = self.read(cx, now);
        let heard = self.collect();
        if self.waits_for_others(heard) {
            cx.waker().wake_by_ref();
            return Turn::Wait;
        }
        let wrote = self.write(cx);
        let read = read.max(self.make_way(cx, wrote));
        if self.connection.end_turn() {
            // Those who were granted room run first.
            cx.waker().wake_by_ref();
        }
        // Last: a task that comes late must not blame the peer for what it has not looked at.
        let deadline = self.connection.deadline();
        let read = read.max(self.look_at_deadline(deadline, now));
        self.publish();
        self.watch_end(now);
        self.conclude(cx, read, wrote, deadline)
    }

    /// Ends what has taken too long; then there may be something to write.
    fn look_at_deadline(&mut self, deadline: Option<Instant>, now: Instant) -> Halt {
        if deadline.is_none_or(|at| at > now) {
            return Halt::Idle;
        }
        self.connection.handle_timeout(now);
        if self.connection.is_lost() && !self.is_broken() {
            self.io_failed(io::ErrorKind::TimedOut.into());
        }
        Halt::Bound
    }

    /// Receives what is there, up to the bound of a turn.
    fn read(&mut self, cx: &mut Context<'_>, now: Instant) -> Halt {
        let mut left = self.steps;
        while left > 0 {
            if !self.connection.wants_read() {
                return Halt::Idle;
            }
            let work = self.receive(now);
            left = left.saturating_sub(work.max(1));
            if work > 0 {
                continue;
            }
            match self.reader.poll_read(cx, &mut self.io) {
                Poll::Ready(Ok(0)) => self.connection.recv_eof(),
                Poll::Ready(Ok(bytes)) => self.connection.recv_read(bytes),
                Poll::Ready(Err(error)) => self.read_failed(error),
                Poll::Pending => return Halt::Blocked,
            }
        }
        Halt::Bound
    }

    /// Hands what was read to the connection: the preface, or one frame. Answers how many steps it
    /// counts for, and none if it is not whole.
    fn receive(&mut self, now: Instant) -> usize {
        if !self.preface.is_done() {
            let taken = self.preface.take(self.reader.unread());
            let is_wrong = taken
                .map_err(|violation| self.connection.fatal(violation))
                .is_err();
            return usize::from(is_wrong || self.preface.is_done());
        }
        let frame = self.reader.cut(self.connection.max_frame_size());
        let Some(frame) = frame.transpose() else {
            return 0;
        };
        let block = frame.as_ref().map_or(0, Frame::block_octets);
        self.connection.recv(frame, now);
        1 + block / BLOCK_STEP
    }

    /// Takes what the handles have left for the connection, and answers how many streams have news.
    /// Births come first: news of a stream may follow its birth at once.
    fn collect(&mut self) -> usize {
        let may_ask = self.hub.take_births(&mut self.births);
        for birth in self.births.drain(..) {
            self.connection.user_open(birth);
        }
        let shared = self.hub.shared();
        shared.take_posted(&mut self.posted);
        let heard = self.posted.len();
        for key in self.posted.drain(..) {
            self.connection.user_news(key);
        }
        let credit = shared.take_credit();
        if credit > 0 {
            self.connection.user_credit(credit);
        }
        if let Some(payload) = shared.take_ping() {
            self.connection.user_ping(payload);
        }
        if self.role == Role::Client && !may_ask {
            self.connection.user_close();
        }
        heard
    }

    /// Whether the turn is put off, once, because some streams of those given out have answered and
    /// not all. With several worker threads the first answer may run this task before the others
    /// had their chance: each would leave in a write of its own. Where one thread runs all of them,
    /// all have had it.
    fn waits_for_others(&mut self, heard: usize) -> bool {
        let missing = self.given_out.saturating_sub(heard);
        // Never twice in a row, or a peer that goes on asking would hold back all that it is owed.
        let waits = heard > 0 && missing > 0 && !self.has_waited;
        self.has_waited = waits;
        self.given_out = if waits { 0 } else { missing };
        waits
    }

    /// Writes one batch, once the one before it has left.
    fn write(&mut self, cx: &mut Context<'_>) -> Halt {
        if let Some(halt) = self.hand_over(cx) {
            return halt;
        }
        self.connection.fill(self.writer.batch());
        if !self.writer.begin() {
            return Halt::Idle;
        }
        match self.hand_over(cx) {
            Some(halt) => halt,
            None if self.writer.is_idle() && self.connection.is_quiet() => Halt::Idle,
            None => Halt::Bound,
        }
    }

    /// Writes what is in hand. None when it has left.
    fn hand_over(&mut self, cx: &mut Context<'_>) -> Option<Halt> {
        if self.is_broken() || matches!(self.stage, Stage::Lingering) {
            return Some(Halt::Idle);
        }
        let connection = &mut self.connection;
        let written = |batch: &mut _| connection.batch_written(batch);
        match self.writer.poll_hand_over(cx, &mut self.io, written) {
            Poll::Pending => Some(Halt::Blocked),
            Poll::Ready(Ok(())) => None,
            Poll::Ready(Err(error)) => {
                self.io_failed(error);
                Some(Halt::Idle)
            }
        }
    }

    /// Tells the handles what has changed for all of them.
    fn publish(&mut self) {
        let shared = self.hub.shared();
        while let Some(event) = self.connection.take_event() {
            match event {
                Event::Pong => shared.pong(),
                Event::SettingsAcked => {
                    shared.set_recv_window(self.connection.initial_recv_window());
                }
                Event::PeerSettings {
                    max_concurrent_streams,
                    extended_connect,
                    push,
                } => {
                    shared.set_max_send_streams(max_concurrent_streams);
                    shared.set_extended_connect(extended_connect);
                    shared.set_push(push);
                }
                Event::GoAway(error) => self.hub.close(error),
            }
        }
        shared.set_active_streams(self.connection.active_send_streams());
        shared.set_wired_streams(self.connection.num_wired_streams());
    }

    /// Decides whether another turn follows at once. If none does, one follows at `deadline`.
    fn conclude(
        &mut self,
        cx: &mut Context<'_>,
        read: Halt,
        wrote: Halt,
        deadline: Option<Instant>,
    ) -> Turn {
        if matches!(self.stage, Stage::Starting) && wrote != Halt::Blocked {
            self.stage = Stage::Running;
        }
        let is_written = wrote == Halt::Idle || self.is_broken();
        if self.connection.is_done() && is_written && self.poll_close(cx).is_ready() {
            return Turn::Again;
        }
        // While answers wait the connection does not read. It may want to, now that they left.
        let resumed = read == Halt::Idle && self.connection.wants_read();
        if resumed || read == Halt::Bound || wrote == Halt::Bound {
            return self.yield_to_producers(cx);
        }
        if !self.connection.has_streams() {
            self.reader.rest();
            self.writer.rest();
        }
        let deadlines = [deadline, self.parting];
        let next = deadlines.into_iter().flatten().min();
        if self.alarm.poll(cx, next).is_ready() {
            return Turn::Again;
        }
        if wrote != Halt::Blocked && !self.is_broken() {
            self.connection.fall_asleep();
        }
        Turn::Wait
    }

    /// Another turn follows; but producers that were woken run first, so that the next batch is
    /// shared by all who can send and not left to those who had more in hand.
    fn yield_to_producers(&self, cx: &Context<'_>) -> Turn {
        if !self.hub.shared().take_resumed() {
            return Turn::Again;
        }
        cx.waker().wake_by_ref();
        Turn::Wait
    }
}

impl<T: fmt::Debug, B: Buf> fmt::Debug for Driver<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("io", &self.io)
            .field("role", &self.role)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

/// What handles and the connection share, for this role and these options.
fn new_hub<B: Buf>(role: Role, config: &Config) -> Hub<B> {
    let first_id = match role {
        Role::Client => config.initial_stream_id,
        Role::Server => StreamId::new(2),
    };
    let limits = Limits {
        max_send_buffer: config.max_send_buffer_size,
        send_room: config.send_room,
        recv_window: config.initial_window_size,
    };
    Hub::new(first_id, limits)
}
