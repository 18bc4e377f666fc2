//! Priority signals: the `priority` field and PRIORITY_UPDATE (RFC 9218).
//!
//! Owns: urgency and incremental, parsed and written. Does not know: how a scheduler serves them.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use sfv::visitor::{DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor};
use sfv::{BareItemFromInput, KeyRef};

/// The name of the field. `http` has no constant for it.
pub(super) const PRIORITY: &str = "priority";

/// How soon a response is wanted, and whether parts of it are of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Priority {
    /// 0 (first) to 7 (last).
    pub(crate) urgency: u8,
    /// Whether it may share the connection with others of its urgency.
    pub(crate) incremental: bool,
}

impl Priority {
    //= RFC 9218 §4.1 the default urgency is 3, from 0 to 7
    const DEFAULT_URGENCY: u8 = 3;
    const LOWEST_URGENCY: u8 = 7;

    /// The value of a `priority` field or of PRIORITY_UPDATE. What cannot be parsed says nothing,
    /// and is no error.
    pub(crate) fn parse(value: &[u8]) -> Option<Priority> {
        //= RFC 9218 §4 unknown parameters, and values that are out of range, are ignored
        sfv::Parser::new(value)
            .parse_dictionary_with_visitor(Reader(Priority::default()))
            .ok()
    }

    /// What the fields of a message say, or nothing if they do not mention it or say it wrong.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Priority> {
        let mut values = headers.get_all(PRIORITY).iter();
        let first = values.next()?;
        let Some(second) = values.next() else {
            return Priority::parse(first.as_bytes());
        };
        // Several lines are one dictionary.
        let mut all = first.as_bytes().to_vec();
        for value in std::iter::once(second).chain(values) {
            all.extend_from_slice(b", ");
            all.extend_from_slice(HeaderValue::as_bytes(value));
        }
        Priority::parse(&all)
    }

    /// As a field value. Values that are the default are not named.
    pub(crate) fn to_bytes(self) -> Bytes {
        let urgency = match self.urgency {
            Priority::DEFAULT_URGENCY => None,
            other => Some(format!("u={}", other.min(Priority::LOWEST_URGENCY))),
        };
        match (urgency, self.incremental) {
            (None, false) => Bytes::new(),
            (None, true) => Bytes::from_static(b"i"),
            (Some(urgency), false) => urgency.into(),
            (Some(urgency), true) => (urgency + ", i").into(),
        }
    }
}

impl Default for Priority {
    fn default() -> Priority {
        Priority {
            urgency: Priority::DEFAULT_URGENCY,
            incremental: false,
        }
    }
}

/// Reads the two keys we know; the rest is checked for its form and dropped.
struct Reader(Priority);

enum Key<'a> {
    Urgency(&'a mut u8),
    Incremental(&'a mut bool),
    Unknown,
}

impl<'de> DictionaryVisitor<'de> for Reader {
    type Out = Priority;
    type Error = Infallible;

    fn entry(&mut self, key: &'de KeyRef) -> Result<impl EntryVisitor<'de>, Infallible> {
        Ok(match key.as_str() {
            "u" => Key::Urgency(&mut self.0.urgency),
            "i" => Key::Incremental(&mut self.0.incremental),
            _ => Key::Unknown,
        })
    }

    fn finish(self) -> Result<Priority, Infallible> {
        Ok(self.0)
    }
}

impl<'de> EntryVisitor<'de> for Key<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(|item: BareItemFromInput<'de>| {
            self.set(&item);
            Ok::<_, Infallible>(Ignored)
        })
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        self.reset();
        Ok(Ignored)
    }
}

impl Key<'_> {
    fn set(self, item: &BareItemFromInput<'_>) {
        match (self, item) {
            (Key::Urgency(urgency), BareItemFromInput::Integer(value)) => {
                *urgency = u8::try_from(i64::from(*value))
                    .ok()
                    .filter(|value| *value <= Priority::LOWEST_URGENCY)
                    .unwrap_or(Priority::DEFAULT_URGENCY);
            }
            (Key::Incremental(incremental), BareItemFromInput::Boolean(value)) => {
                *incremental = *value;
            }
            (other, _) => other.reset(),
        }
    }

    /// A later value of the wrong type hides an earlier good one: the last of a key counts.
    fn reset(self) {
        match self {
            Key::Urgency(urgency) => *urgency = Priority::DEFAULT_URGENCY,
            Key::Incremental(incremental) => *incremental = false,
            Key::Unknown => {}
        }
    }
}
