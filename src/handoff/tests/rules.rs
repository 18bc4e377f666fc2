//! What handles promise their users, one step at a time.

use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Response};

use super::{
    accepted, answering, collect, counting_waker, hub, poll_once, request, response, take_posted,
};
use crate::error::{Error, Initiator, Misuse};
use crate::frame::{Reason, StreamId};
use crate::handoff::room::FLOOR;
use crate::message::Head;
use crate::proto::port::{Delivery, Interest, Port, Ports};

pub(super) fn cancelled() -> Error {
    Error::reset(StreamId::new(1), Reason::CANCEL, Initiator::Remote)
}

pub(super) fn body(bytes: usize) -> Bytes {
    Bytes::from(vec![0; bytes])
}

#[test]
fn data_before_a_reset_is_readable_then_the_error() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    assert_eq!(cell.deliver_data(body(5), false), Delivery::Kept);
    assert_eq!(cell.fail(cancelled()), 5, "its credit returns at once");
    let Poll::Ready(Some(Ok(data))) = poll_once(|cx| reader.poll_data(cx)) else {
        panic!("the data is lost")
    };
    reader.release(data.len()).unwrap();
    assert!(matches!(
        poll_once(|cx| reader.poll_data(cx)),
        Poll::Ready(Some(Err(_)))
    ));
    assert_eq!(
        collect(&cell).0.released,
        0,
        "returned by the reset already"
    );
}

#[test]
fn complete_message_stays_complete_after_a_reset() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    assert_eq!(cell.deliver_data(body(5), true), Delivery::Kept);
    cell.fail(cancelled());
    assert!(matches!(
        poll_once(|cx| reader.poll_data(cx)),
        Poll::Ready(Some(Ok(_)))
    ));
    assert!(matches!(
        poll_once(|cx| reader.poll_data(cx)),
        Poll::Ready(None)
    ));
}

#[test]
fn capacity_is_floor_plus_room_and_no_more_than_asked() {
    let hub = hub(9000);
    let (_cell, writer, _reader) = answering(&hub);
    assert_eq!(writer.capacity(), 0, "nothing was asked for");
    writer.reserve(100);
    assert_eq!(writer.capacity(), 100);
    writer.reserve(1 << 20);
    assert_eq!(writer.capacity(), FLOOR + 6000, "twice what it leaves");
    writer.send_data(body(FLOOR), false).unwrap();
    assert_eq!(writer.capacity(), 6000);
    assert_eq!(hub.shared().room_used(), 0, "the floor costs no room");
    writer.send_data(body(6000), false).unwrap();
    assert_eq!(writer.capacity(), 0);
    assert_eq!(hub.shared().room_used(), 6000);
    let (_cell, late, _reader) = answering(&hub);
    late.reserve(1 << 20);
    assert_eq!(late.capacity(), FLOOR + 2000);
}

#[test]
fn capacity_keeps_to_the_peers_window() {
    let hub = hub(1 << 20);
    hub.set_initial_window(7);
    let (cell, writer, _reader) = answering(&hub);
    writer.reserve(100);
    assert_eq!(writer.capacity(), 7);
    cell.set_credit(-20);
    assert_eq!(writer.capacity(), 0);
    cell.set_credit(2);
    assert_eq!(writer.capacity(), 9);
}

#[test]
fn capacity_is_told_once() {
    let hub = hub(0);
    let (_cell, writer, _reader) = answering(&hub);
    writer.reserve(50);
    assert!(matches!(
        poll_once(|cx| writer.poll_capacity(cx)),
        Poll::Ready(Some(Ok(50)))
    ));
    assert!(poll_once(|cx| writer.poll_capacity(cx)).is_pending());
    writer.reserve(80);
    assert!(matches!(
        poll_once(|cx| writer.poll_capacity(cx)),
        Poll::Ready(Some(Ok(80)))
    ));
}

