//! A whole connection, fed with octets, in either role: no panic, and when the peer has gone every
//! task ends.

#![no_main]

use arbitrary::Arbitrary;
use bytes::Bytes;
use fairmux::{RecvStream, client, server};
use fairmux_fuzz::{Script, Spawner, Tasks};
use http::{HeaderMap, Request, Response};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    is_client: bool,
    hardened: bool,
    piece: u16,
    accepts: u16,
    capacity: u32,
    octets: &'a [u8],
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

fuzz_target!(|input: Input<'_>| {
    let preface = if input.is_client { &[][..] } else { PREFACE };
    let wire = Script {
        incoming: preface.iter().chain(input.octets).copied().collect(),
        piece: usize::from(input.piece),
        accepts: usize::from(input.accepts),
        capacity: input.capacity as usize,
    };
    let mut tasks = Tasks::default();
    let spawner = tasks.spawner();
    if input.is_client {
        tasks.spawner().spawn(ask(wire, input.hardened, spawner));
    } else {
        tasks.spawner().spawn(serve(wire, input.hardened, spawner));
    }
    tasks.run();
    assert_eq!(
        tasks.unfinished(),
        0,
        "nobody waits for a peer that has gone"
    );
});

async fn serve(wire: Script, hardened: bool, spawner: Spawner) {
    let mut options = server::Builder::new();
    if hardened {
        options.hardened();
    }
    options.enable_connect_protocol();
    let Ok(mut connection) = options.handshake::<_, Bytes>(wire).await else {
        return;
    };
    while let Some(Ok((request, respond))) = connection.accept().await {
        spawner.spawn(answer(request, respond));
    }
}

async fn answer(request: Request<RecvStream>, mut respond: server::SendResponse<Bytes>) {
    let ends_now = request.uri().path() == "/";
    let Ok(mut stream) = respond.send_response(Response::new(()), ends_now) else {
        return;
    };
    let _ = read(request.into_body()).await;
    for _ in 0..8 {
        let sent = stream.send(Bytes::from_static(&[7; 20_000])).await;
        if sent.is_err() {
            return;
        }
    }
    let _ = stream.send_trailers(HeaderMap::new());
}

async fn ask(wire: Script, hardened: bool, spawner: Spawner) {
    let mut options = client::Builder::new();
    if hardened {
        options.hardened();
    }
    let Ok((mut requests, connection)) = options.handshake::<_, Bytes>(wire).await else {
        return;
    };
    for path in ["/a", "/b", "/c"] {
        let request = Request::get(format!("http://a.test{path}"))
            .body(())
            .unwrap();
        let Ok((response, mut stream)) = requests.send_request(request, path == "/a") else {
            continue;
        };
        let _ = stream.send_data(Bytes::from_static(&[1; 5000]), path == "/b");
        spawner.spawn(async move {
            follow(response).await;
            drop(stream);
        });
    }
    drop(requests);
    let _ = connection.await;
}

/// Reads the response and everything that is pushed with it.
async fn follow(mut response: client::ResponseFuture) {
    let mut pushes = response.push_promises();
    if let Ok(response) = response.await {
        let _ = read(response.into_body()).await;
    }
    while let Some(Ok(push)) = pushes.push_promise().await {
        let (_, response) = push.into_parts();
        if let Ok(response) = response.await {
            let _ = read(response.into_body()).await;
        }
    }
}

async fn read(mut body: RecvStream) -> Result<(), fairmux::Error> {
    while let Some(data) = body.data().await {
        let length = data?.len();
        body.flow_control().release_capacity(length)?;
    }
    body.trailers().await.map(drop)
}
