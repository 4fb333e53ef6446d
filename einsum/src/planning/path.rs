//! Positional paths: each step names two positions of the current list, and its result is appended.
//!
//! Tensor numbers grow along the list from start to end, since results are appended and removal keeps the order.

use super::Pair;

/// Says what is wrong with a path over `operands` tensors.
pub(super) fn check(positions: &[(u32, u32)], operands: usize) -> Result<(), String> {
    let steps = operands.saturating_sub(1);
    if positions.len() != steps {
        let given = positions.len();
        let plural = if given == 1 { "" } else { "s" };
        return Err(format!("has {given} pair{plural}, but over {operands} operands it takes {steps}"));
    }
    for (step, &(left, right)) in positions.iter().enumerate() {
        let length = operands - step;
        if left == right || left.max(right) as usize >= length {
            return Err(format!(
                "has ({left}, {right}) as step {step}, which must be two different positions of a list of {length}"
            ));
        }
    }
    Ok(())
}

/// Says what is wrong with pairs of tensor numbers over `operands` tensors.
pub(super) fn check_tree(pairs: &[(u32, u32)], operands: usize) -> Result<(), String> {
    let steps = operands.saturating_sub(1);
    if pairs.len() != steps {
        let plural = if pairs.len() == 1 { "" } else { "s" };
        return Err(format!("has {} pair{plural}, but over {operands} operands it takes {steps}", pairs.len()));
    }
    let mut used = vec![false; operands + steps];
    for (step, &(left, right)) in pairs.iter().enumerate() {
        for number in [left, right] {
            let fresh = (number as usize) < operands + step && !std::mem::replace(&mut used[number as usize], true);
            if !fresh {
                return Err(format!(
                    "has ({left}, {right}) as step {step}, but tensor {number} is used up or not made yet"
                ));
            }
        }
    }
    Ok(())
}

/// From positions to tensor numbers; the path must have been checked.
pub(super) fn from_positions(positions: &[(u32, u32)], operands: usize) -> Vec<Pair> {
    let mut list: Vec<usize> = (0..operands).collect();
    let mut pairs = Vec::with_capacity(positions.len());
    for &(left, right) in positions {
        let (left, right) = (left as usize, right as usize);
        let pair = (list[left], list[right]);
        list.remove(left.max(right));
        list.remove(left.min(right));
        list.push(operands + pairs.len());
        pairs.push(pair);
    }
    pairs
}

/// From tensor numbers to positions.
pub(crate) fn to_positions(pairs: &[Pair], operands: usize) -> Vec<(u32, u32)> {
    let mut list: Vec<usize> = (0..operands).collect();
    let mut positions = Vec::with_capacity(pairs.len());
    for &(left, right) in pairs {
        // The list is sorted, so a tensor's position is where its number would be inserted.
        let place = |number: usize| list.partition_point(|&other| other < number);
        let (left, right) = (place(left), place(right));
        list.remove(left.max(right));
        list.remove(left.min(right));
        list.push(operands + positions.len());
        positions.push((left as u32, right as u32));
    }
    positions
}

/// The same tree hung up by operand `active`: its place is the new root, and the cotangent of the old root, now operand
/// 0 before the others, takes its place among the leaves.
pub(crate) fn rerooted(pairs: &[Pair], operands: usize, active: usize) -> Vec<Pair> {
    // The new number of each tensor that the active operand does not go into.
    let mut number: Vec<usize> = (0..operands).map(|operand| operand + usize::from(operand < active)).collect();
    let mut steps = Vec::with_capacity(pairs.len());
    // What meets the active operand on its way to the old root.
    let mut met = Vec::new();
    let mut spine = active;
    for (step, &(left, right)) in pairs.iter().enumerate() {
        if left == spine || right == spine {
            met.push(number[if left == spine { right } else { left }]);
            spine = operands + step;
        } else {
            steps.push((number[left], number[right]));
        }
        // The spine's own numbers are never asked for.
        number.push(operands + steps.len().saturating_sub(1));
    }
    let mut cotangent = 0;
    for other in met.into_iter().rev() {
        steps.push((cotangent, other));
        cotangent = operands + steps.len() - 1;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_numbers_are_two_views_of_one_path() {
        let positions = [(1, 2), (0, 2), (1, 0)];
        check(&positions, 4).unwrap();
        let pairs = from_positions(&positions, 4);
        assert_eq!(pairs, [(1, 2), (0, 4), (5, 3)]);
        assert_eq!(to_positions(&pairs, 4), positions);
    }

    #[test]
    fn a_tree_is_hung_up_by_another_leaf() {
        // ((0 1) (2 3)): seen from 2, the cotangent meets (0 1), which are now 1 and 2, then 3.
        assert_eq!(rerooted(&[(0, 1), (2, 3), (4, 5)], 4, 2), [(1, 2), (0, 4), (5, 3)]);
        assert_eq!(rerooted(&[], 1, 0), []);
    }

    #[test]
    fn wrong_paths_are_named() {
        assert!(check(&[(0, 1)], 3).unwrap_err().contains("it takes 2"));
        assert!(check(&[(0, 1), (1, 1)], 3).unwrap_err().contains("step 1"));
        assert!(check(&[(0, 3), (0, 1)], 3).unwrap_err().contains("list of 3"));
    }
}
