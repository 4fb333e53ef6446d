//! The default: the exact order where the search is short, the greedy one otherwise.

use super::{Pair, greedy, optimal};
use crate::cost::Network;

/// Up to here the exact search takes some ten microseconds.
const EXACT: usize = 8;

pub(super) fn pairs(network: &Network) -> Vec<Pair> {
    if network.tensors.len() <= EXACT { optimal::pairs(network) } else { greedy::pairs(network) }
}