/// Room goes and comes between what the application sees and when it waits.
#[test]
fn who_has_seen_less_than_it_was_told_hears_of_it_again() {
    let hub = hub(4000);
    let room = hub.shared().room();
    let (_cell, writer, _reader) = answering(&hub);
    writer.reserve(FLOOR + 2000);
    let told = |bytes| Poll::Ready(Some(bytes));
    let poll = || poll_once(|cx| writer.poll_capacity(cx)).map(|told| told.transpose().unwrap());
    assert_eq!(poll(), told(FLOOR + 2000));
    assert_eq!(poll(), Poll::Pending);
    room.charge(3000);
    assert!(writer.capacity() < FLOOR + 2000);
    room.give_back(3000);
    assert_eq!(poll(), told(FLOOR + 2000));
    assert_eq!(poll(), Poll::Pending);
}

#[test]
fn who_gives_capacity_back_hears_of_it_when_it_wants_it_again() {
    let hub = hub(4000);
    let (_cell, writer, _reader) = answering(&hub);
    let poll = || poll_once(|cx| writer.poll_capacity(cx)).map(|told| told.transpose().unwrap());
    writer.reserve(5000);
    assert_eq!(poll(), Poll::Ready(Some(5000)));
    writer.reserve(100);
    assert_eq!(poll(), Poll::Pending);
    writer.reserve(4000);
    writer.reserve(5000);
    assert_eq!(poll(), Poll::Ready(Some(5000)));
    writer.reserve(0);
    writer.reserve(5000);
    assert_eq!(poll(), Poll::Ready(Some(5000)));
}

#[test]
fn producer_short_of_room_is_announced_and_a_grant_lets_it_go_on() {
    let hub = hub(FLOOR);
    let (cell, writer, _reader) = answering(&hub);
    writer.send_data(body(2 * FLOOR), false).unwrap();
    take_posted(hub.shared());
    collect(&cell);
    writer.reserve(10);
    assert!(poll_once(|cx| writer.poll_capacity(cx)).is_pending());
    assert_eq!(take_posted(hub.shared()).len(), 1);
    assert_eq!(collect(&cell).0.interest, Interest::Room);
    cell.grant(FLOOR);
    assert_eq!(writer.capacity(), 0, "a grant is worth what is free");
    assert_eq!(hub.shared().room_used(), FLOOR);
    cell.took(FLOOR);
    assert_eq!(writer.capacity(), 10);
}

#[test]
fn who_uses_none_of_its_capacity_hears_of_more_room() {
    let hub = hub(60_000);
    let (cell, writer, _reader) = answering(&hub);
    hub.set_initial_window(1 << 20);
    hub.shared().room().charge(30_000);
    writer.reserve(50_000);
    let told = FLOOR + 20_000;
    let capacity = poll_once(|cx| writer.poll_capacity(cx));
    assert!(matches!(capacity, Poll::Ready(Some(Ok(bytes))) if bytes == told));
    let woken = std::sync::Arc::new(Noted::default());
    let waker = woken.clone().into();
    let polled = writer.poll_capacity(&Context::from_waker(&waker));
    assert!(polled.is_pending());
    assert_eq!(take_posted(hub.shared()).len(), 1);
    assert_eq!(collect(&cell).0.interest, Interest::MoreRoom);
    assert!(
        !hub.shared().room_is_awaited(),
        "others may still take room directly"
    );
    hub.shared().room().give_back(1500);
    assert!(
        cell.look_for_more() && !woken.take(),
        "no wake-up for crumbs"
    );
    hub.shared().room().give_back(28_500);
    assert!(!cell.look_for_more() && woken.take());
    assert_eq!(writer.capacity(), 50_000);
    assert!(!cell.look_for_more(), "nobody waits any more");
}

#[test]
fn who_holds_its_share_gets_no_more() {
    let hub = hub(12_000);
    let (cell, writer, _reader) = answering(&hub);
    writer.send_data(body(FLOOR + 7999), false).unwrap();
    assert!(cell.takes(hub.free_room()));
    writer.send_data(body(1), false).unwrap();
    assert!(!cell.takes(hub.free_room()));
    cell.took(1);
    assert!(cell.takes(hub.free_room()));
}

/// Whether the waker was woken.
#[derive(Default)]
pub(super) struct Noted(std::sync::atomic::AtomicBool);

impl Noted {
    /// Whether it was woken since this was last asked.
    pub(super) fn take(&self) -> bool {
        self.0.swap(false, std::sync::atomic::Ordering::SeqCst)
    }
}

