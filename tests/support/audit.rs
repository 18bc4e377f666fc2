//! What every frame that the endpoint under test writes must respect, whatever the test is about.
//!
//! The auditor sees all frames of both directions and panics with the section of the rule. So
//! each test of the suite is also a test of the rules for senders.

use std::collections::HashMap;

use super::frames::{Frame, flag, kind, setting};

const START_WINDOW: i64 = 65_535;

/// The state of the rules for one connection.
pub(crate) struct Auditor {
    server: bool,
    max_frame_size: usize,
    initial_window: i64,
    connection_window: i64,
    stream_windows: HashMap<u32, i64>,
    /// Window sizes that the endpoint was told and has not acknowledged.
    unacknowledged: Vec<Option<i64>>,
    ended: HashMap<u32, u8>,
    highest: u32,
    go_away: Option<u32>,
    /// What the endpoint has set.
    settings: HashMap<u16, u32>,
    began: bool,
    block: Option<u32>,
    pings: Vec<Vec<u8>>,
}

impl Auditor {
    /// For a peer that talks to a server, or to a client.
    pub(crate) fn new(server: bool) -> Auditor {
        Auditor {
            server,
            max_frame_size: 16_384,
            initial_window: START_WINDOW,
            connection_window: START_WINDOW,
            stream_windows: HashMap::new(),
            unacknowledged: Vec::new(),
            ended: HashMap::new(),
            highest: 0,
            go_away: None,
            settings: HashMap::new(),
            began: false,
            block: None,
            pings: Vec::new(),
        }
    }

    /// Takes note of what the script sends.
    pub(crate) fn sent(&mut self, frame: &Frame) {
        match frame.kind {
            kind::SETTINGS if frame.has(flag::ACK) => {}
            kind::SETTINGS => self.sent_settings(frame),
            kind::WINDOW_UPDATE if frame.payload.len() == 4 && frame.id == 0 => {
                self.connection_window += i64::from(frame.word(0));
            }
            kind::WINDOW_UPDATE if frame.payload.len() == 4 => {
                *self.stream_window(frame.id) += i64::from(frame.word(0));
            }
            kind::PING if !frame.has(flag::ACK) => self.pings.push(frame.payload.clone()),
            _ => {}
        }
    }

    /// Checks what the endpoint sends.
    pub(crate) fn received(&mut self, frame: &Frame) {
        self.check_head(frame);
        self.check_block(frame);
        self.check_stream(frame);
        match frame.kind {
            kind::DATA => self.check_data(frame),
            kind::SETTINGS if frame.has(flag::ACK) => self.acknowledged(),
            kind::SETTINGS => self.check_settings(frame),
            kind::PRIORITY_UPDATE => self.check_priority_update(frame),
            kind::GOAWAY => self.check_go_away(frame),
            kind::PING if frame.has(flag::ACK) => {
                let known = self.pings.iter().position(|ping| *ping == frame.payload);
                let at = known.unwrap_or_else(|| panic!("§6.7: not our PING: {frame:?}"));
                assert_eq!(at, 0, "PINGs answered out of order");
                self.pings.remove(at);
            }
            kind::WINDOW_UPDATE => assert_ne!(frame.word(0), 0, "§6.9: increment of zero"),
            _ => {}
        }
    }

    fn sent_settings(&mut self, frame: &Frame) {
        let mut window = None;
        for (id, value) in frame.entries() {
            match id {
                setting::INITIAL_WINDOW_SIZE => window = Some(i64::from(value)),
                setting::MAX_FRAME_SIZE => {
                    self.max_frame_size = self.max_frame_size.max(value as usize);
                }
                _ => {}
            }
        }
        // A larger window may be used as soon as it is read, a smaller one binds with its ACK.
        if window.is_some_and(|size| size > self.initial_window) {
            self.move_windows(window.take());
        }
        self.unacknowledged.push(window);
    }

    fn acknowledged(&mut self) {
        assert!(
            !self.unacknowledged.is_empty(),
            "§6.5.3: an ACK for no SETTINGS"
        );
        let window = self.unacknowledged.remove(0);
        self.move_windows(window);
    }

    fn move_windows(&mut self, window: Option<i64>) {
        let Some(window) = window else { return };
        let by = window - self.initial_window;
        self.stream_windows.values_mut().for_each(|w| *w += by);
        self.initial_window = window;
    }

    fn stream_window(&mut self, id: u32) -> &mut i64 {
        self.stream_windows.entry(id).or_insert(self.initial_window)
    }

