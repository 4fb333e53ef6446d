//! Sizes that are read off values: building, extents, text, verification, calls, passes and derivatives.

use std::sync::Arc;

use tenferro_core::ad::{self, AdContext};
use tenferro_core::dtype::{DType, ScalarValue};
use tenferro_core::ops::{Comparison, CoreOp};
use tenferro_core::program::passes::{CompilerOptions, compile};
use tenferro_core::program::{
    Extent, ProgramBuilder, Relation, SemanticProgram, Size, SizeBinding, SizeNames, ValueId,
};
use tenferro_core::shape::{SizeId, SymDim};

/// How many entries of a vector are positive, i64.
fn count_positive(b: &mut ProgramBuilder, s: ValueId) -> ValueId {
    let zero = b.constant_like(s, 0.0).unwrap();
    let positive = b.compare(Comparison::Gt, s, zero).unwrap();
    let ones = b.convert(positive, DType::I64).unwrap();
    b.sum(ones, &[0]).unwrap()
}

/// `u[:, :k] * s[:k]`, `k` the number of positive entries of `s`.
fn truncated() -> SemanticProgram {
    let mut b = ProgramBuilder::new("truncated");
    let [n, m] = [b.size("n"), b.size("m")];
    let u = b.input("u", DType::F64, &[n.clone(), m.clone()]).unwrap();
    let s = b.input("s", DType::F64, &[m]).unwrap();
    let count = count_positive(&mut b, s);
    let left = b.dynamic_truncate(u, count, 1).unwrap();
    let right = b.dynamic_truncate(s, count, 0).unwrap();
    let shape = b.meta(left).shape.to_vec();
    let wide = b.broadcast_in_dim(right, &shape, &[1]).unwrap();
    let product = b.mul(left, wide).unwrap();
    b.finish(&[(None, product)]).unwrap()
}

#[test]
fn truncations_by_one_value_agree_without_a_guard() {
    let program = truncated();
    assert!(program.guards().is_empty(), "{program}");
    assert_eq!(
        program.to_string(),
        "\
program truncated<n, m, k = %6 <= m>(u: f64[n, m], s: f64[m]) -> f64[n, k] {
  %2 = constant 0.0 : f64
  %3 = broadcast_in_dim axes=[] %2 : f64[m]
  %4 = compare gt s %3 : bool[m]
  %5 = convert %4 : i64[m]
  %6 = sum axes=[0] %5 : i64
  %7 = slice start=[0, 0] limit=[n, k] stride=[1, 1] u : f64[n, k]
  %8 = slice start=[0] limit=[k] stride=[1] s : f64[k]
  %9 = broadcast_in_dim axes=[1] %8 : f64[n, k]
  %10 = mul %7 %9 : f64[n, k]
  return %10
}
"
    );
    assert_eq!(SemanticProgram::parse(&program.to_string()).unwrap(), program);
    let (out, m) = (program.outputs()[0].value, program.input_meta(1).shape[0].clone());
    assert_eq!(program.extent(out, 0), Some(Extent::Exact(program.input_meta(0).shape[0].clone())));
    assert_eq!(program.extent(out, 1), Some(Extent::UpperBound(m)));
    assert_eq!((program.extent(out, 2), program.extent(ValueId(99), 0)), (None, None));
}

#[test]
fn extents_are_bounded_through_every_kind_of_expression() {
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let count = b.input("count", DType::I32, &[]).unwrap();
    let k = b.size_of_value("k", count, &n).unwrap();
    let zero = b.constant(ScalarValue::F64(0.0)).unwrap();
    let mut extents = vec![];
    for (dim, bound) in [
        (&n - &k, n.clone()),
        (&k * 2 + 3, &n * 2 + 3),
        ((&k + 1).div(&2.into()), (&n + 1).div(&2.into())),
        (k.minimum(&4.into()), n.minimum(&4.into())),
        ((&n - &k).maximum(&7.into()), n.maximum(&7.into())),
        (&k * &n, &n * &n),
    ] {
        extents.push((b.broadcast_in_dim(zero, &[dim], &[]).unwrap(), bound));
    }
    let head = b.dynamic_truncate(x, count, 0).unwrap();
    let back = b.pad_to_match(head, x, 0).unwrap();
    let outputs: Vec<_> = extents.iter().map(|(value, _)| (None, *value)).chain([(None, back)]).collect();
    let program = b.finish(&outputs).unwrap();
    assert!(program.guards().is_empty(), "all follows from 0 <= k <= n: {program}");
    for (output, (_, bound)) in program.outputs().iter().zip(&extents) {
        assert_eq!(program.extent(output.value, 0), Some(Extent::UpperBound(bound.clone())));
    }
    assert_eq!(program.extent(program.outputs()[6].value, 0), Some(Extent::Exact(n)));
    assert!(program.to_string().contains("pad low=[0] high=[n - k]"), "{program}");
}