impl std::task::Wake for Noted {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.store(true, std::sync::atomic::Ordering::SeqCst);
    }
}

#[test]
fn producer_that_asked_just_before_the_room_was_resumed_is_woken() {
    let hub = hub(FLOOR);
    let (_cell, other, _other_reader) = answering(&hub);
    let (cell, writer, _reader) = answering(&hub);
    writer.send_data(body(FLOOR), false).unwrap();
    collect(&cell);
    take_posted(hub.shared());
    hub.shared().room().charge(1);
    hub.shared().room().set_waiting();
    writer.reserve(10);
    let noted = std::sync::Arc::new(Noted(false.into()));
    let waker = std::task::Waker::from(noted.clone());
    let cx = std::task::Context::from_waker(&waker);
    assert!(writer.poll_capacity(&cx).is_pending());
    // Others are served meanwhile, and the flag is cleared.
    hub.shared().room().clear_waiting();
    collect(&cell);
    assert!(noted.0.load(std::sync::atomic::Ordering::SeqCst), "I7");
    assert_eq!(writer.capacity(), 10);
    drop(other);
}

#[test]
fn producer_that_waits_is_woken_by_a_wish_for_what_is_there() {
    let hub = hub(FLOOR);
    let (_cell, writer, _reader) = answering(&hub);
    let noted = std::sync::Arc::new(Noted(false.into()));
    let waker = std::task::Waker::from(noted.clone());
    let cx = std::task::Context::from_waker(&waker);
    assert!(writer.poll_capacity(&cx).is_pending());
    writer.reserve(10);
    assert!(noted.0.load(std::sync::atomic::Ordering::SeqCst), "I7");
}

#[test]
fn producer_that_is_granted_room_is_woken() {
    let hub = hub(FLOOR);
    let (cell, writer, _reader) = answering(&hub);
    writer.send_data(body(2 * FLOOR), false).unwrap();
    writer.reserve(10);
    let noted = std::sync::Arc::new(Noted(false.into()));
    let waker = std::task::Waker::from(noted.clone());
    let cx = std::task::Context::from_waker(&waker);
    assert!(writer.poll_capacity(&cx).is_pending());
    collect(&cell);
    cell.grant(FLOOR);
    assert!(noted.0.load(std::sync::atomic::Ordering::SeqCst), "I7");
}

#[test]
fn content_must_be_what_the_head_announced() {
    let hub = hub(0);
    let (cell, writer, _reader) = accepted(&hub);
    let (parts, ()) = Response::builder()
        .header("content-length", "3")
        .body(())
        .unwrap()
        .into_parts();
    writer
        .send_head(Head::Response(Box::new(parts)), false)
        .unwrap();
    assert!(writer.send_data(body(4), true).is_err());
    writer.send_data(body(2), false).unwrap();
    assert!(
        writer.send_data(body(0), true).is_err(),
        "one octet is missing"
    );
    writer.send_data(body(1), true).unwrap();
    assert_eq!(collect(&cell).0.queued, 3);
}

#[test]
fn order_of_a_message_is_kept() {
    let hub = hub(0);
    let (_cell, writer, _reader) = accepted(&hub);
    let early = writer.send_data(body(1), false).unwrap_err();
    assert_eq!(early.as_misuse(), Some(&Misuse::UnexpectedFrame));
    writer.send_head(response(), false).unwrap();
    let twice = writer.send_head(response(), false).unwrap_err();
    assert_eq!(twice.as_misuse(), Some(&Misuse::HeadSentTwice));
    writer.send_trailers(HeaderMap::new()).unwrap();
    let late = writer.send_data(body(1), false).unwrap_err();
    assert_eq!(late.as_misuse(), Some(&Misuse::InactiveStream));
}

#[test]
fn streams_of_the_peer_are_held_until_the_last_handle_goes() {
    let hub = hub(0);
    let (cell, writer, reader) = accepted(&hub);
    assert_eq!(hub.held(), 1);
    cell.fail(cancelled());
    drop(writer);
    assert_eq!(hub.held(), 1);
    drop(reader);
    assert_eq!(hub.held(), 0);
}

