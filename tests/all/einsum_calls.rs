//! Einsums of tensors at hand: calls, prepared ones, accumulation, and the products by name.

use tenferro::dtype::{Complex32, Complex64, ScalarValue};
use tenferro::einsum::{
    self, ConcreteEinsum, EinsumNotation, EinsumOptimize, Goal, Subscripts, dot, inner, kron, matmul, outer, tensordot,
    trace, vdot,
};
use tenferro::prelude::*;
use tenferro::tensor::TensorRead;

fn sessions() -> [Session; 2] {
    [Session::cpu(), Session::reference()]
}

/// Small integers that differ from entry to entry, of any numeric dtype.
fn entries(dtype: DType, shape: &[usize]) -> Tensor {
    let real = |at: &[usize]| at.iter().enumerate().map(|(axis, &i)| (axis + 2) * i).sum::<usize>() as f64 % 7.0 - 2.0;
    match dtype {
        DType::F32 => Tensor::from_fn(shape, |at| real(at) as f32),
        DType::F64 => Tensor::from_fn(shape, real),
        DType::C32 => Tensor::from_fn(shape, |at| Complex32::new(real(at) as f32, 1.0 - real(at) as f32)),
        DType::C64 => Tensor::from_fn(shape, |at| Complex64::new(real(at), 1.0 - real(at))),
        DType::I32 => Tensor::from_fn(shape, |at| real(at) as i32),
        _ => Tensor::from_fn(shape, |at| real(at) as i64),
    }
    .unwrap()
}

const NUMERIC: [DType; 6] = [DType::F32, DType::F64, DType::C32, DType::C64, DType::I32, DType::I64];

