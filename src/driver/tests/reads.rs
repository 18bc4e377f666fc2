//! What a connection says of its reads.

use std::task::{Context, Waker};

use bytes::Bytes;

use super::super::Driver;
use super::super::reader::FLOOR;
use super::script::{Script, Take};
use crate::proto::Config;

/// SETTINGS without a setting, and a PING.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
const PING: &[u8] = b"\0\0\x08\x06\0\0\0\0\0eightest";

#[test]
fn reads_and_their_bytes_are_counted_and_none_is_offered_too_little() {
    let mut cx = Context::from_waker(Waker::noop());
    let mut io = Script::new(true, Take::All);
    let (first, second) = (SETTINGS.to_vec(), PING.repeat(20));
    let bytes = (first.len() + second.len()) as u64;
    io.input = [first, second].into();
    let mut driver = Driver::<_, Bytes>::client(io, Config::default());
    driver.hub().shared().add_requester();
    assert!(driver.poll(&mut cx).is_pending());
    let stats = driver.stats();
    assert_eq!(stats.reads_below_floor, 0);
    assert_eq!((stats.reads, stats.bytes_received), (2, bytes));
    assert_eq!(stats.frames_received, 21);
    // The answers to 20 pings leave in few calls.
    assert_eq!(stats.writes as usize, driver.io.writes.len());
    assert!(stats.frames_sent > 20 && stats.writes < 4, "{stats:?}");
    let offered = &driver.io.offered;
    assert!(offered.iter().all(|space| *space >= FLOOR), "{offered:?}");
}