#[test]
fn streams_that_ended_well_are_held_no_longer() {
    let hub = hub(0);
    let (cell, writer, reader) = accepted(&hub);
    let (other, _writer, _reader) = accepted(&hub);
    cell.retire();
    assert_eq!(hub.held(), 1);
    drop((writer, reader));
    assert_eq!(hub.held(), 1, "not twice");
    other.retire();
    assert_eq!(hub.held(), 0);
}

#[test]
fn promises_outlive_the_handle_of_the_body() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    cell.deliver_promise(request(), hub.open_remote(StreamId::new(2)));
    reader.stop_reading();
    cell.deliver_promise(request(), hub.open_remote(StreamId::new(4)));
    for id in [2, 4] {
        let Poll::Ready(Some(Ok(promise))) = poll_once(|cx| reader.poll_promise(cx)) else {
            panic!("promise {id} is lost")
        };
        assert_eq!(promise.reader.id().as_u32(), id);
    }
}

#[test]
fn promises_that_nobody_can_take_are_abandoned() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    let (early, late) = (
        hub.open_remote(StreamId::new(2)),
        hub.open_remote(StreamId::new(4)),
    );
    cell.deliver_promise(request(), early);
    assert_eq!(hub.held(), 2);
    reader.refuse_promises();
    cell.deliver_promise(request(), late);
    assert_eq!(hub.held(), 1, "only the stream itself");
}

#[test]
fn no_informational_response_is_waited_for_once_the_final_one_was_taken() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    cell.deliver_head(response(), false);
    assert!(poll_once(|cx| reader.poll_response(cx)).is_ready());
    assert!(matches!(
        poll_once(|cx| reader.poll_informational(cx)),
        Poll::Ready(None)
    ));
}

#[test]
fn release_of_more_than_is_out_is_refused() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    assert_eq!(cell.deliver_data(body(5), false), Delivery::Kept);
    assert!(reader.release(6).is_err());
    reader.release(2).unwrap();
    assert!(poll_once(|cx| reader.poll_data(cx)).is_ready());
    reader.release(3).unwrap();
    assert!(reader.release(1).is_err());
    assert_eq!(collect(&cell).0.released, 5);
}

#[test]
fn what_was_released_unread_is_not_released_again_when_it_is_dropped() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    assert_eq!(cell.deliver_data(body(5), false), Delivery::Kept);
    reader.release(4).unwrap();
    drop(reader);
    assert_eq!(collect(&cell).0.released, 5);
}

#[test]
fn request_reset_before_it_opens_is_told_to_whoever_adopts_it() {
    let hub = hub(0);
    let (writer, reader) = hub.open_request(request(), false).unwrap();
    writer.send_reset(Reason::CANCEL);
    let mut births = std::collections::VecDeque::new();
    hub.take_births(&mut births);
    births[0].port.adopt(super::KEY);
    assert_eq!(collect(&births[0].port).0.reset, Some(Reason::CANCEL));
    drop((writer, reader));
}

/// Says that it is so long.
struct Says(usize);

impl bytes::Buf for Says {
    fn remaining(&self) -> usize {
        self.0
    }

    fn chunk(&self) -> &[u8] {
        &[]
    }

    fn advance(&mut self, _: usize) {}
}

#[test]
fn a_value_longer_than_any_window_is_refused() {
    let limits = crate::handoff::Limits {
        max_send_buffer: 1 << 20,
        send_room: 0,
        recv_window: 65_535,
    };
    let hub = crate::handoff::Hub::<Says>::new(StreamId::new(1), limits);
    let (writer, _reader) = hub.open_request(request(), false).unwrap();
    let refused = writer.send_data(Says(1 << 31), true).unwrap_err();
    assert_eq!(refused.as_misuse(), Some(&Misuse::PayloadTooBig));
    assert!(writer.send_data(Says((1 << 31) - 1), true).is_ok());
}

