//! `Connection`: one end of an HTTP/2 connection, without I/O.
//!
//! Owns: the parts, how they are put together, what the application and the clock may say. Does not
//! know: tasks, locks, sockets, which clock. What the peer says is in `recv`, what is said to it in
//! `send`, the end in `shutdown`; all keep the invariants by ending in `settle`.
//!
//! # The four kinds of method
//!
//! - *Getters* answer at any time.
//! - `recv*`, `fail`: what the peer or the transport did. Frames in the order of the wire, while
//!   `wants_read`.
//! - `user_*`: what the application did. `handle_timeout`: what the clock says; due at `deadline`.
//! - `fill`, `next_accept`, `take_event`: output. Ask after any of the above. A batch that was
//!   filled is written to its end and given to `batch_written` before it is filled afresh. Then
//!   `end_turn`.

use std::collections::VecDeque;
use std::time::Instant;

use bytes::BytesMut;

use super::bandwidth::Bandwidth;
use super::block::Block;
use super::config::{Config, Role};
use super::flow::{DEFAULT_WINDOW, RecvWindow, SendWindow};
use super::ids::Ids;
use super::limits::Limits;
use super::ping::Pings;
use super::port::{Birth, Interest, News, Port, Ports};
use super::queue::{Kind, Queue};
use super::quiet::Quiet;
use super::scheduler::Scheduler;
use super::send::Reply;
use super::settings::Settings;
use super::shutdown::Shutdown;
use super::stall::Stall;
use super::stats::Stats;
use super::stream::{Chooser, Counted, Holder, Rank, Stream};
use super::streams::{Key, Slot, Streams};
use crate::error::{Error, Initiator, Misuse, Violation};
use crate::frame::{Reason, Setting, StreamId};
use crate::hpack;
use crate::message::Priority;
use crate::sync::SharedValue;

/// One end of a connection.
pub(crate) struct Connection<R: Ports> {
    pub(super) role: Role,
    pub(super) config: SharedValue<Config>,
    pub(super) ports: R,
    pub(super) streams: Streams<R::Port>,
    pub(super) scheduler: Scheduler,
    pub(super) send_window: SendWindow,
    pub(super) recv_window: RecvWindow,
    pub(super) ids: Ids,
    pub(super) counts: Counts,
    pub(super) settings: Settings,
    pub(super) pings: Pings,
    /// None: windows stay as they are.
    pub(super) bandwidth: Option<Box<Bandwidth>>,
    pub(super) shutdown: Shutdown,
    pub(super) limits: Limits,
    pub(super) decoder: hpack::Decoder,
    pub(super) encoder: hpack::Encoder,
    /// The :authority of the last request that came.
    pub(super) last_authority: Option<http::uri::Authority>,
    /// The header block that is open.
    pub(super) block: Option<Box<Block>>,
    /// Answers that the peer has provoked, in order.
    pub(super) replies: VecDeque<Reply>,
    /// Streams with a WINDOW_UPDATE or RST_STREAM to write.
    pub(super) control: Vec<Key>,
    /// Streams whose producer waits for send room, in the order of asking.
    pub(super) waiting_in_list: Queue,
    /// Streams whose producer may send, and waits for more room than it knows of.
    pub(super) watching_list: Queue,
    /// `Ports::room_returned` when these were last looked at.
    pub(super) room_returned: usize,
    /// Room that was granted in this turn.
    pub(super) set_aside: usize,
    pub(super) accept: VecDeque<(Key, R::Port)>,
    /// Priorities of requests that have not come yet.
    pub(super) early_priorities: VecDeque<(StreamId, Priority)>,
    pub(super) events: VecDeque<Event>,
    pub(super) scratch: BytesMut,
    pub(super) stats: Stats,
    /// Things done, and how many when the last turn ended.
    pub(super) work: (u64, u64),
    pub(super) stall: Stall,
    pub(super) quiet: Quiet,
    /// The last time that we were told.
    pub(super) now: Option<Instant>,
}

/// Streams by who opened them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Ours that count against the peer's limit.
    pub(super) local: usize,
    /// The peer's that have a slot.
    pub(super) remote: usize,
    /// The peer's that were reset before they were accepted, and are still queued for that.
    pub(super) reset_unaccepted: usize,
}

/// What the layers above must hear of the connection itself.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// The application's ping was answered.
    Pong,
    /// Our SETTINGS are in force.
    SettingsAcked,
    /// The peer's SETTINGS have changed.
    PeerSettings {
        /// Streams that we may have open.
        max_concurrent_streams: usize,
        /// Whether extended CONNECT may be used.
        extended_connect: bool,
        /// Whether we may push.
        push: bool,
    },
    /// The peer takes no more streams: new ones fail with this.
    GoAway(Error),
}

