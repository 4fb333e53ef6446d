//! `einsum!` on tensors at hand: run later or at once, generic in the element type.
use tenferro::dtype::Complex32;
use tenferro::prelude::*;

fn square<T: Num>(session: &mut Session, a: &TypedTensor<T, 2>) -> tenferro::Result<TypedTensor<T, 2>> {
    einsum!(session, "ij,jk->ik", a, a)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut cpu = Session::cpu();
    let a = TypedTensor::from_rows([[1.0, 2.0], [3.0, 4.0]]);
    let x = TypedTensor::from_vec(vec![1.0, 10.0]);
    let product = einsum!("ij,j->i", &a, &x);
    for _ in 0..2 {
        assert_eq!(product.run(&mut cpu)?.as_slice()?, [21.0, 43.0]);
    }
    let mut y = TypedTensor::zeros([2])?;
    einsum!("ij,j->i", a.view().transpose([1, 0])?, &x).run_into(&mut cpu, &mut y)?;
    assert_eq!(y.as_slice()?, [31.0, 42.0]);

    let trace: f64 = einsum!(&mut cpu, "ii->", &a)?;
    assert_eq!(trace, 5.0);
    let scaled = einsum!(&mut cpu, "ij,->ij", &a, 10.0)?;
    assert_eq!(scaled[[1, 0]], 30.0);
    let mut total = 0.0;
    einsum!("i,j->", &x, &x,).run_into(&mut cpu, &mut total)?;
    assert_eq!(total, 121.0);

    // The names `operand0` and `einsum` inside mean nothing outside.
    let operand0 = TypedTensor::from_vec(vec![1, 2]);
    let outer = einsum!(&mut cpu, "i,j->ij", &operand0, &einsum!("i->i", &operand0).run(&mut Session::cpu())?)?;
    assert_eq!(outer.to_vec_row_major(), [1, 2, 2, 4]);

    let column = TypedTensor::from_rows([[1.0], [10.0]]);
    assert_eq!(einsum!(&mut cpu, "i#j,jk->ik", &column, &a)?[[1, 1]], 60.0);
    assert_eq!(einsum!(&mut cpu, "ij,(jk,ki)->", &a, &a, &a)?, 155.0);
    assert_eq!(einsum!(&mut cpu, "ij,jk,ki->", &a, &a, &a, path = [(1, 2), (0, 1)])?, 155.0);
    assert_eq!(einsum!(&mut cpu, "线,线->线线", &x, &x)?[[1, 1]], 100.0);

    let z = TypedTensor::from_rows([[Complex32::I]]);
    assert_eq!(square(&mut cpu, &z)?[[0, 0]], -Complex32::ONE);
    let n = TypedTensor::from_rows([[i64::MAX]]);
    assert_eq!(square(&mut cpu, &n)?[[0, 0]], 1);

    let error = einsum!(&mut cpu, "ij,jk->ik", &a, &column.reshape([1, 2])?).unwrap_err();
    assert!(error.to_string().contains("size `j`"), "{error}");
    Ok(())
}
