//! Output: what goes into a batch, in which order.
//!
//! Owns: control frames and header blocks; DATA is in `turn`. Does not know: I/O, who waits for what
//! above. Keeps I6 (blocks leave in the order in which they are compressed, ids in theirs) and its
//! part of I1: only DATA waits for credit.
//!
//! Order in a batch: what concerns the connection, answers that the peer provoked, WINDOW_UPDATE and
//! RST_STREAM (state of their streams until now), header blocks (up to half a batch while DATA
//! waits), DATA.

use bytes::{Buf, BytesMut};
use http::{HeaderMap, StatusCode};

use super::batch::Batch;
use super::connection::Connection;
use super::ids::Gone;
use super::port::{Port, Ports};
use super::state::{Event, State};
use super::stream::{Incoming, Loan, Stream};
use super::streams::{Key, Slot};
use crate::error::Misuse;
use crate::frame::{self, Ping, PriorityUpdate, Reason, Reset, Settings, StreamId, WindowUpdate};
use crate::message::{self, Head, Priority};

/// An answer that the peer has provoked and that belongs to no stream with a slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reply {
    SettingsAck,
    Pong([u8; 8]),
    Reset(StreamId, Reason),
    /// 431, and then RST_STREAM if the request is not over.
    TooLarge {
        id: StreamId,
        reset: bool,
    },
}

/// Where the blocks of one stream go.
struct Blocks<'a> {
    encoder: &'a mut crate::hpack::Encoder,
    scratch: &'a mut BytesMut,
    max_frame_size: usize,
}

impl<R: Ports> Connection<R> {
    /// Adds to `batch` what is ready now, until it has its target size or nobody can send. A batch
    /// that is still empty means that there is nothing to send.
    pub(crate) fn fill(&mut self, batch: &mut Batch<<R::Port as Port>::Buf>) {
        if self.shutdown.is_closed() {
            return;
        }
        if self.is_quiet() {
            #[cfg(test)]
            self.expect_nothing(batch);
            return;
        }
        let (bytes, frames, copied) = (batch.remaining(), batch.frames(), batch.copied());
        self.write_batch(batch);
        let added = batch.remaining() - bytes;
        self.stats.batches += u64::from(bytes == 0 && added > 0);
        self.stats.bytes_sent += added as u64;
        self.stats.frames_sent += batch.frames() - frames;
        self.stats.data_copied += batch.copied() - copied;
        self.stall.note_fill(added > 0);
        self.work.0 += added as u64;
    }

