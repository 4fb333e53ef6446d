//! The cache of prepared programs, by the example that prints what it does: its counters, what is refused, the order of
//! inputs, and what results are.

// Only its walk is used here, not its main.
#[allow(dead_code)]
#[path = "../../examples/prepared_cache.rs"]
mod example;

#[test]
fn the_example_does_as_described() {
    let mut text = String::new();
    example::walk(&mut text).unwrap();
    let lines: Vec<String> = text.lines().map(without_rounding).collect();
    let expected: Vec<&str> = include_str!("prepared_cache.txt").lines().collect();
    assert_eq!(lines, expected, "{text}");
}

/// A line whose sum, which is rounded as the order of additions has it, is rounded to four digits.
fn without_rounding(line: &str) -> String {
    let sum = line.split_once("sum = [").and_then(|(head, sum)| Some((head, sum.strip_suffix(']')?)));
    match sum {
        Some((head, sum)) => format!("{head}sum = [{:.4}..]", sum.parse::<f64>().unwrap()),
        None => line.to_owned(),
    }
}
