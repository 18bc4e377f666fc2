//! What `send` promises: its value is on offer until what is left of it fits.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::rules::{Noted, body, cancelled};
use super::{Cell, Hub, Reader, Writer, accepted, answering, collect, hub, take_posted};
use crate::error::Misuse;
use crate::handoff::room::FLOOR;
use crate::proto::port::{Interest, Port, Ports};

/// A `send`, polled by hand.
struct Sending {
    writer: Writer<Bytes>,
    data: Option<Bytes>,
    noted: Arc<Noted>,
}

impl Sending {
    fn new(writer: &Writer<Bytes>, data: Bytes) -> Sending {
        Sending {
            writer: writer.clone(),
            data: Some(data),
            noted: Arc::default(),
        }
    }

    fn poll(&mut self) -> Poll<Result<(), crate::error::Error>> {
        let waker = Waker::from(Arc::clone(&self.noted));
        let cx = Context::from_waker(&waker);
        self.writer.poll_send(&cx, &mut self.data)
    }

    /// That it waits now, and whether it was woken since it last did.
    fn was_woken(&self) -> bool {
        self.noted.take()
    }
}

fn stream(room: usize) -> (Hub<Bytes>, Cell<Bytes>, Writer<Bytes>, Reader) {
    let hub = hub(room);
    hub.set_initial_window(1 << 30);
    let (cell, writer, reader) = answering(&hub);
    (hub, cell, writer, reader)
}

#[test]
fn a_value_that_fits_is_ready_at_once() {
    let (hub, cell, writer, _reader) = stream(FLOOR);
    let value = body(FLOOR + FLOOR / 2);
    assert!(matches!(
        Sending::new(&writer, value).poll(),
        Poll::Ready(Ok(()))
    ));
    assert_eq!(hub.shared().room_used(), FLOOR / 2, "its share of the room");
    assert_eq!(take_posted(hub.shared()).len(), 1);
    assert_eq!(collect(&cell).0.queued, FLOOR + FLOOR / 2);
}

#[test]
fn a_value_that_does_not_fit_is_there_for_the_task_and_charged_to_nobody() {
    let (hub, cell, writer, _reader) = stream(0);
    let mut sending = Sending::new(&writer, body(5 * FLOOR));
    assert!(sending.poll().is_pending());
    let (news, mut outgoing) = collect(&cell);
    assert_eq!((news.queued, outgoing.data.drain().len()), (5 * FLOOR, 1));
    assert_eq!(news.interest, Interest::None, "no grant could cover it");
    assert_eq!(hub.shared().room_used(), 0);
    for _ in 0..3 {
        cell.took(FLOOR);
        assert!(!sending.was_woken() && sending.poll().is_pending());
    }
    cell.took(FLOOR);
    assert!(sending.was_woken(), "I7");
    assert!(matches!(sending.poll(), Poll::Ready(Ok(()))));
    assert_eq!(hub.shared().room_used(), 0);
}

#[test]
fn a_value_that_leaves_all_at_once_was_sent() {
    let (_hub, cell, writer, _reader) = stream(0);
    let mut sending = Sending::new(&writer, body(5 * FLOOR));
    assert!(sending.poll().is_pending());
    collect(&cell);
    cell.took(5 * FLOOR);
    assert!(sending.was_woken(), "I7");
    assert!(matches!(sending.poll(), Poll::Ready(Ok(()))));
}

#[test]
fn a_value_longer_than_the_window_goes_on_with_it() {
    let (hub, cell, writer, _reader) = stream(0);
    hub.set_initial_window(10);
    let mut sending = Sending::new(&writer, body(25));
    assert!(sending.poll().is_pending());
    for credit in [10, 20] {
        cell.took(10);
        cell.set_credit(credit);
    }
    assert!(sending.was_woken(), "I7");
    assert!(matches!(sending.poll(), Poll::Ready(Ok(()))));
}

#[test]
fn capacity_is_none_while_a_value_is_on_offer() {
    let (_hub, cell, writer, _reader) = stream(0);
    writer.reserve(100);
    assert!(Sending::new(&writer, body(2 * FLOOR)).poll().is_pending());
    writer.reserve(100);
    assert_eq!(writer.capacity(), 0);
    cell.took(FLOOR + 100);
    assert_eq!(writer.capacity(), 100);
}

#[test]
fn a_value_that_only_lacks_room_asks_and_a_grant_admits_it() {
    let (hub, cell, writer, _reader) = stream(FLOOR);
    let mut sending = Sending::new(&writer, body(2 * FLOOR));
    assert!(sending.poll().is_pending(), "more than its share");
    assert_eq!(collect(&cell).0.interest, Interest::Room);
    assert!(
        hub.shared().room().direct(0) > 0,
        "for others there is some"
    );
    cell.grant(FLOOR);
    assert!(sending.was_woken(), "I7");
    assert!(matches!(sending.poll(), Poll::Ready(Ok(()))));
    assert_eq!(hub.shared().room_used(), FLOOR);
}

#[test]
fn whoever_waits_while_little_is_left_closes_the_direct_way() {
    let (hub, _cell, writer, _reader) = stream(2 * FLOOR);
    hub.shared().room().charge(FLOOR + 1);
    assert!(hub.shared().room().direct(0) > 0);
    assert!(Sending::new(&writer, body(2 * FLOOR)).poll().is_pending());
    assert_eq!(hub.shared().room().direct(0), 0);
    hub.shared().room().give_back(FLOOR + 1);
    assert_eq!(hub.shared().room().direct(0), 0, "it is for who waits");
    hub.room_resumed();
    assert!(hub.shared().room().direct(0) > 0);
}

