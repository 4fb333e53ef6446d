//! What is said of a prepared program.

use tenferro_core::program::ProgramBuilder;
use tenferro_core::{DType, Tensor, TensorRead};
use tenferro_runtime::Error;

use super::support::*;

#[test]
fn everything_is_said_in_order() {
    let program = program(&[("x", &["n", "3"])], |b, v, sizes| {
        let half = b.constant(0.5.into()).unwrap();
        let halves = b.broadcast_in_dim(half, &[sizes[0].clone(), 3.into()], &[]).unwrap();
        let scaled = b.mul(v[0], halves).unwrap();
        let exp = b.exp(scaled).unwrap();
        let flat = b.reshape(v[0], &[sizes[0].clone() * 3]).unwrap();
        let total = b.sum(exp, &[0, 1]).unwrap();
        vec![total, flat]
    });
    let runtime = runtime();
    let x = counting(&[2, 3]);
    let inputs = [TensorRead::from(&x)];
    let prepared = runtime.prepare(&program, &inputs, &[target()]).unwrap();
    let text = prepared.explain().to_string();
    let expected = "\
test: 4 commands on 1 engine
engines
    0  \"tenferro.reference.v1\" (tenferro_runtime::reference::ReferenceEngine)
prepared for
       dtypes and ranks
inputs
       x: f64[n, 3]
commands
    0  mul(x: f64[n, 3], %2: f64[n, 3]) -> %3: f64[n, 3] in slot 0; engine 0
       not fused: its engine prepares each elementwise operation as a command of its own
    1  exp(%3: f64[n, 3]) -> %4: f64[n, 3] in slot 1; engine 0; releases slot 0
       not fused: its engine prepares each elementwise operation as a command of its own
    2  compact(x: f64[n, 3]) -> %5: f64[3*n] in slot 2; engine 0
       only where the operand's strides do not allow a view
    3  sum(%4: f64[n, 3]) -> %6: f64 in slot 3; engine 0; releases slot 1
free, by layout or known before the run
       %1: f64 = constant 0.5
       %2: f64[n, 3] = broadcast_in_dim(%1)
       %5: f64[3*n] = reshape(x), or in slot 2 where strides need a copy
outputs
       %6: f64
       %5: f64[3*n]
buffers
    0  f64[n, 3] in host memory, serves 1 value
    1  f64[n, 3] in host memory, serves 1 value
    2  f64[3*n] in host memory, serves 1 value
    3  f64 in host memory, serves 1 value, 8 bytes
       bytes depend on sizes; see `Prepared::explain_with`
";
    assert_eq!(text, expected);
    let text = prepared.explain_with(&inputs).unwrap().to_string();
    assert!(text.contains("mul(x: f64[n, 3] = [2, 3], %2: f64[n, 3] = [2, 3])"), "{text}");
    assert!(text.contains("\n    2  f64[3*n] = [6] in host memory, serves 1 value, 48 bytes\n"), "{text}");
    assert!(text.ends_with("152 bytes in all (152 if none were shared), 104 bytes at most at once\n"), "{text}");
}

#[test]
fn shared_buffers_are_counted_once() {
    let chain = program(&[("x", &["n"])], |b, v, _| {
        let mut y = v[0];
        for _ in 0..5 {
            y = b.sin(y).unwrap();
        }
        vec![y]
    });
    let inputs = [counting(&[10])];
    let prepared = runtime().prepare(&chain, &reads(&inputs), &[target()]).unwrap();
    let text = prepared.explain_with(&reads(&inputs)).unwrap().to_string();
    assert!(text.ends_with("160 bytes in all (400 if none were shared), 160 bytes at most at once\n"), "{text}");
    // Inputs are checked as by a run.
    let error = prepared.explain_with(&[]).unwrap_err();
    assert!(matches!(error, Error::UnboundPlaceholder { call: "Prepared::explain_with", .. }), "{error}");
    let empty = prepared.explain_with(&reads(&[counting(&[0])])).unwrap().to_string();
    assert!(empty.ends_with("0 bytes in all (0 if none were shared), 0 bytes at most at once\n"), "{empty}");
}

#[test]
fn what_a_program_is_specialised_for_is_known() {
    let inputs = [counting(&[2, 3]), counting(&[3, 4])];
    let prepared = runtime().prepare(product(), &reads(&inputs), &[target()]).unwrap();
    let text = prepared.explain().to_string();
    assert!(text.contains("size `m` = 2, size `k` = 3, size `n` = 4"), "{text}");
    assert!(text.contains("einsum(a: f64[m, k] = [2, 3], b: f64[k, n] = [3, 4]) -> %2: f64[m, n] = [2, 4]"), "{text}");
    assert!(text.ends_with("64 bytes in all (64 if none were shared), 64 bytes at most at once\n"), "{text}");
}

#[test]
fn sizes_of_values_are_read_between_commands() {
    let mut b = ProgramBuilder::new("head");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let count = b.input("count", DType::I64, &[]).unwrap();
    let twice = b.add(count, count).unwrap();
    let head = b.dynamic_truncate(x, twice, 0).unwrap();
    let y = b.exp(head).unwrap();
    let program = std::sync::Arc::new(b.finish(&[(Some("y"), y)]).unwrap());
    let inputs = [counting(&[6]), Tensor::scalar(2_i64)];
    let prepared = runtime().prepare(&program, &reads(&inputs), &[target()]).unwrap();
    let text = prepared.explain_with(&reads(&inputs)).unwrap().to_string();
    let (add, read) =
        (text.find("add(count").unwrap(), text.find("waits, and reads a size off %2: i64; it is `k`").unwrap());
    assert!(add < read && read < text.find("exp(").unwrap(), "{text}");
    assert!(text.contains("bytes depend on sizes"), "{text}");
    assert!(text.contains("y = %"), "{text}");
}
