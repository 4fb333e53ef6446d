//! Index notation: what is summed where, as the text of programs.

use super::support::{body, errors};

/// The body of a kernel over matrices and vectors of the usual sizes.
fn matrices(expression: &str, result: &str) -> String {
    body(&format!(
        "fn f(_a: f64[n, m], _b: f64[m, k], _c: f64[k, l], _x: f64[n], _y: f64[m], _s: f64[n, n]) -> {result} {{ {expression} }}"
    ))
}

#[test]
fn each_term_is_summed_by_itself() {
    assert_eq!(
        matrices("_a[i, j] * _y[j] + _x[i] -> [i]", "f64[n]"),
        "%6 = tenferro.einsum.v1 \"ij,j->i\" _a _y : f64[n]\n%7 = add %6 _x : f64[n]\nreturn %7"
    );
    assert_eq!(
        matrices("_a[i, j] + _y[j] + _x[i] -> [i]", "f64[n]"),
        "%6 = sum axes=[1] _a : f64[n]\n%7 = sum axes=[0] _y : f64\n%8 = broadcast_in_dim axes=[] %7 : f64[n]\n\
         %9 = add %6 %8 : f64[n]\n%10 = add %9 _x : f64[n]\nreturn %10"
    );
    // The terms of a sum in parentheses too, which is what the distributive law says.
    assert_eq!(
        matrices("_x[i] * (_a[i, j] + _x[i]) -> [i]", "f64[n]"),
        "%6 = sum axes=[1] _a : f64[n]\n%7 = add %6 _x : f64[n]\n%8 = mul _x %7 : f64[n]\nreturn %8"
    );
}

#[test]
fn the_smallest_product_that_holds_all_occurrences_is_summed() {
    assert_eq!(
        matrices("exp(_a[i, j] * _b[j, q]) -> [i, q]", "f64[n, k]"),
        "%6 = tenferro.einsum.v1 \"ij,jk->ik\" _a _b : f64[n, k]\n%7 = exp %6 : f64[n, k]\nreturn %7"
    );
    assert_eq!(
        matrices("exp(_a[i, j]) * _y[j] -> [i]", "f64[n]"),
        "%6 = exp _a : f64[n, m]\n%7 = tenferro.einsum.v1 \"ij,j->i\" %6 _y : f64[n]\nreturn %7"
    );
    assert_eq!(
        matrices("(_a[i, j] + _x[i]) * _y[j] -> [i]", "f64[n]"),
        "%6 = broadcast_in_dim axes=[0] _x : f64[n, m]\n%7 = add _a %6 : f64[n, m]\n\
         %8 = tenferro.einsum.v1 \"ij,j->i\" %7 _y : f64[n]\nreturn %8"
    );
    // In two products of an argument: the function's own product is the smallest with both.
    assert_eq!(
        matrices("abs(_a[i, j] - _y[j]) -> [i]", "f64[n]"),
        "%6 = broadcast_in_dim axes=[1] _y : f64[n, m]\n%7 = sub _a %6 : f64[n, m]\n%8 = abs %7 : f64[n, m]\n\
         %9 = sum axes=[1] %8 : f64[n]\nreturn %9"
    );
}

#[test]
fn a_chain_is_one_einsum_and_parentheses_fix_its_order() {
    assert_eq!(
        matrices("2.0 * _a[i, j] * _b[j, p] * _c[p, q] -> [i, q]", "f64[n, l]"),
        "%6 = constant 2.0 : f64\n%7 = broadcast_in_dim axes=[] %6 : f64[n, l]\n\
         %8 = tenferro.einsum.v1 \"ij,jk,kl->il\" _a _b _c : f64[n, l]\n%9 = mul %7 %8 : f64[n, l]\nreturn %9"
    );
    assert_eq!(
        matrices("_a[i, j] * (_b[j, p] * _c[p, q]) -> [i, q]", "f64[n, l]"),
        "%6 = tenferro.einsum.v1 \"ij,jk,kl->il\", path = [(1, 2), (0, 1)] _a _b _c : f64[n, l]\nreturn %6"
    );
}

