//! What the clients of a soak do on one connection, and how often they did it.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use fairmux::client::{ResponseFuture, SendRequest};
use fairmux::{Error, Reason, RecvStream, SendStream};
use http::{Request, Response};
use tokio::time::{Instant, sleep};

static PIECE: [u8; 9000] = [9; 9000];

/// The kinds of call.
const KINDS: [&str; 8] = [
    "small",
    "large",
    "slow",
    "cancelled",
    "unanswered",
    "upload",
    "echo",
    "given up",
];

/// Numbers by chance, the same ones in each run.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 20) % bound
    }
}

/// How often what was done.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    calls: [u64; KINDS.len()],
    resets: u64,
    connections: u64,
    broken_off: u64,
}

impl Tally {
    pub(crate) fn connection() -> Tally {
        Tally {
            connections: 1,
            ..Tally::default()
        }
    }

    pub(crate) fn broken_off() -> Tally {
        Tally {
            broken_off: 1,
            ..Tally::connection()
        }
    }

    pub(crate) fn and(mut self, other: Tally) -> Tally {
        for (here, there) in self.calls.iter_mut().zip(other.calls) {
            *here += there;
        }
        self.resets += other.resets;
        self.connections += other.connections;
        self.broken_off += other.broken_off;
        self
    }

    pub(crate) fn covers_all(&self) -> bool {
        let others = [self.resets, self.connections, self.broken_off];
        self.calls.iter().chain(&others).all(|count| *count > 0)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, lost) = (self.connections, self.broken_off);
        write!(f, "{all} connections ({lost} broken off)")?;
        for (count, kind) in self.calls.iter().zip(KINDS) {
            write!(f, ", {count} {kind}")?;
        }
        write!(f, ", {} reset by the server", self.resets)
    }
}

/// Calls on one connection.
#[derive(Clone)]
pub(crate) struct Caller {
    requests: SendRequest<Bytes>,
}

type Call = (ResponseFuture, SendStream<Bytes>);

impl Caller {
    pub(crate) fn new(requests: SendRequest<Bytes>) -> Caller {
        Caller { requests }
    }

    /// One call after the other, of any kind.
    pub(crate) async fn calls(
        mut self,
        until: Instant,
        mut chance: Chance,
    ) -> Result<Tally, Error> {
        let mut tally = Tally::default();
        while Instant::now() < until {
            if chance.below(20) == 0 {
                self.reset().await?;
                tally.resets += 1;
            }
            let kind = chance.below(KINDS.len() as u64);
            match kind {
                0 => whole(self.get("/bytes/40").await?, 40, None).await?,
                1 => whole(self.get("/bytes/300000").await?, 300_000, None).await?,
                2 => {
                    let pause = Duration::from_millis(5 + chance.below(20));
                    whole(self.get("/bytes/200000").await?, 200_000, Some(pause)).await?;
                }
                3 => cancelled(self.get("/bytes/10000000").await?).await?,
                4 => drop(self.get("/bytes/100000").await?),
                5 => self.upload("/sink", 100_000).await?,
                6 => self.upload("/echo", 50_000).await?,
                _ => self.given_up().await?,
            }
            tally.calls[kind as usize] += 1;
            sleep(Duration::from_millis(chance.below(60))).await;
        }
        Ok(tally)
    }

    async fn get(&mut self, path: &str) -> Result<Call, Error> {
        self.ask(Request::get(url(path)), true).await
    }

    async fn post(&mut self, path: &str) -> Result<Call, Error> {
        self.ask(Request::post(url(path)), false).await
    }

    async fn ask(&mut self, request: http::request::Builder, end: bool) -> Result<Call, Error> {
        self.requests = self.requests.clone().ready().await?;
        self.requests.send_request(request.body(()).unwrap(), end)
    }

    /// Sends, and reads what comes back.
    async fn upload(&mut self, path: &str, length: usize) -> Result<(), Error> {
        let (response, mut body) = self.post(path).await?;
        let sending = async {
            let mut left = length;
            while left > 0 {
                let piece = left.min(PIECE.len());
                body.send(Bytes::from_static(&PIECE[..piece])).await?;
                left -= piece;
            }
            body.send_data(Bytes::new(), true)
        };
        let reading = async {
            let mut answer = response.await?.into_body();
            read(&mut answer, None).await
        };
        let ((), received) = tokio::try_join!(sending, reading)?;
        let wanted = match path {
            "/echo" => length,
            _ => length.to_string().len() + 1,
        };
        assert_eq!(received, wanted, "{path}");
        Ok(())
    }

    /// An upload that ends in the middle, and its answer with it.
    async fn given_up(&mut self) -> Result<(), Error> {
        let (response, mut body) = self.post("/echo").await?;
        body.send(Bytes::from_static(&PIECE)).await?;
        let mut answer = response.await?.into_body();
        answer.data().await.transpose()?;
        body.send_reset(Reason::CANCEL);
        Ok(())
    }

    /// A response that the server resets, if it knows the path.
    async fn reset(&mut self) -> Result<(), Error> {
        let (response, _) = self.get("/reset").await?;
        let answer = match response.await {
            Ok(answer) if answer.status() == 404 => return Ok(()),
            Ok(answer) => read(&mut answer.into_body(), None).await.map(drop),
            Err(error) => Err(error),
        };
        match answer {
            Err(error) if error.is_reset() => Ok(()),
            Err(error) => Err(error),
            Ok(()) => panic!("it was not reset"),
        }
    }
}

fn url(path: &str) -> String {
    format!("http://soak.test{path}")
}

/// Reads a response to its end.
async fn whole(call: Call, length: usize, pause: Option<Duration>) -> Result<(), Error> {
    let response: Response<RecvStream> = call.0.await?;
    assert_eq!(read(&mut response.into_body(), pause).await?, length);
    Ok(())
}

/// Reads the beginning of a response and lets go of it.
async fn cancelled(call: Call) -> Result<(), Error> {
    let mut body = call.0.await?.into_body();
    body.data().await.transpose().map(drop)
}

/// Reads a body, with a pause behind each piece.
async fn read(body: &mut RecvStream, pause: Option<Duration>) -> Result<usize, Error> {
    let mut all = 0;
    while let Some(piece) = body.data().await {
        let length = piece?.len();
        if let Some(pause) = pause {
            sleep(pause).await;
        }
        body.flow_control().release_capacity(length)?;
        all += length;
    }
    Ok(all)
}
