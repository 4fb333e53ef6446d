//! Statements, and recovery after one that cannot be read.

use proc_macro2::{Span, TokenTree};
use syn::parse::{ParseStream, Result};
use syn::{Ident, Token, braced, bracketed, parenthesized, token};

use super::expression::expression;
use super::item::{dim, separated};
use super::tree::{Body, Expr, Statement, Target};
use crate::diagnostics::{Diagnostics, Place};

enum Step {
    Statement(Statement),
    Value(Expr),
}

/// The statements of a kernel and its value.
pub fn body(input: ParseStream<'_>, end: Span, diagnostics: &mut Diagnostics) -> Body {
    let mut body = Body { statements: Vec::new(), value: None, whole: true, end };
    let errors = diagnostics.len();
    while !input.is_empty() {
        match recovering(input, diagnostics) {
            Step::Statement(statement) => body.statements.push(statement),
            Step::Value(value) => body.value = Some(value),
        }
    }
    body.whole = diagnostics.len() == errors;
    body
}

/// One statement; after an error, a broken one, with the input past its end.
fn recovering(input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> Step {
    let start = input.fork();
    match step(input, diagnostics) {
        Ok(step) => step,
        Err(error) => {
            diagnostics.syntax(error);
            let names = let_names(&start.fork());
            if input.cursor() == start.cursor() {
                // Nothing was read: a token that begins no statement. Step over it.
                let _ = input.parse::<TokenTree>();
            }
            skip(input);
            Step::Statement(Statement::Broken { names, used: names_before(&start, input) })
        }
    }
}

/// Goes on after the next `;`, or after a `}` that no part of the statement follows, or before a keyword that only
/// begins a statement.
fn skip(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![let]) && !input.peek(Token![for]) {
        let (semicolon, brace) = (input.peek(Token![;]), input.peek(token::Brace));
        let read = input.parse::<TokenTree>();
        let goes_on = input.peek(Token![else]) || input.cursor().punct().is_some();
        if read.is_err() || semicolon || (brace && !goes_on) {
            return;
        }
    }
}

/// All names from one place of the input to another.
fn names_before(start: ParseStream<'_>, end: ParseStream<'_>) -> Vec<Ident> {
    fn collect(token: TokenTree, names: &mut Vec<Ident>) {
        match token {
            TokenTree::Ident(name) => names.push(name),
            TokenTree::Group(group) => group.stream().into_iter().for_each(|token| collect(token, names)),
            _ => {}
        }
    }
    let mut names = Vec::new();
    while start.cursor() != end.cursor()
        && let Ok(token) = start.parse()
    {
        collect(token, &mut names);
    }
    names
}

/// The names that a broken `let` would have bound.
fn let_names(input: ParseStream<'_>) -> Vec<Ident> {
    if input.parse::<Token![let]>().is_err() || input.parse::<Option<Token![mut]>>().is_err() {
        return Vec::new();
    }
    if let Ok(name) = input.parse::<Ident>() {
        return vec![name];
    }
    let tuple = |input: ParseStream<'_>| {
        let content;
        parenthesized!(content in input);
        separated(&content, |input| input.parse())
    };
    tuple(input).unwrap_or_default()
}

