// error: has 2 operands, but 1 is given
use tenferro::prelude::*;

fn main() -> tenferro::Result<()> {
    let a = TypedTensor::<f64, 2>::zeros([3, 3])?;
    let _ = einsum!("ij,jk->ik", &a);
    Ok(())
}
