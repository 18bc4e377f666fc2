//! The application's part of one stream: a producer, a reader, and who waits for other things.
//!
//! Owns: the real handles, and what it knows of its own message. Does not know: the connection.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;

use bytes::Buf;
use http::{HeaderMap, HeaderValue, Response};

use super::task::{Tally, Task};
use crate::error::Error;
use crate::frame::{Reason, StreamId};
use crate::handoff::{PollReset, Promise, Reader, Unopened, Writer};
use crate::message::Head;
use crate::proto::tests::chance::Dice;
use crate::proto::tests::load::{Load, load, payload};
use crate::share::SendStream;

/// A `SendStream::send` under way.
type Sending = Pin<Box<dyn Future<Output = Result<(), Error>>>>;

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that was done"
)]
pub(super) struct Party {
    pub(super) id: StreamId,
    /// Sees the sending half without being a handle.
    pub(super) out: Option<Unopened<Load>>,
    writer: Option<Writer<Load>>,
    pub(super) reader: Option<Reader>,
    pub(super) producer: Task,
    sending: Option<Sending>,
    pub(super) sent: usize,
    /// Of `sent`: what was beyond the capacity, as far as it may still be buffered.
    pub(super) excess: usize,
    /// The same, and whatever became of it.
    pub(super) beyond: usize,
    headed: bool,
    pub(super) ended: bool,
    /// Sending has failed.
    pub(super) stuck: bool,
    /// Reset or dropped from this side.
    pub(super) disturbed: bool,
    pub(super) consumer: Task,
    got_head: bool,
    stopped_reading: bool,
    pub(super) received: usize,
    unreleased: usize,
    pub(super) complete: bool,
    /// Reading has failed.
    pub(super) failed: bool,
    /// Waits for a concurrency slot.
    pub(super) opening: Task,
    /// Waits for a reset.
    pub(super) watch: Task,
    /// Takes promises.
    pub(super) pushes: Task,
}

impl Party {
    pub(super) fn new(writer: Option<Writer<Load>>, reader: Option<Reader>) -> Party {
        let id = writer.as_ref().map(Writer::id);
        let id = id.or(reader.as_ref().map(Reader::id));
        Party {
            id: id.expect("one half is there"),
            out: writer.as_ref().map(Writer::unopened),
            writer,
            reader,
            producer: Task::new(),
            sending: None,
            sent: 0,
            excess: 0,
            beyond: 0,
            headed: false,
            ended: false,
            stuck: false,
            disturbed: false,
            consumer: Task::new(),
            got_head: false,
            stopped_reading: false,
            received: 0,
            unreleased: 0,
            complete: false,
            failed: false,
            opening: Task::new(),
            watch: Task::new(),
            pushes: Task::new(),
        }
    }

    /// Of a client: the request has been sent.
    pub(super) fn request(writer: Writer<Load>, reader: Reader, end: bool) -> Party {
        Party {
            headed: true,
            ended: end,
            ..Party::new(Some(writer), Some(reader))
        }
    }

    /// Of a server: the request has been taken.
    pub(super) fn answer(writer: Writer<Load>, reader: Reader) -> Party {
        Party {
            got_head: true,
            ..Party::new(Some(writer), Some(reader))
        }
    }

    /// How it stands, in words.
    pub(super) fn report(&self) -> String {
        format!(
            "{:?}: sent {} ended {} stuck {} received {} complete {} failed {} tasks {:?} {:?}",
            self.id,
            self.sent,
            self.ended,
            self.stuck,
            self.received,
            self.complete,
            self.failed,
            self.producer,
            self.consumer,
        )
    }

    /// Nothing of it is left to look at.
    pub(super) fn is_gone(&self) -> bool {
        let out = self.out.as_ref().is_none_or(Unopened::is_last);
        out && self.reader.is_none() && self.writer.is_none()
    }

    pub(super) fn reads(&self) -> bool {
        self.reader.is_some() && !self.stopped_reading
    }

    /// How often its producer was woken, and its other tasks.
    pub(super) fn tallies(&self) -> [Tally; 2] {
        let mut others = Tally::default();
        for task in [&self.consumer, &self.opening, &self.watch, &self.pushes] {
            others.add(task.tally);
        }
        [self.producer.tally, others]
    }

    pub(super) fn is_woken(&self) -> bool {
        let tasks = [
            &self.producer,
            &self.consumer,
            &self.opening,
            &self.watch,
            &self.pushes,
        ];
        tasks.into_iter().any(Task::is_woken)
    }

    /// Runs the tasks that were woken. Answers a promise, if one was taken.
    pub(super) fn run_woken(&mut self, dice: &mut Dice) -> Option<Promise> {
        if self.producer.is_woken() {
            self.go_on_producing(dice);
        }
        if self.consumer.is_woken() {
            self.consume();
        }
        if self.opening.is_woken() {
            self.wait_for_slot();
        }
        if self.watch.is_woken() {
            self.watch_for_reset();
        }
        if self.pushes.is_woken() {
            return self.take_promise();
        }
        None
    }

