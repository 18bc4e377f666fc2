//! Every option of a connection, once: its default, its range, its meaning.
//!
//! Owns: the values. Does not know: builders, handles, what an option is good for in a program.
//! Options that h2 has keep its defaults; limits that it lacks are on by default at values that
//! honest peers never meet. Keeps: every bound of I3 is a field of this file.

use std::time::Duration;

use crate::frame::{DEFAULT_MAX_FRAME_SIZE, MAX_WINDOW_SIZE, StreamId};

/// Which end of the connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Opens streams with odd ids.
    Client,
    /// Answers them, and may push on even ids.
    Server,
}

impl Role {
    /// Whether this end opens streams with ids like `id`.
    pub(super) fn opens(self, id: StreamId) -> bool {
        match self {
            Role::Client => id.is_client_initiated(),
            Role::Server => id.is_server_initiated(),
        }
    }
}

/// The options of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// SETTINGS_INITIAL_WINDOW_SIZE: what a peer may send on a stream before we read.
    pub(crate) initial_window_size: u32,
    /// The receive window of the connection; none is the protocol's 65,535, and more behind streams
    /// that nobody reads.
    pub(crate) initial_connection_window_size: Option<u32>,
    /// Up to this many bytes the receive windows follow bandwidth and delay of the connection; none:
    /// they stay as they are.
    pub(crate) window_budget: Option<u32>,
    /// SETTINGS_MAX_FRAME_SIZE, 2^14 to 2^24 - 1.
    pub(crate) max_frame_size: Option<u32>,
    /// SETTINGS_MAX_HEADER_LIST_SIZE. Unset, nothing is announced and 16 MiB is the limit.
    pub(crate) max_header_list_size: Option<u32>,
    /// SETTINGS_HEADER_TABLE_SIZE: the table of our decoder.
    pub(crate) header_table_size: Option<u32>,
    /// SETTINGS_MAX_CONCURRENT_STREAMS. A client applies it to promises as well.
    pub(crate) max_concurrent_streams: Option<u32>,
    /// SETTINGS_ENABLE_PUSH (a client's to set).
    pub(crate) enable_push: Option<bool>,
    /// SETTINGS_ENABLE_CONNECT_PROTOCOL (a server's to set).
    pub(crate) enable_connect_protocol: bool,
    /// What we take the peer's stream limit to be until its first SETTINGS.
    pub(crate) initial_max_send_streams: usize,
    /// How many streams that we reset are remembered, so that late frames on them are no fault.
    pub(crate) max_concurrent_reset_streams: usize,
    /// For how long they are remembered.
    pub(crate) reset_stream_duration: Duration,
    /// How many streams a peer may reset before they were accepted.
    pub(crate) max_pending_accept_reset_streams: usize,
    /// How many stream errors a peer may cause in the life of a connection.
    pub(crate) max_local_error_reset_streams: Option<usize>,
    /// Bytes that small DATA frames may cost beyond what they carry; none: no limit but memory's,
    /// since what is small and unread is joined.
    pub(crate) data_frame_budget: Option<usize>,
    /// Bytes of one stream that its handle may buffer.
    pub(crate) max_send_buffer_size: usize,
    /// The id of our first stream (a client's to set; odd).
    pub(crate) initial_stream_id: StreamId,
    /// Target size of one batch of output.
    pub(crate) batch_size: usize,
    /// Bytes that all streams together may buffer for sending beyond one quantum each.
    pub(crate) send_room: usize,
    /// Frames handled before the task writes and yields.
    pub(crate) frames_per_turn: usize,
    /// Whether somebody wakes us at a deadline. Without that there is no limit on what peers leave
    /// undone: it would hold only for those who do something else.
    pub(crate) timed: bool,
    /// The limits that h2 does not have.
    pub(crate) limits: LimitConfig,
}

