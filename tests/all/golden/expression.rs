//! The numpy-like expressions of `programs.jsonl`: a parser, and their meaning as programs.

use std::collections::BTreeMap;

use tenferro::dtype::{DType, ScalarValue};
use tenferro::einsum::einsum_of_values;
use tenferro::program::composite;
use tenferro::program::ops::{Comparison, CoreOp};
use tenferro::program::shape::SymDim;
use tenferro::program::{ProgramBuilder, ValueId};

/// A parsed expression.
#[derive(Clone, Debug)]
pub enum Expression {
    Number(f64),
    Text(String),
    Name(String),
    List(Vec<Expression>),
    Negate(Box<Expression>),
    Binary(String, Box<Expression>, Box<Expression>),
    Call(String, Vec<Expression>, BTreeMap<String, Expression>),
    Index(Box<Expression>, Vec<Item>),
}

/// One entry between the brackets of an index.
#[derive(Clone, Debug)]
pub enum Item {
    At(i64),
    Range(Option<i64>, Option<i64>),
    NewAxis,
}

/// A function that the library does not have yet.
pub struct Unbuilt(pub String);

struct Parser {
    tokens: Vec<String>,
    at: usize,
}

impl Expression {
    pub fn parse(text: &str) -> Self {
        let mut parser = Parser { tokens: tokens(text), at: 0 };
        let expression = parser.sum();
        assert_eq!(parser.at, parser.tokens.len(), "{text}");
        expression
    }
}

fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        let c = chars[i];
        i += 1;
        if c.is_whitespace() {
            continue;
        } else if c == '\'' {
            while chars[i] != '\'' {
                i += 1;
            }
            i += 1;
        } else if c == '*' && chars.get(i) == Some(&'*') {
            i += 1;
        } else if c.is_alphanumeric() || c == '_' || c == '.' {
            let number = c.is_ascii_digit();
            while i < chars.len() && (chars[i].is_alphanumeric() || chars[i] == '_' || (number && chars[i] == '.')) {
                i += 1;
            }
        }
        tokens.push(chars[start..i].iter().collect());
    }
    tokens
}

impl Parser {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |t| t)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) {
        assert!(self.eat(token), "expected {token} at token {} of {:?}", self.at, self.tokens);
    }

    fn binary(&mut self, operators: &[&str], operand: fn(&mut Self) -> Expression) -> Expression {
        let mut left = operand(self);
        while operators.contains(&self.peek()) {
            let operator = self.tokens[self.at].clone();
            self.at += 1;
            left = Expression::Binary(operator, left.into(), operand(self).into());
        }
        left
    }

    fn sum(&mut self) -> Expression {
        self.binary(&["+", "-"], Self::product)
    }

    fn product(&mut self) -> Expression {
        self.binary(&["*", "/"], Self::unary)
    }

    fn unary(&mut self) -> Expression {
        if self.eat("-") {
            return Expression::Negate(self.unary().into());
        }
        let base = self.postfix();
        if self.eat("**") {
            return Expression::Binary("**".to_string(), base.into(), self.unary().into());
        }
        base
    }

    fn postfix(&mut self) -> Expression {
        let mut value = self.atom();
        while self.eat("[") {
            let mut items = Vec::new();
            while !self.eat("]") {
                items.push(self.item());
                self.eat(",");
            }
            value = Expression::Index(value.into(), items);
        }
        value
    }

    fn item(&mut self) -> Item {
        if self.eat("None") {
            return Item::NewAxis;
        }
        let first = self.integer();
        if !self.eat(":") {
            return Item::At(first.unwrap());
        }
        Item::Range(first, self.integer())
    }

    fn integer(&mut self) -> Option<i64> {
        let sign = if self.eat("-") { -1 } else { 1 };
        let value: i64 = self.peek().parse().ok()?;
        self.at += 1;
        Some(sign * value)
    }

    fn atom(&mut self) -> Expression {
        if self.eat("(") {
            return self.list(")");
        }
        if self.eat("[") {
            let mut list = Vec::new();
            while !self.eat("]") {
                list.push(self.sum());
                self.eat(",");
            }
            return Expression::List(list);
        }
        let token = self.peek().to_string();
        self.at += 1;
        if let Ok(number) = token.parse() {
            return Expression::Number(number);
        }
        if let Some(text) = token.strip_prefix('\'') {
            return Expression::Text(text.trim_end_matches('\'').to_string());
        }
        if !self.eat("(") {
            return Expression::Name(token);
        }
        let (mut positional, mut named) = (Vec::new(), BTreeMap::new());
        while !self.eat(")") {
            let argument = self.sum();
            match argument {
                Expression::Name(name) if self.eat("=") => {
                    named.insert(name, self.sum());
                }
                argument => positional.push(argument),
            }
            self.eat(",");
        }
        Expression::Call(token, positional, named)
    }

    /// A parenthesised expression, or a tuple.
    fn list(&mut self, end: &str) -> Expression {
        let first = self.sum();
        if self.eat(end) {
            return first;
        }
        let mut list = vec![first];
        while self.eat(",") {
            if self.peek() == end {
                break;
            }
            list.push(self.sum());
        }
        self.expect(end);
        Expression::List(list)
    }
}

