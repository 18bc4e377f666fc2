//! RFC 7541 §6: fields to header blocks, in wire order.
//!
//! Owns the encoding context and the policy of what goes into the table. It must not know what a
//! field means, except whether it may be stored. Keeps I6 with its caller: a field changes the
//! table when it is encoded, so blocks must reach the wire in the order of the calls.

use bytes::BytesMut;
use http::{HeaderName, HeaderValue, header};

use super::encoder_table::{CAPACITY, EncoderTable};
use super::field::size;
use super::static_table::{self, Match};
use super::{Pseudo, huffman, integer};

/// A cookie below this length can be guessed octet by octet if it is compressed.
const SHORT_COOKIE: usize = 20;

/// The encoding context of a connection.
#[derive(Debug)]
pub(crate) struct Encoder {
    table: EncoderTable,
    owed: Option<SizeUpdate>,
}

/// What the peer must be told at the start of the next block.
#[derive(Clone, Copy, Debug)]
struct SizeUpdate {
    lowest: usize,
    last: usize,
}

impl Encoder {
    /// A table of 4096 octets, which is what a peer allows before its SETTINGS arrive.
    pub(crate) fn new() -> Encoder {
        Encoder {
            table: EncoderTable::new(),
            owed: None,
        }
    }

    /// The peer's SETTINGS_HEADER_TABLE_SIZE. We use less than it allows if it allows much.
    pub(crate) fn set_max_table_size(&mut self, limit: usize) {
        let last = limit.min(CAPACITY);
        if last == self.table.max_size() {
            return;
        }
        self.table.set_max_size(last);
        let lowest = self.owed.map_or(last, |owed| owed.lowest.min(last));
        self.owed = Some(SizeUpdate { lowest, last });
    }

    /// Begins a block.
    pub(crate) fn begin(&mut self, out: &mut BytesMut) {
        let Some(owed) = self.owed.take() else { return };
        //= RFC 9113 §4.3.1: the first block after a lower limit begins with the update
        //= RFC 7541 §4.2: the smallest size since the last block is signalled before the final one
        if owed.lowest < owed.last {
            size_update(owed.lowest, out);
        }
        size_update(owed.last, out);
    }

    pub(crate) fn pseudo(&mut self, name: Pseudo, value: &[u8], out: &mut BytesMut) {
        let line = Line {
            name: name.as_str().as_bytes(),
            value,
            known: static_table::find_pseudo(name, value),
        };
        self.line(line, pseudo_storage(name), out);
    }

    pub(crate) fn field(&mut self, name: &HeaderName, value: &HeaderValue, out: &mut BytesMut) {
        let line = Line {
            name: name.as_str().as_bytes(),
            value: value.as_bytes(),
            known: static_table::find_regular(name, value.as_bytes()),
        };
        self.line(line, storage(name, value), out);
    }

    fn line(&mut self, line: Line<'_>, storage: Storage, out: &mut BytesMut) {
        match (storage, line.known) {
            (Storage::Never, _) => self.literal(line, 0x10, out),
            (_, Match::Field(index)) => indexed(index, out),
            (Storage::Stored, _) if self.deserves_place(line) => self.stored(line, out),
            _ => self.literal(line, 0, out),
        }
    }

    /// One large entry would push out everything else.
    fn deserves_place(&self, line: Line<'_>) -> bool {
        size(line.name, line.value) <= self.table.max_size() / 4 * 3
    }

    //= RFC 7541 §6.2.1: literal with incremental indexing
    fn stored(&mut self, line: Line<'_>, out: &mut BytesMut) {
        let hash = self.table.hash(line.name, line.value);
        if let Some(index) = self.table.find(hash, line.name, line.value) {
            return indexed(index, out);
        }
        let name = match line.known {
            Match::Field(index) | Match::Name(index) => Some(index),
            Match::Nothing => self.table.find_name(hash, line.name),
        };
        integer::encode(0x40, 6, name.unwrap_or(0), out);
        line.strings(name.is_none(), out);
        self.table.insert(hash, line.name, line.value);
    }

    /// A literal that leaves the table alone. Its name can only be static: the names of such
    /// fields never enter the table, or the field was too large to be common.
    //= RFC 7541 §6.2.2, §6.2.3: literals without indexing, and never indexed
    fn literal(&self, line: Line<'_>, flags: u8, out: &mut BytesMut) {
        let name = match line.known {
            Match::Field(index) | Match::Name(index) => Some(index),
            Match::Nothing => None,
        };
        integer::encode(flags, 4, name.unwrap_or(0), out);
        line.strings(name.is_none(), out);
    }
}

/// A field to be written.
#[derive(Clone, Copy)]
struct Line<'a> {
    name: &'a [u8],
    value: &'a [u8],
    known: Match,
}

impl Line<'_> {
    fn strings(&self, with_name: bool, out: &mut BytesMut) {
        if with_name {
            string(self.name, out);
        }
        string(self.value, out);
    }
}

/// What the peer and everybody behind it may do with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    Stored,
    /// Seldom the same twice: storing it would push out what is.
    NotStored,
    /// A secret: it must not be stored here, nor by an intermediary.
    Never,
}

fn storage(name: &HeaderName, value: &HeaderValue) -> Storage {
    if value.is_sensitive() {
        return Storage::Never;
    }
    match *name {
        //= RFC 7541 §7.1.3: values that are secret or easy to guess are never indexed
        header::AUTHORIZATION | header::PROXY_AUTHORIZATION | header::SET_COOKIE => Storage::Never,
        header::COOKIE if value.len() < SHORT_COOKIE => Storage::Never,
        header::AGE
        | header::CONTENT_LENGTH
        | header::CONTENT_RANGE
        | header::ETAG
        | header::IF_MODIFIED_SINCE
        | header::IF_NONE_MATCH
        | header::LAST_MODIFIED
        | header::LOCATION
        | header::RANGE => Storage::NotStored,
        _ => Storage::Stored,
    }
}

fn pseudo_storage(name: Pseudo) -> Storage {
    match name {
        Pseudo::Path => Storage::NotStored,
        _ => Storage::Stored,
    }
}

//= RFC 7541 §6.1: an indexed field
fn indexed(index: usize, out: &mut BytesMut) {
    integer::encode(0x80, 7, index, out);
}

//= RFC 7541 §6.3: a dynamic table size update
fn size_update(size: usize, out: &mut BytesMut) {
    integer::encode(0x20, 5, size, out);
}

/// Writes a string literal, by the Huffman code if that is shorter.
fn string(octets: &[u8], out: &mut BytesMut) {
    let coded = huffman::encoded_len(octets);
    if coded < octets.len() {
        integer::encode(0x80, 7, coded, out);
        huffman::encode(octets, coded, out);
    } else {
        integer::encode(0, 7, octets.len(), out);
        out.extend_from_slice(octets);
    }
}
