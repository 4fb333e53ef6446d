//! Whole-tensor expressions, sizes, kernels and their derivatives, as the text of programs.

use tenferro_core::DType;

use super::support::{body, errors, kernels, program};

#[test]
fn literals_and_sizes_take_the_dtype_of_their_context() {
    assert_eq!(
        body("fn f(x: f32[n]) -> f32[n] { 2 * x / sqrt(n) }"),
        "%1 = constant 2.0 : f32\n%2 = broadcast_in_dim axes=[] %1 : f32[n]\n%3 = mul %2 x : f32[n]\n\
         %4 = size n : f32\n%5 = sqrt %4 : f32\n%6 = broadcast_in_dim axes=[] %5 : f32[n]\n%7 = div %3 %6 : f32[n]\n\
         return %7"
    );
    // A name for a literal adapts as the literal does.
    assert_eq!(
        body("fn f(x: i64[n]) -> i64[n] { let two = 2; x + two }"),
        "%1 = constant 2 : i64\n%2 = broadcast_in_dim axes=[] %1 : i64[n]\n%3 = add x %2 : i64[n]\nreturn %3"
    );
    assert_eq!(
        body("fn f(x: f64[n]) -> f64[n] { select(x > 0, 1.0, 0.0) * x }"),
        "%1 = constant 0.0 : f64\n%2 = broadcast_in_dim axes=[] %1 : f64[n]\n%3 = compare gt x %2 : bool[n]\n\
         %4 = constant 1.0 : f64\n%5 = broadcast_in_dim axes=[] %4 : f64[n]\n\
         %6 = select %3 %5 %2 : f64[n]\n%7 = mul %6 x : f64[n]\nreturn %7"
    );
}

#[test]
fn rebinding_and_loops_are_unrolled() {
    assert_eq!(
        body("fn f(x: f64[n]) -> f64[n] { for i in 0..2 { x = x * x + i; } x }"),
        "%1 = mul x x : f64[n]\n%2 = constant 0.0 : f64\n%3 = broadcast_in_dim axes=[] %2 : f64[n]\n\
         %4 = add %1 %3 : f64[n]\n%5 = mul %4 %4 : f64[n]\n%6 = constant 1.0 : f64\n\
         %7 = broadcast_in_dim axes=[] %6 : f64[n]\n%8 = add %5 %7 : f64[n]\nreturn %8"
    );
}

#[test]
fn literals_do_not_grow_without_bound() {
    let nodes = program("fn f(x: f64) -> f64 { let s = 1.5; for _i in 0..60 { s = s * s; } s * x }").nodes().len();
    assert!(nodes < 100, "{nodes}");
    let text = "fn f(x: f64) -> f64 { for _i in 0..100 { for _j in 0..100 { x = x * x; } } x }";
    assert_eq!(super::support::errors(text).len(), 1);
}

#[test]
fn generics_make_one_variant_a_dtype() {
    let kernel = kernels("fn f<T: Num>(x: T[n]) -> T { sum(x * x) }").pop().unwrap();
    let variants = kernel.bodies.unwrap();
    let dtypes: Vec<Option<DType>> = variants.iter().map(|variant| variant.dtype).collect();
    let all = [DType::F32, DType::F64, DType::C32, DType::C64, DType::I32, DType::I64];
    assert_eq!(dtypes, all.map(Some));
    assert!(variants[0].derivatives.is_ok());
    assert!(variants[0].derivatives.as_ref().unwrap().scalar.is_some());
    assert!(variants[2].derivatives.as_ref().unwrap().scalar.is_none());
    assert!(variants[5].derivatives.as_ref().unwrap_err().contains("i64"));
    let text = "fn f<T: Num>(x: T[n]) -> T { sum(x * x) }";
    let tokens = tenferro_dsl::expand(text.parse().unwrap()).to_string();
    let doc = "Not differentiable: argument `x` is i32, which has no derivatives; with `T: Float` it could be.";
    assert!(tokens.contains(doc) && !tokens.contains("fn jvp"));
    let message = format!("`f` cannot be differentiated: {}", &doc[20..doc.len() - 1]);
    assert_eq!(errors(&format!("#[grad(x)] {text}")), [message]);
}

