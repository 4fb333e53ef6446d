//! Expressions, by precedence climbing; the index suffix `-> [i, j]` binds weakest.

use proc_macro2::{Span, TokenTree};
use syn::parse::{ParseStream, Result};
use syn::{Ident, Token, bracketed, parenthesized, token};

use super::item::{expect_end, separated};
use super::statement::target;
use super::tree::{BinaryOp, Call, Expr, ExprKind, IndexExpr, UnaryOp};
use super::{DEPTH, TOO_DEEP};
use crate::diagnostics::Place;

/// An expression, unless too many stand in one another.
fn node(kind: ExprKind, place: Place) -> Result<Expr> {
    let value = Expr::new(kind, place);
    if value.depth > DEPTH { Err(syn::Error::new(place.start(), TOO_DEEP)) } else { Ok(value) }
}

/// A whole expression.
pub fn expression(input: ParseStream<'_>) -> Result<Expr> {
    let mut value = binary(input, 0)?;
    while input.peek(Token![->]) {
        input.parse::<Token![->]>()?;
        if !input.peek(token::Bracket) {
            return Err(input.error("expected the indices of the result: `-> [i, j]`, `-> []` for a scalar"));
        }
        let target = target(input)?;
        let place = value.place.to(target.place);
        value = node(ExprKind::Suffix(Box::new(value), target), place)?;
    }
    Ok(value)
}

/// Operators that bind at least as tightly as `least`.
fn binary(input: ParseStream<'_>, least: u8) -> Result<Expr> {
    let mut left = unary(input)?;
    while let Some((op, width)) = operator(input)? {
        let precedence = op.precedence();
        if precedence < least {
            break;
        }
        if let (true, ExprKind::Binary(_, previous, ..)) = (op.is_comparison(), &left.kind)
            && previous.is_comparison()
        {
            return Err(input.error("comparisons do not chain: write `a < b && b < c`"));
        }
        let place = skip_punctuation(input, width)?;
        let right = binary(input, precedence + 1)?;
        let whole = left.place.to(right.place);
        left = node(ExprKind::Binary(Box::new(left), op, place, Box::new(right)), whole)?;
    }
    Ok(left)
}

/// The operator that comes next, with its number of tokens.
fn operator(input: ParseStream<'_>) -> Result<Option<(BinaryOp, usize)>> {
    if input.peek(Token![->]) || input.peek(Token![=>]) {
        return Ok(None);
    }
    for (present, message) in [
        (input.peek(Token![^]), "`^` is not an operator here: write `pow(x, 2)`"),
        (
            input.peek(Token![@]),
            "`@` is not an operator here: write `einsum(\"ij,jk->ik\", a, b)` or `a[i, j] * b[j, k] -> [i, k]`",
        ),
        (input.peek(Token![*]) && input.peek2(Token![*]), "`**` is not an operator here: write `pow(x, 2)`"),
        (
            input.peek(Token![&]) && !input.peek(Token![&&]),
            "`&` is not an operator here: write `a && b`, which works element by element",
        ),
        (
            input.peek(Token![|]) && !input.peek(Token![||]),
            "`|` is not an operator here: write `a || b`, which works element by element",
        ),
    ] {
        if present {
            return Err(input.error(message));
        }
    }
    Ok(Some(if input.peek(Token![+]) {
        (BinaryOp::Add, 1)
    } else if input.peek(Token![-]) {
        (BinaryOp::Sub, 1)
    } else if input.peek(Token![*]) {
        (BinaryOp::Mul, 1)
    } else if input.peek(Token![/]) {
        (BinaryOp::Div, 1)
    } else if input.peek(Token![%]) {
        (BinaryOp::Rem, 1)
    } else if input.peek(Token![&&]) {
        (BinaryOp::And, 2)
    } else if input.peek(Token![||]) {
        (BinaryOp::Or, 2)
    } else if input.peek(Token![==]) {
        (BinaryOp::Eq, 2)
    } else if input.peek(Token![!=]) {
        (BinaryOp::Ne, 2)
    } else if input.peek(Token![<=]) {
        (BinaryOp::Le, 2)
    } else if input.peek(Token![>=]) {
        (BinaryOp::Ge, 2)
    } else if input.peek(Token![<]) {
        (BinaryOp::Lt, 1)
    } else if input.peek(Token![>]) {
        (BinaryOp::Gt, 1)
    } else {
        return Ok(None);
    }))
}