#[test]
fn known_values_are_their_extents() {
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let own = b.size_value(&n, DType::I64).unwrap();
    assert_eq!(b.dynamic_truncate(x, own, 0).unwrap(), x);
    let three = b.constant(ScalarValue::I32(3)).unwrap();
    let head = b.dynamic_truncate(x, three, 0).unwrap();
    let minus = b.constant(ScalarValue::I64(-1)).unwrap();
    let error = b.dynamic_truncate(x, minus, 0).unwrap_err().to_string();
    assert!(error.contains("`value` is -1, but a size is not negative"), "{error}");
    let program = b.finish(&[(None, head)]).unwrap();
    assert_eq!(*program.output_meta(0).shape, [SymDim::constant(3)]);
    assert!(program.bind(&[&[3]]).is_ok());
    assert!(program.bind(&[&[2]]).is_err());
}

#[test]
fn wrong_arguments_name_operation_and_argument() {
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let counts = b.input("counts", DType::I64, &[2.into()]).unwrap();
    let float = b.input("float", DType::F64, &[]).unwrap();
    let count = b.input("count", DType::I64, &[]).unwrap();
    let other = SymDim::size(SizeId(7));
    let mut text = |f: &dyn Fn(&mut ProgramBuilder) -> tenferro_core::Result<()>| f(&mut b).unwrap_err().to_string();
    for (message, part) in [
        (text(&|b| b.size_of_value("k", counts, &n).map(drop)), "must be an i32 or i64 scalar, not i64[2]"),
        (text(&|b| b.size_of_value("k", float, &n).map(drop)), "must be an i32 or i64 scalar, not f64"),
        (text(&|b| b.size_of_value("k", count, &other).map(drop)), "was not declared"),
        (text(&|b| b.size_of_value("k", ValueId(99), &n).map(drop)), "%99 is no value"),
        (text(&|b| b.size_of_value("k", count, &(-1).into()).map(drop)), "is -1, but a size is not negative"),
        (text(&|b| b.dynamic_truncate(x, count, 1).map(drop)), "dynamic_truncate"),
        (text(&|b| b.pad_to_match(x, count, 0).map(drop)), "pad_to_match"),
        (text(&|b| b.pad_to_match(counts, counts, 2).map(drop)), "pad_to_match"),
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn binding_goes_on_where_values_are_known() {
    let program = SemanticProgram::parse(
        "program f<n, k = a <= n, l = b <= min(2*n, 9)>(a: i64, b: i32, x: f64[n], y: f64[k + l]) -> f64[n] {
           guard l <= k, \"order\"
           return x
         }",
    )
    .unwrap();
    assert_eq!(SemanticProgram::parse(&program.to_string()).unwrap(), program);
    let shapes: [&[usize]; 4] = [&[], &[], &[4], &[5]];
    let bound = |values: &[i64]| {
        let mut sizes = program.bind(&shapes).unwrap();
        values.iter().try_for_each(|v| program.bind_next(&shapes, &mut sizes, *v)).map(|()| sizes.to_vec())
    };
    assert_eq!(bound(&[3, 2]).unwrap(), [4, 3, 2]);
    let error = |values: &[i64]| bound(values).unwrap_err().to_string();
    assert_eq!(error(&[-2]), "f: size `k` is -2 (the value of a), but not negative");
    assert_eq!(error(&[5]), "f: size `k` is 5 (the value of a), but at most n = 4");
    assert_eq!(error(&[4, 9]), "f: size `l` is 9 (the value of b), but at most min(2*n, 9) = 8 with n = 4");
    assert_eq!(error(&[1, 4]), "f: order needs l <= k, but k = 1, l = 4");
    assert_eq!(error(&[3, 1]), "f: axis 0 of `y` must have extent k + l = 4 with k = 3, l = 1, but has 5");
    assert_eq!(error(&[3, 2, 1]), "f: all 3 sizes are known");
}

#[test]
fn one_value_is_one_size_and_further_bounds_are_guards() {
    let mut b = ProgramBuilder::new("f");
    let [n, m] = [b.size("n"), b.size("m")];
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let y = b.input("y", DType::F64, &[m]).unwrap();
    let count = b.input("count", DType::I64, &[]).unwrap();
    let left = b.dynamic_truncate(x, count, 0).unwrap();
    let right = b.dynamic_truncate(y, count, 0).unwrap();
    let sum = b.add(left, right).unwrap();
    // Bounded by a size of its own kind.
    let other = b.input("other", DType::I64, &[]).unwrap();
    let less = b.dynamic_truncate(sum, other, 0).unwrap();
    let program = b.finish(&[(None, less)]).unwrap();
    let text = program.to_string();
    assert!(text.starts_with("program f<n, m, k = count <= n, k_ = other <= n>("), "{text}");
    let names = SizeNames(program.sizes());
    let guards: Vec<_> = program.guards().iter().map(|g| (names.dim(&g.lhs), g.relation, names.dim(&g.rhs))).collect();
    let le = |a: &str, b: &str| (a.to_string(), Relation::Le, b.to_string());
    assert_eq!(guards, [le("k", "m"), le("k_", "k")]);
}

#[test]
fn sizes_are_kept_as_long_as_they_are_needed_and_stand_in_the_order_of_their_values() {
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, std::slice::from_ref(&n)).unwrap();
    let first = count_positive(&mut b, x);
    let second = b.add(first, first).unwrap();
    let third = b.add(second, first).unwrap();
    let l = b.size_of_value("l", second, &n).unwrap();
    let dropped = b.size_of_value("k", third, &n).unwrap();
    let unused = b.size_value(&dropped, DType::F64).unwrap();
    b.exp(unused).unwrap();
    let k = b.size_of_value("k", first, &n).unwrap();
    // After sizes of values.
    let m = b.size("m");
    let y = b.input("y", DType::F64, std::slice::from_ref(&m)).unwrap();
    b.guard(&(&l + &m), Relation::Eq, &(&k * 2 + &m), "twice").unwrap();
    let tail =
        b.op(CoreOp::Slice { start: vec![k].into(), limit: vec![l].into(), stride: vec![1].into() }, &[x]).unwrap();
    let program = b.finish(&[(None, tail), (None, y)]).unwrap();
    program.verify().unwrap();
    let names: Vec<&str> = program.sizes().iter().map(|size| &*size.name).collect();
    assert_eq!(names, ["n", "m", "k", "l"]);
    assert_eq!(program.axis_size_count(), 2);
    assert_eq!(SemanticProgram::parse(&program.to_string()).unwrap(), program);
    let compiled = compile(&program, &CompilerOptions::default()).unwrap();
    assert_eq!(compiled, program);
}

