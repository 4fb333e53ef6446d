//! Binding: sizes are read off the shapes of the inputs, and everything declared of them is checked.

use smallvec::SmallVec;

use super::{Relation, SemanticProgram, SizeNames};
use crate::error::{Error, Result};
use crate::shape::SymDim;

/// The values of a program's sizes, in order.
pub type Sizes = SmallVec<[usize; 8]>;

impl SemanticProgram {
    /// Solves the sizes from the inputs' shapes and checks every axis and every guard.
    ///
    /// # Errors
    /// [`Error::Binding`]; the message names the size, or the axis, and both places.
    pub fn bind(&self, shapes: &[&[usize]]) -> Result<Sizes> {
        if shapes.len() != self.inputs.len() {
            return Err(self.refuse(format!("takes {} inputs, but {} were given", self.inputs.len(), shapes.len())));
        }
        for (i, shape) in shapes.iter().enumerate() {
            let declared = self.input_meta(i);
            if shape.len() != declared.rank() {
                return Err(self.refuse(format!(
                    "input `{}` has rank {} (shape {shape:?}), but is declared {}{}",
                    self.inputs[i].name,
                    shape.len(),
                    declared.dtype,
                    SizeNames(&self.sizes).shape(&declared.shape)
                )));
            }
        }
        let sizes = self.solve(shapes)?;
        for (i, shape) in shapes.iter().enumerate() {
            for (axis, (&actual, dim)) in shape.iter().zip(self.input_meta(i).shape.iter()).enumerate() {
                if dim.eval(&sizes).ok() != i64::try_from(actual).ok() {
                    return Err(self.mismatch(i, axis, actual, dim, &sizes));
                }
            }
        }
        for guard in self.guards.iter() {
            let (lhs, rhs) = (self.value(&guard.lhs, &sizes)?, self.value(&guard.rhs, &sizes)?);
            let holds = match guard.relation {
                Relation::Eq => lhs == rhs,
                Relation::Le => lhs <= rhs,
            };
            if !holds {
                let names = SizeNames(&self.sizes);
                return Err(self.refuse(format!(
                    "{} needs {} {} {}, but {}",
                    guard.reason,
                    names.dim(&guard.lhs),
                    guard.relation.symbol(),
                    names.dim(&guard.rhs),
                    names.values(&[&guard.lhs, &guard.rhs], &sizes),
                )));
            }
        }
        Ok(sizes)
    }

    /// The value of an expression; the error names it as the program does.
    fn value(&self, dim: &SymDim, sizes: &[usize]) -> Result<i64> {
        dim.eval(sizes).map_err(|_| {
            let names = SizeNames(&self.sizes);
            self.refuse(format!("{} cannot be computed with {}", names.dim(dim), names.values(&[dim], sizes)))
        })
    }

    fn solve(&self, shapes: &[&[usize]]) -> Result<Sizes> {
        let mut sizes = Sizes::with_capacity(self.sizes.len());
        for size in self.sizes.iter() {
            let extent = shapes[size.input as usize][size.axis as usize];
            let numerator = i64::try_from(extent).unwrap_or(i64::MAX).checked_sub(size.offset);
            let value = numerator
                .filter(|n| n.checked_rem(size.scale) == Some(0))
                .and_then(|n| n.checked_div(size.scale))
                .and_then(|n| usize::try_from(n).ok());
            let Some(value) = value else {
                let dim = &self.input_meta(size.input as usize).shape[size.axis as usize];
                return Err(self.refuse(format!(
                    "axis {} of `{}` is {}, but has extent {extent}, which no size `{}` fits",
                    size.axis,
                    self.inputs[size.input as usize].name,
                    SizeNames(&self.sizes).dim(dim),
                    size.name
                )));
            };
            sizes.push(value);
        }
        Ok(sizes)
    }

    fn mismatch(&self, input: usize, axis: usize, actual: usize, dim: &SymDim, sizes: &[usize]) -> Error {
        let place = format!("axis {axis} of `{}`", self.inputs[input].name);
        let names = SizeNames(&self.sizes);
        self.refuse(match (dim.as_const(), dim.as_size()) {
            (Some(extent), _) => format!("{place} must have extent {extent}, but has {actual}"),
            (_, Some(id)) => {
                let size = &self.sizes[id.0 as usize];
                let first = shapes_place(self, size.input, size.axis);
                format!("size `{}`: {} on {first}, {actual} on {place}", size.name, sizes[id.0 as usize])
            }
            _ => match self.value(dim, sizes) {
                Ok(extent) => format!(
                    "{place} must have extent {} = {extent} with {}, but has {actual}",
                    names.dim(dim),
                    names.values(&[dim], sizes)
                ),
                Err(error) => return error,
            },
        })
    }

    fn refuse(&self, message: String) -> Error {
        Error::Binding { program: self.name.to_string(), message }
    }
}

fn shapes_place(program: &SemanticProgram, input: u32, axis: u32) -> String {
    format!("axis {axis} of `{}`", program.inputs[input as usize].name)
}
