//! What must hold of one end at any time: the oracle of both simulations.
//!
//! Owns: the checks that look into a connection. Does not know: who plays the application or the
//! transport.

use std::collections::HashMap;
use std::time::Duration;

use crate::frame::{Setting, StreamId};
use crate::proto::config::Rate;
use crate::proto::port::{Port as _, Ports, RoomWait};
use crate::proto::settle::QUANTUM;
use crate::proto::stream::{Loan, Order, Rank, Wait};
use crate::proto::{Config, Connection, Lifecycle};

/// What a stream had sent when the comparison began, and what must not change meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    rank: Rank,
    naps: usize,
    sent: i64,
}

/// I2: what was sent for the streams of one rank that could send ever since.
#[derive(Default)]
pub(crate) struct Fairness {
    age: usize,
    sent: HashMap<StreamId, Share>,
}

/// Every stream is where it says, and nowhere else; every window adds up.
pub(crate) fn check_streams<R: Ports>(conn: &Connection<R>) {
    assert_eq!(
        conn.stats().stalled_turns,
        0,
        "I1: asleep with something to send"
    );
    assert!(
        conn.recv_window.is_conserved(),
        "I5: the connection's window"
    );
    assert_eq!(
        conn.send_window.sent(),
        conn.stats().data_sent as i64,
        "I5: what is sent, and only that, counts against the window"
    );
    let mut waiting = 0;
    for (slot, stream) in conn.streams.iter() {
        assert!(
            !stream.is_over(),
            "I4: {:?} is over and still there",
            stream.id
        );
        assert!(
            stream.recv.is_conserved(),
            "I5: the window of {:?}",
            stream.id
        );
        assert_eq!(conn.streams.resolve(stream.key), Some(slot));
        let wants = stream.wants(conn.settings.peer.initial_window);
        assert_eq!(stream.wait, wants, "list membership of {:?}", stream.id);
        waiting += usize::from(stream.wait != Wait::Nothing);
    }
    assert_eq!(
        conn.scheduler.members(&conn.streams),
        waiting,
        "lists hold who waits, once"
    );
    let lists = [
        (RoomWait::Turn, &conn.waiting_in_list),
        (RoomWait::More, &conn.watching_list),
    ];
    for (wait, list) in lists {
        let waiting = conn
            .streams
            .iter()
            .filter(|(_, stream)| stream.wants_room == wait);
        let on_list = list.members(&conn.streams).count();
        assert_eq!(
            on_list,
            waiting.count(),
            "who waits for room is on its list, once"
        );
        assert_eq!(on_list, list.len());
    }
}

/// After a fill that left space, nobody who could send is waiting.
pub(crate) fn check_full<R: Ports>(conn: &Connection<R>, filled: usize, side: usize) {
    let full = filled >= conn.config.batch_size;
    if full || !matches!(conn.lifecycle(), Lifecycle::Open | Lifecycle::Draining) {
        return;
    }
    assert!(conn.control.is_empty() && conn.replies.is_empty());
    let may_open = conn.counts.local < conn.settings.peer.max_streams;
    for (_, stream) in conn.streams.iter() {
        let open = stream.send.open(conn.settings.peer.initial_window) > 0;
        let able = stream.queued > 0 && stream.state.can_send() && stream.out.heads.is_empty();
        let hidden = stream.loan == Loan::Hidden;
        assert!(
            !(able && open && !hidden && conn.connection_credit() > 0),
            "I1: stream {:?} of end {side} could send: {:?}",
            stream.id,
            stream.wait
        );
        assert!(
            !matches!(stream.wait, Wait::Promise | Wait::Head),
            "I1: heads need no credit"
        );
        assert!(
            stream.wait != Wait::Open || !may_open,
            "I1: there is a slot"
        );
    }
}

/// Whether the producer of a stream waits for its turn to be granted room.
pub(crate) fn stands_in_list<R: Ports>(conn: &Connection<R>, id: StreamId) -> bool {
    let stream = conn.streams.find(id).and_then(|slot| conn.streams.at(slot));
    stream.is_some_and(|stream| stream.wants_room == RoomWait::Turn)
}

/// I1: nobody waits for room that could be granted.
pub(crate) fn check_room<R: Ports>(conn: &Connection<R>) {
    let low_water = QUANTUM
        .max(conn.config.send_room / 4)
        .min(conn.config.send_room);
    let free = conn.ports.free_room();
    if free > 0 && free >= low_water {
        let mut waiting = conn.streams.iter().map(|(_, stream)| stream);
        assert!(
            !waiting.any(|stream| {
                stream.wants_room == RoomWait::Turn && stream.may_send() && stream.port.takes(free)
            }),
            "I1: {free} bytes of room are free and somebody waits"
        );
    }
}