#[test]
fn who_waits_for_promises_hears_of_the_end() {
    let ends: [fn(&crate::handoff::Cell<Bytes>); 3] = [
        |cell| cell.deliver_head(response(), true),
        |cell| assert_eq!(cell.deliver_data(Bytes::new(), true), Delivery::Kept),
        |cell| cell.deliver_trailers(HeaderMap::new()),
    ];
    for end in ends {
        let hub = hub(0);
        let (cell, _writer, reader) = accepted(&hub);
        let (waker, woken) = counting_waker();
        let polled = reader.poll_promise(&Context::from_waker(&waker));
        assert!(polled.is_pending());
        end(&cell);
        assert_eq!(woken.count(), 1);
        assert!(matches!(
            poll_once(|cx| reader.poll_promise(cx)),
            Poll::Ready(None)
        ));
    }
}

#[test]
fn an_answer_to_head_announces_what_it_does_not_carry() {
    let hub = hub(0);
    for (method, is_whole) in [(http::Method::HEAD, true), (http::Method::GET, false)] {
        let (cell, writer, _reader) = accepted(&hub);
        let mut asked = request();
        asked.method = method;
        cell.deliver_head(Head::Request(asked), true);
        let response = Response::builder().header("content-length", "3").body(());
        let (parts, ()) = response.unwrap().into_parts();
        let sent = writer.send_head(Head::Response(Box::new(parts)), true);
        assert_eq!(sent.is_ok(), is_whole);
    }
}

#[test]
fn who_waits_for_a_slot_is_woken_by_it_and_by_the_end() {
    let ends: [fn(&crate::handoff::Cell<Bytes>); 3] = [
        |cell| cell.opened(),
        |cell| assert_eq!(cell.fail(cancelled()), 0),
        |cell| cell.stop_sending(Reason::NO_ERROR),
    ];
    for end in ends {
        let hub = hub(0);
        let (writer, _reader) = hub.open_request(request(), true).unwrap();
        let mut births = std::collections::VecDeque::new();
        hub.take_births(&mut births);
        let unopened = writer.unopened();
        let (waker, woken) = counting_waker();
        assert!(unopened.is_waiting());
        let polled = unopened.poll_opened(&Context::from_waker(&waker));
        assert!(polled.is_pending());
        end(&births[0].port);
        assert_eq!(woken.count(), 1);
        assert!(!unopened.is_waiting());
        assert!(poll_once(|cx| unopened.poll_opened(cx)).is_ready());
    }
}

#[test]
fn informational_responses_come_in_order_to_who_waits_for_them() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    let (waker, woken) = counting_waker();
    let polled = reader.poll_informational(&Context::from_waker(&waker));
    assert!(polled.is_pending());
    for status in [102, 103] {
        let response = Response::builder().status(status).body(()).unwrap();
        let (parts, ()) = response.into_parts();
        cell.deliver_head(Head::Informational(Box::new(parts)), false);
    }
    assert_eq!(woken.count(), 1, "it was asked for once");
    for status in [102, 103] {
        let polled = poll_once(|cx| reader.poll_informational(cx));
        let Poll::Ready(Some(Ok(response))) = polled else {
            panic!("{status} is lost")
        };
        assert_eq!(response.status(), status);
    }
    assert!(poll_once(|cx| reader.poll_informational(cx)).is_pending());
}

#[test]
fn what_is_sent_beyond_the_capacity_is_counted() {
    let hub = hub(9000);
    let (_cell, writer, _reader) = answering(&hub);
    // Nothing was reserved, but there is space for it: the floor, and two thirds of the room.
    writer.send_data(body(FLOOR + 6000), false).unwrap();
    assert_eq!(hub.shared().beyond_capacity(), 0);
    writer.send_data(body(10), false).unwrap();
    assert_eq!(hub.shared().beyond_capacity(), 10);
    hub.set_initial_window(5);
    let (_cell, late, _reader) = answering(&hub);
    late.send_data(body(12), true).unwrap();
    assert_eq!(
        hub.shared().beyond_capacity(),
        10 + 7,
        "the window is short"
    );
    assert!(late.send_data(body(100), false).is_err());
    assert_eq!(hub.shared().beyond_capacity(), 10 + 7);
}

