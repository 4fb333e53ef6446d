// error: einsum: a bad literal, with a caret
use tenferro::prelude::*;

fn main() -> tenferro::Result<()> {
    let a = TypedTensor::<f64, 2>::zeros([3, 3])?;
    let _ = einsum!("ij,j2->i", &a, &a);
    Ok(())
}
