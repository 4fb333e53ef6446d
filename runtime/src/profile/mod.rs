//! What runs, how long it takes and how much it moves and computes.

mod record;
mod table;
mod trace;

use std::time::Duration;

use crate::engine::EngineId;

pub(crate) use record::{Profiles, Recording};

/// What ran while a [profile](crate::Runtime::profile) was on.
///
/// It displays as a table of its [totals](Profile::totals), sorted by time, with the share of the
/// time of all runs. What runs spend between commands, on checks, buffers and results, is a line of
/// its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    runs: Vec<RunRecord>,
    wall: Duration,
}

/// A run of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The program's name.
    pub program: String,
    /// The number of its thread, by first appearance in the profile.
    pub thread: usize,
    /// When it began, since the profile did.
    pub start: Duration,
    /// How long it took.
    pub time: Duration,
    /// What was done, in order; of a run that failed, what was done before.
    pub commands: Vec<CommandRecord>,
}

/// A command of a run, or a copy that the run made between commands.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandRecord {
    /// What was computed; `compact` for copies within a memory, `transfer` for those between two.
    pub name: String,
    /// The engine; of a transfer that of the copy, or of the value where the copy is the host's.
    pub engine: EngineId,
    /// When it began, since the profile did.
    pub start: Duration,
    /// How long it took until its engine was done.
    pub time: Duration,
    /// What it read and wrote: every element of its operands, as often as a view shows it, and of its
    /// results.
    pub bytes: u64,
    /// What it computed, in operations, as [`Command::flops`](crate::Command::flops) counts them: for
    /// an elementwise operation one for each element of the result whatever the operation, for a
    /// reduction one for each element reduced, for an einsum two for each step of the contraction's
    /// loops, for what only moves elements none. `None` for a family that does not say.
    pub flops: Option<f64>,
}

/// The commands of one name on one engine together.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandTotal {
    /// What was computed.
    pub name: String,
    /// The engine.
    pub engine: EngineId,
    /// How many there were.
    pub count: usize,
    /// The sum of their times.
    pub time: Duration,
    /// The sum of their bytes.
    pub bytes: u64,
    /// The sum of their operations, where all are known.
    pub flops: Option<f64>,
}

impl Profile {
    /// The runs that ended while the profile was on, in that order.
    pub fn runs(&self) -> &[RunRecord] {
        &self.runs
    }

    /// How long the profile was on.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// All commands by name and engine, the longest first, of equals by name.
    pub fn totals(&self) -> Vec<CommandTotal> {
        let mut totals: Vec<CommandTotal> = Vec::new();
        for command in self.runs.iter().flat_map(|run| &run.commands) {
            let same = |total: &&mut CommandTotal| total.name == command.name && total.engine == command.engine;
            match totals.iter_mut().find(same) {
                Some(total) => {
                    total.count += 1;
                    total.time += command.time;
                    total.bytes += command.bytes;
                    total.flops = total.flops.zip(command.flops).map(|(a, b)| a + b);
                }
                None => totals.push(CommandTotal {
                    name: command.name.clone(),
                    engine: command.engine.clone(),
                    count: 1,
                    time: command.time,
                    bytes: command.bytes,
                    flops: command.flops,
                }),
            }
        }
        totals.sort_by(|a, b| (b.time, &a.name, &a.engine).cmp(&(a.time, &b.name, &b.engine)));
        totals
    }
}