    // ---- the producer --------------------------------------------------------------------

    /// Does something that a producer may do now.
    pub(super) fn produce(&mut self, dice: &mut Dice) {
        if self.producer.waits() {
            return self.go_on_producing(dice);
        }
        let Some(writer) = self.writer.clone() else {
            return;
        };
        if self.ended || self.stuck {
            return;
        }
        if !self.headed {
            return self.respond(dice.once_in(8));
        }
        match dice.roll(24) {
            0..3 => self.send(&writer, dice, true),
            3..10 => self.send(&writer, dice, false),
            10..17 => self.wait_for_capacity(&writer, dice),
            17..23 => self.begin_sending(&writer, dice),
            _ => self.end(&writer, dice),
        }
    }

    /// It was woken: it looks at what it waited for.
    fn go_on_producing(&mut self, dice: &mut Dice) {
        if self.producer.sleeps() {
            return;
        }
        let Some(writer) = self.writer.clone() else {
            return;
        };
        if self.sending.is_some() {
            return self.poll_sending();
        }
        self.poll_capacity(&writer);
        if !self.producer.waits() && !self.stuck && !self.ended && dice.once_in(2) {
            self.send(&writer, dice, false);
        }
    }

    pub(super) fn respond(&mut self, early: bool) {
        let Some(writer) = &self.writer else { return };
        let (mut parts, ()) = Response::new(()).into_parts();
        let head = if early {
            parts.status = http::StatusCode::EARLY_HINTS;
            Head::Informational(Box::new(parts))
        } else {
            Head::Response(Box::new(parts))
        };
        self.stuck |= writer.send_head(head, false).is_err();
        self.headed |= !early;
    }

    fn send(&mut self, writer: &Writer<Load>, dice: &mut Dice, beyond: bool) {
        let wanted = dice.size();
        writer.reserve(wanted);
        let capacity = writer.capacity();
        let size = if beyond { wanted } else { wanted.min(capacity) };
        let end = dice.once_in(30);
        let data = load(dice, payload(self.id, self.sent, size));
        if writer.send_data(data, end).is_err() {
            self.stuck = true;
            return;
        }
        self.ended = end;
        self.excess += size.saturating_sub(capacity);
        self.beyond += size.saturating_sub(capacity);
        self.note_sent();
    }

    /// Whatever of it is the stream's, was sent. A value that `send` has handed over stays there.
    fn note_sent(&mut self) {
        let sent = self
            .out
            .as_ref()
            .map_or(0, |out| out.producer().handed_over);
        self.sent = self.sent.max(sent);
    }

    fn wait_for_capacity(&mut self, writer: &Writer<Load>, dice: &mut Dice) {
        writer.reserve(1 + dice.size());
        self.poll_capacity(writer);
    }

    fn poll_capacity(&mut self, writer: &Writer<Load>) {
        match self.producer.poll(|cx| writer.poll_capacity(cx)) {
            Poll::Ready(Some(Ok(capacity))) => {
                assert!(capacity > 0, "never Ready(0)");
                assert_eq!(capacity, writer.capacity(), "what it is told is there");
            }
            Poll::Ready(None) => self.ended = true,
            Poll::Ready(Some(Err(_))) => self.stuck = true,
            Poll::Pending => {}
        }
    }

    fn begin_sending(&mut self, writer: &Writer<Load>, dice: &mut Dice) {
        let length = dice.size();
        let data = load(dice, payload(self.id, self.sent, length));
        let mut stream = SendStream::new(writer.clone());
        self.sending = Some(Box::pin(async move { stream.send(data).await }));
        self.poll_sending();
    }

    fn poll_sending(&mut self) {
        let Some(sending) = &mut self.sending else {
            return;
        };
        if let Poll::Ready(sent) = self.producer.poll(|cx| sending.as_mut().poll(cx)) {
            self.stuck |= sent.is_err();
            self.sending = None;
        }
        self.note_sent();
    }

    /// The future is dropped. Its value may stay on offer.
    pub(super) fn cancel_sending(&mut self) {
        if self.sending.take().is_some() {
            self.producer.give_up();
        }
    }

    fn end(&mut self, writer: &Writer<Load>, dice: &mut Dice) {
        let ended = match dice.roll(3) {
            0 => writer.send_data(Load::empty(), true),
            1 => writer.send_trailers(trailers()),
            _ => writer.send_trailers(HeaderMap::new()),
        };
        self.stuck |= ended.is_err();
        self.ended = true;
    }

