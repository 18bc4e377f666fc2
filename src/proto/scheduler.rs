//! Who may send next: the wait lists, and deficit round robin over the streams with DATA.
//!
//! Owns: list membership. Does not know: frames, windows of the connection, batches. Keeps I2 (fair)
//! and its part of I1 (no stall): a stream is on the list that it wants, put there by `place` alone.
//!
//! # Order
//!
//! A turn is one quantum of bytes. A stream whose turn was cut short by the connection's window
//! (`Wait::Credit`) goes on first when the window opens. Then the most urgent level is served.
//!
//! Within a level a round gives every member one turn; those that want to be served one after the
//! other (RFC 9218 calls them not incremental) are one member together. The quantum is fixed when the round begins, so a window that is
//! opened in small steps meanwhile changes nobody's share. A stream that leaves and comes back had
//! its turn: it waits for the next round.
//!
//! *Bound against starvation.* A level that has streams waiting is passed over at most
//! [`PATIENCE`] times in a row; then it gets one turn. So with all eight levels busy each gets at
//! least one turn in every `PATIENCE + 8`.

use super::port::Port;
use super::queue::Queue;
use super::stats::Stats;
use super::stream::{Loan, Order, Rank, Stream, Wait};
use super::streams::{Slot, Streams};

/// How many turns in a row a waiting level lets others go first.
pub(super) const PATIENCE: u32 = 16;

const LEVELS: usize = 8;

/// How far a stream that comes back looks for its place: so far that those whose turn is near keep
/// their order, and not so far that a long list costs time.
const LOOK_AHEAD: usize = 16;

/// The lists of one connection.
#[derive(Debug, Default)]
pub(super) struct Scheduler {
    promises: Queue,
    /// Wait for a concurrency slot.
    open_list: Queue,
    /// Have something to send that needs no credit.
    head_list: Queue,
    /// Have DATA, and wait for their turn.
    send_list: [Level; LEVELS],
    /// Had their turn, and were cut short by the connection's window.
    fctl_list: Queue,
    /// Rounds begun, on all levels.
    rounds: u64,
}

#[derive(Debug, Default)]
struct Level {
    shared: Queue,
    serial: Queue,
    /// The round that is under way.
    round: u64,
    /// What a turn of this round may send.
    quantum: usize,
    /// The round in which those of `serial` had their turn.
    serial_round: u64,
    /// Turns that others had since this level was served or began to wait.
    passed: u32,
}

impl Scheduler {
    /// Makes a stream's membership what it wants. It keeps its place if that is the same, which it
    /// mostly is: so that is found out where it is asked.
    #[inline]
    pub(super) fn place<P: Port>(&mut self, streams: &mut Streams<P>, slot: Slot, wants: Wait) {
        if streams.at(slot).is_some_and(|stream| stream.wait != wants) {
            self.replace(streams, slot, wants);
        }
    }

    fn replace<P: Port>(&mut self, streams: &mut Streams<P>, slot: Slot, wants: Wait) {
        let Some(stream) = streams.at_mut(slot) else {
            return;
        };
        let has = std::mem::replace(&mut stream.wait, wants);
        if !matches!(wants, Wait::Send(_) | Wait::Credit) {
            #[cfg(test)]
            {
                stream.naps += 1;
            }
            // Who sleeps earns no credit for it. Who waits for its own payload does not sleep.
            if stream.loan != Loan::Hidden {
                stream.deficit = 0;
            }
        }
        if let Some(list) = self.list(has) {
            list.unlink(streams, slot);
        }
        self.forget_waiting(has);
        if let Wait::Send(rank) = wants {
            //= RFC 9218 §4.2 what is not incremental is served one by one
            if rank.order == Order::Serial {
                return self.send_list[level_of(rank.urgency)].push_serial(streams, slot);
            }
        }
        if let Some(list) = self.list(wants) {
            list.push_back(streams, slot);
        }
    }

    /// The turn of a stream is over: it goes behind the others of its level.
    pub(super) fn end_turn<P: Port>(&mut self, streams: &mut Streams<P>, slot: Slot) {
        let Some(stream) = streams.at_mut(slot) else {
            return;
        };
        match stream.wait {
            Wait::Credit => {
                let rank = stream.rank;
                self.place(streams, slot, Wait::Send(rank));
            }
            Wait::Send(Rank {
                urgency,
                order: Order::Shared,
            }) => {
                let queue = &mut self.send_list[level_of(urgency)].shared;
                queue.unlink(streams, slot);
                queue.push_back(streams, slot);
            }
            _ => {}
        }
    }

    /// The stream whose turn it is to send DATA. `quantum` is for a round that begins with it.
    pub(super) fn next_turn<P: Port>(
        &mut self,
        streams: &mut Streams<P>,
        quantum: usize,
    ) -> Option<Slot> {
        if let Some(slot) = self.fctl_list.first() {
            return Some(slot);
        }
        let chosen = self.choose_level()?;
        let level = &mut self.send_list[chosen];
        if level.unserved(streams).is_none() {
            self.rounds += 1;
            level.round = self.rounds;
            level.quantum = quantum;
        }
        let slot = level.unserved(streams)?;
        level.begin_turn(streams.at_mut(slot)?);
        Some(slot)
    }

