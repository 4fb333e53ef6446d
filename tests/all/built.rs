//! A program is the same thing however it was made: by the macro or by the builder.

use tenferro::ad::{self, AdContext};
use tenferro::einsum;
use tenferro::prelude::*;
use tenferro::program::{ProgramBuilder, SemanticProgram};
use tenferro::tensor::TensorRead;

tenferro! {
    fn gibbs(energy: f64[n], state: f64[n, k]) -> f64[k] {
        let weight = exp(-energy);
        let p = weight / sum(weight);
        einsum("n,nk->k", p, state)
    }
}

fn gibbs_by_hand() -> tenferro::Result<SemanticProgram> {
    let mut b = ProgramBuilder::new("gibbs");
    let (n, k) = (b.size("n"), b.size("k"));
    let energy = b.input("energy", DType::F64, std::slice::from_ref(&n))?;
    let state = b.input("state", DType::F64, &[n.clone(), k])?;
    let negative = b.neg(energy)?;
    let weight = b.exp(negative)?;
    let total = b.sum(weight, &[0])?;
    let total = b.broadcast_in_dim(total, &[n], &[])?;
    let p = b.div(weight, total)?;
    let mean = einsum::einsum_of_values(&mut b, "n,nk->k", &[p, state])?;
    Ok(b.finish(&[(None, mean)])?)
}

#[test]
fn structure_text_and_fingerprint_are_equal() {
    let by_hand = gibbs_by_hand().unwrap();
    assert_eq!(gibbs.program().to_string(), by_hand.to_string());
    assert_eq!(gibbs.program().fingerprint(), by_hand.fingerprint());
    assert_eq!(*gibbs.program(), by_hand);
}

#[test]
fn gradient_programs_are_those_of_run_time() {
    let by_hand = gibbs_by_hand().unwrap();
    let context = AdContext::new().with_rules(&einsum::ad_rules().unwrap());
    let jvp = ad::jvp(&by_hand, &[0, 1], &context).unwrap();
    assert_eq!(gibbs.jvp_program().to_string(), jvp.to_string());
    assert_eq!(gibbs.jvp_program().fingerprint(), jvp.fingerprint());
    let vjp = ad::vjp(&by_hand, &[0, 1], &context).unwrap();
    assert_eq!(gibbs.vjp_program().to_string(), vjp.to_string());
    assert_eq!(gibbs.vjp_program().fingerprint(), vjp.fingerprint());
}

#[test]
fn prepared_once_for_both() {
    let by_hand = std::sync::Arc::new(gibbs_by_hand().unwrap());
    let mut session = Session::cpu();
    let energy = TypedTensor::from_vec_col_major([2], vec![0.0, 1.0]).unwrap();
    let state = TypedTensor::from_vec_col_major([2, 1], vec![1.0, 0.0]).unwrap();
    let typed = gibbs.run(&mut session, &energy, &state).unwrap();
    let before = session.runtime().prepared_cache_stats();
    let dynamic = session.run(&by_hand, &[TensorRead::from(&energy), TensorRead::from(&state)]).unwrap();
    let after = session.runtime().prepared_cache_stats();
    assert_eq!((after.entries, after.preparations), (before.entries, before.preparations), "no second entry");
    assert_eq!(after.misses, before.misses);
    assert!(after.hits > before.hits);
    assert_eq!(dynamic[0].as_slice::<f64>().unwrap(), typed.as_slice().unwrap());
}
