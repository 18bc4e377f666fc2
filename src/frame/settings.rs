//! SETTINGS (RFC 9113 §6.5, RFC 8441 §3, RFC 9218 §2.1).
//!
//! Owns: its layout, the identifiers, the range of each value. Does not know: what applies when.
//! The entries keep their order and their repetitions, since each takes effect in turn.
//!
//! ```text
//! (Identifier (16), Value (32)) ..        flags: ACK 0x1
//! ```

use bytes::{BufMut, BytesMut};

use super::head::{ACK, Head, flag};
use super::malformed::Malformed;
use super::{DEFAULT_MAX_FRAME_SIZE, Kind, LARGEST_MAX_FRAME_SIZE, MAX_WINDOW_SIZE, StreamId};

const ENTRY_LEN: usize = 6;

const HEADER_TABLE_SIZE: u16 = 0x1;
const ENABLE_PUSH: u16 = 0x2;
const MAX_CONCURRENT_STREAMS: u16 = 0x3;
const INITIAL_WINDOW_SIZE: u16 = 0x4;
const MAX_FRAME_SIZE: u16 = 0x5;
const MAX_HEADER_LIST_SIZE: u16 = 0x6;
const ENABLE_CONNECT_PROTOCOL: u16 = 0x8;
const NO_RFC7540_PRIORITIES: u16 = 0x9;

/// What the sender wants of its peer, or the acknowledgement of that.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    ack: bool,
    /// Empty if `ack`.
    entries: Vec<Setting>,
}

/// One entry; its value is in range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    HeaderTableSize(u32),
    EnablePush(bool),
    MaxConcurrentStreams(u32),
    /// At most 2^31-1.
    InitialWindowSize(u32),
    /// 2^14 to 2^24-1.
    MaxFrameSize(u32),
    MaxHeaderListSize(u32),
    EnableConnectProtocol(bool),
    NoRfc7540Priorities(bool),
    /// Identifier and value of a setting we do not know.
    Unknown(u16, u32),
}

impl Settings {
    pub(crate) fn new(entries: impl IntoIterator<Item = Setting>) -> Settings {
        Settings {
            ack: false,
            entries: entries.into_iter().collect(),
        }
    }

    pub(crate) fn ack() -> Settings {
        Settings {
            ack: true,
            entries: Vec::new(),
        }
    }

    pub(super) fn decode(head: Head, payload: &[u8]) -> Result<Settings, Malformed> {
        //= RFC 9113 §6.5 on a stream is a connection error PROTOCOL_ERROR
        head.must_be_connection()?;
        let length = payload.len();
        if head.has(ACK) {
            //= RFC 9113 §6.5 an acknowledgement with a payload is FRAME_SIZE_ERROR
            return if length == 0 {
                Ok(Settings::ack())
            } else {
                Err(Malformed::SettingsAckPayload { length })
            };
        }
        //= RFC 9113 §6.5 a length that is no multiple of 6 is FRAME_SIZE_ERROR
        if length % ENTRY_LEN != 0 {
            return Err(head.wrong_length(length));
        }
        let octets = payload
            .chunks_exact(ENTRY_LEN)
            .filter_map(<[u8]>::first_chunk);
        //= RFC 9113 §6.5.3 the entries are kept in the order in which they apply
        let entries = octets.map(Setting::parse).collect::<Result<_, _>>()?;
        Ok(Settings {
            ack: false,
            entries,
        })
    }

    pub(crate) fn encode(&self, out: &mut BytesMut) {
        let (length, stream_id) = (self.entries.len() * ENTRY_LEN, StreamId::CONNECTION);
        Head {
            length,
            kind: Kind::SETTINGS,
            flags: flag(ACK, self.ack),
            stream_id,
        }
        .encode(out);
        for entry in &self.entries {
            entry.encode(out);
        }
    }

    pub(crate) fn is_ack(&self) -> bool {
        self.ack
    }

    /// In the order in which they apply, repetitions included.
    pub(crate) fn entries(&self) -> impl ExactSizeIterator<Item = Setting> + '_ {
        self.entries.iter().copied()
    }
}

