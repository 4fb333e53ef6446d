//! The payload in the text form of a program: what [`EinsumOp`] prints, read back.

use std::ops::Range;

use tenferro_core::extension::ExtensionRef;
use tenferro_core::program::{PayloadError, PayloadParser};

use crate::notation::EinsumNotation;
use crate::op::{EinsumOp, FAMILY_ID};
use crate::planning::EinsumOptimize;

/// Reads einsums in the text form of a program, for
/// [`SemanticProgram::parse_with`](tenferro_core::program::SemanticProgram::parse_with).
///
/// ```
/// use tenferro_core::program::SemanticProgram;
/// use tenferro_einsum::EinsumPayloads;
/// let text = "\
/// program product(x: f64[n, m], y: f64[m, k]) -> f64[n, k] {
///   %2 = tenferro.einsum.v1 \"ij,jk->ik\" x y : f64[n, k]
///   return %2
/// }
/// ";
/// assert_eq!(SemanticProgram::parse_with(text, &[&EinsumPayloads])?.to_string(), text);
/// # Ok::<(), tenferro_core::program::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EinsumPayloads;

/// The largest rank of an operand or the output.
const RANK: usize = 64;

impl PayloadParser for EinsumPayloads {
    fn family_id(&self) -> &str {
        FAMILY_ID
    }

    fn parse_payload(&self, text: &str) -> Result<(ExtensionRef, usize), PayloadError> {
        let notation = text.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let Some((notation, rest)) = notation else {
            return Err(PayloadError::new(0..text.len().min(1), "expected an einsum notation between quotes"));
        };
        let end = text.len() - rest.len();
        let (plan, length) = plan(rest).map_err(|message| PayloadError::new(end..text.len(), message))?;
        let op = einsum(notation, plan)
            .map_err(|(span, message)| PayloadError::new(span.start + 1..span.end + 1, message))?;
        Ok((op.into(), end + length))
    }
}

/// The einsum of a notation without ellipsis and parentheses: a payload has neither.
fn einsum(notation: &str, plan: EinsumOptimize) -> Result<EinsumOp, (Range<usize>, String)> {
    let all = 0..notation.len();
    let parsed = EinsumNotation::parse(notation).map_err(|error| (error.span(), error.message().to_owned()))?;
    if let Some(at) = notation.find(['.', '(', ')']) {
        return Err((at..at + 1, "a payload has no ellipsis and no parentheses".to_owned()));
    }
    let (operands, output) = notation.split_once("->").unwrap_or((notation, ""));
    let axes = |term: &str| term.chars().filter(|c| c.is_alphabetic()).count();
    let ranks: Vec<usize> = operands.split(',').map(axes).collect();
    if ranks.iter().copied().chain([axes(output)]).any(|rank| rank > RANK) {
        return Err((all, format!("a term has at most {RANK} labels")));
    }
    let mut stretch = Vec::new();
    for (operand, term) in operands.split(',').enumerate() {
        let mut axis = 0u32;
        for c in term.chars() {
            match c {
                '#' => stretch.push((operand as u32, axis)),
                c => axis += u32::from(c.is_alphabetic()),
            }
        }
    }
    let labels = parsed.resolve(&ranks).map_err(|error| (error.span(), error.message().to_owned()))?;
    EinsumOp::new(labels, &stretch, plan).map_err(|error| (all, error.to_string()))
}