#[test]
fn two_sizes_stay_two_where_a_pass_joins_their_values() {
    let text = "program f<n, k = %3 <= n, l = %4 <= n>(a: i64, x: f64[n]) -> (f64[k], f64[l]) {
       %2 = constant 0 : i64
       %3 = sub a %2 : i64
       %4 = sub a %2 : i64
       %5 = slice start=[0] limit=[k] stride=[1] x : f64[k]
       %6 = slice start=[0] limit=[l] stride=[1] x : f64[l]
       return %5, %6
     }";
    let program = SemanticProgram::parse(text).unwrap();
    let compiled = compile(&program, &CompilerOptions::default()).unwrap();
    compiled.verify().unwrap();
    assert!(compiled.to_string().starts_with("program f<n, k = a <= n, l = a <= n>("), "{compiled}");
}

#[test]
fn fingerprints_tell_values_and_bounds_but_no_names() {
    let of = |header: &str| {
        let text =
            format!("program f<n, {header}>(a: i64, b: i64, x: f64[n]) -> f64[n] {{ guard k <= 3, \"few\" return x }}");
        SemanticProgram::parse(&text).unwrap().fingerprint()
    };
    let reference = of("k = a <= n");
    assert_ne!(of("k = b <= n"), reference);
    assert_ne!(of("k = a <= 2*n"), reference);
    assert_eq!(of("k = a <= n"), reference);
}