#[test]
fn sizes_are_solved_from_invertible_forms_and_guarded() {
    let p = program("fn f(x: f64[2*n], y: f64[n + 1]) -> f64[n] { let s = sum(x) + sum(y); broadcast(s, [n]) }");
    assert_eq!(p.bind(&[&[6], &[4]]).unwrap().to_vec(), [3]);
    assert!(p.bind(&[&[7], &[4]]).is_err());
    assert!(p.bind(&[&[6], &[5]]).is_err());
    let p = program("fn f(x: f64[n], y: f64[n / 2]) -> f64 { sum(x) + sum(y) }");
    assert!(p.bind(&[&[6], &[3]]).is_ok());
    let message = p.bind(&[&[7], &[3]]).unwrap_err().to_string();
    assert_eq!(message, "f: the exact division n / 2 needs n == 2*(n/2), but n = 7");
    let p = program("fn f(x: f64[n], y: f64[3]) -> f64[n] { x + y }");
    assert!(p.bind(&[&[3], &[3]]).is_ok());
    let message = p.bind(&[&[4], &[3]]).unwrap_err().to_string();
    assert_eq!(message, "f: `+` of `x` and `y` needs n == 3, but n = 4");
    let p = program("fn f(x: f64[n]) -> f64[n - 2] { broadcast(sum(x), [n - 2]) }");
    assert_eq!(p.bind(&[&[1]]).unwrap_err().to_string(), "f: an extent needs 0 <= n - 2, but n = 1");
    // The same demand twice, and turned round, is one guard.
    let p = program("fn f(x: f64[n], y: f64[3]) -> f64 { sum(x + y) + sum(y * x) + (y[i] * x[i] -> []) }");
    assert_eq!(p.guards().len(), 1);
    // A size that is bound by a later argument alone is not read off an earlier, compound axis.
    let p = program("fn f(x: f64[n * m], y: f64[n], z: f64[m]) -> f64 { sum(x) + sum(y) + sum(z) }");
    assert!(p.bind(&[&[6], &[2], &[3]]).is_ok());
}

#[test]
fn kernels_are_inlined_in_any_order() {
    let text = "fn f(x: f64[2, k], w: f64[k]) -> f64 { let (a, b) = g(x, w); a + sum(b) }
                fn g<T: Real>(x: T[n, m], w: T[m]) -> (T, T[n]) { let y[i] = x[i, j] * w[j]; (sum(w), y) }";
    let kernel = kernels(text).remove(0);
    let program = &kernel.bodies.unwrap()[0].primal;
    assert_eq!(
        program.to_string(),
        "program f(x: f64[2, k], w: f64[k]) -> f64 {\n  %2 = tenferro.einsum.v1 \"ij,j->i\" x w : f64[2]\n  \
         %3 = sum axes=[0] w : f64\n  %4 = sum axes=[0] %2 : f64\n  %5 = add %3 %4 : f64\n  return %5\n}\n"
    );
    // A kernel may carry the name of a function, and use it.
    body("fn softmax(x: f64[n, m]) -> f64[n, m] { softmax(x, axis = 1) }");
}

#[test]
fn what_a_call_cannot_tell_the_inputs_do() {
    let p = program(
        "fn g(x: f64[2*n]) -> f64[n] { sum(reshape(x, [2, n]), axis = 0) } fn f(x: f64[m]) -> f64[m / 2] { g(x) }",
    );
    assert!(p.bind(&[&[6]]).is_ok());
    assert!(p.bind(&[&[7]]).unwrap_err().to_string().contains("needs m == 2*(m/2), but m = 7"));
    let g = "fn g(x: f64[n + 3], y: f64[n]) -> f64 { sum(x) + sum(y) }";
    assert_eq!(errors(&format!("{g} fn f(x: f64[m], y: f64[m - 3]) -> f64 {{ g(x, y) }}")), [""; 0]);
    let h = "fn h(x: f64[2*n + 1]) -> f64[n] { broadcast(sum(x), [n]) }";
    let messages = errors(&format!("{h} fn f(x: f64[4]) -> f64 {{ sum(h(x)) }}"));
    assert_eq!(messages, ["argument `x` of `h` is declared [2*n + 1], but is [4], which no size `n` fits"]);
    assert_eq!(errors(&format!("{g} fn f(x: f64[2]) -> f64 {{ g(x, x) }}")).len(), 1);
    // A guard of the callee says where it comes from.
    let p = program("fn g(x: f64[n], y: f64[3]) -> f64 { sum(x + y) } fn f(x: f64[m], y: f64[3]) -> f64 { g(x, y) }");
    let message = p.bind(&[&[4], &[3]]).unwrap_err().to_string();
    assert_eq!(message, "f: `+` of `x` and `y` in g needs m == 3, but m = 4");
}

#[test]
fn anonymous_kernels_are_expressions() {
    let block = super::support::compile("|x: f64[n], w: f64[n, m]| -> f64[m] { x[i] * w[i, j] -> [j] }");
    assert!(block.expression && block.diagnostics.is_empty());
}

