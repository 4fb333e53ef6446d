//! Each pass, before and after.

use tenferro_core::Result;
use tenferro_core::program::SemanticProgram;
use tenferro_core::program::passes::{
    CompilerOptions, common_subexpressions, compile, constant_folding, dead_code, identities,
};

type Pass = fn(&SemanticProgram) -> Result<SemanticProgram>;

/// The body of a program of `x: f64[n, m]`, `s: f64` and `c: c64` after a pass.
#[track_caller]
fn after(pass: Pass, results: &str, body: &str) -> Vec<String> {
    let text = format!("program f(x: f64[n, m], s: f64, c: c64) -> {results} {{\n{body}\n}}");
    let program = SemanticProgram::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let changed = pass(&program).unwrap();
    changed.verify().unwrap();
    assert_eq!(changed.inputs(), program.inputs());
    let text = changed.to_string();
    text.lines().skip(1).take_while(|l| *l != "}").map(|l| l.trim().to_string()).collect()
}

#[test]
fn dead_code_is_dropped() {
    let body = "%3 = exp s : f64  %4 = sin s : f64  %5 = cos %4 : f64  return %3";
    assert_eq!(after(dead_code::run, "f64", body), ["%3 = exp s : f64", "return %3"]);
}

#[test]
fn common_subexpressions_are_shared_in_any_order_of_operands() {
    let body = "%3 = exp s : f64  %4 = exp s : f64  %5 = mul %3 s : f64  %6 = mul s %4 : f64
        %7 = sub %5 %6 : f64 %8 = maximum s %7 : f64 %9 = maximum %7 s : f64 return %7, %8, %9";
    assert_eq!(
        after(common_subexpressions::run, "(f64, f64, f64)", body),
        [
            "%3 = exp s : f64",
            "%4 = mul s %3 : f64",
            "%5 = sub %4 %4 : f64",
            "%6 = maximum s %5 : f64",
            "%7 = maximum %5 s : f64",
            "return %5, %6, %7"
        ]
    );
}

#[test]
fn known_values_are_computed() {
    let body = "%3 = constant 2.0 : f64  %4 = constant 3.0 : f64  %5 = mul %3 %4 : f64
        %6 = broadcast_in_dim axes=[] %5 : f64[n, m]  %7 = transpose axes=[1, 0] %6 : f64[m, n]
        %8 = neg %7 : f64[m, n]  %9 = transpose axes=[1, 0] %8 : f64[n, m]  %10 = add x %9 : f64[n, m] return %10";
    assert_eq!(
        after(constant_folding::run, "f64[n, m]", body),
        [
            "%3 = constant -6.0 : f64",
            "%4 = broadcast_in_dim axes=[] %3 : f64[n, m]",
            "%5 = add x %4 : f64[n, m]",
            "return %5"
        ]
    );
    for (body, value) in [
        ("%3 = constant -2147483648 : i32 %4 = constant -1 : i32 %5 = div %3 %4 : i32 return %5", "-2147483648 : i32"),
        ("%3 = constant 7 : i64 %4 = constant 0 : i64 %5 = div %3 %4 : i64 return %5", "0 : i64"),
        ("%3 = constant 1e300 : f64 %4 = convert %3 : f32 return %4", "inf : f32"),
        ("%3 = constant NaN : f32 %4 = compare ne %3 %3 : bool return %4", "true : bool"),
        ("%3 = constant 0.0 : f64 %4 = neg %3 : f64 return %4", "-0.0 : f64"),
        ("%3 = size 3 : f32 %4 = convert %3 : f64 return %4", "3.0 : f64"),
    ] {
        let dtype = value.split(" : ").nth(1).unwrap();
        assert_eq!(after(constant_folding::run, dtype, body), [format!("%3 = constant {value}"), "return %3".into()]);
    }
    // A known condition leaves one branch; functions that engines round differently stay.
    let body = "%3 = constant false : bool %4 = exp s : f64 %5 = select %3 s %4 : f64 return %5";
    assert_eq!(after(constant_folding::run, "f64", body), ["%3 = exp s : f64", "return %3"]);
    let body = "%3 = constant 1.0 : f64 %4 = exp %3 : f64 return %4";
    assert_eq!(after(constant_folding::run, "f64", body).len(), 3);
}

