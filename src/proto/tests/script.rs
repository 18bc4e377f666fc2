//! One end, and a peer that says what the test wants.

use std::ops::{Deref, DerefMut};

use bytes::{Bytes, BytesMut};

use super::pair::{End, Hand, request};
use crate::frame::{
    Data, Frame, GoAway, Headers, Malformed, Ping, PushPromise, Reason, Reset, Setting, Settings,
    StreamId, WindowUpdate,
};
use crate::hpack::Encoder;
use crate::message::{self, Head};
use crate::proto::{Config, Role};

pub(super) struct Script {
    pub(super) end: End,
    pub(super) encoder: Encoder,
}

impl Deref for Script {
    type Target = End;
    fn deref(&self) -> &End {
        &self.end
    }
}

impl DerefMut for Script {
    fn deref_mut(&mut self) -> &mut End {
        &mut self.end
    }
}

pub(super) fn id(value: u32) -> StreamId {
    StreamId::new(value)
}

pub(super) fn hardened() -> Script {
    Script::new(Role::Server, Config::hardened())
}

pub(super) fn server() -> Script {
    Script::new(Role::Server, Config::default())
}

pub(super) fn client() -> Script {
    Script::new(Role::Client, Config::default())
}

impl Script {
    /// Past the exchange of SETTINGS.
    pub(super) fn new(role: Role, config: Config) -> Script {
        let mut script = Script {
            end: End::new(role, config),
            encoder: Encoder::new(),
        };
        script.sent();
        script.settings([]);
        script.recv(Frame::Settings(Settings::ack()));
        script.sent();
        script
    }

    pub(super) fn settings<const N: usize>(&mut self, entries: [Setting; N]) {
        self.recv(Frame::Settings(Settings::new(entries)));
    }

    pub(super) fn fragment(&mut self, head: &Head) -> Bytes {
        let mut block = BytesMut::new();
        match head {
            Head::Request(parts) => message::encode_request(parts, &mut self.encoder, &mut block),
            Head::Response(parts) | Head::Informational(parts) => {
                message::encode_response(parts, &mut self.encoder, &mut block);
            }
        }
        block.freeze()
    }

    pub(super) fn head(&mut self, stream: u32, head: &Head, end_stream: bool) {
        let fragment = self.fragment(head);
        self.recv(Frame::Headers(Headers {
            stream_id: id(stream),
            fragment,
            end_headers: true,
            end_stream,
            priority: None,
        }));
    }

    pub(super) fn get(&mut self, stream: u32) {
        self.head(stream, &request("GET", "/"), true);
    }

    /// A request with a body to come; answers its far side.
    pub(super) fn post(&mut self, stream: u32) -> Hand {
        self.head(stream, &request("POST", "/"), false);
        self.accepted.last().expect("it was accepted").clone()
    }

    pub(super) fn response(&mut self, stream: u32, end: bool) {
        let (parts, ()) = http::Response::new(()).into_parts();
        self.head(stream, &Head::Response(Box::new(parts)), end);
    }

    pub(super) fn promise(&mut self, parent: u32, promised: u32, path: &str) {
        let fragment = self.fragment(&request("GET", path));
        self.recv(Frame::PushPromise(PushPromise {
            stream_id: id(parent),
            promised_id: id(promised),
            fragment,
            end_headers: true,
        }));
    }

    pub(super) fn data(&mut self, stream: u32, data: impl Into<Bytes>, end_stream: bool) {
        let data = data.into();
        let flow_len = data.len() as u32;
        self.padded(stream, data, end_stream, flow_len);
    }

    pub(super) fn padded(&mut self, stream: u32, data: Bytes, end_stream: bool, flow_len: u32) {
        self.recv(Frame::Data(Data {
            stream_id: id(stream),
            data,
            end_stream,
            flow_len,
        }));
    }

    pub(super) fn rst(&mut self, stream: u32, reason: Reason) {
        self.recv(Frame::Reset(Reset {
            stream_id: id(stream),
            reason,
        }));
    }

    pub(super) fn window(&mut self, stream: u32, increment: u32) {
        self.recv(Frame::WindowUpdate(WindowUpdate {
            stream_id: id(stream),
            increment,
        }));
    }

    pub(super) fn ping(&mut self, payload: [u8; 8], ack: bool) {
        self.recv(Frame::Ping(Ping { ack, payload }));
    }

    pub(super) fn go_away(&mut self, last: u32, reason: Reason) {
        self.recv(Frame::GoAway(GoAway {
            last_stream_id: id(last),
            reason,
            debug_data: Bytes::new(),
        }));
    }

    pub(super) fn malformed(&mut self, fault: Malformed) {
        let now = self.now;
        self.conn.recv(Err(fault), now);
        self.collect();
    }

    /// The connection must end with this code, and hear nothing more.
    #[track_caller]
    pub(super) fn expect_go_away(&mut self, reason: Reason) {
        let sent = self.sent();
        match sent.last() {
            Some(Frame::GoAway(frame)) => {
                assert_eq!(frame.reason, reason, "{:?}", frame.debug_data)
            }
            other => panic!("no GOAWAY, but {other:?}"),
        }
        assert!(self.conn.is_done());
        assert!(!self.conn.wants_read());
    }

    /// This stream, and nothing else, must be reset with this code.
    #[track_caller]
    pub(super) fn expect_reset(&mut self, stream: u32, reason: Reason) {
        let sent = self.sent();
        let resets: Vec<_> = sent
            .iter()
            .filter_map(|frame| match frame {
                Frame::Reset(reset) => Some((reset.stream_id, reset.reason)),
                Frame::GoAway(frame) => panic!("GOAWAY {:?}", frame),
                _ => None,
            })
            .collect();
        assert_eq!(resets, [(id(stream), reason)], "in {sent:?}");
    }

    #[track_caller]
    pub(super) fn expect_nothing(&mut self) {
        let sent = self.sent();
        assert!(sent.is_empty(), "{sent:?}");
    }
}

/// DATA frames as (stream, length).
pub(super) fn data_of(frames: &[Frame]) -> Vec<(u32, usize)> {
    let data = |frame: &Frame| match frame {
        Frame::Data(data) => Some((data.stream_id.as_u32(), data.data.len())),
        _ => None,
    };
    frames.iter().filter_map(data).collect()
}