impl<R: Ports> Connection<R> {
    /// The beginning of a connection; our SETTINGS wait to be written. The preface of a client is
    /// the caller's to write and of the peer's to check.
    pub(crate) fn new(
        role: Role,
        config: impl Into<SharedValue<Config>>,
        ports: R,
    ) -> Connection<R> {
        let config = config.into();
        let mut recv_window = RecvWindow::new(DEFAULT_WINDOW);
        if let Some(size) = config.initial_connection_window_size {
            recv_window.resize(size);
        }
        Connection {
            role,
            streams: Streams::new(),
            scheduler: Scheduler::default(),
            send_window: SendWindow::default(),
            recv_window,
            ids: Ids::new(role, &config),
            counts: Counts::default(),
            settings: Settings::new(role, &config),
            pings: Pings::default(),
            bandwidth: config
                .window_budget
                .map(|budget| Box::new(Bandwidth::new(budget, config.initial_window_size))),
            shutdown: Shutdown::new(),
            limits: Limits::new(&config),
            decoder: hpack::Decoder::new(hpack::DEFAULT_TABLE_SIZE),
            encoder: hpack::Encoder::new(),
            last_authority: None,
            block: None,
            replies: VecDeque::new(),
            control: Vec::new(),
            waiting_in_list: Queue::new(Kind::Room),
            watching_list: Queue::new(Kind::Room),
            room_returned: 0,
            set_aside: 0,
            accept: VecDeque::new(),
            early_priorities: VecDeque::new(),
            events: VecDeque::new(),
            scratch: BytesMut::new(),
            stats: Stats::default(),
            work: (0, 0),
            stall: Stall::default(),
            quiet: Quiet::default(),
            now: None,
            config,
            ports,
        }
    }

    // What the application did.

    /// Takes a stream that the application opens. In the order of ids.
    pub(crate) fn user_open(&mut self, birth: Birth<R::Port>) {
        self.work.0 += 1;
        if self.shutdown.refuses_new() {
            let error = Error::go_away(Default::default(), Reason::NO_ERROR, Initiator::Remote);
            birth.port.fail(error.into_not_processed());
            return;
        }
        let mut stream = Stream::new(birth.id, birth.port, self.settings.local.initial_window);
        stream.parent = birth.parent;
        let port = stream.port.clone();
        let slot = self.streams.insert(stream);
        if let Some(stream) = self.streams.at(slot) {
            port.adopt(stream.key);
        }
        self.collect(slot);
    }

    /// Collects what the handles of a stream have posted.
    pub(crate) fn user_news(&mut self, key: Key) {
        self.work.0 += 1;
        if let Some(slot) = self.streams.resolve(key) {
            self.collect(slot);
        }
    }

    /// Receive credit of streams whose slot is gone.
    pub(crate) fn user_credit(&mut self, bytes: usize) {
        self.work.0 += bytes as u64;
        self.return_credit(bytes);
    }

    /// Sends a ping; its answer is an event.
    pub(crate) fn user_ping(&mut self, payload: [u8; 8]) {
        self.pings.ask(payload);
    }

    /// The receive window of the connection shall have this size.
    pub(crate) fn user_set_target_window(&mut self, size: u32) {
        SharedValue::make_mut(&mut self.config).initial_connection_window_size = Some(size);
        self.recv_window.resize(size);
    }

    /// The receive windows of all streams shall have this size.
    pub(crate) fn user_set_initial_window(&mut self, size: u32) -> Result<(), Misuse> {
        if size > crate::frame::MAX_WINDOW_SIZE {
            return Err(Misuse::OutOfRange);
        }
        self.settings.announce(Setting::InitialWindowSize(size))
    }

    /// From now on extended CONNECT is allowed.
    pub(crate) fn user_enable_connect_protocol(&mut self) -> Result<(), Misuse> {
        self.settings
            .announce(Setting::EnableConnectProtocol(true))?;
        self.settings.local.connect_protocol = true;
        Ok(())
    }

    // The clock.

    /// What time it is.
    pub(crate) fn note_time(&mut self, now: Instant) {
        self.now = Some(now);
        self.settings.note_time(now);
    }

