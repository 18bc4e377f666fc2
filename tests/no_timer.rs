//! A runtime whose timer is off: whoever needs no limit on time needs no timer.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};

/// Everything that knows a time limit has one here, and no `Timer` to wake it.
#[test]
fn a_runtime_without_a_timer_serves_and_ends() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let (near, far) = tokio::io::duplex(1000);
    let server = async move {
        let mut builder = fairmux::server::Builder::new();
        builder
            .hardened()
            .reset_stream_duration(Duration::from_millis(1));
        let mut connection = builder.handshake(far).await.unwrap();
        let mut served = 0;
        while let Some(accepted) = connection.accept().await {
            let (request, mut respond) = accepted.unwrap();
            let mut body = respond.send_response(Response::new(()), false).unwrap();
            if request.uri().path() == "/reset" {
                body.send_reset(fairmux::Reason::INTERNAL_ERROR);
                continue;
            }
            body.send_data(Bytes::from(vec![7; 20_000]), true).unwrap();
            served += 1;
            if served == 3 {
                connection.graceful_shutdown();
            }
        }
        served
    };
    let client = async move {
        let (requests, connection) = fairmux::client::handshake(near).await.unwrap();
        let calls = async move {
            let mut requests = requests;
            for path in ["/", "/reset", "/", "/reset", "/"] {
                let request = Request::get(format!("http://example.test{path}"))
                    .body(())
                    .unwrap();
                requests = requests.ready().await.unwrap();
                let (response, _) = requests.send_request(request, true).unwrap();
                let Ok(mut response) = response.await else {
                    assert_eq!(path, "/reset");
                    continue;
                };
                let body = response.body_mut();
                let mut length = 0;
                while let Some(Ok(data)) = body.data().await {
                    length += data.len();
                    body.flow_control().release_capacity(data.len()).unwrap();
                }
                assert_eq!(length == 20_000, path == "/");
            }
        };
        tokio::join!(calls, connection).1
    };
    let (served, ended) = runtime.block_on(async { tokio::join!(server, client) });
    assert_eq!(served, 3);
    ended.unwrap();
}
