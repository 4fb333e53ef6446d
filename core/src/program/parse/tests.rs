//! Random programs of all operations, and random texts. `PROPTEST_CASES` sets the number of cases.
#![allow(clippy::unwrap_used)]

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::{self, Formatter};
use std::hash::{Hash, Hasher};

use num_complex::Complex;
use proptest::prelude::*;

use super::*;
use crate::ad::checkpoint;
use crate::dtype::ScalarValue;
use crate::extension::{AliasDeclaration, EffectDeclaration, ExtensionOp, ShapeContext};
use crate::ops::{Axes, Comparison, Dims};
use crate::program::ProgramBuilder;
use crate::program::attributes::{self, COMPARISONS, ReadAttributes};

/// Decisions of a generator: a list that proptest can shrink, 0 after its end.
struct Tape<'a> {
    choices: &'a [u32],
    at: usize,
}

impl Tape<'_> {
    fn next(&mut self) -> u32 {
        self.at += 1;
        self.choices.get(self.at - 1).copied().unwrap_or(0)
    }

    fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n.max(1)
    }

    fn wide(&mut self) -> u64 {
        u64::from(self.next()) << 32 | u64::from(self.next())
    }

    fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

/// An operation with several results and a payload of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Copies(u32);

impl ExtensionOp for Copies {
    fn family_id(&self) -> &'static str {
        "test.copies.v1"
    }
    fn payload_hash(&self, mut state: &mut dyn Hasher) {
        self.hash(&mut state);
    }
    fn payload_eq(&self, other: &dyn ExtensionOp) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn input_count(&self) -> usize {
        1
    }
    fn output_count(&self) -> usize {
        self.0 as usize
    }
    fn effects(&self) -> EffectDeclaration {
        EffectDeclaration::Declared(&[])
    }
    fn aliases(&self) -> AliasDeclaration {
        AliasDeclaration::AllFresh
    }
    fn infer_output_meta(&self, ctx: &mut ShapeContext<'_>) -> crate::Result<Vec<ValueMeta>> {
        Ok(vec![ctx.input(0).clone(); self.output_count()])
    }
    fn fmt_payload(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.0)
    }
}

struct CopiesParser;

impl PayloadParser for CopiesParser {
    fn family_id(&self) -> &str {
        "test.copies.v1"
    }
    fn parse_payload(&self, text: &str) -> std::result::Result<(ExtensionRef, usize), PayloadError> {
        let end = text.find('>').ok_or_else(|| PayloadError::new(text.len()..text.len(), "expected `>`"))?;
        let number = text[..end].strip_prefix('<').and_then(|n| n.parse().ok()).filter(|n| *n < 9);
        let number = number.ok_or_else(|| PayloadError::new(0..end, "this is no number below 9"))?;
        Ok((Copies(number).into(), end + 1))
    }
}

fn parse(text: &str) -> Result<SemanticProgram> {
    SemanticProgram::parse_with(text, &[&CopiesParser])
}

/// Attributes for a node whose first operand has rank `rank`.
struct RandomAttributes<'t, 'a> {
    tape: &'t mut Tape<'a>,
    dims: &'t [SymDim],
    shape: &'t [SymDim],
    result: ValueMeta,
}

fn scalar(tape: &mut Tape<'_>, dtype: DType) -> ScalarValue {
    let special = [0.0, -0.0, 1.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 1e300, 0.1];
    let mut real = || match tape.below(2) {
        0 => f64::from_bits(tape.wide()),
        _ => tape.of(&special),
    };
    match dtype {
        DType::F32 => ScalarValue::F32(f32::from_bits(real().to_bits() as u32 ^ (real() as f32).to_bits())),
        DType::F64 => ScalarValue::F64(real()),
        DType::C32 => ScalarValue::C32(Complex::new(real() as f32, f32::from_bits(real().to_bits() as u32))),
        DType::C64 => ScalarValue::C64(Complex::new(real(), real())),
        DType::I32 => ScalarValue::I32(real().to_bits() as i32),
        DType::I64 => ScalarValue::I64(real().to_bits() as i64),
        DType::Bool => ScalarValue::Bool(real() > 0.0),
    }
}

impl ReadAttributes for RandomAttributes<'_, '_> {
    type Error = std::convert::Infallible;

