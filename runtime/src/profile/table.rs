//! A profile as a table.

use std::fmt;
use std::time::Duration;

use super::Profile;

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Duration = self.runs.iter().map(|run| run.time).sum();
        let totals = self.totals();
        let in_commands: Duration = totals.iter().map(|total| total.time).sum();
        let share = |time: Duration| format!("{:.1}%", 100.0 * ratio(time.as_secs_f64(), all.as_secs_f64()));
        let mut rows = vec![HEAD.map(str::to_owned)];
        for total in &totals {
            let seconds = total.time.as_secs_f64();
            let mean = total.time.div_f64(total.count as f64);
            rows.push([
                total.name.clone(),
                total.count.to_string(),
                time(total.time),
                share(total.time),
                time(mean),
                scaled(total.bytes as f64, "B"),
                total.flops.map_or_else(|| "?".to_owned(), |flops| scaled(flops, "")),
                scaled(ratio(total.bytes as f64, seconds), "B/s"),
                total.flops.map_or_else(|| "?".to_owned(), |flops| scaled(ratio(flops, seconds), "/s")),
                total.engine.to_string(),
            ]);
        }
        let between = all.saturating_sub(in_commands);
        let mut rest = [const { String::new() }; HEAD.len()];
        rest[0] = "(between commands)".to_owned();
        (rest[2], rest[3]) = (time(between), share(between));
        rows.push(rest);

        let (runs, plural) = (self.runs.len(), if self.runs.len() == 1 { "" } else { "s" });
        writeln!(f, "{runs} run{plural} in {} of {}", time(all), time(self.wall))?;
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
        for row in &rows {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                // Numbers to the right, names to the left.
                let is_name = column == 0 || column + 1 == HEAD.len();
                line += &if is_name { format!("{cell:<width$}  ") } else { format!("{cell:>width$}  ") };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

const HEAD: [&str; 10] = ["command", "count", "time", "share", "mean", "bytes", "flops", "rate", "flops/s", "engine"];

/// Zero where there is nothing to compare with.
fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s => format!("{:.3} us", s * 1e6),
    }
}

/// `12.3 MB`: with the prefix that leaves one to three digits before the point.
fn scaled(value: f64, unit: &str) -> String {
    let (mut value, mut prefixes) = (value, ["", "k", "M", "G", "T", "P"].into_iter());
    let mut prefix = prefixes.next().unwrap_or("");
    while value >= 999.95
        && let Some(next) = prefixes.next()
    {
        (value, prefix) = (value / 1e3, next);
    }
    let digits = if prefix.is_empty() { 0 } else { 1 };
    format!("{value:.digits$} {prefix}{unit}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(scaled(0.0, "B"), "0 B");
        assert_eq!(scaled(999.0, "B"), "999 B");
        assert_eq!(scaled(1500.0, ""), "1.5 k");
        assert_eq!(scaled(999_960.0, "B/s"), "1.0 MB/s");
        assert_eq!(scaled(2.5e21, ""), "2500000.0 P");
        assert_eq!(time(Duration::from_nanos(1_500)), "1.500 us");
        assert_eq!(time(Duration::from_micros(2_250)), "2.250 ms");
        assert_eq!(time(Duration::from_secs(3)), "3.000 s");
    }

    #[test]
    fn nothing_is_a_table_too() {
        let text = Profile::default().to_string();
        assert!(text.starts_with("0 runs in 0.000 us of 0.000 us\n"), "{text}");
        assert!(text.contains("(between commands)"), "{text}");
    }
}