#[test]
fn text_refuses_sizes_that_are_not_known_in_order() {
    let refused = |header: &str, part: &str| {
        let text = format!(
            "program f<n{header}>(a: i64, axis: i64, x: f64[n]) -> i64 {{\n  %3 = neg a : i64\n  \
             %4 = slice start=[0] limit=[k] stride=[1] x : f64[k]\n  %5 = neg %3 : i64\n  return %5\n}}"
        );
        match SemanticProgram::parse(&text) {
            Ok(program) => assert_eq!(part, "", "{program}"),
            Err(error) => assert!(!part.is_empty() && error.to_string().contains(part), "{error}"),
        }
    };
    refused(", k = a <= n", "");
    refused(", k = axis <= n", "");
    // What the rule of the slice needs besides becomes a guard.
    refused(", k = %3 <= 2*n + 1", "");
    refused(", k = %5 <= n", "k is not known yet");
    refused(", k = %9 <= n", "k is not known yet");
    refused(", k = a <= n, l = %9 <= n", "there is no value that is this size");
    refused(", k = x <= n", "scalar, not f64[n]");
    refused(", k = b <= n", "k is not known yet");
    refused(", k = %3 <= n, l = a <= n", "known before one that it stands after");
    refused(", k = a <= n, l = a <= k", "sizes that are read off axes");
    refused(", k = a <= k", "no input has a size `k`");
    refused(", k = a <= n, m = axis 0 of x", "stand before those of values");
    refused(", k = a", "expected `<=`");
}

