//! A profile as a file that trace viewers read.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use super::Profile;

impl Profile {
    /// Writes the profile as JSON in the Trace Event Format (the object form with complete events,
    /// phase `X`, times in microseconds), which `chrome://tracing`, Perfetto and others show: a
    /// bar for each run, and on it one for each command with its bytes, operations and engine.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_chrome_trace(&self, writer: &mut impl io::Write) -> io::Result<()> {
        write!(writer, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut separator = "\n";
        for run in &self.runs {
            let mut event = |name: &str, category: &str, start: Duration, time: Duration, arguments: &str| {
                write!(
                    writer,
                    "{separator}{{\"name\":{},\"cat\":\"{category}\",\"ph\":\"X\",\"ts\":{},\"dur\":{},\"pid\":1,\
                     \"tid\":{},\"args\":{{{arguments}}}}}",
                    quoted(name),
                    microseconds(start),
                    microseconds(time),
                    run.thread,
                )?;
                separator = ",\n";
                io::Result::Ok(())
            };
            event(&run.program, "run", run.start, run.time, &format!("\"commands\":{}", run.commands.len()))?;
            for command in &run.commands {
                let mut arguments =
                    format!("\"engine\":{},\"bytes\":{}", quoted(command.engine.as_str()), command.bytes);
                if let Some(flops) = command.flops.filter(|flops| flops.is_finite()) {
                    // Writing to a string cannot fail.
                    let _ = write!(arguments, ",\"flops\":{flops}");
                }
                event(&command.name, "command", command.start, command.time, &arguments)?;
            }
        }
        writeln!(writer, "\n]}}")
    }
}

/// With the nanoseconds after the point.
fn microseconds(time: Duration) -> String {
    let nanoseconds = time.as_nanos();
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_times_are_json() {
        assert_eq!(quoted("a\"b\\c\n\u{1}é"), "\"a\\\"b\\\\c\\u000a\\u0001é\"");
        assert_eq!(microseconds(Duration::from_nanos(1_002_003)), "1002.003");
    }
}
