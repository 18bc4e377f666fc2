//! The conversation: requests, responses, bodies both ways that wait for windows and for room, trailers,
//! 1xx, a push, a PING, resets from either side, and more requests than the server takes at once.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use fairmux::{Error, Ping, Reason, RecvStream, SendStream, client, server};
use http::{HeaderMap, Request, Response};

use crate::calls::{Calls, Held, Payload, request};
use crate::pipe::{End, Fault, Seen, pipe};
use crate::tasks::{Spawner, Tasks};

/// What one run does differently.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    /// At the client's end and at the server's.
    pub(crate) faults: [Fault; 2],
    /// The poll in whose place a task is dropped.
    pub(crate) drop_at: Option<usize>,
    /// After so many requests the server shuts down.
    pub(crate) goes_away: Option<usize>,
    /// Callbacks are made, and drawn from this.
    pub(crate) calls: Option<usize>,
}

/// What one run was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) seen: [Seen; 2],
    pub(crate) polls: usize,
    pub(crate) calls_left: usize,
}

/// How long bodies are; the windows of streams are a third of it.
const BODY: usize = 900;

const PATHS: [&str; 7] = [
    "/plain",
    "/echo",
    "/early",
    "/refused",
    "/cancelled",
    "/unread",
    "/echo",
];

/// Runs the conversation, to an end at which every task has its answer.
pub(crate) fn run(case: &Case) -> Run {
    let calls = case.calls.map_or_else(Calls::none, Calls::new);
    let mut tasks = Tasks::new(Arc::clone(&calls), case.drop_at);
    let ([near, far], seen) = pipe(case.faults, &calls);
    let spawner = tasks.spawner();
    let side = Rc::new(Side {
        spawner: spawner.clone(),
        calls: Arc::clone(&calls),
    });
    let goes_away = case.goes_away;
    spawner.spawn("server", serve(far, Rc::clone(&side), goes_away));
    spawner.spawn("client", call(near, side));
    tasks.run();
    let calls_left = calls.end();
    tasks.run();
    let unfinished = tasks.unfinished();
    assert!(
        unfinished.is_empty(),
        "{unfinished:?} wait for ever: {case:?}"
    );
    Run {
        seen: seen.map(|seen| *seen.borrow()),
        polls: tasks.polls(),
        calls_left,
    }
}

/// What the tasks of both ends share.
struct Side {
    spawner: Spawner,
    calls: Arc<Calls>,
}

async fn serve(io: End, side: Rc<Side>, goes_away: Option<usize>) {
    let mut options = server::Builder::new();
    options
        .max_concurrent_streams(2)
        .initial_window_size(300)
        .max_send_buffer_size(400)
        .send_room(500)
        .reset_stream_duration(std::time::Duration::ZERO);
    let Ok(mut connection) = options.handshake::<_, Payload>(io).await else {
        return;
    };
    let mut served = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        let task = answer(request, respond, Rc::clone(&side));
        side.spawner.spawn("answer", async {
            let _ = task.await;
        });
        served += 1;
        if Some(served) == goes_away {
            connection.graceful_shutdown();
        }
    }
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: server::SendResponse<Payload>,
    side: Rc<Side>,
) -> Result<(), Error> {
    let calls = &side.calls;
    let (parts, mut body) = request.into_parts();
    match parts.uri.path() {
        "/refused" => {
            read(&mut body, 1).await?;
            respond.send_reset(Reason::ENHANCE_YOUR_CALM);
            return Ok(());
        }
        "/cancelled" => {
            poll_fn(|cx| respond.poll_reset(cx)).await?;
            return Ok(());
        }
        "/early" => {
            let early = Response::builder().status(103).body(()).unwrap();
            respond.send_informational(early)?;
            let pushed = Request::get("http://example.test/pushed").body(()).unwrap();
            let mut pushed = respond.push_request(pushed)?;
            let mut stream = pushed.send_response(Response::new(()), false)?;
            let length = BODY;
            let calls = Arc::clone(calls);
            side.spawner.spawn("push", async move {
                let _ = stream.send(Payload::new(length, &calls)).await;
                let _ = stream.send_data(Payload::quiet(0), true);
            });
        }
        "/echo" => read(&mut body, usize::MAX).await?,
        _ => {}
    }
    let stream = respond.send_response(Response::new(()), false)?;
    if calls.are_made() {
        calls.keep(Held::Answer(respond));
        calls.keep(Held::Body(body));
    }
    send(stream, calls).await
}

