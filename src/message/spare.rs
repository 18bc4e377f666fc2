//! Header maps that are used again: one that was sent serves the next message that comes.
//!
//! Owns: a few empty maps for each thread. Does not know: what was in them. Keeps: nothing of a
//! message stays in a map that is kept, and neither the number of maps nor their size grows
//! without a bound.

use std::cell::RefCell;

use http::HeaderMap;

/// So many streams of one turn find a map.
const KEPT: usize = 128;
/// A map with room for more fields is seldom needed.
const LARGEST: usize = 24;

thread_local! {
    static SPARE: RefCell<Vec<HeaderMap>> = const { RefCell::new(Vec::new()) };
}

/// An empty map, most likely with room.
pub(super) fn map() -> HeaderMap {
    let spare = SPARE.try_with(|spare| spare.try_borrow_mut().ok()?.pop());
    spare.ok().flatten().unwrap_or_default()
}

/// Takes back a map that nobody needs any more.
pub(crate) fn keep(mut map: HeaderMap) {
    // Names that came more than once have room of their own, which no capacity tells of.
    let is_usual = map.len() == map.keys_len();
    if !is_usual || !(1..=LARGEST).contains(&map.capacity()) {
        return;
    }
    // Outside the borrow: a value may belong to somebody whose drop does whatever it likes.
    map.clear();
    let _ = SPARE.try_with(|spare| {
        if let Ok(mut spare) = spare.try_borrow_mut() {
            if spare.len() < KEPT {
                spare.push(map);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::{ACCEPT, HOST};

    use super::*;

    fn spare() -> usize {
        SPARE.with_borrow(Vec::len)
    }

    #[test]
    fn a_map_comes_back_empty_and_with_its_room() {
        let mut sent = HeaderMap::with_capacity(8);
        sent.insert(HOST, HeaderValue::from_static("a"));
        let room = sent.capacity();
        keep(sent);
        let next = map();
        assert!(next.is_empty());
        assert_eq!(next.capacity(), room);
        assert_eq!(map().capacity(), 0, "it is given out once");
    }

    #[test]
    fn what_is_large_is_not_kept() {
        keep(HeaderMap::new());
        keep(HeaderMap::with_capacity(10 * LARGEST));
        let mut repeated = HeaderMap::with_capacity(8);
        (0..1000).for_each(|_| {
            repeated.append(ACCEPT, HeaderValue::from_static("a"));
        });
        keep(repeated);
        assert_eq!(spare(), 0);
        (0..2 * KEPT).for_each(|_| keep(HeaderMap::with_capacity(8)));
        assert_eq!(spare(), KEPT);
    }
}
