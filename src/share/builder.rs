//! The options that clients and servers share, each once.
//!
//! Owns: the public face of the configuration: names, units, defaults, ranges. What one side alone
//! has is in `client/builder.rs` and `server/builder.rs`. Does not know: what an option does to a
//! connection (`proto::config` and its readers do).

use std::marker::PhantomData;
use std::time::Duration;

use bytes::Buf;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::driver::{Driver, SharedTimer, Timer};
use crate::proto::Config;
use crate::sync::SharedValue;

/// The largest flow-control window.
//= RFC 9113 §6.9.1 a window must not exceed 2^31-1 octets
const MAX_WINDOW: u32 = (1 << 31) - 1;

/// Options of a connection: [`client::Builder`](crate::client::Builder) or
/// [`server::Builder`](crate::server::Builder).
///
/// Methods can be chained. `handshake` then starts a connection with these options; one builder
/// can start many.
///
/// `Side` only says which of the two it is: [`Client`](crate::client::Client) or
/// [`Server`](crate::server::Server). The options on this page are those of both.
///
/// Sizes are in octets. An option that is announced to the peer binds it from the moment it has
/// acknowledged our SETTINGS ([RFC 9113 section 6.5.3][ack]); until then it may act on the
/// protocol's default.
///
/// [ack]: https://www.rfc-editor.org/rfc/rfc9113.html#section-6.5.3
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// let mut options = fairmux::server::Builder::new();
/// options
///     .hardened()
///     .initial_window_size(1 << 20)
///     .reset_stream_duration(Duration::from_secs(2));
/// ```
#[derive(Clone, Debug)]
pub struct Builder<Side> {
    /// Connections refer to it; a change makes a new one.
    config: SharedValue<Config>,
    timer: Option<SharedTimer>,
    side: PhantomData<Side>,
}

impl<Side> Builder<Side> {
    /// A builder with every option at its default.
    pub fn new() -> Self {
        Builder {
            config: SharedValue::new(Config {
                timed: false,
                ..Config::default()
            }),
            timer: None,
            side: PhantomData,
        }
    }

    /// Sets every limit that guards against hostile peers to the value meant for a server that
    /// faces the open Internet.
    ///
    /// The limits that h2 does not have are always on, at values that an honest peer never meets.
    /// This narrows them and those that h2 leaves wide: 100 concurrent streams, header lists of
    /// 16 KiB and 128 fields in at most 9 frames, 200 early resets at once and 33 a second, as many
    /// faults that cost a stream (but no limit to their number over the life of the connection),
    /// 30 seconds to acknowledge SETTINGS, a [`send_room`](Self::send_room) of 128 KiB and batches of
    /// 64 KiB; with a [`timer`](Self::timer) also 30 seconds for a stream, and 60 for the connection,
    /// whose output nobody takes. What was set before for one of these is replaced, what is set
    /// afterwards replaces it; other options stay as they are.
    pub fn hardened(&mut self) -> &mut Self {
        self.config_mut().harden();
        self
    }

    /// The window of each new stream: how many octets of DATA the peer may send before some are
    /// released through [`FlowControl`](crate::FlowControl).
    ///
    /// Default: 65 535. At most 2^31-1, a larger value is taken as that. Announced as
    /// SETTINGS_INITIAL_WINDOW_SIZE ([RFC 9113 section 6.9.2][s]).
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-6.9.2
    pub fn initial_window_size(&mut self, size: u32) -> &mut Self {
        self.config_mut().initial_window_size = size.min(MAX_WINDOW);
        self
    }

    /// The window of the whole connection, for DATA of all streams together.
    ///
    /// Default: 65 535, the protocol's own. At most 2^31-1, a larger value is taken as that.
    /// What exceeds the default is announced with a WINDOW_UPDATE right after the first SETTINGS.
    /// A smaller value is reached by not returning credit.
    ///
    /// # Streams that nobody reads
    ///
    /// DATA that is not read takes room in this window. If a few streams could hold all of it, they
    /// would stop every other; with the protocol's default values for both windows one is enough.
    /// Therefore the window opens further, by what is unread, once that takes more than half of it:
    ///
    /// * a value that was set here, as long as it is less than two windows of a stream
    ///   ([`initial_window_size`](Self::initial_window_size)), up to these two. From two on it is kept
    ///   as it is, and bounds what a peer can make this side hold. Set it to one window more than
    ///   streams may be left unread.
    /// * where none was set, up to a window for each stream that the peer may open
    ///   ([`max_concurrent_streams`](Self::max_concurrent_streams), 256 if that is not set), 16 MiB at
    ///   most;
    /// * with [`adaptive_window`](Self::adaptive_window), up to its budget.
    ///
    /// As unread data is read or dropped, the window closes again to its size. A peer that is read in
    /// time never sees more than that.
    pub fn initial_connection_window_size(&mut self, size: u32) -> &mut Self {
        self.config_mut().initial_connection_window_size = Some(size.min(MAX_WINDOW));
        self
    }