#[test]
fn quotients_are_factors() {
    assert_eq!(
        matrices("_y[j] / _y[j] -> []", "f64"),
        "%6 = div _y _y : f64[m]\n%7 = sum axes=[0] %6 : f64\nreturn %7"
    );
    assert_eq!(
        matrices("_a[i, j] * _y[j] / _x[i] -> [i]", "f64[n]"),
        "%6 = tenferro.einsum.v1 \"ij,j->i\" _a _y : f64[n]\n%7 = div %6 _x : f64[n]\nreturn %7"
    );
    // A divisor that is a product divides by each of its factors: the sum is of the whole.
    let by_row =
        "%6 = broadcast_in_dim axes=[0] _x : f64[n, m]\n%7 = div %6 _a : f64[n, m]\n%8 = sum axes=[1] %7 : f64[n]\n";
    for (divisor, rest) in [
        ("_a[i, j]", "return %8"),
        ("-_a[i, j]", "%9 = neg %8 : f64[n]\nreturn %9"),
        ("(-(-_a[i, j]))", "return %8"),
        (
            "(2 * _a[i, j])",
            "%9 = constant 2.0 : f64\n%10 = broadcast_in_dim axes=[] %9 : f64[n]\n%11 = div %8 %10 : f64[n]\nreturn %11",
        ),
        ("(_a[i, j] * _x[i])", "%9 = div %8 _x : f64[n]\nreturn %9"),
        ("(-(_x[i] * _a[i, j]))", "%9 = div %8 _x : f64[n]\n%10 = neg %9 : f64[n]\nreturn %10"),
    ] {
        assert_eq!(matrices(&format!("_x[i] / {divisor} -> [i]"), "f64[n]"), format!("{by_row}{rest}"), "{divisor}");
    }
    // A quotient in a divisor is computed by itself.
    assert_eq!(
        matrices("_x[i] / (_a[i, j] / _y[j]) -> [i]", "f64[n]"),
        "%6 = broadcast_in_dim axes=[0] _x : f64[n, m]\n%7 = broadcast_in_dim axes=[1] _y : f64[n, m]\n\
         %8 = div _a %7 : f64[n, m]\n%9 = div %6 %8 : f64[n, m]\n%10 = sum axes=[1] %9 : f64[n]\nreturn %10"
    );
    // In a sum an index belongs to its term, and to the whole if several terms have it.
    let inside = "%6 = sum axes=[1] _a : f64[n]\n%7 = add %6 _x : f64[n]\n";
    assert_eq!(
        matrices("_x[i] / (_a[i, j] + _x[i]) -> [i]", "f64[n]"),
        format!("{inside}%8 = div _x %7 : f64[n]\nreturn %8")
    );
    assert_eq!(
        matrices("_x[i] / (_x[i] * -(_a[i, j] + _x[i])) -> [i]", "f64[n]"),
        format!("{inside}%8 = neg %7 : f64[n]\n%9 = mul _x %8 : f64[n]\n%10 = div _x %9 : f64[n]\nreturn %10")
    );
    for divisor in ["(_a[i, j] + _y[j])", "(_x[i] * (_a[i, j] + _y[j]))"] {
        let text = matrices(&format!("_x[i] / {divisor} -> [i]"), "f64[n]");
        assert!(text.contains("sum axes=[1]") && !text.contains("sum axes=[0]"), "{divisor}: {text}");
    }
    // Integer quotients are rounded as written, before they are summed.
    for dtype in ["i32", "i64"] {
        assert_eq!(
            body(&format!("fn f(k: {dtype}[n, m], l: {dtype}[m]) -> {dtype}[n] {{ k[i, j] * l[j] / 2 -> [i] }}")),
            format!(
                "%2 = broadcast_in_dim axes=[1] l : {dtype}[n, m]\n%3 = mul k %2 : {dtype}[n, m]\n\
                 %4 = constant 2 : {dtype}\n%5 = broadcast_in_dim axes=[] %4 : {dtype}[n, m]\n\
                 %6 = div %3 %5 : {dtype}[n, m]\n%7 = sum axes=[1] %6 : {dtype}[n]\nreturn %7"
            )
        );
    }
}

