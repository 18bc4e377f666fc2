//! The application in front of a client under test: sends requests and writes down what came back.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn_local};

use super::app::{End, Over, code_of};
use super::subject::client::{Builder, Connection, PushPromise, ResponseFuture, SendRequest};
use super::subject::{Error, RecvStream, SendStream};
use super::wire::SubjectEnd;

/// What came back for one request.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) informational: Vec<u16>,
    pub(crate) response: Option<Response<()>>,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Option<HeaderMap>,
    pub(crate) end: End,
    /// The paths of promised requests, and what came for each.
    pub(crate) pushed: Vec<(String, Rc<RefCell<Outcome>>)>,
    /// The error was the peer's doing, as a reset or GOAWAY that it sent.
    pub(crate) remote: bool,
}

/// A request on its way.
pub(crate) struct Call {
    pub(crate) outcome: Rc<RefCell<Outcome>>,
    pub(crate) stream: Rc<RefCell<Option<SendStream<Bytes>>>>,
    task: JoinHandle<()>,
}

/// Something to do with the client's connection between two frames.
pub(crate) type Order = Box<dyn FnOnce(&mut Connection<SubjectEnd, Bytes>)>;

/// The request side of a client, and the way to its connection.
#[derive(Clone)]
pub(crate) struct Caller {
    requests: SendRequest<Bytes>,
    pub(crate) result: Rc<RefCell<Option<Over>>>,
    orders: UnboundedSender<Order>,
}

impl Caller {
    /// Connects over `io` in a task of its own.
    pub(crate) async fn connect(builder: Builder, io: SubjectEnd) -> Result<Caller, Error> {
        let (requests, connection) = builder.handshake::<_, Bytes>(io).await?;
        let (orders, incoming) = unbounded_channel();
        let result = Rc::default();
        spawn_local(run(connection, incoming, Rc::clone(&result)));
        Ok(Caller {
            requests,
            result,
            orders,
        })
    }

    pub(crate) fn order(&self, order: impl FnOnce(&mut Connection<SubjectEnd, Bytes>) + 'static) {
        let _ = self.orders.send(Box::new(order));
    }

    pub(crate) fn extended_connect(&self) -> bool {
        self.requests.is_extended_connect_protocol_enabled()
    }

    /// Sends a request as soon as there is room for it; with `open` its body stays open.
    pub(crate) fn call(&self, request: Request<()>, open: bool) -> Call {
        let outcome = Rc::new(RefCell::new(Outcome::new()));
        let stream = Rc::default();
        let sending = send(self.requests.clone(), request, open, Rc::clone(&stream));
        let task = spawn_local(follow(sending, Rc::clone(&outcome)));
        Call {
            outcome,
            stream,
            task,
        }
    }
}

impl Call {
    /// What came back, once nothing more can come.
    pub(crate) async fn done(self) -> Outcome {
        let patience = std::time::Duration::from_secs(5);
        let ended = tokio::time::timeout(patience, self.task).await;
        ended
            .expect("the request never ends")
            .expect("the task of the request panicked");
        self.outcome.borrow().clone()
    }

    /// Sends a part of the body.
    pub(crate) fn send(&self, octets: &'static [u8], end: bool) {
        let mut stream = self.stream.borrow_mut();
        let stream = stream.as_mut().expect("the request is not sent yet");
        stream.send_data(Bytes::from_static(octets), end).unwrap();
    }
}

impl Outcome {
    fn new() -> Outcome {
        Outcome {
            informational: Vec::new(),
            response: None,
            body: Vec::new(),
            trailers: None,
            end: End::Pending,
            pushed: Vec::new(),
            remote: false,
        }
    }

    /// The status, if there was a response.
    pub(crate) fn status(&self) -> Option<u16> {
        self.response
            .as_ref()
            .map(|response| response.status().as_u16())
    }

    fn failed(&mut self, error: &Error) {
        self.end = End::Failed(code_of(error));
        self.remote = error.is_remote();
    }
}

async fn run(
    mut connection: Connection<SubjectEnd, Bytes>,
    mut orders: UnboundedReceiver<Order>,
    result: Rc<RefCell<Option<Over>>>,
) {
    let mut connection = std::pin::pin!(poll_fn(move |cx| {
        while let Poll::Ready(Some(order)) = orders.poll_recv(cx) {
            order(&mut connection);
        }
        std::pin::Pin::new(&mut connection).poll(cx)
    }));
    let ended = connection.as_mut().await;
    *result.borrow_mut() = Some(Over::of(ended));
}

async fn send(
    requests: SendRequest<Bytes>,
    request: Request<()>,
    open: bool,
    slot: Rc<RefCell<Option<SendStream<Bytes>>>>,
) -> Result<ResponseFuture, Error> {
    let mut requests = requests.ready().await?;
    let (response, stream) = requests.send_request(request, !open)?;
    *slot.borrow_mut() = open.then_some(stream);
    Ok(response)
}

async fn follow(
    sending: impl Future<Output = Result<ResponseFuture, Error>>,
    outcome: Rc<RefCell<Outcome>>,
) {
    let mut response = match sending.await {
        Ok(response) => response,
        Err(error) => return outcome.borrow_mut().failed(&error),
    };
    let mut pushes = response.push_promises();
    let noted = Rc::clone(&outcome);
    spawn_local(async move {
        while let Some(Ok(promise)) = pushes.push_promise().await {
            note_push(&noted, promise);
        }
    });
    let head = poll_fn(|cx| {
        while let Poll::Ready(Some(Ok(interim))) = response.poll_informational(cx) {
            outcome
                .borrow_mut()
                .informational
                .push(interim.status().as_u16());
        }
        std::pin::Pin::new(&mut response).poll(cx)
    });
    match head.await {
        Ok(head) => read(head, &outcome).await,
        Err(error) => outcome.borrow_mut().failed(&error),
    }
}

fn note_push(outcome: &Rc<RefCell<Outcome>>, promise: PushPromise) {
    let (request, response) = promise.into_parts();
    let pushed = Rc::new(RefCell::new(Outcome::new()));
    outcome
        .borrow_mut()
        .pushed
        .push((request.uri().path().to_owned(), Rc::clone(&pushed)));
    spawn_local(async move {
        match response.await {
            Ok(head) => read(head, &pushed).await,
            Err(error) => pushed.borrow_mut().failed(&error),
        }
    });
}

async fn read(head: Response<RecvStream>, outcome: &Rc<RefCell<Outcome>>) {
    let (parts, mut body) = head.into_parts();
    outcome.borrow_mut().response = Some(Response::from_parts(parts, ()));
    while let Some(octets) = body.data().await {
        match octets {
            Ok(octets) => {
                let _ = body.flow_control().release_capacity(octets.len());
                outcome.borrow_mut().body.extend(&octets);
            }
            Err(error) => return outcome.borrow_mut().failed(&error),
        }
    }
    match body.trailers().await {
        Ok(trailers) => {
            let mut outcome = outcome.borrow_mut();
            outcome.trailers = trailers;
            outcome.end = End::Complete;
        }
        Err(error) => outcome.borrow_mut().failed(&error),
    }
}