/// An operand: a Python number takes the dtype of what it meets.
#[derive(Clone, Copy)]
enum Operand {
    Number(f64),
    Value(ValueId),
}

struct Lowering<'a> {
    b: &'a mut ProgramBuilder,
    variables: &'a BTreeMap<String, ValueId>,
}

type Lowered<T> = Result<T, Unbuilt>;

impl Expression {
    /// The expression's value; what the library lacks is an error, all else panics.
    pub fn lower(&self, b: &mut ProgramBuilder, variables: &BTreeMap<String, ValueId>) -> Lowered<ValueId> {
        Lowering { b, variables }.value(self)
    }

    fn integers(&self) -> Vec<i64> {
        match self {
            Self::Number(n) => vec![*n as i64],
            Self::Negate(n) => n.integers().into_iter().map(|n| -n).collect(),
            Self::List(list) => list.iter().flat_map(Self::integers).collect(),
            other => panic!("{other:?} is no integer"),
        }
    }
}

impl Lowering<'_> {
    fn value(&mut self, expression: &Expression) -> Lowered<ValueId> {
        Ok(match self.operand(expression)? {
            Operand::Value(value) => value,
            Operand::Number(n) => self.b.constant(ScalarValue::F64(n)).unwrap(),
        })
    }

    fn operand(&mut self, expression: &Expression) -> Lowered<Operand> {
        Ok(Operand::Value(match expression {
            Expression::Number(n) => return Ok(Operand::Number(*n)),
            Expression::Name(name) => self.variables[name],
            Expression::Negate(x) => match self.operand(x)? {
                Operand::Number(n) => return Ok(Operand::Number(-n)),
                Operand::Value(x) => self.b.neg(x).unwrap(),
            },
            Expression::Binary(operator, x, y) => {
                let (x, y) = (self.operand(x)?, self.operand(y)?);
                self.binary(operator, x, y)
            }
            Expression::Index(x, items) => {
                let x = self.value(x)?;
                self.index(x, items)
            }
            Expression::Call(function, arguments, named) => self.call(function, arguments, named)?,
            other => panic!("{other:?} is no value"),
        }))
    }

    fn binary(&mut self, operator: &str, x: Operand, y: Operand) -> ValueId {
        let (x, y) = self.broadcast(x, y);
        let b = &mut *self.b;
        match operator {
            "+" => b.add(x, y),
            "-" => b.sub(x, y),
            "*" => b.mul(x, y),
            "/" => b.div(x, y),
            _ => b.pow(x, y),
        }
        .unwrap()
    }

    /// To one dtype and shape, right-aligned.
    fn broadcast(&mut self, x: Operand, y: Operand) -> (ValueId, ValueId) {
        let dtype = |b: &ProgramBuilder, v: Operand| match v {
            Operand::Value(v) => Some(b.meta(v).dtype),
            Operand::Number(_) => None,
        };
        let wide = dtype(self.b, x).max(dtype(self.b, y)).unwrap_or(DType::F64);
        let [x, y] = [x, y].map(|v| match v {
            Operand::Value(v) => self.b.convert(v, wide).unwrap(),
            Operand::Number(n) => self.b.constant(ScalarValue::from_f64(n, wide)).unwrap(),
        });
        let shapes = [x, y].map(|v| self.b.meta(v).shape.to_vec());
        let rank = shapes[0].len().max(shapes[1].len());
        let dim = |i: usize, shape: &[SymDim]| (i + shape.len()).checked_sub(rank).map(|j| shape[j].clone());
        let shape: Vec<SymDim> = (0..rank)
            .map(|i| {
                let dims = [dim(i, &shapes[0]), dim(i, &shapes[1])].into_iter().flatten();
                dims.reduce(|a, b| if a.as_const() == Some(1) { b } else { a }).unwrap()
            })
            .collect();
        let mut widen = |v: ValueId| {
            let own = self.b.meta(v).rank();
            let axes: Vec<u32> = ((rank - own) as u32..rank as u32).collect();
            self.b.broadcast_in_dim(v, &shape, &axes).unwrap()
        };
        (widen(x), widen(y))
    }

    fn index(&mut self, x: ValueId, items: &[Item]) -> ValueId {
        let shape = self.b.meta(x).shape.to_vec();
        let (mut start, mut limit, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for item in items {
            let extent = |axis: usize| shape[axis].as_const().unwrap();
            let axis = start.len();
            let from_end = |n: i64| if n < 0 { n + extent(axis) } else { n };
            match item {
                Item::NewAxis => kept.push(SymDim::constant(1)),
                Item::At(n) => {
                    start.push(SymDim::constant(from_end(*n)));
                    limit.push(SymDim::constant(from_end(*n) + 1));
                }
                Item::Range(from, to) => {
                    let (from, to) = (from_end(from.unwrap_or(0)), to.map_or(extent(axis), from_end));
                    start.push(SymDim::constant(from));
                    limit.push(SymDim::constant(to));
                    kept.push(SymDim::constant(to - from));
                }
            }
        }
        for dim in &shape[start.len()..] {
            start.push(0.into());
            limit.push(dim.clone());
            kept.push(dim.clone());
        }
        let stride = vec![1; shape.len()].into();
        let cut = self.b.op(CoreOp::Slice { start: start.into(), limit: limit.into(), stride }, &[x]).unwrap();
        self.b.reshape(cut, &kept).unwrap()
    }

    fn call(
        &mut self,
        function: &str,
        arguments: &[Expression],
        named: &BTreeMap<String, Expression>,
    ) -> Lowered<ValueId> {
        if let "einsum" = function {
            let Expression::Text(equation) = &arguments[0] else { panic!("an equation comes first") };
            let operands: Vec<ValueId> = arguments[1..].iter().map(|a| self.value(a)).collect::<Lowered<_>>()?;
            return Ok(einsum_of_values(self.b, equation, &operands).unwrap());
        }
        if let "concatenate" = function {
            let Expression::List(parts) = &arguments[0] else { panic!("a list comes first") };
            let parts: Vec<ValueId> = parts.iter().map(|p| self.value(p)).collect::<Lowered<_>>()?;
            let axis = named["axis"].integers()[0] as u32;
            return Ok(self.b.op(CoreOp::Concatenate { axis }, &parts).unwrap());
        }
        if let "maximum" | "minimum" = function {
            let (x, y) = (self.operand(&arguments[0])?, self.operand(&arguments[1])?);
            let (x, y) = self.broadcast(x, y);
            return Ok(if function == "maximum" { self.b.maximum(x, y) } else { self.b.minimum(x, y) }.unwrap());
        }
        if let "take" = function {
            let (x, indices) = (self.value(&arguments[0])?, self.value(&arguments[1])?);
            return Ok(self.b.take(x, indices, named["axis"].integers()[0] as u32).unwrap());
        }
        if let "where" = function {
            let condition = self.value(&arguments[0])?;
            let (x, y) = (self.operand(&arguments[1])?, self.operand(&arguments[2])?);
            let (x, y) = self.broadcast(x, y);
            return Ok(self.b.select(condition, x, y).unwrap());
        }
        if let "eye" = function {
            let n: SymDim = arguments[0].integers()[0].into();
            let shape = vec![n.clone(), n];
            let iota = |axis| CoreOp::Iota { shape: shape.clone().into(), axis, dtype: DType::I64 };
            let (row, column) = (self.b.op(iota(0), &[]).unwrap(), self.b.op(iota(1), &[]).unwrap());
            let diagonal = self.b.compare(Comparison::Eq, row, column).unwrap();
            return Ok(self.b.convert(diagonal, DType::F64).unwrap());
        }
        let x = self.value(&arguments[0])?;
        let rank = self.b.meta(x).rank() as u32;
        let axis = named.get("axis").map(|a| a.integers()[0] as u32);
        let axes: Vec<u32> = axis.map_or_else(|| (0..rank).collect(), |a| vec![a]);
        let b = &mut *self.b;
        let result = match function {
            "exp" => b.exp(x),
            "log" => b.log(x),
            "log1p" => b.log1p(x),
            "expm1" => b.expm1(x),
            "sqrt" => b.sqrt(x),
            "sin" => b.sin(x),
            "cos" => b.cos(x),
            "tanh" => b.tanh(x),
            "erf" => b.erf(x),
            "abs" => b.abs(x),
            "conj" => b.conj(x),
            "real" => b.real(x),
            "imag" => b.imag(x),
            "sigmoid" => composite::sigmoid(b, x),
            "relu" => composite::relu(b, x),
            "softplus" => composite::softplus(b, x),
            "silu" => composite::silu(b, x),
            "gelu" => composite::gelu(b, x),
            "softmax" => composite::softmax(b, x, &axes),
            "log_softmax" => composite::log_softmax(b, x, &axes),
            "logsumexp" => composite::logsumexp(b, x, &axes),
            "sum" => b.sum(x, &axes),
            "prod" => b.prod(x, &axes),
            "mean" => composite::mean(b, x, &axes),
            "max" => b.max(x, &axes),
            "min" => b.min(x, &axes),
            "cumsum" => b.op(CoreOp::CumSum { axis: axes[0] }, &[x]),
            "tril" => b.tril(x, [0, 1], 0),
            "triu" => b.triu(x, [0, 1], 0),
            "reverse" => b.op(CoreOp::Reverse { axes: axes.into() }, &[x]),
            "transpose" => {
                let order: Vec<u32> = arguments[1].integers().iter().map(|&a| a as u32).collect();
                b.transpose(x, &order)
            }
            "reshape" => {
                let shape: Vec<SymDim> = arguments[1].integers().into_iter().map(SymDim::constant).collect();
                b.reshape(x, &shape)
            }
            "diag" | "trace" => {
                let diagonal = b.extract_diag(x, 0, 1, 0);
                if function == "diag" { diagonal } else { diagonal.and_then(|d| b.sum(d, &[0])) }
            }
            "clamp" => {
                let bound = |a: &Expression| match a {
                    Expression::Negate(n) => match **n {
                        Expression::Number(n) => -n,
                        _ => panic!("a bound is a number"),
                    },
                    Expression::Number(n) => *n,
                    _ => panic!("a bound is a number"),
                };
                let low = b.constant_like(x, bound(&arguments[1])).unwrap();
                let high = b.constant_like(x, bound(&arguments[2])).unwrap();
                composite::clamp(b, x, low, high)
            }
            other => return Err(Unbuilt(other.to_string())),
        };
        Ok(result.unwrap())
    }
}
