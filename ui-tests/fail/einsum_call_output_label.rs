// error: einsum: the output label `m` is on no operand
use tenferro::prelude::*;

fn main() -> tenferro::Result<()> {
    let a = TypedTensor::<f64, 2>::zeros([3, 3])?;
    let _ = einsum!("ij,jk->im", &a, &a).run(&mut Session::cpu())?;
    Ok(())
}
