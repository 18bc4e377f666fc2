//! The client against the server of this crate.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fairmux as client_crate;
use fairmux as server_crate;

mod scenarios;