#[test]
fn send_brings_nothing_beyond_the_capacity() {
    let hub = hub(9000);
    let (_cell, writer, _reader) = answering(&hub);
    let mut value = Some(body(10 * FLOOR));
    assert!(poll_once(|cx| writer.poll_send(cx, &mut value)).is_pending());
    assert_eq!(hub.shared().beyond_capacity(), 0);
}

#[test]
fn an_empty_piece_makes_no_frame() {
    let hub = hub(0);
    let (cell, writer, _reader) = answering(&hub);
    writer.send_data(body(0), false).unwrap();
    let (_, out) = collect(&cell);
    assert!(out.data.is_empty() && !out.end);
    writer.send_data(body(0), true).unwrap();
    let (_, out) = collect(&cell);
    assert!(out.data.is_empty() && out.end);
}

#[test]
fn a_reset_of_what_has_failed_changes_nothing() {
    let hub = hub(0);
    let (cell, writer, _reader) = answering(&hub);
    assert_eq!(cell.fail(cancelled()), 0);
    writer.send_reset(Reason::INTERNAL_ERROR);
    assert_eq!(collect(&cell).0.reset, None);
    let polled = poll_once(|cx| writer.poll_reset(cx, crate::handoff::PollReset::Streaming));
    assert!(matches!(polled, Poll::Ready(Ok(Reason::CANCEL))));
}

#[test]
fn who_has_answered_asks_the_stream_for_resets_and_not_the_answer() {
    use crate::handoff::PollReset;
    let hub = hub(0);
    let (_cell, writer, _reader) = accepted(&hub);
    let poll = |mode| poll_once(|cx| writer.poll_reset(cx, mode));
    assert!(poll(PollReset::AwaitingHeaders).is_pending());
    writer.send_head(response(), false).unwrap();
    assert!(matches!(
        poll(PollReset::AwaitingHeaders),
        Poll::Ready(Err(_))
    ));
    assert!(poll(PollReset::Streaming).is_pending());
}

#[test]
fn who_waits_for_capacity_is_not_woken_by_what_brings_none() {
    let hub = hub(0);
    let (cell, writer, _reader) = answering(&hub);
    writer.send_data(body(2 * FLOOR), false).unwrap();
    collect(&cell);
    writer.reserve(10);
    let (waker, woken) = counting_waker();
    let polled = writer.poll_capacity(&Context::from_waker(&waker));
    assert!(polled.is_pending());
    cell.set_credit(1000);
    cell.took(10);
    assert_eq!(woken.count(), 0, "it is beyond its floor still");
    cell.took(FLOOR);
    assert_eq!(woken.count(), 1);
}

#[test]
fn who_wants_no_capacity_asks_for_no_room() {
    let hub = hub(FLOOR);
    hub.shared().room().charge(FLOOR);
    let (cell, writer, _reader) = answering(&hub);
    writer.send_data(body(FLOOR), false).unwrap();
    collect(&cell);
    take_posted(hub.shared());
    assert!(poll_once(|cx| writer.poll_capacity(cx)).is_pending());
    assert!(take_posted(hub.shared()).is_empty() && !hub.shared().room_is_awaited());
    writer.reserve(1);
    assert!(poll_once(|cx| writer.poll_capacity(cx)).is_pending());
    assert!(hub.shared().room_is_awaited());
    assert_eq!(collect(&cell).0.interest, Interest::Room);
}

#[test]
fn whose_window_is_used_up_asks_for_no_room() {
    let hub = hub(FLOOR);
    hub.set_initial_window(FLOOR as u32);
    hub.shared().room().charge(FLOOR);
    let (cell, writer, _reader) = answering(&hub);
    writer.send_data(body(FLOOR), false).unwrap();
    collect(&cell);
    take_posted(hub.shared());
    writer.reserve(1);
    assert!(poll_once(|cx| writer.poll_capacity(cx)).is_pending());
    assert!(take_posted(hub.shared()).is_empty() && !hub.shared().room_is_awaited());
    cell.set_credit(1);
    assert_eq!(take_posted(hub.shared()).len(), 1, "I7");
    assert!(hub.shared().room_is_awaited());
    assert_eq!(collect(&cell).0.interest, Interest::Room);
}

