//! Searches shown as progress bars.

use std::ops::ControlFlow;

use indicatif::ProgressBar;

use crate::planning::Progress;

/// Shows a search on a bar: one step a try, and the best plan so far as the message. It never ends the search.
///
/// ```
/// use tenferro_einsum::{EinsumNotation, EinsumOp, EinsumOptimize, Search, show_on};
/// let shapes = [[2, 2].as_slice(); 5];
/// let op = EinsumOp::concrete(&EinsumNotation::parse("ab,bc,cd,de,ea->")?, &shapes)?;
/// let op = op.with_plan(EinsumOptimize::RandomGreedy { trials: 100, seed: 1 })?;
/// let bar = indicatif::ProgressBar::hidden();
/// op.tree_with(&shapes, &Search { progress: Some(&show_on(&bar)), ..Search::default() })?;
/// assert_eq!(bar.position(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn show_on(bar: &ProgressBar) -> impl Fn(&Progress) -> ControlFlow<()> + Sync + '_ {
    |progress| {
        bar.set_length(progress.total.into());
        bar.set_position(progress.done.into());
        bar.set_message(format!("flops {:.3e}, peak {:.3e}", progress.flops, progress.peak));
        ControlFlow::Continue(())
    }
}