impl Fairness {
    /// After each fill: drops who cannot send, and compares the others.
    pub(crate) fn check<R: Ports>(&mut self, conn: &Connection<R>) {
        let able = |wait: Wait, rank: Rank| {
            matches!(wait, Wait::Send(_) | Wait::Credit) && rank.order == Order::Shared
        };
        let now = conn.streams.iter().map(|(_, stream)| stream);
        let now = now.filter(|stream| able(stream.wait, stream.rank));
        let now = now.map(|stream| {
            let (rank, naps, sent) = (stream.rank, stream.naps, stream.send.sent());
            (stream.id, Share { rank, naps, sent })
        });
        if self.age == 0 {
            self.sent = now.collect();
            self.age = 40;
            return;
        }
        self.age -= 1;
        let mut bounds = [(i64::MAX, i64::MIN); 8];
        let mut still = HashMap::new();
        for (id, share) in now {
            let before = self.sent.get(&id).copied();
            let same = |before: &Share| before.rank == share.rank && before.naps == share.naps;
            let Some(before) = before.filter(same) else {
                continue;
            };
            still.insert(id, before);
            let sent = share.sent - before.sent;
            let (least, most) = &mut bounds[usize::from(share.rank.urgency)];
            (*least, *most) = (sent.min(*least), sent.max(*most));
        }
        self.sent = still;
        for (least, most) in bounds {
            assert!(
                most.saturating_sub(least) <= 2 * QUANTUM as i64 || least == i64::MAX,
                "I2: {most} bytes for one stream and {least} for another"
            );
        }
    }
}

/// Credit of the connection that the application has, or that is on its way back.
pub(crate) fn held<R: Ports>(conn: &Connection<R>) -> usize {
    conn.recv_window.held()
}

/// What this end may send on the connection, and what the other end expects of it.
pub(crate) fn windows<R: Ports>(from: &Connection<R>, to: &Connection<R>) -> (i64, i64) {
    (from.send_window.left(65_535), to.recv_window.left())
}

/// New SETTINGS, unless earlier ones are still to be acknowledged.
pub(crate) fn announce<R: Ports>(conn: &mut Connection<R>, setting: Setting) {
    let _ = conn.settings.announce(setting);
}

/// Nothing is left of any stream.
pub(crate) fn check_silent<R: Ports>(conn: &Connection<R>) {
    assert!(conn.streams.is_empty(), "I4: streams are left");
    assert_eq!(conn.scheduler.members(&conn.streams), 0, "I4: lists");
    let counts = (conn.counts.local, conn.counts.remote);
    assert_eq!(counts, (0, 0), "I4: streams are counted");
    assert!(conn.accept.is_empty(), "I4: nobody accepts");
    let waiting = conn.waiting_in_list.len() + conn.watching_list.len();
    assert_eq!(waiting, 0, "I4: somebody waits");
    if !matches!(conn.lifecycle(), Lifecycle::Closed(_)) {
        assert!(conn.control.is_empty(), "I4: control frames are left");
    }
    assert_eq!(conn.set_aside, 0, "I4: room is set aside");
}

/// What a stream that is left over waits for.
pub(crate) fn report<R: Ports>(conn: &Connection<R>) {
    for (_, stream) in conn.streams.iter() {
        println!(
            "{:?} {:?} {:?} queued {} window {} credit {} recv {:?}",
            stream.id,
            stream.state,
            stream.wait,
            stream.queued,
            stream.send.left(conn.settings.peer.initial_window),
            conn.connection_credit(),
            stream.recv,
        );
    }
}

/// Options under which no limit on what a peer may do is met.
pub(crate) fn free_config() -> Config {
    let mut config = Config::default();
    let free = Rate {
        burst: 1_000_000_000,
        per_second: 0,
    };
    config.limits.early_resets = free;
    config.limits.faults = free;
    config.limits.unproductive = free;
    config.max_local_error_reset_streams = None;
    config.data_frame_budget = Some(usize::MAX);
    config.max_pending_accept_reset_streams = usize::MAX;
    config.max_concurrent_reset_streams = 100_000;
    config.reset_stream_duration = Duration::from_secs(1 << 20);
    config
}
