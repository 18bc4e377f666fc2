//! The numbers that users read.

use super::pair::Pair;
use crate::proto::Config;
use crate::proto::settle::QUANTUM;

#[test]
fn statistics_tell_what_is_alive_what_waits_and_what_was_sent() {
    let mut pair = Pair::new(Config::default(), Config::default());
    let config = pair.server.conn.stats();
    let hand = pair.client.get("/");
    pair.step();
    let answer = pair.at_server(&hand);
    answer.respond(200, false);
    answer.send(vec![0; 100_000], true);
    pair.server.collect();
    let before = pair.server.conn.stats();
    assert_eq!(before.streams_alive, 1);
    assert_eq!(before.waiting_for_heads, 1);
    assert_eq!(before.room_used, 100_000);
    let out = pair.server.output();
    let after = pair.server.conn.stats();
    assert_eq!(
        after.waiting_for_credit + after.waiting_for_turn,
        0,
        "its own window is used up"
    );
    assert_eq!(after.batches, before.batches + 1);
    assert_eq!(after.bytes_sent, before.bytes_sent + out.len() as u64);
    let frames = super::pair::frames(out).len() as u64;
    assert_eq!(after.frames_sent, before.frames_sent + frames);
    assert_eq!(after.room_used, 100_000 - 65_535);
    assert!(after.turns > config.turns);
}

#[test]
fn a_turn_that_finds_nothing_is_counted() {
    let mut pair = Pair::new(Config::default(), Config::default());
    pair.drive();
    let before = pair.server.conn.stats();
    pair.server.output();
    let after = pair.server.conn.stats();
    assert_eq!(after.turns, before.turns + 1);
    assert_eq!(after.idle_turns, before.idle_turns + 1);
}

#[test]
fn grants_are_counted_with_those_that_wait() {
    let config = Config {
        send_room: QUANTUM,
        ..Config::default()
    };
    let mut pair = Pair::new(Config::default(), config);
    let hands = [pair.client.get("/"), pair.client.get("/")];
    pair.step();
    let [first, second] = hands.map(|hand| pair.at_server(&hand));
    first.respond(200, false);
    first.send(vec![0; 100_000], false);
    second.want_room();
    pair.server.collect();
    assert_eq!(pair.server.conn.stats().waiting_for_room, 1);
    first.abandon();
    pair.server.collect();
    let stats = pair.server.conn.stats();
    assert_eq!(
        (
            stats.waiting_for_room,
            stats.room_grants,
            stats.resumed_by_end
        ),
        (0, 1, 1)
    );
}

#[test]
fn only_small_payloads_are_copied_and_they_are_counted() {
    let mut pair = Pair::new(Config::default(), Config::default());
    for (length, copied) in [(100, 100), (20_000, 0)] {
        let hand = pair.client.get("/");
        pair.step();
        let before = pair.server.conn.stats();
        let answer = pair.at_server(&hand);
        answer.respond(200, false);
        answer.send(vec![0; length], true);
        pair.drive();
        let after = pair.server.conn.stats();
        assert_eq!(after.data_sent - before.data_sent, length as u64);
        assert_eq!(after.data_copied - before.data_copied, copied);
    }
}

/// Whether a server counts it that it sleeps after `act`.
fn is_stalled(act: impl FnOnce(&mut Pair, &super::pair::Hand)) -> bool {
    let mut pair = Pair::new(Config::default(), Config::default());
    let hand = pair.client.get("/");
    pair.step();
    let answer = pair.at_server(&hand);
    answer.respond(200, false);
    pair.drive();
    act(&mut pair, &answer);
    pair.server.collect();
    pair.server.conn.fall_asleep();
    pair.server.conn.stats().stalled_turns == 1
}

#[test]
fn sleeping_on_what_could_be_sent_is_counted() {
    assert!(is_stalled(|_, answer| answer.send(vec![0; 10], false)));
    assert!(is_stalled(
        |_, answer| answer.send_trailers(http::HeaderMap::new())
    ));
    assert!(is_stalled(
        |_, answer| answer.reset(crate::frame::Reason::CANCEL)
    ));
    assert!(!is_stalled(|_, _| {}));
    let uses_up_the_window = |pair: &mut Pair, answer: &super::pair::Hand| {
        answer.send(vec![0; 65_535], false);
        pair.server.collect();
        pair.server.output();
        answer.send(vec![0; 10], false);
    };
    assert!(!is_stalled(uses_up_the_window), "both windows are shut");
}

#[test]
fn streams_that_end_well_are_counted() {
    let mut pair = Pair::new(Config::default(), Config::default());
    for count in 1..=3 {
        let hand = pair.client.get("/");
        pair.step();
        pair.at_server(&hand).respond(200, true);
        pair.drive();
        assert_eq!(pair.server.conn.stats().streams_completed, count);
        assert_eq!(pair.client.conn.stats().streams_completed, count);
    }
    assert_eq!(pair.server.conn.stats().streams_alive, 0);
    let _alive = [pair.client.get("/"), pair.client.get("/")];
    pair.step();
    assert_eq!(pair.server.conn.stats().streams_alive, 2);
}
