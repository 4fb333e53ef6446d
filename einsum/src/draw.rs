//! Pictures of a contraction tree, in the language of Graphviz and as SVG.

use std::fmt::{Display, Write};

use crate::subscripts::{Letter, write_subscripts};
use crate::tree::ContractionTree;

/// Pixels between neighbouring operands, between levels, and around the picture.
const ACROSS: f64 = 64.0;
const DOWN: f64 = 56.0;
const MARGIN: f64 = 40.0;

impl ContractionTree {
    /// The tree as a Graphviz digraph: operands with their labels, steps with equation, flops and size.
    ///
    /// ```
    /// use tenferro_einsum::{EinsumNotation, EinsumOp};
    /// let shapes: [&[usize]; 2] = [&[2, 3], &[3, 4]];
    /// let tree = EinsumOp::concrete(&EinsumNotation::parse("ij,jk->ik")?, &shapes)?.tree(&shapes)?;
    /// assert_eq!(tree.to_dot(), r#"digraph "ij,jk->ik" {
    ///   rankdir=BT;
    ///   t0 [label="0\nij", shape=box];
    ///   t1 [label="1\njk", shape=box];
    ///   t2 [label="2\nij,jk->ik\nflops 2.400e1\nsize 8.000e0", shape=ellipse];
    ///   t0 -> t2;
    ///   t1 -> t2;
    /// }
    /// "#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_dot(&self) -> String {
        let mut dot = format!("digraph \"{}\" {{\n  rankdir=BT;\n", self.equation());
        for operand in 0..self.operands().len() {
            put(&mut dot, format_args!("  t{operand} [label=\"{operand}\\n{}\", shape=box];\n", self.term(operand)));
        }
        for (index, step) in self.steps().iter().enumerate() {
            let number = self.operands().len() + index;
            let (equation, flops, size) = (step.equation(), step.cost, step.size);
            put(
                &mut dot,
                format_args!(
                    "  t{number} [label=\"{number}\\n{equation}\\nflops {flops:.3e}\\nsize {size:.3e}\", shape=ellipse];\n"
                ),
            );
            for operand in &step.operands {
                put(&mut dot, format_args!("  t{} -> t{number};\n", operand.slot));
            }
        }
        dot + "}\n"
    }

    /// The tree as an SVG image: operands at the bottom in the order in which the tree takes them, each step above what
    /// it takes. A disc's radius grows with the logarithm of the step's flops, a line's width with that of the size of
    /// what it carries; pointing at either shows the figures.
    pub fn to_svg(&self) -> String {
        let places = self.places();
        let right = places.iter().map(|place| place.0).fold(0.0, f64::max);
        let top = places.iter().map(|place| place.1).fold(0.0, f64::max);
        let at = |tensor: usize| (MARGIN + places[tensor].0 * ACROSS, MARGIN + (top - places[tensor].1) * DOWN);
        let (width, height) = (2.0 * MARGIN + right * ACROSS, 2.0 * MARGIN + top * DOWN);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
             {height}\" font-family=\"monospace\" font-size=\"11\" text-anchor=\"middle\">\n"
        );
        put(&mut svg, format_args!("<title>{}</title>\n", escaped(&self.equation())));
        for (index, step) in self.steps().iter().enumerate() {
            let (x, y) = at(self.operands().len() + index);
            for operand in &step.operands {
                let (from_x, from_y) = at(operand.slot);
                let size = self.elements(&operand.labels);
                let line = 1.0 + 0.4 * size.max(1.0).log2().min(30.0);
                put(
                    &mut svg,
                    format_args!(
                        "<line x1=\"{from_x:.1}\" y1=\"{from_y:.1}\" x2=\"{x:.1}\" y2=\"{y:.1}\" stroke=\"#8aa\" \
                         stroke-width=\"{line:.1}\"><title>size {size:.3e}</title></line>\n"
                    ),
                );
            }
        }
        for (index, step) in self.steps().iter().enumerate() {
            let (x, y) = at(self.operands().len() + index);
            let radius = 3.0 + 0.5 * step.cost.max(1.0).log2().min(40.0);
            let (equation, flops, size) = (escaped(&step.equation()), step.cost, step.size);
            put(
                &mut svg,
                format_args!(
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"#c63\"><title>{equation}, flops \
                     {flops:.3e}, size {size:.3e}</title></circle>\n"
                ),
            );
        }
        for operand in 0..self.operands().len() {
            let (x, y) = at(operand);
            put(&mut svg, format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#246\"/>\n"));
            let (below, term) = (y + 18.0, self.term(operand));
            put(&mut svg, format_args!("<text x=\"{x:.1}\" y=\"{below:.1}\">{operand}: {}</text>\n", escaped(&term)));
        }
        svg + "</svg>\n"
    }

    /// Per tensor, how far from the left it stands and how high.
    fn places(&self) -> Vec<(f64, f64)> {
        let operands = self.operands().len();
        let mut places = vec![(0.0, 0.0); operands + self.steps().len()];
        // From the last step down, so that operands come in the order in which the tree takes them.
        let mut next = 0.0;
        let mut stack: Vec<usize> = places.len().checked_sub(1).into_iter().collect();
        while let Some(tensor) = stack.pop() {
            match tensor.checked_sub(operands) {
                None => {
                    places[tensor].0 = next;
                    next += 1.0;
                }
                Some(step) => stack.extend(self.steps()[step].operands.iter().rev().map(|operand| operand.slot)),
            }
        }
        for (index, step) in self.steps().iter().enumerate() {
            let below = || step.operands.iter().map(|operand| places[operand.slot]);
            let across = below().map(|place| place.0).sum::<f64>() / step.operands.len() as f64;
            places[operands + index] = (across, 1.0 + below().map(|place| place.1).fold(0.0, f64::max));
        }
        places
    }

    fn equation(&self) -> String {
        let mut text = String::new();
        let op = self.op();
        // Writing to a string does not fail.
        _ = write_subscripts(&mut text, op.inputs.iter().map(|labels| &**labels), &op.output, |operand, axis| {
            op.stretches(operand, axis)
        });
        text
    }

    /// The labels of an operand as they are written.
    fn term(&self, operand: usize) -> String {
        self.op().inputs[operand].iter().map(|&label| Letter(label).to_string()).collect()
    }
}

fn put(text: &mut String, what: impl Display) {
    // Writing to a string does not fail.
    _ = write!(text, "{what}");
}

/// `->` as XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