/// Limits against hostile peers; `limits` spends them.
#[derive(Clone, Debug)]
pub(crate) struct LimitConfig {
    /// Fields of one header list, every cookie crumb counted.
    pub(crate) max_header_fields: usize,
    /// CONTINUATION frames of one block; none: what the largest list needs and a quarter more.
    pub(crate) max_continuations: Option<usize>,
    /// Empty fragments of one block.
    pub(crate) max_empty_continuations: usize,
    /// Time to finish a header block.
    pub(crate) header_block_timeout: Option<Duration>,
    /// Time in which SETTINGS must be acknowledged.
    pub(crate) settings_timeout: Option<Duration>,
    /// Resets by the peer before the response has ended.
    pub(crate) early_resets: Rate,
    /// Stream errors that the peer causes.
    pub(crate) faults: Rate,
    /// Frames that move nothing forward.
    pub(crate) unproductive: Rate,
    /// Entries of one SETTINGS frame.
    pub(crate) max_settings_entries: usize,
    /// Replies that the peer has provoked and that are not written yet.
    pub(crate) max_queued_replies: usize,
    /// Informational responses before the final one.
    pub(crate) max_informational: usize,
    /// Promises that a client holds at once where `max_concurrent_streams` says nothing.
    pub(crate) max_promises: usize,
    /// Time for the peer's preface and first SETTINGS, if `timed`.
    pub(crate) handshake_timeout: Option<Duration>,
    /// A stream whose output waits so long for credit is reset, if `timed`.
    pub(crate) stall_timeout: Option<Duration>,
    /// A transport that takes nothing for so long is given up, if `timed`.
    pub(crate) connection_stall_timeout: Option<Duration>,
    /// A connection without streams for so long is closed in good order, if `timed`.
    pub(crate) idle_timeout: Option<Duration>,
    /// For so long after the ping of a shutdown was answered new streams are still taken, if `timed`.
    pub(crate) shutdown_grace: Option<Duration>,
    /// Pings to a peer that is silent, if `timed`.
    pub(crate) keep_alive: KeepAlive,
}

/// When a silent peer is asked whether it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeepAlive {
    /// After so much silence; none: never.
    pub(crate) interval: Option<Duration>,
    /// So long it has for an answer.
    pub(crate) timeout: Duration,
    /// Also while no stream is open; none: a server does, a client does not.
    pub(crate) while_idle: Option<bool>,
}

/// A token bucket: so many at once, then so many a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Tokens of the full bucket.
    pub(crate) burst: u32,
    /// Tokens that flow in each second.
    pub(crate) per_second: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            initial_window_size: 65_535,
            initial_connection_window_size: None,
            window_budget: None,
            max_frame_size: None,
            max_header_list_size: None,
            header_table_size: None,
            max_concurrent_streams: None,
            enable_push: None,
            enable_connect_protocol: false,
            initial_max_send_streams: usize::MAX,
            max_concurrent_reset_streams: 50,
            reset_stream_duration: Duration::from_secs(1),
            max_pending_accept_reset_streams: 20,
            max_local_error_reset_streams: Some(1024),
            data_frame_budget: None,
            max_send_buffer_size: 400 * 1024,
            initial_stream_id: StreamId::new(1),
            batch_size: 128 * 1024,
            send_room: 256 * 1024,
            frames_per_turn: 256,
            timed: true,
            limits: LimitConfig::default(),
        }
    }
}

impl Default for LimitConfig {
    fn default() -> LimitConfig {
        LimitConfig {
            max_header_fields: 1000,
            max_continuations: None,
            max_empty_continuations: 1,
            header_block_timeout: Some(Duration::from_secs(10)),
            settings_timeout: None,
            early_resets: Rate {
                burst: 1000,
                per_second: 100,
            },
            faults: Rate {
                burst: 1000,
                per_second: 100,
            },
            unproductive: Rate {
                burst: 10_000,
                per_second: 330,
            },
            max_settings_entries: 32,
            max_queued_replies: 128,
            max_informational: 16,
            max_promises: 200,
            handshake_timeout: Some(Duration::from_secs(10)),
            stall_timeout: Some(Duration::from_secs(60)),
            connection_stall_timeout: Some(Duration::from_secs(120)),
            idle_timeout: None,
            shutdown_grace: None,
            keep_alive: KeepAlive {
                interval: None,
                timeout: Duration::from_secs(20),
                while_idle: None,
            },
        }
    }
}