#[test]
fn einsum_literals_keep_marks_and_plans() {
    let einsum = |text: &str| body(text).lines().next().unwrap().to_string();
    assert_eq!(
        einsum("fn f(a: f64[n, 1], b: f64[d, k]) -> f64[n, k] { einsum(\"i#j,jk->ik\", a, b) }"),
        "%2 = tenferro.einsum.v1 \"i#j,jk->ik\" a b : f64[n, k]"
    );
    let chain = |option: &str| {
        einsum(&format!(
            "fn f(a: f64[n, m], b: f64[m, k], c: f64[k, n]) -> f64 {{ einsum(\"ij,jk,ki->\", a, b, c{option}) }}"
        ))
    };
    assert!(chain(", path = [(1, 2), (0, 1)]").contains("path = [(1, 2), (0, 1)]"));
    for options in [
        "optimize = greedy",
        "optimize = random_greedy(trials = 8, seed = 1)",
        "optimize = tree_sa(nbetas = 20, ntrials = 2, niters = 5, seed = 3)",
        "nested = ((0, 1), 2)",
        "objective = flops",
        "path = [(1, 2), (0, 1)], objective = size, memory_limit = 100",
        "optimize = greedy, objective = weighted(flops = 2, size = 1)",
    ] {
        assert!(chain(&format!(", {options}")).contains(&format!("\"ij,jk,ki->\", {options} a b c")), "{options}");
    }
    assert_eq!(
        einsum("fn f(a: f64[b, n, m], x: f64[m]) -> f64[b, n] { einsum(\"...ij,j->...i\", a, x) }"),
        "%2 = tenferro.einsum.v1 \"ijk,k->ij\" a x : f64[b, n]"
    );
}

#[test]
fn casts_complex_and_bool() {
    body("fn f(z: c64[n]) -> f64 { sum(real(z * conj(z))) + sum(abs(z)) + sum(imag(z)) }");
    body("fn f(m: bool[n], x: f64[n]) -> f64 { sum(m as f64 * x) + sum(select(!m || x >= 1.0 && x != 2.0, x, -x)) }");
    body("fn f(k: i32[n], x: f32[n]) -> f64[n] { x as f64 + k as f64 % 2.0 }");
    body("fn f(k: i64[n]) -> i64 { max(k) - min(k) + argmax(k) }");
    body(
        "fn f(x: f64[n, m, k]) -> f64[k, n] { transpose(max(x, axis = 1)) + transpose(mean(x, axis = 1), axes = (1, 0)) }",
    );
    body(
        "fn f(x: f64[n, m]) -> (a: f64[m * n], b: f64[n, m, 2]) { (reshape(x, [n * m]), broadcast(x, [n, m, 2], axes = (0, 1))) }",
    );
    body("fn f(x: f64) -> f64 { pow(clamp(x, -1, 1), 2) + gelu(x) + silu(x) + softplus(x) + relu(x) + sigmoid(x) }");
}

#[test]
fn derivative_programs_follow_grad() {
    let text = "#[grad(w, b)] fn mse(w: f64[d], b: f64, x: f64[n, d], y: f64[n]) -> f64 {
                    let r[i] = x[i, j] * w[j] + b - y[i];
                    mean(r * r)
                }";
    let kernel = kernels(text).pop().unwrap();
    assert_eq!(kernel.wrt, [0, 1]);
    let derivatives = kernel.bodies.unwrap().remove(0).derivatives.unwrap();
    let scalar = derivatives.scalar.unwrap();
    let outputs = |program: &tenferro_core::program::SemanticProgram| program.outputs().len();
    assert_eq!(
        [&derivatives.jvp, &derivatives.vjp, &scalar.grad, &scalar.value_and_grad, &scalar.hvp].map(outputs),
        [2, 3, 2, 3, 2]
    );
    let kernel = kernels("fn f(x: f64[n]) -> i64 { argmax(x) }").pop().unwrap();
    assert!(kernel.bodies.unwrap()[0].derivatives.as_ref().unwrap_err().contains("no result"));
}

#[test]
fn expansion_is_fast() {
    let kernel = |i: usize| {
        format!(
            "pub fn attention_{i}(q: f64[n, d], k: f64[m, d], v: f64[m, e]) -> f64[n, e] {{
                 let score[i, j] = q[i, c] * k[j, c] / sqrt(d);
                 let p[i, j] = softmax[j](score[i, j]);
                 einsum(\"nm,me->ne\", p, v)
             }}"
        )
    };
    let text: String = (0..10).map(kernel).collect();
    let tokens: proc_macro2::TokenStream = text.parse().unwrap();
    let start = std::time::Instant::now();
    let expansion = tenferro_dsl::expand(tokens);
    println!("10 kernels expand in {:?}", start.elapsed());
    assert!(!expansion.is_empty());
}

#[test]
fn divisions_of_extents_are_exact_wherever_they_stand() {
    for text in [
        "fn f(s: f64, _x: f64[n]) -> f64[n / 2] { s -> [i: n / 2] }",
        "fn f(s: f64, _x: f64[n]) -> f64[n / 2] { broadcast(s, [n / 2]) }",
        "fn f(s: f64, x: f64[n]) -> f64 { let y[i: n / 2] = s; sum(x) + sum(y) }",
    ] {
        let program = program(text);
        let reasons: Vec<&str> = program.guards().iter().map(|guard| &*guard.reason).collect();
        assert_eq!(reasons, ["the exact division n / 2"], "{text}");
    }
}
