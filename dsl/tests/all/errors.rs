//! Error messages: every file of `ui-tests/fail` gives the errors that its first lines announce, and no others.

use std::path::PathBuf;

use super::support::{compile, errors};

/// The tokens between a macro's delimiters in a source, if it is called there.
fn tokens<'s>(source: &'s str, call: &str, [open, close]: [char; 2]) -> Option<&'s str> {
    let start = source.find(call)? + call.len();
    let mut depth = 1;
    for (i, c) in source[start..].char_indices() {
        depth += i32::from(c == open) - i32::from(c == close);
        if depth == 0 {
            return Some(&source[start..start + i]);
        }
    }
    panic!("{call} does not end");
}

/// The errors of a source: of its block, or of its call of `einsum!`, which are in what it expands to.
fn errors_of(source: &str) -> Vec<String> {
    if let Some(block) = tokens(source, "tenferro! {", ['{', '}']) {
        return errors(block);
    }
    let call = tokens(source, "einsum!(", ['(', ')']).unwrap();
    let expansion = tenferro_dsl::expand_einsum(call.parse().unwrap()).to_string();
    expansion.split("compile_error").skip(1).map(str::to_owned).collect()
}

#[test]
fn fail_files_give_the_errors_that_they_announce() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ui-tests/fail");
    let mut wrong = String::new();
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        files += 1;
        let source = std::fs::read_to_string(&path).unwrap();
        let announced: Vec<&str> = source.lines().filter_map(|line| line.strip_prefix("// error: ")).collect();
        let actual = errors_of(&source);
        let found = |text: &&str| actual.iter().filter(|error| error.contains(text)).count() == 1;
        if actual.len() != announced.len() || !announced.iter().all(found) {
            wrong += &format!("{}\n  announced {announced:#?}\n  actual {actual:#?}\n", path.display());
        }
    }
    assert!(files >= 25, "{files}");
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn follow_up_errors_are_silent() {
    let text = "fn f(x: f64[n], y: f64[m]) -> f64[n] { let a = x + y; let b = exp(a); let c[i] = b[i] * x[i]; b + c }";
    assert_eq!(errors(text).len(), 1);
    let text = "fn f(x: f64[q * q]) -> f64 { sum(x) } fn g(x: f64[n]) -> f64 { f(x) * 2.0 }";
    assert_eq!(errors(text).len(), 1);
    let text = "fn f(x: f64[n]) -> f64[n] { for i in 0..3 { x = x + y; } x }";
    assert_eq!(errors(text).len(), 1);
}

#[test]
fn signatures_survive_bad_bodies() {
    let block = compile("fn f(x: f64[n, m], _k: i64) -> (a: f64, b: f64[n]) { x + } fn g(x: f64[n]) -> f64[n] { x }");
    assert_eq!(block.diagnostics.len(), 1);
    assert_eq!(block.items.len(), 2);
    let tenferro_dsl::lowered::LoweredItem::Kernel(f) = &block.items[0];
    assert!(f.bodies.is_none());
    assert_eq!(f.params.iter().map(|param| param.rank).collect::<Vec<_>>(), [2, 0]);
    assert!(f.outputs.named);
    let tenferro_dsl::lowered::LoweredItem::Kernel(g) = &block.items[1];
    assert!(g.bodies.is_some());
}

#[test]
fn broken_tokens_never_panic() {
    let text = "#[grad(w, b)] pub fn mse<T: Real>(w: T[d, 2*n], b: f64) -> (a: T[d], b: f64) { let (p, q) = g(w); \
                for i in 0..2 { b = b * 2.0; } let y[i, j: n + 1] = -sum[k](w[i, k] / 3) + p[i, j]; \
                (einsum(\"ij,jk->ik\", w, w, path = [(0, 1)]), select(b > 1.0, b as f64, 0.5) -> []) } \
                fn r#fn(r#type: f64[r#in], r#type: f64) -> (r#mut: f64[r#in], r#mut: f64) { (r#type, r#type) }";
    let tokens: Vec<proc_macro2::TokenTree> = text.parse::<proc_macro2::TokenStream>().unwrap().into_iter().collect();
    // Leave out, double, cut at or replace every token, at every depth.
    fn variants(tokens: &[proc_macro2::TokenTree], all: &mut Vec<Vec<proc_macro2::TokenTree>>) {
        for i in 0..tokens.len() {
            let mut without = tokens.to_vec();
            let token = without.remove(i);
            all.push(without.clone());
            all.push(tokens[..i].to_vec());
            let mut doubled = tokens.to_vec();
            doubled.insert(i, token.clone());
            all.push(doubled);
            for other in ["r#struct", "9223372036854775807", "-", "_"] {
                let mut replaced = tokens.to_vec();
                replaced[i] = other.parse::<proc_macro2::TokenStream>().unwrap().into_iter().next().unwrap();
                all.push(replaced);
            }
            if let proc_macro2::TokenTree::Group(group) = token {
                let mut inner = Vec::new();
                variants(&group.stream().into_iter().collect::<Vec<_>>(), &mut inner);
                for stream in inner {
                    let group = proc_macro2::Group::new(group.delimiter(), stream.into_iter().collect());
                    let mut changed = tokens.to_vec();
                    changed[i] = group.into();
                    all.push(changed);
                }
            }
        }
    }
    let mut all = Vec::new();
    variants(&tokens, &mut all);
    assert!(all.len() > 300);
    for tokens in all {
        let _ = tenferro_dsl::expand(tokens.into_iter().collect());
    }
}

