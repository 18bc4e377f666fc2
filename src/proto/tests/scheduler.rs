//! Fair order: quanta, levels, the window that opens in small steps, send room.

use super::load::Load;
use super::pair::Hand;
use super::script::{Script, client, data_of, id, server};
use crate::frame::{Frame, PriorityUpdate, Reason, Setting};
use crate::proto::batch::Batch;
use crate::proto::scheduler::PATIENCE;
use crate::proto::settle::QUANTUM;
use crate::proto::{Config, Role};

/// A server with so many requests, the windows of all as good as open.
pub(super) fn busy(streams: u32, config: Config) -> (Script, Vec<Hand>) {
    let mut script = Script::new(Role::Server, config);
    script.settings([Setting::InitialWindowSize(1 << 30)]);
    script.window(0, 1 << 30);
    for n in 0..streams {
        script.get(2 * n + 1);
    }
    let hands = script.accepted.clone();
    for hand in &hands {
        hand.respond(200, false);
    }
    script.sent();
    (script, hands)
}

pub(super) fn order(frames: &[Frame]) -> Vec<u32> {
    data_of(frames)
        .into_iter()
        .map(|(stream, _)| stream)
        .collect()
}

#[test]
fn equals_get_a_quantum_each_in_turn() {
    let (mut script, hands) = busy(3, Config::default());
    hands
        .iter()
        .for_each(|hand| hand.send(vec![0; 3 * QUANTUM], true));
    let sent = script.sent();
    assert_eq!(order(&sent), [1, 3, 5, 1, 3, 5, 1, 3, 5]);
    assert!(data_of(&sent).iter().all(|(_, length)| *length == QUANTUM));
}

#[test]
fn fairness_is_by_bytes_whatever_the_pieces() {
    let (mut script, hands) = busy(2, Config::default());
    (0..40_000).for_each(|_| hands[0].send(&b"tiny"[..], false));
    hands[1].send(vec![0; 160_000], false);
    let sent = data_of(&script.sent());
    let mut difference = 0i64;
    for (stream, length) in sent {
        difference += if stream == 1 {
            length as i64
        } else {
            -(length as i64)
        };
        assert!(difference.unsigned_abs() as usize <= QUANTUM);
    }
}

#[test]
fn urgent_streams_go_first_and_nobody_starves() {
    let (mut script, hands) = busy(3, Config::default());
    for (hand, urgency) in hands.iter().zip([5, 1, 7]) {
        hand.prioritise(urgency, true);
        hand.send(vec![0; 100 * QUANTUM], false);
    }
    let sent = order(&script.sent());
    let turns = PATIENCE as usize + 3;
    let first: Vec<_> = sent.iter().take(PATIENCE as usize).collect();
    assert!(first.iter().all(|stream| **stream == 3), "{first:?}");
    for window in sent[..90].windows(turns) {
        assert!(
            window.contains(&1) && window.contains(&5),
            "within {turns} turns"
        );
    }
}

//= test RFC 9218 §4.2
#[test]
fn streams_that_are_not_incremental_are_served_one_after_the_other() {
    let (mut script, hands) = busy(3, Config::default());
    for hand in &hands {
        hand.prioritise(3, false);
        hand.send(vec![0; 2 * QUANTUM], true);
    }
    assert_eq!(order(&script.sent()), [1, 1, 3, 3, 5, 5]);
}

//= test RFC 9218 §4.2
#[test]
fn who_was_opened_first_goes_first_again_after_a_pause() {
    let config = Config {
        batch_size: QUANTUM,
        ..Config::default()
    };
    let (mut script, hands) = busy(2, config);
    hands.iter().for_each(|hand| hand.prioritise(3, false));
    hands[0].send(vec![0; QUANTUM], false);
    hands[1].send(vec![0; 2 * QUANTUM], false);
    script.collect();
    let first = script.output();
    assert_eq!(order(&super::pair::frames(first)), [1]);
    hands[0].send(vec![0; QUANTUM], false);
    assert_eq!(order(&script.sent()), [1, 3, 3]);
}

//= test RFC 9218 §4.2
#[test]
fn those_served_one_after_the_other_are_one_member_of_the_round() {
    let (mut script, hands) = busy(4, Config::default());
    for (hand, incremental) in hands.iter().zip([false, false, true, true]) {
        hand.prioritise(3, incremental);
        hand.send(vec![0; 2 * QUANTUM], true);
    }
    assert_eq!(order(&script.sent()), [1, 5, 7, 1, 5, 7, 3, 3]);
}

