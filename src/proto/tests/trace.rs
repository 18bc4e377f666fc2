//! What a peer did wrong is in the trace, with rule and section.

use std::io;

use super::script::server;
use crate::frame::{Frame, Kind, Malformed, Ping, Reason, WindowUpdate};
use crate::sync::{Arc, Mutex, lock};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn traced(act: impl FnOnce()) -> String {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, act);
    let octets = lock(&log.0).clone();
    String::from_utf8(octets).unwrap()
}

#[test]
fn a_fault_of_a_stream_is_traced() {
    let text = traced(|| {
        let mut script = server();
        script.post(1);
        let stream_id = super::script::id(1);
        let increment = crate::frame::MAX_WINDOW_SIZE;
        script.recv(Frame::WindowUpdate(WindowUpdate {
            stream_id,
            increment,
        }));
        script.expect_reset(1, Reason::FLOW_CONTROL_ERROR);
    });
    assert!(
        text.contains("stream=1") && text.contains("6.9.1"),
        "{text}"
    );
    assert!(text.contains("FLOW_CONTROL_ERROR"), "{text}");
}

#[test]
fn a_fault_of_the_connection_is_traced() {
    let text = traced(|| {
        let mut script = server();
        let kind = Kind::PING;
        let stream_id = super::script::id(0);
        script.malformed(Malformed::WrongLength {
            kind,
            stream_id,
            length: 7,
        });
        script.recv(Frame::Ping(Ping {
            ack: false,
            payload: [0; 8],
        }));
        script.expect_go_away(Reason::FRAME_SIZE_ERROR);
    });
    assert!(
        text.contains("connection ended") && text.contains("FRAME_SIZE_ERROR"),
        "{text}"
    );
}
