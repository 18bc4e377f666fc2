//! What the attacker has heard. Sums, and no frames: its memory must not count as the endpoint's.

use std::collections::{BTreeMap, VecDeque};

use crate::support::{Code, Frame, flag, kind};

pub(crate) struct Seen {
    rest: Vec<u8>,
    block: Vec<u8>,
    decoder: hpack::Decoder<'static>,
    /// Frames by type; unknown ones together.
    frames: [u64; 16],
    pub(crate) resets: BTreeMap<u32, u64>,
    pub(crate) statuses: BTreeMap<String, u64>,
    pub(crate) go_away: Option<(Code, String)>,
    /// Octets of DATA.
    pub(crate) data: u64,
    /// Credit for the connection.
    pub(crate) credit: u64,
    /// Credit for streams.
    credits: BTreeMap<u32, u64>,
    /// Messages that ended.
    pub(crate) ended: u64,
    /// Their streams, of the last few thousand.
    ended_on: VecDeque<u32>,
    /// Payloads of pongs, as long as they come in the order 0, 1, 2 ...
    pub(crate) pongs: u64,
    any_pong: bool,
    pub(crate) settings: Vec<u8>,
    /// The payload of the last PING.
    pub(crate) ping: Vec<u8>,
    /// The last header block.
    pub(crate) last_block: Vec<u8>,
    pub(crate) last_id: u32,
}

impl Seen {
    pub(crate) fn new() -> Seen {
        Seen {
            rest: Vec::new(),
            block: Vec::new(),
            decoder: hpack::Decoder::new(),
            frames: [0; 16],
            resets: BTreeMap::new(),
            statuses: BTreeMap::new(),
            go_away: None,
            data: 0,
            credit: 0,
            credits: BTreeMap::new(),
            ended: 0,
            ended_on: VecDeque::with_capacity(4096),
            pongs: 0,
            any_pong: false,
            settings: Vec::new(),
            ping: Vec::new(),
            last_block: Vec::new(),
            last_id: 0,
        }
    }

    pub(crate) fn frames(&self, kind: u8) -> u64 {
        self.frames[usize::from(kind).min(15)]
    }

    pub(crate) fn resets(&self, code: Code) -> u64 {
        self.resets.get(&code.0).copied().unwrap_or(0)
    }

    /// The order of pongs is of no interest: pings are said twice.
    pub(crate) fn forget_pongs(&mut self) {
        self.any_pong = true;
    }

    /// Credit for this stream.
    pub(crate) fn credit_of(&self, id: u32) -> u64 {
        self.credits.get(&id).copied().unwrap_or(0)
    }

    pub(crate) fn has_ended(&self, id: u32) -> bool {
        self.ended_on.contains(&id)
    }

    pub(crate) fn status(&self, status: &str) -> u64 {
        self.statuses.get(status).copied().unwrap_or(0)
    }

    /// Octets that it has set aside.
    pub(crate) fn capacity(&self) -> usize {
        self.rest.capacity() + self.block.capacity() + self.last_block.capacity()
    }

    pub(crate) fn feed(&mut self, octets: &[u8]) {
        self.rest.extend(octets);
        let mut start = 0;
        while let Some(length) = whole_frame(&self.rest[start..]) {
            let mut octets = self.rest[start..start + length].to_vec();
            start += length;
            if let Some(frame) = Frame::parse(&mut octets) {
                self.note(&frame);
            }
        }
        self.rest.drain(..start);
        self.rest.shrink_to_fit();
    }

    /// Whether it has heard a part of a frame, and the rest has not come.
    pub(crate) fn is_in_frame(&self) -> bool {
        !self.rest.is_empty()
    }

    fn note(&mut self, frame: &Frame) {
        self.frames[usize::from(frame.kind).min(15)] += 1;
        self.last_id = self.last_id.max(frame.id);
        if frame.is_end_stream() {
            self.ended += 1;
            if self.ended_on.len() == 4096 {
                self.ended_on.pop_front();
            }
            self.ended_on.push_back(frame.id);
        }
        match frame.kind {
            kind::DATA => self.data += frame.payload.len() as u64,
            kind::HEADERS | kind::PUSH_PROMISE | kind::CONTINUATION => self.note_block(frame),
            kind::RST_STREAM => *self.resets.entry(frame.word(0)).or_default() += 1,
            kind::GOAWAY => {
                let text = String::from_utf8_lossy(&frame.payload[8..]).into_owned();
                self.go_away = Some((Code(frame.word(4)), text));
            }
            kind::WINDOW_UPDATE if frame.id == 0 => self.credit += u64::from(frame.word(0)),
            kind::WINDOW_UPDATE => {
                *self.credits.entry(frame.id).or_default() += u64::from(frame.word(0));
            }
            kind::PING if frame.has(flag::ACK) => {
                let number = u64::from(frame.word(4));
                let is_next = number == self.pongs || self.any_pong;
                assert!(is_next, "pongs come in the order of the pings");
                self.pongs += 1;
            }
            kind::PING => self.ping.clone_from(&frame.payload),
            kind::SETTINGS if !frame.has(flag::ACK) => self.settings.clone_from(&frame.payload),
            _ => {}
        }
    }

    fn note_block(&mut self, frame: &Frame) {
        self.block.extend(frame.content().0);
        if !frame.has(flag::END_HEADERS) {
            return;
        }
        let fields = self.decoder.decode(&self.block);
        self.last_block = std::mem::take(&mut self.block);
        for (name, value) in fields.unwrap() {
            if name == b":status" {
                let status = String::from_utf8_lossy(&value).into_owned();
                *self.statuses.entry(status).or_default() += 1;
            }
        }
    }
}

fn whole_frame(octets: &[u8]) -> Option<usize> {
    let length = u32::from_be_bytes([0, *octets.first()?, *octets.get(1)?, *octets.get(2)?]);
    let end = 9 + length as usize;
    (octets.len() >= end).then_some(end)
}
