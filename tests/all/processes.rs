//! Plans and results are the same bits in every process and for every number of threads.

use std::process::Command;

use tenferro::einsum::{ConcreteEinsum, EinsumNotation, EinsumOp, EinsumOptimize, Goal};
use tenferro::prelude::*;

/// A lattice of 4 by 4 tensors with bonds of extent 3, open at one corner.
fn lattice() -> (String, Vec<Vec<usize>>) {
    let letter = |number: usize| char::from_u32('A' as u32 + number as u32).unwrap();
    let mut terms = vec![String::new(); 16];
    let mut label = (1..).map(letter);
    for at in 0..16 {
        for (other, joined) in [(at + 1, at % 4 < 3), (at + 4, at < 12)] {
            if joined {
                let label = label.next().unwrap();
                terms[at].push(label);
                terms[other].push(label);
            }
        }
    }
    terms[0].insert(0, letter(0));
    let shapes = terms.iter().map(|term| vec![3; term.chars().count()]).collect();
    (format!("{}->{}", terms.join(","), letter(0)), shapes)
}

/// Everything that could depend on a process: the order of hashes, addresses, the clock, threads.
fn outcome() -> String {
    let (equation, shapes) = lattice();
    let operands: Vec<Tensor> = shapes
        .iter()
        .enumerate()
        .map(|(n, shape)| Tensor::from_fn(shape, |at| ((at.iter().sum::<usize>() * 7 + n) as f64).sin()).unwrap())
        .collect();
    let operands: Vec<&Tensor> = operands.iter().collect();
    let borrowed: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    let op = EinsumOp::concrete(&EinsumNotation::parse(&equation).unwrap(), &borrowed).unwrap();
    let mut outcome = String::new();
    for plan in [EinsumOptimize::Auto, EinsumOptimize::RandomGreedy { trials: 9, seed: 5 }, EinsumOptimize::tree_sa(2)]
    {
        for goal in [Goal::DEFAULT, Goal { memory_limit: Some(100), ..Goal::DEFAULT }] {
            let tree = op.clone().with_plan(plan.clone()).unwrap().with_goal(goal).unwrap().tree(&borrowed).unwrap();
            outcome += &format!("{} ", tree.to_text().replace('\n', " "));
            let einsum =
                ConcreteEinsum::new(&*equation).unwrap().with_plan(plan.clone()).unwrap().with_goal(goal).unwrap();
            let bits = |threads| {
                let mut session = Session::cpu_with_threads(threads).unwrap();
                let result = einsum.run(&mut session, &operands).unwrap().to_vec_col_major::<f64>().unwrap();
                result.into_iter().map(f64::to_bits).collect::<Vec<_>>()
            };
            let serial = bits(1);
            assert!((2..4).all(|threads| bits(threads) == serial), "threads differ with {plan}, {goal:?}");
            outcome += &format!("{serial:x?} ");
        }
    }
    outcome
}

#[test]
fn every_process_plans_and_computes_the_same() {
    const MARK: &str = "outcome: ";
    let here = outcome();
    if std::env::var_os("TENFERRO_OUTCOME").is_some() {
        println!("{MARK}{here}");
        return;
    }
    for _ in 0..2 {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "all::processes::every_process_plans_and_computes_the_same", "--nocapture"])
            .env("TENFERRO_OUTCOME", "1")
            .output()
            .unwrap();
        let output = String::from_utf8(child.stdout).unwrap();
        let there = output.split_once(MARK).expect("the process says what came out").1;
        assert_eq!(there.lines().next(), Some(&*here));
    }
}
