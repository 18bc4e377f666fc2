//! The application behind a server under test: answers by path and writes down what reached it.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Uri};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;

use super::frames::Code;
use super::subject::server::{Builder, Connection, SendResponse};
use super::subject::{Error, RecvStream, SendStream};
use super::wire::SubjectEnd;

/// How the body of a message ended, as far as its reader knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It has not ended.
    Pending,
    /// All of it was read.
    Complete,
    /// It failed, with this code if there is one.
    Failed(Option<Code>),
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Cleanly,
    /// With an error that has this code, if it has one.
    With(Option<Code>),
}

impl Over {
    pub(crate) fn of(result: Result<(), Error>) -> Over {
        match result {
            Ok(()) => Over::Cleanly,
            Err(error) => Over::With(code_of(&error)),
        }
    }
}

/// A request that reached the application.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) id: u32,
    pub(crate) request: Request<()>,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) end: End,
    /// What the stream was reset with.
    pub(crate) reset: Option<Code>,
}

/// Something to do with the server's connection between two frames.
pub(crate) type Order = Box<dyn FnOnce(&mut Connection<SubjectEnd, Bytes>)>;

/// What the application saw, and the way to its connection.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) exchanges: Rc<RefCell<Vec<Exchange>>>,
    /// How the connection ended, once it has.
    pub(crate) result: Rc<RefCell<Option<Over>>>,
    orders: UnboundedSender<Order>,
}

pub(crate) fn code_of(error: &Error) -> Option<Code> {
    error.reason().map(|reason| Code(reason.into()))
}

impl App {
    /// Serves `io` in a task of its own.
    pub(crate) fn serve(builder: Builder, io: SubjectEnd) -> App {
        let (orders, incoming) = unbounded_channel();
        let app = App {
            exchanges: Rc::default(),
            result: Rc::default(),
            orders,
        };
        spawn_local(run(app.clone(), builder, io, incoming));
        app
    }

    pub(crate) fn order(&self, order: impl FnOnce(&mut Connection<SubjectEnd, Bytes>) + 'static) {
        let _ = self.orders.send(Box::new(order));
    }

    fn note(&self, at: usize, note: impl FnOnce(&mut Exchange)) {
        note(&mut self.exchanges.borrow_mut()[at]);
    }
}

async fn run(app: App, builder: Builder, io: SubjectEnd, orders: UnboundedReceiver<Order>) {
    let outcome = serve(&app, builder, io, orders).await;
    *app.result.borrow_mut() = Some(Over::of(outcome));
}

async fn serve(
    app: &App,
    builder: Builder,
    io: SubjectEnd,
    mut orders: UnboundedReceiver<Order>,
) -> Result<(), Error> {
    let mut connection = builder.handshake::<_, Bytes>(io).await?;
    loop {
        let accepted = poll_fn(|cx| {
            while let Poll::Ready(Some(order)) = orders.poll_recv(cx) {
                order(&mut connection);
            }
            connection.poll_accept(cx)
        });
        match accepted.await {
            None => return Ok(()),
            Some(accepted) => {
                let (request, respond) = accepted?;
                spawn_local(answer(app.clone(), request, respond));
            }
        }
    }
}

async fn answer(app: App, request: Request<RecvStream>, respond: SendResponse<Bytes>) {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let connect = parts.method == http::Method::CONNECT;
    let at = app.exchanges.borrow().len();
    app.exchanges.borrow_mut().push(Exchange {
        id: respond.stream_id().as_u32(),
        request: Request::from_parts(parts, ()),
        body: Vec::new(),
        trailers: None,
        end: End::Pending,
        reset: None,
    });
    // An answer that fails shows in what the peer reads; the application has nobody to tell.
    let _ = if connect {
        tunnel(&app, at, body, respond).await
    } else {
        by_path(&app, at, &path, body, respond).await
    };
}

