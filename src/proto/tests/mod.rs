//! Tests of the layer: two ends on virtual time (`pair`), one end and a scripted peer (`script`),
//! a random simulation that checks the invariants after every step (`sim`).

pub(crate) mod audit;
mod bandwidth;
pub(crate) mod chance;
mod flow;
mod limits;
pub(crate) mod load;
mod pair;
mod push;
mod reset;
mod scheduler;
mod script;
mod settings;
mod shares;
mod shutdown;
mod sim;
mod stats;
mod streams;
mod trace;