    /// Whether there is nothing to send, and the last batch has left. Most turns of a connection with
    /// few streams end so: finding it out must cost little.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let is_quiet = self.shutdown.is_far_away() && !self.could_fill() && !self.owes_connection();
        if is_quiet {
            self.stall.note_fill(false);
        }
        is_quiet
    }

    #[cfg(test)]
    fn expect_nothing(&mut self, batch: &mut Batch<<R::Port as Port>::Buf>) {
        let before = batch.remaining();
        self.write_batch(batch);
        assert_eq!(batch.remaining(), before, "a quiet connection has nothing");
        assert!(!self.shutdown.is_closing(), "nor does it end");
    }

    fn write_batch(&mut self, batch: &mut Batch<<R::Port as Port>::Buf>) {
        self.finish_if_idle();
        self.write_connection(batch);
        if !self.shutdown.is_closing() {
            self.write_replies(batch);
            self.write_control(batch);
            self.write_promises(batch);
            self.write_streams(batch);
            // The end of an answer may have made a reset of the rest of its request.
            self.write_control(batch);
            self.resume_waiting();
            self.finish_if_idle();
            self.write_connection(batch);
        }
        if self.shutdown.is_closing() && batch.is_empty() {
            self.shutdown.close();
        }
    }

    /// Blocks and DATA in turn: blocks let DATA go that waited for them, and what blocks left to
    /// DATA that is gone is theirs again.
    fn write_streams(&mut self, batch: &mut Batch<<R::Port as Port>::Buf>) {
        loop {
            let before = batch.remaining();
            self.write_opening(batch);
            self.write_heads(batch);
            self.write_data(batch);
            if batch.is_full() || batch.remaining() == before {
                return;
            }
        }
    }

    /// The batch is on the wire: the rests of payloads go back to their streams.
    pub(crate) fn batch_written(&mut self, batch: &mut Batch<<R::Port as Port>::Buf>) {
        self.work.0 += 1;
        while let Some((key, value)) = batch.give_back() {
            self.take_back(key, value);
        }
    }

    fn take_back(&mut self, key: Key, value: <R::Port as Port>::Buf) {
        let Some(slot) = self.streams.resolve(key) else {
            return;
        };
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        // Without a loan the stream has been reset since: the rest is void.
        if stream.loan != Loan::None {
            stream.loan = Loan::None;
            stream.out.data.push_front(value);
            self.settle(slot);
        }
    }

    // ---- control frames ------------------------------------------------------------------

    /// Whether `write_connection` would find anything, GOAWAY aside.
    fn owes_connection(&mut self) -> bool {
        self.make_way();
        self.settings.has_unsent() || self.pings.has_unsent() || self.recv_window.is_due()
    }

    /// The connection's window opens for others while some do not read.
    fn make_way(&mut self) {
        let limit = self.config.recv_limit(self.settings.local.initial_window);
        self.recv_window.make_way(limit);
    }

    /// SETTINGS, GOAWAY, PING, WINDOW_UPDATE of the connection.
    fn write_connection<B: Buf>(&mut self, batch: &mut Batch<B>) {
        if let Some(settings) = self.settings.take_unsent() {
            batch.write(|out| settings.encode(out));
        }
        if let Some(go_away) = self.shutdown.take_unsent() {
            batch.write(|out| go_away.encode(out));
        }
        if self.shutdown.is_closing() {
            return;
        }
        while let Some(ping) = self.pings.take_unsent() {
            batch.write(|out| ping.encode(out));
        }
        self.make_way();
        if self.recv_window.is_due() {
            if let Some(increment) = self.recv_window.announce() {
                let stream_id = StreamId::CONNECTION;
                batch.write(|out| {
                    WindowUpdate {
                        stream_id,
                        increment,
                    }
                    .encode(out)
                });
            }
        }
    }

    fn write_replies<B: Buf>(&mut self, batch: &mut Batch<B>) {
        while let Some(reply) = self.replies.pop_front() {
            match reply {
                Reply::SettingsAck => batch.write(|out| Settings::ack().encode(out)),
                Reply::Pong(payload) => {
                    batch.write(|out| Ping { ack: true, payload }.encode(out));
                }
                Reply::Reset(stream_id, reason) => {
                    self.stats.resets_sent += 1;
                    batch.write(|out| Reset { stream_id, reason }.encode(out));
                }
                Reply::TooLarge { id, reset } => self.write_too_large(id, reset, batch),
            }
        }
    }

    fn write_too_large<B: Buf>(&mut self, id: StreamId, reset: bool, batch: &mut Batch<B>) {
        let (mut response, ()) = http::Response::new(()).into_parts();
        response.status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        let mut blocks = self.blocks();
        blocks.write(batch, id, true, |blocks| {
            message::encode_response(&response, blocks.encoder, blocks.scratch);
        });
        if reset {
            //= RFC 9113 §8.1 after a complete response NO_ERROR stops the request
            let reset = Reset {
                stream_id: id,
                reason: Reason::NO_ERROR,
            };
            self.stats.resets_sent += 1;
            batch.write(|out| reset.encode(out));
        }
    }

    /// WINDOW_UPDATE and RST_STREAM of streams.
    fn write_control<B: Buf>(&mut self, batch: &mut Batch<B>) {
        let mut control = std::mem::take(&mut self.control);
        for key in control.drain(..) {
            if let Some(slot) = self.streams.resolve(key) {
                self.write_control_of(slot, batch);
            }
        }
        debug_assert!(
            self.control.is_empty(),
            "writing control frames makes no new ones"
        );
        self.control = control;
    }

    fn write_control_of<B: Buf>(&mut self, slot: Slot, batch: &mut Batch<B>) {
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        stream.in_control = false;
        let stream_id = stream.id;
        if let Some(reason) = stream.reset.take() {
            self.stats.resets_sent += 1;
            batch.write(|out| Reset { stream_id, reason }.encode(out));
            return self.remove(slot, Gone::ResetByUs);
        }
        if stream.owes_signal() {
            if let Some(value) = stream.signal.take().map(Priority::to_bytes) {
                let prioritized_id = stream_id;
                let update = PriorityUpdate {
                    prioritized_id,
                    value,
                };
                batch.write(|out| update.encode(out));
            }
        }
        if stream.owes_update() {
            if let Some(increment) = stream.recv.announce() {
                let update = WindowUpdate {
                    stream_id,
                    increment,
                };
                batch.write(|out| update.encode(out));
            }
        }
    }

    // ---- header blocks -------------------------------------------------------------------

    /// Promises go out before anything else of their parent, and in the order of ids.
    fn write_promises<B: Buf>(&mut self, batch: &mut Batch<B>) {
        while let Some(slot) = self.scheduler.next_promise() {
            if let Err(misuse) = self.write_promise(slot, batch) {
                self.forget(slot, misuse.into());
            }
            self.settle(slot);
        }
    }

    fn write_promise<B: Buf>(&mut self, slot: Slot, batch: &mut Batch<B>) -> Result<(), Misuse> {
        let parent = self.streams.at(slot).and_then(|stream| stream.parent);
        let parent = parent.ok_or(Misuse::PushParent)?;
        if !self.settings.peer.push {
            //= RFC 9113 §6.6 PUSH_PROMISE is not sent to a peer that has disabled it
            return Err(Misuse::PeerDisabledServerPush);
        }
        let found = self
            .streams
            .find(parent)
            .and_then(|slot| self.streams.at(slot));
        //= RFC 9113 §6.6 the parent is open or half-closed (remote)
        if !found.is_some_and(|stream| stream.state.can_send()) {
            return Err(Misuse::PushParent);
        }
        let Some(stream) = self.streams.at_mut(slot) else {
            return Ok(());
        };
        let Some(Head::Request(request)) = stream.out.heads.pop_front() else {
            return Err(Misuse::UnexpectedFrame);
        };
        stream.parent = None;
        stream.state = stream
            .state
            .after(Event::SendPromise)
            .unwrap_or(State::Closed);
        let id = stream.id;
        self.ids.use_local(id);
        self.stats.streams_opened += 1;
        self.scratch.clear();
        message::encode_request(&request, &mut self.encoder, &mut self.scratch);
        let (scratch, max) = (&self.scratch, self.settings.peer.max_frame_size);
        batch.write(|out| frame::encode_push_promise(parent, id, scratch, max, out));
        Ok(())
    }

    /// Streams that wait for a concurrency slot, in the order of ids.
    fn write_opening<B: Buf>(&mut self, batch: &mut Batch<B>) {
        //= RFC 9113 §5.1.2 the peer's limit is never exceeded
        while self.counts.local < self.settings.peer.max_streams && self.heads_may_go(batch) {
            let Some(slot) = self.scheduler.next_open() else {
                return;
            };
            let Some(stream) = self.streams.at_mut(slot) else {
                return;
            };
            self.counts.count_local(stream);
            if stream.state == State::Idle {
                self.ids.use_local(stream.id);
                self.stats.streams_opened += 1;
                if let Some(head) = stream.out.heads.front() {
                    stream.incoming = Incoming::answer_to(head);
                }
            }
            self.limits.stream_opened();
            stream.port.opened();
            self.write_blocks(slot, batch);
        }
    }

    /// Whatever else needs no credit.
    fn write_heads<B: Buf>(&mut self, batch: &mut Batch<B>) {
        while self.heads_may_go(batch) {
            let Some(slot) = self.scheduler.next_head() else {
                return;
            };
            self.write_blocks(slot, batch);
        }
    }

    /// Header blocks leave half a batch to DATA that waits and may go.
    fn heads_may_go<B: Buf>(&self, batch: &Batch<B>) -> bool {
        let data_may_go = self.scheduler.has_turns() && self.connection_credit() > 0;
        if data_may_go {
            !batch.is_half_full()
        } else {
            !batch.is_full()
        }
    }

    /// The heads of a stream, and its trailers or bare end if nothing lies between.
    fn write_blocks<B: Buf>(&mut self, slot: Slot, batch: &mut Batch<B>) {
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        let mut blocks = Blocks {
            encoder: &mut self.encoder,
            scratch: &mut self.scratch,
            max_frame_size: self.settings.peer.max_frame_size,
        };
        while let Some(head) = stream.out.heads.pop_front() {
            let end = ends_with(stream, &head);
            blocks.write_head(batch, stream.id, head, end);
            stream.state = stream
                .state
                .after(Event::SendHeaders)
                .unwrap_or(stream.state);
            if end {
                stream.out.end = false;
                end_sending(stream);
            }
        }
        if stream.queued == 0 && stream.state.can_send() && stream.has_tail() {
            write_tail(stream, &mut blocks, batch);
        }
        self.settle(slot);
    }

    fn blocks(&mut self) -> Blocks<'_> {
        Blocks {
            encoder: &mut self.encoder,
            scratch: &mut self.scratch,
            max_frame_size: self.settings.peer.max_frame_size,
        }
    }
}

