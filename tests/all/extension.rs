//! An operation family from outside: softplus with a payload, a kernel and derivative rules, and what goes wrong when
//! a piece is missing.

use std::any::Any;
use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;

use tenferro::ad::{
    self, AdContext, LinearTransposeRule, LinearizeRule, PrimalVjpRequest, PrimalVjpRule, ResidualSpec,
    SemanticExtensionRuleSet,
};
use tenferro::extension::{
    AliasDeclaration, Command, Effect, EffectDeclaration, ExtensionModule, ExtensionOp, FamilyExecutor, Preparation,
    PrepareRequest, Registrar, ShapeContext,
};
use tenferro::prelude::*;
use tenferro::program::{ProgramBuilder, SemanticProgram, ValueId, ValueMeta, composite};
use tenferro::runtime::reference::{self, ReferenceEngine};
use tenferro::runtime::{Engine, EngineId, Result};
use tenferro::tensor::TensorView;

type CoreResult<T> = tenferro_core::Result<T>;

const FAMILY: &str = "demo.softplus.v1";

/// A payload of one operand and one result alike.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pointwise {
    family: &'static str,
    effects: EffectDeclaration,
}

const SOFTPLUS: Pointwise = Pointwise { family: FAMILY, effects: EffectDeclaration::Declared(&[]) };

impl ExtensionOp for Pointwise {
    fn family_id(&self) -> &'static str {
        self.family
    }
    fn payload_hash(&self, _: &mut dyn Hasher) {}
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
        1
    }
    fn effects(&self) -> EffectDeclaration {
        self.effects
    }
    fn aliases(&self) -> AliasDeclaration {
        AliasDeclaration::AllFresh
    }
    fn infer_output_meta(&self, ctx: &mut ShapeContext<'_>) -> CoreResult<Vec<ValueMeta>> {
        Ok(vec![ctx.input(0).clone()])
    }
    fn fmt_payload(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

/// `ln(1 + e^x)` without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[derive(Debug)]
struct SoftplusCommand;

impl Command for SoftplusCommand {
    fn execute(&self, _: &mut dyn Engine, inputs: &[TensorView<'_>], outputs: &mut [&mut Tensor]) -> Result<()> {
        let results = outputs[0].as_mut_slice::<f64>()?;
        results.iter_mut().zip(inputs[0].iter()?).for_each(|(y, x)| *y = softplus(x));
        Ok(())
    }
    fn name(&self) -> &str {
        "softplus"
    }
}

struct SoftplusExecutor;

impl FamilyExecutor for SoftplusExecutor {
    fn family_id(&self) -> &'static str {
        FAMILY
    }
    fn prepare(&self, _: &dyn ExtensionOp, _: &PrepareRequest<'_>) -> Result<Preparation> {
        Ok(Preparation::command(SoftplusCommand))
    }
}

struct SoftplusModule(EngineId);

impl ExtensionModule for SoftplusModule {
    fn configure(&self, registrar: &mut Registrar) -> Result<()> {
        registrar.register_executor(self.0.clone(), Arc::new(SoftplusExecutor))
    }
}

fn session() -> Session {
    let modules: [Arc<dyn ExtensionModule>; 2] = [reference::module(), Arc::new(SoftplusModule(reference::ENGINE_ID))];
    Session::with_engine(ReferenceEngine::new(), reference::registration(), modules).unwrap()
}

/// The rules, in as many roles as a test adds them for.
struct Rules {
    mask: ResidualSpec,
    /// What `linearize` and `primal_vjp` multiply with.
    factor: Factor,
}

#[derive(Clone, Copy, PartialEq)]
enum Factor {
    /// `exp(x - y)`, the sigmoid of x.
    Sigmoid,
    /// An operation of the family itself.
    Family,
    /// Two entries where there is one value.
    TooMany,
}

const RULES: Rules = Rules { mask: ResidualSpec::none(), factor: Factor::Sigmoid };

fn rules(mask: ResidualSpec) -> Arc<Rules> {
    Arc::new(Rules { mask, ..RULES })
}

fn all_residuals() -> ResidualSpec {
    ResidualSpec::input(0).with_output(0)
}

fn sigmoid(b: &mut ProgramBuilder, x: ValueId, y: ValueId) -> CoreResult<ValueId> {
    let difference = b.sub(x, y)?;
    b.exp(difference)
}

impl LinearizeRule for Rules {
    fn family_id(&self) -> &'static str {
        FAMILY
    }
    fn linearize(
        &self,
        b: &mut ProgramBuilder,
        op: &dyn ExtensionOp,
        inputs: &[ValueId],
        outputs: &[ValueId],
        tangents: &[Option<ValueId>],
    ) -> CoreResult<Vec<Option<ValueId>>> {
        assert!(op.as_any().is::<Pointwise>());
        let Some(tangent) = tangents[0] else { return Ok(vec![None]) };
        match self.factor {
            Factor::Family => Ok(vec![Some(b.extension(SOFTPLUS, &[tangent])?[0])]),
            Factor::TooMany => Ok(vec![None; 2]),
            Factor::Sigmoid => {
                let slope = sigmoid(b, inputs[0], outputs[0])?;
                Ok(vec![Some(b.mul(slope, tangent)?)])
            }
        }
    }
}