impl Setting {
    fn parse(octets: &[u8; ENTRY_LEN]) -> Result<Setting, Malformed> {
        let [i1, i0, v3, v2, v1, v0] = *octets;
        let value = u32::from_be_bytes([v3, v2, v1, v0]);
        Ok(match u16::from_be_bytes([i1, i0]) {
            HEADER_TABLE_SIZE => Setting::HeaderTableSize(value),
            //= RFC 9113 §6.5.2 ENABLE_PUSH other than 0 or 1 is PROTOCOL_ERROR
            ENABLE_PUSH => {
                Setting::EnablePush(switch(value).ok_or(Malformed::EnablePush { value })?)
            }
            MAX_CONCURRENT_STREAMS => Setting::MaxConcurrentStreams(value),
            INITIAL_WINDOW_SIZE => Setting::InitialWindowSize(window_size(value)?),
            MAX_FRAME_SIZE => Setting::MaxFrameSize(frame_size(value)?),
            MAX_HEADER_LIST_SIZE => Setting::MaxHeaderListSize(value),
            //= RFC 8441 §3 ENABLE_CONNECT_PROTOCOL other than 0 or 1 is PROTOCOL_ERROR
            ENABLE_CONNECT_PROTOCOL => Setting::EnableConnectProtocol(
                switch(value).ok_or(Malformed::EnableConnectProtocol { value })?,
            ),
            //= RFC 9218 §2.1 NO_RFC7540_PRIORITIES other than 0 or 1 is PROTOCOL_ERROR
            NO_RFC7540_PRIORITIES => Setting::NoRfc7540Priorities(
                switch(value).ok_or(Malformed::NoRfc7540Priorities { value })?,
            ),
            //= RFC 9113 §6.5.2 unknown settings are ignored
            unknown => Setting::Unknown(unknown, value),
        })
    }

    fn encode(self, out: &mut BytesMut) {
        let (identifier, value) = match self {
            Setting::HeaderTableSize(value) => (HEADER_TABLE_SIZE, value),
            Setting::EnablePush(on) => (ENABLE_PUSH, on.into()),
            Setting::MaxConcurrentStreams(value) => (MAX_CONCURRENT_STREAMS, value),
            Setting::InitialWindowSize(value) => (INITIAL_WINDOW_SIZE, value),
            Setting::MaxFrameSize(value) => (MAX_FRAME_SIZE, value),
            Setting::MaxHeaderListSize(value) => (MAX_HEADER_LIST_SIZE, value),
            Setting::EnableConnectProtocol(on) => (ENABLE_CONNECT_PROTOCOL, on.into()),
            Setting::NoRfc7540Priorities(on) => (NO_RFC7540_PRIORITIES, on.into()),
            Setting::Unknown(identifier, value) => (identifier, value),
        };
        out.put_u16(identifier);
        out.put_u32(value);
    }
}

