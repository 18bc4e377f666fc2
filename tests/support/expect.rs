//! What a script expects to read: each expectation says what came instead when it fails.
//!
//! WINDOW_UPDATE, SETTINGS, PING and PRIORITY of the endpoint are housekeeping: they are answered
//! where they ask for it, and passed over by all expectations that do not name them.

use super::app::Over;
use super::frames::{Code, Frame, data, frame, headers, kind};
use super::peer::{Next, Peer, Received, Subject, request};

impl Peer {
    /// The next frame that is no housekeeping.
    pub(crate) async fn expect_frame(&mut self) -> Received {
        match self.next().await {
            Next::Frame(received) => received,
            other => panic!("a frame was expected, not {other:?}"),
        }
    }

    pub(crate) async fn expect_kind(&mut self, kind: u8) -> Received {
        let received = self.expect_frame().await;
        assert_eq!(
            received.frame.kind,
            kind,
            "expected {:?}",
            frame(kind, 0, 0, [])
        );
        received
    }

    pub(crate) async fn expect_headers(&mut self, id: u32) -> Received {
        let received = self.expect_kind(kind::HEADERS).await;
        assert_eq!(received.frame.id, id, "{received:?}");
        received
    }

    pub(crate) async fn expect_response(&mut self, id: u32, status: u16) -> Received {
        let received = self.expect_headers(id).await;
        assert_eq!(received.field(":status"), Some(status.to_string().as_str()));
        received
    }

    pub(crate) async fn expect_data(&mut self, id: u32) -> Frame {
        let frame = self.expect_kind(kind::DATA).await.frame;
        assert_eq!(frame.id, id, "{frame:?}");
        frame
    }

    /// DATA of one stream until `length` octets have come; the last frame.
    pub(crate) async fn expect_octets(&mut self, id: u32, length: usize) -> Frame {
        let mut got = 0;
        loop {
            let frame = self.expect_data(id).await;
            got += frame.content().0.len();
            assert!(got <= length, "{got} octets instead of {length}");
            if got == length {
                return frame;
            }
        }
    }

    /// A stream error: RST_STREAM with this code, and the connection goes on.
    pub(crate) async fn expect_reset(&mut self, id: u32, code: Code) {
        let frame = self.expect_frame().await.frame;
        assert_eq!(
            (frame.kind, frame.id),
            (kind::RST_STREAM, id),
            "{code:?}, not {frame:?}"
        );
        assert_eq!(Code(frame.word(0)), code, "{frame:?}");
    }

    /// A stream error and a connection that still answers.
    pub(crate) async fn expect_stream_error(&mut self, id: u32, code: Code) {
        self.expect_reset(id, code).await;
        self.expect_alive().await;
    }

    /// An error of a stream that both sides have ended: a reset is not needed any more.
    pub(crate) async fn expect_stream_failure(&mut self, id: u32, code: Code) {
        for frame in self.everything().await {
            match frame.kind {
                kind::WINDOW_UPDATE => {}
                kind::RST_STREAM => assert_eq!((frame.id, Code(frame.word(0))), (id, code)),
                _ => panic!("{code:?} for stream {id}, not {frame:?}"),
            }
        }
        self.expect_alive().await;
    }

    /// A connection error: GOAWAY with this code, then the end of the connection.
    pub(crate) async fn expect_go_away(&mut self, code: Code) {
        let frame = loop {
            let frame = self.expect_frame().await.frame;
            match frame.kind {
                kind::GOAWAY if frame.word(4) == 0 && code.0 != 0 => {}
                kind::GOAWAY => break frame,
                kind::RST_STREAM => panic!("{code:?} for the connection, not {frame:?}"),
                _ => {}
            }
        };
        assert_eq!(Code(frame.word(4)), code, "{frame:?}");
        if super::EXPLAINS {
            assert!(frame.payload.len() > 8, "no debug text: {frame:?}");
        }
        self.expect_eof().await;
        self.settle().await;
        let result = match &self.subject {
            Subject::Server(app) => *app.result.borrow(),
            Subject::Client(caller) => *caller.result.borrow(),
        };
        assert_eq!(
            result,
            Some(Over::With(Some(code))),
            "what the application is told"
        );
    }

