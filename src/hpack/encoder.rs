//! Fields to header block. (signatures)
use bytes::BytesMut;
use http::{HeaderName, HeaderValue};

use super::Pseudo;

#[derive(Debug)]
pub(crate) struct Encoder;

impl Encoder {
    pub(crate) fn new() -> Encoder {
        Encoder
    }
    pub(crate) fn set_max_table_size(&mut self, _max_table_size: usize) {}
    pub(crate) fn begin(&mut self, _out: &mut BytesMut) {}
    pub(crate) fn pseudo(&mut self, _name: Pseudo, _value: &[u8], _out: &mut BytesMut) {}
    pub(crate) fn field(&mut self, _name: &HeaderName, _value: &HeaderValue, _out: &mut BytesMut) {}
}
