//! Tests of the layer: two ends on virtual time (`pair`), one end and a scripted peer (`script`),
//! a random simulation that checks the invariants after every step (`sim`).

mod bandwidth;
mod flow;
mod limits;
mod pair;
mod push;
mod reset;
mod scheduler;
mod script;
mod settings;
mod shutdown;
mod sim;
mod stats;
mod streams;
mod trace;
