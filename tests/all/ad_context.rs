//! The context of derivatives: its cache, its rules, absent derivatives.

use std::sync::Arc;
use std::thread;

use tenferro::ad::{self, AdContext, Provenance, Transform, TransformCacheStats};
use tenferro::einsum;
use tenferro::prelude::*;
use tenferro::program::{ProgramBuilder, SemanticProgram, ValueId};

/// `f(x) = x * .. * x`, with these names.
fn power(exponent: usize, [program, input, output]: [&str; 3]) -> SemanticProgram {
    let mut b = ProgramBuilder::new(program);
    let x = b.input(input, DType::F64, &[]).unwrap();
    let mut y = x;
    for _ in 1..exponent {
        y = b.mul(y, x).unwrap();
    }
    b.finish(&[(Some(output), y)]).unwrap()
}

const NAMES: [&str; 3] = ["power", "x", "y"];

#[test]
fn a_derivative_is_made_once_and_found_again() {
    let ad = AdContext::new();
    let square = power(2, NAMES);
    let transforms =
        [Transform::Jvp, Transform::Vjp, Transform::Grad, Transform::ValueAndGrad, Transform::Hvp].into_iter();
    for (made, transform) in transforms.enumerate() {
        let first = ad.transform(transform, &square, &[0]).unwrap();
        // The same structure, built anew and asked of a clone.
        let again = ad.clone().transform(transform, &power(2, NAMES), &[0]).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let counted = made as u64 + 1;
        let stats = TransformCacheStats { entries: made + 1, hits: counted, misses: counted, evictions: 0 };
        assert_eq!(ad.cache_stats(), stats);
    }
    ad.clear_cache();
    assert_eq!(ad.cache_stats(), TransformCacheStats { entries: 0, hits: 5, misses: 5, evictions: 0 });
}

#[test]
fn what_is_asked_for_and_names_tell_entries_apart() {
    let ad = AdContext::new();
    let of = |program: &SemanticProgram, wrt: &[usize]| ad.transform(Transform::Vjp, program, wrt).unwrap();
    let mut b = ProgramBuilder::new("product");
    let (x, y) = (b.input("x", DType::F64, &[]).unwrap(), b.input("y", DType::F64, &[]).unwrap());
    let z = b.mul(x, y).unwrap();
    let product = b.finish(&[(None, z)]).unwrap();
    // Ordered: the gradients come in the order asked for.
    let names = |p: &SemanticProgram| -> Vec<String> {
        p.outputs().iter().flat_map(|o| o.name.as_ref().map(ToString::to_string)).collect()
    };
    assert_eq!(names(&of(&product, &[0, 1])), ["d_x", "d_y"]);
    assert_eq!(names(&of(&product, &[1, 0])), ["d_y", "d_x"]);
    assert_eq!(names(&of(&product, &[1])), ["d_y"]);
    // Names are no part of the structure, but they name what comes out.
    let renamed = power(2, ["other", "w", "v"]);
    assert_eq!(renamed.fingerprint(), power(2, NAMES).fingerprint());
    assert_eq!(names(&of(&power(2, NAMES), &[0])), ["y", "d_x"]);
    assert_eq!(names(&of(&renamed, &[0])), ["v", "d_w"]);
    assert_eq!(ad.cache_stats().misses, 5);
    let error = ad.transform(Transform::Vjp, &product, &[1, 1]).unwrap_err();
    assert_eq!(error.to_string(), "vjp: `wrt` names input 1 (`y`) twice");
}

#[test]
fn the_least_recently_used_makes_room() {
    let ad = AdContext::builder().with_cache_capacity(2).build().unwrap();
    let gradient = |exponent| ad.transform(Transform::Grad, &power(exponent, NAMES), &[0]).unwrap();
    let second = gradient(2);
    gradient(3);
    gradient(2);
    gradient(4);
    assert_eq!(ad.cache_stats(), TransformCacheStats { entries: 2, hits: 1, misses: 3, evictions: 1 });
    assert!(Arc::ptr_eq(&second, &gradient(2)));
    gradient(3);
    assert_eq!(ad.cache_stats(), TransformCacheStats { entries: 2, hits: 2, misses: 4, evictions: 2 });
    let error = AdContext::builder().with_cache_capacity(0).build().unwrap_err();
    assert_eq!(error.to_string(), "AdContext::builder: `cache capacity` must be at least 1");
}