fn skip_punctuation(input: ParseStream<'_>, width: usize) -> Result<Place> {
    let mut place = Place::from(input.span());
    for _ in 0..width {
        place = place.to(input.parse::<TokenTree>()?.span());
    }
    Ok(place)
}

/// `-x`, `!x`, and casts, which bind less tightly than both.
fn unary(input: ParseStream<'_>) -> Result<Expr> {
    let mut value = prefix(input)?;
    while input.peek(Token![as]) {
        input.parse::<Token![as]>()?;
        let dtype: Ident = input.parse()?;
        let place = value.place.to(&dtype);
        value = node(ExprKind::Cast(Box::new(value), dtype), place)?;
    }
    Ok(value)
}

fn prefix(input: ParseStream<'_>) -> Result<Expr> {
    let mut operators: Vec<(UnaryOp, Span)> = Vec::new();
    loop {
        let op = if input.peek(Token![&]) {
            return Err(input.error("tensors are values in the language: write the name without `&`"));
        } else if input.peek(Token![-]) {
            UnaryOp::Neg
        } else if input.peek(Token![!]) {
            UnaryOp::Not
        } else {
            break;
        };
        operators.push((op, input.parse::<TokenTree>()?.span()));
    }
    let mut value = postfix(input)?;
    for (op, span) in operators.into_iter().rev() {
        let place = Place::from(span).to(value.place);
        value = node(ExprKind::Unary(op, Box::new(value)), place)?;
    }
    Ok(value)
}

fn postfix(input: ParseStream<'_>) -> Result<Expr> {
    let mut value = primary(input)?;
    loop {
        if input.peek(token::Bracket) {
            let content;
            let brackets = bracketed!(content in input);
            let indices = separated(&content, index)?;
            let place = value.place.to(brackets.span.close());
            value = node(ExprKind::Access(Box::new(value), indices), place)?;
        } else if input.peek(Token![.]) {
            return Err(input.error("there are no methods in the language: write `f(x)` instead of `x.f()`"));
        } else if input.peek(token::Paren) {
            return Err(input.error("only a function or a kernel can be called: write `*` for a product"));
        } else {
            return Ok(value);
        }
    }
}

fn index(input: ParseStream<'_>) -> Result<IndexExpr> {
    if input.peek(Ident) && (input.peek2(Token![,]) || input.fork().parse::<Ident>().is_ok() && last(input)) {
        return Ok(IndexExpr::Name(input.parse()?));
    }
    let position = input.peek(syn::LitInt) && (input.peek2(Token![,]) || last(input));
    let mut place = Place::from(input.span());
    while !input.is_empty() && !input.peek(Token![,]) {
        place = place.to(input.parse::<TokenTree>()?.span());
    }
    Ok(if position { IndexExpr::Position(place) } else { IndexExpr::Other(place) })
}

/// Whether one token is left.
fn last(input: ParseStream<'_>) -> bool {
    let rest = input.fork();
    rest.parse::<TokenTree>().is_ok() && rest.is_empty()
}