fn message<T: std::fmt::Debug>(result: tenferro::Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn text_notation_and_labels_are_one_einsum_in_every_dtype() {
    for mut session in sessions() {
        for dtype in NUMERIC {
            let (a, b) = (entries(dtype, &[2, 3]), entries(dtype, &[3, 4]));
            let text = einsum(&mut session, "ij,jk->ki", &[&a, &b]).unwrap();
            let notation = EinsumNotation::parse("ij , jk -> ki").unwrap();
            let labels = Subscripts::new([vec![9, 4], vec![4, 1_000_000]], [1_000_000, 9]);
            assert_eq!(text.shape(), [4, 2]);
            assert_eq!(einsum(&mut session, &notation, &[&a, &b]).unwrap(), text);
            assert_eq!(einsum(&mut session, &labels, &[&a, &b]).unwrap(), text);
            assert_eq!(einsum(&mut session, "ij,jk->ki", &[a.view(), b.view()]).unwrap(), text);
        }
    }
}

#[test]
fn an_arrow_is_left_out_only_where_the_notation_allows_it() {
    let mut session = Session::cpu();
    let a = entries(DType::F64, &[2, 3]);
    let implicit = EinsumNotation::parse_implicit("ji").unwrap();
    assert_eq!(einsum(&mut session, &implicit, &[&a]).unwrap().shape(), [3, 2]);
    assert!(message(einsum(&mut session, "ji", &[&a])).contains("->"));
}

#[test]
fn refusals_name_the_place() {
    for mut session in sessions() {
        let (a, b) = (entries(DType::F64, &[2, 3]), entries(DType::F64, &[2, 4]));
        let extents = message(einsum(&mut session, "ij,jk->ik", &[&a, &b]));
        assert!(extents.contains("3 on axis 1 of operand 0, but 2 on axis 0 of operand 1"), "{extents}");
        assert!(extents.contains('^'), "{extents}");
        let labels = Subscripts::new([vec![0, 1], vec![1, 2]], [0, 2]);
        let extents = message(einsum(&mut session, &labels, &[&a, &b]));
        assert!(extents.contains("[2, 3]") && extents.contains("[2, 4]"), "{extents}");
        for count in [1, 3] {
            let operands = vec![&a; count];
            let message = self::message(einsum(&mut session, "ij,jk->ik", &operands));
            assert!(message.contains(&format!("2 operands, but {count} w")) && message.contains('^'), "{message}");
            let labels = Subscripts::new([vec![0, 1], vec![1, 2]], [0, 2]);
            let message = self::message(einsum(&mut session, &labels, &operands));
            assert!(message.contains(&format!("are {count}, the equation has 2")), "{message}");
        }
        let dtypes = message(einsum(&mut session, "ij,kj->ik", &[&a, &entries(DType::F32, &[2, 3])]));
        assert!(dtypes.contains("operand 1") && dtypes.contains("f32"), "{dtypes}");
        let flags = Tensor::from_vec_col_major([1], vec![true]).unwrap();
        assert!(message(einsum(&mut session, "i->i", &[&flags])).contains("bool"));
        let output = Subscripts::new([vec![0]], [1]);
        assert!(message(einsum(&mut session, &output, &[&flags])).contains("output"));
        assert!(message(einsum(&mut session, "ij->ij", &[&flags])).contains("rank 1"));
    }
}

#[test]
fn operands_may_overlap_and_stretch() {
    for mut session in sessions() {
        // Windows of a sequence: the same entries under two axes.
        let data: Vec<f64> = (1..=6).map(f64::from).collect();
        let layout = tenferro::tensor::Layout::new(&[4, 3], &[1, 1], 0).unwrap();
        let windows = TensorView::from_slice_with_layout(layout, &data).unwrap();
        let weights = Tensor::from_vec_col_major([3], vec![1.0, 10.0, 100.0]).unwrap();
        let sums = einsum(&mut session, "ij,j->i", &[TensorRead::from(windows), TensorRead::from(&weights)]).unwrap();
        assert_eq!(sums.as_slice::<f64>().unwrap(), [321.0, 432.0, 543.0, 654.0]);
        let a = entries(DType::I64, &[4, 5]);
        let view = a.view().transpose(&[1, 0]).unwrap().reverse(&[0]).unwrap();
        let expected = einsum(&mut session, "ij,jk->ik", &[&view.to_tensor().unwrap(), &a]).unwrap();
        assert_eq!(einsum(&mut session, "ij,jk->ik", &[view, a.view()]).unwrap(), expected);
        let stretched = einsum(&mut session, "ij,jk->ik", &[&entries(DType::I64, &[2, 1]), &a]).unwrap();
        assert_eq!(stretched.shape(), [2, 5]);
    }
}

#[test]
fn hundreds_of_labels() {
    for mut session in sessions() {
        // A chain of 300 bonds of two, closed to a ring: the trace of a power.
        let count = 300;
        let inputs: Vec<Vec<u32>> = (0..count).map(|i| vec![i * 1000, (i + 1) % count * 1000]).collect();
        let a = Tensor::from_vec_row_major([2, 2], vec![1.0, 1.0, 0.0, 1.0]).unwrap();
        let operands = vec![&a; count as usize];
        if session.target().engine_id.to_string().contains("cpu") {
            let ring = einsum(&mut session, &Subscripts::new(inputs, []), &operands).unwrap();
            assert_eq!(ring.item::<f64>().unwrap(), 2.0);
        }
        // More than there are letters in the alphabet, of extents that a plain loop can walk.
        let labels: Vec<u32> = (0..60).collect();
        let shape: Vec<usize> = (0..60).map(|i| if i % 20 == 0 { 2 } else { 1 }).collect();
        let x = entries(DType::F64, &shape);
        let reversed: Vec<u32> = labels.iter().rev().copied().collect();
        let y = einsum(&mut session, &Subscripts::new([labels], reversed), &[&x]).unwrap();
        assert_eq!(y.to_vec_row_major::<f64>().unwrap(), x.to_vec_col_major::<f64>().unwrap());
    }
}

#[test]
fn labels_thrice_hyperedges_and_nothing_at_all() {
    for mut session in sessions() {
        let cube = entries(DType::I32, &[3, 3, 3]);
        let diagonal = einsum(&mut session, "iii->i", &[&cube]).unwrap();
        let expected: Vec<i32> = (0..3).map(|i| cube.get::<i32>(&[i, i, i]).unwrap()).collect();
        assert_eq!(diagonal.as_slice::<i32>().unwrap(), expected);
        let x = Tensor::from_vec_col_major([3], vec![1, 2, 3]).unwrap();
        let hyper = einsum(&mut session, "i,i,i,i->i", &[&x, &x, &x, &x]).unwrap();
        assert_eq!(hyper.as_slice::<i32>().unwrap(), [1, 16, 81]);
        let (empty, some) = (Tensor::zeros(DType::I32, [2, 0]).unwrap(), Tensor::zeros(DType::I32, [0, 3]).unwrap());
        let zeros = einsum(&mut session, "ij,jk->ik", &[&empty, &some]).unwrap();
        assert_eq!(zeros, Tensor::zeros(DType::I32, [2, 3]).unwrap());
        assert!(einsum(&mut session, "ij->ji", &[&empty]).unwrap().is_empty());
        let scalar = Tensor::scalar(5);
        assert_eq!(einsum(&mut session, ",->", &[&scalar, &scalar]).unwrap().item::<i32>().unwrap(), 25);
    }
}

#[test]
fn accumulation_is_that_of_blas() {
    for mut session in sessions() {
        for dtype in NUMERIC {
            let scalar = |value: f64| ScalarValue::from_f64(value, dtype);
            let (a, b) = (entries(dtype, &[2, 3]), entries(dtype, &[3, 2]));
            let product = einsum(&mut session, "ij,jk->ik", &[&a, &b]).unwrap();
            for (alpha, beta) in [(1.0, 0.0), (2.0, 0.0), (1.0, 1.0), (-3.0, 2.0), (0.0, 1.0), (0.0, 0.0)] {
                let old = entries(dtype, &[2, 2]);
                let mut out = old.clone();
                einsum_into(&mut session, "ij,jk->ik", &[&a, &b], scalar(alpha), scalar(beta), &mut out).unwrap();
                // The same by outer products with scalars.
                let (by, and) = (Tensor::scalar(scalar(alpha)), Tensor::scalar(scalar(beta)));
                let scaled = einsum(&mut session, ",ij->ij", &[&by, &product]).unwrap();
                let mut expected = scaled;
                einsum_into(&mut session, ",ij->ij", &[&and, &old], scalar(1.0), scalar(1.0), &mut expected).unwrap();
                assert_eq!(out, expected, "{dtype} {alpha} {beta}");
            }
        }
    }
}

#[test]
fn an_old_value_that_counts_for_nothing_may_be_anything() {
    for mut session in sessions() {
        let x = Tensor::from_vec_col_major([2], vec![1.0, 2.0]).unwrap();
        for (alpha, beta) in [(1.0, 0.0), (1.0, -0.0), (2.0, 0.0)] {
            let mut out = Tensor::from_vec_col_major([2], vec![f64::NAN, f64::INFINITY]).unwrap();
            einsum_into(&mut session, "i->i", &[&x], alpha, beta, &mut out).unwrap();
            assert_eq!(out.as_slice::<f64>().unwrap(), [alpha, 2.0 * alpha]);
        }
        let mut out = Tensor::from_vec_col_major([2], vec![f64::NAN, 1.0]).unwrap();
        einsum_into(&mut session, "i->i", &[&x], 1.0, 1.0, &mut out).unwrap();
        assert!(out.get::<f64>(&[0]).unwrap().is_nan());
        assert_eq!(out.get::<f64>(&[1]).unwrap(), 3.0);
    }
}

#[test]
fn a_wrong_destination_is_refused_and_kept() {
    for mut session in sessions() {
        let x = Tensor::from_vec_col_major([2], vec![1.0, 2.0]).unwrap();
        for beta in [0.0, 1.0] {
            let mut out = entries(DType::F64, &[3]);
            let error = message(einsum_into(&mut session, "i->i", &[&x], 2.0, beta, &mut out));
            assert!(error.contains("[2]") && error.contains("[3]"), "{error}");
            assert_eq!(out, entries(DType::F64, &[3]));
            let mut out = entries(DType::F32, &[2]);
            let error = message(einsum_into(&mut session, "i->i", &[&x], 2.0_f32, beta as f32, &mut out));
            assert!(error.contains("f32") && error.contains("f64"), "{error}");
        }
        let mut out = entries(DType::F64, &[2]);
        let error = message(einsum_into(&mut session, "i->i", &[&x], 1, 0.0, &mut out));
        assert!(error.contains("`alpha` is i32"), "{error}");
    }
}

#[test]
fn a_destination_that_is_shared_leaves_the_others_alone() {
    let mut session = Session::cpu();
    let x = Tensor::from_vec_col_major([2], vec![1.0, 2.0]).unwrap();
    let old = Tensor::from_vec_col_major([2], vec![5.0, 5.0]).unwrap();
    for beta in [0.0, 1.0] {
        let mut out = old.clone();
        einsum_into(&mut session, "i->i", &[&x], 1.0, beta, &mut out).unwrap();
        assert_eq!(old.as_slice::<f64>().unwrap(), [5.0, 5.0]);
        assert_eq!(out.as_slice::<f64>().unwrap(), [1.0 + 5.0 * beta, 2.0 + 5.0 * beta]);
    }
}

#[test]
fn a_prepared_einsum_serves_many_shapes_dtypes_and_sessions() {
    let product = ConcreteEinsum::new("ij,jk->ik").unwrap().with_plan(EinsumOptimize::LeftToRight).unwrap();
    let mut sessions = sessions();
    for round in 0..2 {
        for session in &mut sessions {
            for dtype in [DType::F64, DType::I32] {
                for n in [1, 2, 3] {
                    let a = entries(dtype, &[n, 2]);
                    let b = entries(dtype, &[2, n]);
                    assert_eq!(product.run(session, &[&a, &b]).unwrap().shape(), [n, n]);
                }
            }
        }
        let stats = product.stats();
        assert_eq!((stats.entries, stats.hits, stats.misses), (12, 12 * round, 12));
    }
    product.clear();
    assert_eq!(product.stats().entries, 0);
    for n in 1..40 {
        product.run(&mut sessions[0], &[&entries(DType::F64, &[n, 2]), &entries(DType::F64, &[2, n])]).unwrap();
    }
    assert!(product.stats().entries <= 16, "{:?}", product.stats());
}

#[test]
fn a_prepared_einsum_survives_new_configurations_and_threads() {
    let product = ConcreteEinsum::new("ij,jk->ik").unwrap();
    let a = entries(DType::F64, &[2, 2]);
    let mut session = Session::cpu();
    let first = product.run(&mut session, &[&a, &a]).unwrap();
    session.runtime().reconfigure(Ok).unwrap();
    assert_eq!(product.run(&mut session, &[&a, &a]).unwrap(), first);
    // What had to be planned anew was no hit.
    let stats = product.stats();
    assert_eq!((stats.hits, stats.misses), (0, 2));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut session = Session::cpu();
                for _ in 0..10 {
                    assert_eq!(product.run(&mut session, &[&a, &a]).unwrap(), first);
                }
            });
        }
    });
    let error = message(ConcreteEinsum::new("i,(i,i)->").unwrap().with_plan(EinsumOptimize::Greedy));
    assert!(error.contains("parentheses"), "{error}");
    let path = EinsumOptimize::Path(vec![(0, 1)].into());
    let error = message(ConcreteEinsum::new("i,i,i->").unwrap().with_plan(path));
    assert!(error.contains("path") && error.contains("over 3 operands it takes 2"), "{error}");
    // An operand that is named twice is conjugated once.
    let z = Tensor::from_vec_col_major([1], vec![Complex64::new(3.0, 4.0)]).unwrap();
    let norm = ConcreteEinsum::new("i,i->").unwrap().with_conjugated(&[0, 0]).unwrap();
    assert_eq!(norm.run(&mut session, &[&z, &z]).unwrap().item::<Complex64>().unwrap(), Complex64::new(25.0, 0.0));
    assert!(message(ConcreteEinsum::new("i->").unwrap().with_conjugated(&[1])).contains("operand 1"));
}

