//! The typed tree: every expression has a dtype and a symbolic shape, every name is resolved, index notation
//! is gone. Lowering it cannot fail.

use syn::Ident;
use tenferro_core::ops::CoreOp;
use tenferro_core::shape::SymDim;
use tenferro_core::{DType, DTypeSet};
use tenferro_einsum::EinsumOp;

use crate::functions::Function;
use crate::lowered::{Bound, Generic, LoweredOutputs, LoweredParam};

/// A checked block.
pub struct Block {
    pub kernels: Vec<Kernel>,
    /// Positions in `kernels`, each after the kernels that it calls.
    pub order: Vec<usize>,
    pub expression: bool,
}

/// A kernel whose signature is known; its body where it is right.
pub struct Kernel {
    pub attrs: Vec<syn::Attribute>,
    pub vis: syn::Visibility,
    pub name: Ident,
    pub generic: Option<Generic>,
    pub sizes: Vec<String>,
    pub params: Vec<LoweredParam>,
    pub param_shapes: Vec<Vec<SymDim>>,
    pub outputs: LoweredOutputs,
    pub wrt: Vec<usize>,
    /// The arguments that `#[grad(..)]` names; empty without it.
    pub grad: Vec<Ident>,
    pub body: Option<Body>,
}

/// A body: steps in order, then the results.
#[derive(Debug)]
pub struct Body {
    pub steps: Vec<Step>,
    pub results: Vec<Expr>,
    pub guards: Vec<Guard>,
}

/// Two extents that must be equal, which only the inputs can tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    pub left: SymDim,
    pub right: SymDim,
    pub reason: String,
}

/// A value of a body: the arguments come first, then the locals in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local(pub usize);

#[derive(Debug)]
pub enum Step {
    Let(Local, Expr),
    /// A call of a kernel of the same block.
    Call {
        kernel: usize,
        generic: Option<Elem>,
        args: Vec<Expr>,
        results: Vec<Local>,
    },
}

/// The dtype of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    Fixed(DType),
    /// The kernel's dtype parameter.
    Generic(Bound),
    /// Of an integer literal or a size: any numeric dtype, as the context wants.
    AnyNumber,
    /// Of a float literal: any float dtype, as the context wants.
    AnyFloat,
}

impl Elem {
    pub const BOOL: Elem = Elem::Fixed(DType::Bool);

    /// Whether the context decides the dtype.
    pub fn adapts(self) -> bool {
        matches!(self, Self::AnyNumber | Self::AnyFloat)
    }

    /// The dtypes that this may turn out to be.
    pub fn dtypes(self) -> DTypeSet {
        match self {
            Self::Fixed(dtype) => DTypeSet::of(&[dtype]),
            Self::Generic(bound) => bound.dtypes(),
            Self::AnyNumber => DTypeSet::NUMERIC,
            Self::AnyFloat => DTypeSet::FLOAT,
        }
    }

    /// How far values of other dtypes may be converted to this one: bool, integer, real, complex, each of 32 and 64
    /// bits; a parameter counts as the widest that it may be.
    pub fn width(self) -> Option<usize> {
        const ORDER: [DType; 7] = [DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64, DType::C32, DType::C64];
        ORDER.iter().rposition(|&dtype| self.dtypes().contains(dtype))
    }

    /// Whether every dtype that this may turn out to be is in the set.
    pub fn within(self, set: DTypeSet) -> bool {
        self.dtypes().iter().all(|dtype| set.contains(dtype))
    }
}

impl Bound {
    /// From its name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "Real" => Some(Self::Real),
            "Float" => Some(Self::Float),
            "Num" => Some(Self::Num),
            _ => None,
        }
    }

    /// The dtypes that it admits.
    pub fn dtypes(self) -> DTypeSet {
        match self {
            Self::Real => DTypeSet::REAL_FLOAT,
            Self::Float => DTypeSet::FLOAT,
            Self::Num => DTypeSet::NUMERIC,
        }
    }
}

/// A typed expression over whole tensors.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: Kind,
    pub elem: Elem,
    pub shape: Vec<SymDim>,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Local(Local),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// A size as a scalar.
    Size(SymDim),
    /// A function of operands of one shape.
    Elementwise(&'static Function, Vec<Expr>),
    /// A reduction or normalisation over axes.
    Reduce(&'static Function, Vec<u32>, Box<Expr>),
    /// Conversion to this expression's dtype.
    Cast(Box<Expr>),
    /// A core operation with one operand that keeps the dtype.
    Core(CoreOp, Box<Expr>),
    Einsum(EinsumOp, Vec<Expr>),
}

impl Expr {
    pub fn new(kind: Kind, elem: Elem, shape: Vec<SymDim>) -> Self {
        Self { kind, elem, shape }
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The size of the tree.
    pub fn nodes(&self) -> usize {
        let args = match &self.kind {
            Kind::Elementwise(_, args) | Kind::Einsum(_, args) => args.iter().map(Expr::nodes).sum(),
            Kind::Reduce(_, _, arg) | Kind::Core(_, arg) | Kind::Cast(arg) => arg.nodes(),
            Kind::Local(_) | Kind::Integer(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Size(_) => 0,
        };
        args + 1
    }

    /// A core operation that keeps the dtype.
    pub fn core(self, op: CoreOp, shape: Vec<SymDim>) -> Self {
        let elem = self.elem;
        Self::new(Kind::Core(op, Box::new(self)), elem, shape)
    }

    /// The expression with its axes in another order.
    pub fn transpose(self, axes: &[usize]) -> Self {
        if axes.iter().enumerate().all(|(i, &axis)| i == axis) {
            return self;
        }
        let shape = axes.iter().map(|&axis| self.shape[axis].clone()).collect();
        let axes = axes.iter().map(|&axis| axis as u32).collect();
        self.core(CoreOp::Transpose { axes }, shape)
    }

    /// The expression repeated to a shape; axis `i` becomes axis `axes[i]`.
    pub fn broadcast(self, shape: &[SymDim], axes: Vec<u32>) -> Self {
        if axes.len() == shape.len() && axes.is_sorted() {
            return self;
        }
        self.core(CoreOp::BroadcastInDim { shape: shape.to_vec().into(), axes: axes.into() }, shape.to_vec())
    }

    /// Gives a literal, a size, or what is made of them, the dtype that the context wants.
    pub fn adapt(&mut self, elem: Elem) {
        if !self.elem.adapts() {
            return;
        }
        self.elem = elem;
        match &mut self.kind {
            Kind::Elementwise(_, args) | Kind::Einsum(_, args) => args.iter_mut().for_each(|arg| arg.adapt(elem)),
            Kind::Reduce(_, _, arg) | Kind::Core(_, arg) => arg.adapt(elem),
            Kind::Local(_) | Kind::Integer(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Size(_) | Kind::Cast(_) => {}
        }
    }
}