//= test RFC 9218 §7.1
#[test]
fn a_priority_update_moves_a_response_also_before_its_request() {
    let (mut script, hands) = busy(1, Config::default());
    let update = |stream| {
        Frame::PriorityUpdate(crate::frame::PriorityUpdate {
            prioritized_id: super::script::id(stream),
            value: bytes::Bytes::from_static(b"u=0, i"),
        })
    };
    script.recv(update(3));
    script.get(3);
    let urgent = script.accepted[1].clone();
    urgent.respond(200, false);
    script.sent();
    hands[0].send(vec![0; QUANTUM], true);
    urgent.send(vec![0; QUANTUM], true);
    assert_eq!(order(&script.sent()), [3, 1]);
}

#[test]
fn a_window_opened_in_small_steps_is_shared_too() {
    let mut script = client();
    script.settings([Setting::InitialWindowSize(1 << 20)]);
    let hands: Vec<_> = (0..4).map(|_| script.end.post("/")).collect();
    hands
        .iter()
        .for_each(|hand| hand.send(vec![0; 1 << 19], false));
    script.sent();
    let mut bytes = [0; 4];
    for _ in 0..64 {
        script.window(0, 1024);
        for (stream, length) in data_of(&script.sent()) {
            bytes[stream as usize / 2] += length;
        }
    }
    assert_eq!(bytes.iter().sum::<usize>(), 64 * 1024);
    assert!(
        bytes.iter().all(|sum| sum.abs_diff(16 * 1024) <= 2 * 1024),
        "{bytes:?}"
    );
}

#[test]
fn who_was_cut_short_goes_on_first() {
    let mut script = client();
    script.settings([Setting::InitialWindowSize(1 << 20)]);
    let hands: Vec<_> = (0..6).map(|_| script.end.post("/")).collect();
    hands
        .iter()
        .for_each(|hand| hand.send(vec![0; 1 << 17], false));
    let sent = data_of(&script.sent());
    assert_eq!(
        sent.last(),
        Some(&(7, 65_535 - 3 * QUANTUM)),
        "the fourth is one byte short"
    );
    script.window(0, 1 << 20);
    assert_eq!(data_of(&script.sent())[..2], [(7, 1), (9, QUANTUM)]);
}

#[test]
fn headers_and_ends_pass_while_data_waits_for_credit() {
    let mut script = client();
    let hand = script.end.post("/");
    hand.send(vec![0; 100_000], false);
    script.sent();
    let other = script.end.get("/");
    let sent = script.sent();
    assert!(matches!(&sent[..], [Frame::Headers(head)] if head.stream_id == other.id));
    hand.reset(Reason::CANCEL);
    script.expect_reset(1, Reason::CANCEL);
}

#[test]
fn control_comes_before_heads_and_heads_before_data() {
    let (mut script, hands) = busy(2, Config::default());
    hands[0].send(vec![0; 100_000], false);
    script.ping([1; 8], false);
    script.get(5);
    script.accepted[2].respond(200, true);
    let kinds: Vec<_> = script
        .sent()
        .iter()
        .map(|frame| match frame {
            Frame::Ping(_) => 'p',
            Frame::Headers(_) => 'h',
            Frame::Data(_) => 'd',
            _ => '?',
        })
        .collect();
    assert_eq!(kinds.iter().collect::<String>(), "phddddddd");
}

/// The first of so many streams has filled the send room, and the others have asked for some.
fn without_room(streams: u32) -> (Script, Vec<Hand>) {
    let config = Config {
        send_room: 2 * QUANTUM,
        ..Config::default()
    };
    let (mut script, hands) = busy(streams, config);
    hands[0].send(vec![0; 2 * QUANTUM], false);
    hands[1..].iter().for_each(Hand::want_room);
    script.collect();
    (script, hands)
}

#[test]
fn room_is_granted_in_the_order_of_asking_and_never_forgotten() {
    let (mut script, hands) = without_room(4);
    let granted = |hand: &Hand| hand.state.borrow().granted;
    assert_eq!(
        hands.iter().map(granted).sum::<usize>(),
        0,
        "the room is full"
    );
    // The holder of the room goes without sending: whoever waits is resumed.
    let resumed = script.shared.resumed.get();
    script.rst(1, Reason::CANCEL);
    assert_eq!(
        hands.iter().map(granted).collect::<Vec<_>>(),
        [0, QUANTUM, QUANTUM, 0]
    );
    assert_eq!(script.shared.resumed.get(), resumed, "one still waits");
    script.sent();
    assert_eq!(granted(&hands[3]), QUANTUM);
    assert!(script.shared.resumed.get() > resumed);
    script.rst(3, Reason::CANCEL);
    let stats = script.conn.stats();
    assert_eq!((stats.room_grants, stats.resumed_by_end), (3, 2));
}

