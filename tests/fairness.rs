//! Who gets how much, and who waits for whom: measured on the wire, in memory, with virtual time.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "fairness/client.rs"]
mod client;
mod support;

use client::{Client, run, run_against};
use support::{CANCEL, Frame, flag, frame, headers, kind, priority_update, reset};

const PIPE: usize = 64 * 1024;
const QUANTUM: usize = 16 * 1024;
const BATCH: usize = 128 * 1024;
const ROOM: usize = 256 * 1024;

/// Downloads of `size` bytes each on 20 streams, the connection's window opened `grant` bytes at a
/// time; looks at the shares at each hundredth of the total up to `percent`.
async fn downloads(client: &mut Client, grant: usize, size: usize, percent: usize) -> Worst {
    const STREAMS: usize = 20;
    let hundredth = STREAMS * size / 100;
    client.wide_windows().await;
    client.ask_at_once(&format!("/bytes/{size}"), STREAMS).await;
    let mut window = 65_535;
    let mut next = 2;
    let mut worst = Worst::default();
    while next <= percent {
        assert!(client.next().await.is_some(), "stalled: {:?}", client.got);
        while next <= percent && client.total >= next * hundredth {
            worst.look_at(client, grant, next);
            next += 1;
        }
        if client.total == window {
            client.grant(grant).await;
            window += grant;
        }
    }
    worst
}

/// How far streams were apart.
#[derive(Debug, Default)]
struct Worst {
    spread: usize,
    /// At 2 and 3 %, and from 4 % on.
    indices: [Option<f64>; 2],
}

impl Worst {
    fn look_at(&mut self, client: &Client, grant: usize, percent: usize) {
        let shares: Vec<usize> = client.got.values().copied().collect();
        let spread = shares.iter().max().unwrap() - shares.iter().min().unwrap();
        assert!(
            spread <= grant.min(QUANTUM),
            "{spread} apart at {percent} %: {shares:?}"
        );
        let index = jain(&shares);
        let least = if percent < 4 { 0.999 } else { 0.9995 };
        assert!(index >= least, "Jain's index {index} at {percent} %");
        self.spread = self.spread.max(spread);
        let worst = &mut self.indices[usize::from(percent >= 4)];
        *worst = Some(worst.map_or(index, |worst| worst.min(index)));
    }
}

fn jain(shares: &[usize]) -> f64 {
    let sum: f64 = shares.iter().map(|share| *share as f64).sum();
    let squares: f64 = shares.iter().map(|share| (*share as f64).powi(2)).sum();
    sum * sum / (shares.len() as f64 * squares)
}

#[test]
fn downloads_share_a_window_that_opens_64_kib_at_a_time() {
    // 16 KiB more or less are a small part of a share only if the bodies are large.
    run(PIPE, async |client| {
        downloads(client, 64 * 1024, 10 << 20, 25).await;
    });
}

#[test]
fn downloads_share_a_window_that_opens_1_kib_at_a_time() {
    run(PIPE, async |client| {
        downloads(client, 1024, 1_000_000, 100).await;
    });
}

/// `FAIRNESS` is where a server listens that has `/bytes/N`, as `serve` does.
#[test]
#[ignore = "needs another program: `.ci/interop fairness` starts it"]
fn downloads_from_another_program_share_small_windows() {
    let server = std::env::var("FAIRNESS").expect("FAIRNESS is an address");
    for (grant, size) in [(64 * 1024, 10 << 20), (1024, 1_000_000)] {
        run_against(&server, async |client| {
            let worst = downloads(client, grant, size, 100).await;
            let [early, late] = worst.indices.map(Option::unwrap);
            println!(
                "steps of {grant}, 20 of {size} bytes: {} apart, Jain's index {early:.5} from 2 %, {late:.5} from 4 % on",
                worst.spread
            );
        });
    }
}

