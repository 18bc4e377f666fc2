//! The hand-over between the handles of the application and the one task of a connection: the
//! only concurrency of the crate.
//!
//! Owns: stream cells, the mailbox, the opening queue, what handles read of the connection, the
//! send room, and every waker of the application. Does not know: frames, sockets, schedules. Keeps
//! I7 (wake once, wake always) and the producers' part of I3 (bounded).
//!
//! # Who is who
//!
//! A stream's *cell* is two halves: an [`inbox::Inbox`] (what the peer sent; it is free of the
//! payload type) and an [`outbox::Outbox`] (what the application sends), each with a lock of its
//! own. Handles ([`handles::Reader`], [`handles::Writer`]) are counted references to the halves.
//! The connection task reaches the cell through [`cell::Cell`], the implementation of
//! `proto::port::Port` that lies in the stream's slot.
//!
//! # Rules
//!
//! 1. *One lock at a time.* At most one half of one cell is locked, and under it at most one leaf
//!    (mailbox, opening queue, ping). Never two halves, nothing under a leaf.
//! 2. *Nothing foreign under a lock.* No waker is cloned, woken or dropped, no `Buf` is asked,
//!    advanced or dropped, no header map is dropped under a lock. Values are swapped out and
//!    handled after it.
//! 3. *Address.* A cell is new, in a slot (it has a key), or gone. Only the task moves it on, and
//!    never back. A new cell is not posted: whoever adopts it collects it afterwards. A gone cell
//!    is never posted.
//! 4. *Post.* A handle first changes its half under the half's lock, then posts the cell's key,
//!    unless the posted mark is set. The task clears the mark **before** it locks the halves to
//!    collect. If a handle found the mark set, the clearing, and so the collecting, is still to
//!    come: had the collection of that half been earlier, its lock would have shown the handle the
//!    cleared mark.
//! 5. *Mailbox.* A key is pushed under the mailbox lock; the push that finds it empty wakes the
//!    task. The task registers its waker before it takes the keys.
//! 6. *Waiting.* A handle that must wait stores its waker under the lock of the half under which it
//!    found nothing. Whoever changes what it waits for does so under that lock, takes the waker
//!    out and wakes it afterwards.
//! 7. *Credit.* Receive credit is counted under the inbox lock, in one of three places: the slot
//!    collects it; the connection-wide counter, once the slot is gone (whoever finds that at zero
//!    wakes the task); nobody, once the stream has been reset, because the reset returned all of it.
//! 8. *Last handle.* The handle that brings the count to zero posts; the task finds the count at
//!    zero and abandons the stream. Handles are only cloned from handles, so zero is final. The task
//!    looks at the count between the clearing of the mark and the collecting of the outbox: what the
//!    last handle sent before it went is collected with its going.

mod account;
mod address;
mod cell;
mod credit;
mod handles;
mod inbox;
mod opening;
mod outbox;
mod ping;
mod received;
mod room;
mod sending;
mod shared;
mod waiting;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use cell::Cell;
pub(crate) use handles::{PollReset, Promise, Reader, Unopened, Writer};
pub(crate) use opening::Hub;
pub(crate) use shared::{Limits, Shared};