#[test]
fn many_equations_stay_bounded() {
    let mut session = Session::cpu();
    let x = entries(DType::F64, &[2]);
    for round in 0..2 {
        for label in 0..300 {
            let y = einsum(&mut session, &Subscripts::new([vec![label]], [label]), &[&x]).unwrap();
            assert_eq!(y, x, "{round} {label}");
        }
    }
}

/// The product by the definition of `tensordot`, from NumPy's documentation: the free axes of both.
fn by_loops(a: &Tensor, b: &Tensor, pairs: &[(usize, usize)]) -> Tensor {
    let free = |rank: usize, taken: Vec<usize>| (0..rank).filter(|axis| !taken.contains(axis)).collect::<Vec<_>>();
    let free_a = free(a.rank(), pairs.iter().map(|p| p.0).collect());
    let free_b = free(b.rank(), pairs.iter().map(|p| p.1).collect());
    let shape: Vec<usize> = free_a.iter().map(|&i| a.shape()[i]).chain(free_b.iter().map(|&i| b.shape()[i])).collect();
    Tensor::from_fn(&shape, |at| {
        let mut sum = 0;
        let summed: usize = pairs.iter().map(|p| a.shape()[p.0]).product();
        for mut point in 0..summed {
            let (mut i, mut j) = (vec![0; a.rank()], vec![0; b.rank()]);
            free_a.iter().zip(at).for_each(|(&axis, &n)| i[axis] = n);
            free_b.iter().zip(&at[free_a.len()..]).for_each(|(&axis, &n)| j[axis] = n);
            for &(of_a, of_b) in pairs {
                let n = point % a.shape()[of_a];
                point /= a.shape()[of_a];
                (i[of_a], j[of_b]) = (n, n);
            }
            sum += a.get::<i64>(&i).unwrap() * b.get::<i64>(&j).unwrap();
        }
        sum
    })
    .unwrap()
}