#[test]
fn identities_vanish() {
    let to_s: [&str; 9] = [
        "%3 = constant 1.0 : f64 %4 = mul s %3 : f64 return %4",
        "%3 = constant 1.0 : f64 %4 = mul %3 s : f64 return %4",
        "%3 = constant 1.0 : f64 %4 = div s %3 : f64 return %4",
        "%3 = constant -0.0 : f64 %4 = add s %3 : f64 return %4",
        "%3 = constant 0.0 : f64 %4 = sub s %3 : f64 return %4",
        "%3 = neg s : f64 %4 = neg %3 : f64 return %4",
        "%3 = convert s : f64 return %3",
        "%3 = sum axes=[] s : f64 return %3",
        "%3 = reshape s : f64[1] %4 = reshape %3 : f64[1, 1] %5 = reshape %4 : f64 return %5",
    ];
    for body in to_s {
        assert_eq!(after(identities::run, "f64", body), ["return s"], "{body}");
    }
    for body in [
        "%3 = transpose axes=[1, 0] x : f64[m, n] %4 = transpose axes=[1, 0] %3 : f64[n, m] return %4",
        "%3 = reverse axes=[1] x : f64[n, m] %4 = reverse axes=[1] %3 : f64[n, m] return %4",
        "%3 = broadcast_in_dim axes=[0, 1] x : f64[n, m] return %3",
    ] {
        assert_eq!(after(identities::run, "f64[n, m]", body), ["return x"], "{body}");
    }
    // What is not exact stays: -0 + 0 is 0, and (inf + i) * 1 has a NaN.
    for (dtype, body) in [
        ("f64", "%3 = constant 0.0 : f64 %4 = add s %3 : f64 return %4"),
        ("f64", "%3 = constant -0.0 : f64 %4 = sub s %3 : f64 return %4"),
        ("c64", "%3 = constant 1+0i : c64 %4 = mul c %3 : c64 return %4"),
    ] {
        assert_eq!(after(identities::run, dtype, body).len(), 3, "{body}");
    }
}

#[test]
fn views_of_views_are_joined() {
    let body =
        "%3 = broadcast_in_dim axes=[1] s1 : f64[2, n] %4 = broadcast_in_dim axes=[2, 1] %3 : f64[m, n, 2] return %4";
    let text = format!("program f(s1: f64[n], y: f64[m]) -> f64[m, n, 2] {{\n{body}\n}}");
    let joined = identities::run(&SemanticProgram::parse(&text).unwrap()).unwrap().to_string();
    assert!(joined.contains("%2 = broadcast_in_dim axes=[1] s1 : f64[m, n, 2]\n  return %2"), "{joined}");

    // `k` is only found to be 1 when inputs arrive: one broadcast would want it to be m.
    let text = "program f(x: f64[k], y: f64[m]) -> f64[m] {
        %2 = broadcast_in_dim axes=[0] x : f64[1]
        %3 = broadcast_in_dim axes=[0] %2 : f64[m]
        return %3
    }";
    let kept = identities::run(&SemanticProgram::parse(text).unwrap()).unwrap();
    assert_eq!(kept.nodes().len(), 2);
    assert!(kept.bind(&[&[1], &[4]]).is_ok());
}

#[test]
fn sizes_bound_elsewhere_stay_so() {
    let text = "program f<n = axis 0 of y>(x: f64[n], y: f64[2*n]) -> f64[n] {\n  return x\n}\n";
    let program = SemanticProgram::parse(text).unwrap();
    assert_eq!(dead_code::run(&program).unwrap(), program);
}

#[test]
fn options_name_the_passes() {
    let text = "program f(s: f64) -> f64 {
        %1 = constant 2.0 : f64
        %2 = constant -1.0 : f64
        %3 = add %1 %2 : f64
        %4 = mul s %3 : f64
        return %4
    }";
    let program = SemanticProgram::parse(text).unwrap();
    let nodes = |options| compile(&program, &options).unwrap().nodes().len();
    assert_eq!(nodes(CompilerOptions::NONE), 4);
    assert_eq!(nodes(CompilerOptions { constant_folding: true, ..CompilerOptions::NONE }), 2);
    assert_eq!(nodes(CompilerOptions { identities: true, ..CompilerOptions::NONE }), 4);
    assert_eq!(nodes(CompilerOptions::default()), 0);
}
