//! SETTINGS, ours and the peer's: what was said, what is in force.
//!
//! Owns: both sets of values, which of ours the peer has yet to acknowledge, and what a change moves.
//! Does not know: why a value was chosen. Ours take effect when the peer
//! acknowledges them: what it sent under the former ones is no fault.

use std::time::Instant;

use super::config::{Config, Role};
use super::connection::{Connection, Event};
use super::faults::Fault;
use super::flow::DEFAULT_WINDOW;
use super::port::{Port, Ports};
use super::send::Reply;
use crate::error::{Misuse, Violation};
use crate::frame::{self, DEFAULT_MAX_FRAME_SIZE, Setting};

/// The settings of both ends.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) local: Local,
    pub(super) peer: Peer,
    /// To be written.
    unsent: Option<frame::Settings>,
    /// Written or to be written, and not acknowledged.
    unacked: Option<Unacked>,
}

/// Ours that are in force.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) initial_window: u32,
    pub(super) push_disabled: bool,
    /// Streams that the peer knows it may have open.
    pub(super) max_streams: usize,
    /// Extended CONNECT; in force as soon as it is said, since a peer may use it then.
    pub(super) connect_protocol: bool,
}

/// The peer's, all in force.
#[derive(Debug)]
pub(super) struct Peer {
    /// Whether its first SETTINGS have come.
    pub(super) is_known: Known,
    pub(super) initial_window: u32,
    pub(super) max_frame_size: usize,
    /// Streams that we may have open.
    pub(super) max_streams: usize,
    pub(super) push: bool,
    pub(super) connect_protocol: bool,
    no_priorities: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    NotYet,
    Yes,
}

#[derive(Debug)]
struct Unacked {
    entries: Vec<Setting>,
    since: Option<Instant>,
}

/// A change that the peer has acknowledged and the connection must now make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Every receive window moves by so much.
    RecvWindows(i64),
    /// The decoder's table.
    DecoderTable(usize),
}

/// A change that the peer demands and the connection must now make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    Nothing,
    /// The encoder's table.
    EncoderTable(usize),
    /// The initial window is another.
    SendWindows,
}

impl Settings {
    /// With our first SETTINGS waiting to be written.
    pub(super) fn new(role: Role, config: &Config) -> Settings {
        let mut settings = Settings {
            local: Local {
                initial_window: DEFAULT_WINDOW,
                push_disabled: false,
                max_streams: usize::MAX,
                connect_protocol: config.enable_connect_protocol,
            },
            peer: Peer {
                is_known: Known::NotYet,
                initial_window: DEFAULT_WINDOW,
                max_frame_size: DEFAULT_MAX_FRAME_SIZE,
                max_streams: config.initial_max_send_streams,
                push: role == Role::Server,
                connect_protocol: false,
                no_priorities: None,
            },
            unsent: None,
            unacked: None,
        };
        settings.submit(first_entries(role, config));
        settings
    }

    /// Announces a change at run time. One at a time, so that an acknowledgement has one meaning.
    pub(super) fn announce(&mut self, entry: Setting) -> Result<(), Misuse> {
        if self.unacked.is_some() {
            return Err(Misuse::SendSettingsWhilePending);
        }
        self.submit(vec![entry]);
        Ok(())
    }

    pub(super) fn take_unsent(&mut self) -> Option<frame::Settings> {
        self.unsent.take()
    }

    pub(super) fn has_unsent(&self) -> bool {
        self.unsent.is_some()
    }

    /// The clock starts with the first moment that we know of.
    pub(super) fn note_time(&mut self, now: Instant) {
        if let Some(unacked) = &mut self.unacked {
            unacked.since.get_or_insert(now);
        }
    }

    /// Since when the peer owes us an acknowledgement.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        self.unacked.as_ref().and_then(|unacked| unacked.since)
    }

    //= RFC 9113 §6.5.3 values are in force for the sender once they are acknowledged
    /// The peer has acknowledged: answers what changes.
    pub(super) fn acked(&mut self) -> Result<Vec<Change>, Violation> {
        if self.unsent.is_some() {
            return Err(Violation::UnexpectedSettingsAck);
        }
        let unacked = self
            .unacked
            .take()
            .ok_or(Violation::UnexpectedSettingsAck)?;
        Ok(unacked
            .entries
            .iter()
            .filter_map(|entry| self.local.enforce(*entry))
            .collect())
    }

    fn submit(&mut self, entries: Vec<Setting>) {
        self.unsent = Some(frame::Settings::new(entries.iter().copied()));
        self.unacked = Some(Unacked {
            entries,
            since: None,
        });
    }
}

impl Local {
    fn enforce(&mut self, entry: Setting) -> Option<Change> {
        match entry {
            Setting::InitialWindowSize(size) => {
                //= RFC 9113 §6.9.3 a smaller window binds the peer from its acknowledgment on
                let difference = i64::from(size) - i64::from(self.initial_window);
                self.initial_window = size;
                Some(Change::RecvWindows(difference))
            }
            Setting::HeaderTableSize(size) => Some(Change::DecoderTable(size as usize)),
            Setting::EnablePush(enabled) => {
                self.push_disabled = !enabled;
                None
            }
            Setting::MaxConcurrentStreams(limit) => {
                self.max_streams = limit as usize;
                None
            }
            _ => None,
        }
    }
}

