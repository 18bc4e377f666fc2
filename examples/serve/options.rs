//! Owns the command line. Knows nothing of sockets or streams.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;

/// Serves a directory over HTTP/2, in clear text and over TLS.
#[derive(Debug, Parser)]
#[command(name = "serve", version)]
pub(crate) struct Options {
    /// The directory to serve.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,

    /// Where to listen in clear text, for clients that know they will meet HTTP/2 (port 0: any free one).
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0", value_parser = address)]
    pub(crate) listen: SocketAddr,

    /// Where to listen with TLS (port 0: any free one).
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0", value_parser = address)]
    pub(crate) listen_tls: SocketAddr,

    /// Clear text only.
    #[arg(long, conflicts_with_all = ["listen_tls", "cert", "key"])]
    pub(crate) no_tls: bool,

    /// The certificate chain, a PEM file. Without it one is made at start, signed by itself.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,

    /// The private key of that certificate, a PEM file.
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,

    /// Threads that serve connections; 1 is a current-thread runtime. Files are read by a few more.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,

    /// How many requests a client may have open on one connection [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_streams: Option<u32>,

    /// What to log to standard error, as a filter of `tracing-subscriber` ("info", "fairmux=debug").
    #[arg(long, value_name = "FILTER", default_value = "warn")]
    pub(crate) log: String,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let wanted = "an IP address and a port up to 65535, such as 127.0.0.1:8080";
    text.parse().map_err(|_| wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(std::iter::once("serve").chain(line.split_whitespace()))
    }

    #[test]
    fn nothing_asked_for_is_loopback_any_port_one_thread() {
        let options = parse("").unwrap();
        assert_eq!(options.listen, SocketAddr::from(([127, 0, 0, 1], 0)));
        assert_eq!(options.listen_tls, SocketAddr::from(([127, 0, 0, 1], 0)));
        assert_eq!((options.threads, options.max_streams), (1, None));
    }

    #[test]
    fn without_tls_there_is_no_place_for_it() {
        assert!(parse("--no-tls --listen-tls 127.0.0.1:0").is_err());
        assert!(parse("--no-tls --listen 127.0.0.1:0").is_ok());
    }

    #[test]
    fn certificate_and_key_come_together() {
        assert!(parse("--cert a.pem").is_err());
        assert!(parse("--key a.pem").is_err());
        assert!(parse("--cert a.pem --key b.pem").is_ok());
        assert!(parse("--cert a.pem --key b.pem --no-tls").is_err());
    }

    #[test]
    fn zero_threads_or_streams_are_refused() {
        assert!(parse("--threads 0").is_err());
        assert!(parse("--max-streams 0").is_err());
    }
}
