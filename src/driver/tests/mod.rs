//! Tests of the driver: scripted I/O for its two sides, two drivers for the whole.

mod end;
mod pair;
mod reader;
mod reads;
mod script;
mod writer;