#[test]
fn threads_share_one_derivative() {
    let ad = AdContext::new();
    let made: Vec<Arc<SemanticProgram>> = thread::scope(|scope| {
        let ask = || (2..10).map(|n| ad.transform(Transform::Grad, &power(n, NAMES), &[0]).unwrap()).collect();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().flat_map(|thread| -> Vec<_> { thread.join().unwrap() }).collect()
    });
    for chunk in made.chunks(8) {
        assert!(chunk.iter().zip(&made).all(|(a, b)| Arc::ptr_eq(a, b)));
    }
    let stats = ad.cache_stats();
    assert_eq!((stats.entries, stats.hits + stats.misses), (8, 32));
}

#[test]
fn a_derivative_tells_where_it_comes_from() {
    let ad = AdContext::new();
    let cube = power(3, NAMES);
    let first = ad.transform(Transform::Grad, &cube, &[0]).unwrap();
    let second = ad.transform(Transform::Grad, &first, &[0]).unwrap();
    let by = |source: &SemanticProgram| {
        Some(Provenance { source: source.fingerprint(), transform: Transform::Grad, wrt: vec![0] })
    };
    assert_eq!(ad.provenance(&second), by(&first));
    assert_eq!(ad.provenance(&first), by(&cube));
    assert_eq!(ad.provenance(&cube), None);
}

#[test]
fn rules_belong_to_a_context() {
    let mut b = ProgramBuilder::new("dot");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let y = einsum::einsum_of_values(&mut b, "i,i->", &[x, x]).unwrap();
    let dot = b.finish(&[(None, y)]).unwrap();
    let bare = AdContext::new();
    let error = bare.transform(Transform::Grad, &dot, &[0]).unwrap_err().to_string();
    assert!(error.contains("tenferro.einsum.v1") && error.contains("`linearize`"), "{error}");
    // Failures are not kept, and another set of rules is another cache.
    let ruled = bare.clone().with_rules(&einsum::ad_rules().unwrap());
    ruled.transform(Transform::Grad, &dot, &[0]).unwrap();
    assert_eq!((bare.cache_stats().entries, ruled.cache_stats().entries), (0, 1));

    let twice = AdContext::builder().with_semantic_extension_rules(einsum::ad_rules().unwrap()).unwrap();
    let error = twice.with_semantic_extension_rules(einsum::ad_rules().unwrap()).err().unwrap();
    assert_eq!(error.to_string(), "AdContext::builder: `tenferro.einsum.v1` already has a `linearize` rule");
}

#[test]
fn absent_derivatives_are_told_from_zeros() {
    let mut b = ProgramBuilder::new("partly");
    let [x, y, z]: [ValueId; 3] = ["x", "y", "z"].map(|name| b.input(name, DType::F64, &[]).unwrap());
    let zero = b.constant_like(y, 0.0).unwrap();
    let nothing = b.mul(y, zero).unwrap();
    let sum = b.add(x, nothing).unwrap();
    let stopped = b.stop_gradient(z).unwrap();
    let sum = b.add(sum, stopped).unwrap();
    let program = b.finish(&[(Some("f"), sum)]).unwrap();
    let ad = AdContext::new();

    let (gradient, positions) = ad::grad_optional(&program, &[2, 1, 0], &ad).unwrap();
    // y is multiplied by 0: a gradient that is 0. z is held: no gradient.
    assert_eq!(positions, [None, Some(0), Some(1)]);
    let inputs: Vec<Tensor> = [1.0, 2.0, 3.0].map(Tensor::scalar).into();
    let reads: Vec<_> = inputs.iter().map(|t| t.into()).collect();
    let results = Session::cpu().run(Arc::new(gradient), &reads).unwrap();
    assert_eq!(results.iter().map(|t| t.item::<f64>().unwrap()).collect::<Vec<_>>(), [0.0, 1.0]);

    let (vjp, positions) = ad::vjp_optional(&program, &[0, 2], &ad).unwrap();
    assert_eq!(positions, [Some(1), None]);
    assert_eq!(vjp.outputs().len(), 2);
    // Where all are asked for, the absent ones are zeros.
    let all = ad::grad(&program, &[0, 1, 2], &ad).unwrap();
    let results = Session::cpu().run(Arc::new(all), &reads).unwrap();
    assert_eq!(results.iter().map(|t| t.item::<f64>().unwrap()).collect::<Vec<_>>(), [1.0, 0.0, 0.0]);
}