fn primary(input: ParseStream<'_>) -> Result<Expr> {
    if input.peek(token::Paren) {
        return parenthesised(input);
    }
    if input.peek(token::Bracket) {
        let content;
        let brackets = bracketed!(content in input);
        let list = separated(&content, expression)?;
        let place = Place::from(brackets.span.open()).to(brackets.span.close());
        return node(ExprKind::List(list), place);
    }
    if input.peek(syn::Lit) {
        return literal(input);
    }
    if input.peek(Token![if]) {
        return Err(
            input.error("there is no `if` in the language: `select(condition, a, b)` chooses element by element")
        );
    }
    if input.peek(Ident) {
        if input.peek2(Token![::]) {
            return Err(input
                .error("Rust paths are not supported in a kernel yet: write the number, or pass it as an argument"));
        }
        return named(input);
    }
    Err(input.error("expected an expression"))
}

fn parenthesised(input: ParseStream<'_>) -> Result<Expr> {
    let content;
    let parens = parenthesized!(content in input);
    let place = Place::from(parens.span.open()).to(parens.span.close());
    if content.is_empty() {
        return node(ExprKind::Tuple(Vec::new()), place);
    }
    let first = expression(&content)?;
    if content.is_empty() {
        return node(ExprKind::Paren(Box::new(first)), place);
    }
    if !content.peek(Token![,]) {
        expect_end(&content, ")")?;
    }
    content.parse::<Token![,]>()?;
    let mut list = vec![first];
    list.extend(separated(&content, expression)?);
    node(ExprKind::Tuple(list), place)
}

fn literal(input: ParseStream<'_>) -> Result<Expr> {
    let literal: syn::Lit = input.parse()?;
    let place = Place::from(literal.span());
    let (kind, suffix) = match &literal {
        syn::Lit::Int(value) => (
            ExprKind::Integer(
                value
                    .base10_digits()
                    .parse()
                    .map_err(|_| syn::Error::new(value.span(), "this integer does not fit into i64"))?,
            ),
            value.suffix(),
        ),
        syn::Lit::Float(value) => {
            let number = value.base10_digits().parse().map_err(|_| syn::Error::new(value.span(), "not a number"))?;
            (ExprKind::Float(number), value.suffix())
        }
        syn::Lit::Bool(value) => (ExprKind::Bool(value.value), ""),
        syn::Lit::Str(value) => (ExprKind::Text(value.value()), ""),
        other => return Err(syn::Error::new(other.span(), "expected a number, `true`, `false` or a name")),
    };
    let value = node(kind, place)?;
    if suffix.is_empty() {
        return Ok(value);
    }
    let dtype = Ident::new(suffix, literal.span());
    node(ExprKind::Cast(Box::new(value), dtype), place)
}

/// A name, a call or a call over indices.
fn named(input: ParseStream<'_>) -> Result<Expr> {
    let name: Ident = input.parse()?;
    let start = Place::from(&name);
    let indices = if input.peek(token::Bracket) && input.peek2(token::Paren) {
        let content;
        bracketed!(content in input);
        Some(separated(&content, |input| {
            if !input.peek(Ident) {
                return Err(input.error("expected the name of an index, as in `sum[j](..)`"));
            }
            input.parse::<Ident>()
        })?)
    } else if input.peek(token::Paren) {
        None
    } else {
        return node(ExprKind::Name(name), start);
    };
    let content;
    let parens = parenthesized!(content in input);
    let mut call = Call { name, indices, args: Vec::new(), options: Vec::new() };
    while !content.is_empty() {
        if content.peek(Ident) && content.peek2(Token![=]) && !content.peek2(Token![==]) {
            let option = content.parse()?;
            content.parse::<Token![=]>()?;
            call.options.push((option, expression(&content)?));
        } else if let Some((option, _)) = call.options.last() {
            return Err(content.error(format!("an argument must stand before the option `{option}`")));
        } else {
            call.args.push(expression(&content)?);
        }
        if !content.is_empty() {
            if !content.peek(Token![,]) {
                expect_end(&content, ")")?;
            }
            content.parse::<Token![,]>()?;
        }
    }
    let place = start.to(parens.span.close());
    node(ExprKind::Call(call), place)
}