    /// A stream error, or the connection error that it may be made into.
    pub(crate) async fn expect_either(&mut self, id: u32, code: Code) {
        let frame = self.expect_frame().await.frame;
        match frame.kind {
            kind::RST_STREAM => {
                assert_eq!((frame.id, Code(frame.word(0))), (id, code), "{frame:?}");
                self.expect_alive().await;
            }
            kind::GOAWAY => {
                assert_eq!(Code(frame.word(4)), code, "{frame:?}");
                self.expect_eof().await;
            }
            _ => panic!("{code:?} for stream {id}, not {frame:?}"),
        }
    }

    /// The end of the connection, with or without a GOAWAY of this code.
    pub(crate) async fn expect_refusal(&mut self, code: Code) {
        loop {
            match self.next().await {
                Next::Eof => return,
                Next::Frame(r) if r.frame.kind == kind::GOAWAY => {
                    assert_eq!(Code(r.frame.word(4)), code, "{:?}", r.frame);
                }
                other => panic!("the end of the connection was expected, not {other:?}"),
            }
        }
    }

    pub(crate) async fn expect_eof(&mut self) {
        match self.next().await {
            Next::Eof => {}
            other => panic!("the end of the connection was expected, not {other:?}"),
        }
    }

    /// Nothing but housekeeping comes, and the connection stays.
    pub(crate) async fn expect_nothing(&mut self) {
        match self.next().await {
            Next::Silence => {}
            other => panic!("nothing was expected, not {other:?}"),
        }
    }

    /// The connection still carries an exchange from end to end.
    pub(crate) async fn expect_alive(&mut self) {
        if self.is_server() {
            let id = self.fresh_id();
            self.send(headers(id).request("GET", "/alive").end_stream());
            self.expect_on(id, kind::HEADERS).await;
            return;
        }
        let call = self.caller().call(request("GET", "/alive"), false);
        let head = loop {
            let received = self.expect_frame().await;
            match received.frame.kind {
                kind::HEADERS if received.field(":path") == Some("/alive") => break received,
                kind::RST_STREAM | kind::GOAWAY => panic!("not alive: {:?}", received.frame),
                _ => {}
            }
        };
        let id = head.frame.id;
        self.send(headers(id).response(200));
        self.send(data(id, "alive").end_stream());
        let outcome = call.done().await;
        assert_eq!(
            (outcome.status(), &outcome.body[..]),
            (Some(200), &b"alive"[..])
        );
    }

    /// The next frame of a kind on a stream; frames of messages on other streams are passed over.
    pub(crate) async fn expect_on(&mut self, id: u32, kind: u8) -> Received {
        loop {
            let received = self.expect_frame().await;
            let frame = &received.frame;
            if (frame.id, frame.kind) == (id, kind) {
                return received;
            }
            let fatal = matches!(frame.kind, kind::RST_STREAM | kind::GOAWAY);
            assert!(!fatal && frame.id != id, "not alive: {frame:?}");
        }
    }

    /// The next frame of a kind, whatever comes before it, housekeeping too.
    pub(crate) async fn expect_any(&mut self, id: u32, kind: u8) -> Received {
        loop {
            match self.next_of_all().await {
                Next::Frame(r) if (r.frame.id, r.frame.kind) == (id, kind) => return r,
                Next::Frame(r) if r.frame.kind == kind::GOAWAY => panic!("{:?}", r.frame),
                Next::Frame(_) => {}
                other => panic!("expected {:?}, not {other:?}", frame(kind, 0, id, [])),
            }
        }
    }

    /// All frames until nothing more comes, housekeeping too.
    pub(crate) async fn everything(&mut self) -> Vec<Frame> {
        let mut all = Vec::new();
        while let Next::Frame(received) = self.next_of_all().await {
            all.push(received.frame);
        }
        all
    }

    /// The octets of WINDOW_UPDATE for a stream until nothing more comes.
    pub(crate) async fn credit(&mut self, id: u32) -> u32 {
        let all = self.everything().await;
        let updates = all
            .iter()
            .filter(|f| f.kind == kind::WINDOW_UPDATE && f.id == id);
        updates.map(|f| f.word(0)).sum()
    }
}
