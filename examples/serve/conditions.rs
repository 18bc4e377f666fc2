//! Owns what RFC 9110 sections 13 and 14 make of a request for a file: the whole, one range of it,
//! not modified, or not to be had. Pure; knows nothing of files or streams.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{self, HeaderName};

/// The year 10000, where dates of HTTP end.
const END_OF_DATES: u64 = 253_402_300_800;

/// What to answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// 200, all of it.
    Whole,
    /// 206, these bytes.
    Part(Range<u64>),
    /// 304.
    NotModified,
    /// 412.
    Failed,
    /// 416.
    Unsatisfiable,
}

/// Weighs the fields of a GET (`ranges`) or HEAD for a file of `len` bytes.
///
/// Files have dates and no entity tags, so a condition on tags can only meet `*`.
pub(crate) fn weigh(
    fields: &HeaderMap,
    modified: Option<SystemTime>,
    len: u64,
    ranges: bool,
) -> Verdict {
    if !may_proceed(fields, modified) {
        return Verdict::Failed;
    }
    if is_known(fields, modified) {
        return Verdict::NotModified;
    }
    match text(fields, header::RANGE) {
        Some(range) if ranges && may_cut(fields, modified) => cut(range, len),
        _ => Verdict::Whole,
    }
}

/// `time` in whole seconds, if a date of HTTP can say it.
pub(crate) fn date(time: SystemTime) -> Option<SystemTime> {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
    (seconds < END_OF_DATES).then(|| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// RFC 9110 §13.2.2, steps 1 and 2.
fn may_proceed(fields: &HeaderMap, modified: Option<SystemTime>) -> bool {
    if let Some(tags) = text(fields, header::IF_MATCH) {
        return tags == "*";
    }
    match (since(fields, header::IF_UNMODIFIED_SINCE), modified) {
        (Some(since), Some(modified)) => modified <= since,
        _ => true,
    }
}

/// RFC 9110 §13.2.2, steps 3 and 4.
fn is_known(fields: &HeaderMap, modified: Option<SystemTime>) -> bool {
    if let Some(tags) = text(fields, header::IF_NONE_MATCH) {
        return tags == "*";
    }
    match (since(fields, header::IF_MODIFIED_SINCE), modified) {
        (Some(since), Some(modified)) => modified <= since,
        _ => false,
    }
}

/// RFC 9110 §13.1.5: a range only if the client's copy is of this very file.
fn may_cut(fields: &HeaderMap, modified: Option<SystemTime>) -> bool {
    !fields.contains_key(header::IF_RANGE)
        || since(fields, header::IF_RANGE).is_some_and(|date| Some(date) == modified)
}

/// RFC 9110 §14.1.2. What is not understood is ignored, and so are several ranges at once: the
/// whole is a correct answer to them.
fn cut(range: &str, len: u64) -> Verdict {
    let Some((first, last)) = parse(range) else {
        return Verdict::Whole;
    };
    let range = match (first, last) {
        (Some(first), None) => first..len,
        (Some(first), Some(last)) if first > last => return Verdict::Whole,
        (Some(first), Some(last)) => first..last.saturating_add(1).min(len),
        (None, Some(suffix)) => len.saturating_sub(suffix)..len,
        (None, None) => return Verdict::Whole,
    };
    if range.is_empty() {
        Verdict::Unsatisfiable
    } else {
        Verdict::Part(range)
    }
}

fn parse(range: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (unit, set) = range.split_once('=')?;
    let (first, last) = set.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    Some((number(first)?, number(last)?))
}

/// Digits, or nothing at all. A number too large for us is larger than any file.
fn number(digits: &str) -> Option<Option<u64>> {
    if digits.is_empty() {
        return Some(None);
    }
    let all = digits.bytes().all(|digit| digit.is_ascii_digit());
    all.then(|| Some(digits.parse().unwrap_or(u64::MAX)))
}

fn since(fields: &HeaderMap, name: HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(text(fields, name)?).ok()
}

fn text(fields: &HeaderMap, name: HeaderName) -> Option<&str> {
    fields.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const LATER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
    const EARLIER: &str = "Sun, 06 Nov 1994 08:49:36 GMT";

    fn verdict(len: u64, fields: &[(&'static str, &str)]) -> Verdict {
        let fields = fields
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        let modified = httpdate::parse_http_date(DATE).unwrap();
        weigh(&fields, Some(modified), len, true)
    }

    #[test]
    fn ranges() {
        for (range, len, expected) in [
            ("bytes=0-0", 10, Verdict::Part(0..1)),
            ("bytes=2-5", 10, Verdict::Part(2..6)),
            ("Bytes=2-", 10, Verdict::Part(2..10)),
            ("bytes=-3", 10, Verdict::Part(7..10)),
            ("bytes=-30", 10, Verdict::Part(0..10)),
            ("bytes=5-99999999999999999999999", 10, Verdict::Part(5..10)),
            ("bytes=10-", 10, Verdict::Unsatisfiable),
            ("bytes=10-12", 10, Verdict::Unsatisfiable),
            ("bytes=-0", 10, Verdict::Unsatisfiable),
            ("bytes=0-", 0, Verdict::Unsatisfiable),
            ("bytes=-1", 0, Verdict::Unsatisfiable),
            ("bytes=5-4", 10, Verdict::Whole),
            ("bytes=-", 10, Verdict::Whole),
            ("bytes=", 10, Verdict::Whole),
            ("bytes=a-b", 10, Verdict::Whole),
            ("bytes=+1-2", 10, Verdict::Whole),
            ("bytes=0-1,4-5", 10, Verdict::Whole),
            ("lines=0-1", 10, Verdict::Whole),
        ] {
            assert_eq!(
                verdict(len, &[("range", range)]),
                expected,
                "{range} of {len}"
            );
        }
    }

    #[test]
    fn a_range_is_cut_only_from_the_file_the_client_knows() {
        let range = ("range", "bytes=0-0");
        assert_eq!(
            verdict(10, &[range, ("if-range", DATE)]),
            Verdict::Part(0..1)
        );
        assert_eq!(verdict(10, &[range, ("if-range", LATER)]), Verdict::Whole);
        assert_eq!(
            verdict(10, &[range, ("if-range", "\"tag\"")]),
            Verdict::Whole
        );
    }

    #[test]
    fn head_knows_no_ranges() {
        let fields = HeaderMap::from_iter([(header::RANGE, "bytes=0-0".parse().unwrap())]);
        assert_eq!(weigh(&fields, None, 10, false), Verdict::Whole);
    }

    #[test]
    fn not_modified() {
        assert_eq!(
            verdict(10, &[("if-modified-since", DATE)]),
            Verdict::NotModified
        );
        assert_eq!(
            verdict(10, &[("if-modified-since", LATER)]),
            Verdict::NotModified
        );
        assert_eq!(
            verdict(10, &[("if-modified-since", EARLIER)]),
            Verdict::Whole
        );
        assert_eq!(
            verdict(10, &[("if-modified-since", "yesterday")]),
            Verdict::Whole
        );
        let both = [("if-modified-since", DATE), ("if-none-match", "\"tag\"")];
        assert_eq!(verdict(10, &both), Verdict::Whole);
        assert_eq!(verdict(10, &[("if-none-match", "*")]), Verdict::NotModified);
    }

    #[test]
    fn precondition_failed() {
        assert_eq!(
            verdict(10, &[("if-unmodified-since", EARLIER)]),
            Verdict::Failed
        );
        assert_eq!(
            verdict(10, &[("if-unmodified-since", DATE)]),
            Verdict::Whole
        );
        assert_eq!(verdict(10, &[("if-match", "\"tag\"")]), Verdict::Failed);
        assert_eq!(verdict(10, &[("if-match", "*")]), Verdict::Whole);
    }

    #[test]
    fn dates_that_http_cannot_say_are_none() {
        assert_eq!(date(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), None);
        assert_eq!(
            date(SystemTime::UNIX_EPOCH + Duration::from_secs(END_OF_DATES)),
            None
        );
        let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        assert_eq!(date(second + Duration::from_millis(5)), Some(second));
    }
}