#[test]
fn room_that_was_full_is_granted_again_once_a_quarter_is_free() {
    let config = Config {
        send_room: 8 * QUANTUM,
        ..Config::default()
    };
    let (mut script, hands) = busy(1, config);
    let mut granted_when_free = |free: usize| {
        script.shared.room_used.set(8 * QUANTUM - free);
        script.collect();
        script.sent();
        hands[0].state.borrow().granted
    };
    assert_eq!(granted_when_free(0), 0);
    hands[0].want_room();
    for free in [0, QUANTUM, 2 * QUANTUM - 1] {
        assert_eq!(granted_when_free(free), 0, "{free} bytes are free");
    }
    assert_eq!(granted_when_free(2 * QUANTUM), QUANTUM);
}

#[test]
fn a_reset_of_ours_resumes_who_waits_at_once() {
    let (mut script, hands) = without_room(2);
    hands[0].reset(Reason::CANCEL);
    script.collect();
    assert_eq!(hands[1].state.borrow().granted, QUANTUM);
    assert_eq!(script.conn.stats().resumed_by_end, 1);
}

#[test]
fn who_waits_for_room_and_leaves_is_not_remembered() {
    let (mut script, hands) = without_room(40);
    assert_eq!(script.conn.stats().waiting_for_room, 39);
    // The room stays full: nobody's turn comes. Both sides end streams.
    for (index, hand) in hands.iter().enumerate().skip(2) {
        match index % 2 {
            0 => script.rst(2 * index as u32 + 1, Reason::CANCEL),
            _ => {
                hand.reset(Reason::CANCEL);
                script.collect();
            }
        }
        let waiting = 39 - (index - 1);
        assert_eq!(script.conn.stats().waiting_for_room, waiting);
    }
    // The one that is left is not forgotten.
    script.rst(1, Reason::CANCEL);
    assert_eq!(hands[1].state.borrow().granted, QUANTUM);
    assert_eq!(script.conn.waiting_in_list.len(), 0);
}

#[test]
fn an_empty_server_has_nothing_to_say() {
    server().expect_nothing();
}

//= test RFC 9218 §7.1
#[test]
fn a_client_tells_another_priority_once_the_server_knows_the_stream() {
    let mut end = super::pair::End::new(Role::Client, Config::default());
    let hand = end.get("/");
    hand.prioritise(1, true);
    end.collect();
    let frames = end.sent();
    let at = |wanted: fn(&Frame) -> bool| frames.iter().position(wanted);
    assert!(at(|frame| matches!(frame, Frame::Headers(_))).is_some());
    let update = |frame: &Frame| matches!(frame, Frame::PriorityUpdate(update) if update.prioritized_id.as_u32() == 1 && update.value == "u=1, i");
    let later = end.sent();
    assert_eq!(
        frames
            .iter()
            .chain(&later)
            .filter(|frame| update(frame))
            .count(),
        1
    );
    hand.prioritise(7, false);
    end.collect();
    assert!(matches!(&end.sent()[..], [Frame::PriorityUpdate(update)] if update.value == "u=7"));
}

#[test]
fn a_window_opened_in_small_steps_is_shared_in_small_steps() {
    let mut script = Script::new(Role::Server, Config::default());
    script.settings([Setting::InitialWindowSize(1 << 30)]);
    (0..20).for_each(|n| script.get(2 * n + 1));
    for hand in script.accepted.clone() {
        hand.respond(200, false);
        hand.send(vec![0; 100_000], true);
    }
    let mut bytes = std::collections::BTreeMap::<u32, usize>::new();
    for _ in 0..1000 {
        for (stream, length) in data_of(&script.sent()) {
            *bytes.entry(stream).or_default() += length;
        }
        let spread = bytes.values().max().unwrap() - bytes.values().min().unwrap();
        let is_first_round = bytes.values().sum::<usize>() < 20 * QUANTUM;
        assert!(is_first_round || spread <= 1024, "{bytes:?}");
        script.window(0, 1024);
    }
    assert_eq!(bytes.len(), 20);
}

