//! Octets of HTTP/2, written and read by hand: the benches look at both ends from outside.

/// What a client says first.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The largest window.
pub(crate) const WIDE: u32 = (1 << 31) - 1;

pub(crate) const HEAD: usize = 9;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const ACK: u8 = 1;

/// The head of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) length: usize,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) id: u32,
}

impl Head {
    pub(crate) fn parse(octets: &[u8; HEAD]) -> Head {
        let [a, b, c, kind, flags, id @ ..] = *octets;
        Head {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            id: u32::from_be_bytes(id) & WIDE,
        }
    }

    pub(crate) fn octets(self) -> [u8; HEAD] {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [d, e, f, g] = self.id.to_be_bytes();
        [a, b, c, self.kind, self.flags, d, e, f, g]
    }

    pub(crate) fn is_end(self) -> bool {
        matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0
    }
}

pub(crate) fn frame(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let head = Head {
        length: payload.len(),
        kind,
        flags,
        id,
    };
    [&head.octets(), payload].concat()
}

pub(crate) fn window_update(id: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, id, &increment.to_be_bytes())
}

/// A client's first octets: what it lets a stream send, and the whole connection.
pub(crate) fn hello(stream_window: u32, connection_window: u32) -> Vec<u8> {
    let [a, b, c, d] = stream_window.to_be_bytes();
    // No pushes, and this window for each stream.
    let settings = frame(SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 0, 0, 4, a, b, c, d]);
    let mut out = [PREFACE, &settings].concat();
    if connection_window > 65_535 {
        out.extend(window_update(0, connection_window - 65_535));
    }
    out
}

/// A header block that leaves no trace in the table of the reader: `:method`, `:scheme`, `:path` and
/// `:authority`.
pub(crate) fn request_block(method: Method, path: &str) -> Vec<u8> {
    let first = match method {
        Method::Get => 0x82,
        Method::Post => 0x83,
    };
    let mut block = vec![first, 0x86, 0x04, path.len() as u8];
    block.extend(path.as_bytes());
    block.extend(b"\x01\x09localhost");
    block
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
}

/// HEADERS with a whole block.
pub(crate) fn request(id: u32, method: Method, path: &str) -> Vec<u8> {
    let flags = match method {
        Method::Get => END_HEADERS | END_STREAM,
        Method::Post => END_HEADERS,
    };
    frame(HEADERS, flags, id, &request_block(method, path))
}
