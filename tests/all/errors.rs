//! What is left to run time: sizes.

use crate::all::support::*;
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

tenferro! {
    fn interior(x: f64[n]) -> f64[n - 2] { broadcast(sum(x), [n - 2]) }
    fn halves(x: f64[2*n]) -> f64[n] { sum(reshape(x, [2, n]), axis = 0) }
    fn folded(x: f64[m], y: f64[3]) -> f64[m / 2] { halves(x) + y }
    fn first_largest(x: f64[n]) -> i64 { argmax(x) }
}

#[test]
fn what_sizes_must_satisfy_is_said_in_their_names() {
    let x = |extent| TypedTensor::<f64, 1>::zeros([extent]).unwrap();
    for session in [&mut Session::cpu(), &mut Session::reference()] {
        let message = interior.run(session, &x(1)).unwrap_err().to_string();
        assert_eq!(message, "interior: an extent needs 0 <= n - 2, but n = 1");
        assert!(folded.run(session, &x(6), &x(3)).is_ok());
        let message = folded.run(session, &x(7), &x(3)).unwrap_err().to_string();
        assert_eq!(message, "folded: the exact division m / 2 needs m == 2*(m/2), but m = 7");
        let message = folded.run(session, &x(8), &x(3)).unwrap_err().to_string();
        assert_eq!(message, "folded: `+` of the left operand and `y` needs m/2 == 3, but m = 8");
        let message = first_largest.run(session, &x(0)).unwrap_err().to_string();
        assert_eq!(message, "first_largest: `argmax` (an index needs at least one entry) needs 1 <= n, but n = 0");
    }
}
