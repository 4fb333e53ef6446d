//! What the macro writes: a snapshot to read, which is also run, and the time it takes.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use tenferro::prelude::*;

const SOURCE: &str = r#"
/// The quadratic form `x' a x`.
#[grad(x)]
pub fn quadratic(x: f64[n], a: f64[n, n]) -> f64 {
    x[i] * a[i, j] * x[j] -> []
}
"#;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/quadratic.rs");

mod snapshot {
    include!("../snapshots/quadratic.rs");
}

#[test]
fn the_snapshot_is_what_the_macro_writes() {
    let expansion = tenferro_dsl::expand(SOURCE.parse().unwrap());
    if std::env::var_os("TENFERRO_BLESS").is_some() {
        fs::write(SNAPSHOT, formatted(&expansion)).unwrap();
    }
    let kept: TokenStream = fs::read_to_string(SNAPSHOT).unwrap().parse().unwrap();
    let (kept, written) = (words(kept), words(expansion));
    let first = kept.iter().zip(&written).position(|(a, b)| a != b);
    if let Some(at) = first.or((kept.len() != written.len()).then_some(kept.len().min(written.len()))) {
        let near = |words: &[String]| words[at.saturating_sub(8).min(words.len())..(at + 8).min(words.len())].join(" ");
        panic!(
            "the expansion differs from {SNAPSHOT}\nkept:    {}\nwritten: {}\n\
             if that is meant, run this test with TENFERRO_BLESS=1 and read the difference",
            near(&kept),
            near(&written),
        );
    }
}

#[test]
fn the_snapshot_runs() {
    use snapshot::quadratic;
    let cpu = &mut Session::cpu();
    let x = TypedTensor::from_vec_col_major([2], vec![1.0, -2.0]).unwrap();
    let a = TypedTensor::from_vec_row_major([2, 2], vec![2.0, 1.0, 3.0, 4.0]).unwrap();
    assert_eq!(quadratic.run(cpu, &x, &a).unwrap(), 10.0);
    // (a + a') x
    assert_eq!(quadratic.grad(cpu, &x, &a).unwrap().as_slice().unwrap(), [-4.0, -12.0]);
    // (a + a') d_x
    let d_x = TypedTensor::from_vec_col_major([2], vec![1.0, 0.0]).unwrap();
    assert_eq!(quadratic.hvp(cpu, &x, &a, &d_x).unwrap().as_slice().unwrap(), [4.0, 4.0]);
}

/// The tokens as text, without the trailing commas that a formatter adds and removes.
fn words(tokens: TokenStream) -> Vec<String> {
    let mut words = Vec::new();
    flatten(tokens, &mut words);
    words
}

fn flatten(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        let TokenTree::Group(group) = token else {
            words.push(token.to_string());
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        words.push(open.to_owned());
        flatten(group.stream(), words);
        if words.last().is_some_and(|last| last == ",") {
            words.pop();
        }
        words.push(close.to_owned());
    }
}

/// The tokens as a person would write them.
fn formatted(tokens: &TokenStream) -> String {
    use std::io::Write;
    let mut text = String::from(
        "// What `tenferro!` makes of the kernel in `tests/all/expansion.rs`. Written by that test under TENFERRO_BLESS=1.\n\n",
    );
    text.push_str(&tokens.to_string());
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", "max_width=120,use_small_heuristics=Max,reorder_imports=false"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    rustfmt.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = rustfmt.wait_with_output().unwrap();
    assert!(output.status.success());
    let formatted = String::from_utf8(output.stdout).unwrap();
    formatted.lines().map(|line| undo_doc_attribute(line) + "\n").collect()
}

/// `#[doc = " text"]` as `/// text`.
fn undo_doc_attribute(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    match line.trim_start().strip_prefix("#[doc = \"").and_then(|rest| rest.strip_suffix("\"]")) {
        Some(text) => format!("{}///{}", &line[..indent], text.replace("\\\"", "\"").replace("\\'", "'")),
        None => line.to_owned(),
    }
}

/// Ten kernels of the size that people write.
const BLOCK: &str = r#"
#[grad(w, b)]
fn mse<T: Real>(w: T[d], b: T, x: T[n, d], y: T[n]) -> T {
    let r[i] = x[i, j] * w[j] + b - y[i];
    mean(r * r)
}
#[grad(w)]
fn logistic<T: Real>(w: T[d], x: T[n, d], y: T[n]) -> T {
    let z[i] = x[i, j] * w[j];
    mean(softplus(z) - y * z)
}
fn attention<T: Real>(q: T[n, d], k: T[m, d], v: T[m, e]) -> T[n, e] {
    let score[i, j] = q[i, c] * k[j, c] / sqrt(d);
    let p[i, j] = softmax[j](score[i, j]);
    einsum("nm,me->ne", p, v)
}
fn normalise(x: f64[n]) -> (total: f64, share: f64[n]) {
    let total = sum(x);
    (total, x / total)
}
fn quadratic(x: f64[n], a: f64[n, n]) -> f64 { x[i] * a[i, j] * x[j] -> [] }
fn chain(a: f64[i, j], b: f64[j, k], c: f64[k, l], d: f64[l, m]) -> f64[i, m] {
    einsum("ij,jk,kl,lm->im", a, b, c, d)
}
fn layer(x: f64[n, i], w: f64[i, h], b: f64[h]) -> f64[n, h] {
    let z[n, h] = x[n, i] * w[i, h] + b[h];
    relu(z)
}
fn network(x: f64[n, i], w1: f64[i, h], b1: f64[h], w2: f64[h, o], b2: f64[o]) -> f64[n, o] {
    layer(layer(x, w1, b1), w2, b2)
}
#[grad(w, b)]
fn cross_entropy(w: f64[d, c], b: f64[c], x: f64[n, d], y: f64[n, c]) -> f64 {
    let z[i, k] = x[i, j] * w[j, k] + b[k];
    let lse[i] = logsumexp[k](z[i, k]);
    let nll[i] = lse[i] - sum[k](y[i, k] * z[i, k]);
    mean(nll)
}
fn rbf(x: f64[n, d], y: f64[m, d], scale: f64) -> f64[n, m] {
    let xx[i] = x[i, k] * x[i, k];
    let yy[j] = y[j, k] * y[j, k];
    let xy[i, j] = x[i, k] * y[j, k];
    exp((xx[i] + yy[j] - 2.0 * xy[i, j]) * scale) -> [i, j]
}
"#;

#[test]
fn ten_kernels_expand_in_little_time() {
    let tokens: TokenStream = BLOCK.parse().unwrap();
    let expansion = tenferro_dsl::expand(tokens.clone());
    let text = expansion.to_string();
    assert!(!text.contains("compile_error"), "{text}");
    let times: Vec<_> = (0..5)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(tenferro_dsl::expand(tokens.clone()));
            start.elapsed()
        })
        .collect();
    let best = times.iter().min().unwrap();
    tenferro_testing::announce(&format!("10 kernels expand in {best:.1?} ({} tokens)", words(expansion).len()));
}
