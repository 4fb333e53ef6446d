//! Neighbours in pairs, then neighbours of the results: the positional pair (0, 1) until one tensor is left.

use super::Pair;

pub(super) fn pairs(operands: usize) -> Vec<Pair> {
    // With results appended and the two front places taken, the list is always a run of consecutive numbers.
    (1..operands).map(|step| (2 * (step - 1), 2 * step - 1)).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn seven_operands() {
        assert_eq!(super::pairs(7), [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11)]);
    }
}