#[test]
fn products_by_name_follow_their_definitions() {
    for mut session in sessions() {
        let of = |shape: &[usize]| entries(DType::I64, shape);
        let (a, b) = (of(&[2, 3, 4]), of(&[4, 3, 5]));
        let c = tensordot(&mut session, &a, &b, (&[1, 2], &[1, 0])).unwrap();
        assert_eq!(c, by_loops(&a, &b, &[(1, 1), (2, 0)]));
        assert_eq!(tensordot(&mut session, &a, &b, 1).unwrap(), by_loops(&a, &b, &[(2, 0)]));
        assert_eq!(tensordot(&mut session, &of(&[2, 3]), &of(&[2, 3]), 2).unwrap().rank(), 0);
        assert_eq!(tensordot(&mut session, &a, &b, 0).unwrap().shape(), [2, 3, 4, 4, 3, 5]);
        for (x, y) in [(&[3][..], &[3][..]), (&[2, 3], &[3]), (&[3], &[2, 3, 4]), (&[2, 2, 3], &[5, 3, 4])] {
            let (x, y) = (of(x), of(y));
            let pair = (x.rank() - 1, y.rank().saturating_sub(2));
            assert_eq!(dot(&mut session, &x, &y).unwrap(), by_loops(&x, &y, &[pair]));
        }
        assert_eq!(dot(&mut session, &Tensor::scalar(2_i64), &a).unwrap(), by_loops(&Tensor::scalar(2_i64), &a, &[]));
        assert_eq!(inner(&mut session, &a, &of(&[5, 4])).unwrap(), by_loops(&a, &of(&[5, 4]), &[(2, 1)]));
        assert_eq!(inner(&mut session, &a, &Tensor::scalar(2_i64)).unwrap().shape(), [2, 3, 4]);
        assert_eq!(outer(&mut session, &of(&[3]), &of(&[4])).unwrap(), by_loops(&of(&[3]), &of(&[4]), &[]));
        let flat = outer(&mut session, &of(&[2, 2]), &of(&[3, 1])).unwrap();
        let rows = of(&[2, 2]).to_vec_row_major::<i64>().unwrap();
        let columns = of(&[3, 1]).to_vec_row_major::<i64>().unwrap();
        assert_eq!(flat, Tensor::from_fn([4, 3], |at| rows[at[0]] * columns[at[1]]).unwrap());
        assert_eq!(outer(&mut session, &Tensor::scalar(2_i64), &of(&[3])).unwrap().shape(), [1, 3]);
    }
}

