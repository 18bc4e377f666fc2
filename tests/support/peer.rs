//! The scripted peer: writes frames, reads frames, knows the application.
//!
//! Every wait is bounded by virtual time: when the endpoint under test has nothing more to do, the
//! clock jumps. What a script may expect of what it reads is in `expect.rs`.

use std::future::poll_fn;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::app::{App, Exchange};
use super::audit::Auditor;
use super::caller::{Call, Caller};
use super::frames::{CANCEL, Frame, flag, frame, headers, kind, reset, settings_ack};
use super::wire::PeerEnd;

const PATIENCE: Duration = Duration::from_secs(1);
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The application on the other side of the endpoint under test.
pub(crate) enum Subject {
    Server(App),
    Client(Caller),
}

pub(crate) struct Peer {
    wire: PeerEnd,
    input: Vec<u8>,
    decoder: hpack::Decoder<'static>,
    audit: Auditor,
    pub(crate) subject: Subject,
    next_id: u32,
    calls: Vec<Call>,
    acknowledges: bool,
}

/// A frame that was read, header blocks joined and decoded.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) frame: Frame,
    pub(crate) fields: Vec<(String, String)>,
    /// The header block as it came.
    pub(crate) block: Vec<u8>,
}

#[derive(Debug)]
pub(crate) enum Next {
    Frame(Received),
    Eof,
    Silence,
}

impl Received {
    /// The value of a field, if there is one.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// # Writing
impl Peer {
    pub(crate) fn new(wire: PeerEnd, subject: Subject) -> Peer {
        let to_server = matches!(subject, Subject::Server(_));
        Peer {
            wire,
            input: Vec::new(),
            decoder: hpack::Decoder::new(),
            audit: Auditor::new(to_server),
            subject,
            next_id: if to_server { 1 } else { 2 },
            calls: Vec::new(),
            acknowledges: true,
        }
    }

    pub(crate) fn send(&mut self, frame: Frame) {
        self.audit.sent(&frame);
        if matches!(frame.kind, kind::HEADERS) && frame.id >= self.next_id {
            self.next_id = frame.id + 2;
        }
        self.wire.write(&frame.encode());
    }

    pub(crate) fn send_raw(&mut self, octets: impl AsRef<[u8]>) {
        self.wire.write(octets.as_ref());
    }

    pub(crate) fn send_preface(&mut self) {
        self.wire.write(PREFACE);
    }

    /// The next stream id that this peer may use.
    pub(crate) fn fresh_id(&mut self) -> u32 {
        let id = self.next_id;
        self.next_id += 2;
        id
    }

    /// Ends what the endpoint reads.
    pub(crate) fn close(&self) {
        self.wire.close();
    }

    /// Keeps the endpoint from writing, or lets it write again.
    pub(crate) fn block_output(&self, blocked: bool) {
        self.wire.block(blocked);
    }

    /// Stops to acknowledge SETTINGS on its own.
    pub(crate) fn never_acknowledge(&mut self) {
        self.acknowledges = false;
    }

    pub(crate) fn written(&self) -> usize {
        self.wire.written()
    }

    pub(crate) fn unread(&self) -> usize {
        self.wire.unread()
    }

    /// Lets the endpoint do all that it can do now.
    pub(crate) async fn settle(&self) {
        sleep(Duration::from_millis(1)).await;
    }
}

/// # The application
impl Peer {
    pub(crate) fn app(&self) -> &App {
        match &self.subject {
            Subject::Server(app) => app,
            Subject::Client(_) => panic!("the endpoint under test is a client"),
        }
    }

    pub(crate) fn caller(&self) -> &Caller {
        match &self.subject {
            Subject::Client(caller) => caller,
            Subject::Server(_) => panic!("the endpoint under test is a server"),
        }
    }

    pub(crate) fn is_server(&self) -> bool {
        matches!(self.subject, Subject::Server(_))
    }

    /// What reached the server's application, oldest first.
    pub(crate) async fn exchanges(&self) -> Vec<Exchange> {
        self.settle().await;
        self.app().exchanges.borrow().clone()
    }

    /// Lets the client's application ask for `path`; reads the request, returns its stream.
    pub(crate) async fn call(&mut self, method: &str, path: &str) -> (u32, Call) {
        let call = self.caller().call(request(method, path), method == "POST");
        let head = self.expect_kind(kind::HEADERS).await;
        self.settle().await;
        (head.frame.id, call)
    }
}

/// A request of the client's application.
pub(crate) fn request(method: &str, path: &str) -> http::Request<()> {
    let uri = format!("https://example.com{path}");
    http::Request::builder()
        .method(method)
        .uri(uri)
        .body(())
        .unwrap()
}

/// # Streams brought into a state, as seen by the endpoint under test
impl Peer {
    /// Both sides may send.
    pub(crate) async fn open(&mut self) -> u32 {
        if self.is_server() {
            let id = self.fresh_id();
            self.send(headers(id).request("POST", "/hold"));
            self.settle().await;
            return id;
        }
        let (id, call) = self.call("POST", "/hold").await;
        self.calls.push(call);
        id
    }

    /// The endpoint has ended its side.
    pub(crate) async fn half_closed_local(&mut self) -> u32 {
        if self.is_server() {
            let id = self.fresh_id();
            self.send(headers(id).request("POST", "/early"));
            assert!(self.expect_headers(id).await.frame.is_end_stream());
            return id;
        }
        let (id, call) = self.call("GET", "/").await;
        self.calls.push(call);
        id
    }

