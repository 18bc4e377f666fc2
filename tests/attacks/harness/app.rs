//! The application behind the server under attack: answers by path, and counts.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use fairmux::server::{Builder, SendResponse};
use fairmux::{Error, Reason, RecvStream};
use http::{Request, Response};

use super::tasks::Tasks;
use super::wire::Socket;

/// Octets that a handler makes at once.
const CHUNK: usize = 16 * 1024;

#[derive(Clone, Default)]
pub(crate) struct App(Rc<Counts>);

#[derive(Default)]
pub(crate) struct Counts {
    /// Handlers that are running.
    pub(crate) alive: Cell<usize>,
    /// The most that were running at once.
    pub(crate) most_alive: Cell<usize>,
    /// Requests that reached the application.
    pub(crate) requests: Cell<usize>,
    /// Octets of the longest header list that did, 32 for each field.
    pub(crate) longest_list: Cell<usize>,
    /// Fields of the one with the most.
    pub(crate) most_fields: Cell<usize>,
    /// Octets of bodies that were read.
    pub(crate) read: Cell<usize>,
    /// Bodies that were read to their end.
    pub(crate) complete: Cell<usize>,
    /// How often handlers were polled.
    pub(crate) polls: Cell<usize>,
    /// The connection is over, and what it ended with.
    pub(crate) result: RefCell<Option<Result<(), Error>>>,
    /// The last request, as HTTP/1.1 would have it, if that is asked for.
    pub(crate) text: RefCell<String>,
    keeps_text: Cell<bool>,
    releases: Cell<usize>,
    shuts_down: Cell<bool>,
    stuck: RefCell<Vec<Waker>>,
}

impl std::ops::Deref for App {
    type Target = Counts;

    fn deref(&self) -> &Counts {
        &self.0
    }
}

fn add(cell: &Cell<usize>, count: usize) {
    cell.set(cell.get() + count);
}

