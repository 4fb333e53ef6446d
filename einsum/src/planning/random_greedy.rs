//! Greedy orders with a randomised rule.
//!
//! Gray and Kourtis, "Hyper-optimized tensor network contraction" (2021), section 4.1: a pair scores the size of its
//! result less `alpha` times the sizes of its tensors, and is drawn from the Boltzmann distribution of a temperature.
//! Sizes count by their logarithm, with the sign of the score.

use super::rng::Random;
use super::{Pair, greedy};
use crate::cost::Network;

/// From which `alpha` is drawn, uniformly.
const ALPHA: (f64, f64) = (0.1, 4.0);
/// From which the temperature is drawn, uniformly in its logarithm.
const TEMPERATURE: (f64, f64) = (0.001, 1.0);

/// One randomised try.
pub(super) fn pairs(network: &Network, random: &mut Random) -> Vec<Pair> {
    let alpha = random.between(ALPHA.0, ALPHA.1);
    let temperature = random.log_between(TEMPERATURE.0, TEMPERATURE.1);
    greedy::pairs_by(network, |result, left, right| {
        let score = result - alpha * (left + right);
        score.signum() * score.abs().ln_1p() - temperature * random.gumbel()
    })
}