    /// Brings the message to its end, as far as it can now.
    pub(super) fn finish(&mut self, dice: &mut Dice) {
        if self.producer.waits() {
            self.go_on_producing(dice);
        }
        let Some(writer) = self.writer.clone() else {
            if self.out.is_some() && !self.ended {
                // Its message never ends, so it may not keep the stream.
                self.drop_reader();
            }
            return;
        };
        if self.sending.is_none() && writer.capacity() > 0 {
            // It knows of that, and waited for more than it will ever get.
            self.producer.give_up();
        }
        if self.producer.waits() || self.ended || self.stuck {
            return;
        }
        if !self.headed {
            self.respond(false);
        }
        self.end(&writer, dice);
    }

    // ---- the reader ----------------------------------------------------------------------

    /// Reads one thing. Answers false if there was nothing.
    pub(super) fn consume(&mut self) -> bool {
        let Some(reader) = self.reader.clone() else {
            return false;
        };
        if self.consumer.sleeps() || self.complete || self.failed || self.stopped_reading {
            return false;
        }
        if !self.got_head {
            return self.read_head(&reader);
        }
        match self.consumer.poll(|cx| reader.poll_data(cx)) {
            Poll::Pending => return false,
            Poll::Ready(Some(Ok(data))) => {
                let expected = payload(self.id, self.received, data.len());
                assert!(data == expected, "I6: bytes come in order");
                self.received += data.len();
                self.unreleased += data.len();
            }
            Poll::Ready(Some(Err(_))) => self.failed = true,
            Poll::Ready(None) => return self.read_trailers(&reader),
        }
        true
    }

    fn read_head(&mut self, reader: &Reader) -> bool {
        match self.consumer.poll(|cx| reader.poll_response(cx)) {
            Poll::Pending => return false,
            Poll::Ready(Ok(_)) => self.got_head = true,
            Poll::Ready(Err(_)) => self.failed = true,
        }
        true
    }

    fn read_trailers(&mut self, reader: &Reader) -> bool {
        match self.consumer.poll(|cx| reader.poll_trailers(cx)) {
            Poll::Pending => return false,
            Poll::Ready(Ok(_)) => self.complete = true,
            Poll::Ready(Err(_)) => self.failed = true,
        }
        true
    }

    /// A promise that has come.
    pub(super) fn take_promise(&mut self) -> Option<Promise> {
        let reader = self.reader.as_ref()?;
        if self.pushes.sleeps() {
            return None;
        }
        match self.pushes.poll(|cx| reader.poll_promise(cx)) {
            Poll::Ready(Some(Ok(promise))) => Some(promise),
            _ => None,
        }
    }

    pub(super) fn release(&mut self, most: usize) {
        let Some(reader) = &self.reader else { return };
        let bytes = most.min(self.unreleased);
        reader.release(bytes).expect("it was delivered");
        self.unreleased -= bytes;
        assert!(
            reader.release(reader.used_capacity() + 1).is_err(),
            "more than was delivered"
        );
    }

    // ---- other tasks, and ends -----------------------------------------------------------

    pub(super) fn wait_for_slot(&mut self) {
        let Some(out) = &self.out else { return };
        if !self.opening.sleeps() {
            let _ = self.opening.poll(|cx| out.poll_opened(cx));
        }
    }

    pub(super) fn watch_for_reset(&mut self) {
        let Some(writer) = &self.writer else { return };
        if !self.watch.sleeps() {
            let _ = self
                .watch
                .poll(|cx| writer.poll_reset(cx, PollReset::Streaming));
        }
    }

    pub(super) fn prioritise(&self, dice: &mut Dice) {
        if let Some(writer) = self.writer.clone() {
            SendStream::new(writer).set_priority(dice.roll(9) as u8, dice.once_in(2));
        }
    }

    /// A reset, or handles that are dropped, at whatever state it is.
    pub(super) fn disturb(&mut self, dice: &mut Dice) {
        match dice.roll(7) {
            0 | 1 => {
                if let Some(writer) = &self.writer {
                    writer.send_reset(Reason::CANCEL);
                }
            }
            2 => self.drop_writer(),
            3 => self.drop_reader(),
            4 => {
                self.drop_writer();
                self.drop_reader();
            }
            5 => {
                // As a `RecvStream` does whose `FlowControl` lives on.
                if let Some(reader) = &self.reader {
                    reader.stop_reading();
                    self.stopped_reading = true;
                    self.consumer.give_up();
                }
            }
            _ => return self.cancel_sending(),
        }
        self.disturbed = true;
    }

    pub(super) fn drop_writer(&mut self) {
        self.sending = None;
        self.writer = None;
        self.producer.give_up();
        self.watch.give_up();
        self.opening.give_up();
    }

    pub(super) fn drop_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.refuse_promises();
        }
        self.consumer.give_up();
        self.pushes.give_up();
    }
}

fn trailers() -> HeaderMap {
    let mut map = HeaderMap::new();
    map.insert("sum", HeaderValue::from_static("1"));
    map
}

impl Load {
    fn empty() -> Load {
        let empty = Load::One(bytes::Bytes::new());
        debug_assert!(!empty.has_remaining());
        empty
    }
}
