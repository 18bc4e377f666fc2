//! The server against h2's client; what only a server has.

use fairmux as server_crate;
use h2 as client_crate;

mod scenarios;
