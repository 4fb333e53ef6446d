//! The text form of programs: what it shows, and what reading it refuses.

use tenferro_core::dtype::{DType, ScalarValue};
use tenferro_core::program::{ProgramBuilder, Relation, SemanticProgram, SizeBinding};
use tenferro_core::shape::{SizeId, SymDim};

#[test]
fn sizes_are_written_where_the_inputs_do_not_tell_them() {
    let mut b = ProgramBuilder::new("a program");
    let [n, m] = [b.size("n"), b.size("m")];
    let x = b.input("x", DType::F64, &[&m * 2 - &n, m.clone()]).unwrap();
    let y = b.input("the y", DType::F32, std::slice::from_ref(&n)).unwrap();
    b.guard(&n, Relation::Le, &m, "n is\nsmall").unwrap();
    let program = b.finish(&[(Some("f64"), x), (None, y)]).unwrap();
    let text = "\
program \"a program\"<n, m>(x: f64[2*m - n, m], \"the y\": f32[n]) -> (f64: f64[2*m - n, m], f32[n]) {
  guard n <= m, \"n is\\nsmall\"
  guard 0 <= 2*m - n, \"an extent\"
  return x, \"the y\"
}
";
    assert_eq!(program.to_string(), text);
    assert_eq!(SemanticProgram::parse(text).unwrap(), program);

    let bound = "program f<n = axis 0 of y>(x: f64[n], y: f64[2*n]) -> f64[n] {\n  return x\n}\n";
    let program = SemanticProgram::parse(bound).unwrap();
    assert_eq!(program.to_string(), bound);
    assert_eq!(program.sizes()[0].binding, SizeBinding::Axis { input: 1, axis: 0, scale: 2, offset: 0 });
    assert_ne!(
        program.fingerprint(),
        SemanticProgram::parse(&bound.replace(" = axis 0 of y", "")).unwrap().fingerprint()
    );
}

#[test]
fn constants_keep_their_bits() {
    let nan = f64::from_bits(0xfff8_0000_0000_1234);
    for (value, text) in [
        (ScalarValue::F64(-0.0), "-0.0"),
        (ScalarValue::F64(f64::NAN), "NaN"),
        (ScalarValue::F64(nan), "NaN(0xfff8000000001234)"),
        (ScalarValue::F32(f32::NEG_INFINITY), "-inf"),
        (ScalarValue::F64(5e-324), "5e-324"),
        (ScalarValue::F32(0.1), "0.1"),
        (ScalarValue::C64(tenferro_core::Complex::new(-0.0, f64::INFINITY)), "-0+infi"),
        (ScalarValue::C64(tenferro_core::Complex::new(1e-7, nan)), "1e-7+NaN(0xfff8000000001234)i"),
        (ScalarValue::C32(tenferro_core::Complex::new(1.5, -2.0)), "1.5-2i"),
        (ScalarValue::I64(i64::MIN), "-9223372036854775808"),
        (ScalarValue::Bool(true), "true"),
    ] {
        let mut b = ProgramBuilder::new("f");
        let c = b.constant(value).unwrap();
        let program = b.finish(&[(None, c)]).unwrap();
        let printed = program.to_string();
        assert!(printed.contains(&format!("= constant {text} : ")), "{printed}");
        assert_eq!(SemanticProgram::parse(&printed).unwrap(), program);
    }
}

#[test]
fn hand_written_text_may_number_results_freely_and_leave_out_implied_guards() {
    let program: SemanticProgram = "
        program f(x: f64[n], y: f64[m]) -> f64[n] {  // a comment
            %77 = add x y : f64[n] %5 = mul
              %77 x : f64[n]
            return %5
        }"
    .parse()
    .unwrap();
    program.verify().unwrap();
    assert_eq!(program.guards().len(), 1);
    assert!(program.bind(&[&[3], &[4]]).is_err());
}

#[test]
fn that_extents_are_not_negative_is_implied_and_an_invariant() {
    let text = "program f(x: f64[n, n - 2]) -> f64[n, n - 2] { return x }";
    let program = SemanticProgram::parse(text).unwrap();
    program.verify().unwrap();
    let mut b = ProgramBuilder::new("f");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n.clone(), &n - 2]).unwrap();
    assert_eq!(b.finish(&[(None, x)]).unwrap(), program);
    assert!(program.to_string().contains("guard 0 <= n - 2"), "{program}");
    let mut damaged = program.clone();
    damaged.guards = Vec::new().into();
    let message = damaged.verify().unwrap_err().to_string();
    assert!(message.contains("a guard is missing that the extent n - 2 is not negative"), "{message}");
}

