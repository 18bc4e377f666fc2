//! Tests of the driver: scripted I/O for its two sides, two drivers for the whole.

mod answers;
mod asleep;
pub(crate) mod clock;
mod end;
mod pair;
mod reader;
mod reads;
mod script;
mod writer;

use std::task::Context;

use bytes::Buf;
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Driver, Stage, Turn};
use crate::error::Error;
use crate::handoff::Cell;

/// What is to happen after one turn.
pub(crate) enum Next {
    /// Another turn, at once.
    Turn,
    /// Something will wake the task.
    Sleep,
    /// Nothing any more.
    Over(Result<(), Error>),
}

/// Turn by turn, for a simulation.
impl<T, B> Driver<T, B>
where
    T: AsyncRead + AsyncWrite + Unpin,
    B: Buf,
{
    pub(crate) fn one_turn(&mut self, cx: &mut Context<'_>) -> Next {
        let next = self.turn(cx);
        match (&self.stage, next) {
            (Stage::Over(result), _) => Next::Over(result.clone()),
            (_, Turn::Again) => Next::Turn,
            (_, Turn::Wait) => Next::Sleep,
        }
    }

    /// A stream of the peer's that came with an earlier turn.
    pub(crate) fn accept_now(&mut self) -> Option<Cell<B>> {
        self.connection.next_accept()
    }

    /// Whether something is on its way that the I/O type has not taken.
    pub(crate) fn holds_output(&mut self) -> bool {
        !self.writer.is_idle()
    }
}
