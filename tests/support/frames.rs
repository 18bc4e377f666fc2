//! Frames of the scripted peer: builders, an encoder and a parser of its own.
//!
//! Nothing here comes from the crate under test, and nothing is checked: a script can write any
//! nonsense that nine octets of head and some octets of payload can say.

use std::fmt;

/// Frame types.
pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
    pub(crate) const PRIORITY_UPDATE: u8 = 0x10;
}

/// Frame flags.
pub(crate) mod flag {
    pub(crate) const END_STREAM: u8 = 0x1;
    pub(crate) const ACK: u8 = 0x1;
    pub(crate) const END_HEADERS: u8 = 0x4;
    pub(crate) const PADDED: u8 = 0x8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

/// Settings.
pub(crate) mod setting {
    pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
    pub(crate) const ENABLE_PUSH: u16 = 2;
    pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(crate) const MAX_FRAME_SIZE: u16 = 5;
    pub(crate) const MAX_HEADER_LIST_SIZE: u16 = 6;
    pub(crate) const ENABLE_CONNECT_PROTOCOL: u16 = 8;
    pub(crate) const NO_RFC7540_PRIORITIES: u16 = 9;
}

/// An error code, printed by name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u32);

pub(crate) const NO_ERROR: Code = Code(0);
pub(crate) const PROTOCOL_ERROR: Code = Code(1);
pub(crate) const INTERNAL_ERROR: Code = Code(2);
pub(crate) const FLOW_CONTROL_ERROR: Code = Code(3);
pub(crate) const STREAM_CLOSED: Code = Code(5);
pub(crate) const FRAME_SIZE_ERROR: Code = Code(6);
pub(crate) const REFUSED_STREAM: Code = Code(7);
pub(crate) const CANCEL: Code = Code(8);
pub(crate) const COMPRESSION_ERROR: Code = Code(9);
pub(crate) const ENHANCE_YOUR_CALM: Code = Code(11);

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 14] = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        match NAMES.get(self.0 as usize) {
            Some(name) => f.write_str(name),
            None => write!(f, "code {:#x}", self.0),
        }
    }
}

/// One frame: what a script writes and what it reads.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) id: u32,
    pub(crate) payload: Vec<u8>,
    pub(crate) reserved: bool,
    claimed: Option<usize>,
    pad: Option<(u8, usize)>,
    dependency: Option<[u8; 5]>,
}

/// Any frame at all.
pub(crate) fn frame(kind: u8, flags: u8, id: u32, payload: impl AsRef<[u8]>) -> Frame {
    Frame {
        kind,
        flags,
        id,
        payload: payload.as_ref().to_vec(),
        reserved: false,
        claimed: None,
        pad: None,
        dependency: None,
    }
}

pub(crate) fn data(id: u32, payload: impl AsRef<[u8]>) -> Frame {
    frame(kind::DATA, 0, id, payload)
}

/// HEADERS with END_HEADERS and an empty block: add fields with the methods of [`Frame`].
pub(crate) fn headers(id: u32) -> Frame {
    frame(kind::HEADERS, flag::END_HEADERS, id, [])
}

/// CONTINUATION with END_HEADERS.
pub(crate) fn continuation(id: u32) -> Frame {
    frame(kind::CONTINUATION, flag::END_HEADERS, id, [])
}

pub(crate) fn priority(id: u32, dependency: u32) -> Frame {
    frame(kind::PRIORITY, 0, id, five_octets(dependency))
}

pub(crate) fn reset(id: u32, code: Code) -> Frame {
    frame(kind::RST_STREAM, 0, id, code.0.to_be_bytes())
}

pub(crate) fn settings() -> Frame {
    frame(kind::SETTINGS, 0, 0, [])
}

pub(crate) fn settings_ack() -> Frame {
    frame(kind::SETTINGS, flag::ACK, 0, [])
}

pub(crate) fn push_promise(id: u32, promised: u32) -> Frame {
    frame(
        kind::PUSH_PROMISE,
        flag::END_HEADERS,
        id,
        promised.to_be_bytes(),
    )
}

pub(crate) fn ping(payload: [u8; 8]) -> Frame {
    frame(kind::PING, 0, 0, payload)
}

