//! The table of core operations is whole: every row has its doc, derivative, kernels and reference values, and
//! `docs/ops.md` shows it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use tenferro::ad;
use tenferro::dtype::{DType, ScalarValue};
use tenferro::prelude::*;
use tenferro::program::ops::{Comparison, CoreOp, Derivative, OpClass, OutputDType, Row};
use tenferro::program::shape::SymDim;
use tenferro::program::{ProgramBuilder, SemanticProgram};
use tenferro::runtime::reference::{self, ReferenceEngine};
use tenferro::runtime::{Engine, Runtime};
use tenferro_testing::golden::{own_records, records};

use super::op_derivatives;

pub type Shapes = &'static [&'static [usize]];

const NONE: Shapes = &[];
const ONE: Shapes = &[&[2, 3]];
const TWO: Shapes = &[&[2, 3], &[2, 3]];
const THREE: Shapes = &[&[2, 3], &[2, 3], &[2, 3]];
const SQUARE: Shapes = &[&[3, 3]];

/// One of each operation with the shapes of its operands. An operation that is missing here does not compile.
macro_rules! operations {
    ($($pattern:pat => $op:expr, $shapes:expr;)*) => {
        pub fn operations() -> Vec<(CoreOp, Shapes)> {
            use CoreOp::*;
            vec![$(($op, $shapes)),*]
        }

        #[allow(dead_code)]
        fn is_listed(op: &CoreOp) {
            use CoreOp::*;
            match op {
                $($pattern => {})*
            }
        }
    };
}

operations! {
    Constant(_) => Constant(ScalarValue::F64(1.0)), NONE;
    SizeValue { .. } => SizeValue { dim: 7.into(), dtype: DType::I64 }, NONE;
    Iota { .. } => Iota { shape: dims(&[2, 3]), axis: 0, dtype: DType::F64 }, NONE;
    Neg => Neg, ONE;
    Abs => Abs, ONE;
    Sign => Sign, ONE;
    Exp => Exp, ONE;
    Expm1 => Expm1, ONE;
    Log => Log, ONE;
    Log1p => Log1p, ONE;
    Sin => Sin, ONE;
    Cos => Cos, ONE;
    Tan => Tan, ONE;
    Asin => Asin, ONE;
    Acos => Acos, ONE;
    Atan => Atan, ONE;
    Sinh => Sinh, ONE;
    Cosh => Cosh, ONE;
    Tanh => Tanh, ONE;
    Sqrt => Sqrt, ONE;
    Rsqrt => Rsqrt, ONE;
    Cbrt => Cbrt, ONE;
    Erf => Erf, ONE;
    Erfc => Erfc, ONE;
    Floor => Floor, ONE;
    Ceil => Ceil, ONE;
    Round => Round, ONE;
    Conj => Conj, ONE;
    Real => Real, ONE;
    Imag => Imag, ONE;
    Not => Not, ONE;
    IsFinite => IsFinite, ONE;
    Convert(_) => Convert(DType::C64), ONE;
    Add => Add, TWO;
    Sub => Sub, TWO;
    Mul => Mul, TWO;
    Div => Div, TWO;
    Rem => Rem, TWO;
    Pow => Pow, TWO;
    Atan2 => Atan2, TWO;
    Complex => Complex, TWO;
    Maximum => Maximum, TWO;
    Minimum => Minimum, TWO;
    And => And, TWO;
    Or => Or, TWO;
    Compare(Comparison::Eq | Comparison::Ne) => Compare(Comparison::Eq), TWO;
    Compare(_) => Compare(Comparison::Lt), TWO;
    Select => Select, THREE;
    StopGradient => StopGradient, ONE;
    Transpose { .. } => Transpose { axes: vec![1, 0].into() }, ONE;
    Reshape { .. } => Reshape { shape: dims(&[3, 2]) }, ONE;
    BroadcastInDim { .. } => BroadcastInDim { shape: dims(&[2, 4, 3]), axes: vec![0, 2].into() }, ONE;
    Slice { .. } => Slice { start: dims(&[0, 1]), limit: dims(&[2, 3]), stride: vec![2, 1].into() }, ONE;
    Reverse { .. } => Reverse { axes: vec![1].into() }, ONE;
    ExtractDiag { .. } => ExtractDiag { axis_a: 0, axis_b: 1 }, SQUARE;
    EmbedDiag => EmbedDiag, ONE;
    Pad { .. } => Pad { low: dims(&[1, 0]), high: dims(&[0, -1]), interior: vec![0, 1].into() }, &[&[2, 3], &[]];
    Concatenate { .. } => Concatenate { axis: 1 }, TWO;
    Tril { .. } => Tril { row: 0, column: 1, k: 0 }, SQUARE;
    Triu { .. } => Triu { row: 0, column: 1, k: 0 }, SQUARE;
    Gather { .. } => Gather { axis: 1 }, TWO;
    Scatter { .. } => Scatter { axis: 1 }, THREE;
    ScatterAdd { .. } => ScatterAdd { axis: 1 }, THREE;
    DynamicSlice { .. } => DynamicSlice { sizes: dims(&[1, 2]) }, &[&[2, 3], &[2]];
    DynamicUpdateSlice => DynamicUpdateSlice, &[&[2, 3], &[1, 2], &[2]];
    Sum { .. } => Sum { axes: vec![1].into() }, ONE;
    Prod { .. } => Prod { axes: vec![1].into() }, ONE;
    Max { .. } => Max { axes: vec![1].into() }, ONE;
    Min { .. } => Min { axes: vec![1].into() }, ONE;
    Any { .. } => Any { axes: vec![1].into() }, ONE;
    All { .. } => All { axes: vec![1].into() }, ONE;
    ArgMax { .. } => ArgMax { axis: 1 }, ONE;
    ArgMin { .. } => ArgMin { axis: 1 }, ONE;
    CumSum { .. } => CumSum { axis: 1 }, ONE;
    CumProd { .. } => CumProd { axis: 1 }, ONE;
    LinearRecurrence { .. } => LinearRecurrence { axis: 1 }, TWO;
}

