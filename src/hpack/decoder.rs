//! RFC 7541 §3, §6: header blocks to fields, under a budget.
//!
//! Owns the decoding context. It must not know what a field means, nor to which stream a block
//! belongs. Invariants of its own: the table is brought up to date by every block, whatever the
//! budget (a field past it is stored if the block says so, and not handed out); work is linear in
//! the octets of the block; no field keeps the block alive.

use std::borrow::Cow;

use super::field::size;
use super::integer::Input;
use super::table::Table;
use super::{DEFAULT_TABLE_SIZE, DecodeError, Field, Name, Value, huffman};

/// Room for decoded strings that is kept from block to block.
const KEPT_SCRATCH: usize = 16 * 1024;

/// How much one block may materialise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Size of the list: name + value + 32 for each field.
    pub(crate) bytes: usize,
    pub(crate) fields: usize,
}

/// What one block contained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Consumed {
    /// Size of the whole list, fields past the budget included.
    pub(crate) list_size: usize,
    pub(crate) fields: usize,
    /// Some fields were not handed out: the budget was spent.
    pub(crate) over: bool,
}

/// The decoding context of a connection.
#[derive(Debug)]
pub(crate) struct Decoder {
    table: Table,
    /// The table size that we allow.
    limit: usize,
    /// We went below the table's size: the next block must begin with an update to this or less.
    demanded: Option<usize>,
    names: Vec<u8>,
    values: Vec<u8>,
}

impl Decoder {
    /// `limit` is in force from the first block on; in HTTP/2 it is `DEFAULT_TABLE_SIZE`.
    pub(crate) fn new(limit: usize) -> Decoder {
        Decoder {
            table: Table::new(limit.min(DEFAULT_TABLE_SIZE)),
            limit,
            demanded: None,
            names: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Our SETTINGS_HEADER_TABLE_SIZE was acknowledged.
    //= RFC 7541 §4.2: the new limit counts from the acknowledgment on
    pub(crate) fn set_max_table_size(&mut self, limit: usize) {
        self.limit = limit;
        if limit < self.table.max_size() {
            self.demanded = Some(self.demanded.map_or(limit, |lowest| lowest.min(limit)));
        }
    }

    /// Decodes a whole block and hands out its fields in their order, until the budget is spent.
    /// Those of the tables are lent: whoever only compares them needs no copy.
    pub(crate) fn decode(
        &mut self,
        block: &[u8],
        budget: Budget,
        each: &mut impl FnMut(Cow<'_, Field>),
    ) -> Result<Consumed, DecodeError> {
        let mut input = Input::new(block);
        let mut run = Run {
            budget,
            consumed: Consumed::default(),
        };
        self.size_updates(&mut input)?;
        while let Some(octet) = input.peek() {
            let field = match Kind::of(octet) {
                Kind::Indexed => self.indexed(&mut input, &mut run)?,
                Kind::Literal(literal) => {
                    self.literal(&mut input, literal, &mut run)?.map(Cow::Owned)
                }
                //= RFC 7541 §4.2: size updates come before the first field of a block
                Kind::SizeUpdate => return Err(DecodeError::SizeUpdateAfterField),
            };
            if let Some(field) = field {
                each(field);
            }
        }
        self.names.shrink_to(KEPT_SCRATCH);
        self.values.shrink_to(KEPT_SCRATCH);
        Ok(run.consumed)
    }

    fn size_updates(&mut self, input: &mut Input<'_>) -> Result<(), DecodeError> {
        while let Some(Kind::SizeUpdate) = input.peek().map(Kind::of) {
            let size = input.integer(5)?;
            //= RFC 7541 §6.3: the new size is at most the limit that the decoder set
            if size > self.limit {
                return Err(DecodeError::SizeUpdateTooLarge);
            }
            self.demanded = self.demanded.filter(|&lowest| size > lowest);
            self.table.set_max_size(size);
        }
        //= RFC 9113 §4.3.1: the first block after a lower limit begins with a fitting update
        match self.demanded {
            Some(_) => Err(DecodeError::SizeUpdateMissing),
            None => Ok(()),
        }
    }

    fn indexed(
        &self,
        input: &mut Input<'_>,
        run: &mut Run,
    ) -> Result<Option<Cow<'_, Field>>, DecodeError> {
        let index = input.integer(7)?;
        //= RFC 7541 §6.1: index 0 is a decoding error
        if index == 0 {
            return Err(DecodeError::IndexZero);
        }
        //= RFC 7541 §2.3.3: an index past both tables is a decoding error
        let field = self
            .table
            .field(index)
            .ok_or(DecodeError::IndexOutOfRange)?;
        Ok(run.admit(field.size()).then_some(Cow::Borrowed(field)))
    }

    fn literal(
        &mut self,
        input: &mut Input<'_>,
        literal: Literal,
        run: &mut Run,
    ) -> Result<Option<Field>, DecodeError> {
        let name = match input.integer(literal.prefix())? {
            0 => NameText::New(string(input, &mut self.names)?),
            index => NameText::Known(
                &self
                    .table
                    .field(index)
                    .ok_or(DecodeError::NameIndexOutOfRange)?
                    .name,
            ),
        };
        let value = string(input, &mut self.values)?;
        let size = size(name.as_bytes(), value);
        let wanted = run.admit(size);
        if literal != Literal::Stored {
            return Ok(wanted.then(|| name.field(value, literal)));
        }
        // The name may be that of an entry which is evicted now: the field is made first.
        let fits = size <= self.table.max_size();
        let field = (wanted || fits).then(|| name.field(value, literal));
        match &field {
            Some(field) => self.table.insert(field.clone()),
            None => self.table.make_room(size),
        }
        Ok(field.filter(|_| wanted))
    }
}

#[cfg(test)]
impl Decoder {
    pub(super) fn table(&self) -> &Table {
        &self.table
    }
}

/// The first bits of a representation.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Indexed,
    Literal(Literal),
    SizeUpdate,
}

impl Kind {
    fn of(octet: u8) -> Kind {
        match octet.leading_zeros() {
            0 => Kind::Indexed,
            1 => Kind::Literal(Literal::Stored),
            2 => Kind::SizeUpdate,
            3 => Kind::Literal(Literal::NeverStored),
            _ => Kind::Literal(Literal::NotStored),
        }
    }
}

/// RFC 7541 §6.2: what becomes of a literal after it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Literal {
    Stored,
    NotStored,
    NeverStored,
}