#[test]
fn extensions_need_a_parser_of_their_family() {
    let error = SemanticProgram::parse("program f(x: f64) -> f64 { %1 = a.b.v1 x : f64 return %1 }").unwrap_err();
    assert_eq!(error.message(), "no parser of the family `a.b.v1` was given");
}

#[test]
fn errors_name_the_place() {
    let body = |body: &str| format!("program f(x: f64[n], y: f64[n, m]) -> f64[n] {{\n  {body}\n  return %2\n}}\n");
    for (text, place, part) in [
        (body("%2 = sine x : f64[n]"), (2, 8), "no operation `sine`"),
        (body("%2 = exp z : f64[n]"), (2, 12), "no value `z`"),
        (body("%2 = exp x : f64[k]"), (2, 20), "no input has a size `k`"),
        (body("%2 = exp x : f64[m]"), (2, 16), "exp gives f64[n]"),
        (body("%2 = exp x : f32[n]"), (2, 16), "exp gives f64[n]"),
        (body("%2 = exp x : g64[n]"), (2, 16), "no dtype `g64`"),
        (body("%2 = add x : f64[n]"), (2, 8), "must be 2, not 1"),
        (body("%2 = add x y : f64[n]"), (2, 8), "has shape [n, m], expected [n]"),
        (body("%2 = sum axes=[2] y : f64[n]"), (2, 8), "names axis 2"),
        (body("%2 = sum axis=[1] y : f64[n]"), (2, 12), "expected `axes`"),
        (body("%2 = sum axes=[1 y : f64[n]"), (2, 20), "expected `]`"),
        (body("%2 = sum axes=[99999999999] y : f64[n]"), (2, 18), "not below 2^32"),
        (body("%2 = compare less x x : bool[n]"), (2, 16), "expected `eq`, `ne`"),
        (body("%2 = constant 1.0.0 : f64"), (2, 17), "no number"),
        (body("%2 = constant 99999999999 : i32"), (2, 17), "out of range"),
        (body("%2 = constant NaN(0x0) : f64"), (2, 17), "not the bits of a NaN"),
        (body("%2 = exp x"), (2, 8), "the type of the result are missing"),
        (body("%2 = exp x\n  %3 = exp x : f64[n]"), (3, 3), "before `%3`, `:` and the type"),
        (body("%2, %3 = exp x : f64[n]"), (2, 12), "exp has 1 results"),
        (body("%2 = exp x : f64[n]\n  %2 = exp x : f64[n]"), (3, 3), "%2 is defined twice"),
        (body("guard n < m, \"\"\n  %2 = exp x : f64[n]"), (2, 11), "expected `==` or `<=`"),
        (body("guard mod(n, 2) == 0, \"\"\n  %2 = exp x : f64[n]"), (2, 9), "no function `mod`"),
        (body("guard n == 0, \"open\n  %2 = exp x : f64[n]"), (2, 17), "not closed"),
        (body("%2 = sum axes=[0] x : f64"), (3, 10), "this is f64, but f64[n] is declared"),
        ("".into(), (1, 1), "expected `program`, but the text ends here"),
        ("program f(x: f64, x: f64) -> f64 { return x }".into(), (1, 19), "two inputs are named `x`"),
        ("program f(x: f64[n*n]) -> f64 { return x }".into(), (1, 22), "size `n` is not determined"),
        ("program f<n = axis 1 of x>(x: f64[n]) -> f64[n] { return x }".into(), (1, 11), "axis 1 of `x` does not"),
        ("program f<n, n>(x: f64[n]) -> f64[n] { return x }".into(), (1, 14), "two sizes are named `n`"),
        ("program f(x: f64) -> f64 { return x, x }".into(), (1, 28), "2 values are returned, but 1"),
        ("program f(x: f64) -> f64 { return x } x".into(), (1, 39), "expected the end of the text, found `x`"),
    ] {
        let text: String = text;
        let error = SemanticProgram::parse(&text).unwrap_err();
        assert_eq!((error.line(), error.column()), place, "{text}{error}");
        assert!(error.message().contains(part), "{text}{error}");
    }
}

#[test]
fn long_lines_are_shown_around_the_place() {
    let text = format!("program f(x: f64) -> f64 {{ {}oops x : f64 }}", " ".repeat(500));
    let shown = SemanticProgram::parse(&text).unwrap_err().to_string();
    assert!(shown.lines().all(|line| line.chars().count() < 200), "{shown}");
}