fn dims(extents: &[i64]) -> std::borrow::Cow<'static, [SymDim]> {
    extents.iter().map(|&extent| extent.into()).collect()
}

/// The program of one operation on data operands of a dtype.
pub fn program(op: &CoreOp, shapes: Shapes, dtype: DType) -> tenferro_core::Result<SemanticProgram> {
    // What has no operands is asked for its dtype.
    let mut op = op.clone();
    match &mut op {
        CoreOp::SizeValue { dtype: asked, .. } | CoreOp::Iota { dtype: asked, .. } => *asked = dtype,
        CoreOp::Constant(value) => *value = ScalarValue::one(dtype),
        _ => {}
    }
    let op = &op;
    let mut b = ProgramBuilder::new(op.name());
    let mut operands = Vec::new();
    for (i, shape) in shapes.iter().enumerate() {
        let shape: Vec<SymDim> = shape.iter().map(|&extent| extent.into()).collect();
        operands.push(b.input(format!("x{i}"), op.row().control(i).unwrap_or(dtype), &shape)?);
    }
    let output = b.op(op.clone(), &operands)?;
    b.finish(&[(None, output)])
}

#[test]
fn every_row_has_a_name_a_doc_and_a_derivative_or_the_reason_for_none() {
    let tested = op_derivatives::operations();
    for (op, shapes) in operations() {
        let row = op.row();
        assert!(!row.name.is_empty() && !row.doc.is_empty(), "{op:?}");
        match row.derivative {
            Derivative::Zero(why) => assert!(!why.is_empty(), "{op:?} does not say why it has no derivative"),
            _ => {
                assert!(tested.contains(row.name), "no case of op_derivatives has `{}`", row.name);
                for dtype in row.dtypes.iter().filter(|dtype| dtype.is_float()) {
                    let program = program(&op, shapes, dtype).unwrap();
                    let wrt: Vec<usize> =
                        (0..shapes.len()).filter(|&i| program.input_meta(i).dtype.is_float()).collect();
                    ad::vjp(&program, &wrt, &ad::AdContext::new()).unwrap();
                }
            }
        }
    }
}

#[test]
fn every_row_has_a_shape_rule_and_a_reference_kernel_for_its_dtypes_and_refuses_others() {
    let runtime = Runtime::builder().register_engine(reference::registration()).unwrap().build().unwrap();
    let target = ReferenceEngine::new().target();
    for (op, shapes) in operations() {
        for dtype in DType::ALL {
            let program = program(&op, shapes, dtype);
            if !op.row().dtypes.contains(dtype) {
                let error = program.map(|_| ()).unwrap_err();
                assert!(matches!(error, tenferro_core::Error::DType { .. }), "{op:?} of {dtype}: {error}");
                continue;
            }
            let program = program.unwrap_or_else(|error| panic!("{op:?} of {dtype}: {error}"));
            let inputs: Vec<(DType, &[usize])> =
                shapes.iter().enumerate().map(|(i, shape)| (program.input_meta(i).dtype, *shape)).collect();
            let prepared =
                runtime.prepare_for_shapes(std::sync::Arc::new(program), &inputs, std::slice::from_ref(&target));
            if let Err(error) = prepared {
                panic!("{op:?} of {dtype}: {error}");
            }
        }
    }
}

