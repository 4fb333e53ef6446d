//! Programs as graphs.

use tenferro_core::program::SemanticProgram;

const TEXT: &str = r#"
program "say \"hi\""(x: f64[n], "a<b\\c": f64[n]) -> (total: f64, f64[n]) {
  %2 = compare lt x "a<b\\c" : bool[n]
  %3 = select %2 x "a<b\\c" : f64[n]
  %4 = sum axes=[0] %3 : f64
  return %4, %3
}"#;

#[test]
fn dot_has_names_operations_and_types() {
    assert_eq!(
        SemanticProgram::parse(TEXT).unwrap().to_dot(),
        r#"digraph "say \"hi\"" {
  i0 [label="x\nf64[n]", shape=ellipse];
  i1 [label="\"a<b\\\\c\"\nf64[n]", shape=ellipse];
  n0 [label="compare lt\nbool[n]", shape=box];
  i0 -> n0;
  i1 -> n0;
  n1 [label="select\nf64[n]", shape=box];
  n0 -> n1;
  i0 -> n1;
  i1 -> n1;
  n2 [label="sum axes=[0]\nf64", shape=box];
  n1 -> n2;
  o0 [label="total", shape=ellipse];
  n2 -> o0;
  o1 [label="return", shape=ellipse];
  n1 -> o1;
}
"#
    );
}

#[test]
fn mermaid_has_the_same_with_entities() {
    assert_eq!(
        SemanticProgram::parse(TEXT).unwrap().to_mermaid(),
        r##"%% say #34;hi#34;
flowchart TD
  i0(["x<br/>f64[n]"])
  i1(["#34;a#60;b#92;#92;c#34;<br/>f64[n]"])
  n0["compare lt<br/>bool[n]"]
  i0 --> n0
  i1 --> n0
  n1["select<br/>f64[n]"]
  n0 --> n1
  i0 --> n1
  i1 --> n1
  n2["sum axes=[0]<br/>f64"]
  n1 --> n2
  o0(["total"])
  n2 --> o0
  o1(["return"])
  n1 --> o1
"##
    );
}
