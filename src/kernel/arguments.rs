//! The arguments of a kernel as one value, for code that knows a kernel by its type only.

use std::marker::PhantomData;

use smallvec::SmallVec;

use super::operand::{Operand, scalar};
use crate::Result;
use crate::dtype::Scalar;
use crate::tensor::TensorRead;

/// Stands for an argument of one axis or more in [`Kernel::Inputs`](super::Kernel::Inputs).
#[derive(Debug)]
pub struct Array<T, const R: usize>(PhantomData<T>);

/// Stands for a scalar argument in [`Kernel::Inputs`](super::Kernel::Inputs).
#[derive(Debug)]
pub struct Item<T>(PhantomData<T>);

/// A value for one argument: an [`Operand`] for an [`Array`], a Rust scalar for an [`Item`].
pub trait Argument<D> {
    /// The value as the runtime reads it.
    ///
    /// # Errors
    /// None for the implementations here.
    fn read(&self) -> Result<TensorRead<'_>>;
}

impl<T: Scalar, const R: usize, A: Operand<T, R>> Argument<Array<T, R>> for A {
    fn read(&self) -> Result<TensorRead<'_>> {
        Ok(Operand::read(self))
    }
}

impl<T: Scalar> Argument<Item<T>> for T {
    fn read(&self) -> Result<TensorRead<'_>> {
        scalar(self)
    }
}

/// Values for all arguments of a kernel: a tuple in their order.
pub trait Arguments<D> {
    /// The values as the runtime reads them.
    ///
    /// # Errors
    /// None for the implementations here.
    fn read(&self) -> Result<SmallVec<[TensorRead<'_>; 4]>>;
}

macro_rules! tuples {
    ($(($($argument:ident $descriptor:ident)*))*) => {$(
        #[allow(non_snake_case, unused_mut)] // the names of types; no argument
        impl<$($argument: Argument<$descriptor>, $descriptor),*> Arguments<($($descriptor,)*)> for ($($argument,)*) {
            fn read(&self) -> Result<SmallVec<[TensorRead<'_>; 4]>> {
                let ($($argument,)*) = self;
                let mut reads = SmallVec::new();
                $(reads.push($argument.read()?);)*
                Ok(reads)
            }
        }
    )*};
}

tuples! {
    ()
    (A D)
    (A D B E)
    (A D B E C F)
    (A D B E C F G H)
    (A D B E C F G H I J)
    (A D B E C F G H I J K L)
    (A D B E C F G H I J K L M N)
    (A D B E C F G H I J K L M N O P)
    (A D B E C F G H I J K L M N O P Q R)
    (A D B E C F G H I J K L M N O P Q R S T)
    (A D B E C F G H I J K L M N O P Q R S T U V)
    (A D B E C F G H I J K L M N O P Q R S T U V W X)
}
