//! The process of one server. It answers the same paths whatever library does it:
//!
//! - `/bytes/N`: N bytes, allocating none of them;
//! - `/sink`: reads the body of the request, then answers;
//! - `/wait`: answers nothing until the client resets the stream.
//!
//! It prints its port, and then, whenever a line comes, what it has counted.

mod answer;
mod counted;
mod floor;
mod multiplexed;
mod on_hyper;

use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use clap::{Parser, ValueEnum};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::pin::{self, Core};
use super::{Failure, tls};
use counted::Counted;

/// Which server, and its knobs.
#[derive(Clone, Debug, Parser)]
pub(crate) struct Order {
    #[arg(long)]
    pub(crate) library: Library,
    #[arg(long)]
    pub(crate) tls: bool,
    /// fairmux: the size of a batch; floor: bytes of a write.
    #[arg(long)]
    pub(crate) batch: Option<usize>,
    /// fairmux: the send room.
    #[arg(long)]
    pub(crate) room: Option<usize>,
    /// Receive windows: of a stream, and of a connection.
    #[arg(long, num_args = 2, default_values_t = [256 * 1024, 1024 * 1024])]
    pub(crate) windows: Vec<u32>,
    /// `TCP_NOTSENT_LOWAT`; 0 leaves it alone.
    #[arg(long, default_value_t = 256 * 1024)]
    pub(crate) unsent: u32,
    /// Lets the kernel wait for more (Nagle).
    #[arg(long)]
    pub(crate) delay: bool,
    /// What rustls may hold of what it could not write; 0 is no limit.
    #[arg(long)]
    pub(crate) tls_buffer: Option<usize>,
    /// The floor answers every request with so many bytes.
    #[arg(long, default_value_t = 0)]
    pub(crate) size: u64,
}

/// What stands between the socket and the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Library {
    Fairmux,
    H2,
    Hyper,
    /// hyper, speaking HTTP/1.1.
    Hyper1,
    /// Nothing: canned frames.
    Floor,
}

impl Library {
    /// A batch is not held back by what rustls takes at a time, as in `examples/serve`.
    fn tls_buffer(self) -> Option<usize> {
        matches!(self, Library::Floor | Library::Fairmux).then_some(0)
    }
}

impl Order {
    fn protocol(&self) -> &'static [u8] {
        match self.library {
            Library::Hyper1 => b"http/1.1",
            _ => b"h2",
        }
    }
}

/// From now on allocations are counted, like this.
pub(crate) fn count_allocations(count: fn() -> u64) {
    counted::count_allocations(count);
}

pub(crate) fn main(args: Vec<String>) -> Result<(), Failure> {
    let order = Order::parse_from(args);
    pin::pin(Core::Server);
    std::thread::spawn(report);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(listen(Arc::new(order)))
}

/// Answers each line with the counters. Whoever started us is gone when there are no more lines.
fn report() {
    for line in std::io::stdin().lock().lines() {
        if line.is_err() {
            break;
        }
        let mut out = std::io::stdout().lock();
        if writeln!(out, "{}", counted::totals()).is_err() {
            break;
        }
    }
    std::process::exit(0);
}

async fn listen(order: Arc<Order>) -> Result<(), Failure> {
    let acceptor = match order.tls {
        true => Some(tls::acceptor(order.protocol())?),
        false => None,
    };
    let listener = bind()?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        tune(&stream, &order)?;
        tokio::spawn(open(stream, acceptor.clone(), Arc::clone(&order)));
    }
}

fn bind() -> Result<TcpListener, Failure> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    Ok(socket.listen(4096)?)
}

fn tune(stream: &TcpStream, order: &Order) -> Result<(), Failure> {
    stream.set_nodelay(!order.delay)?;
    #[cfg(target_os = "linux")]
    if order.unsent > 0 {
        socket2::SockRef::from(stream).set_tcp_notsent_lowat(order.unsent)?;
    }
    Ok(())
}

async fn open(stream: TcpStream, acceptor: Option<TlsAcceptor>, order: Arc<Order>) {
    let stream = Counted::new(stream, order.tls);
    let Some(acceptor) = acceptor else {
        return serve(stream, &order).await;
    };
    // A client that leaves within its handshake is no fault.
    if let Ok(mut stream) = acceptor.accept(stream).await {
        let limit = order.tls_buffer.or(order.library.tls_buffer());
        if let Some(limit) = limit {
            let limit = (limit > 0).then_some(limit);
            stream.get_mut().1.set_buffer_limit(limit);
        }
        serve(stream, &order).await;
    }
}

async fn serve<T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(io: T, order: &Order) {
    match order.library {
        Library::Fairmux => multiplexed::on_fairmux::serve(io, order).await,
        Library::H2 => multiplexed::on_h2::serve(io, order).await,
        Library::Hyper => on_hyper::serve(io).await,
        Library::Hyper1 => on_hyper::serve1(io).await,
        Library::Floor => floor::serve(io, order).await,
    }
}
