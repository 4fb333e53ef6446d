//! Equations that are known to go wrong in einsum implementations.

use tenferro_einsum::{EinsumNotation, EinsumOp};

use crate::oracle::{Array, follow};

/// Entries 1, 2, 3, .. of these shapes.
fn einsum(notation: &str, shapes: &[&[usize]]) -> Array {
    let op = EinsumOp::concrete(&EinsumNotation::parse(notation).unwrap(), shapes).unwrap();
    let operands: Vec<Array> = shapes.iter().map(|shape| Array::from_fn(shape, |i| ((i + 1) as f64).into())).collect();
    follow(&op, &op.tree(shapes).unwrap(), &operands.iter().collect::<Vec<_>>())
}

#[test]
fn three_operands_stretch_axes_as_two_do() {
    // a[i, 0] times the column sums of b, then c.
    assert_eq!(einsum("ij,jk->ik", &[&[2, 1], &[3, 2]]), Array::new(&[2, 2], &[6.0, 12.0, 15.0, 30.0]));
    assert_eq!(einsum("ij,jk,kl->il", &[&[2, 1], &[3, 2], &[2, 2]]), Array::new(&[2, 2], &[36.0, 72.0, 78.0, 156.0]));
}

#[test]
fn three_operands_stretch_batches_as_two_do() {
    let stretched = einsum("...ij,...jk,...kl->...il", &[&[1, 1, 1], &[4, 1, 1], &[4, 1, 1]]);
    assert_eq!(stretched, Array::new(&[4, 1, 1], &[1.0, 4.0, 9.0, 16.0]));
}

#[test]
fn several_operands_write_on_the_diagonal_of_the_output() {
    assert_eq!(einsum("i,i->ii", &[&[2], &[2]]), Array::new(&[2, 2], &[1.0, 0.0, 0.0, 4.0]));
    assert_eq!(einsum("i,i,i->ii", &[&[2], &[2], &[2]]), Array::new(&[2, 2], &[1.0, 0.0, 0.0, 8.0]));
}