    /// The peer has ended its side.
    pub(crate) async fn half_closed_remote(&mut self) -> u32 {
        if self.is_server() {
            let id = self.fresh_id();
            self.send(headers(id).request("POST", "/hold").end_stream());
            self.settle().await;
            return id;
        }
        let id = self.open().await;
        self.send(headers(id).response(200).end_stream());
        self.settle().await;
        id
    }

    /// Both sides have ended it.
    pub(crate) async fn closed(&mut self) -> u32 {
        if self.is_server() {
            let id = self.fresh_id();
            self.send(headers(id).request("GET", "/").end_stream());
            assert!(self.expect_headers(id).await.frame.is_end_stream());
            return id;
        }
        let (id, call) = self.call("GET", "/").await;
        self.send(headers(id).response(200).end_stream());
        assert_eq!(call.done().await.status(), Some(200));
        id
    }

    /// The endpoint has reset it while the peer's side was open.
    pub(crate) async fn reset_by_subject(&mut self) -> u32 {
        if self.is_server() {
            let id = self.fresh_id();
            self.send(headers(id).request("POST", "/reset"));
            self.expect_reset(id, CANCEL).await;
            return id;
        }
        let (id, call) = self.call("POST", "/hold").await;
        call.stream
            .borrow_mut()
            .as_mut()
            .unwrap()
            .send_reset(super::subject::Reason::CANCEL);
        self.expect_reset(id, CANCEL).await;
        self.calls.push(call);
        id
    }

    /// The peer has reset it.
    pub(crate) async fn reset_by_peer(&mut self) -> u32 {
        let id = self.open().await;
        self.send(reset(id, CANCEL));
        self.settle().await;
        id
    }
}

/// # Frames as they come
impl Peer {
    /// Reads the connection preface of a client.
    pub(crate) async fn expect_preface(&mut self) {
        while self.input.len() < PREFACE.len() {
            assert!(
                self.more().await == Some(true),
                "no preface: {:?}",
                self.input
            );
        }
        let rest = self.input.split_off(PREFACE.len());
        assert_eq!(self.input, PREFACE);
        self.input = rest;
    }

    /// The next frame that is no housekeeping.
    pub(crate) async fn next(&mut self) -> Next {
        loop {
            let next = self.next_of_all().await;
            let Next::Frame(received) = &next else {
                return next;
            };
            match received.frame.kind {
                kind::WINDOW_UPDATE | kind::SETTINGS | kind::PRIORITY => {}
                kind::PING if !received.frame.has(flag::ACK) => {}
                _ => return next,
            }
        }
    }

    /// The next frame, housekeeping too.
    pub(crate) async fn next_of_all(&mut self) -> Next {
        let first = match self.next_frame().await {
            Ok(frame) => frame,
            Err(ended) => return ended,
        };
        match first.kind {
            kind::SETTINGS if !first.has(flag::ACK) && self.acknowledges => {
                self.send(settings_ack());
            }
            kind::PING if !first.has(flag::ACK) => {
                self.send(frame(kind::PING, flag::ACK, 0, &first.payload));
            }
            kind::HEADERS | kind::PUSH_PROMISE => return self.read_block(first).await,
            _ => {}
        }
        Next::Frame(Received {
            frame: first,
            fields: Vec::new(),
            block: Vec::new(),
        })
    }

    async fn read_block(&mut self, first: Frame) -> Next {
        let mut block = first.content().0.to_vec();
        let mut last = first.clone();
        while !last.has(flag::END_HEADERS) {
            last = match self.next_frame().await {
                Ok(frame) => frame,
                Err(ended) => return ended,
            };
            block.extend(&last.payload);
        }
        let decoded = self.decoder.decode(&block);
        let decoded = decoded.unwrap_or_else(|e| panic!("§4.3: {first:?} is undecodable: {e:?}"));
        let text = |octets: Vec<u8>| String::from_utf8_lossy(&octets).into_owned();
        let fields: Vec<_> = decoded
            .into_iter()
            .map(|(n, v)| (text(n), text(v)))
            .collect();
        check_fields(&fields);
        Next::Frame(Received {
            frame: first,
            fields,
            block,
        })
    }

    async fn next_frame(&mut self) -> Result<Frame, Next> {
        loop {
            if let Some(frame) = Frame::parse(&mut self.input) {
                self.audit.received(&frame);
                return Ok(frame);
            }
            match self.more().await {
                Some(true) => {}
                Some(false) if self.input.is_empty() => return Err(Next::Eof),
                Some(false) => panic!("the connection ends in a frame: {:?}", self.input),
                None => return Err(Next::Silence),
            }
        }
    }

    async fn more(&mut self) -> Option<bool> {
        let reading = poll_fn(|cx| self.wire.poll_read(cx, &mut self.input));
        timeout(PATIENCE, reading).await.ok()
    }
}

/// §8.2: what no endpoint may generate.
fn check_fields(fields: &[(String, String)]) {
    const CONNECTION: [&str; 5] = [
        "connection",
        "proxy-connection",
        "keep-alive",
        "transfer-encoding",
        "upgrade",
    ];
    let mut regular = false;
    for (name, value) in fields {
        assert!(
            !name.chars().any(|c| c.is_ascii_uppercase()),
            "§8.2.1: {name}"
        );
        assert!(!CONNECTION.contains(&name.as_str()), "§8.2.2: {name}");
        assert!(name != "te" || value == "trailers", "§8.2.2: te: {value}");
        assert!(
            !value.contains(['\0', '\r', '\n']),
            "§8.2.1: {name}: {value:?}"
        );
        assert!(
            !(regular && name.starts_with(':')),
            "§8.3: {name} comes late"
        );
        regular = !name.starts_with(':');
    }
}