#[test]
fn what_the_floor_covers_needs_no_room() {
    let hub = hub(FLOOR);
    hub.shared().room().charge(FLOOR);
    let (_cell, writer, _reader) = answering(&hub);
    writer.reserve(FLOOR);
    for is_new in [true, false] {
        let polled = poll_once(|cx| writer.poll_capacity(cx));
        assert_eq!(polled.is_ready(), is_new);
    }
    assert!(take_posted(hub.shared()).is_empty() && !hub.shared().room_is_awaited());
}

#[test]
fn nothing_is_promised_to_a_peer_that_takes_no_push() {
    let hub = hub(0);
    let parent = StreamId::new(1);
    assert!(hub.open_promise(parent, request()).is_ok());
    hub.shared().set_push(false);
    let refused = hub.open_promise(parent, request()).unwrap_err();
    assert_eq!(refused.as_misuse(), Some(&Misuse::PeerDisabledServerPush));
}

#[test]
fn handles_read_what_the_task_has_written() {
    let hub = hub(0);
    let shared = hub.shared();
    for count in [0, 1, 7] {
        shared.set_max_send_streams(count + 1);
        shared.set_max_recv_streams(count + 2);
        shared.set_active_streams(count + 3);
        shared.set_wired_streams(count + 4);
        shared.set_extended_connect(count == 1);
        assert_eq!(shared.max_send_streams(), count + 1);
        assert_eq!(shared.max_recv_streams(), count + 2);
        assert_eq!(shared.active_streams(), count + 3);
        #[cfg(feature = "unstable")]
        assert_eq!(shared.wired_streams(), count + 4);
        assert_eq!(shared.extended_connect(), count == 1);
    }
}

#[test]
fn what_is_too_little_for_a_frame_is_nobodys_share() {
    for (room, share) in [(1, 0), (1535, 0), (1536, 1024), (1537, 1024)] {
        assert_eq!(hub(room).shared().room().direct(0), share, "of {room}");
    }
}

#[test]
fn the_direct_way_is_closed_from_where_less_than_a_quarter_is_left() {
    let hub = hub(16 * FLOOR);
    let room = hub.shared().room();
    room.charge(12 * FLOOR);
    room.set_waiting();
    assert!(!hub.shared().room_is_awaited());
    room.charge(1);
    room.set_waiting();
    assert!(hub.shared().room_is_awaited());
    assert_eq!(room.direct(0), 0);
}

#[test]
fn the_task_hears_once_that_it_woke_a_producer() {
    let hub = hub(0);
    let (cell, writer, _reader) = answering(&hub);
    writer.send_data(body(FLOOR), false).unwrap();
    writer.reserve(10);
    assert!(!hub.shared().take_resumed());
    cell.took(10);
    assert!(!hub.shared().take_resumed(), "nobody waited");
    cell.set_credit(-100_000);
    assert!(poll_once(|cx| writer.poll_capacity(cx)).is_pending());
    cell.set_credit(0);
    assert!(hub.shared().take_resumed());
    assert!(!hub.shared().take_resumed());
}

#[test]
fn what_is_left_of_the_window_is_told_as_the_task_has_set_it() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    assert_eq!(cell.deliver_data(body(5), false), Delivery::Kept);
    for window in [65_535, 100, 3] {
        hub.shared().set_recv_window(window);
        assert_eq!(reader.available_capacity(), window as isize - 5);
    }
}

#[test]
fn who_asks_whether_streams_can_be_opened_hears_of_the_end() {
    let hub = hub(0);
    assert!(hub.check_open().is_ok());
    hub.close(cancelled());
    assert!(hub.check_open().is_err());
    assert!(hub.open_request(request(), true).is_err());
    let last = StreamId::new(0x7fff_ffff);
    let limits = crate::handoff::Limits {
        max_send_buffer: 1 << 20,
        send_room: 0,
        recv_window: 65_535,
    };
    let hub = crate::handoff::Hub::<Bytes>::new(last, limits);
    assert!(hub.open_request(request(), true).is_ok());
    let refused = hub.check_open().unwrap_err();
    assert_eq!(refused.as_misuse(), Some(&Misuse::OverflowedStreamId));
}