#[test]
fn nothing_that_is_named_strangely_panics() {
    for text in [
        "fn f(x: f64) -> (r#type: f64, b: f64) { (x, x) }",
        "fn r#match(r#type: f64[n]) -> (r#fn: f64, b: f64) { (sum(r#type), 1.0 * sum(r#type)) }",
        "fn _1(x: f64) -> (a: f64, b: f64) { (x, x) }",
    ] {
        let tokens = tenferro_dsl::expand(text.parse().unwrap()).to_string();
        assert!(!tokens.contains("compile_error") && !tokens.contains("\"r#"), "{text}: {tokens}");
    }
    for text in [
        "fn f(r#if: f64, r#if: f64) -> f64 { r#if }",
        "fn f(x: f64) -> f64 { for i in 0..=9223372036854775807 { x = x + i; } x }",
        "fn f(x: f64[9223372036854775807 * 2 + 9223372036854775807]) -> f64[0 - 9223372036854775807 - 2] { x }",
    ] {
        let tokens = tenferro_dsl::expand(text.parse().unwrap()).to_string();
        assert!(tokens.contains("compile_error"), "{text}");
    }
}

#[test]
fn deep_expressions_are_refused() {
    let many = |start: &str, repeated: &str, end: &str| format!("{start}{}{end}", repeated.repeat(20_000));
    for text in [
        many("x", " + x", ""),
        many("", "-", "x"),
        many("x", " as f64", ""),
        many("x", "[i]", ""),
        many("x", " -> []", ""),
        format!("{}x{}", "(".repeat(2000), ")".repeat(2000)),
        format!("{}x{}", "exp(".repeat(200), ")".repeat(200)),
    ] {
        let errors = errors(&format!("fn f(x: f64) -> f64 {{ {text} }}"));
        assert_eq!(errors, ["this is nested too deep: split it with `let`"]);
    }
    let extent = format!("n{}", " + n".repeat(20_000));
    assert_eq!(errors(&format!("fn f(x: f64[n], _y: f64[{extent}]) -> f64[n] {{ x }}")).len(), 1);
    // What is just allowed.
    let inside = format!("{}x{}", "exp(".repeat(120), ")".repeat(120));
    let terms = format!("x[i]{}", " * (1 + x[i] / 2)".repeat(100));
    let mixed = format!("{}x[i]{}", "exp(1 + 2 * (".repeat(30), "))".repeat(30));
    let text =
        format!("fn f(x: f64[n]) -> f64 {{ let y = {inside}; let z[i] = {mixed} * y[i]; {terms} * z[i] -> [] }}");
    assert_eq!(errors(&text), [""; 0]);
}

#[test]
fn kernels_are_not_too_long() {
    let text = "fn f(x: f64) -> f64 { for _i in 0..64 { for _j in 0..32 { x = x * x + x; } } x }";
    assert_eq!(errors(text), [""; 0]);
    let text = "fn g(x: f64) -> f64 { for _i in 0..64 { x = x * x; } x } fn f(x: f64) -> f64 { for _i in 0..65 { x = g(x); } x }";
    let [error] = &errors(text)[..] else { panic!() };
    assert!(error.contains("`f` has more than 4096 operations, loops unrolled and calls inlined"), "{error}");
}

