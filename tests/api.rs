//! The public API has the shape of h2 0.4.20: methods, traits, bounds and auto traits, compared
//! while this file is compiled. Nothing of it needs to run.

use std::fmt::{Debug, Display};
use std::future::Future;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::{HeaderMap, Request, Response};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};

/// Every method, for either crate, as a function pointer of one and the same shape.
macro_rules! signatures {
    ($module:ident, $krate:ident) => {
        #[allow(
            dead_code,
            clippy::type_complexity,
            reason = "only its types are of interest"
        )]
        mod $module {
            use super::*;
            use $krate::{
                Error, FlowControl, Ping, PingPong, Pong, Reason, RecvStream, SendStream, StreamId,
                client, ext, server,
            };

            type Answer<T> = Result<T, Error>;
            type Maybe<T> = Poll<Option<Result<T, Error>>>;

            fn client_builder() {
                type It = client::Builder;
                let _: fn() -> It = It::new;
                let _: fn(&mut It, u32) -> &mut It = It::initial_window_size;
                let _: fn(&mut It, u32) -> &mut It = It::initial_connection_window_size;
                let _: fn(&mut It, u32) -> &mut It = It::max_frame_size;
                let _: fn(&mut It, u32) -> &mut It = It::max_header_list_size;
                let _: fn(&mut It, u32) -> &mut It = It::max_concurrent_streams;
                let _: fn(&mut It, usize) -> &mut It = It::initial_max_send_streams;
                let _: fn(&mut It, usize) -> &mut It = It::max_concurrent_reset_streams;
                let _: fn(&mut It, Duration) -> &mut It = It::reset_stream_duration;
                let _: fn(&mut It, Option<usize>) -> &mut It = It::max_local_error_reset_streams;
                let _: fn(&mut It, usize) -> &mut It = It::max_pending_accept_reset_streams;
                let _: fn(&mut It, usize) -> &mut It = It::max_send_buffer_size;
                let _: fn(&mut It, bool) -> &mut It = It::enable_push;
                let _: fn(&mut It, u32) -> &mut It = It::header_table_size;
                let _: fn(&mut It, usize) -> &mut It = It::data_frame_budget;
                common::<It>();
                cloned_and_debugged::<It>();
                defaulted::<It>();
            }

            fn server_builder() {
                type It = server::Builder;
                let _: fn() -> It = It::new;
                let _: fn(&mut It, u32) -> &mut It = It::initial_window_size;
                let _: fn(&mut It, u32) -> &mut It = It::initial_connection_window_size;
                let _: fn(&mut It, u32) -> &mut It = It::max_frame_size;
                let _: fn(&mut It, u32) -> &mut It = It::max_header_list_size;
                let _: fn(&mut It, u32) -> &mut It = It::header_table_size;
                let _: fn(&mut It, u32) -> &mut It = It::max_concurrent_streams;
                let _: fn(&mut It, usize) -> &mut It = It::max_concurrent_reset_streams;
                let _: fn(&mut It, Option<usize>) -> &mut It = It::max_local_error_reset_streams;
                let _: fn(&mut It, usize) -> &mut It = It::max_pending_accept_reset_streams;
                let _: fn(&mut It, usize) -> &mut It = It::max_send_buffer_size;
                let _: fn(&mut It, Duration) -> &mut It = It::reset_stream_duration;
                let _: fn(&mut It) -> &mut It = It::enable_connect_protocol;
                let _: fn(&mut It, usize) -> &mut It = It::data_frame_budget;
                common::<It>();
                cloned_and_debugged::<It>();
                defaulted::<It>();
            }

            fn handshakes<T: AsyncRead + AsyncWrite + Unpin, B: Buf>(io: [T; 4]) {
                let [a, b, c, d] = io;
                // The builder is gone before the future is: it is not borrowed.
                let one = client::Builder::new()
                    .enable_push(true)
                    .handshake::<T, B>(a);
                awaited::<Answer<(client::SendRequest<B>, client::Connection<T, B>)>>(&one);
                let two = client::handshake(b);
                awaited::<Answer<(client::SendRequest<Bytes>, client::Connection<T>)>>(&two);
                let three: server::Handshake<T, B> = server::Builder::new().handshake(c);
                awaited::<Answer<server::Connection<T, B>>>(&three);
                let four: server::Handshake<T> = server::handshake(d);
                awaited::<Answer<server::Connection<T, Bytes>>>(&four);
            }

            fn send_request<B: Buf>() {
                type It<B> = client::SendRequest<B>;
                type Sent<B> = (client::ResponseFuture, SendStream<B>);
                let _: fn(&mut It<B>, &mut Context<'_>) -> Poll<Answer<()>> = It::poll_ready;
                let _: fn(It<B>) -> client::ReadySendRequest<B> = It::ready;
                let _: fn(&mut It<B>, Request<()>, bool) -> Answer<Sent<B>> = It::send_request;
                let _: fn(&It<B>) -> bool = It::is_extended_connect_protocol_enabled;
                let _: fn(&It<B>) -> usize = It::current_max_send_streams;
                let _: fn(&It<B>) -> usize = It::current_max_recv_streams;
                cloned_and_debugged::<It<B>>();
                future::<client::ReadySendRequest<B>, Answer<It<B>>>();
            }

            fn client_connection<T: AsyncRead + AsyncWrite + Unpin, B: Buf>() {
                type It<T, B> = client::Connection<T, B>;
                let _: fn(&mut It<T, B>, u32) = It::set_target_window_size;
                let _: fn(&mut It<T, B>, u32) -> Answer<()> = It::set_initial_window_size;
                let _: fn(&mut It<T, B>) -> Option<PingPong> = It::ping_pong;
                let _: fn(&It<T, B>) -> usize = It::max_concurrent_send_streams;
                let _: fn(&It<T, B>) -> usize = It::max_concurrent_recv_streams;
                future::<It<T, B>, Answer<()>>();
            }

            fn response() {
                type It = client::ResponseFuture;
                let _: fn(&It) -> StreamId = It::stream_id;
                let _: fn(&mut It, &mut Context<'_>) -> Maybe<Response<()>> =
                    It::poll_informational;
                let _: fn(&mut It) -> client::PushPromises = It::push_promises;
                future::<It, Answer<Response<RecvStream>>>();
                debugged::<It>();
            }

            async fn promises(mut it: client::PushPromises, mut promise: client::PushPromise) {
                type It = client::PushPromises;
                let _: fn(&mut It, &mut Context<'_>) -> Maybe<client::PushPromise> =
                    It::poll_push_promise;
                let _: Option<Answer<client::PushPromise>> = it.push_promise().await;
                debugged::<It>();
                debugged::<client::PushPromise>();
                let _: &Request<()> = promise.request();
                let _: &mut Request<()> = promise.request_mut();
                let parts: (Request<()>, client::PushedResponseFuture) = promise.into_parts();
                let _: StreamId = parts.1.stream_id();
                future::<client::PushedResponseFuture, Answer<Response<RecvStream>>>();
                debugged::<client::PushedResponseFuture>();
            }

            async fn server_connection<T, B>(mut it: server::Connection<T, B>)
            where
                T: AsyncRead + AsyncWrite + Unpin,
                B: Buf,
            {
                type It<T, B> = server::Connection<T, B>;
                type Stream<B> = (Request<RecvStream>, server::SendResponse<B>);
                let _: Option<Answer<Stream<B>>> = it.accept().await;
                let _: fn(&mut It<T, B>, &mut Context<'_>) -> Maybe<Stream<B>> = It::poll_accept;
                let _: fn(&mut It<T, B>, &mut Context<'_>) -> Poll<Answer<()>> = It::poll_closed;
                let _: fn(&mut It<T, B>, u32) = It::set_target_window_size;
                let _: fn(&mut It<T, B>, u32) -> Answer<()> = It::set_initial_window_size;
                let _: fn(&mut It<T, B>) -> Answer<()> = It::enable_connect_protocol;
                let _: fn(&mut It<T, B>, Reason) = It::abrupt_shutdown;
                let _: fn(&mut It<T, B>) = It::graceful_shutdown;
                let _: fn(&mut It<T, B>) -> Option<PingPong> = It::ping_pong;
                let _: fn(&It<T, B>) -> bool = It::has_streams;
                let _: fn(&It<T, B>) -> usize = It::max_concurrent_send_streams;
                let _: fn(&It<T, B>) -> usize = It::max_concurrent_recv_streams;
            }

            fn respond<B: Buf>() {
                type It<B> = server::SendResponse<B>;
                type Pushed<B> = server::SendPushedResponse<B>;
                type Reset = Poll<Answer<Reason>>;
                let _: fn(&mut It<B>, Response<()>) -> Answer<()> = It::send_informational;
                let _: fn(&mut It<B>, Response<()>, bool) -> Answer<SendStream<B>> =
                    It::send_response;
                let _: fn(&mut It<B>, Request<()>) -> Answer<Pushed<B>> = It::push_request;
                let _: fn(&mut It<B>, Reason) = It::send_reset;
                let _: fn(&mut It<B>, &mut Context<'_>) -> Reset = It::poll_reset;
                let _: fn(&It<B>) -> StreamId = It::stream_id;
                let _: fn(&mut Pushed<B>, Response<()>, bool) -> Answer<SendStream<B>> =
                    Pushed::send_response;
                let _: fn(&mut Pushed<B>, Reason) = Pushed::send_reset;
                let _: fn(&mut Pushed<B>, &mut Context<'_>) -> Reset = Pushed::poll_reset;
                let _: fn(&Pushed<B>) -> StreamId = Pushed::stream_id;
            }

            fn send_stream<B: Buf>() {
                type It<B> = SendStream<B>;
                let _: fn(&mut It<B>, usize) = It::reserve_capacity;
                let _: fn(&It<B>) -> usize = It::capacity;
                let _: fn(&mut It<B>, &mut Context<'_>) -> Maybe<usize> = It::poll_capacity;
                let _: fn(&mut It<B>, B, bool) -> Answer<()> = It::send_data;
                let _: fn(&mut It<B>, HeaderMap) -> Answer<()> = It::send_trailers;
                let _: fn(&mut It<B>, Reason) = It::send_reset;
                let _: fn(&mut It<B>, &mut Context<'_>) -> Poll<Answer<Reason>> = It::poll_reset;
                let _: fn(&It<B>) -> StreamId = It::stream_id;
            }

            async fn recv_stream(mut it: RecvStream) {
                type It = RecvStream;
                let _: Option<Answer<Bytes>> = it.data().await;
                let _: Answer<Option<HeaderMap>> = it.trailers().await;
                let _: fn(&mut It, &mut Context<'_>) -> Maybe<Bytes> = It::poll_data;
                let _: fn(&mut It, &mut Context<'_>) -> Poll<Answer<Option<HeaderMap>>> =
                    It::poll_trailers;
                let _: fn(&It) -> bool = It::is_end_stream;
                let _: fn(&mut It) -> &mut FlowControl = It::flow_control;
                let _: fn(&It) -> StreamId = It::stream_id;
                debugged::<It>();
            }

            fn flow_control() {
                type It = FlowControl;
                let _: fn(&It) -> StreamId = It::stream_id;
                let _: fn(&It) -> isize = It::available_capacity;
                let _: fn(&It) -> usize = It::used_capacity;
                let _: fn(&mut It, usize) -> Answer<()> = It::release_capacity;
                cloned_and_debugged::<It>();
            }

            async fn ping_pong(mut it: PingPong) {
                type It = PingPong;
                let _: Answer<Pong> = it.ping(Ping::opaque()).await;
                let _: fn(&mut It, Ping) -> Answer<()> = It::send_ping;
                let _: fn(&mut It, &mut Context<'_>) -> Poll<Answer<Pong>> = It::poll_pong;
                debugged::<It>();
                debugged::<Ping>();
                debugged::<Pong>();
            }

            fn error() {
                let _: fn(&Error) -> Option<Reason> = Error::reason;
                let _: fn(&Error) -> bool = Error::is_io;
                let _: fn(&Error) -> Option<&std::io::Error> = Error::get_io;
                let _: fn(Error) -> Option<std::io::Error> = Error::into_io;
                let _: fn(&Error) -> bool = Error::is_go_away;
                let _: fn(&Error) -> bool = Error::is_reset;
                let _: fn(&Error) -> bool = Error::is_remote;
                let _: fn(&Error) -> bool = Error::is_library;
                let _: fn(Reason) -> Error = Error::from;
                debugged::<Error>();
                displayed::<Error>();
                let _: Box<dyn std::error::Error + Send + Sync> =
                    Error::from(Reason::CANCEL).into();
            }

            fn values() {
                let _: fn(&StreamId) -> u32 = StreamId::as_u32;
                let _: fn(StreamId) -> u32 = u32::from;
                let _: fn(&Reason) -> &str = Reason::description;
                let _: fn(u32) -> Reason = Reason::from;
                let _: fn(Reason) -> u32 = u32::from;
                cloned_and_debugged::<StreamId>();
                hashed_and_copied::<StreamId>();
                cloned_and_debugged::<Reason>();
                displayed::<Reason>();
                copied::<Reason>();
                let _: fn(&ext::Protocol) -> &str = ext::Protocol::as_str;
                let _: fn(&'static str) -> ext::Protocol = ext::Protocol::from_static;
                let _: ext::Protocol = "websocket".into();
                let _: &[u8] = ext::Protocol::from_static("websocket").as_ref();
                cloned_and_debugged::<ext::Protocol>();
            }

            fn debug_of_generic<T: AsyncRead + AsyncWrite + Debug, B: Buf + Debug>() {
                debugged::<client::Connection<T, B>>();
                debugged::<client::ReadySendRequest<B>>();
                debugged::<server::Connection<T, B>>();
                debugged::<server::Handshake<T, B>>();
                debugged::<server::SendResponse<B>>();
                debugged::<server::SendPushedResponse<B>>();
                debugged::<SendStream<B>>();
            }

            const REASONS: [Reason; 14] = [
                Reason::NO_ERROR,
                Reason::PROTOCOL_ERROR,
                Reason::INTERNAL_ERROR,
                Reason::FLOW_CONTROL_ERROR,
                Reason::SETTINGS_TIMEOUT,
                Reason::STREAM_CLOSED,
                Reason::FRAME_SIZE_ERROR,
                Reason::REFUSED_STREAM,
                Reason::CANCEL,
                Reason::COMPRESSION_ERROR,
                Reason::CONNECT_ERROR,
                Reason::ENHANCE_YOUR_CALM,
                Reason::INADEQUATE_SECURITY,
                Reason::HTTP_1_1_REQUIRED,
            ];
        }
    };
}

signatures!(of_h2, h2);
signatures!(of_fairmux, fairmux);

fn common<T: Send + Sync + Unpin + 'static>() {}
fn cloned_and_debugged<T: Clone + Debug>() {}
fn defaulted<T: Default>() {}
fn debugged<T: Debug>() {}
fn unpinned<T: Unpin>() {}
fn displayed<T: Display>() {}
fn copied<T: Copy + Eq>() {}
fn hashed_and_copied<T: Copy + Eq + std::hash::Hash>() {}
fn future<F: Future<Output = T>, T>() {}
fn awaited<T>(_: &impl Future<Output = T>) {}

/// A payload that may move to another thread, but not be used by two.
struct Unshared(PhantomData<std::cell::Cell<u8>>);

/// A payload that stays on its thread, and in its place.
struct Local(PhantomData<(Rc<u8>, PhantomPinned)>);

/// A payload that belongs to somebody else.
struct Borrowed<'a>(&'a [u8]);

/// An I/O type that stays on its thread.
struct LocalIo(PhantomData<Rc<u8>>);

macro_rules! empty_buf {
    ($type:ty) => {
        impl Buf for $type {
            fn remaining(&self) -> usize {
                0
            }
            fn chunk(&self) -> &[u8] {
                &[]
            }
            fn advance(&mut self, _: usize) {}
        }
    };
}
empty_buf!(Unshared);
empty_buf!(Local);

impl Buf for Borrowed<'_> {
    fn remaining(&self) -> usize {
        self.0.len()
    }
    fn chunk(&self) -> &[u8] {
        self.0
    }
    fn advance(&mut self, count: usize) {
        self.0 = &self.0[count..];
    }
}

/// Answers whether a concrete type has an auto trait: the inherent constant, which wins, exists
/// only if it has.
struct Probe<T>(PhantomData<T>);

trait Without {
    const SEND: bool = false;
    const SYNC: bool = false;
    const UNWIND: bool = false;
    const REF_UNWIND: bool = false;
}
impl<T> Without for Probe<T> {}

impl<T: Send> Probe<T> {
    const SEND: bool = true;
}
impl<T: Sync> Probe<T> {
    const SYNC: bool = true;
}
impl<T: UnwindSafe> Probe<T> {
    const UNWIND: bool = true;
}
impl<T: RefUnwindSafe> Probe<T> {
    const REF_UNWIND: bool = true;
}

macro_rules! same_auto_traits {
    ($([$($type:tt)+];)+) => {
        $(const _: () = {
            assert!(
                Probe::<h2::$($type)+>::SEND == Probe::<fairmux::$($type)+>::SEND,
                concat!("Send of ", stringify!($($type)+))
            );
            assert!(
                Probe::<h2::$($type)+>::SYNC == Probe::<fairmux::$($type)+>::SYNC,
                concat!("Sync of ", stringify!($($type)+))
            );
            assert!(
                !Probe::<h2::$($type)+>::UNWIND || Probe::<fairmux::$($type)+>::UNWIND,
                concat!("UnwindSafe of ", stringify!($($type)+))
            );
            assert!(
                !Probe::<h2::$($type)+>::REF_UNWIND || Probe::<fairmux::$($type)+>::REF_UNWIND,
                concat!("RefUnwindSafe of ", stringify!($($type)+))
            );
            // All of h2 are, so all of these must be.
            let _: [fn(); 2] = [unpinned::<h2::$($type)+>, unpinned::<fairmux::$($type)+>];
        };)+
    };
}

macro_rules! same_auto_traits_with {
    ($($buf:ty),+) => {
        $(same_auto_traits! {
            [client::SendRequest<$buf>];
            [client::ReadySendRequest<$buf>];
            [client::Connection<DuplexStream, $buf>];
            [client::Connection<LocalIo, $buf>];
            [server::Connection<DuplexStream, $buf>];
            [server::Connection<LocalIo, $buf>];
            [server::Handshake<DuplexStream, $buf>];
            [server::Handshake<LocalIo, $buf>];
            [server::SendResponse<$buf>];
            [server::SendPushedResponse<$buf>];
            [SendStream<$buf>];
        })+
    };
}

same_auto_traits_with!(Bytes, Unshared, Local, Borrowed<'static>);
same_auto_traits! {
    [client::Builder];
    [client::ResponseFuture];
    [client::PushPromises];
    [client::PushPromise];
    [client::PushedResponseFuture];
    [server::Builder];
    [RecvStream];
    [FlowControl];
    [PingPong];
    [Ping];
    [Pong];
    [StreamId];
    [Reason];
    [Error];
    [ext::Protocol];
}

// The probe can tell: a few that are known.
const _: () = assert!(Probe::<fairmux::client::SendRequest<Bytes>>::SYNC);
const _: () = assert!(Probe::<fairmux::client::SendRequest<Unshared>>::SEND);
const _: () = assert!(!Probe::<fairmux::SendStream<Local>>::SEND);

/// The futures of `async` methods may move to other threads, like those of h2.
#[allow(dead_code, reason = "only its types are of interest")]
mod futures_are_send {
    use super::*;

    fn movable<F: Future + Send>(_: F) {}

    macro_rules! movable_futures {
        ($name:ident, $krate:ident) => {
            fn $name(
                mut connection: $krate::server::Connection<DuplexStream, Unshared>,
                mut body: [$krate::RecvStream; 2],
                mut promises: $krate::client::PushPromises,
                mut pings: $krate::PingPong,
                io: [DuplexStream; 3],
            ) {
                let [a, b, c] = io;
                movable(connection.accept());
                let [one, two] = &mut body;
                movable(one.data());
                movable(two.trailers());
                movable(promises.push_promise());
                movable(pings.ping($krate::Ping::opaque()));
                movable($krate::client::handshake(a));
                movable($krate::server::handshake(b));
                movable($krate::client::Builder::new().handshake::<_, Unshared>(c));
            }
        };
    }
    movable_futures!(of_h2, h2);
    movable_futures!(of_fairmux, fairmux);
}

/// A payload may borrow from what outlives the connection.
#[allow(dead_code, reason = "only its types are of interest")]
async fn payloads_may_borrow(io: DuplexStream, text: &[u8]) -> Result<(), fairmux::Error> {
    let (mut requests, connection) = fairmux::client::Builder::new()
        .handshake::<_, Borrowed<'_>>(io)
        .await?;
    let (response, mut body) = requests.send_request(Request::new(()), false)?;
    body.send_data(Borrowed(text), true)?;
    drop((response, body, requests));
    connection.await
}

/// What h2 has under its feature of the same name, which is off here.
#[cfg(feature = "unstable")]
#[allow(dead_code, reason = "only its types are of interest")]
mod unstable {
    use super::*;
    use fairmux::{client, server};

    fn client<B: Buf>() {
        type It<B> = client::SendRequest<B>;
        let _: [fn(&It<B>) -> usize; 2] = [It::num_active_streams, It::num_wired_streams];
        let _: fn(&mut client::Builder, u32) -> &mut client::Builder =
            client::Builder::initial_stream_id;
    }

    fn server<T: AsyncRead + AsyncWrite + Unpin, B: Buf>() {
        let _: fn(&server::Connection<T, B>) -> usize = server::Connection::num_wired_streams;
    }
}

#[cfg(feature = "stream")]
mod streams {
    use super::*;

    fn stream<S: futures_core::Stream<Item = T>, T>() {}

    #[test]
    fn have_the_items_of_h2() {
        type Stream = (
            Request<fairmux::RecvStream>,
            fairmux::server::SendResponse<Bytes>,
        );
        stream::<fairmux::RecvStream, Result<Bytes, fairmux::Error>>();
        stream::<fairmux::client::PushPromises, Result<fairmux::client::PushPromise, fairmux::Error>>(
        );
        stream::<fairmux::server::Connection<DuplexStream, Bytes>, Result<Stream, fairmux::Error>>(
        );
    }
}

#[test]
fn is_compiled() {
    // What this file holds was checked by the compiler.
}
