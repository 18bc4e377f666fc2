//! Races of the send room's one word.

use super::{model, spawn};
use crate::handoff::room::Room;
use crate::sync::Arc;

const LIMIT: usize = 8192;

#[test]
fn loom_direct_take_against_waiter() {
    model(|| {
        let room = Arc::new(Room::new(LIMIT));
        room.charge(LIMIT);
        room.set_waiting();
        let taker = Arc::clone(&room);
        let direct = spawn(move || taker.direct(0));
        room.give_back(LIMIT);
        assert_eq!(
            direct.join().unwrap(),
            0,
            "what is given back while somebody waits is his"
        );
        assert_eq!(room.free(), LIMIT);
    });
}

#[test]
fn loom_enqueue_against_destroy_with_the_flag() {
    model(|| {
        let room = Arc::new(Room::new(LIMIT));
        room.charge(LIMIT);
        let waiter = Arc::clone(&room);
        let enqueue = spawn(move || waiter.set_waiting());
        room.give_back(LIMIT / 2);
        enqueue.join().unwrap();
        assert_eq!(
            room.direct(0),
            0,
            "half is too little to open the way again"
        );
        room.clear_waiting();
        assert!(room.direct(0) > 0);
    });
}

#[test]
fn loom_two_producers_charge_what_they_add() {
    model(|| {
        let room = Arc::new(Room::new(LIMIT));
        let other = Arc::clone(&room);
        let producer = spawn(move || other.charge(3));
        room.charge(4);
        producer.join().unwrap();
        assert_eq!(room.used(), 7);
        room.give_back(7);
        assert_eq!(room.used(), 0);
    });
}

#[test]
fn loom_two_sends_never_exceed_the_limit() {
    model(|| {
        let room = Arc::new(Room::new(LIMIT));
        let other = Arc::clone(&room);
        let send = spawn(move || usize::from(other.take(3000, 0, LIMIT)));
        let both = usize::from(room.take(6000, 0, LIMIT)) + send.join().unwrap();
        assert_eq!(both, 1, "one of them finds no room");
        assert!(room.used() <= LIMIT);
    });
}
