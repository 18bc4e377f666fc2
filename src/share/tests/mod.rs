//! The public handles, against a cell without a connection: what the connection would do, the
//! tests do.

mod sim;

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};

use super::{Ping, PingPong, RecvStream, SendStream};
use crate::error::Misuse;
use crate::frame::{Reason, StreamId};
use crate::handoff::{Cell, Hub, Limits};
use crate::message::Head;
use crate::proto::port::{Outgoing, Port};
use crate::proto::streams::Key;

const LIMITS: Limits = Limits {
    max_send_buffer: 1000,
    send_room: 0,
    recv_window: 65_535,
};

/// A stream as its client and as its connection see it.
fn stream() -> (Hub<Bytes>, Cell<Bytes>, SendStream<Bytes>, RecvStream) {
    let hub = Hub::new(StreamId::new(1), LIMITS);
    let (parts, ()) = Request::post("http://host/").body(()).unwrap().into_parts();
    let (writer, reader) = hub.open_request(Box::new(parts), false).unwrap();
    let mut births = Default::default();
    hub.take_births(&mut births);
    let cell = births.pop_front().unwrap().port;
    cell.adopt(Key::new(0, 0));
    let (response, ()) = Response::new(()).into_parts();
    cell.deliver_head(Head::Response(Box::new(response)), false);
    (hub, cell, SendStream::new(writer), RecvStream::new(reader))
}

