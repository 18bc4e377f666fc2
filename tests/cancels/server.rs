//! The server: answers with as many bytes as it is asked for, unless it is to fail before.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use fairmux::server::{Builder, SendResponse};
use fairmux::{Error, Reason, RecvStream, SendStream, Stats};
use http::{Request, Response};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Byte n of each body is n modulo this.
pub(crate) const PERIOD: usize = 251;
const PIECE: usize = 64 * 1024;

/// Bytes from any place of a body on, found at that place modulo the period.
pub(crate) fn pattern() -> Bytes {
    static PATTERN: Mutex<Option<Bytes>> = Mutex::new(None);
    let mut made = PATTERN.lock().unwrap();
    let make = || (0..2 * PIECE).map(|at| (at % PERIOD) as u8).collect();
    made.get_or_insert_with(make).clone()
}

/// What a server's side last said of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Served(Arc<Mutex<Stats>>);

impl Served {
    pub(crate) fn stats(&self) -> Stats {
        *self.0.lock().unwrap()
    }
}

pub(crate) async fn serve(io: TcpStream, room: usize, served: Served) {
    let mut builder = Builder::new();
    builder.send_room(room);
    let mut connection = builder.handshake::<_, Bytes>(io).await.unwrap();
    loop {
        let accepted = poll_fn(|cx| {
            let accepted = connection.poll_accept(cx);
            *served.0.lock().unwrap() = connection.stats();
            accepted
        });
        match accepted.await {
            Some(Ok((request, respond))) => drop(tokio::spawn(answer(request, respond))),
            Some(Err(error)) => panic!("a connection ends well: {error}"),
            None => return,
        }
    }
}

/// An answer that fails was cancelled.
async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> Result<(), Error> {
    let number = |name: &str| {
        let value = request.headers().get(name)?;
        value.to_str().unwrap().parse::<usize>().ok()
    };
    let size = number("size").unwrap();
    let mut body = respond.send_response(Response::new(()), false)?;
    if let Some(at) = number("fails-at") {
        send(&mut body, at).await?;
        body.send_reset(Reason::INTERNAL_ERROR);
    } else if let Some(at) = number("vanishes-at") {
        send(&mut body, at).await?;
    } else if let Some(micros) = number("patience") {
        let patience = Duration::from_micros(micros as u64);
        match timeout(patience, send(&mut body, size)).await {
            Ok(sent) => return sent.and_then(|()| body.send_data(Bytes::new(), true)),
            Err(_) => body.send_reset(Reason::CANCEL),
        }
    } else {
        send(&mut body, size).await?;
        return body.send_data(Bytes::new(), true);
    }
    Ok(())
}

/// Pieces of all sizes, one after the other. Every second stream waits for capacity before it hands
/// something over; the others hand over and wait then.
async fn send(body: &mut SendStream<Bytes>, size: usize) -> Result<(), Error> {
    let pattern = pattern();
    let waits_first = body.stream_id().as_u32() % 4 == 1;
    let mut sent = 0;
    let mut piece = 1;
    while sent < size {
        piece = (piece * 7 + 11) % PIECE + 1;
        let mut length = piece.min(size - sent);
        let at = sent % PERIOD;
        if waits_first {
            length = capacity(body, length).await?;
            body.send_data(pattern.slice(at..at + length), false)?;
        } else {
            body.send(pattern.slice(at..at + length)).await?;
        }
        sent += length;
    }
    Ok(())
}

/// Waits for capacity; at most for so many bytes.
async fn capacity(body: &mut SendStream<Bytes>, most: usize) -> Result<usize, Error> {
    body.reserve_capacity(most);
    while body.capacity() == 0 {
        let more = poll_fn(|cx| body.poll_capacity(cx)).await;
        more.ok_or(Error::from(Reason::CANCEL))??;
    }
    Ok(body.capacity().min(most))
}