    fn check_head(&self, frame: &Frame) {
        let length = frame.payload.len();
        assert!(
            length <= self.max_frame_size,
            "§4.2: above the peer's limit: {frame:?}"
        );
        assert!(!frame.reserved, "§4.1: the reserved bit is set: {frame:?}");
        let defined = match frame.kind {
            kind::DATA => flag::END_STREAM | flag::PADDED,
            kind::HEADERS => flag::END_STREAM | flag::END_HEADERS | flag::PADDED | flag::PRIORITY,
            kind::PUSH_PROMISE => flag::END_HEADERS | flag::PADDED,
            kind::CONTINUATION => flag::END_HEADERS,
            kind::SETTINGS | kind::PING => flag::ACK,
            _ => 0,
        };
        assert_eq!(
            frame.flags & !defined,
            0,
            "§4.1: undefined flags are set: {frame:?}"
        );
        assert!(
            frame.content().1.iter().all(|&b| b == 0),
            "§6.1: padding is not zero: {frame:?}"
        );
        let of_connection = matches!(frame.kind, kind::SETTINGS | kind::PING | kind::GOAWAY);
        if of_connection || frame.kind == kind::PRIORITY_UPDATE {
            assert_eq!(frame.id, 0, "§6: not a frame of a stream: {frame:?}");
        } else if frame.kind != kind::WINDOW_UPDATE {
            assert_ne!(frame.id, 0, "§6: not a frame of the connection: {frame:?}");
        }
    }

    fn check_block(&mut self, frame: &Frame) {
        match self.block {
            Some(id) => assert_eq!(
                (frame.kind, frame.id),
                (kind::CONTINUATION, id),
                "§4.3: a block is interrupted by {frame:?}"
            ),
            None => assert_ne!(frame.kind, kind::CONTINUATION, "§6.10: nothing to continue"),
        }
        if matches!(
            frame.kind,
            kind::HEADERS | kind::PUSH_PROMISE | kind::CONTINUATION
        ) {
            self.block = (!frame.has(flag::END_HEADERS)).then_some(frame.id);
        }
    }

    /// §5.1: nothing but PRIORITY after our RST, nothing but three kinds after our END_STREAM.
    fn check_stream(&mut self, frame: &Frame) {
        if frame.id == 0 || frame.kind == kind::CONTINUATION || frame.kind == kind::PRIORITY {
            return;
        }
        match self.ended.get(&frame.id) {
            Some(&kind::RST_STREAM) => panic!("§5.1: after its RST_STREAM came {frame:?}"),
            Some(_) => assert!(
                matches!(frame.kind, kind::RST_STREAM | kind::WINDOW_UPDATE),
                "§5.1: after its END_STREAM came {frame:?}"
            ),
            None => {}
        }
        if frame.kind == kind::RST_STREAM {
            self.ended.insert(frame.id, kind::RST_STREAM);
        } else if frame.is_end_stream() {
            self.ended.insert(frame.id, kind::HEADERS);
        }
        if frame.kind == kind::PUSH_PROMISE {
            assert!(self.server, "§8.4: a client cannot push");
            self.check_new_id(frame.word(0) & !(1 << 31), 0);
        } else if frame.kind == kind::HEADERS && !self.server && frame.id % 2 == 1 {
            if !self.stream_windows.contains_key(&frame.id) {
                self.check_new_id(frame.id, 1);
            }
            self.stream_window(frame.id);
        }
    }

    fn check_new_id(&mut self, id: u32, parity: u32) {
        assert_eq!(id % 2, parity, "§5.1.1: stream {id} has the wrong parity");
        assert!(
            id > self.highest,
            "§5.1.1: stream {id} after {}",
            self.highest
        );
        self.highest = id;
    }

    fn check_data(&mut self, frame: &Frame) {
        let length = frame.payload.len() as i64;
        self.connection_window -= length;
        *self.stream_window(frame.id) -= length;
        if length > 0 {
            assert!(
                self.connection_window >= 0,
                "§6.9.1: past the connection window: {frame:?}"
            );
            let window = *self.stream_window(frame.id);
            assert!(window >= 0, "§6.9.1: past the stream's window: {frame:?}");
        }
    }

    fn check_settings(&mut self, frame: &Frame) {
        assert_eq!(frame.payload.len() % 6, 0, "§6.5: {frame:?}");
        for (id, value) in frame.entries() {
            let before = self.settings.insert(id, value);
            let lawful = match id {
                setting::ENABLE_PUSH => value == 0 || value == 1 && !self.server,
                setting::INITIAL_WINDOW_SIZE => value < 1 << 31,
                setting::MAX_FRAME_SIZE => (1 << 14..1 << 24).contains(&value),
                setting::ENABLE_CONNECT_PROTOCOL => value == 1 || value == 0 && before != Some(1),
                setting::NO_RFC7540_PRIORITIES => {
                    value <= 1 && before.map_or(!self.began, |before| before == value)
                }
                _ => true,
            };
            assert!(lawful, "§6.5.2: setting {id:#x} of {value}: {frame:?}");
        }
        self.began = true;
    }

    /// RFC 9218 §7.1: of a client, for a stream that it has opened or may open.
    fn check_priority_update(&self, frame: &Frame) {
        assert!(!self.server, "RFC 9218 §7.1: from a server: {frame:?}");
        let id = frame.word(0);
        assert_ne!(id, 0, "RFC 9218 §7.1: {frame:?}");
        assert_eq!(id >> 31, 0, "RFC 9218 §7.1: the reserved bit: {frame:?}");
    }

    fn check_go_away(&mut self, frame: &Frame) {
        let last = frame.word(0);
        let before = self.go_away.replace(last).unwrap_or(u32::MAX);
        assert!(
            last <= before,
            "§6.8: the last stream id went up: {frame:?}"
        );
    }
}