pub(crate) fn go_away(last: u32, code: Code) -> Frame {
    let mut payload = last.to_be_bytes().to_vec();
    payload.extend(code.0.to_be_bytes());
    frame(kind::GOAWAY, 0, 0, payload)
}

pub(crate) fn window_update(id: u32, increment: u32) -> Frame {
    frame(kind::WINDOW_UPDATE, 0, id, increment.to_be_bytes())
}

pub(crate) fn priority_update(prioritized: u32, value: &str) -> Frame {
    let mut payload = prioritized.to_be_bytes().to_vec();
    payload.extend(value.as_bytes());
    frame(kind::PRIORITY_UPDATE, 0, 0, payload)
}

impl Frame {
    pub(crate) fn end_stream(mut self) -> Frame {
        self.flags |= flag::END_STREAM;
        self
    }

    pub(crate) fn ack(mut self) -> Frame {
        self.flags |= flag::ACK;
        self
    }

    pub(crate) fn no_end_headers(mut self) -> Frame {
        self.flags &= !flag::END_HEADERS;
        self
    }

    /// Sets every bit of `flags` that is not set yet.
    pub(crate) fn more_flags(mut self, flags: u8) -> Frame {
        self.flags |= flags;
        self
    }

    pub(crate) fn reserved_bit(mut self) -> Frame {
        self.reserved = true;
        self
    }

    /// Announces another length than the payload has.
    pub(crate) fn claim(mut self, length: usize) -> Frame {
        self.claimed = Some(length);
        self
    }

    /// PADDED with `n` octets of padding.
    pub(crate) fn padded(self, n: u8) -> Frame {
        self.padded_badly(n, n as usize)
    }

    /// PADDED that says `says` and carries `has` octets of padding.
    pub(crate) fn padded_badly(mut self, says: u8, has: usize) -> Frame {
        self.flags |= flag::PADDED;
        self.pad = Some((says, has));
        self
    }

    /// The PRIORITY flag of HEADERS with its five octets.
    pub(crate) fn depends_on(mut self, dependency: u32) -> Frame {
        self.flags |= flag::PRIORITY;
        self.dependency = Some(five_octets(dependency));
        self
    }

    /// One entry of SETTINGS.
    pub(crate) fn set(mut self, id: u16, value: u32) -> Frame {
        self.payload.extend(id.to_be_bytes());
        self.payload.extend(value.to_be_bytes());
        self
    }

    /// A field, as a literal that is never in a table nor Huffman coded.
    pub(crate) fn field(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Frame {
        self.payload.extend(literal(name, value));
        self
    }

    /// Octets as they are: of a header block, or of anything else.
    pub(crate) fn raw(mut self, octets: impl AsRef<[u8]>) -> Frame {
        self.payload.extend(octets.as_ref());
        self
    }

    /// The pseudo-header fields of a request to `https://example.com`.
    pub(crate) fn request(self, method: &str, path: &str) -> Frame {
        self.field(":method", method)
            .field(":scheme", "https")
            .field(":authority", "example.com")
            .field(":path", path)
    }

    /// The pseudo-header field of a response.
    pub(crate) fn response(self, status: u16) -> Frame {
        self.field(":status", status.to_string())
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let payload = self.whole_payload();
        let length = self.claimed.unwrap_or(payload.len());
        let mut out = (length as u32).to_be_bytes()[1..].to_vec();
        out.push(self.kind);
        out.push(self.flags);
        let top = if self.reserved { 1 << 31 } else { 0 };
        out.extend((self.id | top).to_be_bytes());
        out.extend(payload);
        out
    }

    fn whole_payload(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some((says, _)) = self.pad {
            out.push(says);
        }
        out.extend(self.dependency.iter().flatten());
        out.extend(&self.payload);
        if let Some((_, has)) = self.pad {
            out.extend(std::iter::repeat_n(0, has));
        }
        out
    }

    /// Cuts one frame off the front of `input`, or returns `None` when it is not complete.
    pub(crate) fn parse(input: &mut Vec<u8>) -> Option<Frame> {
        let length = u32::from_be_bytes([0, *input.first()?, *input.get(1)?, *input.get(2)?]);
        let end = 9 + length as usize;
        if input.len() < end {
            return None;
        }
        let rest = input.split_off(end);
        let head = std::mem::replace(input, rest);
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let mut parsed = frame(head[3], head[4], id & !(1 << 31), &head[9..]);
        parsed.reserved = id >> 31 == 1;
        Some(parsed)
    }

    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag == flag
    }