fn poll<F: Future>(future: &mut std::pin::Pin<Box<F>>) -> Poll<F::Output> {
    future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn send_hands_over_at_once_and_waits_until_its_value_fits() {
    let (_hub, cell, mut send, _recv) = stream();
    send.send_data(Bytes::from(vec![0; 1000]), false).unwrap();
    let mut sending = Box::pin(send.send(Bytes::from_static(b"next")));
    assert!(
        poll(&mut sending).is_pending(),
        "the buffer of the stream is full"
    );
    let mut out = Outgoing::default();
    assert_eq!(cell.collect(&mut out).queued, 1004);
    assert_eq!(out.data.drain()[1], Bytes::from_static(b"next"));
    cell.took(3);
    assert!(poll(&mut sending).is_pending());
    cell.took(1);
    assert!(matches!(poll(&mut sending), Poll::Ready(Ok(()))));
}

#[test]
fn send_that_is_dropped_leaves_its_value_and_the_next_waits_behind_it() {
    let (_hub, cell, mut send, _recv) = stream();
    assert!(poll(&mut Box::pin(send.send(Bytes::from(vec![1; 5000])))).is_pending());
    assert!(poll(&mut Box::pin(send.send(Bytes::from(vec![2; 10])))).is_pending());
    let mut out = Outgoing::default();
    assert_eq!(cell.collect(&mut out).queued, 5000, "of the second nothing");
    let mut sending = Box::pin(send.send(Bytes::from(vec![3; 10])));
    assert!(poll(&mut sending).is_pending());
    cell.took(4000);
    assert!(
        poll(&mut sending).is_pending(),
        "the first fits, this does not"
    );
    cell.took(10);
    assert!(matches!(poll(&mut sending), Poll::Ready(Ok(()))));
    assert_eq!(cell.collect(&mut out).queued, 10);
    assert_eq!(out.data.drain(), [vec![1; 5000], vec![3; 10]]);
}

#[test]
fn send_that_is_never_polled_sends_nothing() {
    let (_hub, cell, mut send, _recv) = stream();
    drop(send.send(Bytes::from_static(b"never")));
    assert_eq!(cell.collect(&mut Outgoing::default()).queued, 0);
}

#[test]
fn send_of_nothing_does_not_wait() {
    let (_hub, _cell, mut send, _recv) = stream();
    send.send_data(Bytes::from(vec![0; 1000]), false).unwrap();
    assert!(matches!(
        poll(&mut Box::pin(send.send(Bytes::new()))),
        Poll::Ready(Ok(()))
    ));
}

#[test]
fn send_tells_that_the_stream_has_ended() {
    let (_hub, _cell, mut send, _recv) = stream();
    send.send_data(Bytes::new(), true).unwrap();
    let mut sending = Box::pin(send.send(Bytes::from_static(b"late")));
    assert!(matches!(poll(&mut sending), Poll::Ready(Err(error)) if error.as_misuse().is_some()));
}

#[test]
fn data_then_trailers_then_the_end() {
    let (_hub, cell, _send, mut recv) = stream();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(recv.poll_data(&mut cx).is_pending());
    let _ = cell.deliver_data(Bytes::from_static(b"abc"), false);
    let mut trailers = HeaderMap::new();
    trailers.insert("sum", http::HeaderValue::from_static("6"));
    cell.deliver_trailers(trailers);
    assert!(!recv.is_end_stream());
    assert!(matches!(recv.poll_data(&mut cx), Poll::Ready(Some(Ok(data))) if data == "abc"));
    assert!(matches!(recv.poll_data(&mut cx), Poll::Ready(None)));
    let Poll::Ready(Ok(Some(trailers))) = recv.poll_trailers(&mut cx) else {
        panic!("no trailers")
    };
    assert_eq!(trailers["sum"], "6");
    assert!(recv.is_end_stream());
}

#[test]
fn no_more_can_be_released_than_has_arrived() {
    let (_hub, cell, _send, mut recv) = stream();
    let _ = cell.deliver_data(Bytes::from(vec![0; 600]), false);
    let mut flow = recv.flow_control().clone();
    assert_eq!(flow.used_capacity(), 600);
    let read = recv.poll_data(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(read, Poll::Ready(Some(Ok(data))) if data.len() == 600));
    assert_eq!(flow.available_capacity(), 65_535 - 600);
    assert!(
        flow.release_capacity(601)
            .unwrap_err()
            .as_misuse()
            .is_some()
    );
    assert!(flow.release_capacity(usize::MAX).is_err());
    flow.release_capacity(600).unwrap();
    assert_eq!(flow.used_capacity(), 0);
    assert_eq!(cell.collect(&mut Outgoing::default()).released, 600);
    assert_eq!(recv.stream_id(), flow.stream_id());
}

#[test]
fn dropping_a_body_returns_the_credit_of_what_was_not_read() {
    let (_hub, cell, _send, recv) = stream();
    let _ = cell.deliver_data(Bytes::from(vec![0; 600]), false);
    drop(recv);
    assert_eq!(cell.collect(&mut Outgoing::default()).released, 600);
}

#[test]
fn reset_and_priority_reach_the_connection() {
    let (_hub, cell, mut send, _recv) = stream();
    send.set_priority(200, true);
    let priority = cell.collect(&mut Outgoing::default()).priority.unwrap();
    assert_eq!((priority.urgency, priority.incremental), (7, true));
    send.send_reset(Reason::REFUSED_STREAM);
    let news = cell.collect(&mut Outgoing::default());
    assert_eq!(news.reset, Some(Reason::REFUSED_STREAM));
}

#[test]
fn one_ping_at_a_time() {
    let (hub, ..) = stream();
    let mut pings = PingPong::new(hub.shared().clone());
    let mut cx = Context::from_waker(Waker::noop());
    pings.send_ping(Ping::opaque()).unwrap();
    let error = pings.send_ping(Ping::opaque()).unwrap_err();
    assert_eq!(error.as_misuse(), Some(&Misuse::SendPingWhilePending));
    assert!(pings.poll_pong(&mut cx).is_pending());
    assert!(hub.shared().take_ping().is_some());
    hub.shared().pong();
    assert!(matches!(pings.poll_pong(&mut cx), Poll::Ready(Ok(_))));
    pings.send_ping(Ping::opaque()).unwrap();
}

#[test]
fn handles_have_the_auto_traits_of_h2() {
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<SendStream<Bytes>>();
    send_and_sync::<RecvStream>();
    send_and_sync::<super::FlowControl>();
    send_and_sync::<PingPong>();
}
