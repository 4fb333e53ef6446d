//! Programs: building, binding, printing, verifying, inlining.

use tenferro_core::ad::{self, AdContext};
use tenferro_core::dtype::{DType, ScalarValue};
use tenferro_core::ops::{Comparison, CoreOp};
use tenferro_core::program::{ProgramBuilder, Relation, SemanticProgram, SizeBinding, ValueId};
use tenferro_core::shape::SymDim;
use tenferro_core::{Error, Result, composite};

fn linear_model() -> Result<SemanticProgram> {
    let mut b = ProgramBuilder::new("residual");
    let [n, d] = [b.size("n"), b.size("d")];
    let w = b.input("w", DType::F64, std::slice::from_ref(&d))?;
    let x = b.input("x", DType::F64, &[n.clone(), d.clone()])?;
    let y = b.input("y", DType::F64, std::slice::from_ref(&n))?;
    let wide = b.broadcast_in_dim(w, &[n, d], &[1])?;
    let product = b.mul(x, wide)?;
    let prediction = b.sum(product, &[1])?;
    let residual = b.sub(prediction, y)?;
    let square = b.mul(residual, residual)?;
    let loss = composite::mean(&mut b, square, &[0])?;
    b.finish(&[(None, loss)])
}

#[test]
fn text_form_shows_sizes_attributes_and_names() {
    assert_eq!(
        linear_model().unwrap().to_string(),
        "\
program residual<n, d>(w: f64[d], x: f64[n, d], y: f64[n]) -> f64 {
  %3 = broadcast_in_dim axes=[1] w : f64[n, d]
  %4 = mul x %3 : f64[n, d]
  %5 = sum axes=[1] %4 : f64[n]
  %6 = sub %5 y : f64[n]
  %7 = mul %6 %6 : f64[n]
  %8 = sum axes=[0] %7 : f64
  %9 = size n : f64
  %10 = div %8 %9 : f64
  return %10
}
"
    );
}

#[test]
fn gradient_program_is_small_and_readable() {
    let gradient = ad::grad(&linear_model().unwrap(), &[0], &AdContext::new()).unwrap();
    gradient.verify().unwrap();
    assert!(gradient.nodes().len() <= 16, "{gradient}");
    assert_eq!(gradient.outputs()[0].name.as_deref(), Some("d_w"));
    assert_eq!(gradient.output_meta(0), gradient.input_meta(0));
}

#[test]
fn unused_operations_are_dropped_and_equal_ones_shared() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[]).unwrap();
    let _unused = b.sin(x).unwrap();
    let (a, c) = (b.exp(x).unwrap(), b.exp(x).unwrap());
    let y = b.add(a, c).unwrap();
    assert_eq!(b.finish(&[(None, y)]).unwrap().nodes().len(), 2);
}

#[test]
fn binding_names_the_size_and_both_places() {
    let program = linear_model().unwrap();
    assert_eq!(&program.bind(&[&[4], &[5, 4], &[5]]).unwrap()[..], [5, 4]);
    let message = |shapes: &[&[usize]]| program.bind(shapes).unwrap_err().to_string();
    assert_eq!(message(&[&[4], &[5, 3], &[5]]), "residual: size `d`: 4 on axis 0 of `w`, 3 on axis 1 of `x`");
    assert_eq!(message(&[&[4], &[5, 4], &[6]]), "residual: size `n`: 5 on axis 0 of `x`, 6 on axis 0 of `y`");
    assert!(message(&[&[4], &[5], &[5]]).contains("`x` has rank 1 (shape [5]), but is declared f64[n, d]"));
    assert!(message(&[&[4]]).contains("takes 3 inputs, but 1 were given"));
}