#[test]
fn mistakes_and_what_to_write_instead() {
    let mut wrong = String::new();
    for (text, message) in [
        // Names
        ("fn f64(x: f32) -> f32 { x }", "`f64` is a type: give the kernel another name"),
        ("fn usize(x: f32) -> f32 { x }", "`usize` is a type"),
        ("fn g<g: Real>(x: g) -> g { x }", "the dtype parameter has the name of the kernel: call it `T`"),
        ("fn g<f32: Real>(x: f32) -> f32 { x }", "the dtype parameter has the name of a type"),
        (
            "fn a_b(x: f64) -> (p: f64, q: f64) { (x, x) } fn aB(x: f64) -> (p: f64, q: f64) { (x, x) }",
            "`a_b` and `aB` would both return a struct `ABOutput`: rename one of them",
        ),
        (
            "fn a_b(x: f64) -> (p: f64, q: f64) { (x, x) } fn ABOutput(x: f64) -> f64 { x }",
            "the kernel `ABOutput` has the name of the struct `ABOutput` of results",
        ),
        (
            "#[cfg(a)] fn f(x: f64) -> f64 { x } #[cfg(not(a))] fn f(x: f64) -> f64 { -x }",
            "alternatives under `#[cfg(..)]` stand in a block each",
        ),
        ("#[grad(x)] #[grad(y)] fn f(x: f64, y: f64) -> f64 { x * y }", "`#[grad(..)]` is there twice"),
        // Types
        ("fn f(x: Vec<f64>) -> f64 { x }", "a type is a dtype with the extents of its axes: write `f64[n]`"),
        ("fn f(x: [f64; n]) -> f64 { x }", "a type is a dtype with the extents of its axes: write `f64[n]`"),
        ("fn f(x: f64[n; m]) -> f64 { x }", "have commas between: write `f64[n, m]`"),
        ("fn f(x: f64[_, n]) -> f64 { x }", "every extent has a name or a number"),
        ("fn f(mut x: f64) -> f64 { x }", "`mut` is not needed"),
        ("fn f(_: f64) -> f64 { 1.0 }", "an argument has a name: one that is not used begins with `_`"),
        ("fn f<const N: usize>(x: f64[N]) -> f64[N] { x }", "a size is no parameter: it is named in the types"),
        ("|x: T[n]| -> f64 { sum(x) }", "as `fn f<T: Real>(..)`; an inline kernel cannot be generic"),
        // Statements
        ("fn f(b: f64) -> f64 { b += 1.0; b }", "`+=` is not in the language: write `b = b + ..;`"),
        (
            "fn f(b: f64[n]) -> f64[n] { let z[i] -= b[i]; z }",
            "`-=` is not in the language: write `let z[..] = z[..] - ..;`",
        ),
        // Values
        ("fn f(x: f64[n], y: f32[n]) -> f64[n] { x * y }", "convert one, as `y as f64`"),
        ("fn f(x: f64[n]) -> f64[n] { x * 1.5f32 }", "`1.5f32` is f32; drop the suffix of `1.5f32`"),
        ("fn f(x: f32[n]) -> f32[n] { 2.0f64 * x }", "drop the suffix of `2.0f64`"),
        ("fn f(x: i32[n]) -> i32[n] { x + 3000000000 }", "the integer 3000000000 does not fit into i32"),
        ("fn f(x: i64[n]) -> i32[n] { x as i32 + 3000000000i32 }", "the integer 3000000000 does not fit into i32"),
        (
            "fn f<T: Num>(x: T) -> T { let big = 1 + 3000000000; x + big }",
            "the integer 3000000000 does not fit into i32, which `T` may be",
        ),
        ("fn f(x: f64[n]) -> f64 { x[0] }", "fixed positions are not supported yet"),
        ("fn f(x: f64[n, m]) -> f64[n] { x[i, 0] -> [i] }", "fixed positions are not supported yet"),
        ("fn f(x: f64[n]) -> f64[n] { x[i + 1] -> [i] }", "affine indices are not supported yet"),
        ("fn f(x: f64[n]) -> f64 { dot(x, x) }", "unknown function `dot`: write `x[i] * y[i] -> []`"),
        ("fn f(x: f64[n, n]) -> f64[n, n] { matmul(x, x) }", "`einsum(\"ij,jk->ik\", a, b)`"),
        ("fn f(x: f64[0]) -> i64 { argmax(x) }", "`argmax` needs an entry: `x` is f64[0]"),
        ("fn f(x: f64) -> f64[3] { broadcast(x, [3 - 4]) }", "an extent cannot be negative, but this is -1"),
        ("fn f(x: f64[0]) -> f64[0] { reshape(x, [0, 1 - 3]) }", "an extent cannot be negative, but this is -2"),
        ("fn f(x: f64) -> f64[3] { x -> [i: 2 - 3] }", "an extent cannot be negative, but this is -1"),
    ] {
        let errors = errors(text);
        if errors.len() != 1 || !errors[0].contains(message) {
            wrong += &format!("{text}\n  expected {message}\n  actual {errors:#?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn unused_arguments_are_reported_beside_other_mistakes() {
    let errors = errors("fn f(x: f64, y: f64, z: f64) -> f64 { let a = x +; a * q(y) }");
    assert_eq!(errors.len(), 3, "{errors:#?}");
    assert!(errors.iter().any(|error| error.contains("the argument `z` is not used")));
}