#[test]
fn every_row_has_reference_values() {
    let golden: Vec<_> = ["elementwise.jsonl", "structural.jsonl"].into_iter().flat_map(records).collect();
    if golden.len() < 100 {
        println!("the golden data are not here, only the small subset: nothing to check");
        return;
    }
    let records = golden.into_iter().chain(own_records());
    let names: BTreeSet<String> = records.map(|record| record.text("op").to_string()).collect();
    for (op, _) in operations() {
        let name = match op {
            CoreOp::Sum { .. } | CoreOp::Prod { .. } | CoreOp::Max { .. } | CoreOp::Min { .. } => {
                format!("reduce_{}", op.name())
            }
            CoreOp::Gather { .. } => "take_along_axis".to_string(),
            _ => op.name().to_string(),
        };
        assert!(names.contains(&name), "no record has `{name}`");
    }
}

/// The page of a table that is current.
fn page() -> String {
    let mut page = String::from(
        "# Core operations\n\n\
         Generated from the table in `core/src/ops` by `TENFERRO_BLESS=1 cargo test --test all table`.\n\n\
         An operation yields one value. *Result* is its dtype: \"same\" is that of the data operands, which agree.\n\
         *Derivative* tells how the operation is differentiated, to any order: *linear* ones act on tangents as they\n\
         do on values; *multilinear* ones are linear in some operands while the others are held; *nonlinear* ones have a\n\
         tangent made of linear operations; \"none\" gives the reason.\n",
    );
    let classes = [
        (OpClass::Creation, "Creation", "The shape is an attribute, or that of a scalar."),
        (
            OpClass::Elementwise,
            "Elementwise",
            "Operands have one shape, which is the result's: broadcasting is explicit.",
        ),
        (OpClass::Layout, "Layout", "The result is a view of the operand; its shape is as said below."),
        (OpClass::Movement, "Movement", "Entries go to other places; the shape is as said below."),
        (
            OpClass::Reduction,
            "Reduction",
            "Axes that are combined vanish; scans (`cumsum` and its kin) keep the shape.",
        ),
    ];
    for (class, title, shape) in classes {
        // Writing to a string does not fail.
        let _ = write!(page, "\n## {title}\n\n{shape}\n\n");
        page += "| operation | operands | dtypes | result | derivative | meaning |\n| --- | --- | --- | --- | --- | --- |\n";
        for (op, _) in operations().iter().filter(|(op, _)| op.class() == class) {
            page += &line(op.row());
        }
    }
    page += "\n## Sizes that are read off data\n\n";
    page += DATA_DEPENDENT;
    page
}

/// What is written with operations that have rows.
const DATA_DEPENDENT: &str = "\
The extents above are made of sizes that are read off the inputs' shapes, or off integer scalars that the program
computes: `ProgramBuilder::size_of_value` makes an i32 or i64 scalar a size with an upper bound. One value is one size,
so operands that are truncated by it agree. A run fails where the value is negative or above its bound. What is known
of an extent before that, `SemanticProgram::extent` tells: it is `Exact`, or has an `UpperBound`.

| method of the builder | made of | meaning |
| --- | --- | --- |
| `dynamic_truncate(x, size, axis)` | `slice` | the first `size` entries along an axis, a view |
| `pad_to_match(x, like, axis)` | `pad` | zeros after the entries along an axis, up to the extent of `like` |
| `shape_of(x)` | `size` | the extents of x, i64 |
";

fn line(row: &Row) -> String {
    let operand = |(i, name): (usize, &&str)| match row.control(i) {
        Some(dtype) => format!("{name}: {dtype}"),
        None => name.to_string(),
    };
    let operands: Vec<String> = row.operands.iter().enumerate().map(operand).collect();
    let (operands, dtypes) = match row.arity() {
        Some(0) => (String::new(), String::new()),
        Some(_) => (operands.join(", "), row.dtypes.to_string()),
        None => ("any number".to_string(), row.dtypes.to_string()),
    };
    let result = match row.output {
        OutputDType::Same => "same".to_string(),
        OutputDType::Real => "same, real of complex".to_string(),
        OutputDType::Complex => "complex".to_string(),
        OutputDType::Fixed(dtype) => dtype.to_string(),
        OutputDType::Attribute(_) => "as asked".to_string(),
    };
    let derivative = match row.derivative {
        Derivative::Linear(_) => "linear".to_string(),
        Derivative::Multilinear(..) => "multilinear".to_string(),
        Derivative::Nonlinear(_) => "nonlinear".to_string(),
        Derivative::Zero(why) => format!("none: {why}"),
    };
    let doc = row.doc.replace('|', "\\|");
    format!("| `{}` | {operands} | {dtypes} | {result} | {derivative} | {doc} |\n", row.name)
}

#[test]
fn the_page_of_operations_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ops.md");
    if std::env::var_os("TENFERRO_BLESS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == page(), "docs/ops.md is not current: run with TENFERRO_BLESS=1");
}