/// Texts that would take quadratic or exponential time, or overflow the stack, were there no bounds.
#[test]
fn hostile_texts_are_refused_at_once() {
    let n = 20_000;
    let in_input = |extent: String| format!("program f(x: f64[{extent}]) -> f64 {{ return x }}");
    let sums: Vec<String> = (0..40).map(|i| format!("a{i} + b{i}")).collect();
    for text in [
        in_input("min(".repeat(n)),
        in_input("n + ".repeat(n)),
        in_input("n*".repeat(n)),
        in_input("n, ".repeat(n)),
        in_input(sums.join(", ")),
        in_input(format!("n, {}", ["(n + 1)"; 100].join("*"))),
        in_input(format!("n, m, k, {}", ["(n + m + k + 1)"; 6].join("*"))),
        in_input(sums.iter().map(|sum| format!("({sum})")).collect::<Vec<_>>().join("*")),
        format!("program f(x: f64) -> f64 {{ %1 = sum axes=[{}] x : f64", "1, ".repeat(n)),
        format!("program f(x: f64) -> f64 {{ %1 = concatenate axis=0 {} : f64", "x ".repeat(n)),
        "(".repeat(n),
        "program ".repeat(n),
    ] {
        assert!(SemanticProgram::parse(&text).is_err());
    }
}

/// Extents of which it is hard to say whether they are negative.
#[test]
fn extents_of_many_undecided_factors_are_read_at_once() {
    let joined =
        |factor: fn(usize) -> String, count: usize, by: &str| (1..=count).map(factor).collect::<Vec<_>>().join(by);
    let nested = (1..4).fold("k - 1".to_string(), |all, i| format!("max(min(({all})*(k - {i}), n), ({i} - n)/2)"));
    for extent in [
        joined(|i| format!("min(k - {i}, n)"), 20, "*"),
        joined(|i| format!("min(k - {i}, n)"), 60, "*"),
        joined(|i| format!("max(min(k - {i}, n), {i} - n*k)"), 25, "*"),
        format!("n/{}", joined(|i| format!("(k - {i})"), 60, "/")),
        nested,
    ] {
        let text = format!(
            "program f<n, k = c <= n>(x: f64[n], c: i64) -> f64[{extent}] {{
               %1 = slice start=[0] limit=[{extent}] stride=[1] x : f64[{extent}]
               return %1
             }}"
        );
        let program = SemanticProgram::parse(&text).unwrap();
        assert_eq!(SemanticProgram::parse(&program.to_string()).unwrap(), program);
    }
}

#[test]
fn extents_at_the_ends_of_64_bits_are_read_back() {
    let n = SymDim::size(SizeId(0));
    let least = SymDim::from(i64::MIN);
    for dim in [
        n.minimum(&least),
        &n + i64::MIN,
        &n * i64::MIN + 1,
        &n + i64::MAX,
        least.div(&n),
        (&n * i64::MIN).div(&(&n * -1)),
        n.div(&least),
        least.div(&(-1).into()),
        &n * i64::MAX * i64::MAX,
    ] {
        let text = format!("program f<n>(x: f64[n]) -> f64[n] {{\n  guard n == {dim}, \"so\"\n  return x\n}}\n")
            .replace("s0", "n");
        let program = SemanticProgram::parse(&text).unwrap();
        assert!([&program.guards()[0].lhs, &program.guards()[0].rhs].contains(&&dim), "{dim}: {program}");
        assert_eq!(SemanticProgram::parse(&program.to_string()).unwrap(), program);
    }
}

#[test]
fn sizes_of_one_name_are_refused() {
    let mut b = ProgramBuilder::new("f");
    let [n, m] = [b.size("n"), b.size("n")];
    let x = b.input("x", DType::F64, &[n, m, SymDim::constant(2)]).unwrap();
    let message = b.finish(&[(None, x)]).unwrap_err().to_string();
    assert!(message.contains("two sizes are named `n`"), "{message}");
}

#[test]
fn numbers_out_of_range_are_no_infinities() {
    let text = |number: &str, dtype: &str| {
        format!("program f() -> {dtype} {{\n  %0 = constant {number} : {dtype}\n  return %0\n}}\n")
    };
    assert!(SemanticProgram::parse(&text("-inf", "f64")).is_ok());
    assert!(SemanticProgram::parse(&text("1e300", "f64")).is_ok());
    for (number, dtype) in [("1e999", "f64"), ("-1e999", "f64"), ("1e300", "f32")] {
        let error = SemanticProgram::parse(&text(number, dtype)).unwrap_err().to_string();
        assert!(error.contains("out of range"), "{error}");
    }
}