    fn scalar(&mut self, _: &str) -> Result<ScalarValue, Self::Error> {
        Ok(scalar(self.tape, self.result.dtype))
    }
    fn dim(&mut self, _: &str) -> Result<SymDim, Self::Error> {
        Ok(self.tape.of(self.dims))
    }
    fn dims(&mut self, key: &str) -> Result<Dims, Self::Error> {
        // Within the operand, so that slices are likely to fit.
        let shape = self.shape.to_vec();
        Ok(match key {
            "start" => vec![SymDim::constant(0); shape.len()],
            "low" | "high" => shape.iter().map(|_| self.tape.of(self.dims)).collect(),
            _ => shape,
        }
        .into())
    }
    fn list(&mut self, key: &str) -> Result<Axes, Self::Error> {
        let rank = self.shape.len() as u32;
        let mut axes: Vec<u32> = (0..rank).collect();
        for i in (1..axes.len()).rev() {
            axes.swap(i, self.tape.below(i + 1));
        }
        match key {
            "stride" => axes.iter_mut().for_each(|a| *a = 1 + *a % 3),
            "axes" if self.tape.below(2) == 0 => axes.truncate(self.tape.below(axes.len() + 1)),
            _ => {}
        }
        Ok(axes.into())
    }
    fn number(&mut self, key: &str) -> Result<u32, Self::Error> {
        let last = usize::from(key == "axis_b" || key == "column");
        Ok((self.tape.below(self.shape.len()).max(last)) as u32)
    }
    fn integer(&mut self, _: &str) -> Result<i64, Self::Error> {
        Ok(self.tape.wide() as i64 >> self.tape.below(64))
    }
    fn comparison(&mut self, _: &str) -> Result<Comparison, Self::Error> {
        Ok(self.tape.of(&COMPARISONS))
    }
    fn result_shape(&mut self, _: &str) -> Result<Dims, Self::Error> {
        Ok(self.result.shape.clone())
    }
    fn result_dtype(&mut self, _: &str) -> Result<DType, Self::Error> {
        Ok(self.result.dtype)
    }
}

const NAMES: [&str; 12] = ["n", "m", "k", "min", "axis", "größe", "a b", "", "\"", "%1", "x\n\u{301}", "return"];

/// A program of some of all operations; operands and attributes that do not fit are passed over.
fn random_program(choices: &[u32], used: &mut BTreeSet<&'static str>) -> SemanticProgram {
    random_program_of(attributes::NAMES, choices, used)
}

