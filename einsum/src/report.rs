//! A contraction tree as a table.

use std::fmt;

use crate::subscripts::{Letter, write_subscripts};
use crate::tree::{ContractionTree, Step};

impl ContractionTree {
    /// The tree as a table: what it prints as.
    ///
    /// ```
    /// use tenferro_einsum::{EinsumNotation, EinsumOp};
    /// let shapes: [&[usize]; 3] = [&[2, 3], &[3, 4], &[4]];
    /// let tree = EinsumOp::concrete(&EinsumNotation::parse("ij,jk,k->i")?, &shapes)?.tree(&shapes)?;
    /// let expected = [
    ///     " step  from         equation                      flops       size  scaling",
    ///     "    3  1 2          jk,k->j                     1.200e1    3.000e0        2",
    ///     "    4  0 3          ij,j->i                     6.000e0    2.000e0        2",
    ///     "flops 1.800e1, peak 3.000e0",
    /// ];
    /// assert_eq!(tree.report(), expected.join("\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn report(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for ContractionTree {
    /// One line a step: the number of its result, those of its tensors, its equation, flops, the elements of its result
    /// and the number of labels that take part; then the totals, over all slices.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>5}  {:<12} {:<24} {:>10} {:>10}  scaling", "step", "from", "equation", "flops", "size")?;
        for (index, step) in self.steps().iter().enumerate() {
            let from: Vec<String> = step.operands.iter().map(|operand| operand.slot.to_string()).collect();
            let equation = step.equation();
            let (slot, from, scaling) = (self.operands().len() + index, from.join(" "), step.involved().len());
            writeln!(
                f,
                "{slot:>5}  {from:<12} {equation:<24} {:>10.3e} {:>10.3e}  {scaling:>7}",
                step.cost, step.size
            )?;
        }
        write!(f, "flops {:.3e}, peak {:.3e}", self.cost(), self.peak())?;
        if !self.slices().is_empty() {
            write!(f, ", {} slices over ", self.slice_count())?;
            self.slices().iter().try_for_each(|slice| write!(f, "{}", Letter(slice.label)))?;
        }
        Ok(())
    }
}

impl Step {
    /// `ij,jk->ik`.
    pub(crate) fn equation(&self) -> String {
        let mut equation = String::new();
        let inputs = self.operands.iter().map(|operand| operand.labels.as_slice());
        // Writing to a string does not fail.
        _ = write_subscripts(&mut equation, inputs, &self.labels, |_, _| false);
        equation
    }
}
