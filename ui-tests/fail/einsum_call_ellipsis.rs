// error: einsum!: `...` stands for any number of axes
use tenferro::prelude::*;

fn main() -> tenferro::Result<()> {
    let a = TypedTensor::<f64, 2>::zeros([3, 3])?;
    let _ = einsum!("...ij,jk->...ik", &a, &a);
    Ok(())
}
