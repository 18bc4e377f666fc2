//! Owns the options of sockets. Knows nothing of TLS or HTTP.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::fault::Fault;

/// Connections the kernel may hold before we accept them.
const BACKLOG: u32 = 1024;

/// What the kernel may hold unsent. What it holds cannot be taken back, so an urgent answer waits
/// behind it; too little of it and the wire runs dry between two writes.
const UNSENT: u32 = 256 * 1024;

/// Listens on `addr`, which `option` chooses.
pub(crate) fn listen(addr: SocketAddr, option: &str) -> Result<TcpListener, Fault> {
    let socket = if addr.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    };
    socket
        .and_then(|socket| {
            socket.set_reuseaddr(true)?;
            socket.bind(addr)?;
            socket.listen(BACKLOG)
        })
        .map_err(|why| {
            let what = format_args!("cannot listen on {addr}");
            Fault::new(what, format_args!("{why}; choose another with {option}"))
        })
}

/// Sets what every connection wants: small frames go at once, and little waits in the kernel.
pub(crate) fn tune(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    #[cfg(target_os = "linux")]
    socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT)?;
    Ok(())
}
