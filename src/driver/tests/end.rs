//! How connections end: by the clock, by failing I/O, by peers that do not listen.

use std::future::{Future, pending, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::super::timer::{Alarm, SharedTimer, Timer};
use super::super::{Driver, Stage};
use super::script::{Answer, Script, Take};
use crate::error::{Error, Violation};
use crate::frame::Reason;
use crate::handoff::{Reader, Writer};
use crate::proto::Config;

const NO_WAKER: Context<'static> = Context::from_waker(Waker::noop());

/// A clock for which everything is over, or nothing ever is.
#[derive(Clone, Copy)]
enum FakeTimer {
    Past,
    Never,
}

impl Timer for FakeTimer {
    fn sleep_until(&self, _: Instant) -> Pin<Box<dyn Future<Output = ()> + Send + Sync>> {
        match self {
            FakeTimer::Past => Box::pin(ready(())),
            FakeTimer::Never => Box::pin(pending()),
        }
    }

    fn now(&self) -> Instant {
        match self {
            FakeTimer::Past => now() + Duration::from_secs(3600),
            FakeTimer::Never => now(),
        }
    }
}

fn cx() -> Context<'static> {
    NO_WAKER
}

fn now() -> Instant {
    Alarm::new(None).now()
}

fn client(io: Script) -> Driver<Script, Bytes> {
    let driver = Driver::client(io, Config::default());
    driver.hub().shared().add_requester();
    driver
}

fn open(driver: &Driver<Script, Bytes>) -> Result<(Writer<Bytes>, Reader), Error> {
    let request = http::Request::get("https://host/").body(()).unwrap();
    let (parts, ()) = request.into_parts();
    driver.hub().open_request(Box::new(parts), true)
}

#[test]
fn an_alarm_without_a_timer_never_rings() {
    assert!(Alarm::new(None).poll(&mut cx(), Some(now())).is_pending());
}

#[test]
fn an_alarm_rings_once_for_a_deadline_and_never_without_one() {
    let mut alarm = Alarm::new(Some(SharedTimer::new(FakeTimer::Past)));
    assert!(alarm.poll(&mut cx(), None).is_pending());
    assert!(alarm.poll(&mut cx(), Some(now())).is_ready());
    let mut alarm = Alarm::new(Some(SharedTimer::new(FakeTimer::Never)));
    assert!(alarm.poll(&mut cx(), Some(now())).is_pending());
}

#[test]
fn a_preface_that_does_not_come_in_time_ends_the_connection() {
    let mut driver: Driver<_, Bytes> =
        Driver::server(Script::new(true, Take::All), Config::default());
    driver.set_timer(SharedTimer::new(FakeTimer::Never));
    assert!(driver.poll_handshake(&mut cx()).is_pending());
    driver.set_timer(SharedTimer::new(FakeTimer::Past));
    let Poll::Ready(Err(error)) = driver.poll_handshake(&mut cx()) else {
        panic!("the handshake goes on");
    };
    assert_eq!(error.as_violation(), Some(&Violation::HandshakeTimeout));
    let kinds: Vec<u8> = driver.io.written.windows(9).map(|head| head[3]).collect();
    assert!(kinds.contains(&7), "GOAWAY was sent");
}

#[test]
fn a_peer_that_never_reads_cannot_keep_an_ending_connection() {
    let mut io = Script::new(true, Take::All);
    io.write_answers.extend(vec![Answer::Pending; 1000]);
    let mut driver = client(io);
    assert!(driver.poll(&mut cx()).is_pending());
    driver.command().user_abort(Reason::INTERNAL_ERROR);
    assert!(driver.poll(&mut cx()).is_pending());
    assert!(driver.parting.is_some());
    driver.parting = Some(now());
    let Poll::Ready(Err(error)) = driver.poll(&mut cx()) else {
        panic!("it still waits")
    };
    assert_eq!(
        error.reason(),
        Some(Reason::INTERNAL_ERROR),
        "the first reason stays"
    );
}

fn server_that_has_ended_well(timer: Option<FakeTimer>) -> Driver<Script, Bytes> {
    let greeting = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let io = Script::reading([greeting.to_vec()]);
    let mut driver: Driver<_, Bytes> = Driver::server(io, Config::default());
    if let Some(timer) = timer {
        driver.set_timer(SharedTimer::new(timer));
    }
    assert!(matches!(
        driver.poll_handshake(&mut cx()),
        Poll::Ready(Ok(()))
    ));
    driver.command().user_abort(Reason::NO_ERROR);
    driver
}

