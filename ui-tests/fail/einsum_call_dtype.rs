// rustc: operands of different dtypes are a type error
use tenferro::prelude::*;

fn main() -> tenferro::Result<()> {
    let a = TypedTensor::<f64, 2>::zeros([3, 3])?;
    let b = TypedTensor::<f32, 2>::zeros([3, 3])?;
    let _ = einsum!("ij,jk->ik", &a, &b);
    Ok(())
}
