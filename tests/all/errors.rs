//! What is left to run time: sizes.

use crate::support::*;
use tenferro::prelude::*;

#[test]
fn a_size_mistake_names_the_size_and_both_places() {
    let (q, k, v) = (tensor::<f64, 2>([3, 64], 1), tensor([4, 32], 2), tensor([4, 5], 3));
    for session in [&mut Session::cpu(), &mut Session::reference()] {
        let message = attention.run(session, &q, &k, &v).unwrap_err().to_string();
        assert!(message.contains("size `d`: 64 on axis 1 of `q`, 32 on axis 1 of `k`"), "{message}");
    }
}

#[test]
fn a_derivative_checks_sizes_too() {
    let cpu = &mut Session::cpu();
    let (q, k, v) = (tensor::<f64, 2>([3, 2], 1), tensor([4, 2], 2), tensor([4, 5], 3));
    let message = attention.vjp(cpu, &q, &k, &v, &tensor([3, 4], 4)).unwrap_err().to_string();
    assert!(message.contains("`ct`"), "{message}");
}