#[test]
fn a_server_that_has_ended_well_waits_until_the_client_closes() {
    let mut driver = server_that_has_ended_well(Some(FakeTimer::Never));
    assert!(driver.poll(&mut cx()).is_pending());
    let written = driver.io.written.len();
    // A WINDOW_UPDATE that was on its way, much more of it, and the end.
    let update = b"\0\0\x04\x08\0\0\0\0\0\0\0\0\x01";
    driver.io.input.extend(vec![update.to_vec(); 40]);
    assert!(driver.poll(&mut cx()).is_pending());
    assert!(driver.poll(&mut cx()).is_pending());
    driver.io.input.push_back(Vec::new());
    let over = driver.poll(&mut cx());
    assert!(matches!(over, Poll::Ready(Ok(()))), "{over:?}");
    assert!(driver.io.input.is_empty(), "all was read");
    assert_eq!(driver.io.written.len(), written, "nothing more was said");
}

#[test]
fn a_client_that_does_not_close_keeps_no_server_that_has_ended_well() {
    let mut driver = server_that_has_ended_well(Some(FakeTimer::Never));
    assert!(driver.poll(&mut cx()).is_pending());
    assert!(driver.parting.is_some());
    driver.parting = Some(now());
    assert!(matches!(driver.poll(&mut cx()), Poll::Ready(Ok(()))));
    let mut driver = server_that_has_ended_well(None);
    let over = driver.poll(&mut cx());
    assert!(
        matches!(over, Poll::Ready(Ok(()))),
        "nothing would wake it: {over:?}"
    );
}

#[test]
fn a_failing_write_is_told_to_all_and_nothing_is_tried_again() {
    for call in 0..2 {
        let mut io = Script::new(true, Take::AtMost(20));
        io.write_answers.extend(vec![Answer::Usual; call]);
        io.write_answers.push_back(Answer::Error);
        let mut driver = client(io);
        let Poll::Ready(Err(error)) = driver.poll(&mut cx()) else {
            panic!("it goes on")
        };
        assert_eq!(
            error.get_io().unwrap().kind(),
            io::ErrorKind::ConnectionReset
        );
        assert!(matches!(driver.stage, Stage::Over(Err(_))));
        assert_eq!(driver.io.writes.len(), call);
        assert!(open(&driver).unwrap_err().is_io());
        assert!(
            matches!(driver.poll(&mut cx()), Poll::Ready(Err(_))),
            "and again the same"
        );
    }
}

#[test]
fn a_cut_off_tls_stream_is_a_quiet_end_when_nothing_is_open() {
    let mut driver = client(Script::new(true, Take::All));
    assert!(driver.poll(&mut cx()).is_pending());
    driver.read_failed(io::ErrorKind::UnexpectedEof.into());
    assert!(matches!(driver.poll(&mut cx()), Poll::Ready(Ok(()))));
}

#[test]
fn a_cut_off_tls_stream_is_an_error_when_a_stream_is_open() {
    let mut driver = client(Script::new(true, Take::All));
    let _handles = open(&driver).unwrap();
    assert!(driver.poll(&mut cx()).is_pending());
    driver.read_failed(io::ErrorKind::UnexpectedEof.into());
    assert!(matches!(driver.poll(&mut cx()), Poll::Ready(Err(_))));
}

#[test]
fn a_client_without_handles_says_goodbye() {
    let mut driver: Driver<_, Bytes> =
        Driver::client(Script::new(true, Take::All), Config::default());
    assert!(matches!(driver.poll(&mut cx()), Poll::Ready(Ok(()))));
    let kinds: Vec<u8> = driver.io.written[24..]
        .windows(9)
        .map(|head| head[3])
        .collect();
    assert!(kinds.contains(&7), "GOAWAY was sent");
}

#[test]
fn the_preface_settings_and_first_request_leave_in_one_write() {
    let mut driver = client(Script::new(true, Take::All));
    let _handles = open(&driver).unwrap();
    assert!(driver.poll(&mut cx()).is_pending());
    assert_eq!(driver.io.writes.len(), 1);
    assert!(
        driver
            .io
            .written
            .starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    );
}

#[test]
fn an_idle_connection_holds_no_read_buffer() {
    let mut driver = client(Script::new(true, Take::All));
    assert!(driver.poll(&mut cx()).is_pending());
    assert_eq!(driver.reader.unread().capacity(), 0);
}