#[test]
fn signs_and_literals_move_no_sum() {
    // Signs are factors: the product is still one einsum, in the order of its parentheses.
    assert_eq!(
        matrices("-_a[i, j] * -(_b[j, p] * _c[p, q]) -> [i, q]", "f64[n, l]"),
        "%6 = tenferro.einsum.v1 \"ij,jk,kl->il\", path = [(1, 2), (0, 1)] _a _b _c : f64[n, l]\nreturn %6"
    );
    assert_eq!(
        matrices("sum[j](-(_a[i, j] * _y[j])) -> [i]", "f64[n]"),
        "%6 = tenferro.einsum.v1 \"ij,j->i\" _a _y : f64[n]\n%7 = neg %6 : f64[n]\nreturn %7"
    );
    for argument in ["_a[i, j] - _y[j]", "-(_a[i, j] - _y[j])", "2 * (_a[i, j] - _y[j])", "(_a[i, j] - _y[j]) / _x[i]"]
    {
        let text = matrices(&format!("exp({argument}) -> [i]"), "f64[n]");
        assert!(text.lines().rev().nth(1).unwrap().contains("sum axes=[1]"), "{argument}: {text}");
    }
    for argument in ["_a[i, j] - _x[i]", "-(_a[i, j] - _x[i])", "2 * (_a[i, j] - _x[i])", "(_a[i, j] - _x[i]) / _x[i]"]
    {
        let text = matrices(&format!("exp({argument}) -> [i]"), "f64[n]");
        assert!(text.lines().rev().nth(1).unwrap().contains("exp"), "{argument}: {text}");
    }
}

#[test]
fn diagonals_are_taken_and_embedded() {
    assert_eq!(
        matrices("_s[i, i] * _x[i] -> []", "f64"),
        "%6 = extract_diag axis_a=0 axis_b=1 _s : f64[n]\n%7 = tenferro.einsum.v1 \"i,i->\" %6 _x : f64\nreturn %7"
    );
    assert_eq!(
        matrices("let d[i, i] = _x[i]; d", "f64[n, n]"),
        "%6 = tenferro.einsum.v1 \"i->ii\" _x : f64[n, n]\nreturn %6"
    );
}

#[test]
fn broadcasts_are_written() {
    assert_eq!(
        matrices("let y[i, j] = _a[i, j] + _y[j]; y", "f64[n, m]"),
        "%6 = broadcast_in_dim axes=[1] _y : f64[n, m]\n%7 = add _a %6 : f64[n, m]\nreturn %7"
    );
    assert_eq!(
        matrices("let y[i: n, j] = _y[j]; y", "f64[n, m]"),
        "%6 = broadcast_in_dim axes=[1] _y : f64[n, m]\nreturn %6"
    );
    assert_eq!(matrices("_a[i, j] - mean(_y) -> [j, i]", "f64[m, n]").lines().last().unwrap(), "return %11");
}

#[test]
fn explicit_reductions_bind_their_index() {
    assert_eq!(
        matrices("sum[j](_a[i, j] * _b[j, q]) -> [q, i]", "f64[k, n]"),
        "%6 = tenferro.einsum.v1 \"ij,jk->ki\" _a _b : f64[k, n]\nreturn %6"
    );
    assert_eq!(
        matrices("max[j](_a[i, j] * _y[j]) * _x[i] -> []", "f64"),
        "%6 = broadcast_in_dim axes=[1] _y : f64[n, m]\n%7 = mul _a %6 : f64[n, m]\n%8 = max axes=[1] %7 : f64[n]\n\
         %9 = tenferro.einsum.v1 \"i,i->\" %8 _x : f64\nreturn %9"
    );
    // A normalisation keeps its index, which may be summed around it.
    assert!(matrices("softmax[j](_a[i, j]) -> [i]", "f64[n]").contains("sum axes=[1]"));
    assert_eq!(
        errors("fn f(a: f64[n, m]) -> f64[n, m] { let y[i, j] = sum[j](a[i, j]); y }"),
        ["index `j` of the target is reduced within the expression: it has no axis left"]
    );
}