impl Peer {
    //= RFC 9113 §6.5.3 values are processed in the order in which they appear
    /// Takes one value over.
    pub(super) fn apply(&mut self, entry: Setting, role: Role) -> Result<Demand, Violation> {
        match entry {
            Setting::HeaderTableSize(size) => return Ok(Demand::EncoderTable(size as usize)),
            Setting::EnablePush(enabled) => {
                //= RFC 9113 §6.5.2 a server does not set ENABLE_PUSH to 1
                if enabled && role == Role::Client {
                    return Err(Violation::PushEnabledByServer);
                }
                self.push = enabled;
            }
            Setting::MaxConcurrentStreams(limit) => self.max_streams = limit as usize,
            Setting::InitialWindowSize(size) => {
                self.initial_window = size;
                return Ok(Demand::SendWindows);
            }
            Setting::MaxFrameSize(size) => self.max_frame_size = size as usize,
            Setting::EnableConnectProtocol(enabled) => {
                //= RFC 8441 §3 the setting must not go from 1 to 0
                if self.connect_protocol && !enabled {
                    return Err(Violation::ConnectProtocolWithdrawn);
                }
                self.connect_protocol = enabled;
            }
            Setting::NoRfc7540Priorities(value) => self.apply_priorities(value)?,
            //= RFC 9113 §6.5.2 unknown settings are ignored
            Setting::MaxHeaderListSize(_) | Setting::Unknown(..) => {}
        }
        Ok(Demand::Nothing)
    }

    /// A whole frame has been applied.
    pub(super) fn frame_applied(&mut self, has_stream_limit: bool) {
        if self.is_known == Known::NotYet && !has_stream_limit {
            //= RFC 9113 §6.5.2 without a value there is no limit to concurrent streams
            self.max_streams = usize::MAX;
        }
        self.is_known = Known::Yes;
        //= RFC 9218 §2.1 the value of the first SETTINGS, 0 by default, is the value
        self.no_priorities.get_or_insert(false);
    }

    fn apply_priorities(&mut self, value: bool) -> Result<(), Violation> {
        match (self.is_known, self.no_priorities) {
            (Known::Yes, Some(before)) if before != value => Err(Violation::NoPrioritiesChanged),
            _ => {
                self.no_priorities = Some(value);
                Ok(())
            }
        }
    }
}

impl<R: Ports> Connection<R> {
    pub(super) fn recv_settings(
        &mut self,
        frame: frame::Settings,
        now: Instant,
    ) -> Result<(), Fault> {
        if frame.is_ack() {
            return self.recv_settings_ack();
        }
        if frame.entries().len() > self.config.limits.max_settings_entries {
            return Err(Violation::TooManySettings.into());
        }
        let mut has_stream_limit = false;
        let window_before = self.settings.peer.initial_window;
        for entry in frame.entries() {
            has_stream_limit |= matches!(entry, Setting::MaxConcurrentStreams(_));
            match self.settings.peer.apply(entry, self.role)? {
                Demand::Nothing => {}
                Demand::EncoderTable(size) => self.encoder.set_max_table_size(size),
                Demand::SendWindows => self.limits.window_change(now)?,
            }
        }
        self.settings.peer.frame_applied(has_stream_limit);
        if self.settings.peer.initial_window != window_before {
            self.move_send_windows(window_before)?;
        }
        self.events.push_back(Event::PeerSettings {
            max_concurrent_streams: self.settings.peer.max_streams,
            extended_connect: self.settings.peer.connect_protocol,
            push: self.settings.peer.push,
        });
        //= RFC 9113 §6.5.3 each SETTINGS is acknowledged once it is applied
        self.reply(Reply::SettingsAck)
    }

    //= RFC 9113 §6.9.2 a change moves all windows of streams, the connection's stays
    fn move_send_windows(&mut self, before: u32) -> Result<(), Violation> {
        let initial = self.settings.peer.initial_window;
        self.ports.set_initial_window(initial);
        for slot in self.streams.slots() {
            let Some(stream) = self.streams.at(slot) else {
                continue;
            };
            //= RFC 9113 §6.9.2 a window that would exceed 2^31-1 is a connection error
            if stream.send.overflows(initial) {
                return Err(Violation::InitialWindowOverflow);
            }
            if initial > before {
                stream.port.window_opened();
            }
            self.settle(slot);
        }
        Ok(())
    }

    fn recv_settings_ack(&mut self) -> Result<(), Fault> {
        for change in self.settings.acked()? {
            match change {
                Change::DecoderTable(size) => self.decoder.set_max_table_size(size),
                Change::RecvWindows(difference) => self.move_recv_windows(difference),
            }
        }
        self.events.push_back(Event::SettingsAcked);
        Ok(())
    }

    fn move_recv_windows(&mut self, difference: i64) {
        for slot in self.streams.slots() {
            if let Some(stream) = self.streams.at_mut(slot) {
                stream.recv.shift(difference);
            }
            self.settle(slot);
        }
    }
}

fn first_entries(role: Role, config: &Config) -> Vec<Setting> {
    let mut entries = Vec::new();
    entries.extend(config.header_table_size.map(Setting::HeaderTableSize));
    if role == Role::Client {
        entries.extend(config.enable_push.map(Setting::EnablePush));
    }
    entries.extend(
        config
            .max_concurrent_streams
            .map(Setting::MaxConcurrentStreams),
    );
    if config.initial_window_size != DEFAULT_WINDOW {
        entries.push(Setting::InitialWindowSize(config.initial_window_size));
    }
    entries.extend(config.max_frame_size.map(Setting::MaxFrameSize));
    entries.extend(config.max_header_list_size.map(Setting::MaxHeaderListSize));
    if role == Role::Server && config.enable_connect_protocol {
        entries.push(Setting::EnableConnectProtocol(true));
    }
    //= RFC 9218 §2.1 who ignores the priorities of RFC 7540 says so in its first SETTINGS
    entries.push(Setting::NoRfc7540Priorities(true));
    entries
}
