//! RFC 9218 between two ends: what the client says, how it changes it, what the server overrides.

use std::cell::RefCell;
use std::rc::Rc;

use bytes::Bytes;
use fairmux::{SendStream, client};
use tokio::task::spawn_local;

use super::{Requests, ask, read, run, settle};

/// Asks for large bodies, whose windows are closed at first; lets `change` act on the requests;
/// opens the windows, and answers in which order the bodies ended.
fn order_of(
    asked: &[(&str, &str)],
    change: impl AsyncFnOnce(&mut [SendStream<Bytes>]),
) -> Vec<usize> {
    let order = Rc::new(RefCell::new(Vec::new()));
    let mut options = client::Builder::new();
    options.initial_window_size(0);
    run(&options, async |mut requests: Requests| {
        let mut bodies = Vec::new();
        for (index, (path, priority)) in asked.iter().enumerate() {
            let (response, body) = ask(&mut requests, path, priority);
            bodies.push(body);
            let order = Rc::clone(&order);
            spawn_local(async move {
                read(response.await.unwrap().body_mut()).await;
                order.borrow_mut().push(index);
            });
        }
        settle().await;
        change(&mut bodies).await;
        requests.widen.notify_one();
        for _ in 0..5 {
            settle().await;
        }
    });
    order.take()
}

//= test RFC 9218 §5
#[test]
fn the_client_says_it_with_the_request() {
    let asked = [
        ("300000", "u=7"),
        ("300000", "u=5"),
        ("300000", "u=0"),
        ("300000", "u=1"),
    ];
    assert_eq!(order_of(&asked, async |_| {}), [2, 3, 1, 0]);
}

//= test RFC 9218 §4.2
#[test]
fn of_the_same_urgency_the_first_goes_first() {
    let asked = [("300000", "u=2"), ("1000", "u=2"), ("1000", "u=2")];
    assert_eq!(order_of(&asked, async |_| {}), [0, 1, 2]);
}

//= test RFC 9218 §7
#[test]
fn the_client_changes_its_mind() {
    let asked = [("300000", "u=0"), ("300000", ""), ("300000", "u=5")];
    let order = order_of(&asked, async |bodies| {
        bodies[0].set_priority(7, false);
        bodies[2].set_priority(1, false);
        settle().await;
    });
    assert_eq!(order, [2, 1, 0]);
}

//= test RFC 9218 §8
#[test]
fn the_server_overrides_what_the_client_says_and_changes() {
    let asked = [
        ("300000", "u=1"),
        ("300000", "u=1"),
        ("override/300000", "u=7"),
    ];
    let order = order_of(&asked, async |bodies| {
        bodies[2].set_priority(6, true);
        settle().await;
    });
    assert_eq!(order, [2, 0, 1]);
}

//= test RFC 9218 §4
#[test]
fn what_means_nothing_changes_nothing() {
    let asked = [
        ("300000", "u=9, x=1"),
        ("300000", "u=2;z"),
        ("300000", "u=3, ?"),
    ];
    let order = order_of(&asked, async |_| {});
    assert_eq!(order[0], 1, "the only signal that says something");
}
