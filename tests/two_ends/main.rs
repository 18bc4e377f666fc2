//! A client and a server of this crate, in memory and on virtual time: what only both together show.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod priorities;
mod unread;

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use fairmux::{Error, RecvStream, SendStream, client, server};
use http::{Request, Response};
use tokio::io::duplex;
use tokio::sync::Notify;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};

/// What a script asks with, and one way to change the windows of all streams.
struct Requests {
    requests: client::SendRequest<Bytes>,
    widen: Rc<Notify>,
}

/// A client of these options, and a server that answers each path with so many bytes.
fn run(from: &client::Builder, script: impl AsyncFnOnce(Requests)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    LocalSet::new().block_on(&runtime.unwrap(), async {
        let (near, far) = duplex(64 * 1024);
        spawn_local(async {
            let mut connection = server::handshake(far).await.unwrap();
            while let Some(Ok((request, respond))) = connection.accept().await {
                spawn_local(answer(request, respond));
            }
        });
        let (requests, mut connection) = from.handshake::<_, Bytes>(near).await.unwrap();
        let widen = Rc::new(Notify::new());
        let asked = Rc::clone(&widen);
        spawn_local(async move {
            loop {
                tokio::select! {
                    () = asked.notified() => connection.set_initial_window_size(1 << 20).unwrap(),
                    over = &mut connection => return over,
                }
            }
        });
        script(Requests { requests, widen }).await;
    });
}

async fn answer(
    mut request: Request<RecvStream>,
    mut respond: server::SendResponse<Bytes>,
) -> Result<(), Error> {
    let path = request.uri().path().to_owned();
    if path == "/read" {
        read(request.body_mut()).await;
        return respond.send_response(Response::new(()), true).map(drop);
    }
    if path.starts_with("/override") {
        respond.set_priority(0, false);
    }
    let length = path.rsplit('/').next().unwrap().parse().unwrap();
    let body = respond.send_response(Response::new(()), false)?;
    send(body, length).await?;
    // The body of the request is held, and nobody reads it.
    std::future::pending().await
}

async fn send(mut body: SendStream<Bytes>, length: usize) -> Result<(), Error> {
    body.send(Bytes::from(vec![0; length])).await?;
    body.send_data(Bytes::new(), true)
}

fn ask(
    requests: &mut Requests,
    path: &str,
    priority: &str,
) -> (client::ResponseFuture, SendStream<Bytes>) {
    let mut request = Request::get(format!("http://example.test/{path}"));
    if !priority.is_empty() {
        request = request.header("priority", priority);
    }
    let request = request.body(()).unwrap();
    requests.requests.send_request(request, true).unwrap()
}

async fn get(requests: &mut Requests, length: usize, priority: &str) -> RecvStream {
    let (response, _) = ask(requests, &length.to_string(), priority);
    response.await.unwrap().into_body()
}

/// Lets both ends do all that they can.
async fn settle() {
    sleep(Duration::from_secs(1)).await;
}

/// All of a body; time is virtual, so this fails as soon as nothing moves any more.
async fn read(body: &mut RecvStream) -> usize {
    let mut length = 0;
    while let Some(chunk) = timeout(Duration::from_secs(60), body.data())
        .await
        .expect("stalled")
    {
        let chunk = chunk.unwrap();
        length += chunk.len();
        body.flow_control().release_capacity(chunk.len()).unwrap();
    }
    length
}