#[test]
fn a_stream_that_comes_back_within_a_round_has_had_its_turn() {
    let (mut script, hands) = busy(3, Config::default());
    hands[1..]
        .iter()
        .for_each(|hand| hand.send(vec![0; 4 * QUANTUM], true));
    let mut first = 0;
    // One turn a batch, and the first stream is refilled before each.
    script.batch = Batch::new(1);
    for _ in 0..9 {
        hands[0].send(vec![0; QUANTUM], false);
        let sent = data_of(&super::pair::frames(script.output()));
        first += sent.iter().filter(|(stream, _)| *stream == 1).count();
    }
    assert_eq!(first, 3, "of nine turns three are its own");
}

#[test]
fn what_the_server_has_set_no_signal_of_the_client_changes() {
    let (mut script, hands) = busy(2, Config::default());
    hands[0].prioritise(1, true);
    script.collect();
    script.recv(Frame::PriorityUpdate(PriorityUpdate {
        prioritized_id: id(1),
        value: "u=7".into(),
    }));
    hands
        .iter()
        .for_each(|hand| hand.send(vec![0; 2 * QUANTUM], true));
    assert_eq!(order(&script.sent()), [1, 1, 3, 3]);
}

#[test]
fn a_stream_that_slept_has_a_whole_turn_and_not_the_rest_of_its_last() {
    let (mut script, hands) = busy(2, Config::default());
    hands[0].send(vec![0; 100], false);
    script.sent();
    for hand in &hands {
        hand.send(vec![0; 2 * QUANTUM], false);
    }
    let whole = QUANTUM;
    let turns = [(1, whole), (3, whole), (1, whole), (3, whole)];
    assert_eq!(data_of(&script.sent()), turns);
}

#[test]
fn a_level_that_was_empty_has_not_been_passed_over() {
    let config = Config {
        batch_size: QUANTUM,
        ..Config::default()
    };
    let (mut script, hands) = busy(3, config);
    for (hand, urgency) in hands.iter().zip([1, 5, 5]) {
        hand.prioritise(urgency, true);
    }
    hands[0].send(vec![0; 100 * QUANTUM], false);
    hands[1].send(vec![0; QUANTUM], false);
    script.collect();
    let next = |script: &mut Script| order(&super::pair::frames(script.output()));
    for _ in 1..PATIENCE {
        assert_eq!(next(&mut script), [1]);
    }
    script.rst(3, Reason::CANCEL);
    hands[2].send(vec![0; QUANTUM], false);
    for turn in 0..PATIENCE {
        assert_eq!(next(&mut script), [1], "turn {turn}");
    }
    assert_eq!(next(&mut script), [5]);
}

#[test]
fn heads_leave_half_of_a_batch_to_data_that_waits() {
    for incremental in [false, true] {
        let config = Config {
            batch_size: 1_000,
            ..Config::default()
        };
        let (mut script, hands) = busy(1, config);
        hands[0].prioritise(3, incremental);
        for n in 1..200 {
            script.get(2 * n + 1);
        }
        script.accepted[1..]
            .iter()
            .for_each(|hand| hand.respond(200, false));
        hands[0].send(vec![0; 10_000], false);
        let sent = data_of(&super::pair::frames(script.output()));
        assert_eq!(sent, [(1, 10_000)]);
    }
}

#[test]
fn who_waits_is_counted() {
    let mut script = client();
    script.settings([Setting::MaxConcurrentStreams(0)]);
    let _waiting = [script.end.get("/"), script.end.get("/")];
    script.collect();
    assert_eq!(script.conn.stats().waiting_to_open, 2);
    let (mut script, hands) = busy(3, Config::default());
    for (hand, incremental) in hands.iter().zip([false, true, true]) {
        hand.prioritise(3, incremental);
        hand.send(vec![0; 10], false);
    }
    script.collect();
    assert_eq!(script.conn.stats().waiting_for_turn, 3);
}

#[test]
fn who_waited_for_its_own_payload_within_its_turn_goes_on_with_it() {
    let config = Config {
        batch_size: QUANTUM + 2000,
        ..Config::default()
    };
    let (mut script, hands) = busy(3, config);
    for (hand, incremental) in hands.iter().zip([false, true, true]) {
        hand.prioritise(3, incremental);
    }
    // Of this only a quarter of a turn shows at a time, and the next once that has left.
    let pieces = (0..4).map(|_| vec![0; QUANTUM / 4].into());
    hands[0].send_load(Load::Many(pieces.collect()), true);
    hands[1..]
        .iter()
        .for_each(|hand| hand.send(vec![0; 2 * QUANTUM], false));
    script.collect();
    for other in [3, 5, 3, 5] {
        let sent = data_of(&super::pair::frames(script.output()));
        assert_eq!(sent, [(1, QUANTUM / 4), (other, QUANTUM)]);
    }
}