/// Opens so many streams that the window of the connection is used up.
async fn starve(client: &mut Client, streams: usize) -> Vec<u32> {
    client.wide_windows().await;
    let mut ids = Vec::new();
    for _ in 0..streams {
        ids.push(client.ask("/bytes/1000000", "").await);
    }
    client.rest().await;
    assert_eq!(client.total, 65_535);
    ids
}

#[test]
fn those_behind_streams_that_leave_go_on_in_order() {
    run(PIPE, async |client| {
        let ids = starve(client, 10).await;
        for id in &ids[..5] {
            client.send(reset(*id, CANCEL)).await;
        }
        let mut order = Vec::new();
        for _ in 0..5 * QUANTUM / 1024 {
            client.grant(1024).await;
            let frames = client.rest().await;
            let bytes: usize = frames.iter().map(|frame| frame.payload.len()).sum();
            assert_eq!(bytes, 1024, "no window is left unused");
            order.extend(frames.iter().map(|frame| frame.id));
        }
        order.dedup();
        assert_eq!(order, ids[5..]);
    });
}

#[test]
fn only_data_waits_for_credit() {
    run(PIPE, async |client| {
        starve(client, 10).await;
        let head = client.ask("/bytes/10", "").await;
        let trailers = client.ask("/trailers", "").await;
        let cancelled = client.ask("/reset", "").await;
        let frames = client.rest().await;
        let of = |id| frames.iter().filter(move |frame| frame.id == id);
        assert!(of(head).all(|frame| frame.kind == kind::HEADERS));
        assert_eq!(of(head).count(), 1);
        assert!(of(trailers).any(|frame| frame.has(flag::END_STREAM)));
        assert_eq!(of(trailers).count(), 2);
        assert!(of(cancelled).any(|frame| frame.kind == kind::RST_STREAM));
    });
}

#[test]
fn an_urgent_answer_waits_for_one_batch_at_most() {
    const NARROW: usize = 1024;
    run(NARROW, async |client| {
        client.wide_windows().await;
        client.grant(1 << 30).await;
        for _ in 0..19 {
            client.ask("/bytes/10000000", "").await;
        }
        while client.total < 1_000_000 {
            client.next().await.unwrap();
        }
        client.settle().await;
        let before = client.total;
        let urgent = client.ask("/bytes/1000", "u=0").await;
        while !client.ended.contains(&urgent) {
            client.next().await.unwrap();
        }
        let others = client.total - before - 1000;
        assert!(others <= NARROW + BATCH + QUANTUM, "{others} before it");
    });
}

/// Bodies without end, in pieces of these sizes, for a peer that stops reading; then it reads again.
fn endless_bodies(paths: &[&str]) {
    const HANDLES: usize = 100;
    run(PIPE, async |client| {
        client.wide_windows().await;
        client.grant(1 << 30).await;
        for number in 0..HANDLES {
            client.ask(paths[number % paths.len()], "").await;
        }
        for _ in 0..3 {
            client.settle().await;
        }
        let stats = client.seen.stats.borrow().unwrap();
        assert_eq!(stats.streams_alive, HANDLES);
        assert!(stats.room_used <= ROOM, "{} of the room", stats.room_used);
        // What is on its way is neither buffered nor received.
        let under_way = PIPE + BATCH + QUANTUM;
        let accepted = client.seen.accepted.get();
        let bound = ROOM + HANDLES * QUANTUM + under_way;
        assert!(accepted <= bound, "{accepted} of {bound}");
        let before = client.got.clone();
        while before
            .iter()
            .any(|(id, bytes)| client.got[id] < bytes + 3 * QUANTUM)
        {
            assert!(client.next().await.is_some(), "{:?}", client.got);
        }
        let stats = client.seen.stats.borrow().unwrap();
        assert!(stats.room_used <= ROOM, "{} of the room", stats.room_used);
    });
}

