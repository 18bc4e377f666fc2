//! A scripted peer for tests of the wire: frame builders, an in-memory connection, expectations.
//!
//! A script is an async closure over a [`Peer`]. It runs once with all octets at once, once with
//! one octet per read and write, and once for each octet of its own input with a cut there. The
//! clock is virtual, so that waiting for nothing takes no time and nothing can hang.
//!
//! ```ignore
//! server(async |peer| {
//!     peer.send(data(0, "x"));
//!     peer.expect_go_away(PROTOCOL_ERROR).await;
//! });
//! ```
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test crate uses its own part")]
#![allow(unused_imports, reason = "each test crate uses its own part")]

/// The crate under test.
use fairmux as subject;

/// Whether a GOAWAY for an error carries a text.
const EXPLAINS: bool = true;

mod app;
mod audit;
mod caller;
mod expect;
mod frames;
mod peer;
mod wire;

use std::rc::Rc;

use tokio::runtime::Builder;
use tokio::task::LocalSet;

pub(crate) use self::app::{App, End, Exchange, Over};
pub(crate) use self::caller::{Call, Caller, Outcome};
pub(crate) use self::frames::*;
pub(crate) use self::peer::{Peer, Received, Subject, request};
pub(crate) use self::subject::{Ping, Reason, client::Builder as ClientBuilder};
pub(crate) use self::subject::{ext::Protocol, server::Builder as ServerBuilder};
pub(crate) use self::wire::{Mode, SubjectEnd, wire};

/// How many cuts a script with a long input gets; a short one is cut everywhere.
const CUTS: usize = 400;

/// Runs a script against a server.
pub(crate) fn server(script: impl AsyncFn(&mut Peer)) {
    Setup::new().server(script);
}

/// Runs a script against a client.
pub(crate) fn client(script: impl AsyncFn(&mut Peer)) {
    Setup::new().client(script);
}

/// Runs a script against a server, then against a client.
pub(crate) fn both(script: impl AsyncFn(&mut Peer)) {
    Setup::new().both(script);
}

/// The options of both ends of a test.
pub(crate) struct Setup {
    first: Frame,
    server: Rc<dyn Fn(&mut ServerBuilder)>,
    client: Rc<dyn Fn(&mut ClientBuilder)>,
    handshake: bool,
    cuts: usize,
}

impl Setup {
    pub(crate) fn new() -> Setup {
        Setup {
            first: settings(),
            server: Rc::new(|_| {}),
            client: Rc::new(|_| {}),
            handshake: true,
            cuts: CUTS,
        }
    }

    /// The peer's first SETTINGS.
    pub(crate) fn settings(mut self, first: Frame) -> Setup {
        self.first = first;
        self
    }

    /// Options of a server under test.
    pub(crate) fn serving(mut self, options: impl Fn(&mut ServerBuilder) + 'static) -> Setup {
        self.server = Rc::new(options);
        self
    }

    /// Options of a client under test.
    pub(crate) fn calling(mut self, options: impl Fn(&mut ClientBuilder) + 'static) -> Setup {
        self.client = Rc::new(options);
        self
    }

    /// The script does the start of the connection itself.
    pub(crate) fn no_handshake(mut self) -> Setup {
        self.handshake = false;
        self
    }

    /// Only a few cuts, for a script that is slow or long.
    pub(crate) fn few_cuts(mut self) -> Setup {
        self.cuts = 8;
        self
    }

    pub(crate) fn server(&self, script: impl AsyncFn(&mut Peer)) {
        self.all_modes(true, &script);
    }

    pub(crate) fn client(&self, script: impl AsyncFn(&mut Peer)) {
        self.all_modes(false, &script);
    }

    pub(crate) fn both(&self, script: impl AsyncFn(&mut Peer)) {
        self.all_modes(true, &script);
        self.all_modes(false, &script);
    }

    fn all_modes(&self, server: bool, script: &impl AsyncFn(&mut Peer)) {
        let (start, end) = self.run(server, Mode::Whole, script);
        self.run(server, Mode::Bytewise, script);
        let step = ((end - start) / self.cuts).max(1);
        for at in (start..end).step_by(step) {
            self.run(server, Mode::CutAt(at), script);
        }
    }

    /// Runs the script once; where its own input begins and ends.
    fn run(&self, server: bool, mode: Mode, script: &impl AsyncFn(&mut Peer)) -> (usize, usize) {
        let _note = Note { server, mode };
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        let tasks = LocalSet::new();
        tasks.block_on(&runtime.unwrap(), async {
            let mut peer = self.connect(server, mode).await;
            let start = peer.written();
            script(&mut peer).await;
            (start, peer.written())
        })
    }

    async fn connect(&self, server: bool, mode: Mode) -> Peer {
        let (subject_end, peer_end) = wire(mode);
        if server {
            let mut builder = ServerBuilder::new();
            (self.server)(&mut builder);
            let app = App::serve(builder, subject_end);
            let mut peer = Peer::new(peer_end, Subject::Server(app));
            if self.handshake {
                peer.send_preface();
                self.exchange_settings(&mut peer).await;
            }
            return peer;
        }
        let mut builder = ClientBuilder::new();
        (self.client)(&mut builder);
        let caller = Caller::connect(builder, subject_end)
            .await
            .expect("handshake");
        let mut peer = Peer::new(peer_end, Subject::Client(caller));
        if self.handshake {
            peer.expect_preface().await;
            self.exchange_settings(&mut peer).await;
        }
        peer
    }

    async fn exchange_settings(&self, peer: &mut Peer) {
        peer.send(self.first.clone());
        loop {
            let received = peer.expect_any(0, kind::SETTINGS).await;
            if received.frame.has(flag::ACK) {
                break;
            }
        }
        peer.settle().await;
    }
}

/// Says which run of a script failed.
struct Note {
    server: bool,
    mode: Mode,
}

impl Drop for Note {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let role = if self.server { "server" } else { "client" };
            eprintln!(
                "(the endpoint under test was the {role}; octets came {:?})",
                self.mode
            );
        }
    }
}