async fn by_path(
    app: &App,
    at: usize,
    path: &str,
    body: RecvStream,
    mut respond: SendResponse<Bytes>,
) -> Result<(), Error> {
    match path {
        "/hold" => {
            read(app, at, body).await;
            note_reset(app, at, respond).await;
        }
        "/unread" => {
            note_reset(app, at, respond).await;
            drop(body);
        }
        "/open" => {
            let _stream = respond.send_response(Response::new(()), false)?;
            read(app, at, body).await;
            note_reset(app, at, respond).await;
        }
        "/early" => {
            respond.send_response(Response::new(()), true)?;
            read(app, at, body).await;
        }
        "/reset" => respond.send_reset(super::subject::Reason::CANCEL),
        "/info" => {
            let hints = Response::builder().status(103).body(()).unwrap();
            respond.send_informational(hints)?;
            respond.send_response(Response::new(()), true)?;
        }
        "/trailers" => {
            let mut stream = respond.send_response(Response::new(()), false)?;
            stream.send_data(Bytes::from_static(b"x"), false)?;
            let mut trailers = HeaderMap::new();
            trailers.insert("checksum", "1".parse().unwrap());
            stream.send_trailers(trailers)?;
        }
        "/push" => push(respond)?,
        "/promise" => {
            let _pushed = respond.push_request(pushed_request())?;
            note_reset(app, at, respond).await;
        }
        _ if path.starts_with("/bytes/") => {
            let length = path["/bytes/".len()..].parse().unwrap();
            content(Response::new(()), length, respond)?;
        }
        _ if path.starts_with("/status/") => {
            let status = path["/status/".len()..].parse::<u16>().unwrap();
            let head = Response::builder().status(status).body(()).unwrap();
            content(head, 10, respond)?;
        }
        _ if path.starts_with("/bad/") => bad(&path["/bad/".len()..], respond)?,
        _ => {
            read(app, at, body).await;
            respond.send_response(Response::new(()), true)?;
        }
    }
    Ok(())
}

async fn tunnel(
    app: &App,
    at: usize,
    mut body: RecvStream,
    mut respond: SendResponse<Bytes>,
) -> Result<(), Error> {
    let mut stream: SendStream<Bytes> = respond.send_response(Response::new(()), false)?;
    while let Some(octets) = body.data().await {
        match octets {
            Ok(octets) => {
                let _ = body.flow_control().release_capacity(octets.len());
                app.note(at, |exchange| exchange.body.extend(&octets));
                if !octets.is_empty() {
                    stream.send_data(octets, false)?;
                }
            }
            Err(error) => {
                app.note(at, |exchange| exchange.end = End::Failed(code_of(&error)));
                return Err(error);
            }
        }
    }
    app.note(at, |exchange| exchange.end = End::Complete);
    stream.send_data(Bytes::new(), true)
}

fn pushed_request() -> Request<()> {
    let uri: Uri = "https://example.com/pushed".parse().unwrap();
    Request::get(uri).body(()).unwrap()
}

/// So much content, or none if the response cannot have any.
fn content(
    head: Response<()>,
    length: usize,
    mut respond: SendResponse<Bytes>,
) -> Result<(), Error> {
    let mut stream = respond.send_response(head, false)?;
    let octets = Bytes::from(vec![b'a'; length]);
    stream
        .send_data(octets, true)
        .or_else(|_| stream.send_data(Bytes::new(), true))
}

/// Tries to send a field of HTTP/1.1 in a part of the answer, then answers without it.
fn bad(part: &str, mut respond: SendResponse<Bytes>) -> Result<(), Error> {
    let mut fields = HeaderMap::new();
    fields.insert("connection", "close".parse().unwrap());
    let mut head = Response::builder().status(if part == "interim" { 103 } else { 200 });
    *head.headers_mut().unwrap() = fields.clone();
    let head = head.body(()).unwrap();
    match part {
        "interim" => assert!(respond.send_informational(head).is_err()),
        "head" => assert!(respond.send_response(head, true).is_err()),
        "promise" => {
            let mut promise = pushed_request();
            *promise.headers_mut() = fields;
            assert!(respond.push_request(promise).is_err());
        }
        _ => {
            let mut stream = respond.send_response(Response::new(()), false)?;
            assert!(stream.send_trailers(fields).is_err());
            return stream.send_data(Bytes::new(), true);
        }
    }
    respond.send_response(Response::new(()), true).map(drop)
}

fn push(mut respond: SendResponse<Bytes>) -> Result<(), Error> {
    let mut pushed = respond.push_request(pushed_request())?;
    let mut stream = pushed.send_response(Response::new(()), false)?;
    stream.send_data(Bytes::from_static(b"pushed"), true)?;
    respond.send_response(Response::new(()), true)?;
    Ok(())
}

async fn note_reset(app: &App, at: usize, mut respond: SendResponse<Bytes>) {
    if let Ok(reason) = poll_fn(|cx| respond.poll_reset(cx)).await {
        app.note(at, |exchange| exchange.reset = Some(Code(reason.into())));
    }
}

async fn read(app: &App, at: usize, mut body: RecvStream) {
    let end = loop {
        match body.data().await {
            None => break End::Complete,
            Some(Err(error)) => break End::Failed(code_of(&error)),
            Some(Ok(octets)) => {
                let _ = body.flow_control().release_capacity(octets.len());
                app.note(at, |exchange| exchange.body.extend(&octets));
            }
        }
    };
    if end != End::Complete {
        return app.note(at, |exchange| exchange.end = end);
    }
    match body.trailers().await {
        Ok(trailers) => app.note(at, |exchange| {
            exchange.trailers = trailers;
            exchange.end = End::Complete;
        }),
        Err(error) => app.note(at, |exchange| exchange.end = End::Failed(code_of(&error))),
    }
}
