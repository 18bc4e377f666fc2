//! A server that runs: its address, and what it has cost so far, seen from outside.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::ops::Sub;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::pin::{self, Core};
use super::{Failure, SERVE};

pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) addr: SocketAddr,
    pub(crate) is_tls: bool,
    child: Child,
    /// Programs that are not ours count nothing.
    counters: Option<(ChildStdin, BufReader<ChildStdout>)>,
}

/// What was used since the start, or between two moments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Seconds of CPU, in user and in kernel mode.
    pub(crate) cpu: f64,
    pub(crate) counts: Option<Counts>,
}

/// What went through the sockets of a server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reads: u64,
    pub(crate) read: u64,
    pub(crate) writes: u64,
    pub(crate) written: u64,
    pub(crate) records: u64,
    pub(crate) allocations: u64,
}

impl Peer {
    /// Starts this program as a server, with these options.
    pub(crate) fn start(name: &str, is_tls: bool, options: &[&str]) -> Result<Peer, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(SERVE).args(options);
        if is_tls {
            command.arg("--tls");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = spawn(&mut command)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or("a server has pipes")?;
        let mut output = BufReader::new(output);
        let mut port = String::new();
        output.read_line(&mut port)?;
        let port: u16 = port.trim().parse()?;
        Ok(Peer {
            name: name.to_owned(),
            addr: SocketAddr::from(([127, 0, 0, 1], port)),
            is_tls,
            child,
            counters: Some((input, output)),
        })
    }

    /// Starts another program, which will listen on `port`.
    pub(crate) fn program(
        name: &str,
        is_tls: bool,
        port: u16,
        command: &mut Command,
    ) -> Result<Peer, Failure> {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut peer = Peer {
            name: name.to_owned(),
            addr: SocketAddr::from(([127, 0, 0, 1], port)),
            is_tls,
            child: spawn(command.stderr(Stdio::null()))?,
            counters: None,
        };
        for _ in 0..100 {
            if std::net::TcpStream::connect(peer.addr).is_ok() {
                return Ok(peer);
            }
            if let Some(status) = peer.child.try_wait()? {
                return Err(format!("{name} does not run: {status}").into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(format!("{name} does not listen").into())
    }

    pub(crate) fn usage(&mut self) -> Result<Usage, Failure> {
        let cpu = self.cpu()?;
        let Some((input, output)) = &mut self.counters else {
            return Ok(Usage { cpu, counts: None });
        };
        writeln!(input)?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        let totals: serde_json::Value = serde_json::from_str(&line)?;
        let value = |name: &str| totals[name].as_u64().unwrap_or(0);
        let counts = Counts {
            reads: value("reads"),
            read: value("read"),
            writes: value("writes"),
            written: value("written"),
            records: value("records"),
            allocations: value("allocations"),
        };
        Ok(Usage {
            cpu,
            counts: Some(counts),
        })
    }

    /// CPU seconds, to the nanosecond. The scheduler knows; the clock of `/proc/PID/stat` ticks a
    /// hundred times a second.
    pub(crate) fn cpu(&self) -> Result<f64, Failure> {
        let mut nanoseconds = 0;
        for task in fs::read_dir(self.proc("task"))? {
            let line = fs::read_to_string(task?.path().join("schedstat"))?;
            let ran = line.split_whitespace().next().unwrap_or_default();
            nanoseconds += ran.parse::<u64>()?;
        }
        Ok(nanoseconds as f64 / 1e9)
    }

    /// From now on the peak is that of what follows.
    pub(crate) fn forget_peak(&self) {
        // Where this cannot be, the peak is that of the whole life.
        let _ = fs::write(self.proc("clear_refs"), "5");
    }

    /// The most memory that was resident, in KiB.
    pub(crate) fn peak(&self) -> Result<u64, Failure> {
        self.status("VmHWM:")
    }

    /// The memory that is resident now, in KiB.
    pub(crate) fn resident(&self) -> Result<u64, Failure> {
        self.status("VmRSS:")
    }

    fn status(&self, field: &str) -> Result<u64, Failure> {
        let status = fs::read_to_string(self.proc("status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let value = line.and_then(|line| line.split_whitespace().next());
        Ok(value.ok_or("the system says no such thing")?.parse()?)
    }

    fn proc(&self, file: &str) -> String {
        format!("/proc/{}/{file}", self.child.id())
    }
}

/// On the core of servers, which it inherits.
fn spawn(command: &mut Command) -> Result<Child, Failure> {
    pin::pin(Core::Server);
    let child = command.spawn();
    pin::pin(Core::Client);
    Ok(child?)
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Sub for Usage {
    type Output = Usage;

    fn sub(self, before: Usage) -> Usage {
        Usage {
            cpu: self.cpu - before.cpu,
            counts: self.counts.zip(before.counts).map(|(now, then)| Counts {
                reads: now.reads - then.reads,
                read: now.read - then.read,
                writes: now.writes - then.writes,
                written: now.written - then.written,
                records: now.records - then.records,
                allocations: now.allocations - then.allocations,
            }),
        }
    }
}
