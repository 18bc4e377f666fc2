//! The options against hostile and dead peers that h2 does not have.
//!
//! Owns: their names, units, defaults. Does not know: what spends them (`proto::limits` has a row for
//! each attack), nor the options that h2 has, which are in `builder.rs`.

use std::time::Duration;

use super::Builder;
use crate::proto::Rate;

/// # Limits on what a peer may do
///
/// Whoever goes beyond one of these is told ENHANCE_YOUR_CALM in a GOAWAY that names the option, and
/// the connection ends, unless an option says otherwise ([RFC 9113 section 10.5][s]). A limit in
/// *burst* and *per second* is a bucket: so many at once, and it fills again at that rate.
///
/// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-10.5
impl<Side> Builder<Side> {
    /// How many streams the peer may open and reset before their response has ended.
    ///
    /// Default: 1000 at once and 100 a second; hardened: 200 and 33. Each stream that ends well makes
    /// up for one, so a client that cancels less than every second request never meets it. It
    /// bounds what is known as rapid reset ([RFC 9113 section 6.4][s]).
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-6.4
    pub fn max_early_resets(&mut self, burst: u32, per_second: u32) -> &mut Self {
        self.config_mut().limits.early_resets = Rate { burst, per_second };
        self
    }

    /// How many streams the peer may make this side reset by breaking a rule on them
    /// ([RFC 9113 section 5.4.2][s]).
    ///
    /// Default: 1000 at once and 100 a second; hardened: 200 and 33.
    /// [`max_local_error_reset_streams`](Self::max_local_error_reset_streams) bounds their number
    /// over the life of the connection.
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-5.4.2
    pub fn max_faults(&mut self, burst: u32, per_second: u32) -> &mut Self {
        self.config_mut().limits.faults = Rate { burst, per_second };
        self
    }

    /// How many frames the peer may send that move nothing forward: PRIORITY, PRIORITY_UPDATE, unknown
    /// types, empty DATA, pongs that nobody asked for, streams beyond the limit, frames for streams
    /// that are long over, and WINDOW_UPDATE beyond ten for each DATA frame of this side and two for
    /// each stream. SETTINGS that change the initial window count ten. Each stream that the peer opens
    /// makes up for one. What is on its way for a stream that the application gave up is free, up to
    /// a thousand frames each ([RFC 9113 section 10.5][s]).
    ///
    /// Default, hardened too: 10 000 at once and 330 a second.
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-10.5
    pub fn max_unproductive_frames(&mut self, burst: u32, per_second: u32) -> &mut Self {
        self.config_mut().limits.unproductive = Rate { burst, per_second };
        self
    }

    /// How many CONTINUATION frames one header block may have
    /// ([RFC 9113 section 6.10](https://www.rfc-editor.org/rfc/rfc9113.html#section-6.10)).
    ///
    /// Default: what the longest header list needs in frames of the largest size and a quarter more,
    /// at least 5; hardened: 8. One fragment of a block may be empty, whatever this says.
    pub fn max_continuations(&mut self, max: usize) -> &mut Self {
        self.config_mut().limits.max_continuations = Some(max);
        self
    }

    /// How many entries one SETTINGS frame may have
    /// ([RFC 9113 section 6.5](https://www.rfc-editor.org/rfc/rfc9113.html#section-6.5)).
    ///
    /// Default, hardened too: 32.
    pub fn max_settings_entries(&mut self, max: usize) -> &mut Self {
        self.config_mut().limits.max_settings_entries = max;
        self
    }

    /// How many replies that the peer has provoked (to PING and SETTINGS, refusals of streams) may
    /// wait to be written before nothing more is read. Reading goes on when they have left; the
    /// connection does not end ([RFC 9113 section 10.5][s]).
    ///
    /// Default, hardened too: 128, of some 17 octets. At least 1, a smaller value is taken as that.
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-10.5
    pub fn max_queued_replies(&mut self, max: usize) -> &mut Self {
        self.config_mut().limits.max_queued_replies = max.max(1);
        self
    }

    /// How many informational responses may come before the final one; one more and the stream is
    /// reset ([RFC 9113 section 8.1](https://www.rfc-editor.org/rfc/rfc9113.html#section-8.1)).
    ///
    /// Default, hardened too: 16.
    pub fn max_informational(&mut self, max: usize) -> &mut Self {
        self.config_mut().limits.max_informational = max;
        self
    }

    /// How many frames are handled before the connection writes and lets other tasks run. Each 128
    /// octets of a header block count as one more.
    ///
    /// Default, hardened too: 256. At least 1, a smaller value is taken as that. Nobody is refused
    /// anything: a peer that keeps sending only waits for its turn.
    pub fn frames_per_turn(&mut self, frames: usize) -> &mut Self {
        self.config_mut().frames_per_turn = frames.max(1);
        self
    }
}

/// # Limits on what a peer may leave undone
///
/// Those that need somebody to wake the connection are off without a [`timer`](Self::timer).
impl<Side> Builder<Side> {
    /// The time for the peer's preface and first SETTINGS
    /// ([RFC 9113 section 3.4](https://www.rfc-editor.org/rfc/rfc9113.html#section-3.4)). Then the
    /// connection ends with PROTOCOL_ERROR.
    ///
    /// Default, hardened too: 10 seconds, with a [`timer`](Self::timer). `None`: no limit.
    pub fn handshake_timeout(&mut self, timeout: impl Into<Option<Duration>>) -> &mut Self {
        self.config_mut().limits.handshake_timeout = timeout.into();
        self
    }

