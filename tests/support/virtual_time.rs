//! A server with a timer on one end of a pipe, on virtual time.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use fairmux::{Error, RecvStream, server};
use http::Request;
use tokio::io::{DuplexStream, duplex};
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio::time::{Instant, sleep_until};

pub(crate) struct TokioTimer;

impl fairmux::Timer for TokioTimer {
    fn sleep_until(
        &self,
        deadline: std::time::Instant,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + Sync>> {
        Box::pin(sleep_until(deadline.into()))
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }
}

/// Waiting costs no time.
pub(crate) fn on_virtual_time(script: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    LocalSet::new().block_on(&runtime.unwrap(), script);
}

/// How a connection of the server ended.
pub(crate) type Served = JoinHandle<Result<(), Error>>;

/// A server over a pipe of `size` octets, which lets `answer` answer every request.
pub(crate) fn serve<F: Future + 'static>(
    builder: &server::Builder,
    size: usize,
    answer: fn(Request<RecvStream>, server::SendResponse<Bytes>) -> F,
) -> (DuplexStream, Served) {
    let (near, far) = duplex(size);
    let handshake = builder.handshake::<_, Bytes>(far);
    let served = spawn_local(async move {
        let mut connection = handshake.await?;
        while let Some(accepted) = connection.accept().await {
            let (request, respond) = accepted?;
            let answer = answer(request, respond);
            spawn_local(async { drop(answer.await) });
        }
        Ok(())
    });
    (near, served)
}
