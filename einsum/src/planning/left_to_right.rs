//! One operand after the other onto the running result.

use super::Pair;

pub(super) fn pairs(operands: usize) -> Vec<Pair> {
    (1..operands).map(|next| (if next == 1 { 0 } else { operands + next - 2 }, next)).collect()
}