#[test]
fn verify_finds_damage_of_value_sizes() {
    let good = truncated();
    good.verify().unwrap();
    fn value(p: &mut SemanticProgram, value: u32) {
        if let SizeBinding::Value { value: v, .. } = &mut p.sizes.to_mut()[2].binding {
            *v = ValueId(value);
        }
    }
    type Damage = fn(&mut SemanticProgram);
    let damage: &[(Damage, &str)] = &[
        (|p| value(p, 0), "which is no i32 or i64 scalar"),
        (|p| value(p, 99), "which is no i32 or i64 scalar"),
        (|p| p.sizes.to_mut().swap(1, 2), "the bound of size `k` depends on a size that is not read off an axis"),
        (
            |p| {
                if let SizeBinding::Value { bound, .. } = &mut p.sizes.to_mut()[2].binding {
                    *bound = SymDim::size(SizeId(2));
                }
            },
            "depends on a size that is not read off an axis",
        ),
        (
            |p| {
                let bound = SymDim::size(SizeId(0));
                let binding = SizeBinding::Value { value: ValueId(2), bound };
                p.values.to_mut()[2].dtype = DType::I64;
                p.sizes.to_mut().push(Size { name: "l".into(), binding });
            },
            "size `l` is known before one that it stands after",
        ),
        (
            // The scalar that is the size is made last.
            |p| {
                let (value, first) = (p.values[6].clone(), p.nodes.len() as u32 + 2);
                let mut node = p.nodes[4].clone();
                node.first_output = ValueId(first);
                p.nodes.to_mut().push(node);
                p.values.to_mut().push(value);
                if let SizeBinding::Value { value, .. } = &mut p.sizes.to_mut()[2].binding {
                    *value = ValueId(first);
                }
            },
            "uses k before its sizes are known",
        ),
    ];
    for (damage, part) in damage {
        let mut program = good.clone();
        damage(&mut program);
        let message = program.verify().unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn calls_read_the_sizes_of_the_callee_off_their_copies() {
    let callee = truncated();
    let mut b = ProgramBuilder::new("outer");
    let [k, m] = [b.size("k"), b.size("m")];
    let u = b.input("u", DType::F32, &[k.clone(), m.clone()]).unwrap();
    let wide = b.convert(u, DType::F64).unwrap();
    let s = b.input("s", DType::F64, &[m]).unwrap();
    let twice = [b.call(&callee, &[wide, s]).unwrap()[0], b.call(&callee, &[wide, s]).unwrap()[0]];
    let sum = b.add(twice[0], twice[1]).unwrap();
    let program = b.finish(&[(None, sum)]).unwrap();
    assert_eq!(twice[0], twice[1], "one value is one size, and all else is shared");
    assert!(program.to_string().starts_with("program outer<k, m, k_ = %"), "{program}");
    assert!(program.guards().is_empty());

    // A value that the caller knows is no size of its own.
    let mut b = ProgramBuilder::new("head");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let count = b.input("count", DType::I64, &[]).unwrap();
    let head = b.dynamic_truncate(x, count, 0).unwrap();
    let head = b.finish(&[(None, head)]).unwrap();
    let mut b = ProgramBuilder::new("outer");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let two = b.constant(ScalarValue::I64(2)).unwrap();
    let y = b.call(&head, &[x, two]).unwrap()[0];
    assert_eq!(*b.meta(y).shape, [SymDim::constant(2)]);
    assert!(b.finish(&[(None, y)]).unwrap().value_sizes().next().is_none());
}

#[test]
fn cotangents_and_tangents_have_sizes_of_values() {
    let (program, ctx) = (truncated(), AdContext::new());
    let vjp = ad::vjp(&program, &[0, 1], &ctx).unwrap();
    vjp.verify().unwrap();
    let names = SizeNames(vjp.sizes());
    assert_eq!(names.meta(vjp.input_meta(2)), "f64[n, k]");
    assert_eq!(vjp.output_meta(1), vjp.input_meta(0));
    assert_eq!(vjp.output_meta(2), vjp.input_meta(1));
    assert_eq!(SemanticProgram::parse(&vjp.to_string()).unwrap(), vjp);
    // Of the cotangent too.
    for wrt in [&[2][..], &[0, 1, 2]] {
        for derivative in [ad::jvp(&vjp, wrt, &ctx).unwrap(), ad::vjp(&vjp, wrt, &ctx).unwrap()] {
            derivative.verify().unwrap();
            assert_eq!(SemanticProgram::parse(&derivative.to_string()).unwrap(), derivative);
        }
    }
    // In a call, the size of the callee is what the argument's must be.
    let mut b = ProgramBuilder::new("outer");
    let [n, m, l] = [b.size("n"), b.size("m"), b.size("l")];
    let u = b.input("u", DType::F64, &[n.clone(), m.clone()]).unwrap();
    let s = b.input("s", DType::F64, &[m]).unwrap();
    let ct = b.input("ct", DType::F64, &[n, l]).unwrap();
    let results = b.call(&vjp, &[u, s, ct]).unwrap();
    let outer = b.finish(&[(None, results[1])]).unwrap();
    let text = outer.to_string();
    assert!(text.contains("guard l == k, \"axis 1 of `ct` in the call of vjp_truncated\""), "{text}");
}

#[test]
fn checkpoints_read_sizes_within() {
    let mut b = ProgramBuilder::new("energy");
    let n = b.size("n");
    let s = b.input("s", DType::F64, &[n]).unwrap();
    let count = count_positive(&mut b, s);
    let kept = b.dynamic_truncate(s, count, 0).unwrap();
    let square = b.mul(kept, kept).unwrap();
    let energy = b.sum(square, &[0]).unwrap();
    let energy = Arc::new(b.finish(&[(None, energy)]).unwrap());
    let mut b = ProgramBuilder::new("loss");
    let n = b.size("n");
    let s = b.input("s", DType::F64, &[n]).unwrap();
    let y = ad::checkpoint(&mut b, energy, &[s]).unwrap()[0];
    let loss = b.finish(&[(None, y)]).unwrap();
    let gradient = ad::value_and_grad(&loss, &[0], &AdContext::new()).unwrap();
    let expanded = ad::expand_checkpoints(&gradient).unwrap().unwrap();
    expanded.verify().unwrap();
    let names: Vec<&str> = expanded.value_sizes().map(|size| size.name).collect();
    assert_eq!(names, ["k", "k_"], "the reverse pass counts again: {expanded}");

    let message = {
        let mut b = ProgramBuilder::new("outer");
        let [n, m] = [b.size("n"), b.size("m")];
        let u = b.input("u", DType::F64, &[n, m.clone()]).unwrap();
        let s = b.input("s", DType::F64, &[m]).unwrap();
        ad::checkpoint(&mut b, truncated(), &[u, s]).unwrap_err().to_string()
    };
    assert!(message.contains("output 0") && message.contains("f64[n, k]"), "{message}");
}

#[test]
fn pictures_show_what_a_size_is_read_off() {
    let dot = truncated().to_dot();
    for line in ["s2 [label=\"k <= m\", shape=diamond];", "n4 -> s2;", "s2 -> n5;", "s2 -> n6;"] {
        assert!(dot.contains(line), "{dot}");
    }
    assert!(truncated().to_mermaid().contains("  s2{\"k #60;= m\"}"), "{}", truncated().to_mermaid());
}