#[test]
fn many_directions_share_one_derivative_and_keep_their_order() {
    // (x y, x + i64, y^2), which has two floating-point outputs around another.
    let mut b = ProgramBuilder::new("three");
    let n = b.size("n");
    let [x, y] = ["x", "y"].map(|name| b.input(name, DType::F64, std::slice::from_ref(&n)).unwrap());
    let product = b.mul(x, y).unwrap();
    let whole = b.convert(x, DType::I64).unwrap();
    let square = b.mul(y, y).unwrap();
    let program = b.finish(&[(None, product), (None, whole), (None, square)]).unwrap();
    let vector = |values: [f64; 2]| Tensor::from_vec_col_major([2], values.to_vec()).unwrap();
    let numbers = |t: &Tensor| t.to_vec_col_major::<f64>().unwrap();
    let (x, y) = (vector([2.0, 3.0]), vector([5.0, 7.0]));
    let inputs = [(&x).into(), (&y).into()];
    let (zero, one) = (vector([0.0, 0.0]), vector([1.0, 1.0]));
    let ad = AdContext::new();
    let session = &mut Session::cpu();

    // Tangents in the order of `wrt`: of y, then of x.
    let directions: [&[Tensor]; 3] =
        [&[one.clone(), zero.clone()], &[zero.clone(), one.clone()], &[one.clone(), x.clone()]];
    let tangents = session.jvp_many(&program, &[1, 0], &inputs, &directions, &ad).unwrap();
    let tangents: Vec<Vec<_>> = tangents.iter().map(|list| list.iter().map(numbers).collect()).collect();
    assert_eq!(tangents, [[[2.0, 3.0], [10.0, 14.0]], [[5.0, 7.0], [0.0, 0.0]], [[12.0, 24.0], [10.0, 14.0]]]);

    let cotangents: [&[Tensor]; 2] = [&[one.clone(), zero.clone()], &[zero, one.clone()]];
    let gradients = session.vjp_many(&program, &[1, 0], &inputs, &cotangents, &ad).unwrap();
    let gradients: Vec<Vec<_>> = gradients.iter().map(|list| list.iter().map(numbers).collect()).collect();
    assert_eq!(gradients, [[[2.0, 3.0], [5.0, 7.0]], [[10.0, 14.0], [0.0, 0.0]]]);
    assert_eq!(ad.cache_stats().misses, 2);
    assert!(session.jvp_many(&program, &[0], &inputs, &[], &ad).unwrap().is_empty());

    let error =
        session.jvp_many(&program, &[1, 0], &inputs, &[&[x.clone(), one.clone()], std::slice::from_ref(&one)], &ad);
    assert_eq!(error.unwrap_err().to_string(), "jvp_many: `tangents` must be 2 in each list, but list 1 has 1");
    let error = session.vjp_many(&program, &[0], &inputs, &[&[one]], &ad);
    assert_eq!(error.unwrap_err().to_string(), "vjp_many: `cotangents` must be 2 in each list, but list 0 has 1");
}