    /// Ends what has taken too long.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.note_time(now);
        self.work.0 += 1;
        if self.block_deadline().is_some_and(|at| now >= at) {
            self.fatal(Violation::SlowHeaderBlock);
        } else if self.settings_deadline().is_some_and(|at| now >= at) {
            //= RFC 9113 §6.5.3 SETTINGS that are not acknowledged in time may end the connection
            self.fatal(Violation::SettingsTimeout);
        } else {
            self.check_progress(now);
            self.check_quiet(now);
            if self.shutdown_deadline().is_some_and(|at| now >= at) {
                self.name_last_stream();
            }
        }
    }

    /// When to call `handle_timeout` next.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if !self.shutdown.is_listening() {
            return None;
        }
        [
            self.block_deadline(),
            self.settings_deadline(),
            self.progress_deadline(),
            self.quiet_deadline(),
            self.shutdown_deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    // Output beside the batch.

    /// The next stream of the peer's that the application has not seen yet.
    pub(crate) fn next_accept(&mut self) -> Option<R::Port> {
        while let Some((key, port)) = self.accept.pop_front() {
            let slot = self.streams.resolve(key);
            if let Some(stream) = slot.and_then(|slot| self.streams.at_mut(slot)) {
                stream.holder = Holder::Handles;
                return Some(port);
            }
            self.counts.reset_unaccepted = self.counts.reset_unaccepted.saturating_sub(1);
        }
        None
    }

    /// The next event of the connection.
    pub(crate) fn take_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    // Getters.

    /// Whether frames should be read and given to `recv`. Not while the peer provokes answers
    /// faster than it takes them.
    pub(crate) fn wants_read(&self) -> bool {
        //= RFC 9113 §5.2.2 frames are read whatever DATA waits for, so that credit gets through
        self.shutdown.is_listening() && self.replies.len() < self.config.limits.max_queued_replies
    }

    /// The longest frame that we take.
    pub(crate) fn max_frame_size(&self) -> usize {
        self.config.frame_limit()
    }

    /// Whether any stream is open, or waits to be.
    pub(crate) fn has_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Streams of ours that are open.
    pub(crate) fn active_send_streams(&self) -> usize {
        self.counts.local
    }

    /// Streams that we may have open.
    pub(crate) fn max_send_streams(&self) -> usize {
        self.settings.peer.max_streams
    }

    /// Streams that the peer may have open.
    pub(crate) fn max_recv_streams(&self) -> usize {
        self.config
            .max_concurrent_streams
            .map_or(usize::MAX, |limit| limit as usize)
    }

    /// The receive window that a stream has at its birth, in bytes.
    pub(crate) fn initial_recv_window(&self) -> u32 {
        self.settings.local.initial_window
    }

    /// Streams with a slot, whoever opened them.
    pub(crate) fn num_wired_streams(&self) -> usize {
        self.streams.len()
    }

    /// What was done so far.
    pub(crate) fn stats(&self) -> Stats {
        let mut stats = self.stats;
        self.scheduler.count_into(&mut stats);
        stats.streams_alive = self.streams.len();
        stats.waiting_for_room = self.waiting_in_list.len();
        stats.room_used = self.config.send_room.saturating_sub(self.ports.free_room());
        stats
    }

    // Helpers.

    fn block_deadline(&self) -> Option<Instant> {
        self.block
            .as_ref()?
            .deadline(self.config.limits.header_block_timeout)
    }

    fn settings_deadline(&self) -> Option<Instant> {
        let since = self.settings.waiting_since()?;
        since.checked_add(self.config.limits.settings_timeout?)
    }

    fn collect(&mut self, slot: Slot) {
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        let news = stream.port.collect(&mut stream.out);
        if stream.reset.is_some() || !stream.may_send() {
            // The stream was reset or stopped meanwhile: what the handles queued is void.
            stream.clear_output();
        } else {
            stream.queued += news.queued;
        }
        self.take_released(slot, news.released);
        self.act_on(slot, news);
        self.settle(slot);
    }

    fn take_released(&mut self, slot: Slot, bytes: usize) {
        if bytes > 0 {
            if let Some(stream) = self.streams.at_mut(slot) {
                stream.recv.release(bytes);
            }
            self.return_credit(bytes);
        }
    }

    fn act_on(&mut self, slot: Slot, news: News) {
        let Some(stream) = self.streams.at_mut(slot) else {
            return;
        };
        if let Some(priority) = news.priority {
            stream.rank = Rank::from(priority);
            stream.ranked_by = Chooser::Application;
            stream.signal = (self.role == Role::Client).then_some(priority);
        }
        match news.interest {
            Interest::None => {}
            Interest::Room => self.want_room(slot),
            Interest::MoreRoom => self.want_more_room(slot),
            Interest::Abandoned => stream.holder = Holder::Nobody,
        }
        if let Some(reason) = news.reset {
            self.reset_by_user(slot, reason);
        }
    }

    fn reset_by_user(&mut self, slot: Slot, reason: Reason) {
        if let Some(stream) = self.streams.at(slot) {
            let error = Error::reset(stream.id, reason, Initiator::User);
            self.reset(slot, reason, error);
            self.limits.stream_given_up();
        }
    }
}

impl Counts {
    pub(super) fn count_local<P: Port>(&mut self, stream: &mut Stream<P>) {
        debug_assert!(
            !stream.state.is_counted(),
            "it counts from its first HEADERS on"
        );
        if stream.counted == Counted::No {
            stream.counted = Counted::Yes;
            self.local += 1;
        }
    }
}
