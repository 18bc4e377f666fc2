//! Servers on fairmux and on h2: the same words for both.

use std::future::poll_fn;

use bytes::Bytes;
use http::Request;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Order;
use super::answer::{self, AT_ONCE, Asked, LONGEST};

macro_rules! server {
    ($name:ident, $library:ident) => {
        pub(super) mod $name {
            use $library::server::{Builder, SendResponse};
            use $library::{Error, Reason, RecvStream, SendStream};

            use super::*;

            pub(crate) async fn serve<T>(io: T, order: &Order)
            where
                T: AsyncRead + AsyncWrite + Unpin,
            {
                let mut builder = Builder::new();
                builder
                    .max_concurrent_streams(100)
                    .initial_window_size(order.windows[0])
                    .initial_connection_window_size(order.windows[1]);
                set_up(&mut builder, order);
                let Ok(mut connection) = builder.handshake(io).await else {
                    return;
                };
                while let Some(Ok((request, respond))) = connection.accept().await {
                    // An error means that the client has left.
                    let _ = answer(request, respond);
                }
            }

            fn answer(
                request: Request<RecvStream>,
                mut respond: SendResponse<Bytes>,
            ) -> Result<(), Error> {
                match Asked::of(&request) {
                    Asked::Bytes(length) if length <= AT_ONCE => {
                        let mut body = respond.send_response(answer::head(length, ()), false)?;
                        body.send_data(answer::piece(length), true)?;
                    }
                    Asked::Bytes(length) => {
                        let body = respond.send_response(answer::head(length, ()), false)?;
                        tokio::spawn(generate(body, length));
                    }
                    Asked::Sink => drop(tokio::spawn(sink(request.into_body(), respond))),
                    Asked::Wait => drop(tokio::spawn(async move {
                        let _ = poll_fn(|cx| respond.poll_reset(cx)).await;
                    })),
                }
                Ok(())
            }

            async fn generate(mut body: SendStream<Bytes>, length: u64) -> Result<(), Error> {
                let mut left = length;
                while left > 0 {
                    let now = capacity(&mut body, left.min(LONGEST as u64)).await?;
                    let piece = answer::piece(now);
                    left -= piece.len() as u64;
                    body.send_data(piece, left == 0)?;
                }
                Ok(())
            }

            async fn capacity(body: &mut SendStream<Bytes>, wish: u64) -> Result<u64, Error> {
                body.reserve_capacity(wish as usize);
                loop {
                    match body.capacity() as u64 {
                        0 => {}
                        some => return Ok(some.min(wish)),
                    }
                    match poll_fn(|cx| body.poll_capacity(cx)).await {
                        Some(Ok(_)) => {}
                        Some(Err(why)) => return Err(why),
                        None => return Err(Reason::CANCEL.into()),
                    }
                }
            }

            async fn sink(
                mut body: RecvStream,
                mut respond: SendResponse<Bytes>,
            ) -> Result<(), Error> {
                while let Some(data) = body.data().await {
                    let length = data?.len();
                    body.flow_control().release_capacity(length)?;
                }
                respond.send_response(answer::head(0, ()), true).map(drop)
            }
        }
    };
}

server!(on_fairmux, fairmux);
server!(on_h2, h2);

/// As in `examples/serve`.
const BATCH: usize = 256 * 1024;

/// What only one of the two has.
trait Knobs {
    fn knobs(&mut self, order: &Order);
}

fn set_up(builder: &mut impl Knobs, order: &Order) {
    builder.knobs(order);
}

impl Knobs for fairmux::server::Builder {
    fn knobs(&mut self, order: &Order) {
        self.batch_size(order.batch.unwrap_or(BATCH));
        self.send_room(order.room.unwrap_or(2 * BATCH));
    }
}

impl Knobs for h2::server::Builder {
    fn knobs(&mut self, _: &Order) {}
}
