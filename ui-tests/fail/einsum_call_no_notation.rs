// error: expected the notation, a string literal
use tenferro::prelude::*;

fn main() -> tenferro::Result<()> {
    let a = TypedTensor::<f64, 2>::zeros([3, 3])?;
    let _ = einsum!(&a, &a);
    Ok(())
}
