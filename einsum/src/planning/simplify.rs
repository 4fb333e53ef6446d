//! Tensors that go into others at no expense, before a search.
//!
//! A tensor whose labels all occur on one other tensor is multiplied into it: the result has no more elements than that
//! one. Gray and Kourtis, "Hyper-optimized tensor network contraction" (2021), section 3 (rank simplification).

use super::Pair;
use super::neighbours::Neighbours;
use crate::cost::Network;
use crate::tree::Labels;

/// A network with the steps that led to it.
pub(super) struct Simplified {
    pub network: Network,
    /// The number that each of its tensors has among those of the whole network and of the steps.
    numbers: Vec<usize>,
    steps: Vec<Pair>,
}

impl Simplified {
    pub fn new(network: &Network) -> Self {
        let operands = network.tensors.len();
        let mut holders = network.holders();
        let mut tensors: Vec<Option<Labels>> = network.tensors.iter().cloned().map(Some).collect();
        let mut neighbours = Neighbours::new(network.extents.len());
        for (number, labels) in network.tensors.iter().enumerate() {
            neighbours.add(number as u32, labels);
        }
        let mut steps = Vec::new();
        // Each tensor is looked at once, and so is each result: what could go into a result could go into its parts.
        let mut number = 0;
        while number < tensors.len() {
            let host = tensors[number].as_ref().and_then(|labels| {
                let rarest = labels.iter().min_by_key(|&&label| neighbours.count(label))?;
                let holds_all = |&other: &usize| {
                    other != number
                        && tensors[other].as_ref().is_some_and(|host| labels.iter().all(|label| host.contains(label)))
                };
                neighbours.with(*rarest).iter().map(|&other| other as usize).filter(holds_all).min()
            });
            if let Some(host) = host
                && let (Some(a), Some(b)) = (tensors[number].take(), tensors[host].take())
            {
                let result = network.result(&holders, &a, &b);
                holders.replace([a.as_slice(), b.as_slice()], &result);
                let new = operands + steps.len();
                neighbours.remove(number as u32, &a);
                neighbours.remove(host as u32, &b);
                neighbours.add(new as u32, &result);
                steps.push((number.min(host), number.max(host)));
                tensors.push(Some(result));
            }
            number += 1;
        }
        let (numbers, left): (Vec<usize>, Vec<Labels>) =
            tensors.into_iter().enumerate().filter_map(|(number, labels)| Some((number, labels?))).unzip();
        let summed = numbers.iter().map(|&number| number >= operands || network.summed[number]).collect();
        let network = Network { tensors: left, open: network.open.clone(), extents: network.extents.clone(), summed };
        Self { network, numbers, steps }
    }

    /// A plan for the whole network from one for what is left of it.
    pub fn expand(&self, pairs: &[Pair]) -> Vec<Pair> {
        let left = self.numbers.len();
        // Each step took two tensors and left one.
        let operands = left + self.steps.len();
        let number = |number: usize| match number.checked_sub(left) {
            None => self.numbers[number],
            Some(step) => operands + self.steps.len() + step,
        };
        self.steps.iter().copied().chain(pairs.iter().map(|&(a, b)| (number(a), number(b)))).collect()
    }
}