#[test]
fn what_is_queued_for_a_peer_that_stops_reading_is_bounded() {
    endless_bodies(&["/endless/1024"]);
    endless_bodies(&["/endless/1048576"]);
    endless_bodies(&["/endless/1", "/endless/16384", "/endless/1048576"]);
}

/// Asks for bodies of 60 000 bytes that wait for the same credit; answers the order of their ends.
async fn order_of(client: &mut Client, priorities: &[&str], updates: &[(u32, &str)]) -> Vec<u32> {
    client.stream_windows(0).await;
    client.grant(1 << 20).await;
    for priority in priorities {
        client.ask("/whole/60000", priority).await;
    }
    client.rest().await;
    for (id, value) in updates {
        client.send(priority_update(*id, value)).await;
    }
    client.wide_windows().await;
    client.rest().await;
    std::mem::take(&mut client.ended)
}

//= test RFC 9218 §4.1
#[test]
fn the_priority_field_orders_answers() {
    run(PIPE, async |client| {
        let order = order_of(client, &["u=7", "u=5", "u=0", "u=1"], &[]).await;
        assert_eq!(order, [5, 7, 3, 1]);
    });
}

//= test RFC 9218 §7.1
#[test]
fn a_priority_update_after_the_request_counts() {
    run(PIPE, async |client| {
        let order = order_of(client, &["u=2", "u=5", "u=6"], &[(5, "u=0"), (1, "u=7")]).await;
        assert_eq!(order, [5, 3, 1]);
    });
}

//= test RFC 9218 §7.1
#[test]
fn a_priority_update_before_the_request_counts() {
    run(PIPE, async |client| {
        client.stream_windows(0).await;
        client.send(priority_update(5, "u=0")).await;
        let order = order_of(client, &["u=2", "u=2", "u=6"], &[]).await;
        assert_eq!(order[0], 5);
    });
}

//= test RFC 9218 §7.1
#[test]
fn priority_updates_before_the_request_are_bounded() {
    const KEPT: u32 = 128;
    run(PIPE, async |client| {
        client.stream_windows(0).await;
        client.send(priority_update(1, "u=0")).await;
        for number in 1..=KEPT {
            client.send(priority_update(1 + 2 * number, "u=7")).await;
        }
        let mut priorities = ["u=6"; KEPT as usize + 2];
        priorities[KEPT as usize + 1] = "u=5";
        let order = order_of(client, &priorities, &[]).await;
        assert_eq!(order[..3], [2 * KEPT + 3, 1, 3], "that of 1 is forgotten");
    });
}

/// Two bodies of 5 MB, asked for with this priority, and credit for 4 MB: by how much they were ever
/// apart.
fn widest_spread(path: &str, priority: &str) -> usize {
    let mut widest = 0;
    run(PIPE, async |client| {
        client.wide_windows().await;
        let ids = [
            client.ask(path, priority).await,
            client.ask(path, priority).await,
        ];
        client.grant(4_000_000).await;
        while client.next().await.is_some() {
            let [first, second] = ids.map(|id| client.got[&id]);
            widest = widest.max(first.abs_diff(second));
        }
        assert_eq!(client.total, 4_000_000 + 65_535);
    });
    widest
}

//= test RFC 9218 §4.2
#[test]
fn one_after_the_other_unless_incremental() {
    let spread = widest_spread("/large/5000000", "u=2");
    assert_eq!(spread, 4_000_000 + 65_535, "all for the first");
    // What a producer of small pieces leaves of a batch, the next one fills.
    let spread = widest_spread("/bytes/5000000", "u=2");
    assert!(spread > 2_000_000, "{spread} apart");
}

//= test RFC 9218 §4.2
#[test]
fn producers_of_small_pieces_share_as_those_of_large_ones() {
    for path in ["/bytes/5000000", "/large/5000000"] {
        let spread = widest_spread(path, "u=2, i");
        assert!(spread <= 2 * QUANTUM, "{path}: {spread} apart");
    }
}

