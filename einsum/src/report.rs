//! A contraction tree as a table.

use std::fmt;

use crate::subscripts::write_subscripts;
use crate::tree::ContractionTree;

impl fmt::Display for ContractionTree {
    /// One line a step: its slots, its equation, its cost and the size of its result; then the totals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>5}  {:<12} {:<24} {:>10} {:>10}", "slot", "from", "equation", "cost", "size")?;
        for (index, step) in self.steps().iter().enumerate() {
            let from: Vec<String> = step.operands.iter().map(|operand| operand.slot.to_string()).collect();
            let mut equation = String::new();
            let inputs = step.operands.iter().map(|operand| operand.labels.as_slice());
            write_subscripts(&mut equation, inputs, &step.labels, |_, _| false)?;
            let (slot, from) = (self.operands().len() + index, from.join(" "));
            writeln!(f, "{slot:>5}  {from:<12} {equation:<24} {:>10.3e} {:>10.3e}", step.cost, step.size)?;
        }
        write!(f, "cost {:.3e}, peak {:.3e}", self.cost(), self.peak())
    }
}
