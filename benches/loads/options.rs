//! What all benches under load can be told.

use clap::{Args, ValueEnum};

#[derive(Args, Clone, Debug)]
pub(crate) struct Common {
    /// Rounds: in each, every server has its turn.
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: usize,
    /// Clear text, TLS, or one after the other.
    #[arg(long, value_enum, default_value_t = Transport::Both)]
    pub(crate) transport: Transport,
    /// The servers, by name; all that there are if none is named.
    #[arg(long, value_delimiter = ',')]
    pub(crate) servers: Vec<String>,
    /// Who asks: a client within the bench, or `h2load`.
    #[arg(long, value_enum, default_value_t = Client::Own)]
    pub(crate) client: Client,
    /// Draws the figures of this run into `docs/img`.
    #[arg(long)]
    pub(crate) draw: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    Clear,
    Tls,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    Own,
    H2load,
}

impl Common {
    pub(crate) fn wants(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|name| name == server)
    }
}

impl Transport {
    /// Whether TLS is used, in each part of the run.
    pub(crate) fn parts(self) -> &'static [bool] {
        match self {
            Transport::Clear => &[false],
            Transport::Tls => &[true],
            Transport::Both => &[false, true],
        }
    }
}

/// The name of a part in tables and files.
pub(crate) fn part_name(is_tls: bool) -> &'static str {
    if is_tls { "TLS" } else { "clear text" }
}
