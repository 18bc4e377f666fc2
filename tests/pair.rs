//! The client against the server of this crate.

use fairmux as client_crate;
use fairmux as server_crate;

mod scenarios;