    /// Lets the windows follow the connection: they grow to what the path needs, as long as the window
    /// of the whole connection stays within `budget` octets.
    ///
    /// Default: off. At least 131 070 and at most 2^31-1; other values are taken as the nearest of
    /// these. `budget` is also what a peer may make this side buffer if the application does not
    /// read.
    ///
    /// While DATA comes, a PING now and then measures the round trip and what arrives within it. When
    /// that was most of a stream's window, the window grows to four times as much: from 64 KiB to what
    /// a path of 1 Gbit/s and 50 ms needs within ten round trips. The windows begin with
    /// [`initial_window_size`](Self::initial_window_size) and
    /// [`initial_connection_window_size`](Self::initial_connection_window_size) and never shrink.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut options = fairmux::client::Builder::new();
    /// options.adaptive_window(32 << 20);
    /// ```
    pub fn adaptive_window(&mut self, budget: u32) -> &mut Self {
        self.config_mut().window_budget = Some(budget);
        self
    }

    /// The largest frame payload that the peer may send.
    ///
    /// Default: 16 384. Announced as SETTINGS_MAX_FRAME_SIZE
    /// ([RFC 9113 section 4.2](https://www.rfc-editor.org/rfc/rfc9113.html#section-4.2)).
    ///
    /// # Panics
    ///
    /// If `max` is not within 16 384 and 16 777 215.
    pub fn max_frame_size(&mut self, max: u32) -> &mut Self {
        //= RFC 9113 §6.5.2 SETTINGS_MAX_FRAME_SIZE is within 2^14 and 2^24-1
        assert!(
            (1 << 14..1 << 24).contains(&max),
            "max_frame_size is within 16384 and 16777215"
        );
        self.config_mut().max_frame_size = Some(max);
        self
    }

    /// The largest header list that is accepted: for each field the octets of name and value, and
    /// 32 more.
    ///
    /// Default: 16 MiB, not announced; once set, announced as SETTINGS_MAX_HEADER_LIST_SIZE. A
    /// request over it is answered with 431, another message over it is refused with a stream
    /// error; a list of more than twice the limit ends the connection with ENHANCE_YOUR_CALM.
    /// Nothing beyond the limit is kept in memory.
    pub fn max_header_list_size(&mut self, max: u32) -> &mut Self {
        self.config_mut().max_header_list_size = Some(max);
        self
    }

    /// The largest number of fields in a header list, each piece of a cookie counted.
    ///
    /// Default: 1000; hardened: 128. A request over it is answered with 431, a list with more than
    /// twice as many ends the connection with ENHANCE_YOUR_CALM ([RFC 9113 section 10.5.1][s]). A
    /// limit by octets alone lets a peer have thousands of tiny fields made out of a few octets.
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-10.5.1
    pub fn max_header_fields(&mut self, max: usize) -> &mut Self {
        self.config_mut().limits.max_header_fields = max;
        self
    }

    /// The size of the table that the peer's header compression may use.
    ///
    /// Default: 4096. Announced as SETTINGS_HEADER_TABLE_SIZE. The table costs that much memory.
    pub fn header_table_size(&mut self, size: u32) -> &mut Self {
        self.config_mut().header_table_size = Some(size);
        self
    }

    /// How many streams the peer may have open at once. It does not limit the streams that this
    /// side opens.
    ///
    /// Default: no limit. Announced as SETTINGS_MAX_CONCURRENT_STREAMS. 0 lets the peer open none.
    /// Promised streams count once their response has begun. Streams beyond the limit are refused
    /// with REFUSED_STREAM ([RFC 9113 section 5.1.2][s]), also before the peer has acknowledged it.
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-5.1.2
    pub fn max_concurrent_streams(&mut self, max: u32) -> &mut Self {
        self.config_mut().max_concurrent_streams = Some(max);
        self
    }

    /// How many streams that this side reset are remembered, so that frames which the peer sent
    /// before it knew are ignored.
    ///
    /// Default: 50. When there are more the oldest is forgotten.
    pub fn max_concurrent_reset_streams(&mut self, max: usize) -> &mut Self {
        self.config_mut().max_concurrent_reset_streams = max;
        self
    }

    /// How long a stream that this side reset is remembered; see
    /// [`max_concurrent_reset_streams`](Self::max_concurrent_reset_streams).
    ///
    /// Default: 1 second.
    pub fn reset_stream_duration(&mut self, dur: Duration) -> &mut Self {
        self.config_mut().reset_stream_duration = dur;
        self
    }

    /// How many streams may be reset, over the life of the connection, because the peer broke a
    /// rule on them. One more ends the connection with ENHANCE_YOUR_CALM.
    ///
    /// Default: 1024. `None`, also [`hardened`](Self::hardened): no limit over the life of a
    /// connection, which an honest proxy in front of many clients would reach some day;
    /// [`max_faults`](Self::max_faults) is a limit to their rate.
    pub fn max_local_error_reset_streams(&mut self, max: Option<usize>) -> &mut Self {
        self.config_mut().max_local_error_reset_streams = max;
        self
    }

