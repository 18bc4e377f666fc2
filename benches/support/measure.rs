//! What a piece of work costs: CPU time, and instructions where valgrind is installed.
//!
//! Time on a shared machine says little by itself. So two pieces of work are measured in turn and
//! compared, or instructions are counted, which are the same in every run.

use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::Failure;

/// CPU time of this thread.
pub(crate) fn thread_cpu() -> Duration {
    cpu(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of this process.
pub(crate) fn process_cpu() -> Duration {
    cpu(ClockId::ProcessCPUTime)
}

fn cpu(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Does the work and answers its CPU time; or, where instructions are counted, nothing: clocks
/// would be counted too.
pub(crate) fn timed(work: &mut dyn FnMut()) -> Duration {
    if alone().is_some() {
        measured_region(work);
        return Duration::ZERO;
    }
    let before = thread_cpu();
    work();
    thread_cpu() - before
}

/// Instructions are counted in here and nowhere else.
#[inline(never)]
fn measured_region(work: &mut dyn FnMut()) {
    work();
}

/// The argument after which a bench does one piece of work, for [`instructions`].
const ALONE: &str = "--alone";

/// The piece of work that we are started for.
pub(crate) fn alone() -> Option<String> {
    std::env::args().skip_while(|arg| arg != ALONE).nth(1)
}

/// Starts this program again, under callgrind, with `--alone WORK`, and answers the instructions
/// of its measured regions. None without valgrind.
pub(crate) fn instructions(work: &str) -> Result<Option<u64>, Failure> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--toggle-collect=*measured_region*"])
        .arg(std::env::current_exe()?)
        .args(["--bench", ALONE, work])
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        return Ok(None);
    };
    let log = String::from_utf8_lossy(&output.stderr);
    let count = log
        .lines()
        .find_map(|line| line.split("Collected :").nth(1))
        .and_then(|count| count.trim().parse().ok());
    match count {
        Some(count) if output.status.success() => Ok(Some(count)),
        _ => Err(format!("valgrind did not count {work}: {log}").into()),
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    quantile(&mut values, 0.5)
}

/// The value below which this share of the values lies.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let at = (share * last as f64).ceil() as usize;
    values.get(at).copied().unwrap_or(f64::NAN)
}

/// Prints whether a bound is kept.
pub(crate) fn verdict(what: &str, value: f64, bound: f64) -> bool {
    let is_kept = value <= bound;
    let word = if is_kept { "PASS" } else { "FAIL" };
    println!("{word}  {what}: {value:.3}, at most {bound:.2}");
    is_kept
}