#[test]
fn who_waits_for_informational_responses_hears_of_the_final_one_and_of_the_end() {
    let ends: [fn(&crate::handoff::Cell<Bytes>); 2] = [
        |cell| cell.deliver_head(response(), false),
        |cell| assert_eq!(cell.fail(cancelled()), 0),
    ];
    for end in ends {
        let hub = hub(0);
        let (cell, _writer, reader) = accepted(&hub);
        let (waker, woken) = counting_waker();
        let polled = reader.poll_informational(&Context::from_waker(&waker));
        assert!(polled.is_pending());
        end(&cell);
        assert_eq!(woken.count(), 1);
        assert!(poll_once(|cx| reader.poll_informational(cx)).is_ready());
    }
}

#[test]
fn a_promise_brings_its_request_and_is_answered_like_it() {
    for (method, is_whole) in [(http::Method::HEAD, true), (http::Method::GET, false)] {
        let hub = hub(0);
        let mut asked = request();
        asked.method = method.clone();
        let writer = hub.open_promise(StreamId::new(1), asked).unwrap();
        let mut births = std::collections::VecDeque::new();
        hub.take_births(&mut births);
        let (_, mut out) = collect(&births[0].port);
        let head = out.heads.pop_front();
        assert!(matches!(head, Some(Head::Request(parts)) if parts.method == method));
        let response = Response::builder().header("content-length", "3").body(());
        let (parts, ()) = response.unwrap().into_parts();
        let sent = writer.send_head(Head::Response(Box::new(parts)), true);
        assert_eq!(sent.is_ok(), is_whole);
    }
}

#[test]
fn a_stream_that_has_failed_stays_so_whatever_stops_it_later() {
    let hub = hub(0);
    let (cell, writer, _reader) = answering(&hub);
    cell.fail(cancelled());
    cell.stop_sending(Reason::NO_ERROR);
    cell.fail(Error::reset(
        StreamId::new(1),
        Reason::INTERNAL_ERROR,
        Initiator::User,
    ));
    let failed = writer.send_data(body(1), false).unwrap_err();
    assert_eq!(failed.reason(), Some(Reason::CANCEL));
}

#[test]
fn who_waits_for_trailers_is_woken_by_whoever_reads_the_last_of_the_body() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    let (waker, woken) = counting_waker();
    let read = || poll_once(|cx| reader.poll_data(cx));
    assert_eq!(cell.deliver_data(body(1), false), Delivery::Kept);
    let wait = || reader.poll_trailers(&Context::from_waker(&waker));
    assert!(wait().is_pending());
    assert!(read().is_ready());
    assert_eq!(woken.count(), 0, "more may come");
    for _ in 0..2 {
        assert_eq!(cell.deliver_data(body(300), false), Delivery::Kept);
    }
    cell.deliver_trailers(HeaderMap::new());
    assert!(wait().is_pending());
    let before = woken.count();
    assert!(read().is_ready());
    assert_eq!(woken.count(), before, "one piece is left");
    assert!(read().is_ready());
    assert_eq!(woken.count(), before + 1, "I7");
    assert!(matches!(wait(), Poll::Ready(Ok(None))));
}

#[test]
fn the_end_is_seen_once_all_is_read_and_not_before() {
    let hub = hub(0);
    let (cell, _writer, reader) = accepted(&hub);
    assert!(!reader.is_end_stream(), "nothing has come yet");
    assert_eq!(cell.deliver_data(body(1), false), Delivery::Kept);
    let mut trailers = HeaderMap::new();
    trailers.insert("checksum", "0".parse().unwrap());
    cell.deliver_trailers(trailers);
    assert!(!reader.is_end_stream(), "nothing is read yet");
    assert!(poll_once(|cx| reader.poll_data(cx)).is_ready());
    assert!(!reader.is_end_stream(), "the trailers are left");
    assert!(poll_once(|cx| reader.poll_trailers(cx)).is_ready());
    assert!(reader.is_end_stream());
}

#[test]
fn handles_are_shown_with_the_id_of_their_stream() {
    let hub = hub(0);
    let (_cell, writer, _reader) = accepted(&hub);
    let id = format!("stream_id: {:?}", writer.id());
    assert!(format!("{writer:?}").contains(&id));
}
