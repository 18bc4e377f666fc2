//! Memory after a load: ten thousand requests with bodies of 6 KB, half of them unread, of each a header
//! value that the application keeps.

use std::sync::Arc;

use bytes::Bytes;
use fairmux::{client, server};
use http::{HeaderValue, Request, Response};

use crate::calls::Calls;
use crate::live_bytes;
use crate::pipe::pipe;
use crate::tasks::Tasks;

const REQUESTS: usize = 10_000;
/// What both ends together may hold more than before the load.
const GROWTH: usize = 2 * 4096;
/// Of a kept value: its octets, their count of references, its place in a list.
const KEPT: usize = 160;

pub(crate) fn memory_returns_after_load() {
    let mut tasks = Tasks::new(Calls::none(), None);
    let ([near, far], _) = pipe(Default::default(), &Arc::default());
    let spawner = tasks.spawner();
    spawner.spawn("server", async move {
        let mut connection = server::handshake(far).await.unwrap();
        while let Some(accepted) = connection.accept().await {
            let (_, mut respond) = accepted.unwrap();
            let mut response = Response::new(());
            let value = HeaderValue::from_str(&format!("{:?}, kept", respond.stream_id())).unwrap();
            response.headers_mut().insert("kept", value);
            let mut body = respond.send_response(response, false).unwrap();
            body.send_data(Bytes::from_static(&[7; 6000]), true)
                .unwrap();
        }
    });
    spawner.spawn("client", {
        let spawner = spawner.clone();
        async move {
            let (mut requests, connection) = client::handshake(near).await.unwrap();
            spawner.spawn("connection", async { connection.await.unwrap() });
            let mut kept = Vec::with_capacity(REQUESTS);
            // So many fill the tables of the header compression, which stay.
            for number in 0..300 {
                ask(&mut requests, number, &mut kept).await;
            }
            kept.clear();
            settle(&mut requests).await;
            let before = live_bytes();
            for number in 0..REQUESTS {
                ask(&mut requests, number, &mut kept).await;
            }
            settle(&mut requests).await;
            let held = live_bytes() - before;
            let bound = REQUESTS * KEPT + GROWTH;
            assert!(
                held <= bound as isize,
                "{held} bytes with {REQUESTS} values kept"
            );
            kept.clear();
            let left = live_bytes() - before;
            assert!(left <= GROWTH as isize, "{left} bytes are left of the load");
            println!("  {held} bytes with {REQUESTS} header values kept, {left} without");
        }
    });
    tasks.run();
    assert_eq!(tasks.unfinished(), [""; 0]);
}

async fn ask(
    requests: &mut client::SendRequest<Bytes>,
    number: usize,
    kept: &mut Vec<HeaderValue>,
) {
    let request = Request::get("http://example.test/").body(()).unwrap();
    let (response, _) = requests.send_request(request, true).unwrap();
    let response = response.await.unwrap();
    kept.push(response.headers()["kept"].clone());
    if number % 2 == 0 {
        let mut body = response.into_body();
        while let Some(data) = body.data().await {
            let length = data.unwrap().len();
            body.flow_control().release_capacity(length).unwrap();
        }
    }
}

/// Until what was asked before is over at both ends.
async fn settle(requests: &mut client::SendRequest<Bytes>) {
    let mut kept = Vec::new();
    for _ in 0..10 {
        ask(requests, 0, &mut kept).await;
    }
}