impl PrimalVjpRule for Rules {
    fn family_id(&self) -> &'static str {
        FAMILY
    }
    fn residual_mask(&self) -> ResidualSpec {
        self.mask.clone()
    }
    fn primal_vjp(&self, b: &mut ProgramBuilder, request: &PrimalVjpRequest<'_>) -> CoreResult<Vec<Option<ValueId>>> {
        assert!(request.op().as_any().is::<Pointwise>());
        assert_eq!(request.active_inputs(), [true]);
        assert_eq!(request.input_meta(0)?, request.output_meta(0)?);
        let Some(cotangent) = request.cotangent_outputs()[0] else { return Ok(vec![None]) };
        if self.factor == Factor::TooMany {
            return Ok(vec![None; 2]);
        }
        let slope = sigmoid(b, request.primal_input_value(0)?, request.primal_output_value(0)?)?;
        Ok(vec![Some(b.mul(slope, cotangent)?)])
    }
}

/// Softplus is not linear; this rule shows which role is asked.
struct Refusing;

impl LinearTransposeRule for Refusing {
    fn family_id(&self) -> &'static str {
        FAMILY
    }
    fn transpose(
        &self,
        _: &mut ProgramBuilder,
        _: &dyn ExtensionOp,
        _: &[ValueId],
        _: &[bool],
        _: &[Option<ValueId>],
    ) -> CoreResult<Vec<Option<ValueId>>> {
        Err(tenferro_core::Error::argument(FAMILY, "transpose", "was asked"))
    }
}

fn context(rules: SemanticExtensionRuleSet) -> AdContext {
    AdContext::builder().with_semantic_extension_rules(rules).unwrap().build().unwrap()
}

fn complete() -> SemanticExtensionRuleSet {
    let rules = rules(all_residuals());
    SemanticExtensionRuleSet::new().with_linearize(rules.clone()).unwrap().with_primal_vjp(rules).unwrap()
}

/// `y = op(x)`.
fn forward(op: Pointwise) -> SemanticProgram {
    let mut b = ProgramBuilder::new("forward");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let y = b.extension(op, &[x]).unwrap()[0];
    b.finish(&[(Some("y"), y)]).unwrap()
}

/// The sum of a program's only output.
fn summed(program: &SemanticProgram) -> SemanticProgram {
    let mut b = ProgramBuilder::new("summed");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let y = b.call(program, &[x]).unwrap()[0];
    let sum = b.sum(y, &[0]).unwrap();
    b.finish(&[(None, sum)]).unwrap()
}

fn vector(values: &[f64]) -> Tensor {
    Tensor::from_vec_col_major([values.len()], values.to_vec()).unwrap()
}

fn run(program: &SemanticProgram, inputs: &[&[f64]]) -> Vec<Vec<f64>> {
    let inputs: Vec<Tensor> = inputs.iter().map(|values| vector(values)).collect();
    let reads: Vec<_> = inputs.iter().map(|tensor| tensor.into()).collect();
    let results = session().run(Arc::new(program.clone()), &reads).unwrap();
    results.iter().map(|tensor| tensor.to_vec_col_major().unwrap()).collect()
}

const X: [f64; 4] = [-2.0, -0.5, 0.0, 3.0];

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[track_caller]
fn assert_near(actual: &[f64], expected: impl Fn(f64) -> f64) {
    for (actual, x) in actual.iter().zip(X) {
        assert!((actual - expected(x)).abs() <= 1e-15, "{actual} is not near {} at {x}", expected(x));
    }
}