    /// The time in which a header block that has begun must be finished
    /// ([RFC 9113 section 4.3](https://www.rfc-editor.org/rfc/rfc9113.html#section-4.3)). Then the
    /// connection ends with ENHANCE_YOUR_CALM: nothing else can come on it meanwhile.
    ///
    /// Default, hardened too: 10 seconds. `None`: no limit.
    pub fn header_block_timeout(&mut self, timeout: impl Into<Option<Duration>>) -> &mut Self {
        self.config_mut().limits.header_block_timeout = timeout.into();
        self
    }

    /// The time in which the peer must acknowledge SETTINGS
    /// ([RFC 9113 section 6.5.3](https://www.rfc-editor.org/rfc/rfc9113.html#section-6.5.3)). Then the
    /// connection ends with SETTINGS_TIMEOUT.
    ///
    /// Default: no limit; hardened: 30 seconds. No limit on memory waits for the acknowledgement.
    pub fn settings_timeout(&mut self, timeout: impl Into<Option<Duration>>) -> &mut Self {
        self.config_mut().limits.settings_timeout = timeout.into();
        self
    }

    /// How long the output of a stream may wait for credit. If the peer lets through less than 1024
    /// octets in that time, the stream is reset with CANCEL
    /// ([RFC 9113 section 5.2.2](https://www.rfc-editor.org/rfc/rfc9113.html#section-5.2.2)).
    ///
    /// Default: 60 seconds, hardened: 30 seconds, with a [`timer`](Self::timer). `None`: no limit. A
    /// stream that has credit and waits for its turn among others is not concerned. It takes up to a
    /// quarter longer until it is noticed, 10 milliseconds at least.
    pub fn stream_stall_timeout(&mut self, timeout: impl Into<Option<Duration>>) -> &mut Self {
        self.config_mut().limits.stall_timeout = timeout.into();
        self
    }

    /// How long the transport may take nothing of what was given to it. Then the connection is given
    /// up: all its streams fail, and nothing more is written
    /// ([RFC 9113 section 9.1](https://www.rfc-editor.org/rfc/rfc9113.html#section-9.1)).
    ///
    /// Default: 120 seconds, hardened: 60 seconds, with a [`timer`](Self::timer). `None`: no limit. A
    /// [`batch`](Self::batch_size) that leaves counts as progress.
    pub fn connection_stall_timeout(&mut self, timeout: impl Into<Option<Duration>>) -> &mut Self {
        self.config_mut().limits.connection_stall_timeout = timeout.into();
        self
    }

    /// How long a connection may have no stream. Then it is closed in good order: a server sends GOAWAY,
    /// still answers what is on its way, and closes after as much time again
    /// ([RFC 9113 section 9.1](https://www.rfc-editor.org/rfc/rfc9113.html#section-9.1)).
    ///
    /// Default, hardened too: no limit. It needs a [`timer`](Self::timer).
    pub fn idle_timeout(&mut self, timeout: impl Into<Option<Duration>>) -> &mut Self {
        self.config_mut().limits.idle_timeout = timeout.into();
        self
    }

    /// After how much silence of the peer it is asked, with a PING, whether it is still there
    /// ([RFC 9113 section 6.7](https://www.rfc-editor.org/rfc/rfc9113.html#section-6.7)).
    ///
    /// Default, hardened too: never. It needs a [`timer`](Self::timer). Whatever comes of the peer counts
    /// as a sign of life, be it a part of a long frame. Less than 10 milliseconds count as so many.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let mut options = fairmux::client::Builder::new();
    /// options
    ///     .keep_alive_interval(Duration::from_secs(30))
    ///     .keep_alive_timeout(Duration::from_secs(10));
    /// ```
    pub fn keep_alive_interval(&mut self, interval: impl Into<Option<Duration>>) -> &mut Self {
        self.config_mut().limits.keep_alive.interval = interval.into();
        self
    }

    /// How long the peer has for an answer to the PING of
    /// [`keep_alive_interval`](Self::keep_alive_interval). Then the connection is given up, and all its
    /// streams fail. The time runs from the moment the PING is due: that it cannot be written is how a
    /// dead peer looks ([RFC 9113 section 6.7][s]).
    ///
    /// Default, hardened too: 20 seconds.
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-6.7
    pub fn keep_alive_timeout(&mut self, timeout: Duration) -> &mut Self {
        self.config_mut().limits.keep_alive.timeout = timeout;
        self
    }

    /// Whether a peer is also asked while no stream is open ([RFC 9113 section 6.7][s]).
    ///
    /// Default, hardened too: a server asks, a client does not, because there are servers, most of
    /// them of gRPC, that end the connection of a client which does.
    ///
    /// [s]: https://www.rfc-editor.org/rfc/rfc9113.html#section-6.7
    pub fn keep_alive_while_idle(&mut self, enabled: bool) -> &mut Self {
        self.config_mut().limits.keep_alive.while_idle = Some(enabled);
        self
    }
}