fn random_program_of(names: &[&'static str], choices: &[u32], used: &mut BTreeSet<&'static str>) -> SemanticProgram {
    let tape = &mut Tape { choices, at: 0 };
    let mut b = ProgramBuilder::new(tape.of(&NAMES));
    let first = tape.below(NAMES.len());
    let sizes: Vec<SymDim> = (0..3).map(|i| b.size(NAMES[(first + i) % NAMES.len()])).collect();
    let mut order = sizes.clone();
    order.rotate_left(tape.below(3));
    if tape.below(3) == 0 {
        order = order.iter().map(|d| d * 3 - 1).collect();
    }
    let mut dims = vec![SymDim::constant(0), 1.into(), 2.into(), 3.into()];
    dims.extend(sizes.iter().cloned());
    for _ in 0..4 {
        let (x, y) = (tape.of(&dims), tape.of(&dims));
        dims.push(match tape.below(6) {
            0 => &x + &y,
            1 => &x - &y * 2,
            2 => &x * &y,
            3 => x.div(&(&y + 1)),
            4 => x.minimum(&y),
            _ => x.maximum(&y),
        });
    }
    // A number below 0 is no extent.
    let extent = |dim: SymDim| if dim.as_const().is_some_and(|n| n < 0) { -dim } else { dim };
    let mut values = vec![b.input("all", DType::F64, &order).unwrap()];
    let mut shapes: Vec<Vec<SymDim>> = vec![Vec::new(), order.clone()];
    for i in 0..6 {
        let dtype = if i == 5 { DType::I64 } else { tape.of(&DType::ALL) };
        let shape: Vec<SymDim> = match tape.below(3) {
            _ if i == 5 => Vec::new(),
            0 => tape.of(&shapes),
            _ => (0..tape.below(4)).map(|_| extent(tape.of(&dims))).collect(),
        };
        shapes.push(shape.clone());
        let name = format!("{}{i}", tape.of(&NAMES));
        values.push(b.input(name, dtype, &shape).unwrap());
    }
    let mut value_sizes = 0;
    if tape.below(2) == 0 {
        let _ = b.guard(&tape.of(&dims), Relation::Le, &tape.of(&dims), "because \"of\"\nthis");
    }
    for _ in 0..60 {
        let base = tape.of(&values);
        let meta = b.meta(base).clone();
        if tape.below(16) == 0 {
            values.extend(b.extension(Copies(1 + tape.next() % 3), &[base]).unwrap());
            continue;
        }
        let integer = matches!(meta.dtype, DType::I32 | DType::I64);
        if tape.below(3) == 0 && meta.rank() == 0 && integer {
            // May be known to be out of bounds.
            let name = NAMES[(first + 3 + value_sizes) % NAMES.len()];
            if let Ok(size) = b.size_of_value(name, base, &tape.of(&dims)) {
                // The same value again is the same size.
                value_sizes += usize::from(b.size_names().0.last().is_some_and(|size| size.name == name));
                dims.push(size.clone());
                dims.push(&size * 2 + 1);
                shapes.push(vec![size]);
            }
            continue;
        }
        if tape.below(16) == 0 {
            let program = callee(tape, &meta, 0);
            // An extent that is known may be beyond what the program allows.
            if let Ok(results) = checkpoint(&mut b, program, &[base]) {
                values.extend(results);
            }
            continue;
        }
        let name = tape.of(names);
        let mut shape = if tape.below(2) == 0 { meta.shape.to_vec() } else { tape.of(&shapes) };
        if name == "reshape" {
            shape = meta.shape.iter().rev().cloned().collect();
        }
        let result = ValueMeta::new(tape.of(&DType::ALL), shape);
        let reader = &mut RandomAttributes { tape, dims: &dims, shape: &meta.shape, result };
        let Ok(op) = attributes::read(name, reader);
        let op = op.unwrap();
        let row = op.row();
        let mut inputs = vec![base];
        for i in 1..row.arity().unwrap_or(1 + tape.below(3)) {
            // Mostly an operand like the first.
            let like = |v: &&ValueId| tape.below(4) > 0 && b.meta(**v) == &meta || i > 5;
            let found = values.iter().rev().filter(like).last().copied();
            inputs.push(found.unwrap_or_else(|| tape.of(&values)));
        }
        inputs.truncate(row.arity().unwrap_or(usize::MAX));
        for _ in 0..8 {
            // Limits of the parser; and operands that do not fit.
            if let Ok(value) = b.op(op.clone(), &inputs) {
                let small = |d: &SymDim| d.terms.len() <= 6;
                if b.meta(value).shape.iter().all(small) && b.meta(value).rank() <= 5 {
                    used.insert(name);
                    values.push(value);
                }
                break;
            }
            for input in &mut inputs {
                *input = tape.of(&values);
            }
        }
    }
    let outputs: Vec<(Option<&str>, ValueId)> = values.iter().rev().take(40).map(|&v| (None, v)).collect();
    let mut outputs = outputs;
    outputs[0].0 = Some("f64");
    outputs[1].0 = Some("the result");
    b.finish(&outputs).unwrap()
}

/// A program of one value of this rank and dtype, which may call others.
fn callee(tape: &mut Tape<'_>, meta: &ValueMeta, depth: usize) -> SemanticProgram {
    let mut b = ProgramBuilder::new(tape.of(&NAMES));
    let shape: Vec<SymDim> = (0..meta.rank()).map(|i| b.size(format!("{}{i}", NAMES[tape.below(12)]))).collect();
    let x = b.input(tape.of(&NAMES), meta.dtype, &shape).unwrap();
    let mut y = x;
    for _ in 0..tape.below(3) {
        y = b.extension(Copies(1 + tape.next() % 2), &[y]).unwrap()[0];
        if depth < 3 && tape.below(2) == 0 {
            let inner = callee(tape, &b.meta(y).clone(), depth + 1);
            y = checkpoint(&mut b, inner, &[y]).unwrap()[0];
        }
    }
    if meta.rank() > 0 {
        let _ = b.guard(&shape[0], Relation::Le, &7.into(), "because \"of\"\nthis");
    }
    b.finish(&[(None, y), (Some(tape.of(&NAMES)), x)]).unwrap()
}

fn tape() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(any::<u32>(), 0..900)
}

fn assert_round_trip(program: &SemanticProgram) {
    let text = program.to_string();
    let read = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read, *program, "{text}");
    assert_eq!(read.to_string(), text);
}