impl Blocks<'_> {
    fn write_head<B: Buf>(&mut self, batch: &mut Batch<B>, id: StreamId, head: Head, end: bool) {
        self.write(batch, id, end, |blocks| match &head {
            Head::Request(request) => {
                message::encode_request(request, blocks.encoder, blocks.scratch);
            }
            Head::Response(response) | Head::Informational(response) => {
                message::encode_response(response, blocks.encoder, blocks.scratch);
            }
        });
        message::keep_map(head.into_fields());
    }

    fn write_trailers<B: Buf>(&mut self, batch: &mut Batch<B>, id: StreamId, map: HeaderMap) {
        self.write(batch, id, true, |blocks| {
            message::encode_trailers(&map, blocks.encoder, blocks.scratch);
        });
        message::keep_map(map);
    }

    fn write<B: Buf>(
        &mut self,
        batch: &mut Batch<B>,
        id: StreamId,
        end: bool,
        encode: impl FnOnce(&mut Self),
    ) {
        self.scratch.clear();
        encode(self);
        //= RFC 9113 §4.2 no frame is longer than the peer allows
        let (scratch, max) = (&*self.scratch, self.max_frame_size);
        batch.write(|out| frame::encode_headers(id, scratch, end, max, out));
    }
}

/// Whether nothing follows this head.
fn ends_with<P: Port>(stream: &Stream<P>, head: &Head) -> bool {
    let out = &stream.out;
    let is_final = !matches!(head, Head::Informational(_));
    is_final && out.end && out.heads.is_empty() && stream.queued == 0 && out.trailers.is_none()
}

fn write_tail<P: Port, B: Buf>(
    stream: &mut Stream<P>,
    blocks: &mut Blocks<'_>,
    batch: &mut Batch<B>,
) {
    match stream.out.trailers.take() {
        Some(trailers) => blocks.write_trailers(batch, stream.id, *trailers),
        //= RFC 9113 §6.9.1 an empty DATA frame with END_STREAM needs no window
        None => batch.write(|out| frame::encode_data_head(stream.id, 0, true, out)),
    }
    stream.out.end = false;
    end_sending(stream);
}

/// END_STREAM is in the batch.
pub(super) fn end_sending<P: Port>(stream: &mut Stream<P>) {
    stream.state = stream.state.after(Event::SendEnd).unwrap_or(State::Closed);
}
