//! Fingerprints: what they tell apart, what not, and that they are the same in every process.

use std::collections::HashMap;

use tenferro_core::program::SemanticProgram;

fn of(text: &str) -> String {
    SemanticProgram::parse(text).unwrap_or_else(|error| panic!("{error}")).fingerprint().to_string()
}

const PROGRAM: &str = "program f(x: f64[n, m], y: f64[n, m], i: i64[n]) -> (f64[m], f64) {
    guard n <= 2*m, \"because\"
    %3 = add x y : f64[n, m]
    %4 = sum axes=[0] %3 : f64[m]
    %5 = constant 0.0 : f64
    %6 = max axes=[0, 1] y : f64
    %7 = sub %6 %5 : f64
    return %4, %7
}";

#[test]
fn names_do_not_count() {
    let renamed = "program \"another name\"(a: f64[k, l], b: f64[k, l], c: i64[k]) -> (first: f64[l], second: f64) {
        guard k <= 2*l, \"of another reason\"
        %30 = add a b : f64[k, l]
        %40 = sum axes=[0] %30 : f64[l]
        %50 = constant 0.0 : f64
        %60 = max axes=[0, 1] b : f64
        %70 = sub %60 %50 : f64
        return %40, %70
    }";
    assert_eq!(of(renamed), of(PROGRAM));
}

#[test]
fn everything_else_does() {
    let changes: [&[(&str, &str)]; 15] = [
        &[],
        &[("add x y", "add y x")],
        &[("add", "mul")],
        &[("sum axes=[0]", "max axes=[0]")],
        &[("constant 0.0", "constant -0.0")],
        &[("constant 0.0", "constant NaN")],
        &[("return %4, %7", "return %4, %6")],
        &[("return %4, %7", "return %7, %4"), ("(f64[m], f64)", "(f64, f64[m])")],
        &[("return %4, %7", "return %4"), ("(f64[m], f64)", "f64[m]")],
        &[("i: i64[n]", "i: i32[n]")],
        &[("i: i64[n]", "i: i64[m]")],
        &[("i: i64[n]", "i: i64[n + 1]")],
        &[(", i: i64[n]", "")],
        &[("n <= 2*m", "n <= 3*m")],
        &[("n <= 2*m", "n == 2*m")],
    ];
    let mut seen = HashMap::new();
    for change in changes {
        let text = change.iter().fold(PROGRAM.to_string(), |text, (from, to)| {
            assert!(text.contains(from));
            text.replace(from, to)
        });
        if let Some(other) = seen.insert(of(&text), text.clone()) {
            panic!("one fingerprint of\n{other}\n{text}");
        }
    }
    // Where a size is read off counts too.
    let bound = "program f<n = axis 0 of y>(x: f64[n], y: f64[2*n]) -> f64[n] { return x }";
    assert_ne!(of(bound), of(&bound.replace("<n = axis 0 of y>", "")));
}

#[test]
fn they_are_the_same_in_every_process() {
    // Written down from one process, read in all others.
    let committed = [
        ("program f(x: f64[3]) -> f64[3] { %1 = exp x : f64[3] return %1 }", "b6f714ab628757964a615d78ab8613ad"),
        (PROGRAM, "02c7f8c73d9d8383872e25142eb7b927"),
        (
            "program g(x: c32[2*n, max(n, m)], m: bool[m]) -> (c32[min(n, m), n/2], bool) {
                %2 = slice start=[0, 0] limit=[min(n, m), n/2] stride=[1, 1] x : c32[min(n, m), n/2]
                %3 = constant 1.5-NaNi : c32
                %4 = broadcast_in_dim axes=[] %3 : c32[min(n, m), n/2]
                %5 = pow %2 %4 : c32[min(n, m), n/2]
                %6 = any axes=[0] m : bool
                return %5, %6
            }",
            "72763c8e4aa230e6d9eb360d5137ced5",
        ),
        (
            "program h(x: f32[n]) -> f32 {
                %1 = tenferro.checkpoint.v1 program inner(y: f32[k]) -> f32 {
                    %1 = compare lt y y : bool[k]
                    %2 = select %1 y y : f32[k]
                    %3 = sum axes=[0] %2 : f32
                    return %3
                } x : f32
                return %1
            }",
            "dd0c815ae43a66d42515ccf985ce089e",
        ),
    ];
    for (text, expected) in committed {
        assert_eq!(of(text), expected, "{text}");
    }
}
