//! Shares where they are tried: streams that come later, and all levels full.

use bytes::Bytes;

use super::scheduler::{busy, order};
use crate::frame::Frame;
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
