//! Shares where they are tried: streams that come later, and all levels full.

use bytes::Bytes;

use super::load::Load;
use super::scheduler::{busy, order};
use super::script::{data_of, id};
use crate::frame::{Frame, Reason};
use crate::proto::Config;
use crate::proto::batch::Batch;
use crate::proto::scheduler::PATIENCE;
use crate::proto::settle::QUANTUM;

#[test]
fn a_new_stream_has_its_share_from_the_first_round_and_overtakes_nobody() {
    let (mut script, hands) = busy(3, Config::default());
    let body = Bytes::from(vec![0; 20 * QUANTUM]);
    hands.iter().for_each(|hand| hand.send(body.clone(), true));
    script.collect();
    // One turn a batch.
    script.batch = Batch::new(1);
    let turn = |script: &mut super::script::Script| order(&super::pair::frames(script.output()));
    let before: Vec<u32> = (0..7).flat_map(|_| turn(&mut script)).collect();
    assert_eq!(before, [1, 3, 5, 1, 3, 5, 1]);
    script.get(7);
    script.accepted[3].respond(200, false);
    script.accepted[3].send(body, true);
    script.collect();
    let after: Vec<u32> = (0..13).flat_map(|_| turn(&mut script)).collect();
    assert_eq!(after, [3, 5, 1, 7, 3, 5, 1, 7, 3, 5, 1, 7]);
}

#[test]
fn with_all_levels_full_from_the_start_each_has_a_turn_in_every_24() {
    const LEVELS: u8 = 8;
    let (mut script, hands) = busy(LEVELS.into(), Config::default());
    let body = Bytes::from(vec![0; 400 * QUANTUM]);
    for (hand, urgency) in hands.iter().zip(0..LEVELS) {
        hand.prioritise(urgency, true);
        hand.send(body.clone(), false);
    }
    let sent = order(&script.sent());
    let bound = PATIENCE as usize + usize::from(LEVELS);
    assert_eq!(bound, 24, "docs/scheduling.md says so");
    for (start, turns) in sent[..20 * bound].windows(bound).enumerate() {
        let missing = (0..LEVELS.into()).find(|level| !turns.contains(&(2 * level + 1)));
        assert_eq!(missing, None, "from turn {start} on: {turns:?}");
    }
}

#[test]
fn a_batch_of_no_size_takes_a_head_and_a_turn() {
    let (mut script, hands) = busy(1, Config::default());
    script.batch = Batch::new(0);
    hands[0].send(vec![0; QUANTUM], true);
    script.get(3);
    script.accepted[1].respond(204, true);
    script.collect();
    let sent = script.sent();
    assert!(matches!(sent[..], [Frame::Headers(_), Frame::Data(_)]));
}

/// Many may wait, and a peer may ask for a turn with each PING.
#[test]
fn who_waits_for_more_room_is_looked_at_when_some_has_come_and_costs_nothing_else() {
    let (mut script, hands) = busy(3, Config::default());
    hands.iter().for_each(|hand| hand.want_more_room());
    script.collect();
    let looks = |script: &mut super::script::Script| {
        script.ping([7; 8], false);
        script.sent();
        script.conn.end_turn();
        hands
            .iter()
            .map(|hand| hand.state.borrow().looks)
            .sum::<usize>()
    };
    let before = looks(&mut script);
    assert_eq!(looks(&mut script), before);
    let returned = &script.shared.room_returned;
    returned.set(returned.get() + 1);
    assert_eq!(looks(&mut script), before + 3);
    assert_eq!(looks(&mut script), before + 3);
}

#[test]
fn a_payload_that_has_less_than_it_said_costs_its_stream_alone() {
    let (mut script, hands) = busy(2, Config::default());
    hands[0].send(&b"begun"[..], false);
    hands[0].send_load(Load::Void(5000.into()), true);
    hands[1].send(vec![0; 5000], true);
    script.collect();
    let sent = script.sent();
    let resets = |frame: &&Frame| matches!(frame, Frame::Reset(_));
    let reset = sent.iter().find(resets);
    assert!(
        matches!(reset, Some(Frame::Reset(reset)) if reset.stream_id == id(1)
            && reset.reason == Reason::INTERNAL_ERROR),
        "{sent:?}"
    );
    let of_second = data_of(&sent).into_iter().filter(|(id, _)| *id == 3);
    assert_eq!(of_second.map(|(_, length)| length).sum::<usize>(), 5000);
    assert_eq!(hands[0].reason(), Some(Reason::INTERNAL_ERROR));
    assert!(sent.len() < 10, "and no more than a frame for nothing");
    script.expect_nothing();
}
