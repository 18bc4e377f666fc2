//! RFC 7541 §2.3.2, §4: the dynamic table of the encoder, found by content.
//!
//! Owns copies of the octets: a clone of a caller's value could keep a large buffer alive. It must
//! not know how a block is written, nor which fields deserve a place. Insert, evict and find take
//! constant time: two hash chains run from newer to older entries, and as the oldest entry is
//! evicted first, it is always the last of its chains. So eviction touches no chain: a link to an
//! entry older than `oldest` is the end. The hash is keyed, so that a peer whose fields are sent
//! on cannot choose collisions; a chain is in no case longer than the table.
//!
//! Invariants of its own: `size` is the sum of the sizes of `entries`, and `size <= max_size`;
//! `octets` is at most twice `CAPACITY` long.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use super::field::size;
use super::{DEFAULT_TABLE_SIZE, static_table};

/// The table never grows beyond this, whatever the peer allows.
pub(super) const CAPACITY: usize = DEFAULT_TABLE_SIZE;

const CHAINS: usize = 128;

/// The number of the first entry ever, and so the end of every chain below it.
const FIRST_ID: u64 = 1;

#[derive(Debug)]
pub(super) struct EncoderTable {
    /// The oldest first; consecutive ids.
    entries: VecDeque<Entry>,
    /// Id of the front entry, or of the next one if there is none.
    oldest: u64,
    /// Names and values, in the order of the entries, behind those of evicted entries.
    octets: Vec<u8>,
    size: usize,
    max_size: usize,
    /// None until the first entry: a connection that sends no fields yet needs no memory for it.
    newest: Option<Box<Newest>>,
    keys: [u64; 2],
}

/// The newest entry of each chain of equal field hashes, and of equal name hashes.
#[derive(Debug)]
struct Newest {
    fields: [u64; CHAINS],
    names: [u64; CHAINS],
}

#[derive(Debug)]
struct Entry {
    /// Where the name begins in `octets`; the value follows it.
    start: usize,
    name_len: usize,
    value_len: usize,
    hash: FieldHash,
    /// The next older entries of the two chains.
    older_field: u64,
    older_name: u64,
}

/// The hashes of a name, and of the whole field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldHash {
    name: u64,
    field: u64,
}

impl EncoderTable {
    pub(super) fn new() -> EncoderTable {
        let seed = RandomState::new();
        EncoderTable {
            entries: VecDeque::new(),
            oldest: FIRST_ID,
            octets: Vec::new(),
            size: 0,
            max_size: CAPACITY,
            newest: None,
            keys: [seed.hash_one(0u8), seed.hash_one(1u8) | 1],
        }
    }

    pub(super) fn max_size(&self) -> usize {
        self.max_size
    }

    pub(super) fn set_max_size(&mut self, max_size: usize) {
        self.max_size = max_size.min(CAPACITY);
        self.evict(self.max_size);
    }

    pub(super) fn hash(&self, name: &[u8], value: &[u8]) -> FieldHash {
        let name = self.absorb(self.keys[0], name);
        FieldHash {
            name,
            field: self.absorb(name, value),
        }
    }

    /// Index, in the space of both tables, of the newest entry equal to this field.
    pub(super) fn find(&self, hash: FieldHash, name: &[u8], value: &[u8]) -> Option<usize> {
        let mut id = self.newest.as_ref()?.fields[chain(hash.field)];
        while let Some(entry) = self.entry(id) {
            if entry.hash == hash && self.name(entry) == name && self.value(entry) == value {
                return Some(self.index(id));
            }
            id = entry.older_field;
        }
        None
    }

    /// Index, in the space of both tables, of the newest entry with this name.
    pub(super) fn find_name(&self, hash: FieldHash, name: &[u8]) -> Option<usize> {
        let mut id = self.newest.as_ref()?.names[chain(hash.name)];
        while let Some(entry) = self.entry(id) {
            if entry.hash.name == hash.name && self.name(entry) == name {
                return Some(self.index(id));
            }
            id = entry.older_name;
        }
        None
    }

    /// Stores a field as the newest.
    pub(super) fn insert(&mut self, hash: FieldHash, name: &[u8], value: &[u8]) {
        let size = size(name, value);
        //= RFC 7541 §4.4: entries are evicted before the new one is added
        self.evict(self.max_size.saturating_sub(size));
        if size > self.max_size {
            return;
        }
        let id = self.oldest + self.entries.len() as u64;
        let start = self.store(name, value);
        let newest = self.newest.get_or_insert_with(Newest::new);
        self.entries.push_back(Entry {
            start,
            name_len: name.len(),
            value_len: value.len(),
            hash,
            older_field: std::mem::replace(&mut newest.fields[chain(hash.field)], id),
            older_name: std::mem::replace(&mut newest.names[chain(hash.name)], id),
        });
        self.size += size;
    }

    fn store(&mut self, name: &[u8], value: &[u8]) -> usize {
        if self.octets.len() + name.len() + value.len() > 2 * CAPACITY {
            self.compact();
        }
        let start = self.octets.len();
        self.octets.extend_from_slice(name);
        self.octets.extend_from_slice(value);
        start
    }

    /// Drops the octets of evicted entries: at most `CAPACITY` remain, so as many can follow
    /// before the next time.
    fn compact(&mut self) {
        let dead = self
            .entries
            .front()
            .map_or(self.octets.len(), |entry| entry.start);
        self.octets.drain(..dead);
        for entry in &mut self.entries {
            entry.start -= dead;
        }
    }

    /// Drops the oldest entries until at most `limit` is left.
    fn evict(&mut self, limit: usize) {
        while self.size > limit {
            let Some(entry) = self.entries.pop_front() else {
                return;
            };
            self.size -= size(self.name(&entry), self.value(&entry));
            self.oldest += 1;
        }
    }

    fn entry(&self, id: u64) -> Option<&Entry> {
        self.entries
            .get(usize::try_from(id.checked_sub(self.oldest)?).ok()?)
    }

    fn name(&self, entry: &Entry) -> &[u8] {
        &self.octets[entry.start..entry.start + entry.name_len]
    }

    fn value(&self, entry: &Entry) -> &[u8] {
        let start = entry.start + entry.name_len;
        &self.octets[start..start + entry.value_len]
    }

    /// The newest entry has the index behind the static table.
    fn index(&self, id: u64) -> usize {
        let newer = self.oldest + self.entries.len() as u64 - 1 - id;
        static_table::LEN + 1 + newer as usize
    }

    /// Folds octets into a hash by multiplication with a secret key.
    fn absorb(&self, start: u64, octets: &[u8]) -> u64 {
        let mut hash = start ^ octets.len() as u64;
        let mut words = octets.chunks_exact(8);
        for word in &mut words {
            hash = fold(hash ^ load(word), self.keys[1]);
        }
        fold(hash ^ load(words.remainder()), self.keys[1])
    }
}

impl Newest {
    fn new() -> Box<Newest> {
        Box::new(Newest {
            fields: [0; CHAINS],
            names: [0; CHAINS],
        })
    }
}

/// Up to eight octets as a number.
fn load(octets: &[u8]) -> u64 {
    if let Ok(word) = octets.try_into() {
        return u64::from_le_bytes(word);
    }
    octets
        .iter()
        .fold(0, |word, &octet| word << 8 | u64::from(octet))
}

/// Both halves of the product, so that each bit of the result depends on each bit of `a`.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn chain(hash: u64) -> usize {
    hash as usize % CHAINS
}