#[test]
fn matmul_has_the_batch_rules_of_numpy() {
    for mut session in sessions() {
        let of = |shape: &[usize]| entries(DType::I64, shape);
        for (a, b, c) in [
            (&[3][..], &[3][..], &[][..]),
            (&[2, 3], &[3], &[2]),
            (&[3], &[3, 4], &[4]),
            (&[2, 3], &[3, 4], &[2, 4]),
            (&[5, 2, 3], &[3, 4], &[5, 2, 4]),
            (&[2, 3], &[5, 3, 4], &[5, 2, 4]),
            (&[5, 1, 2, 3], &[6, 3, 4], &[5, 6, 2, 4]),
            (&[3], &[5, 3, 4], &[5, 4]),
            (&[5, 2, 3], &[3], &[5, 2]),
            (&[0, 3], &[3, 4], &[0, 4]),
            (&[2, 0], &[0, 4], &[2, 4]),
            (&[1, 1], &[1, 1], &[1, 1]),
        ] {
            let (x, y) = (of(a), of(b));
            let product = matmul(&mut session, &x, &y).unwrap();
            assert_eq!(product.shape(), c, "{a:?} {b:?}");
            // By rows and columns of the last axes.
            let (rows, columns) = (a.len() > 1, b.len() > 1);
            let batch = c.len() - usize::from(rows) - usize::from(columns);
            let expected = Tensor::from_fn(c, |at| {
                let side = |shape: &[usize], tail: Vec<usize>| {
                    let skipped = batch + tail.len() - shape.len();
                    let batch = at[skipped..batch].iter().zip(shape).map(|(&i, &n)| i.min(n - 1));
                    batch.chain(tail).collect::<Vec<_>>()
                };
                let (row, column) = (at.get(batch).copied(), at.last().copied());
                (0..a[a.len() - 1])
                    .map(|k| {
                        let left = if rows { vec![row.unwrap(), k] } else { vec![k] };
                        let right = if columns { vec![k, column.unwrap()] } else { vec![k] };
                        x.get::<i64>(&side(a, left)).unwrap() * y.get::<i64>(&side(b, right)).unwrap()
                    })
                    .sum::<i64>()
            });
            assert_eq!(product, expected.unwrap(), "{a:?} {b:?}");
        }
        for (a, b) in [(&[2, 1][..], &[3, 2][..]), (&[2, 3], &[2, 3]), (&[4, 2, 3], &[5, 3, 2]), (&[3], &[1])] {
            let error = message(matmul(&mut session, &of(a), &of(b)));
            assert!(error.contains(&format!("{a:?}")) && error.contains(&format!("{b:?}")), "{error}");
        }
        assert!(message(matmul(&mut session, &Tensor::scalar(1), &of(&[1]))).contains("`a` has rank 0"));
    }
}