impl Literal {
    /// Bits of the first octet that belong to the name index.
    fn prefix(self) -> u32 {
        match self {
            Literal::Stored => 6,
            Literal::NotStored | Literal::NeverStored => 4,
        }
    }
}

/// The name of a literal, before it is known whether anybody wants it.
enum NameText<'a> {
    Known(&'a Name),
    New(&'a [u8]),
}

impl NameText<'_> {
    fn as_bytes(&self) -> &[u8] {
        match self {
            NameText::Known(name) => name.as_bytes(),
            NameText::New(name) => name,
        }
    }

    fn field(&self, value: &[u8], literal: Literal) -> Field {
        let name = match self {
            NameText::Known(name) => (*name).clone(),
            NameText::New(name) => Name::from_bytes(name),
        };
        let mut value = Value::from_bytes(value);
        //= RFC 7541 §6.2.3: a never-indexed field stays so when it is sent on
        if literal == Literal::NeverStored {
            value.mark_sensitive();
        }
        Field { name, value }
    }
}

/// The budget of one block and what was used of it.
#[derive(Debug)]
struct Run {
    budget: Budget,
    consumed: Consumed,
}

impl Run {
    /// Counts a field. Once the budget is spent, no later field is admitted, however small.
    fn admit(&mut self, size: usize) -> bool {
        let consumed = &mut self.consumed;
        consumed.list_size = consumed.list_size.saturating_add(size);
        consumed.fields += 1;
        consumed.over |=
            consumed.list_size > self.budget.bytes || consumed.fields > self.budget.fields;
        !consumed.over
    }
}

/// Reads a string literal; a Huffman string is decoded into `scratch`.
fn string<'a, 'block: 'a>(
    input: &mut Input<'block>,
    scratch: &'a mut Vec<u8>,
) -> Result<&'a [u8], DecodeError> {
    let huffman = input.peek().is_some_and(|octet| octet & 0x80 != 0);
    let length = input.integer(7)?;
    let octets = input.take(length)?;
    if !huffman {
        return Ok(octets);
    }
    huffman::decode(octets, scratch)?;
    Ok(scratch)
}
