//! Owns the bytes that are the same for everybody: the page of `/bytes/N` and the index of `/`.

use std::ops::Range;

use bytes::Bytes;

/// The answer to `/`.
pub(crate) const INDEX: &str = "<!doctype html><title>serve</title><p>HTTP/2 by fairmux. \
Ask for a file, or /bytes/N /fresh/N /echo /sink /status/N\n";

/// The bytes repeat after this many.
const PERIOD: usize = 64;

/// The longest slice, so the longest piece of a body.
pub(crate) const LONGEST: usize = 256 * 1024;

static LINE: &[u8; PERIOD] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-\n";

static PAGE: [u8; LONGEST + PERIOD] = repeated();

const fn repeated() -> [u8; LONGEST + PERIOD] {
    let mut page = [0; LONGEST + PERIOD];
    let mut at = 0;
    while at < page.len() {
        page[at] = LINE[at % PERIOD];
        at += 1;
    }
    page
}

/// At most `wish` bytes of the endless repetition, from `offset` on. Costs no allocation.
pub(crate) fn slice(offset: u64, wish: usize) -> Bytes {
    Bytes::from_static(&PAGE[range(offset, wish)])
}

/// The same, in memory of its own.
pub(crate) fn copy(offset: u64, wish: usize) -> Bytes {
    Bytes::copy_from_slice(&PAGE[range(offset, wish)])
}

fn range(offset: u64, wish: usize) -> Range<usize> {
    let start = usize::try_from(offset % PERIOD as u64).unwrap_or(0);
    start..start + wish.min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_same_bytes_however_they_are_cut() {
        let whole = slice(0, 1000);
        let mut joined = Vec::new();
        for cut in [1, 63, 64, 65, 300, 507] {
            joined.extend_from_slice(&slice(joined.len() as u64, cut));
        }
        assert_eq!(joined, whole);
        assert_eq!(copy(17, 100), slice(17, 100));
    }

    #[test]
    fn a_wish_is_never_exceeded_and_bounded() {
        assert_eq!(slice(63, usize::MAX).len(), LONGEST);
        assert_eq!(slice(u64::MAX, 5).len(), 5);
    }
}
