// rustc: a wrong rank is a type error on the operand
use tenferro::prelude::*;

fn main() -> tenferro::Result<()> {
    let a = TypedTensor::<f64, 2>::zeros([3, 3])?;
    let x = TypedTensor::<f64, 1>::zeros([3])?;
    let _ = einsum!("ij,jk->ik", &a, &x);
    Ok(())
}
