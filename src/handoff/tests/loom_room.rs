//! Races of the send room's one word.

use super::{model, spawn};
use crate::handoff::room::Room;
use crate::sync::Arc;

#[test]
fn loom_direct_take_against_waiter() {
    model(|| {
        let room = Arc::new(Room::new(10));
        room.charge(10);
        room.set_waiting();
        let taker = Arc::clone(&room);
        let direct = spawn(move || taker.direct());
        room.give_back(10);
        assert_eq!(
            direct.join().unwrap(),
            0,
            "what is given back while somebody waits is his"
        );
        assert_eq!(room.free(), 10);
    });
}

#[test]
fn loom_enqueue_against_destroy_with_the_flag() {
    model(|| {
        let room = Arc::new(Room::new(10));
        room.charge(10);
        let waiter = Arc::clone(&room);
        let enqueue = spawn(move || waiter.set_waiting());
        room.give_back(10);
        enqueue.join().unwrap();
        assert_eq!(room.direct(), 0);
        room.clear_waiting();
        assert_eq!(room.direct(), 10);
    });
}

#[test]
fn loom_two_producers_charge_what_they_add() {
    model(|| {
        let room = Arc::new(Room::new(10));
        let other = Arc::clone(&room);
        let producer = spawn(move || other.charge(3));
        room.charge(4);
        producer.join().unwrap();
        assert_eq!(room.used(), 7);
        room.give_back(7);
        assert_eq!(room.used(), 0);
    });
}
