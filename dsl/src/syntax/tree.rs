//! The syntax tree: what was written, with the places of the tokens, and nothing looked up yet.

use proc_macro2::Span;
use syn::Ident;

use crate::diagnostics::Place;

/// The contents of `tenferro! { .. }`.
#[derive(Default)]
pub struct Block {
    pub kernels: Vec<Kernel>,
    /// Whether the block is one anonymous kernel, used as an expression.
    pub expression: bool,
}

/// `fn name<T: Bound>(params) -> outputs { body }`
pub struct Kernel {
    pub attrs: Vec<syn::Attribute>,
    pub grad: Option<Vec<Ident>>,
    pub vis: syn::Visibility,
    pub name: Ident,
    pub generic: Option<GenericParam>,
    pub params: Vec<Param>,
    pub outputs: Vec<Output>,
    pub body: Body,
}

/// `T: Bound`
#[derive(Debug)]
pub struct GenericParam {
    pub name: Ident,
    pub bound: Ident,
}

/// `name: ty`
#[derive(Debug)]
pub struct Param {
    pub name: Ident,
    pub ty: Type,
}

/// `ty` or `name: ty`
#[derive(Debug)]
pub struct Output {
    pub name: Option<Ident>,
    pub ty: Type,
}

/// `dtype[dim, ..]`
#[derive(Debug)]
pub struct Type {
    pub dtype: Ident,
    pub dims: Vec<Dim>,
    pub place: Place,
}

/// An extent in a type.
#[derive(Debug)]
pub struct Dim {
    pub kind: DimKind,
    pub place: Place,
    /// How many extents stand in one another.
    pub depth: usize,
}

#[derive(Debug)]
pub enum DimKind {
    Name(Ident),
    Integer(i64),
    Binary(Box<Dim>, DimOp, Box<Dim>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimOp {
    Add,
    Sub,
    Mul,
    Div,
}

/// `{ statements; value }`
#[derive(Debug)]
pub struct Body {
    pub statements: Vec<Statement>,
    pub value: Option<Expr>,
    /// Whether every statement could be read: follow-up errors are pointless otherwise.
    pub whole: bool,
    /// The closing brace.
    pub end: Span,
}

#[derive(Debug)]
pub enum Statement {
    /// `let a = value;` or `let (a, b) = value;`
    Let { names: Vec<Ident>, tuple: bool, value: Expr },
    /// `let a[i, j] = value;`
    LetIndexed { name: Ident, target: Target, value: Expr },
    /// `a = value;`
    Assign { name: Ident, value: Expr },
    /// `for i in 0..3 { .. }`
    For { name: Ident, start: i64, end: i64, place: Place, body: Vec<Statement> },
    /// What could not be read. The names that a `let` binds are known, so that using them is no second error, and so
    /// are all names in it, which thus count as used.
    Broken { names: Vec<Ident>, used: Vec<Ident> },
}

/// `[i, j: n]`: the indices of a result, in the order of its axes.
#[derive(Debug)]
pub struct Target {
    pub indices: Vec<(Ident, Option<Dim>)>,
    pub place: Place,
}

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub place: Place,
    /// How many expressions stand in one another.
    pub depth: usize,
}

#[derive(Debug)]
pub enum ExprKind {
    Integer(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Name(Ident),
    /// `base[i, j]`
    Access(Box<Expr>, Vec<IndexExpr>),
    Call(Call),
    Unary(UnaryOp, Box<Expr>),
    /// The place is that of the operator.
    Binary(Box<Expr>, BinaryOp, Place, Box<Expr>),
    /// `value as dtype`
    Cast(Box<Expr>, Ident),
    Paren(Box<Expr>),
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    /// `value -> [i, j]`
    Suffix(Box<Expr>, Target),
}

/// An index of an access.
#[derive(Debug)]
pub enum IndexExpr {
    Name(Ident),
    /// An integer, `x[0]`: not in the language yet.
    Position(Place),
    /// Anything else: not in the language yet, but worth a clear message.
    Other(Place),
}

/// `name(args, option = value)` or `name[i, j](args)`
#[derive(Debug)]
pub struct Call {
    pub name: Ident,
    pub indices: Option<Vec<Ident>>,
    pub args: Vec<Expr>,
    pub options: Vec<(Ident, Expr)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Neg,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl BinaryOp {
    /// How tightly it binds, as in Rust.
    pub fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => 3,
            Self::Add | Self::Sub => 4,
            Self::Mul | Self::Div | Self::Rem => 5,
        }
    }

    /// Whether it compares.
    pub fn is_comparison(self) -> bool {
        self.precedence() == 3
    }
}

impl Expr {
    pub fn new(kind: ExprKind, place: Place) -> Self {
        let mut value = Self { kind, place, depth: 0 };
        value.depth = 1 + value.children().into_iter().map(|child| child.depth).max().unwrap_or(0);
        value
    }

    /// The expression inside any parentheses around it.
    pub fn unparenthesised(&self) -> &Expr {
        match &self.kind {
            ExprKind::Paren(inner) => inner.unparenthesised(),
            _ => self,
        }
    }

    /// The expressions directly inside this one.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Integer(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Text(_) | ExprKind::Name(_) => {
                Vec::new()
            }
            ExprKind::Access(e, _)
            | ExprKind::Unary(_, e)
            | ExprKind::Cast(e, _)
            | ExprKind::Paren(e)
            | ExprKind::Suffix(e, _) => vec![e],
            ExprKind::Binary(a, _, _, b) => vec![a, b],
            ExprKind::Tuple(list) | ExprKind::List(list) => list.iter().collect(),
            ExprKind::Call(call) => call.args.iter().chain(call.options.iter().map(|(_, value)| value)).collect(),
        }
    }
}