#[test]
fn what_becomes_short_of_room_while_it_waits_asks_without_its_producer() {
    let (hub, cell, writer, _reader) = stream(FLOOR);
    hub.set_initial_window(0);
    let mut sending = Sending::new(&writer, body(2 * FLOOR));
    assert!(sending.poll().is_pending());
    assert_eq!(
        collect(&cell).0.interest,
        Interest::None,
        "the window is short"
    );
    take_posted(hub.shared());
    hub.set_initial_window(1 << 20);
    cell.window_opened();
    assert_eq!(take_posted(hub.shared()).len(), 1, "I7");
    assert!(!sending.was_woken(), "there is nothing for it to do");
    assert_eq!(collect(&cell).0.interest, Interest::Room);
}

#[test]
fn a_grant_that_others_were_faster_to_use_is_asked_for_anew() {
    let (hub, cell, writer, _reader) = stream(FLOOR);
    let mut sending = Sending::new(&writer, body(2 * FLOOR));
    assert!(sending.poll().is_pending());
    collect(&cell);
    take_posted(hub.shared());
    hub.shared().room().charge(FLOOR);
    cell.grant(FLOOR);
    assert!(!sending.was_woken());
    assert_eq!(take_posted(hub.shared()).len(), 1);
    assert_eq!(collect(&cell).0.interest, Interest::Room);
    assert_eq!(hub.shared().room_used(), FLOOR, "the limit is kept");
}

#[test]
fn a_grant_admits_a_value_whatever_others_hold_while_that_much_is_free() {
    let (hub, cell, writer, _reader) = stream(4 * FLOOR);
    hub.shared().room().charge(3 * FLOOR);
    let mut sending = Sending::new(&writer, body(2 * FLOOR));
    assert!(sending.poll().is_pending());
    cell.grant(FLOOR);
    assert!(sending.was_woken(), "I7");
    assert!(matches!(sending.poll(), Poll::Ready(Ok(()))));
    assert_eq!(hub.shared().room_used(), 4 * FLOOR);
}

#[test]
fn a_value_behind_one_that_nobody_awaits_any_more_is_handed_over_once_that_fits() {
    let (hub, cell, writer, _reader) = stream(4 * FLOOR);
    hub.shared().room().charge(4 * FLOOR);
    let mut first = Sending::new(&writer, body(2 * FLOOR));
    assert!(first.poll().is_pending());
    assert_eq!(collect(&cell).0.interest, Interest::Room);
    // Others let go of their room, and the same task sends the next value before any is granted.
    hub.room_resumed();
    hub.shared().room().give_back(4 * FLOOR);
    let mut next = Sending::new(&writer, body(4 * FLOOR));
    next.noted = first.noted;
    assert!(next.poll().is_pending());
    assert_eq!(hub.shared().room_used(), FLOOR, "the first is admitted");
    assert_eq!(collect(&cell).0.queued, 4 * FLOOR, "and the next on offer");
    cell.took(6 * FLOOR);
    assert!(next.was_woken(), "I7");
    assert!(matches!(next.poll(), Poll::Ready(Ok(()))));
}

#[test]
fn the_message_must_be_whole_for_send_too() {
    let (_hub, _cell, writer, _reader) = stream(0);
    writer.send_data(body(1), true).unwrap();
    let Poll::Ready(Err(late)) = Sending::new(&writer, body(1)).poll() else {
        panic!("accepted after the end")
    };
    assert_eq!(late.as_misuse(), Some(&Misuse::InactiveStream));
    let hub = hub(0);
    let (_cell, writer, _reader) = accepted(&hub);
    let Poll::Ready(Err(early)) = Sending::new(&writer, body(1)).poll() else {
        panic!("accepted before the head")
    };
    assert_eq!(early.as_misuse(), Some(&Misuse::UnexpectedFrame));
}

#[test]
fn a_reset_ends_a_send_that_waits_and_leaves_nothing_charged() {
    let (hub, cell, writer, _reader) = stream(FLOOR);
    writer.send_data(body(FLOOR + 100), false).unwrap();
    let mut sending = Sending::new(&writer, body(5 * FLOOR));
    assert!(sending.poll().is_pending());
    cell.fail(cancelled());
    assert!(sending.was_woken(), "I7");
    assert!(matches!(sending.poll(), Poll::Ready(Err(_))));
    assert_eq!(hub.shared().room_used(), 0);
    assert!(matches!(
        Sending::new(&writer, body(1)).poll(),
        Poll::Ready(Err(_))
    ));
}

#[test]
fn empty_values_are_kept_nowhere_and_wait_behind_what_is_on_offer() {
    let (_hub, cell, writer, _reader) = stream(0);
    for _ in 0..100 {
        assert!(Sending::new(&writer, Bytes::new()).poll().is_ready());
    }
    assert!(collect(&cell).1.data.is_empty());
    let mut long = Sending::new(&writer, body(2 * FLOOR));
    assert!(long.poll().is_pending());
    let mut empty = Sending::new(&writer, Bytes::new());
    assert!(empty.poll().is_pending());
    assert_eq!(collect(&cell).1.data.len(), 1);
    cell.took(FLOOR);
    assert!(empty.was_woken() && empty.poll().is_ready());
    writer.send_data(Bytes::new(), true).unwrap();
    let late = Sending::new(&writer, Bytes::new()).poll();
    assert!(matches!(late, Poll::Ready(Err(_))), "{late:?}");
}
