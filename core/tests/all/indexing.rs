//! Operations steered by indices, and diagonals: shapes, text, and what is refused.

use tenferro_core::Result;
use tenferro_core::dtype::DType;
use tenferro_core::program::{ProgramBuilder, SemanticProgram, ValueId};
use tenferro_core::shape::SymDim;

/// A program over a matrix, a vector, indices of it and a matrix of indices.
fn program(body: fn(&mut ProgramBuilder, [ValueId; 4]) -> Result<ValueId>) -> Result<SemanticProgram> {
    let mut b = ProgramBuilder::new("f");
    let [n, m, k] = ["n", "m", "k"].map(|name| b.size(name));
    let x = b.input("x", DType::F64, &[n, m.clone()])?;
    let v = b.input("v", DType::F64, std::slice::from_ref(&m))?;
    let i = b.input("i", DType::I64, std::slice::from_ref(&k))?;
    let j = b.input("j", DType::I64, &[k, m])?;
    let y = body(&mut b, [x, v, i, j])?;
    // All sizes are bound by the inputs, used or not.
    b.finish(&[(None, y)])
}

#[test]
fn text_shows_axes_and_operands() {
    let text = |body| program(body).unwrap().to_string();
    let lines =
        |text: String| text.lines().filter(|l| l.contains('=')).map(|l| l.trim().to_string()).collect::<Vec<_>>();
    assert_eq!(lines(text(|b, [x, _, _, j]| b.gather(x, j, 0))), ["%4 = gather axis=0 x j : f64[k, m]"]);
    assert_eq!(
        lines(text(|b, [x, _, i, _]| b.take(x, i, 0))),
        ["%4 = broadcast_in_dim axes=[0] i : i64[k, m]", "%5 = gather axis=0 x %4 : f64[k, m]"]
    );
    assert_eq!(
        lines(text(|b, [_, v, _, j]| b.take(v, j, 0))),
        ["%4 = reshape j : i64[m*k]", "%5 = gather axis=0 v %4 : f64[m*k]", "%6 = reshape %5 : f64[k, m]",]
    );
    assert_eq!(lines(text(|b, [x, ..]| b.tril(x, [0, 1], -1))), ["%4 = tril row=0 column=1 k=-1 x : f64[n, m]"]);
    assert_eq!(
        lines(text(|b, [x, ..]| b.shape_of(x))),
        [
            "%4 = size n : i64",
            "%5 = reshape %4 : i64[1]",
            "%6 = size m : i64",
            "%7 = reshape %6 : i64[1]",
            "%8 = concatenate axis=0 %5 %7 : i64[2]",
        ]
    );
}

#[test]
fn diagonals_of_rectangles_are_main_ones_of_squares() {
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n.clone(), n]).unwrap();
    let main = b.extract_diag(x, 0, 1, 0).unwrap();
    assert_eq!(b.size_names().meta(b.meta(main)), "f64[n]");
    let beside = b.extract_diag(x, 0, 1, -2).unwrap();
    assert_eq!(b.size_names().meta(b.meta(beside)), "f64[n - 2]");
    let back = b.embed_diag(beside, -2).unwrap();
    assert_eq!(b.size_names().meta(b.meta(back)), "f64[n, n]");
    let program = b.finish(&[(None, back)]).unwrap();
    assert!(program.bind(&[&[2, 2]]).is_ok());
    assert!(program.bind(&[&[1, 1]]).unwrap_err().to_string().contains("2 <= n"), "{program}");
}

#[test]
fn diagonals_beyond_known_extents_are_empty() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[2.into(), 5.into(), 3.into()]).unwrap();
    for (offset, length) in [(-3, 0), (-2, 0), (-1, 1), (0, 2), (1, 2), (2, 1), (3, 0), (4, 0)] {
        let diagonal = b.extract_diag(x, 0, 2, offset).unwrap();
        assert_eq!(b.size_names().meta(b.meta(diagonal)), format!("f64[5, {length}]"), "{offset}");
    }
    for offset in [i64::MIN, i64::MAX] {
        let diagonal = b.extract_diag(x, 2, 0, offset).unwrap();
        assert_eq!(b.size_names().meta(b.meta(diagonal)), "f64[5, 0]");
    }
}

#[test]
fn wrong_operands_are_refused_with_operation_and_shapes() {
    type Wrong = fn(&mut ProgramBuilder, [ValueId; 4]) -> Result<ValueId>;
    let cases: &[(Wrong, &str)] = &[
        (|b, [x, _, _, j]| b.gather(x, j, 2), "gather: `axes` names axis 2, which rank 2 does not have"),
        (|b, [x, _, i, _]| b.take(x, i, 2), "take: `axis` names axis 2, which rank 2 does not have"),
        (|b, [x, v, ..]| b.gather(x, v, 0), "gather: `indices` is f64, expected i64"),
        (|b, [_, v, _, j]| b.gather(v, j, 0), "gather: `indices` has shape [k, m], expected [m] but along axis 0"),
        (|b, [x, v, _, j]| b.scatter(x, j, v, 0), "scatter: `updates` has shape [m], expected [k, m], as `indices`"),
        (|b, [x, _, _, j]| b.scatter_add(x, j, j, 0), "scatter_add: `updates` is i64, expected f64, as `x`"),
        (
            |b, [_, _, i, _]| {
                let truth = b.convert(i, DType::Bool)?;
                b.scatter_add(truth, i, truth, 0)
            },
            "scatter_add: `x` is bool, expected",
        ),
        (
            |b, [x, _, i, _]| b.dynamic_slice(x, i, &[1.into()]),
            "expected an axis for each entry of `sizes`, which has 1",
        ),
        (
            |b, [x, _, _, j]| b.dynamic_slice(x, j, &[1.into(), 1.into()]),
            "dynamic_slice: `starts` has shape [k, m], expected [2]",
        ),
        (|b, [x, v, i, _]| b.dynamic_update_slice(x, v, i), "`update` has shape [m], expected at most [n, m]"),
        (|b, [x, ..]| b.tril(x, [1, 1], 0), "`axes` [1, 1] names axis 1 twice"),
        (|b, [_, v, ..]| b.triu(v, [0, 1], 0), "triu: `axes` names axis 1"),
        (|b, [x, ..]| b.extract_diag(x, 0, 2, 1), "extract_diag: `axes` names axis 2"),
    ];
    for (wrong, part) in cases {
        let message = program(*wrong).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_part_that_never_fits_is_refused_and_others_are_guarded() {
    let part = |extent: i64| {
        let mut b = ProgramBuilder::new("f");
        let n = b.size("n");
        let x = b.input("x", DType::F64, &[n, SymDim::constant(3)]).unwrap();
        let starts = b.input("starts", DType::I64, &[SymDim::constant(2)]).unwrap();
        let y = b.dynamic_slice(x, starts, &[2.into(), SymDim::constant(extent)])?;
        b.finish(&[(None, y)])
    };
    assert!(part(4).unwrap_err().to_string().contains("must satisfy 4 <= 3"));
    let program = part(3).unwrap();
    assert!(program.bind(&[&[2, 3], &[2]]).is_ok());
    assert!(program.bind(&[&[1, 3], &[2]]).is_err());
}
