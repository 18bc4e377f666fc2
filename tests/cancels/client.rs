//! The client: downloads, and what it does to them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use fairmux::client::{Builder, SendRequest};
use fairmux::{Error, Ping, PingPong, Reason, RecvStream, SendStream};
use http::Request;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::fate::{Dice, Fate};
use super::server::{PERIOD, pattern};

/// How downloads ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) whole: usize,
    pub(crate) dropped: usize,
    pub(crate) reset: usize,
    /// Given up by either side, for lack of time.
    pub(crate) late: usize,
    /// Ended early by the server.
    pub(crate) failed: usize,
    bytes: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        self.whole += other.whole;
        self.dropped += other.dropped;
        self.reset += other.reset;
        self.late += other.late;
        self.failed += other.failed;
        self.bytes += other.bytes;
    }
}

/// The client's side of a connection.
pub(crate) struct Link {
    requests: SendRequest<Bytes>,
    pings: PingPong,
    running: JoinHandle<Result<(), Error>>,
}

pub(crate) async fn connect(io: TcpStream, dice: &mut Dice) -> Link {
    let mut builder = Builder::new();
    builder
        .initial_window_size(dice.pick(&[20_000, 65_535, 1 << 20]))
        .initial_connection_window_size(dice.pick(&[65_535, 200_000, 1 << 20]));
    let (requests, mut connection) = builder.handshake::<_, Bytes>(io).await.unwrap();
    let pings = connection.ping_pong().unwrap();
    Link {
        requests,
        pings,
        running: tokio::spawn(connection),
    }
}

impl Link {
    pub(crate) fn requests(&self) -> SendRequest<Bytes> {
        self.requests.clone()
    }

    pub(crate) async fn ping(&mut self) {
        self.pings.ping(Ping::opaque()).await.unwrap();
    }

    /// Without handles the connection ends by itself.
    pub(crate) async fn close(self) {
        drop((self.requests, self.pings));
        self.running.await.unwrap().unwrap();
    }
}

/// One download and its fate. What comes is right in any case, and what is not disturbed is whole.
pub(crate) async fn download(
    requests: SendRequest<Bytes>,
    dice: &mut Dice,
    size: usize,
    moved: &AtomicU64,
    tally: &mut Tally,
) {
    let fate = dice.fate(size);
    let mut request = Request::get("http://example.com/").header("size", size);
    request = match fate {
        Fate::LateAtServer(time) => request.header("patience", time.as_micros() as u64),
        Fate::FailsAt(at) => request.header("fails-at", at),
        Fate::VanishesAt(at) => request.header("vanishes-at", at),
        _ => request,
    };
    let mut requests = requests.ready().await.unwrap();
    let (response, mut sender) = requests
        .send_request(request.body(()).unwrap(), true)
        .unwrap();
    let mut got = 0;
    let most = match fate {
        Fate::DroppedAt(at) | Fate::ResetAt(at) => at,
        _ => usize::MAX,
    };
    let pause = Duration::from_micros(dice.pick(&[0, 0, 0, 100, 3_000]));
    let reading = async {
        let mut body = response.await?.into_body();
        read(&mut body, &mut got, most, pause, moved).await?;
        Ok::<RecvStream, Error>(body)
    };
    let outcome = match fate {
        Fate::LateAtClient(time) => timeout(time, reading).await.ok(),
        _ => Some(reading.await),
    };
    tally.bytes += got as u64;
    judge(fate, outcome, got == size, &mut sender, tally);
}

fn judge(
    fate: Fate,
    outcome: Option<Result<RecvStream, Error>>,
    is_whole: bool,
    sender: &mut SendStream<Bytes>,
    tally: &mut Tally,
) {
    let reason = |outcome: &Option<Result<RecvStream, Error>>| match outcome {
        Some(Err(error)) => error.reason(),
        _ => None,
    };
    match fate {
        Fate::Whole => {
            assert!(matches!(&outcome, Some(Ok(_))) && is_whole, "{outcome:?}");
            tally.whole += 1;
        }
        Fate::DroppedAt(_) => {
            assert!(matches!(&outcome, Some(Ok(_))), "{outcome:?}");
            tally.dropped += 1;
        }
        Fate::ResetAt(_) => {
            assert!(matches!(&outcome, Some(Ok(_))), "{outcome:?}");
            sender.send_reset(Reason::CANCEL);
            tally.reset += 1;
        }
        Fate::LateAtClient(_) if outcome.is_none() => tally.late += 1,
        Fate::LateAtServer(_) if reason(&outcome) == Some(Reason::CANCEL) => tally.late += 1,
        Fate::LateAtClient(_) | Fate::LateAtServer(_) => {
            assert!(matches!(&outcome, Some(Ok(_))) && is_whole, "{outcome:?}");
            tally.whole += 1;
        }
        Fate::FailsAt(_) => {
            assert_eq!(reason(&outcome), Some(Reason::INTERNAL_ERROR));
            tally.failed += 1;
        }
        Fate::VanishesAt(_) => {
            assert_eq!(reason(&outcome), Some(Reason::CANCEL));
            tally.failed += 1;
        }
    }
}

/// Reads to the end, or until `most` has come.
async fn read(
    body: &mut RecvStream,
    got: &mut usize,
    most: usize,
    pause: Duration,
    moved: &AtomicU64,
) -> Result<(), Error> {
    let pattern = pattern();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        let at = *got % PERIOD;
        assert!(
            piece == pattern[at..at + piece.len()],
            "wrong bytes from {got} on"
        );
        *got += piece.len();
        moved.fetch_add(piece.len() as u64, Ordering::Relaxed);
        if *got >= most {
            // What came beyond is of no interest, and not released.
            return Ok(());
        }
        body.flow_control().release_capacity(piece.len())?;
        if !pause.is_zero() && *got % (PERIOD / 10) == 0 {
            sleep(pause).await;
        }
    }
    Ok(())
}