//= test RFC 9218 §5
#[test]
fn a_field_that_cannot_be_parsed_is_as_good_as_none() {
    for priority in ["", "u=1,", "?", "u=1 i"] {
        let spread = widest_spread("/large/5000000", priority);
        assert!(spread <= 2 * QUANTUM, "{priority}: {spread} apart");
    }
}

//= test RFC 9218 §8
#[test]
fn the_server_may_override() {
    run(PIPE, async |client| {
        client.wide_windows().await;
        for _ in 0..5 {
            client.ask("/bytes/1000000", "u=1, i").await;
        }
        let lifted = client.ask("/override/1000", "u=7").await;
        client.rest().await;
        client.grant(PIPE).await;
        client.rest().await;
        assert_eq!(client.ended, [lifted]);
    });
}

//= test RFC 9218 §10
#[test]
fn a_lower_level_is_not_starved() {
    run(PIPE, async |client| {
        client.wide_windows().await;
        client.grant(1 << 22).await;
        for urgency in ["u=0, i", "u=0, i", "u=3", "u=7"] {
            client.ask("/endless/1024", urgency).await;
        }
        client.rest().await;
        let least = client.total / 20;
        assert!(
            client.got[&5] >= least && client.got[&7] >= least,
            "{:?}",
            client.got
        );
        assert!(client.got[&1] > 4 * client.got[&7], "{:?}", client.got);
    });
}

/// The DATA frames of four bodies that share windows opened in steps; with or without the signals of
/// RFC 7540, in HEADERS and in frames of their own.
fn order_under(signals: bool) -> Vec<(u32, usize)> {
    let mut order = Vec::new();
    run(PIPE, async |client| {
        client.wide_windows().await;
        let ids = [1, 3, 5, 7];
        for id in ids {
            let mut head = headers(id).request("GET", "/large/1000000").end_stream();
            if signals {
                // Exclusive, below the one before it.
                head = head.depends_on(id.saturating_sub(2) | 1 << 31);
            }
            client.got.insert(id, 0);
            client.send(head).await;
        }
        for step in 0..20 {
            if signals {
                let (id, weight) = (ids[step % 4], 13 * step as u8);
                let [a, b, c, d] = ((id + 2) % 8).to_be_bytes();
                let signal = frame(kind::PRIORITY, 0, id, [a, b, c, d, weight]);
                client.send(signal).await;
            }
            client.grant(100_000).await;
            let data = client.rest().await;
            let data = data.iter().filter(|frame| frame.kind == kind::DATA);
            order.extend(data.map(|frame: &Frame| (frame.id, frame.payload.len())));
        }
    });
    order
}

#[test]
fn priorities_of_rfc_7540_change_no_order() {
    let plain = order_under(false);
    assert!(plain.len() > 100, "{} frames", plain.len());
    assert_eq!(order_under(true), plain);
}

#[test]
fn who_holds_a_grant_and_sends_nothing_delays_nobody() {
    const HOLDERS: usize = 10;
    run(PIPE, async |client| {
        // The window is used up, and the room full.
        starve(client, 10).await;
        for _ in 0..HOLDERS {
            client.ask("/hold", "").await;
        }
        client.rest().await;
        let stats = client.seen.stats.borrow().unwrap();
        assert!(stats.waiting_for_room >= HOLDERS, "{stats:?}");
        let mut granted = 65_535;
        while client.ended.len() < 10 {
            client.grant(PIPE).await;
            granted += PIPE;
            client.rest().await;
            let all = 10 * 1_000_000 + HOLDERS * QUANTUM;
            assert_eq!(client.total, granted.min(all), "no window is left unused");
        }
        let stats = client.seen.stats.borrow().unwrap();
        assert_eq!(client.seen.holding.get(), HOLDERS);
        assert_eq!((stats.waiting_for_room, stats.room_used), (0, 0));
        assert_eq!(stats.stalled_turns, 0);
    });
}
