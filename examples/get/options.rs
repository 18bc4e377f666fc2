//! Owns the command line. Knows nothing of sockets or streams.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

/// Downloads many URLs at once over HTTP/2, all of a host over one connection.
///
/// Ends with a line for each URL; its share is the part that it had in what came over the connection
/// while it ran. Exits with 1 if a download failed or was cut short, with 2 if nothing was tried.
#[derive(Debug, Parser)]
#[command(name = "get", version)]
pub(crate) struct Options {
    /// What to download: https, or http for servers known to speak HTTP/2.
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,

    /// Where files go, by the last part of their URL; files that are there are replaced.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub(crate) output: PathBuf,

    /// Reads bodies to their end and keeps nothing.
    #[arg(long, conflicts_with = "output")]
    pub(crate) discard: bool,

    /// Trusts any certificate. For tests.
    #[arg(long)]
    pub(crate) insecure: bool,

    /// Gives up on a connection over which nothing has come for so long.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
}

impl Options {
    /// The longest silence.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_one_url_and_one_place() {
        assert!(Options::try_parse_from(["get"]).is_err());
        assert!(Options::try_parse_from(["get", "http://a/"]).is_ok());
        assert!(Options::try_parse_from(["get", "--discard", "-o", "x", "http://a/"]).is_err());
        assert!(Options::try_parse_from(["get", "--timeout", "0", "http://a/"]).is_err());
    }
}