#[test]
fn values_and_derivatives_of_every_mode_and_order() {
    let ad = context(complete());
    let program = forward(SOFTPLUS);
    let y = run(&program, &[&X]).remove(0);
    assert_eq!(y, X.map(softplus));
    // To the bit what the composite of core operations gives.
    let mut b = ProgramBuilder::new("composite");
    let n = b.size("n");
    let x = b.input("x", DType::F64, &[n]).unwrap();
    let composed = composite::softplus(&mut b, x).unwrap();
    assert_eq!(run(&b.finish(&[(None, composed)]).unwrap(), &[&X])[0], y);

    let gradient = ad::grad(&summed(&program), &[0], &ad).unwrap();
    let reverse = run(&gradient, &[&X]).remove(0);
    assert_near(&reverse, logistic);
    let forward_mode = run(&ad::jvp(&program, &[0], &ad).unwrap(), &[&X, &[1.0; 4]]);
    assert_eq!(forward_mode, [y.clone(), reverse.clone()]);
    let both = run(&ad::vjp(&program, &[0], &ad).unwrap(), &[&X, &[1.0; 4]]);
    assert_eq!(both, [y, reverse]);

    let curvature = |s: f64| s * (1.0 - s);
    let second = run(&ad::grad(&summed(&gradient), &[0], &ad).unwrap(), &[&X]);
    assert_near(&second[0], |x| curvature(logistic(x)));
    let product = run(&ad::hvp(&summed(&program), &[0], &ad).unwrap(), &[&X, &[1.0; 4]]);
    assert_near(&product[0], |x| curvature(logistic(x)));
    let third = ad::grad(&summed(&ad::grad(&summed(&gradient), &[0], &ad).unwrap()), &[0], &ad).unwrap();
    assert_near(&run(&third, &[&X])[0], |x| curvature(logistic(x)) * (1.0 - 2.0 * logistic(x)));
}

#[test]
fn the_gradient_program_holds_the_operation_once_and_what_the_rule_wrote() {
    let gradient = ad::grad(&summed(&forward(SOFTPLUS)), &[0], &context(complete())).unwrap();
    let mut names: Vec<_> = gradient.nodes().iter().map(|node| node.op.name()).collect();
    names.sort_unstable();
    assert!(names.len() <= 6, "{gradient}");
    for name in [FAMILY, "sub", "exp"] {
        assert_eq!(names.iter().filter(|n| **n == name).count(), 1, "{gradient}");
    }
}

#[test]
fn the_roles_of_a_rule_set_can_be_read() {
    assert_eq!(
        format!("{:?}", complete()),
        "SemanticExtensionRuleSet { linearize: [\"demo.softplus.v1\"], linear_transpose: [], \
         primal_vjp: [\"demo.softplus.v1\"] }"
    );
}

#[test]
fn undeclared_effects_are_refused_at_the_builder() {
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[]).unwrap();
    let op = Pointwise { effects: EffectDeclaration::Undeclared, ..SOFTPLUS };
    assert_eq!(
        b.extension(op, &[x]).unwrap_err().to_string(),
        "extension family `demo.softplus.v1` declares no effects; a pure operation with fresh results says so"
    );
}

#[test]
fn a_missing_rule_is_named_by_family_and_role() {
    let sum = summed(&forward(SOFTPLUS));
    let missing = |rules: SemanticExtensionRuleSet, reverse: bool| {
        let transform = if reverse { ad::grad } else { ad::jvp };
        transform(&sum, &[0], &context(rules)).unwrap_err().to_string()
    };
    let message = |role: &str| {
        format!(
            "extension family `{FAMILY}` has no `{role}` rule; add its rules to the AD context, as `with_rules(&einsum::ad_rules()?)` does for einsums"
        )
    };
    let none = SemanticExtensionRuleSet::new;
    assert_eq!(missing(none(), true), message("linearize"));
    assert_eq!(missing(none(), false), message("linearize"));
    let reverse_only = none().with_primal_vjp(rules(all_residuals())).unwrap();
    assert_eq!(missing(reverse_only.clone(), false), message("linearize"));
    assert_near(&run(&ad::grad(&sum, &[0], &context(reverse_only)).unwrap(), &[&X])[0], logistic);
    // A linearisation that writes an operation of the family needs its transposition.
    let family = Arc::new(Rules { factor: Factor::Family, ..RULES });
    assert_eq!(missing(none().with_linearize(family).unwrap(), true), message("linear_transpose"));
}

