//! The server of a soak in one process: the paths of `serve`, and one that resets.

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use fairmux::{Error, Reason, RecvStream, SendStream, server};
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::sleep;

use crate::assert_empty;

static PIECE: [u8; 16 * 1024] = [7; 16 * 1024];

/// What its connections have left behind.
#[derive(Default)]
pub(crate) struct Server {
    streams_left: Mutex<usize>,
}

impl Server {
    pub(crate) fn streams_left(&self) -> usize {
        *self.streams_left.lock().unwrap()
    }

    /// Serves a connection until it ends, well or not.
    pub(crate) async fn serve<T>(self: std::sync::Arc<Self>, io: T)
    where
        T: AsyncRead + AsyncWrite + Unpin,
    {
        let mut builder = server::Builder::new();
        builder.hardened();
        let Ok(mut connection) = builder.handshake::<_, Bytes>(io).await else {
            return;
        };
        let mut result = Ok(());
        while let Some(accepted) = connection.accept().await {
            match accepted {
                Ok((request, respond)) => drop(tokio::spawn(answer(request, respond))),
                Err(error) => result = Err(error),
            }
        }
        let stats = connection.stats();
        *self.streams_left.lock().unwrap() += stats.streams_alive;
        match result {
            Ok(()) => assert_empty(&stats),
            // A client that breaks off: a limit that it met would be told by GOAWAY.
            Err(error) => assert!(error.is_io(), "{error}"),
        }
    }
}

async fn answer(
    mut request: Request<RecvStream>,
    mut respond: server::SendResponse<Bytes>,
) -> Result<(), Error> {
    let path = request.uri().path().to_owned();
    let mut body = respond.send_response(Response::new(()), path == "/")?;
    match path.as_str() {
        "/" => Ok(()),
        "/echo" => echo(request.body_mut(), &mut body).await,
        "/sink" => {
            let length = sink(request.body_mut()).await?;
            body.send_data(format!("{length}\n").into(), true)
        }
        "/reset" => {
            body.send(Bytes::from_static(&PIECE)).await?;
            sleep(Duration::from_millis(1)).await;
            body.send_reset(Reason::INTERNAL_ERROR);
            Ok(())
        }
        path => {
            let mut left: usize = path.rsplit('/').next().unwrap().parse().unwrap();
            while left > 0 {
                let length = left.min(PIECE.len());
                body.send(Bytes::from_static(&PIECE[..length])).await?;
                left -= length;
            }
            body.send_data(Bytes::new(), true)
        }
    }
}

async fn echo(from: &mut RecvStream, to: &mut SendStream<Bytes>) -> Result<(), Error> {
    while let Some(piece) = from.data().await {
        let piece = piece?;
        let length = piece.len();
        to.send(piece).await?;
        from.flow_control().release_capacity(length)?;
    }
    to.send_data(Bytes::new(), true)
}

async fn sink(from: &mut RecvStream) -> Result<usize, Error> {
    let mut all = 0;
    while let Some(piece) = from.data().await {
        let length = piece?.len();
        from.flow_control().release_capacity(length)?;
        all += length;
    }
    Ok(all)
}
