//! `programs.jsonl`: whole expressions with gradients and Hessian-vector products.

use tenferro::program::ProgramBuilder;
use tenferro::tensor::Tensor;
use tenferro_testing::golden::{Coverage, records};

use super::expression::{Expression, Unbuilt};
use super::{ad_context, differentiable, engines, inputs, run};

#[test]
fn golden_programs_values_gradients_and_hvps() {
    for (how, mut session) in engines() {
        let mut coverage = Coverage::default();
        for record in records("programs.jsonl") {
            let named = record.named("inputs");
            let (names, tensors): (Vec<String>, Vec<Tensor>) =
                named.into_iter().map(|(name, tensor)| (name, tensor.unwrap())).unzip();
            let mut b = ProgramBuilder::new("expression");
            let values = inputs(&mut b, &tensors);
            let variables = names.iter().cloned().zip(values).collect();
            let output = match Expression::parse(record.text("expression")).lower(&mut b, &variables) {
                Ok(output) => output,
                Err(Unbuilt(function)) => {
                    coverage.skip_unbuilt(&function);
                    continue;
                }
            };
            let program = b.finish(&[(None, output)]).unwrap();
            let wrt = differentiable(&tensors);
            let tolerance = record.tolerance("tol");
            let mut reads: Vec<&Tensor> = tensors.iter().collect();

            let gradient = tenferro::ad::value_and_grad(&program, &wrt, &ad_context()).unwrap();
            let results = run(&mut session, gradient, &reads);
            record.check("value", &results[0], &record.tensor("value").unwrap(), tolerance);
            let grads: std::collections::BTreeMap<_, _> = record.named("grads").into_iter().collect();
            for (&i, gradient) in wrt.iter().zip(&results[1..]) {
                record.check(&names[i], gradient, grads[&names[i]].as_ref().unwrap(), tolerance);
            }

            if record.0["hvp"].is_object() {
                let hvp = tenferro_testing::golden::Record(record.0["hvp"].clone());
                let tangents: std::collections::BTreeMap<_, _> = hvp.named("tangents").into_iter().collect();
                reads.extend(wrt.iter().map(|&i| tangents[&names[i]].as_ref().unwrap()));
                let program = tenferro::ad::hvp(&program, &wrt, &ad_context()).unwrap();
                let results = run(&mut session, program, &reads);
                let expected: std::collections::BTreeMap<_, _> = hvp.named("values").into_iter().collect();
                for (&i, product) in wrt.iter().zip(&results) {
                    record.check(&names[i], product, expected[&names[i]].as_ref().unwrap(), tolerance);
                }
            }
            coverage.cover();
        }
        coverage.report("programs.jsonl", how);
    }
}
