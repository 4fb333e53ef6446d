// error: einsum: `2` is no label: a label is one letter
use tenferro::prelude::*;

fn main() -> tenferro::Result<()> {
    let a = TypedTensor::<f64, 2>::zeros([3, 3])?;
    let _ = einsum!("ij,j2->i", &a, &a);
    Ok(())
}