impl App {
    pub(crate) fn serve(&self, builder: &Builder, socket: Socket, tasks: &Tasks) {
        let (app, work) = (self.clone(), builder.handshake::<_, Bytes>(socket));
        let handlers = tasks.clone();
        tasks.spawn(async move {
            let result = async {
                let mut connection = work.await?;
                let mut accept = |cx: &mut Context<'_>| {
                    if app.shuts_down.take() {
                        connection.graceful_shutdown();
                    }
                    connection.poll_accept(cx)
                };
                while let Some(accepted) = poll_fn(&mut accept).await {
                    let (request, respond) = accepted?;
                    app.begin(request, respond, &handlers);
                }
                Ok(())
            };
            let result = result.await;
            *app.result.borrow_mut() = Some(result);
        });
    }

    /// Ends what nothing else ends, of what there is now.
    pub(crate) fn release(&self) {
        self.releases.set(self.releases.get() + 1);
        self.stuck.take().into_iter().for_each(Waker::wake);
    }

    /// Shuts the connection down in good order, at its next turn.
    pub(crate) fn shut_down(&self) {
        self.shuts_down.set(true);
    }

    /// From now on the last request is kept as text.
    pub(crate) fn keep_text(&self) {
        self.keeps_text.set(true);
    }

    fn begin(&self, request: Request<RecvStream>, respond: SendResponse<Bytes>, tasks: &Tasks) {
        add(&self.requests, 1);
        add(&self.alive, 1);
        self.most_alive
            .set(self.most_alive.get().max(self.alive.get()));
        let fields = request.headers().iter();
        let length = fields.map(|(name, value)| name.as_str().len() + value.len() + 32);
        self.longest_list
            .set(self.longest_list.get().max(length.sum()));
        self.most_fields
            .set(self.most_fields.get().max(request.headers().len()));
        if self.keeps_text.get() {
            *self.text.borrow_mut() = text_of(&request);
        }
        let app = self.clone();
        tasks.spawn(async move {
            let guard = Alive(app.clone());
            let mut work = pin!(app.answer(request, respond));
            poll_fn(|cx| {
                add(&app.polls, 1);
                work.as_mut().poll(cx)
            })
            .await
            .unwrap_or(());
            drop(guard);
        });
    }

    async fn answer(
        &self,
        request: Request<RecvStream>,
        mut respond: SendResponse<Bytes>,
    ) -> Result<(), Error> {
        let path = request.uri().path().to_owned();
        // As most applications do, a handler keeps the head of its request until it is done.
        let (_head, mut body) = request.into_parts();
        if let Some(length) = path.strip_prefix("/flow/") {
            return flow(respond, length.parse().unwrap()).await;
        }
        if let Some(length) = path.strip_prefix("/reserve/") {
            return reserve(respond, length.parse().unwrap()).await;
        }
        match &*path {
            // It notices that nobody waits any more.
            "/hold" => {
                let _: Reason = poll_fn(|cx| respond.poll_reset(cx)).await?;
            }
            // It does not.
            "/stuck" => {
                self.stuck().await;
                drop((body, respond));
            }
            "/read" => {
                while let Some(octets) = body.data().await {
                    let octets = octets?;
                    add(&self.read, octets.len());
                    body.flow_control().release_capacity(octets.len())?;
                }
                add(&self.complete, 1);
                respond.send_response(Response::new(()), true)?;
            }
            "/secret" => {
                let mut response = Response::new(());
                let cookie = http::HeaderValue::from_static("k=secret");
                response.headers_mut().insert("set-cookie", cookie);
                respond.send_response(response, true)?;
            }
            _ => {
                respond.send_response(Response::new(()), true)?;
            }
        }
        Ok(())
    }

    /// What `work` comes to, if nobody releases it before.
    pub(crate) async fn unless_released<F: Future + Unpin>(
        &self,
        work: &mut F,
    ) -> Option<F::Output> {
        let mut stuck = pin!(self.stuck());
        poll_fn(|cx| match Pin::new(&mut *work).poll(cx) {
            Poll::Ready(outcome) => {
                self.stuck
                    .borrow_mut()
                    .retain(|waker| !waker.will_wake(cx.waker()));
                Poll::Ready(Some(outcome))
            }
            Poll::Pending => stuck.as_mut().poll(cx).map(|()| None),
        })
        .await
    }

    async fn stuck(&self) {
        let before = self.releases.get();
        poll_fn(|cx| {
            if self.releases.get() > before {
                return Poll::Ready(());
            }
            let mut stuck = self.stuck.borrow_mut();
            if !stuck.iter().any(|waker| waker.will_wake(cx.waker())) {
                stuck.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}

/// A request as a gateway to HTTP/1.1 writes it.
fn text_of(request: &Request<RecvStream>) -> String {
    let uri = request.uri();
    let target = uri.path_and_query().map_or("", |target| target.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let mut text = format!("{} {target} HTTP/1.1\r\nhost: {host}\r\n", request.method());
    for (name, value) in request.headers() {
        let value = String::from_utf8_lossy(value.as_bytes());
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text
}

/// A body of fresh memory, as fast as it goes out.
async fn flow(mut respond: SendResponse<Bytes>, mut length: usize) -> Result<(), Error> {
    let mut stream = respond.send_response(Response::new(()), false)?;
    while length > 0 {
        let chunk = length.min(CHUNK);
        stream.send(Bytes::from(vec![b'a'; chunk])).await?;
        length -= chunk;
    }
    stream.send_data(Bytes::new(), true)
}

/// The same, asked for and granted before.
async fn reserve(mut respond: SendResponse<Bytes>, mut length: usize) -> Result<(), Error> {
    let mut stream = respond.send_response(Response::new(()), false)?;
    while length > 0 {
        stream.reserve_capacity(length);
        let Some(capacity) = poll_fn(|cx| stream.poll_capacity(cx)).await else {
            return Ok(());
        };
        let chunk = length.min(capacity?);
        stream.send_data(Bytes::from(vec![b'a'; chunk]), false)?;
        length -= chunk;
    }
    stream.send_data(Bytes::new(), true)
}

struct Alive(App);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.alive.set(self.0.alive.get() - 1);
    }
}