    pub(crate) fn is_end_stream(&self) -> bool {
        matches!(self.kind, kind::DATA | kind::HEADERS) && self.has(flag::END_STREAM)
    }

    /// The 32 bits at `at`, for RST_STREAM, GOAWAY, WINDOW_UPDATE and PUSH_PROMISE.
    pub(crate) fn word(&self, at: usize) -> u32 {
        let octets = self
            .payload
            .get(at..at + 4)
            .unwrap_or_else(|| panic!("too short: {self:?}"));
        u32::from_be_bytes(octets.try_into().unwrap())
    }

    /// The entries of SETTINGS.
    pub(crate) fn entries(&self) -> Vec<(u16, u32)> {
        let entry = |c: &[u8]| {
            (
                u16::from_be_bytes([c[0], c[1]]),
                u32::from_be_bytes([c[2], c[3], c[4], c[5]]),
            )
        };
        self.payload.chunks_exact(6).map(entry).collect()
    }

    /// The payload of a received frame without padding, priority and promised id; the padding.
    pub(crate) fn content(&self) -> (&[u8], &[u8]) {
        let mut start = 0;
        let mut end = self.payload.len();
        let can_pad = matches!(self.kind, kind::DATA | kind::HEADERS | kind::PUSH_PROMISE);
        if can_pad && self.has(flag::PADDED) {
            start += 1;
            end -= self.payload[0] as usize;
        }
        if self.kind == kind::HEADERS && self.has(flag::PRIORITY) {
            start += 5;
        }
        if self.kind == kind::PUSH_PROMISE {
            start += 4;
        }
        (&self.payload[start..end], &self.payload[end..])
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 10] = [
            "DATA",
            "HEADERS",
            "PRIORITY",
            "RST_STREAM",
            "SETTINGS",
            "PUSH_PROMISE",
            "PING",
            "GOAWAY",
            "WINDOW_UPDATE",
            "CONTINUATION",
        ];
        match NAMES.get(self.kind as usize) {
            Some(name) => f.write_str(name)?,
            None => write!(f, "type {:#x}", self.kind)?,
        }
        write!(f, "(stream {}, flags {:#x}", self.id, self.flags)?;
        match self.kind {
            kind::RST_STREAM if self.payload.len() == 4 => write!(f, ", {:?}", Code(self.word(0)))?,
            kind::GOAWAY if self.payload.len() >= 8 => {
                let text = String::from_utf8_lossy(&self.payload[8..]);
                write!(
                    f,
                    ", last {}, {:?}, {text:?}",
                    self.word(0),
                    Code(self.word(4))
                )?;
            }
            kind::SETTINGS => write!(f, ", {:?}", self.entries())?,
            _ => write!(f, ", {} octets", self.payload.len())?,
        }
        f.write_str(")")
    }
}

/// A literal field without indexing, with a new name and without Huffman coding.
pub(crate) fn literal(name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Vec<u8> {
    let mut out = vec![0];
    out.extend(string(name.as_ref()));
    out.extend(string(value.as_ref()));
    out
}

/// A literal field with incremental indexing and a new name: an entry of the dynamic table.
pub(crate) fn indexed_literal(name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Vec<u8> {
    let mut out = literal(name, value);
    out[0] = 0x40;
    out
}

/// An HPACK integer behind `pattern`, the bits before its prefix of `bits` bits.
pub(crate) fn integer(pattern: u8, bits: u8, value: usize) -> Vec<u8> {
    let max = (1usize << bits) - 1;
    if value < max {
        return vec![pattern | value as u8];
    }
    let mut out = vec![pattern | max as u8];
    let mut rest = value - max;
    while rest >= 128 {
        out.push((rest % 128) as u8 | 0x80);
        rest /= 128;
    }
    out.push(rest as u8);
    out
}

fn string(octets: &[u8]) -> Vec<u8> {
    let mut out = integer(0, 7, octets.len());
    out.extend(octets);
    out
}

fn five_octets(dependency: u32) -> [u8; 5] {
    let [a, b, c, d] = dependency.to_be_bytes();
    [a, b, c, d, 15]
}
