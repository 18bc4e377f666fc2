//! One connection, served by a `tower::Service` whose bodies are `http_body`.
//!
//! Owns the way from a request to its answer: one task for each request, the `date` field, lengths,
//! and the end of the connection. Does not know: sockets, TLS, what the service does.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::SystemTime;

use bytes::Bytes;
use fairmux::server::{Builder, SendResponse};
use fairmux::{Reason, RecvStream, SendStream};
use http::header::{
    CONNECTION, CONTENT_LENGTH, DATE, HeaderName, HeaderValue, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, Method, Request, Response};
use http_body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite};
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Serves the connection on `io` with `service`, until the client closes it, or, once `shutdown`
/// is ready, until the requests that are open have their answers.
///
/// # Errors
///
/// Those of the connection. A request whose service or body fails is reset, and the others go on.
pub(crate) async fn serve_connection<I, S, B>(
    io: I,
    builder: &Builder,
    service: S,
    shutdown: impl Future<Output = ()>,
) -> Result<(), fairmux::Error>
where
    I: AsyncRead + AsyncWrite + Unpin,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let mut connection = builder.handshake(io).await?;
    let mut shutdown = pin!(shutdown);
    let mut is_open = true;
    loop {
        let accepted = tokio::select! {
            accepted = connection.accept() => accepted,
            () = &mut shutdown, if is_open => {
                is_open = false;
                connection.graceful_shutdown();
                continue;
            }
        };
        let Some(accepted) = accepted else {
            return Ok(());
        };
        let (request, respond) = accepted?;
        tokio::spawn(exchange(request, respond, service.clone()));
    }
}

/// A request to its end. What the client gives up is dropped where it stands.
async fn exchange<S, B>(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    mut service: S,
) where
    S: Service<Request<Incoming>, Response = Response<B>>,
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let is_head = request.method() == Method::HEAD;
    let request = request.map(Incoming::new);
    let answered = tokio::select! {
        answered = async {
            poll_fn(|cx| service.poll_ready(cx)).await.ok()?;
            service.call(request).await.ok()
        } => answered,
        _ = poll_fn(|cx| respond.poll_reset(cx)) => return,
    };
    let Some(response) = answered else {
        return respond.send_reset(Reason::INTERNAL_ERROR);
    };
    let (mut head, body) = response.into_parts();
    complete(&mut head.headers, &body.size_hint());
    let is_all = is_head || body.is_end_stream();
    // An error here, as below: the stream is over, and nobody is left to tell.
    let Ok(mut stream) = respond.send_response(Response::from_parts(head, ()), is_all) else {
        return respond.send_reset(Reason::INTERNAL_ERROR);
    };
    if !is_all && send(body, &mut stream).await.is_err() {
        stream.send_reset(Reason::INTERNAL_ERROR);
    }
}

/// Adds what every answer has, and takes out what HTTP/2 does not allow.
fn complete(fields: &mut HeaderMap, size: &SizeHint) {
    const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
    const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
    for name in [
        CONNECTION,
        KEEP_ALIVE,
        PROXY_CONNECTION,
        TRANSFER_ENCODING,
        UPGRADE,
    ] {
        fields.remove(name);
    }
    if let Some(length) = size.exact().filter(|length| *length > 0) {
        fields
            .entry(CONTENT_LENGTH)
            .or_insert_with(|| length.into());
    }
    fields.entry(DATE).or_insert_with(|| {
        let now = httpdate::fmt_http_date(SystemTime::now());
        HeaderValue::try_from(now).expect("a date has only letters and digits")
    });
}

/// Sends a body as fast as the stream is granted room: the next piece is asked for when the one
/// before it has left, or nearly so. So a body waits in the service and not in memory.
async fn send<B>(body: B, stream: &mut SendStream<Bytes>) -> Result<(), BoxError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let mut body = pin!(body);
    loop {
        let frame = tokio::select! {
            frame = poll_fn(|cx| body.as_mut().poll_frame(cx)) => frame,
            reset = poll_fn(|cx| stream.poll_reset(cx)) => {
                reset?;
                return Ok(());
            }
        };
        let Some(frame) = frame.transpose().map_err(Into::into)? else {
            return Ok(stream.send_data(Bytes::new(), true)?);
        };
        match frame.into_data() {
            Ok(data) if body.is_end_stream() => return Ok(stream.send_data(data, true)?),
            Ok(data) if !data.is_empty() => stream.send(data).await?,
            Ok(_) => {}
            Err(frame) => {
                if let Ok(trailers) = frame.into_trailers() {
                    return Ok(stream.send_trailers(trailers)?);
                }
            }
        }
    }
}

/// The body of a request. What is read is at once granted to the client again.
pub(crate) struct Incoming {
    stream: RecvStream,
    is_data_over: bool,
}

impl Incoming {
    fn new(stream: RecvStream) -> Incoming {
        Incoming {
            is_data_over: stream.is_end_stream(),
            stream,
        }
    }
}

impl Body for Incoming {
    type Data = Bytes;
    type Error = fairmux::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, fairmux::Error>>> {
        let this = &mut *self;
        if !this.is_data_over {
            match std::task::ready!(this.stream.poll_data(cx)) {
                Some(Ok(data)) => {
                    this.stream.flow_control().release_capacity(data.len())?;
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => this.is_data_over = true,
            }
        }
        let trailers = std::task::ready!(this.stream.poll_trailers(cx))?;
        Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }
}