fn step(input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> Result<Step> {
    if input.peek(Token![let]) {
        return Ok(Step::Statement(let_statement(input)?));
    }
    if input.peek(Token![for]) {
        return Ok(Step::Statement(for_statement(input, diagnostics)?));
    }
    if input.peek(Token![return]) {
        return Err(input.error("the last expression is the result: write it without `return` and without `;`"));
    }
    if input.peek(Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) && !input.peek2(Token![=>]) {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let value = expression(input)?;
        semicolon(input)?;
        return Ok(Step::Statement(Statement::Assign { name, value }));
    }
    if input.peek(Ident) {
        let rest = input.fork();
        let name: Ident = rest.parse()?;
        no_compound_assignment(&rest, &format!("`{name} = {name}"))?;
    }
    let value = expression(input)?;
    if input.is_empty() {
        return Ok(Step::Value(value));
    }
    if input.peek(Token![;]) {
        let error = if input.fork().parse::<Token![;]>().is_ok() && only_semicolon_left(input) {
            "the last expression is the result: write it without `;`"
        } else {
            "this value is not used: bind it with `let name = ..;`"
        };
        return Err(input.error(error));
    }
    Err(input.error("expected an operator or the end of the body"))
}

fn only_semicolon_left(input: ParseStream<'_>) -> bool {
    let rest = input.fork();
    rest.parse::<Token![;]>().is_ok() && rest.is_empty()
}

fn semicolon(input: ParseStream<'_>) -> Result<()> {
    if input.peek(Token![;]) {
        input.parse::<Token![;]>()?;
        return Ok(());
    }
    Err(input.error("expected an operator or `;`"))
}

/// `+=` and its like are not in the language.
fn no_compound_assignment(input: ParseStream<'_>, instead: &str) -> Result<()> {
    let list = [
        (input.peek(Token![+=]), "+"),
        (input.peek(Token![-=]), "-"),
        (input.peek(Token![*=]), "*"),
        (input.peek(Token![/=]), "/"),
        (input.peek(Token![%=]), "%"),
    ];
    match list.into_iter().find(|(present, _)| *present) {
        Some((_, op)) => Err(input.error(format!("`{op}=` is not in the language: write {instead} {op} ..;`"))),
        None => Ok(()),
    }
}

fn let_statement(input: ParseStream<'_>) -> Result<Statement> {
    input.parse::<Token![let]>()?;
    if input.peek(Token![mut]) {
        return Err(input.error("`mut` is not needed, since every name can be bound again: write `let` without it"));
    }
    if input.peek(token::Paren) {
        let content;
        parenthesized!(content in input);
        let names = separated(&content, binding)?;
        input.parse::<Token![=]>()?;
        let value = expression(input)?;
        semicolon(input)?;
        return Ok(Statement::Let { names, tuple: true, value });
    }
    let name = binding(input)?;
    let target = if input.peek(token::Bracket) { Some(target(input)?) } else { None };
    if input.peek(Token![:]) {
        return Err(input.error("`let` takes no type: every expression has its own; write `let name = ..;`"));
    }
    let indices = if target.is_some() { "[..]" } else { "" };
    no_compound_assignment(input, &format!("`let {name}{indices} = {name}{indices}"))?;
    input.parse::<Token![=]>()?;
    let value = expression(input)?;
    semicolon(input)?;
    Ok(match target {
        Some(target) => Statement::LetIndexed { name, target, value },
        None => Statement::Let { names: vec![name], tuple: false, value },
    })
}

/// A name, or `_`.
fn binding(input: ParseStream<'_>) -> Result<Ident> {
    if input.peek(Token![_]) {
        let underscore: Token![_] = input.parse()?;
        return Ok(Ident::new("_", underscore.span));
    }
    input.parse()
}

/// `[i, j: n]`
pub fn target(input: ParseStream<'_>) -> Result<Target> {
    let content;
    let brackets = bracketed!(content in input);
    let indices = separated(&content, |input| {
        if input.peek(syn::LitInt) {
            return Err(input.error("the target of index notation has names only: `let y[i, j] = ..`"));
        }
        let name: Ident = input.parse()?;
        if input.peek(Token![:]) {
            input.parse::<Token![:]>()?;
            return Ok((name, Some(dim(input)?)));
        }
        Ok((name, None))
    })?;
    Ok(Target { indices, place: Place::from(brackets.span.open()).to(brackets.span.close()) })
}

fn for_statement(input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> Result<Statement> {
    let keyword: Token![for] = input.parse()?;
    let name = binding(input)?;
    input.parse::<Token![in]>()?;
    let bound = |input: ParseStream<'_>| -> Result<i64> {
        if !input.peek(syn::LitInt) {
            return Err(
                input.error("a loop is unrolled while compiling: its bounds are integers, `for i in 0..3 { .. }`")
            );
        }
        input.parse::<syn::LitInt>()?.base10_parse()
    };
    let start = bound(input)?;
    input.parse::<Token![..]>()?;
    let inclusive = input.peek(Token![=]);
    if inclusive {
        input.parse::<Token![=]>()?;
    }
    let last = input.span();
    let end = bound(input)?.checked_add(i64::from(inclusive));
    let end = end.ok_or_else(|| syn::Error::new(last, "this integer is too large for the bound of a loop"))?;
    let content;
    let braces = braced!(content in input);
    let mut body = Vec::new();
    while !content.is_empty() {
        match recovering(&content, diagnostics) {
            Step::Statement(statement) => body.push(statement),
            Step::Value(value) => {
                diagnostics.error(
                    value.place,
                    "a loop has no value: bind it with `let name = ..;`, or `name = ..;` to go on with it",
                );
            }
        }
    }
    let place = Place::from(keyword.span).to(braces.span.open());
    Ok(Statement::For { name, start, end, place, body })
}