    /// How many streams that the peer opened and reset again may wait to be accepted. One more
    /// ends the connection with ENHANCE_YOUR_CALM.
    ///
    /// Default: 20. Such streams no longer count as open, so the limit on concurrent streams does
    /// not bound them.
    pub fn max_pending_accept_reset_streams(&mut self, max: usize) -> &mut Self {
        self.config_mut().max_pending_accept_reset_streams = max;
        self
    }

    /// A budget for small DATA frames of the peer that wait to be read: a frame of less than 256
    /// octets takes what it lacks to them, reading gives it back. A connection whose budget is used up
    /// is closed with ENHANCE_YOUR_CALM.
    ///
    /// Default, hardened too: none. In h2 such frames cost memory that no window counts, so it has a
    /// budget, and small messages that are not read at once can use it up. Here they are joined while
    /// they wait, whatever the peer cuts them into, and take a few times their length at most.
    pub fn data_frame_budget(&mut self, budget: usize) -> &mut Self {
        self.config_mut().data_frame_budget = Some(budget);
        self
    }

    /// How many octets of one stream may wait to be sent before its
    /// [`poll_capacity`](crate::SendStream::poll_capacity) offers no more.
    ///
    /// Default: 400 KiB; but one stream gets no more than one quantum and two thirds of the
    /// [`send_room`](Self::send_room), which is less by default. What is sent without waiting for
    /// capacity is buffered nevertheless.
    ///
    /// # Panics
    ///
    /// If `max` exceeds `u32::MAX`.
    pub fn max_send_buffer_size(&mut self, max: usize) -> &mut Self {
        assert!(
            u32::try_from(max).is_ok(),
            "max_send_buffer_size is at most u32::MAX"
        );
        self.config_mut().max_send_buffer_size = max;
        self
    }

    /// How many octets of all streams together may wait to be sent: the *send room*, shared fairly.
    ///
    /// Default: 256 KiB. Whatever the others hold, every stream may have one quantum (at most
    /// 16 KiB) buffered besides; so a room of 0 is possible. A larger room keeps a fast link busy, a
    /// smaller one saves memory. [`SendStream::send`](crate::SendStream::send) keeps the bound
    /// whatever is sent; [`poll_capacity`](crate::SendStream::poll_capacity) offers no more than is
    /// left, and what `send_data` brings beyond it is buffered nevertheless.
    pub fn send_room(&mut self, size: usize) -> &mut Self {
        self.config_mut().send_room = size;
        self
    }

    /// How many octets are gathered, at most about, for one write.
    ///
    /// Default: 128 KiB, eight frames of the usual maximum. A batch takes what is ready now and never
    /// waits for more. A larger batch costs fewer calls and fewer TLS records; an urgent message
    /// waits behind one batch at most. Let it have half the [`send_room`](Self::send_room) at most: a
    /// batch that takes all there is leaves nothing to choose from.
    pub fn batch_size(&mut self, size: usize) -> &mut Self {
        self.config_mut().batch_size = size;
        self
    }

    /// The clock that wakes a connection when one of its limits on time is reached.
    ///
    /// Default: none. Then [`handshake_timeout`](Self::handshake_timeout),
    /// [`stream_stall_timeout`](Self::stream_stall_timeout),
    /// [`connection_stall_timeout`](Self::connection_stall_timeout),
    /// [`idle_timeout`](Self::idle_timeout),
    /// [`keep_alive_interval`](Self::keep_alive_interval) and
    /// [`server::Builder::shutdown_grace`](crate::server::Builder::shutdown_grace) are off, and
    /// [`header_block_timeout`](Self::header_block_timeout) and
    /// [`settings_timeout`](Self::settings_timeout) are looked at only when the connection has
    /// something else to do. A server with a timer also waits, after a good end, up to 2 seconds until the
    /// client has closed its side: without one, what the client sends before it knows is answered with a
    /// reset by TCP, which may take the end of the last responses away. [`Timer`] shows one for tokio.
    pub fn timer(&mut self, timer: impl Timer) -> &mut Self {
        self.config_mut().timed = true;
        self.timer = Some(SharedTimer::new(timer));
        self
    }

    /// The driver that `start` makes of the options, with the timer.
    pub(crate) fn start<T, B>(
        &self,
        start: impl FnOnce(SharedValue<Config>) -> Driver<T, B>,
    ) -> Box<Driver<T, B>>
    where
        T: AsyncRead + AsyncWrite + Unpin,
        B: Buf,
    {
        let mut driver = Box::new(start(SharedValue::clone(&self.config)));
        if let Some(timer) = &self.timer {
            driver.set_timer(timer.clone());
        }
        driver
    }

    /// For the options that one side alone has.
    pub(crate) fn config_mut(&mut self) -> &mut Config {
        SharedValue::make_mut(&mut self.config)
    }
}

impl<Side> Default for Builder<Side> {
    fn default() -> Self {
        Builder::new()
    }
}

/// Panics if no window can be of `size`.
pub(crate) fn assert_window_size(size: u32) {
    assert!(size <= MAX_WINDOW, "a window size is at most 2^31-1");
}