#[test]
fn vdot_conjugates_the_first() {
    for mut session in sessions() {
        let (i, one) = (Complex64::I, Complex64::ONE);
        let a = Tensor::from_vec_row_major([2, 2], vec![i, one, one + i, Complex64::ZERO]).unwrap();
        let b = Tensor::from_vec_row_major([2, 2], vec![one, i, one, one]).unwrap();
        let expected = -i + i + one - i;
        assert_eq!(vdot(&mut session, &a, &b).unwrap().item::<Complex64>().unwrap(), expected);
        assert_eq!(vdot(&mut session, &b, &a).unwrap().item::<Complex64>().unwrap(), expected.conj());
        let flat = Tensor::from_vec_col_major([4], b.to_vec_row_major::<Complex64>().unwrap()).unwrap();
        assert_eq!(vdot(&mut session, &a, &flat).unwrap().item::<Complex64>().unwrap(), expected);
        let n = entries(DType::I32, &[3]);
        let square: i32 = n.as_slice::<i32>().unwrap().iter().map(|x| x * x).sum();
        assert_eq!(vdot(&mut session, &n, &n).unwrap().item::<i32>().unwrap(), square);
        let error = message(vdot(&mut session, &a, &n));
        assert!(error.contains("[2, 2]") && error.contains("[3]"), "{error}");
    }
}

#[test]
fn kron_counts_the_first_slowly() {
    for mut session in sessions() {
        for (a, b) in [(&[2, 3][..], &[4, 2][..]), (&[3], &[2, 2]), (&[2, 2], &[3]), (&[], &[2]), (&[2, 1, 3], &[2, 2])]
        {
            let (x, y) = (entries(DType::I64, a), entries(DType::I64, b));
            let rank = a.len().max(b.len());
            let padded = |shape: &[usize]| [vec![1; rank - shape.len()], shape.to_vec()].concat();
            let (sa, sb) = (padded(a), padded(b));
            let shape: Vec<usize> = sa.iter().zip(&sb).map(|(m, n)| m * n).collect();
            let expected = Tensor::from_fn(&shape, |at| {
                let of_x: Vec<usize> = (rank - a.len()..rank).map(|axis| at[axis] / sb[axis]).collect();
                let of_y: Vec<usize> = (rank - b.len()..rank).map(|axis| at[axis] % sb[axis]).collect();
                x.get::<i64>(&of_x).unwrap() * y.get::<i64>(&of_y).unwrap()
            });
            assert_eq!(kron(&mut session, &x, &y).unwrap(), expected.unwrap(), "{a:?} {b:?}");
        }
    }
}

