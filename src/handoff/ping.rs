//! The application's one PING: asked for, on its way, answered.
//!
//! Owns: its state and the waker of who waits for the answer. Does not know: frames, time. Keeps
//! I7 for `PingPong`.

use std::task::{Context, Poll};

use super::waiting::{Waiting, poll_locked, wake};
use crate::error::{Error, Misuse};
use crate::sync::{Mutex, lock};

/// One PING of the application at a time.
#[derive(Debug, Default)]
pub(super) struct UserPing {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    stage: Stage,
    pong: Waiting,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Idle,
    /// The task has not yet seen it.
    Asked([u8; 8]),
    Sent,
    Answered,
    Closed(Error),
}

impl UserPing {
    pub(super) fn ask(&self, payload: [u8; 8]) -> Result<(), Error> {
        let mut state = lock(&self.state);
        match &state.stage {
            Stage::Idle => {
                state.stage = Stage::Asked(payload);
                Ok(())
            }
            Stage::Closed(error) => Err(error.clone()),
            Stage::Asked(_) | Stage::Sent | Stage::Answered => {
                Err(Misuse::SendPingWhilePending.into())
            }
        }
    }

    pub(super) fn take(&self) -> Option<[u8; 8]> {
        let mut state = lock(&self.state);
        match state.stage {
            Stage::Asked(payload) => {
                state.stage = Stage::Sent;
                Some(payload)
            }
            _ => None,
        }
    }

    pub(super) fn answered(&self) {
        let waker = {
            let mut state = lock(&self.state);
            if matches!(state.stage, Stage::Sent) {
                state.stage = Stage::Answered;
            }
            state.pong.take()
        };
        wake(waker);
    }

    pub(super) fn close(&self, error: Error) {
        let mut replaced = None;
        let waker = {
            let mut state = lock(&self.state);
            if !matches!(state.stage, Stage::Closed(_)) {
                replaced = Some(std::mem::replace(&mut state.stage, Stage::Closed(error)));
            }
            state.pong.take()
        };
        drop(replaced);
        wake(waker);
    }

    pub(super) fn poll_answered(&self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        poll_locked(
            &self.state,
            cx,
            |s| &mut s.pong,
            |state| match &state.stage {
                Stage::Answered => {
                    state.stage = Stage::Idle;
                    Poll::Ready(Ok(()))
                }
                Stage::Closed(error) => Poll::Ready(Err(error.clone())),
                Stage::Idle | Stage::Asked(_) | Stage::Sent => Poll::Pending,
            },
        )
    }
}