impl Config {
    /// How many streams may be unread, where no limit to streams says it.
    const MANY_STREAMS: u32 = 256;
    /// Bytes that may be unread, where no window of the connection says it.
    const MOST_UNREAD: u32 = 16 << 20;
    /// The list limit where none is announced, as in h2.
    const UNANNOUNCED_LIST_LIMIT: u32 = 16 << 20;

    /// What an edge server should use: every limit at the value of a hostile network.
    #[cfg(test)]
    pub(crate) fn hardened() -> Config {
        let mut config = Config::default();
        config.harden();
        config
    }

    /// Sets every limit to its hardened value and leaves all else as it is.
    pub(crate) fn harden(&mut self) {
        self.max_concurrent_streams = Some(100);
        self.max_header_list_size = Some(16 * 1024);
        // `faults` bounds them and refills, so that a connection may live long.
        self.max_local_error_reset_streams = None;
        self.send_room = 128 * 1024;
        self.batch_size = 64 * 1024;
        self.frames_per_turn = 256;
        self.limits = LimitConfig {
            max_header_fields: 128,
            max_continuations: Some(8),
            settings_timeout: Some(Duration::from_secs(30)),
            early_resets: Rate {
                burst: 200,
                per_second: 33,
            },
            faults: Rate {
                burst: 200,
                per_second: 33,
            },
            stall_timeout: Some(Duration::from_secs(30)),
            connection_stall_timeout: Some(Duration::from_secs(60)),
            idle_timeout: self.limits.idle_timeout,
            shutdown_grace: self.limits.shutdown_grace,
            keep_alive: self.limits.keep_alive,
            ..LimitConfig::default()
        };
    }

    /// The longest header list that is turned into a message.
    pub(super) fn list_limit(&self) -> usize {
        self.max_header_list_size
            .unwrap_or(Self::UNANNOUNCED_LIST_LIMIT) as usize
    }

    /// How far the receive window of the connection opens behind data that nobody reads, if `stream` is
    /// the window of each stream: so far that unread streams leave the others some of it.
    ///
    /// For two streams at least, since what one of them holds must not be all. Where the application
    /// has not set the window itself: for as many streams as there may be, within a bound.
    pub(super) fn recv_limit(&self, stream: u32) -> u32 {
        let streams = self.max_concurrent_streams.unwrap_or(Self::MANY_STREAMS);
        let limit = match (self.window_budget, self.initial_connection_window_size) {
            (Some(budget), _) => budget,
            (None, Some(_)) => 0,
            (None, None) => stream.saturating_mul(streams).min(Self::MOST_UNREAD),
        };
        limit.max(stream.saturating_mul(2)).min(MAX_WINDOW_SIZE)
    }

    /// The longest frame that we take once our SETTINGS are acknowledged.
    pub(super) fn frame_limit(&self) -> usize {
        self.max_frame_size
            .map_or(DEFAULT_MAX_FRAME_SIZE, |size| size as usize)
    }

    /// How many CONTINUATION frames a block may have.
    pub(super) fn continuation_limit(&self) -> usize {
        self.limits.max_continuations.unwrap_or_else(|| {
            let frames = self.list_limit() / self.frame_limit();
            frames.saturating_add(frames / 4).max(5)
        })
    }

    /// How many streams the peer may have open; for a client: promises it may keep.
    pub(super) fn remote_stream_limit(&self, role: Role) -> usize {
        match (self.max_concurrent_streams, role) {
            (Some(limit), _) => limit as usize,
            (None, Role::Client) => self.limits.max_promises,
            (None, Role::Server) => usize::MAX,
        }
    }
}
