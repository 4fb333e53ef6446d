//! Binding: sizes are read off the shapes of the inputs, then off values, and everything declared of them is checked.

use smallvec::SmallVec;

use super::{Relation, SemanticProgram, SizeBinding, SizeNames};
use crate::error::{Error, Result};
use crate::shape::SymDim;

/// The values of the first of a program's sizes, in order.
pub type Sizes = SmallVec<[usize; 8]>;

impl SemanticProgram {
    /// Solves the sizes that are read off axes from the inputs' shapes, and checks every axis and every guard that
    /// they decide. [`bind_next`](Self::bind_next) adds the others.
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
        self.check(shapes, &sizes, 0)?;
        Ok(sizes)
    }

    /// Adds the next of the sizes that are read off values, which is `value`, and checks every axis and every guard
    /// that it decides. The sizes are those of [`bind`](Self::bind) on these shapes, and what was added to them.
    ///
    /// # Errors
    /// [`Error::Binding`]: a negative size, one above its bound, and as `bind`; also when all sizes are known.
    ///
    /// ```
    /// use tenferro_core::{dtype::DType, program::ProgramBuilder};
    /// let mut b = ProgramBuilder::new("head");
    /// let n = b.size("n");
    /// let x = b.input("x", DType::F64, &[n])?;
    /// let count = b.input("count", DType::I64, &[])?;
    /// let head = b.dynamic_truncate(x, count, 0)?;
    /// let program = b.finish(&[(None, head)])?;
    /// let shapes: [&[usize]; 2] = [&[5], &[]];
    /// let mut sizes = program.bind(&shapes)?;
    /// program.bind_next(&shapes, &mut sizes, 3)?;
    /// assert_eq!(&sizes[..], [5, 3]);
    /// let mut sizes = program.bind(&shapes)?;
    /// let error = program.bind_next(&shapes, &mut sizes, 6).unwrap_err();
    /// assert_eq!(error.to_string(), "head: size `k` is 6 (the value of count), but at most n = 5");
    /// # Ok::<(), tenferro_core::Error>(())
    /// ```
    pub fn bind_next(&self, shapes: &[&[usize]], sizes: &mut Sizes, value: i64) -> Result<()> {
        let Some(SizeBinding::Value { value: source, bound }) = self.sizes.get(sizes.len()).map(|s| &s.binding) else {
            return Err(self.refuse(format!("all {} sizes are known", sizes.len())));
        };
        let most = self.value(bound, sizes)?;
        let Some(size) = usize::try_from(value).ok().filter(|_| value <= most) else {
            let names = SizeNames(&self.sizes);
            let place = format!(
                "size `{}` is {value} (the value of {})",
                self.sizes[sizes.len()].name,
                self.value_name(*source)
            );
            let bound_text = match bound.as_const() {
                Some(most) => most.to_string(),
                None if bound.as_size().is_some() => format!("{} = {most}", names.dim(bound)),
                None => format!("{} = {most} with {}", names.dim(bound), names.values(&[bound], sizes)),
            };
            return Err(self.refuse(match value {
                ..0 => format!("{place}, but not negative"),
                _ => format!("{place}, but at most {bound_text}"),
            }));
        };
        sizes.push(size);
        self.check(shapes, sizes, sizes.len())
    }

    /// Checks every axis and every guard that needs `from` of the sizes or more, and no others than the known ones.
    fn check(&self, shapes: &[&[usize]], sizes: &[usize], from: usize) -> Result<()> {
        let decided = |needed: usize| (from..=sizes.len()).contains(&needed);
        for (i, shape) in shapes.iter().enumerate() {
            for (axis, (&actual, dim)) in shape.iter().zip(self.input_meta(i).shape.iter()).enumerate() {
                if decided(dim.sizes_needed()) && dim.eval(sizes).ok() != i64::try_from(actual).ok() {
                    return Err(self.mismatch(i, axis, actual, dim, sizes));
                }
            }
        }
        for guard in self.guards.iter().filter(|guard| decided(guard.sizes_needed())) {
            let (lhs, rhs) = (self.value(&guard.lhs, sizes)?, self.value(&guard.rhs, sizes)?);
            let holds = match guard.relation {
                Relation::Eq => lhs == rhs,
                Relation::Le => lhs <= rhs,
            };
            if !holds {
                let names = SizeNames(&self.sizes);
                return Err(self.refuse(format!(
                    "{} needs {} {} {}{}",
                    guard.reason,
                    names.dim(&guard.lhs),
                    guard.relation.symbol(),
                    names.dim(&guard.rhs),
                    known(", but ", names.values(&[&guard.lhs, &guard.rhs], sizes)),
                )));
            }
        }
        Ok(())
    }

    /// The value of an expression; the error names it as the program does.
    fn value(&self, dim: &SymDim, sizes: &[usize]) -> Result<i64> {
        dim.eval(sizes).map_err(|_| {
            let names = SizeNames(&self.sizes);
            let with = known(" with ", names.values(&[dim], sizes));
            self.refuse(format!("{} cannot be computed{with}", names.dim(dim)))
        })
    }

    fn solve(&self, shapes: &[&[usize]]) -> Result<Sizes> {
        let mut sizes = Sizes::with_capacity(self.sizes.len());
        for size in self.sizes.iter() {
            let SizeBinding::Axis { input, axis, scale, offset } = size.binding else { break };
            let extent = shapes[input as usize][axis as usize];
            let numerator = i64::try_from(extent).unwrap_or(i64::MAX).checked_sub(offset);
            let value = numerator
                .filter(|n| n.checked_rem(scale) == Some(0))
                .and_then(|n| n.checked_div(scale))
                .and_then(|n| usize::try_from(n).ok());
            let Some(value) = value else {
                let dim = &self.input_meta(input as usize).shape[axis as usize];
                return Err(self.refuse(format!(
                    "axis {axis} of `{}` is {}, but has extent {extent}, which no size `{}` fits",
                    self.inputs[input as usize].name,
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
                let first = match size.binding {
                    SizeBinding::Axis { input, axis, .. } => {
                        format!("on axis {axis} of `{}`", self.inputs[input as usize].name)
                    }
                    SizeBinding::Value { value, .. } => format!("as the value of {}", self.value_name(value)),
                };
                format!("size `{}`: {} {first}, {actual} on {place}", size.name, sizes[id.0 as usize])
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

/// The values of sizes after a conjunction, and nothing where no size occurs.
fn known(conjunction: &str, values: String) -> String {
    if values.is_empty() { values } else { conjunction.to_string() + &values }
}