#[test]
fn trace_sums_the_diagonal_of_two_axes() {
    for mut session in sessions() {
        let a = entries(DType::I64, &[3, 2, 4]);
        for (axis1, axis2) in [(0, 1), (1, 0), (0, 2), (2, 1)] {
            let traced = trace(&mut session, &a, axis1, axis2).unwrap();
            let other = 3 - axis1 - axis2;
            let expected = Tensor::from_fn([a.shape()[other]], |at| {
                (0..a.shape()[axis1].min(a.shape()[axis2]))
                    .map(|i| {
                        let mut index = [i; 3];
                        index[other] = at[0];
                        a.get::<i64>(&index).unwrap()
                    })
                    .sum::<i64>()
            });
            assert_eq!(traced, expected.unwrap(), "{axis1} {axis2}");
        }
        // Not a stretch: one row has one entry on the diagonal.
        let row = Tensor::from_vec_col_major([1, 3], vec![5, 6, 7]).unwrap();
        assert_eq!(trace(&mut session, &row, 0, 1).unwrap().item::<i32>().unwrap(), 5);
        assert!(message(trace(&mut session, &row, 0, 2)).contains("axis 2"));
        assert!(message(trace(&mut session, &row, 1, 1)).contains("axis 1 twice"));
    }
}

#[test]
fn products_by_name_refuse_what_does_not_fit() {
    let mut session = Session::cpu();
    let of = |shape: &[usize]| entries(DType::I64, shape);
    let (a, b) = (of(&[2, 3]), of(&[4, 5]));
    for error in [
        message(tensordot(&mut session, &a, &b, 1)),
        message(dot(&mut session, &a, &b)),
        message(inner(&mut session, &a, &b)),
        message(tensordot(&mut session, &a, &b, 3)),
        message(einsum::tensordot(&mut session, &of(&[2, 3]), &of(&[4, 5]), (&[1], &[0]))),
    ] {
        assert!(error.contains("[2, 3]") && error.contains("[4, 5]"), "{error}");
    }
    // Unlike labels, axes of 1 do not stretch.
    assert!(tensordot(&mut session, &of(&[2, 1]), &b, 1).is_err());
    assert!(message(tensordot(&mut session, &a, &b, (&[0, 1], &[0]))).contains("not as many"));
    assert!(message(tensordot(&mut session, &a, &a, (&[0, 0], &[0, 1]))).contains("twice"));
    assert!(message(tensordot(&mut session, &a, &a, (&[2], &[0]))).contains("axis 2"));
}

#[test]
fn a_memory_limit_changes_neither_values_nor_gradients() {
    let goal = Goal { memory_limit: Some(20), ..Goal::DEFAULT };
    let shapes: [&[usize]; 4] = [&[6, 7], &[7, 8], &[8, 9], &[9, 6]];
    // Integers in doubles: sums are exact in any order.
    let tensors: Vec<Tensor> = shapes.iter().map(|shape| entries(DType::F64, shape)).collect();
    let operands: Vec<&Tensor> = tensors.iter().collect();
    let limited = ConcreteEinsum::new("ij,jk,kl,li->").unwrap().with_goal(goal).unwrap();
    assert!(limited.op(&shapes).unwrap().tree(&shapes).unwrap().slice_count() > 1.0);
    let context = tenferro::ad::AdContext::new().with_rules(&einsum::ad_rules().unwrap());
    for mut session in sessions() {
        let whole = einsum(&mut session, "ij,jk,kl,li->", &operands).unwrap();
        assert_eq!(limited.run(&mut session, &operands).unwrap(), whole);
        let gradient = |op: einsum::EinsumOp, session: &mut Session| {
            let mut b = tenferro::program::ProgramBuilder::new("ring");
            let mut values = Vec::new();
            for (i, tensor) in tensors.iter().enumerate() {
                let shape: Vec<_> = tensor.shape().iter().map(|&n| n.into()).collect();
                values.push(b.input(format!("x{i}"), tensor.dtype(), &shape).unwrap());
            }
            let output = b.extension(op, &values).unwrap()[0];
            let program = b.finish(&[(None, output)]).unwrap();
            let gradient = tenferro::ad::grad(&program, &[0, 2], &context).unwrap();
            let inputs: Vec<TensorRead<'_>> = tensors.iter().map(TensorRead::from).collect();
            session.run(std::sync::Arc::new(gradient), &inputs).unwrap()
        };
        let sliced = limited.op(&shapes).unwrap();
        let plain = sliced.clone().with_goal(Goal::DEFAULT).unwrap();
        assert_eq!(gradient(sliced, &mut session), gradient(plain, &mut session));
    }
    assert!(limited.with_goal(Goal { memory_limit: Some(0), ..Goal::DEFAULT }).is_err());
}