/// The plan after the notation, `, optimize = greedy` or `, path = [(0, 1)]`, and how many bytes it takes.
fn plan(text: &str) -> Result<(EinsumOptimize, usize), String> {
    let Some(rest) = text.trim_start().strip_prefix(',') else { return Ok((EinsumOptimize::Auto, 0)) };
    let Some((key, value)) = rest.split_once('=') else {
        return Err("expected `optimize = ..` or `path = ..`".to_owned());
    };
    let value = value.trim_start();
    let (plan, rest) = match key.trim() {
        "optimize" => {
            let end = value.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(value.len());
            let plans = [
                EinsumOptimize::Auto,
                EinsumOptimize::Greedy,
                EinsumOptimize::LeftToRight,
                EinsumOptimize::Pairwise,
                EinsumOptimize::Optimal,
            ];
            let shown = |plan: &EinsumOptimize| plan.to_string() == format!("optimize = {}", &value[..end]);
            let plan = plans.into_iter().find(shown).ok_or_else(|| format!("there is no plan `{}`", &value[..end]))?;
            (plan, &value[end..])
        }
        "path" => {
            let inside = value.strip_prefix('[').and_then(|v| v.split_once(']'));
            let (pairs, rest) = inside.ok_or("expected pairs between brackets")?;
            (EinsumOptimize::Path(positions(pairs)?.into()), rest)
        }
        key => return Err(format!("there is no option `{key}`; there are `optimize` and `path`")),
    };
    Ok((plan, text.len() - rest.len()))
}

/// `(0, 1), (0, 1)`
fn positions(text: &str) -> Result<Vec<(u32, u32)>, String> {
    let expected = || "expected pairs of positions as `(0, 1)`".to_owned();
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (pair, after) = rest.strip_prefix('(').and_then(|r| r.split_once(')')).ok_or_else(expected)?;
        let (a, b) = pair.split_once(',').ok_or_else(expected)?;
        let number = |n: &str| n.trim().parse().map_err(|_| expected());
        pairs.push((number(a)?, number(b)?));
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Ok(pairs)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::subscripts::Subscripts;

    fn read(text: &str) -> Result<(EinsumOp, usize), PayloadError> {
        let (op, length) = EinsumPayloads.parse_payload(text)?;
        Ok((op.as_any().downcast_ref::<EinsumOp>().unwrap().clone(), length))
    }

    fn op() -> impl Strategy<Value = EinsumOp> {
        let term = || proptest::collection::vec(0u32..60, 0..5);
        let marks = proptest::collection::vec((0u32..4, 0u32..5), 0..4);
        (proptest::collection::vec(term(), 1..5), term(), marks, 0usize..6).prop_map(|(inputs, output, marks, plan)| {
            let known = |label: &u32| inputs.iter().any(|labels| labels.contains(label));
            let output: Vec<u32> = output.into_iter().filter(known).collect();
            let exists = |&(i, axis): &(u32, u32)| inputs.get(i as usize).is_some_and(|l| (axis as usize) < l.len());
            let marks: Vec<(u32, u32)> = marks.into_iter().filter(exists).collect();
            let path = EinsumOptimize::Path(vec![(0, 1); inputs.len() - 1].into());
            let plans = [
                EinsumOptimize::Auto,
                EinsumOptimize::Greedy,
                EinsumOptimize::LeftToRight,
                EinsumOptimize::Pairwise,
                EinsumOptimize::Optimal,
                path,
            ];
            EinsumOp::new(Subscripts::new(inputs, output), &marks, plans[plan].clone()).unwrap()
        })
    }

    proptest! {
        #[test]
        fn payloads_are_read_back(op in op()) {
            let text = op.to_string();
            prop_assert_eq!(read(&text), Ok((op.clone(), text.len())));
            prop_assert_eq!(read(&format!("{text} x \"y, z\" : f64")), Ok((op, text.len())));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}", start in "\"[a-c#,. ()->]{0,20}(\"|, )?") {
            for text in [&text, &start, &format!("{start}{text}")] {
                if let Ok((op, length)) = read(text) {
                    prop_assert_eq!(read(&op.to_string()).unwrap().0, op);
                    prop_assert!(text.is_char_boundary(length));
                }
            }
        }
    }

    #[test]
    fn errors_have_a_place() {
        for (text, span, part) in [
            ("x", 0..1, "between quotes"),
            ("\"ij,jk->im\" x", 9..10, "`m` is on no operand"),
            ("\"...i->i\" x", 1..2, "no ellipsis"),
            ("\"ij->\", optimize = best x", 6..25, "no plan `best`"),
            ("\"ij->\", path = [(0)] x", 6..22, "pairs of positions"),
            ("\"ij->\", order = 1", 6..17, "no option `order`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.span == span && error.message.contains(part), "{text}: {error:?}");
        }
    }
}