    /// How long the lists are.
    pub(super) fn count_into(&self, stats: &mut Stats) {
        let of_level = |level: &Level| level.shared.len() + level.serial.len();
        stats.waiting_to_open = self.promises.len() + self.open_list.len();
        stats.waiting_for_heads = self.head_list.len();
        stats.waiting_for_turn = self.send_list.iter().map(of_level).sum();
        stats.waiting_for_credit = self.fctl_list.len();
    }

    pub(super) fn has_turns(&self) -> bool {
        !self.fctl_list.is_empty() || self.send_list.iter().any(|level| !level.is_empty())
    }

    pub(super) fn next_promise(&self) -> Option<Slot> {
        self.promises.first()
    }

    pub(super) fn next_open(&self) -> Option<Slot> {
        self.open_list.first()
    }

    pub(super) fn next_head(&self) -> Option<Slot> {
        self.head_list.first()
    }

    /// The most urgent level that waits, or one that has lost its patience. The others that wait are
    /// passed over.
    fn choose_level(&mut self) -> Option<usize> {
        let mut chosen = None;
        let mut longest = PATIENCE;
        for (index, level) in self.send_list.iter_mut().enumerate() {
            if level.is_empty() {
                continue;
            }
            if chosen.is_none() {
                chosen = Some(index);
            } else if level.passed >= longest {
                longest = level.passed;
                chosen = Some(index);
            }
            level.passed = level.passed.saturating_add(1);
        }
        let index = chosen?;
        self.send_list[index].passed = 0;
        Some(index)
    }

    fn list(&mut self, wait: Wait) -> Option<&mut Queue> {
        match wait {
            Wait::Nothing => None,
            Wait::Promise => Some(&mut self.promises),
            Wait::Open => Some(&mut self.open_list),
            Wait::Head => Some(&mut self.head_list),
            Wait::Credit => Some(&mut self.fctl_list),
            Wait::Send(rank) => {
                let level = &mut self.send_list[level_of(rank.urgency)];
                Some(match rank.order {
                    Order::Shared => &mut level.shared,
                    Order::Serial => &mut level.serial,
                })
            }
        }
    }

    /// A level that has nobody waiting any more has not been passed over.
    fn forget_waiting(&mut self, left: Wait) {
        if let Wait::Send(rank) = left {
            let level = &mut self.send_list[level_of(rank.urgency)];
            if level.is_empty() {
                level.passed = 0;
            }
        }
    }
}

impl Level {
    fn is_empty(&self) -> bool {
        self.shared.is_empty() && self.serial.is_empty()
    }

    /// The next member that has not had its whole turn in this round.
    fn unserved<P: Port>(&self, streams: &Streams<P>) -> Option<Slot> {
        let is_within = |slot: &Slot| streams.at(*slot).is_some_and(|stream| stream.deficit > 0);
        let is_new = |slot: &Slot| {
            let round = streams.at(*slot).map(|stream| stream.round);
            round.is_some_and(|round| round != self.round)
        };
        let serial = self.serial.first();
        let shared = self.shared.first();
        serial
            .filter(|slot| self.serial_round != self.round || is_within(slot))
            .or_else(|| shared.filter(|slot| is_new(slot) || is_within(slot)))
    }

    /// Among those that are served one after the other the one that was opened first goes first, also
    /// if it was away for a while because its producer was slower than the wire.
    fn push_serial<P: Port>(&mut self, streams: &mut Streams<P>, slot: Slot) {
        let id_of = |slot: Slot| streams.at(slot).map(|stream| stream.id);
        let is_later = |at: &Slot| id_of(*at) > id_of(slot);
        let later = self.serial.members(streams).take(LOOK_AHEAD).find(is_later);
        self.serial.insert(streams, slot, later);
    }

    /// Gives a stream its quantum, unless it is within its turn.
    fn begin_turn<P: Port>(&mut self, stream: &mut Stream<P>) {
        if stream.deficit == 0 {
            stream.deficit = self.quantum;
            stream.round = self.round;
        }
        if stream.rank.order == Order::Serial {
            self.serial_round = self.round;
        }
    }
}

fn level_of(urgency: u8) -> usize {
    usize::from(urgency).min(LEVELS - 1)
}

#[cfg(test)]
impl Scheduler {
    /// How many streams are on the lists.
    pub(super) fn members<P: Port>(&self, streams: &Streams<P>) -> usize {
        let levels = self
            .send_list
            .iter()
            .flat_map(|level| [level.shared, level.serial]);
        let lists = [
            self.promises,
            self.open_list,
            self.head_list,
            self.fctl_list,
        ];
        let count = |list: Queue| list.members(streams).count();
        levels.chain(lists).map(count).sum()
    }
}
