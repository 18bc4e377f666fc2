//! A queue that seldom holds more than one value.
//!
//! Owns: the values. Does not know: what they are. The first one lies in the queue itself: a stream
//! with one head and one piece of DATA, which is the usual one, allocates nothing for its queues, and
//! a stream that waits costs no more than it holds. Memory for more is kept once it was needed.

use std::collections::VecDeque;

/// First in, first out.
#[derive(Debug, Default)]
pub(crate) enum ShortQueue<T> {
    /// No value, and never more than one before.
    #[default]
    Empty,
    /// One value.
    One(T),
    /// Any number of values.
    #[expect(clippy::box_collection, reason = "in most queues it is not there")]
    Many(Box<VecDeque<T>>),
}

impl<T> ShortQueue<T> {
    /// Whether there is no value.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            ShortQueue::Empty => true,
            ShortQueue::One(_) => false,
            ShortQueue::Many(values) => values.is_empty(),
        }
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            ShortQueue::Empty => 0,
            ShortQueue::One(_) => 1,
            ShortQueue::Many(values) => values.len(),
        }
    }

    /// The oldest value.
    pub(crate) fn front(&self) -> Option<&T> {
        match self {
            ShortQueue::Empty => None,
            ShortQueue::One(value) => Some(value),
            ShortQueue::Many(values) => values.front(),
        }
    }

    /// Adds the newest value.
    pub(crate) fn push_back(&mut self, value: T) {
        match self {
            ShortQueue::Empty => *self = ShortQueue::One(value),
            _ => self.spread().push_back(value),
        }
    }

    /// Puts a value back in front of all others.
    pub(crate) fn push_front(&mut self, value: T) {
        match self {
            ShortQueue::Empty => *self = ShortQueue::One(value),
            _ => self.spread().push_front(value),
        }
    }

    /// Takes the oldest value.
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        if let ShortQueue::Many(values) = self {
            return values.pop_front();
        }
        match std::mem::take(self) {
            ShortQueue::One(value) => Some(value),
            _ => None,
        }
    }

    /// Takes the newest of many values, if it is as wanted.
    pub(crate) fn pop_back_if(&mut self, is_wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        match self {
            ShortQueue::Many(values) if values.back().is_some_and(is_wanted) => values.pop_back(),
            _ => None,
        }
    }

    /// Moves all values of `from` behind those that are here. Usually nothing is here.
    pub(crate) fn append(&mut self, from: &mut ShortQueue<T>) {
        if self.is_empty() {
            return std::mem::swap(self, from);
        }
        while let Some(value) = from.pop_front() {
            self.push_back(value);
        }
    }

    /// The queue for many values, with what is here.
    fn spread(&mut self) -> &mut VecDeque<T> {
        if !matches!(self, ShortQueue::Many(_)) {
            let values = self.pop_front().into_iter().collect();
            *self = ShortQueue::Many(Box::new(values));
        }
        match self {
            ShortQueue::Many(values) => values,
            _ => unreachable!("it was spread"),
        }
    }
}

#[cfg(test)]
impl<T> ShortQueue<T> {
    /// Takes all values.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        std::iter::from_fn(|| self.pop_front()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_leave_in_their_order_and_what_is_put_back_leaves_first() {
        let mut queue = ShortQueue::default();
        for length in [0, 1, 2, 5, 1, 0, 1] {
            (0..length).for_each(|n| queue.push_back(n));
            assert_eq!(queue.is_empty(), length == 0);
            assert_eq!(queue.len(), length);
            assert_eq!(queue.front().copied(), (length > 0).then_some(0));
            if let Some(first) = queue.pop_front() {
                queue.push_front(first);
            }
            assert_eq!(queue.drain(), (0..length).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_appended_comes_behind_and_leaves_nothing() {
        for (here, there) in [(0, 1), (0, 3), (1, 1), (3, 2), (2, 0)] {
            let (mut to, mut from) = (ShortQueue::default(), ShortQueue::default());
            (0..here).for_each(|n| to.push_back(n));
            (here..here + there).for_each(|n| from.push_back(n));
            to.append(&mut from);
            assert!(from.is_empty());
            assert_eq!(to.drain(), (0..here + there).collect::<Vec<_>>());
        }
    }

    #[test]
    fn one_value_takes_hardly_more_than_itself() {
        type Value = Option<Box<u64>>;
        assert!(size_of::<ShortQueue<bytes::Bytes>>() <= size_of::<bytes::Bytes>() + 8);
        assert!(size_of::<ShortQueue<Value>>() <= size_of::<Value>() + 8);
    }
}
