// rustc: the rank of the result is in its type
use tenferro::prelude::*;

fn main() -> tenferro::Result<()> {
    let a = TypedTensor::<f64, 2>::zeros([3, 3])?;
    let _: TypedTensor<f64, 1> = einsum!("ij,jk->ik", &a, &a).run(&mut Session::cpu())?;
    Ok(())
}