#[test]
fn a_linearisation_of_core_operations_is_enough_for_reverse_mode() {
    let rules = SemanticExtensionRuleSet::new().with_linearize(Arc::new(RULES)).unwrap();
    let gradient = ad::grad(&summed(&forward(SOFTPLUS)), &[0], &context(rules)).unwrap();
    assert_near(&run(&gradient, &[&X])[0], logistic);
}

#[test]
fn linear_pieces_go_before_a_primal_vjp() {
    let family = Arc::new(Rules { mask: all_residuals(), factor: Factor::Family });
    let rules = SemanticExtensionRuleSet::new().with_linearize(family.clone()).unwrap();
    let rules = rules.with_primal_vjp(family).unwrap().with_linear_transpose(Arc::new(Refusing)).unwrap();
    let error = ad::grad(&summed(&forward(SOFTPLUS)), &[0], &context(rules)).unwrap_err();
    assert_eq!(error.to_string(), "demo.softplus.v1: `transpose` was asked");
}

#[test]
fn a_residual_that_was_not_declared_cannot_be_read() {
    for (mask, slot) in [(ResidualSpec::input(0), "output 0"), (ResidualSpec::output(0), "input 0")] {
        let rules = SemanticExtensionRuleSet::new().with_primal_vjp(rules(mask)).unwrap();
        let error = ad::vjp(&forward(SOFTPLUS), &[0], &context(rules)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "demo.softplus.v1: `{slot}` is read by the `primal_vjp` rule, whose residual mask does not declare it"
            )
        );
    }
}

#[test]
fn a_rule_gives_one_entry_a_value() {
    let wrong = Arc::new(Rules { factor: Factor::TooMany, ..RULES });
    let rules = SemanticExtensionRuleSet::new().with_linearize(wrong.clone()).unwrap().with_primal_vjp(wrong).unwrap();
    let (program, ad) = (forward(SOFTPLUS), context(rules));
    let error = ad::jvp(&program, &[0], &ad).unwrap_err();
    assert_eq!(error.to_string(), "demo.softplus.v1: `linearize` must give 1 entries, not 2");
    let error = ad::vjp(&program, &[0], &ad).unwrap_err();
    assert_eq!(error.to_string(), "demo.softplus.v1: `primal_vjp` must give 1 entries, not 2");
}

#[test]
fn an_operation_with_effects_has_no_derivative() {
    let noisy = Pointwise { effects: EffectDeclaration::Declared(&[Effect::Random]), ..SOFTPLUS };
    for transform in [ad::jvp, ad::vjp] {
        let error = transform(&forward(noisy), &[0], &context(complete())).unwrap_err();
        assert_eq!(error.to_string(), "demo.softplus.v1: `effects` are not none, so it has no derivative");
    }
    // A call that is computed twice cannot have them either.
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[3.into()]).unwrap();
    let error = ad::checkpoint(&mut b, forward(noisy), &[x]).unwrap_err();
    assert!(error.to_string().contains("demo.softplus.v1") && error.to_string().contains("twice"), "{error}");
}

#[test]
fn a_malformed_family_id_is_refused_when_a_rule_is_added() {
    struct Misnamed;
    impl PrimalVjpRule for Misnamed {
        fn family_id(&self) -> &'static str {
            "softplus"
        }
        fn residual_mask(&self) -> ResidualSpec {
            ResidualSpec::none()
        }
        fn primal_vjp(&self, _: &mut ProgramBuilder, _: &PrimalVjpRequest<'_>) -> CoreResult<Vec<Option<ValueId>>> {
            Ok(Vec::new())
        }
    }
    let error = SemanticExtensionRuleSet::new().with_primal_vjp(Arc::new(Misnamed)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "family id `softplus`: there is no version part; write `<namespace>.<name>.v<version>`"
    );
    let mut b = ProgramBuilder::new("f");
    let x = b.input("x", DType::F64, &[]).unwrap();
    assert!(b.extension(Pointwise { family: "softplus", ..SOFTPLUS }, &[x]).is_err());
}

#[test]
fn a_missing_module_is_named_with_the_call_to_make() {
    let x = vector(&X);
    let program = Arc::new(forward(SOFTPLUS));
    let error = Session::reference().run(&program, &[(&x).into()]).unwrap_err().to_string();
    assert!(error.contains("no module for family \"demo.softplus.v1\""), "{error}");
    assert!(error.contains("Runtime::prepare") && error.contains("install_extension_module"), "{error}");
}
