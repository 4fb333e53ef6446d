//! All three gradients of `sum(ij,jk,kl->il)`.

use tenferro::ad::{self, AdContext};

use crate::measure::{Config, Machine, note, program, uniform};

pub fn suite(config: &Config) {
    let context = AdContext::new().with_rules(&tenferro::einsum::ad_rules().unwrap());
    for n in [16, 256] {
        let operands: Vec<_> = (1..4).map(|seed| uniform(&[n, n], seed)).collect();
        let forward = program("sum", &operands, false, |b, v| {
            let product = tenferro::einsum::einsum_of_values(b, "ij,jk,kl->il", v).unwrap();
            b.sum(product, &[0, 1]).unwrap()
        });
        let gradient = ad::grad(&forward, &[0, 1, 2], &context).unwrap();
        note(&format!("grad program n={n}"), format!("{} ops", gradient.nodes().len()));
        for (name, program) in [("fwd", forward), ("grad", gradient)] {
            let name = format!("{name} sum(ij,jk,kl->il) n={n} traced");
            if config.wants(&name) {
                Machine::new(config, program, &operands).measure(config, &name, &operands);
            }
        }
    }
}
