//! RFC 7541 §2.3.2, §4: the dynamic table of the decoder, and the index space over both tables.
//!
//! Owns the fields that the peer stored with us. It must not know how a block is written. Invariant
//! of its own: `size` is the sum of the sizes of `fields`, and `size <= max_size`.

use std::collections::VecDeque;

use super::{Field, static_table};

#[derive(Debug)]
pub(super) struct Table {
    /// The newest first.
    fields: VecDeque<Field>,
    size: usize,
    max_size: usize,
}

impl Table {
    pub(super) fn new(max_size: usize) -> Table {
        Table {
            fields: VecDeque::new(),
            size: 0,
            max_size,
        }
    }

    /// Stores a field as the newest.
    pub(super) fn insert(&mut self, field: Field) {
        let size = field.size();
        self.make_room(size);
        if size <= self.max_size {
            self.size += size;
            self.fields.push_front(field);
        }
    }

    /// Evicts what must go for an entry of `size`.
    pub(super) fn make_room(&mut self, size: usize) {
        //= RFC 7541 §4.4: an entry larger than the table empties it, which is no error
        self.evict(self.max_size.saturating_sub(size));
    }

    //= RFC 7541 §4.3: a smaller maximum evicts entries at once
    pub(super) fn set_max_size(&mut self, max_size: usize) {
        self.max_size = max_size;
        self.evict(max_size);
    }

    pub(super) fn max_size(&self) -> usize {
        self.max_size
    }

    /// The field at `index` of both tables together, which counts from 1.
    pub(super) fn field(&self, index: usize) -> Option<&Field> {
        //= RFC 7541 §2.3.3: the newest entry lies behind the static table
        match index.checked_sub(static_table::LEN + 1) {
            Some(age) => self.fields.get(age),
            None => static_table::field(index),
        }
    }

    /// Drops the oldest entries until at most `limit` is left.
    fn evict(&mut self, limit: usize) {
        while self.size > limit {
            let Some(field) = self.fields.pop_back() else {
                return;
            };
            self.size -= field.size();
        }
    }
}

#[cfg(test)]
impl Table {
    pub(super) fn contents(&self) -> Vec<Field> {
        self.fields.iter().cloned().collect()
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }
}
