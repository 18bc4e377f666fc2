//! Owns the operator's faults: a port that is taken, a key that is missing, a directory that does
//! not exist. Each is one sentence on standard error and exit code 2.

use std::fmt;
use std::process::ExitCode;

/// Why the program cannot start, in one sentence.
#[derive(Debug)]
pub(crate) struct Fault(String);

impl Fault {
    /// `what` could not be done, because of `why`.
    pub(crate) fn new(what: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self(format!("{what}: {why}"))
    }

    /// Tells the operator, and gives the exit code that says "you can mend this".
    pub(crate) fn report(&self, program: &str) -> ExitCode {
        eprintln!("{program}: {self}");
        ExitCode::from(2)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