#[test]
fn sizes_are_solved_from_invertible_forms() {
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[&n * 2 + 1]).unwrap();
    let y = b.input("y", DType::F64, &[&n + 3, SymDim::constant(4)]).unwrap();
    let program = b.finish(&[(None, x), (None, y)]).unwrap();
    assert_eq!(&program.bind(&[&[7], &[6, 4]]).unwrap()[..], [3]);
    for (shapes, part) in [
        ([&[8][..], &[6, 4]], "axis 0 of `x` is 2*n + 1, but has extent 8, which no size `n` fits"),
        ([&[0], &[6, 4]], "which no size `n` fits"),
        ([&[7], &[7, 4]], "axis 0 of `y` must have extent n + 3 = 6 with n = 3, but has 7"),
        ([&[7], &[6, 5]], "axis 1 of `y` must have extent 4, but has 5"),
    ] {
        let message = program.bind(&shapes).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_size_that_no_input_determines_is_refused() {
    let mut b = ProgramBuilder::new("f");
    let (n, m) = (b.size("n"), b.size("m"));
    let x = b.input("x", DType::F64, &[n * m]).unwrap();
    let error = b.finish(&[(None, x)]).unwrap_err().to_string();
    assert!(error.contains("size `n` is not determined by any input"), "{error}");
}

#[test]
fn undecided_equalities_become_guards() {
    let mut b = ProgramBuilder::new("f");
    let (n, m) = (b.size("n"), b.size("m"));
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let y = b.input("y", DType::F64, &[m]).unwrap();
    let z = b.add(x, y).unwrap();
    let program = b.finish(&[(None, z)]).unwrap();
    assert_eq!(program.guards().len(), 1);
    assert!(program.bind(&[&[3], &[3]]).is_ok());
    let message = program.bind(&[&[3], &[4]]).unwrap_err().to_string();
    assert_eq!(message, "f: `add` (extents of elementwise operands) needs n == m, but n = 3, m = 4");
}

type Wrong = fn(&mut ProgramBuilder, ValueId, ValueId, ValueId) -> Result<ValueId>;

#[test]
fn wrong_operands_are_refused_with_operation_and_shapes() {
    let cases: &[(Wrong, &str)] = &[
        (|b, x, y, _| b.add(x, y), "add: `b` has shape [4], expected [3], as `a`"),
        (|b, x, _, i| b.mul(x, i), "mul: `b` is i64, expected f64, as `a`"),
        (|b, _, _, i| b.exp(i), "exp: `x` is i64, expected"),
        (|b, x, _, _| b.sum(x, &[1]), "sum: `axes` names axis 1, which rank 1 does not have"),
        (|b, x, _, _| b.max(x, &[0, 0]), "`axes` [0, 0] names axis 0 twice"),
        (|b, x, _, _| b.transpose(x, &[1]), "transpose: `axes` names axis 1"),
        (
            |b, x, _, _| b.transpose(x, &[]),
            "transpose: `x` has shape [3], expected an axis for each entry of `axes`, which has 0",
        ),
        (
            |b, x, _, _| b.reshape(x, &[SymDim::constant(4)]),
            "reshape: `x` has shape [3], expected as many entries as [4] has",
        ),
        (
            |b, x, _, _| b.broadcast_in_dim(x, &[SymDim::constant(4)], &[0]),
            "broadcast_in_dim: `x` has shape [3], expected extents 1 or those of [4] on its axes [0]",
        ),
        (|b, x, y, _| b.select(x, x, y), "select: `condition` is f64, expected bool"),
        (|b, x, _, _| b.op(CoreOp::Add, &[x]), "add: `operands` must be 2, not 1"),
        (
            |b, x, _, _| {
                b.op(
                    CoreOp::Slice {
                        start: vec![0.into()].into(),
                        limit: vec![4.into()].into(),
                        stride: vec![1].into(),
                    },
                    &[x],
                )
            },
            "slice: `limit of a slice` must satisfy 4 <= 3; `x` is [3]",
        ),
        (|b, x, _, _| b.op(CoreOp::Concatenate { axis: 1 }, &[x, x]), "names axis 1"),
        (|b, _, _, _| b.exp(ValueId(99)), "%99 is no value of it"),
    ];
    for (wrong, part) in cases {
        let mut b = ProgramBuilder::new("f");
        let x = b.input("x", DType::F64, &[SymDim::constant(3)]).unwrap();
        let y = b.input("y", DType::F64, &[SymDim::constant(4)]).unwrap();
        let i = b.input("i", DType::I64, &[SymDim::constant(3)]).unwrap();
        let message = wrong(&mut b, x, y, i).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

/// Every public method that takes values refuses one of another builder, whatever its other arguments.
#[test]
fn values_of_another_builder_are_refused() {
    type Call = fn(&mut ProgramBuilder, ValueId, ValueId) -> Result<ValueId>;
    let two: [SymDim; 1] = [2.into()];
    let identity = {
        let mut b = ProgramBuilder::new("identity");
        let x = b.input("x", DType::F64, &two).unwrap();
        b.finish(&[(None, x)]).unwrap()
    };
    macro_rules! calls {
        ($($name:literal |$b:ident, $x:ident, $v:ident| $call:expr;)*) => {
            [$(($name, (|$b, $x, $v| $call) as Call)),*]
        };
    }
    // `v` is the value in question, `x` one of the builder.
    let calls = calls! {
        "op" |b, _x, v| b.op(CoreOp::Exp, &[v]);
        "exp" |b, _x, v| b.exp(v);
        "add" |b, x, v| b.add(x, v);
        "add" |b, x, v| b.add(v, x);
        "mul" |b, x, v| b.mul(x, v);
        "mul" |b, x, v| b.mul(v, x);
        "div" |b, x, v| b.div(x, v);
        "div" |b, x, v| b.div(v, x);
        "conj" |b, _x, v| b.conj(v);
        "real" |b, _x, v| b.real(v);
        "imag" |b, _x, v| b.imag(v);
        "convert" |b, _x, v| b.convert(v, DType::F32);
        "compare" |b, x, v| b.compare(Comparison::Eq, x, v);
        "select" |b, x, v| b.select(v, x, x);
        "sum" |b, _x, v| b.sum(v, &[0]);
        "sum over none" |b, _x, v| b.sum(v, &[]);
        "any" |b, _x, v| b.any(v, &[]);
        "cumsum" |b, _x, v| b.cumsum(v, 0);
        "linear_recurrence" |b, x, v| b.linear_recurrence(x, v, 0);
        "transpose" |b, _x, v| b.transpose(v, &[0]);
        "reshape" |b, _x, v| b.reshape(v, &[2.into()]);
        "broadcast_in_dim" |b, _x, v| b.broadcast_in_dim(v, &[2.into()], &[0]);
        "constant_like" |b, _x, v| b.constant_like(v, 1.0);
        "take" |b, x, v| b.take(x, v, 0);
        "take" |b, x, v| b.take(v, x, 0);
        "gather" |b, x, v| b.gather(x, v, 0);
        "gather" |b, x, v| b.gather(v, x, 0);
        "scatter" |b, x, v| b.scatter(v, x, x, 0);
        "scatter" |b, x, v| b.scatter(x, v, x, 0);
        "scatter" |b, x, v| b.scatter(x, x, v, 0);
        "scatter_add" |b, x, v| b.scatter_add(v, x, x, 0);
        "scatter_add" |b, x, v| b.scatter_add(x, v, x, 0);
        "scatter_add" |b, x, v| b.scatter_add(x, x, v, 0);
        "dynamic_slice" |b, x, v| b.dynamic_slice(v, x, &[1.into()]);
        "dynamic_update_slice" |b, x, v| b.dynamic_update_slice(x, x, v);
        "dynamic_truncate" |b, x, v| b.dynamic_truncate(x, v, 0);
        "dynamic_truncate" |b, x, v| b.dynamic_truncate(v, x, 0);
        "pad_to_match" |b, x, v| b.pad_to_match(x, v, 0);
        "pad_to_match" |b, x, v| b.pad_to_match(v, x, 0);
        "size_of_value" |b, x, v| b.size_of_value("k", v, &2.into()).map(|_| x);
        "tril" |b, _x, v| b.tril(v, [0, 1], 0);
        "extract_diag" |b, _x, v| b.extract_diag(v, 0, 1, 1);
        "embed_diag" |b, _x, v| b.embed_diag(v, 1);
        "shape_of" |b, _x, v| b.shape_of(v);
        "sigmoid" |b, _x, v| composite::sigmoid(b, v);
        "softplus" |b, _x, v| composite::softplus(b, v);
        "silu" |b, _x, v| composite::silu(b, v);
        "relu" |b, _x, v| composite::relu(b, v);
        "gelu" |b, _x, v| composite::gelu(b, v);
        "gelu_tanh" |b, _x, v| composite::gelu_tanh(b, v);
        "clamp" |b, x, v| composite::clamp(b, x, v, x);
        "clamp" |b, x, v| composite::clamp(b, x, x, v);
        "mean" |b, _x, v| composite::mean(b, v, &[]);
        "var" |b, _x, v| composite::var(b, v, &[], 0);
        "std" |b, _x, v| composite::std(b, v, &[], 0);
        "layer_norm" |b, _x, v| composite::layer_norm(b, v, None, None, &[0], 0.0);
        "layer_norm" |b, x, v| composite::layer_norm(b, x, Some(v), None, &[0], 0.0);
        "layer_norm" |b, x, v| composite::layer_norm(b, x, None, Some(v), &[0], 0.0);
        "rms_norm" |b, _x, v| composite::rms_norm(b, v, None, &[0], 0.0);
        "logsumexp" |b, _x, v| composite::logsumexp(b, v, &[]);
        "softmax" |b, _x, v| composite::softmax(b, v, &[]);
        "masked_softmax" |b, x, v| composite::masked_softmax(b, x, v, &[0]);
        "masked_softmax" |b, x, v| composite::masked_softmax(b, v, x, &[0]);
        "log_softmax" |b, _x, v| composite::log_softmax(b, v, &[]);
        "expand" |b, x, v| composite::expand(b, x, v, &[]);
        "expand" |b, x, v| composite::expand(b, v, x, &[]);
        "one_hot" |b, _x, v| composite::one_hot(b, v, &2.into(), DType::F64);
        "argmax" |b, _x, v| composite::argmax(b, v, 0);
    };
    for (name, call) in calls {
        let mut b = ProgramBuilder::new("f");
        let x = b.input("x", DType::F64, &two).unwrap();
        let message = call(&mut b, x, ValueId(99)).unwrap_err().to_string();
        assert!(message.contains("%99 is no value of it"), "{name}: {message}");
    }
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &two).unwrap();
    assert!(!b.is_one(ValueId(99)));
    let message = b.call(&identity, &[ValueId(99)]).unwrap_err().to_string();
    assert!(message.contains("%99 is no value of it"), "{message}");
    assert!(b.finish(&[(None, x), (None, ValueId(99))]).is_err());
}

/// Calls that would return their operand refuse what the operation refuses.
#[test]
fn shorthands_have_the_dtype_rule_of_their_operation() {
    for dtype in DType::ALL {
        let mut b = ProgramBuilder::new("f");
        let x = b.input("x", dtype, &[2.into()]).unwrap();
        let one = b.constant(ScalarValue::one(dtype)).unwrap();
        let one = b.broadcast_in_dim(one, &[2.into()], &[0][..0]).unwrap();
        let none = || Vec::new().into();
        for (name, op, operands, shorthand) in [
            ("mul", CoreOp::Mul, vec![x, one], b.mul(x, one)),
            ("mul", CoreOp::Mul, vec![one, x], b.mul(one, x)),
            ("div", CoreOp::Div, vec![x, one], b.div(x, one)),
            ("conj", CoreOp::Conj, vec![x], b.conj(x)),
            ("real", CoreOp::Real, vec![x], b.real(x)),
            ("sum", CoreOp::Sum { axes: none() }, vec![x], b.sum(x, &[])),
            ("prod", CoreOp::Prod { axes: none() }, vec![x], b.prod(x, &[])),
            ("max", CoreOp::Max { axes: none() }, vec![x], b.max(x, &[])),
            ("min", CoreOp::Min { axes: none() }, vec![x], b.min(x, &[])),
            ("any", CoreOp::Any { axes: none() }, vec![x], b.any(x, &[])),
            ("all", CoreOp::All { axes: none() }, vec![x], b.all(x, &[])),
        ] {
            match (b.op(op, &operands), shorthand) {
                (Err(error), Err(same)) => assert_eq!(error.to_string(), same.to_string(), "{name} of {dtype}"),
                (Ok(made), Ok(value)) => {
                    assert_eq!(b.meta(made), b.meta(value), "{name} of {dtype}");
                    // Products of complex numbers by 1 multiply their parts by 0 too.
                    let product = matches!(name, "mul" | "div") && dtype.is_complex();
                    assert!(!product || value != x, "{name} of {dtype}");
                }
                (made, value) => panic!("{name} of {dtype}: {made:?}, but {value:?}"),
            }
        }
        for dim in [3.into(), b.size("n")] {
            let made = b.op(CoreOp::SizeValue { dim: dim.clone(), dtype }, &[]);
            let value = b.size_value(&dim, dtype);
            assert_eq!(made.is_ok(), dtype != DType::Bool);
            assert_eq!(made.map(|v| b.meta(v).clone()), value.map(|v| b.meta(v).clone()), "size of {dtype}");
        }
    }
}

/// What the doc of each composite says of dtypes.
#[test]
fn composites_refuse_dtypes_that_they_are_not_for() {
    use tenferro_core::DTypeSet as Set;
    type Call = fn(&mut ProgramBuilder, ValueId) -> Result<ValueId>;
    let calls: [(&str, Set, Call); 21] = [
        ("sigmoid", Set::FLOAT, composite::sigmoid),
        ("softplus", Set::REAL_FLOAT, composite::softplus),
        ("silu", Set::REAL_FLOAT, composite::silu),
        ("relu", Set::ORDERED, composite::relu),
        ("gelu", Set::REAL_FLOAT, composite::gelu),
        ("gelu_tanh", Set::REAL_FLOAT, composite::gelu_tanh),
        ("clamp", Set::ORDERED, |b, x| composite::clamp(b, x, x, x)),
        ("mean", Set::FLOAT, |b, x| composite::mean(b, x, &[0])),
        ("mean of none", Set::FLOAT, |b, x| composite::mean(b, x, &[])),
        ("var", Set::FLOAT, |b, x| composite::var(b, x, &[0], 1)),
        ("std", Set::FLOAT, |b, x| composite::std(b, x, &[0], 1)),
        ("layer_norm", Set::REAL_FLOAT, |b, x| composite::layer_norm(b, x, Some(x), Some(x), &[0], 1e-5)),
        ("rms_norm", Set::REAL_FLOAT, |b, x| composite::rms_norm(b, x, Some(x), &[0], 1e-5)),
        ("logsumexp", Set::REAL_FLOAT, |b, x| composite::logsumexp(b, x, &[0])),
        ("logsumexp of none", Set::REAL_FLOAT, |b, x| composite::logsumexp(b, x, &[])),
        ("softmax", Set::REAL_FLOAT, |b, x| composite::softmax(b, x, &[0])),
        ("masked_softmax", Set::REAL_FLOAT, |b, x| {
            let mask = b.compare(Comparison::Eq, x, x)?;
            composite::masked_softmax(b, x, mask, &[0])
        }),
        ("log_softmax", Set::REAL_FLOAT, |b, x| composite::log_softmax(b, x, &[0])),
        ("expand", Set::ALL, |b, x| composite::expand(b, x, x, &[])),
        ("one_hot", Set::INTEGER, |b, x| composite::one_hot(b, x, &3.into(), DType::F32)),
        ("argmax", Set::ORDERED, |b, x| composite::argmax(b, x, 0)),
    ];
    for (name, accepted, call) in calls {
        for dtype in DType::ALL {
            let mut b = ProgramBuilder::new("f");
            let x = b.input("x", dtype, &[2.into()]).unwrap();
            match call(&mut b, x) {
                Ok(_) => assert!(accepted.contains(dtype), "{name} of {dtype} is accepted"),
                Err(error) => {
                    assert!(!accepted.contains(dtype), "{name} of {dtype}: {error}");
                    assert!(matches!(error, Error::DType { .. }), "{name} of {dtype}: {error}");
                }
            }
        }
    }
}

#[test]
fn complex_numbers_have_no_order() {
    let mut b = ProgramBuilder::new("f");
    let z = b.input("z", DType::C64, &[]).unwrap();
    assert!(b.compare(Comparison::Eq, z, z).is_ok());
    assert!(matches!(b.compare(Comparison::Lt, z, z), Err(Error::DType { .. })));
}

#[test]
fn a_program_is_inlined_with_its_sizes_solved() {
    let model = linear_model().unwrap();
    let mut b = ProgramBuilder::new("outer");
    let m = b.size("m");
    let w = b.input("w", DType::F64, &[SymDim::constant(2)]).unwrap();
    let x = b.input("x", DType::F64, &[&m + 1, SymDim::constant(2)]).unwrap();
    let y = b.input("y", DType::F64, &[&m + 1]).unwrap();
    let loss = b.call(&model, &[w, x, y]).unwrap()[0];
    let program = b.finish(&[(None, loss)]).unwrap();
    assert!(program.to_string().contains("size m + 1 : f64"), "{program}");
    assert!(program.guards().is_empty());

    let mut b = ProgramBuilder::new("outer");
    let w = b.input("w", DType::F64, &[SymDim::constant(2)]).unwrap();
    let x = b.input("x", DType::F64, &[SymDim::constant(5), SymDim::constant(3)]).unwrap();
    let y = b.input("y", DType::F64, &[SymDim::constant(5)]).unwrap();
    let message = b.call(&model, &[w, x, y]).unwrap_err().to_string();
    assert!(message.contains("axis 1 of `x` in the call of residual"), "{message}");
}

#[test]
fn verify_finds_every_kind_of_damage() {
    let good = linear_model().unwrap();
    good.verify().unwrap();
    type Damage = fn(&mut SemanticProgram);
    let damage: &[(Damage, &str)] = &[
        (|p| p.values.to_mut()[4].dtype = DType::F32, "%4 is described as f32"),
        (|p| p.values.to_mut().truncate(5), "values are described"),
        (|p| p.nodes.to_mut()[1].inputs.to_mut()[0] = ValueId(9), "before it is defined"),
        (|p| p.nodes.to_mut()[1].first_output = ValueId(9), "are not numbered"),
        (|p| p.outputs.to_mut()[0].value = ValueId(99), "is no value"),
        (|p| p.inputs.to_mut()[1].name = "w".into(), "two inputs are named `w`"),
        (
            |p| p.sizes.to_mut()[0].binding = SizeBinding::Axis { input: 0, axis: 1, scale: 1, offset: 0 },
            "size `n` is not bound",
        ),
        (|p| p.sizes.to_mut()[1].name = "n".into(), "two sizes are named `n`"),
        (|p| p.fingerprint.0 ^= 1, "fingerprint"),
    ];
    for (damage, part) in damage {
        let mut program = good.clone();
        damage(&mut program);
        let message = program.verify().unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn guards_on_user_conditions_are_tested_when_inputs_arrive() {
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let half = n.div(&2.into());
    b.guard(&(&half * 2), Relation::Eq, &n, "the half").unwrap();
    // The same condition the other way round is no second guard.
    b.guard(&n, Relation::Eq, &(&half * 2), "the double").unwrap();
    b.guard(&4.into(), Relation::Eq, &n, "four").unwrap();
    b.guard(&n, Relation::Eq, &4.into(), "four again").unwrap();
    let program = b.finish(&[(None, x)]).unwrap();
    assert_eq!(program.guards().len(), 2);
    assert!(program.bind(&[&[4]]).is_ok());
    let message = |extent| program.bind(&[&[extent]]).unwrap_err().to_string();
    assert_eq!(message(5), "f: the half needs n == 2*(n/2), but n = 5");
    assert_eq!(message(6), "f: four needs n == 4, but n = 6");
}

#[test]
fn extents_that_no_axis_can_have_name_program_and_sizes() {
    let mut b = ProgramBuilder::new("f");
    let (n, m) = (b.size("n"), b.size("m"));
    let x = b.input("x", DType::F64, &[n.clone(), m.clone()]).unwrap();
    let zero = b.constant(ScalarValue::F64(0.0)).unwrap();
    let shorter = b.broadcast_in_dim(zero, &[&n - 2], &[]).unwrap();
    let quotient = b.broadcast_in_dim(zero, &[n.div(&m)], &[]).unwrap();
    let program = b.finish(&[(None, x), (None, shorter), (None, quotient)]).unwrap();
    assert!(program.bind(&[&[2, 1]]).is_ok());
    let message = |shape: &[usize]| program.bind(&[shape]).unwrap_err().to_string();
    assert_eq!(message(&[1, 1]), "f: an extent needs 0 <= n - 2, but n = 1");
    assert_eq!(message(&[3, 0]), "f: n/m cannot be computed with n = 3, m = 0");
}

#[test]
fn a_size_of_a_called_program_is_not_negative() {
    let mut b = ProgramBuilder::new("callee");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n + 3]).unwrap();
    let callee = b.finish(&[(None, x)]).unwrap();
    let mut b = ProgramBuilder::new("f");
    let m = b.size("m");
    let x = b.input("x", DType::F64, &[m]).unwrap();
    let y = b.call(&callee, &[x]).unwrap()[0];
    let program = b.finish(&[(None, y)]).unwrap();
    assert!(program.bind(&[&[3]]).is_ok());
    let message = program.bind(&[&[2]]).unwrap_err().to_string();
    assert_eq!(message, "f: size `n` of callee needs 0 <= m - 3, but m = 2");
}

#[test]
fn derivatives_refuse_what_they_cannot_do() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[SymDim::constant(2)]).unwrap();
    let i = b.input("i", DType::I64, &[]).unwrap();
    let program = b.finish(&[(None, x), (None, i)]).unwrap();
    let ctx = AdContext::new();
    let text = |r: Result<SemanticProgram>| r.unwrap_err().to_string();
    assert!(text(ad::jvp(&program, &[1], &ctx)).contains("`i` is i64, expected a float"));
    assert!(text(ad::jvp(&program, &[2], &ctx)).contains("names input 2"));
    assert!(text(ad::grad(&program, &[0], &ctx)).contains("must be one real scalar, but there are 2"));
}

#[test]
fn derivative_inputs_never_share_a_name_with_the_programs() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[]).unwrap();
    let d = b.input("d_x", DType::F64, &[]).unwrap();
    let y = b.mul(x, d).unwrap();
    let program = b.finish(&[(None, y)]).unwrap();
    let jvp = ad::jvp(&program, &[0, 1], &AdContext::new()).unwrap();
    let names: Vec<&str> = jvp.inputs().iter().map(|i| &*i.name).collect();
    assert_eq!(names, ["x", "d_x", "d_x_", "d_d_x"]);
}