proptest! {
    #[test]
    fn random_programs_are_read_back(choices in tape()) {
        assert_round_trip(&random_program(&choices, &mut BTreeSet::new()));
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        if let Err(error) = parse(&text) {
            let _ = error.to_string();
        }
    }

    #[test]
    fn damaged_programs_are_read_or_refused(
        choices in tape(),
        edits in proptest::collection::vec((any::<u16>(), any::<u16>(), 0u8..4, any::<u16>()), 1..6),
    ) {
        let mut text = random_program(&choices, &mut BTreeSet::new()).to_string();
        for (at, length, kind, from) in edits {
            let place = |n: u16| (0..=usize::from(n) % (text.len() + 1)).rev().find(|&i| text.is_char_boundary(i)).unwrap();
            let (at, from) = (place(at), place(from));
            let end = |at: usize| {
                let wanted = (at + usize::from(length) % 24).min(text.len());
                (at..=wanted).rev().find(|&i| text.is_char_boundary(i)).unwrap()
            };
            let piece = text[from..end(from)].to_string();
            match kind {
                0 => text.replace_range(at..end(at), ""),
                1 => text.insert_str(at, &piece),
                2 => text.replace_range(at..end(at), &piece),
                _ => text.insert_str(at, ["9", "-", "min(", "[", "\"", "\\u{", "%0", "n*", "//", "\n"][from % 10]),
            }
        }
        match parse(&text) {
            Ok(program) => assert_round_trip(&program),
            Err(error) => drop(error.to_string()),
        }
    }
}

#[test]
fn nodes_may_be_unused_or_equal_or_have_no_result() {
    let text = "program f(x: f64) -> f64 {\n  test.copies.v1 <0> x :\n  %1 = exp x : f64\n  %2 = exp x : f64\n  \
                %3, %4 = test.copies.v1 <2> %2 : f64, f64\n  return %4\n}\n";
    let program = parse(text).unwrap();
    assert_eq!(program.to_string(), text);
    assert_round_trip(&program);
}

#[test]
fn every_operation_is_read_back() {
    let mut used = BTreeSet::new();
    let mut with_value_sizes = 0;
    let mut state = 1u64;
    let mut choices = || -> Vec<u32> {
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32
        };
        (0..900).map(|_| next()).collect()
    };
    // Each by itself, until it fits.
    for name in attributes::NAMES {
        for _ in 0..1000 {
            if used.contains(name) {
                break;
            }
            assert_round_trip(&random_program_of(&[name], &choices(), &mut used));
        }
    }
    for _ in 0..100 {
        let program = random_program(&choices(), &mut used);
        assert_round_trip(&program);
        with_value_sizes += usize::from(program.value_sizes().next().is_some());
    }
    assert!(with_value_sizes > 5, "only {with_value_sizes} random programs read sizes off values");
    let unused: Vec<_> = attributes::NAMES.iter().filter(|n| !used.contains(*n)).collect();
    assert!(unused.is_empty(), "no random program uses {unused:?}");
}

#[test]
fn a_checkpointed_call_holds_its_program() {
    let text = "\
program f(x: f64[2*n]) -> f64[2*n] {
  %1 = tenferro.checkpoint.v1 program g(y: f64[m]) -> (f64[m], last: f64[m]) {
    %1 = tenferro.checkpoint.v1 program h(z: f64[k]) -> f64[k] {
      %1 = exp z : f64[k]
      return %1
    } y : f64[m]
    %2 = sin %1 : f64[m]
    return %2, %1
  } x : f64[2*n], f64[2*n]
  %3 = add %1 %2 : f64[2*n]
  return %3
}
";
    let text = &text.replace("%1 = tenferro.checkpoint.v1 program g", "%1, %2 = tenferro.checkpoint.v1 program g");
    let program = parse(text).unwrap();
    assert_eq!(program.to_string(), *text);
    assert_round_trip(&program);
    let drawn = program.to_dot();
    assert!(drawn.contains(r"tenferro.checkpoint.v1 program g(y: f64[m]) -> (f64[m], last: f64[m])\nf64"), "{drawn}");

    let error = parse(&text.replace("exp z", "exp x")).unwrap_err();
    assert!((error.line(), error.message()) == (4, "there is no value `x`"), "{error}");
    let error = parse(&text.replace("} x :", "} :")).unwrap_err();
    assert!(error.message().contains("`operands` must be 1, not 0"), "{error}");
    let error = parse(&text.replacen("tenferro.checkpoint.v1 program h", "tenferro.checkpoint.v1 h", 1)).unwrap_err();
    assert!(error.message().contains("expected `program`"), "{error}");
}

#[test]
fn the_depth_of_programs_in_programs_is_limited() {
    let nested = |depth: usize| {
        let call = "program f(x: f64) -> f64 { %1 = tenferro.checkpoint.v1 ";
        let innermost = "program f(x: f64) -> f64 { return x }";
        parse(&format!("{}{innermost}{}", call.repeat(depth), " x : f64 return %1 }".repeat(depth)))
    };
    assert_round_trip(&nested(DEPTH).unwrap());
    let error = nested(100_000).unwrap_err();
    assert!(error.message().contains("at most 64 others"), "{error}");
}