fn switch(value: u32) -> Option<bool> {
    match value {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

//= RFC 9113 §6.5.2 INITIAL_WINDOW_SIZE over 2^31-1 is FLOW_CONTROL_ERROR
fn window_size(value: u32) -> Result<u32, Malformed> {
    let fits = value <= MAX_WINDOW_SIZE;
    fits.then_some(value)
        .ok_or(Malformed::InitialWindowSize { value })
}

//= RFC 9113 §6.5.2 MAX_FRAME_SIZE outside 2^14 to 2^24-1 is PROTOCOL_ERROR
fn frame_size(value: u32) -> Result<u32, Malformed> {
    let range = DEFAULT_MAX_FRAME_SIZE as u32..=LARGEST_MAX_FRAME_SIZE as u32;
    range
        .contains(&value)
        .then_some(value)
        .ok_or(Malformed::MaxFrameSize { value })
}

#[cfg(test)]
mod tests {
    use super::{Setting, Settings};
    use crate::frame::tests::{assert_layout, decoded};
    use crate::frame::{Frame, Kind, Malformed, StreamId};

    /// Decodes one entry.
    fn one(identifier: u16, value: u32) -> Result<Setting, Malformed> {
        let payload = [&identifier.to_be_bytes()[..], &value.to_be_bytes()].concat();
        match decoded(Kind::SETTINGS, 0, 0, payload)? {
            Frame::Settings(settings) => Ok(settings.entries().next().expect("one entry")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn layout() {
        let frame = Frame::Settings(Settings::new([Setting::MaxFrameSize(0x0001_0203)]));
        assert_layout(&frame, Kind::SETTINGS, 0, 0, &[0, 5, 0, 1, 2, 3]);
        assert_layout(
            &Frame::Settings(Settings::new([])),
            Kind::SETTINGS,
            0,
            0,
            &[],
        );
        assert_layout(&Frame::Settings(Settings::ack()), Kind::SETTINGS, 1, 0, &[]);
    }

    #[test]
    fn every_identifier_has_its_setting() {
        assert_eq!(one(1, 0), Ok(Setting::HeaderTableSize(0)));
        assert_eq!(one(1, u32::MAX), Ok(Setting::HeaderTableSize(u32::MAX)));
        assert_eq!(one(2, 0), Ok(Setting::EnablePush(false)));
        assert_eq!(one(2, 1), Ok(Setting::EnablePush(true)));
        assert_eq!(one(3, 0), Ok(Setting::MaxConcurrentStreams(0)));
        assert_eq!(one(4, 0), Ok(Setting::InitialWindowSize(0)));
        assert_eq!(one(6, 9), Ok(Setting::MaxHeaderListSize(9)));
        assert_eq!(one(8, 1), Ok(Setting::EnableConnectProtocol(true)));
        assert_eq!(one(9, 1), Ok(Setting::NoRfc7540Priorities(true)));
    }

    //= test RFC 9113 §6.5.2 ENABLE_PUSH is 0 or 1
    //= test RFC 8441 §3 ENABLE_CONNECT_PROTOCOL is 0 or 1
    //= test RFC 9218 §2.1 NO_RFC7540_PRIORITIES is 0 or 1
    #[test]
    fn switches_are_0_or_1() {
        for value in [2, 256, u32::MAX] {
            assert_eq!(one(2, value), Err(Malformed::EnablePush { value }));
            assert_eq!(
                one(8, value),
                Err(Malformed::EnableConnectProtocol { value })
            );
            assert_eq!(one(9, value), Err(Malformed::NoRfc7540Priorities { value }));
        }
    }

    //= test RFC 9113 §6.5.2 INITIAL_WINDOW_SIZE is at most 2^31-1
    #[test]
    fn initial_window_size_is_bounded() {
        assert_eq!(
            one(4, 0x7fff_ffff),
            Ok(Setting::InitialWindowSize(0x7fff_ffff))
        );
        for value in [0x8000_0000, u32::MAX] {
            assert_eq!(one(4, value), Err(Malformed::InitialWindowSize { value }));
        }
    }

    //= test RFC 9113 §6.5.2 MAX_FRAME_SIZE is 2^14 to 2^24-1
    #[test]
    fn max_frame_size_is_bounded() {
        for value in [0x4000, 0x00ff_ffff] {
            assert_eq!(one(5, value), Ok(Setting::MaxFrameSize(value)));
        }
        for value in [0, 1, 0x3fff, 0x0100_0000, u32::MAX] {
            assert_eq!(one(5, value), Err(Malformed::MaxFrameSize { value }));
        }
    }

    //= test RFC 9113 §6.5.2 unknown settings are ignored
    #[test]
    fn unknown_identifiers_are_kept_apart() {
        for identifier in [0, 7, 10, 0x0a0a, u16::MAX] {
            assert_eq!(one(identifier, 5), Ok(Setting::Unknown(identifier, 5)));
        }
    }

    //= test RFC 9113 §6.5.3 in the order in which they apply, repetitions included
    #[test]
    fn order_and_repetitions_are_kept() {
        let entries = [1, 0, 4096].map(Setting::HeaderTableSize);
        let frame = Frame::Settings(Settings::new(entries));
        assert_layout(
            &frame,
            Kind::SETTINGS,
            0,
            0,
            &[0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0x10, 0],
        );
    }

    //= test RFC 9113 §6.5 a length that is no multiple of 6 is FRAME_SIZE_ERROR
    #[test]
    fn wrong_length_is_refused() {
        let (kind, stream_id) = (Kind::SETTINGS, StreamId::CONNECTION);
        for length in (0..40).filter(|length| length % 6 != 0) {
            let fault = Malformed::WrongLength {
                kind,
                stream_id,
                length,
            };
            assert_eq!(decoded(kind, 0, 0, vec![0; length]), Err(fault));
        }
    }

    //= test RFC 9113 §6.5 an acknowledgement with a payload is FRAME_SIZE_ERROR
    #[test]
    fn acknowledgement_with_a_payload_is_refused() {
        for length in [1, 5, 6, 12] {
            let fault = Malformed::SettingsAckPayload { length };
            assert_eq!(decoded(Kind::SETTINGS, 1, 0, vec![0; length]), Err(fault));
        }
    }
}
