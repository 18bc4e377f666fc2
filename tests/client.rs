//! The client against h2's server; what only a client has.

use fairmux as client_crate;
use h2 as server_crate;

mod scenarios;
