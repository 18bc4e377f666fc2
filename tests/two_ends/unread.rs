//! A stream that nobody reads never blocks the others, whatever windows the options say; and what is
//! unread stays bounded.

use std::time::Duration;

use fairmux::{RecvStream, client};
use http::Request;
use tokio::task::spawn_local;
use tokio::time::timeout;

use super::{Requests, get, read, run, send, settle};

const WINDOW: usize = 65_535;

/// Bodies that are asked for and not read.
async fn unread(requests: &mut Requests, count: usize, length: usize) -> Vec<RecvStream> {
    let mut bodies = Vec::new();
    for _ in 0..count {
        bodies.push(get(requests, length, "").await);
        settle().await;
    }
    bodies
}

fn held(bodies: &mut [RecvStream]) -> usize {
    let held = |body: &mut RecvStream| body.flow_control().used_capacity();
    bodies.iter_mut().map(held).sum()
}

#[test]
fn ninety_nine_bodies_that_nobody_reads_leave_the_hundredth_its_way() {
    run(&client::Builder::new(), async |mut requests| {
        let mut bodies = unread(&mut requests, 99, 1 << 20).await;
        assert_eq!(
            held(&mut bodies),
            99 * WINDOW,
            "each has its own window full"
        );
        let mut last = get(&mut requests, 10 << 20, "").await;
        assert_eq!(read(&mut last).await, 10 << 20);
        for body in &mut bodies {
            assert_eq!(read(body).await, 1 << 20);
        }
    });
}

#[test]
fn uploads_that_nobody_reads_leave_the_others_their_way() {
    run(&client::Builder::new(), async |mut requests| {
        let mut bodies = Vec::new();
        for length in [1 << 20; 20] {
            let request = Request::post("http://example.test/1").body(()).unwrap();
            let (_, body) = requests.requests.send_request(request, false).unwrap();
            bodies.push(spawn_local(send(body, length)));
        }
        settle().await;
        assert!(bodies.iter().all(|body| !body.is_finished()));
        let request = Request::post("http://example.test/read").body(()).unwrap();
        let (response, body) = requests.requests.send_request(request, false).unwrap();
        spawn_local(send(body, 10 << 20));
        timeout(Duration::from_secs(60), response)
            .await
            .expect("stalled")
            .unwrap();
    });
}

#[test]
fn windows_that_one_stream_could_fill_are_corrected() {
    for (stream, connection) in [(1 << 20, 1 << 20), (65_535, 10_000), (100_000, 150_000)] {
        let mut options = client::Builder::new();
        options
            .initial_window_size(stream)
            .initial_connection_window_size(connection);
        run(&options, async |mut requests| {
            let mut bodies = unread(&mut requests, 1, 3 << 20).await;
            assert_eq!(held(&mut bodies), stream as usize);
            let mut other = get(&mut requests, 10 << 20, "").await;
            assert_eq!(read(&mut other).await, 10 << 20);
        });
    }
}

#[test]
fn a_window_that_was_set_bounds_what_is_unread() {
    let mut options = client::Builder::new();
    options
        .initial_window_size(65_535)
        .initial_connection_window_size(200_000);
    run(&options, async |mut requests| {
        let mut bodies = unread(&mut requests, 20, 1 << 20).await;
        assert_eq!(held(&mut bodies), 200_000);
        // Whoever reads lets the others go on.
        bodies.truncate(2);
        for body in &mut bodies {
            assert_eq!(read(body).await, 1 << 20);
        }
    });
}

#[test]
fn what_is_unread_has_a_bound_where_no_window_was_set() {
    let mut options = client::Builder::new();
    options.initial_window_size(8 << 20);
    run(&options, async |mut requests| {
        let mut bodies = unread(&mut requests, 5, 10 << 20).await;
        assert_eq!(held(&mut bodies), 16 << 20);
        drop(bodies);
        let mut other = get(&mut requests, 10 << 20, "").await;
        assert_eq!(read(&mut other).await, 10 << 20);
    });
}
