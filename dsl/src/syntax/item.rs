//! Items: kernels, their generics, arguments, types and sizes.

use proc_macro2::TokenTree;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Result};
use syn::{Attribute, Ident, Token, Visibility, braced, bracketed, parenthesized, token};

use super::tree::{Block, Dim, DimKind, DimOp, GenericParam, Kernel, Output, Param, Type};
use super::{DEPTH, statement};
use crate::diagnostics::{Diagnostics, Place};

/// Every item of a block, or one anonymous kernel.
pub fn block(input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> Block {
    let mut block = Block::default();
    while !input.is_empty() {
        match item(input, diagnostics, &mut block) {
            Ok(()) => {}
            Err(error) => {
                diagnostics.syntax(error);
                skip_item(input);
            }
        }
    }
    block
}

/// Goes on after the next `{ .. }` or `;`.
fn skip_item(input: ParseStream<'_>) {
    while !input.is_empty() {
        let end = input.peek(Token![;]) || input.peek(token::Brace);
        if input.parse::<TokenTree>().is_err() || end {
            return;
        }
    }
}

fn item(input: ParseStream<'_>, diagnostics: &mut Diagnostics, block: &mut Block) -> Result<()> {
    let (attrs, grad) = attributes(input)?;
    if input.peek(Token![|]) || input.peek(Token![||]) {
        block.expression = true;
        let kernel = anonymous(input, attrs, grad, diagnostics)?;
        if !block.kernels.is_empty() || !input.is_empty() {
            let message =
                "an anonymous kernel must be all that its block holds: give it a name, `fn name(..) -> .. { }`";
            diagnostics.error(&kernel.name, message);
        }
        block.kernels.push(kernel);
        return Ok(());
    }
    let vis: Visibility = input.parse()?;
    if let Some(what) = unsupported(input) {
        return Err(input.error(what));
    }
    if !input.peek(Token![fn]) {
        return Err(input.error(
            "expected a kernel: `fn name(x: f64[n]) -> f64[n] { .. }`, or `|x: f64[n]| -> f64[n] { .. }` as an expression",
        ));
    }
    input.parse::<Token![fn]>()?;
    let name = input.parse()?;
    let generic = if input.peek(Token![<]) { Some(generic(input)?) } else { None };
    let content;
    parenthesized!(content in input);
    let params = separated(&content, param)?;
    let outputs = outputs(input)?;
    let body = body(input, diagnostics)?;
    block.kernels.push(Kernel { attrs, grad, vis, name, generic, params, outputs, body });
    Ok(())
}

/// Items of the language that are still to come.
fn unsupported(input: ParseStream<'_>) -> Option<&'static str> {
    let is_word = |word: &str| input.fork().call(Ident::parse_any).is_ok_and(|ident| ident == word);
    if input.peek(Token![struct]) {
        Some("parameter groups are not supported yet: pass their tensors as arguments")
    } else if input.peek(Token![use]) {
        Some("kernels of other blocks are not supported yet: put the kernels into one block")
    } else if is_word("extension") {
        Some("operation families are not supported yet")
    } else {
        None
    }
}

fn attributes(input: ParseStream<'_>) -> Result<(Vec<Attribute>, Option<Vec<Ident>>)> {
    let mut grad = None;
    let mut rest = Vec::new();
    for attr in input.call(Attribute::parse_outer)? {
        if attr.path().is_ident("grad") {
            if grad.is_some() {
                let message = "`#[grad(..)]` is there twice: name all arguments in one, as `#[grad(w, b)]`";
                return Err(syn::Error::new_spanned(attr, message));
            }
            grad = Some(attr.parse_args_with(|input: ParseStream<'_>| separated(input, |input| input.parse()))?);
        } else {
            rest.push(attr);
        }
    }
    Ok((rest, grad))
}

fn anonymous(
    input: ParseStream<'_>,
    attrs: Vec<Attribute>,
    grad: Option<Vec<Ident>>,
    diagnostics: &mut Diagnostics,
) -> Result<Kernel> {
    let name = Ident::new("kernel", input.span());
    let mut params = Vec::new();
    if input.peek(Token![||]) {
        input.parse::<Token![||]>()?;
    } else {
        input.parse::<Token![|]>()?;
        while !input.peek(Token![|]) {
            params.push(param(input)?);
            if !input.peek(Token![|]) {
                input.parse::<Token![,]>()?;
            }
        }
        input.parse::<Token![|]>()?;
    }
    let outputs = outputs(input)?;
    let body = body(input, diagnostics)?;
    Ok(Kernel { attrs, grad, vis: Visibility::Inherited, name, generic: None, params, outputs, body })
}

fn body(input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> Result<super::Body> {
    let content;
    let braces = braced!(content in input);
    Ok(statement::body(&content, braces.span.close(), diagnostics))
}

fn generic(input: ParseStream<'_>) -> Result<GenericParam> {
    input.parse::<Token![<]>()?;
    if input.peek(Token![const]) {
        return Err(input.error("a size is no parameter: it is named in the types, as `x: f64[n]`"));
    }
    let name = input.parse()?;
    if !input.peek(Token![:]) {
        return Err(
            input.error("expected a bound: `T: Real` (f32 f64), `T: Float` (also c32 c64) or `T: Num` (also i32 i64)")
        );
    }
    input.parse::<Token![:]>()?;
    let bound = input.parse()?;
    if input.peek(Token![,]) {
        return Err(
            input.error("a kernel has at most one dtype parameter; sizes need none, they are named in the types")
        );
    }
    input.parse::<Token![>]>()?;
    Ok(GenericParam { name, bound })
}

fn param(input: ParseStream<'_>) -> Result<Param> {
    if input.peek(Token![mut]) {
        return Err(input.error("`mut` is not needed, since every name can be bound again: write the name alone"));
    }
    if input.peek(Token![_]) {
        return Err(input.error("an argument has a name: one that is not used begins with `_`, as `_x: f64[n]`"));
    }
    let name = input.parse()?;
    input.parse::<Token![:]>()?;
    Ok(Param { name, ty: ty(input)? })
}

fn outputs(input: ParseStream<'_>) -> Result<Vec<Output>> {
    if !input.peek(Token![->]) {
        return Err(input.error("expected the type of the result: `-> f64[n]`, `-> f64` for a scalar"));
    }
    input.parse::<Token![->]>()?;
    if !input.peek(token::Paren) {
        return Ok(vec![Output { name: None, ty: ty(input)? }]);
    }
    let content;
    parenthesized!(content in input);
    if content.is_empty() {
        return Err(content.error("a kernel has a result: name its type, as `-> f64[n]`"));
    }
    separated(&content, |input| {
        let name = if input.peek2(Token![:]) {
            let name = input.parse()?;
            input.parse::<Token![:]>()?;
            Some(name)
        } else {
            None
        };
        Ok(Output { name, ty: ty(input)? })
    })
}

fn ty(input: ParseStream<'_>) -> Result<Type> {
    if input.peek(Token![&]) {
        return Err(input.error("arguments are values in the language: write the type without `&`"));
    }
    if input.peek(token::Bracket) || input.peek2(Token![<]) || input.peek2(Token![::]) {
        return Err(input.error("a type is a dtype with the extents of its axes: write `f64[n]`, `f64` for a scalar"));
    }
    let dtype: Ident = input.parse()?;
    let mut place = Place::from(&dtype);
    let mut dims = Vec::new();
    if input.peek(token::Bracket) {
        let content;
        let brackets = bracketed!(content in input);
        place = place.to(brackets.span.close());
        dims = separated(&content, |input| {
            let dim = dim(input)?;
            if input.peek(Token![;]) {
                return Err(input.error("the extents of the axes have commas between: write `f64[n, m]`"));
            }
            Ok(dim)
        })?;
    }
    Ok(Type { dtype, dims, place })
}

/// An extent: names and integers under `+ - * /`.
pub fn dim(input: ParseStream<'_>) -> Result<Dim> {
    let mut left = dim_product(input)?;
    loop {
        let op = if input.peek(Token![+]) {
            DimOp::Add
        } else if input.peek(Token![-]) {
            DimOp::Sub
        } else {
            return Ok(left);
        };
        input.parse::<TokenTree>()?;
        left = dim_binary(left, op, dim_product(input)?)?;
    }
}

fn dim_product(input: ParseStream<'_>) -> Result<Dim> {
    let mut left = dim_atom(input)?;
    loop {
        let op = if input.peek(Token![*]) {
            DimOp::Mul
        } else if input.peek(Token![/]) {
            DimOp::Div
        } else {
            return Ok(left);
        };
        input.parse::<TokenTree>()?;
        left = dim_binary(left, op, dim_atom(input)?)?;
    }
}

fn dim_binary(left: Dim, op: DimOp, right: Dim) -> Result<Dim> {
    let (place, depth) = (left.place.to(right.place), 1 + left.depth.max(right.depth));
    if depth > DEPTH {
        return Err(syn::Error::new(place.start(), "this extent is nested too deep: name it as a size"));
    }
    Ok(Dim { kind: DimKind::Binary(Box::new(left), op, Box::new(right)), place, depth })
}

fn dim_atom(input: ParseStream<'_>) -> Result<Dim> {
    if input.peek(token::Brace) {
        return Err(input.error("a Rust constant as a size is not supported yet: write the number, or name the size"));
    }
    if input.peek(Token![_]) {
        return Err(input.error("every extent has a name or a number: write `f64[n]`"));
    }
    if input.peek2(Token![@]) {
        return Err(input.error("marked sizes (`name @ size`) are not supported yet: write the size alone"));
    }
    if input.peek(token::Paren) {
        let content;
        parenthesized!(content in input);
        let inner = dim(&content)?;
        expect_end(&content, ")")?;
        return Ok(inner);
    }
    if input.peek(Ident::peek_any) {
        let name: Ident = input.parse()?;
        return Ok(Dim { place: Place::from(&name), kind: DimKind::Name(name), depth: 1 });
    }
    if input.peek(syn::LitInt) {
        let literal: syn::LitInt = input.parse()?;
        let value: i64 = literal.base10_parse()?;
        return Ok(Dim { kind: DimKind::Integer(value), place: literal.span().into(), depth: 1 });
    }
    Err(input.error("expected a size: a name, an integer, or an expression of them such as `2*n + 1`"))
}

/// Elements with commas between, up to the end of `input`.
pub fn separated<T>(input: ParseStream<'_>, element: impl Fn(ParseStream<'_>) -> Result<T>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    while !input.is_empty() {
        list.push(element(input)?);
        if !input.is_empty() {
            if !input.peek(Token![,]) {
                return Err(input.error("expected `,`"));
            }
            input.parse::<Token![,]>()?;
        }
    }
    Ok(list)
}

/// An error unless everything between the delimiters has been read.
pub fn expect_end(input: ParseStream<'_>, close: &str) -> Result<()> {
    if input.is_empty() { Ok(()) } else { Err(input.error(format!("expected an operator or `{close}`"))) }
}
