//! Error messages: every file of `ui-tests/fail` gives the errors that its first lines announce, and no others.

use std::path::PathBuf;

use super::support::{compile, errors};

/// The tokens of the `tenferro! { .. }` in a source.
fn block(source: &str) -> &str {
    let start = source.find("tenferro! {").unwrap() + "tenferro! {".len();
    let mut depth = 1;
    for (i, c) in source[start..].char_indices() {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        if depth == 0 {
            return &source[start..start + i];
        }
    }
    panic!("the block does not end");
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
        let actual = errors(block(&source));
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
    let block = compile("fn f(x: f64[n, m], k: i64) -> (a: f64, b: f64[n]) { x + } fn g(x: f64[n]) -> f64[n] { x }");
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
                (einsum(\"ij,jk->ik\", w, w, path = [(0, 1)]), select(b > 1.0, b as f64, 0.5) -> []) }";
    let tokens: Vec<proc_macro2::TokenTree> = text.parse::<proc_macro2::TokenStream>().unwrap().into_iter().collect();
    // Leave out, double or cut at every token, at every depth.
    fn variants(tokens: &[proc_macro2::TokenTree], all: &mut Vec<Vec<proc_macro2::TokenTree>>) {
        for i in 0..tokens.len() {
            let mut without = tokens.to_vec();
            let token = without.remove(i);
            all.push(without.clone());
            all.push(tokens[..i].to_vec());
            let mut doubled = tokens.to_vec();
            doubled.insert(i, token.clone());
            all.push(doubled);
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
