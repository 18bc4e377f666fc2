//! Owns what people see: bars while it runs, a table at the end.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::Results;
use crate::target::Target;

/// A bar for one download.
pub(crate) fn bar(name: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{msg:24!} {bar:30} {bytes:>11}/{total_bytes} {bytes_per_sec}",
    )
    .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0)
        .with_style(style)
        .with_message(name.to_owned())
}

/// Prints what came on standard output and what did not on standard error.
pub(crate) fn print(targets: &[Target], mut results: Results, time: Duration) -> ExitCode {
    results.sort_by_key(|(number, _)| *number);
    let mut lines = format!(
        "{:>14} {:>9} {:>10} {:>7}\n",
        "bytes", "seconds", "MB/s", "share"
    );
    let (mut bytes, mut failed) = (0, targets.len() - results.len());
    for (number, result) in &results {
        let uri = &targets[*number].uri;
        match result {
            Ok(outcome) => {
                bytes += outcome.bytes;
                let share = format!("{:.1}%", outcome.share * 100.0);
                lines += &format!("{} {share:>7}  {uri}\n", row(outcome.bytes, outcome.time));
            }
            Err(why) => {
                failed += 1;
                eprintln!("get: {uri}: {why}");
            }
        }
    }
    let whole = targets.len() - failed;
    lines += &format!(
        "{} {:>7}  {whole} of {} whole\n",
        row(bytes, time),
        "",
        targets.len()
    );
    // Whoever reads this may be gone already, which changes nothing.
    let _ = io::stdout().lock().write_all(lines.as_bytes());
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn row(bytes: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let rate = if seconds > 0.0 {
        bytes as f64 / seconds / 1e6
    } else {
        0.0
    };
    format!("{bytes:>14} {seconds:>9.3} {rate:>10.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_bytes_seconds_and_rate() {
        let row = row(3_000_000, Duration::from_millis(1500));
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>(),
            ["3000000", "1.500", "2.0"]
        );
    }

    #[test]
    fn what_has_no_result_has_failed() {
        let targets = [Target::parse("http://a/").unwrap()];
        assert_eq!(
            print(&targets, Vec::new(), Duration::ZERO),
            ExitCode::FAILURE
        );
    }
}