/// In both ways in which a body can be sent.
async fn send(mut stream: SendStream<Payload>, calls: &Arc<Calls>) -> Result<(), Error> {
    stream.send(Payload::new(BODY / 2, calls)).await?;
    let mut left = BODY / 2;
    while left > 0 {
        stream.reserve_capacity(left);
        let Some(capacity) = poll_fn(|cx| stream.poll_capacity(cx)).await else {
            return Ok(());
        };
        let length = capacity?.min(left);
        stream.send_data(Payload::new(length, calls), false)?;
        left -= length;
    }
    if calls.are_made() {
        // Some of it is still on its way, and its payloads now call this very stream.
        calls.keep(Held::Sender(stream));
        return Ok(());
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("checked", "yes".parse().unwrap());
    stream.send_trailers(trailers)
}

async fn read(body: &mut RecvStream, most: usize) -> Result<(), Error> {
    let mut read = 0;
    while read < most {
        let Some(data) = body.data().await else {
            break;
        };
        read += data?.len();
        let out = body.flow_control().used_capacity();
        body.flow_control().release_capacity(out)?;
    }
    if read < most {
        body.trailers().await?;
    }
    Ok(())
}

async fn call(io: End, side: Rc<Side>) {
    let mut options = client::Builder::new();
    options
        .initial_window_size(300)
        .max_send_buffer_size(400)
        .send_room(500)
        .reset_stream_duration(std::time::Duration::ZERO);
    let Ok((requests, mut connection)) = options.handshake::<_, Payload>(io).await else {
        return;
    };
    let mut pings = connection.ping_pong().unwrap();
    side.spawner.spawn("connection", async {
        let _ = connection.await;
    });
    let ping_side = Rc::clone(&side);
    side.spawner.spawn("ping", async move {
        let _ = pings.ping(Ping::opaque()).await;
        ping_side.calls.keep(Held::Ping(pings));
    });
    if side.calls.are_made() {
        side.calls.keep(Held::Requests(requests.clone()));
    }
    for path in PATHS {
        let Ok(mut requests) = requests.clone().ready().await else {
            return;
        };
        let Ok((response, stream)) = requests.send_request(request(path), false) else {
            return;
        };
        follow(path, response, stream, &side);
    }
}

/// One task for all that a stream can be waited for. It holds all handles: who gives up one half of a
/// stream and waits for the other may well wait for a peer that does the same.
fn follow(
    path: &'static str,
    mut response: client::ResponseFuture,
    mut stream: SendStream<Payload>,
    side: &Rc<Side>,
) {
    let calls = Arc::clone(&side.calls);
    let mut works: Vec<Work> = Vec::new();
    match path {
        "/cancelled" => works.push(Box::pin(async move {
            let _ = stream.send(Payload::new(100, &calls)).await;
            stream.send_reset(Reason::CANCEL);
            let _ = response.await;
        })),
        "/refused" => {
            works.push(Box::pin(async move {
                let _ = stream.send_data(Payload::new(100, &calls), false);
                let _ = poll_fn(|cx| stream.poll_reset(cx)).await;
            }));
            works.push(Box::pin(async {
                let _ = response.await;
            }));
        }
        _ => {
            let mut pushes = response.push_promises();
            let most = if path == "/unread" { 1 } else { usize::MAX };
            works.push(Box::pin(async move {
                let _ = send(stream, &calls).await;
            }));
            works.push(Box::pin(async move {
                while let Some(Ok(push)) = pushes.push_promise().await {
                    if let Ok(response) = push.into_parts().1.await {
                        let _ = read(&mut response.into_body(), usize::MAX).await;
                    }
                }
            }));
            works.push(Box::pin(async move {
                let mut early = poll_fn(|cx| response.poll_informational(cx)).await;
                while early.is_some_and(|early| early.is_ok()) {
                    early = poll_fn(|cx| response.poll_informational(cx)).await;
                }
                if let Ok(response) = response.await {
                    let _ = read(&mut response.into_body(), most).await;
                }
            }));
        }
    }
    let together = poll_fn(move |cx| {
        works.retain_mut(|work| work.as_mut().poll(cx).is_pending());
        match works.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    });
    side.spawner.spawn(path, together);
}

type Work = Pin<Box<dyn Future<Output = ()>>>;
