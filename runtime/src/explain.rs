//! What a prepared program will do.

use std::fmt;

use tenferro_core::TensorRead;
use tenferro_core::ops::OpClass;
use tenferro_core::program::{SemanticProgram, SizeNames, ValueId, ValueMeta};
use tenferro_core::shape::{SizeId, SymDim};

use crate::compiled;
use crate::error::Result;
use crate::execute::{InputMeta, bind};
use crate::prepare::{Definition, Plan, Prepared, ScalarSource, Step, Work, WorkKind};
use crate::transfer::Memory;

/// The commands of a prepared program in order, where each runs, what it reads and writes, and how
/// memory is used, to be [displayed](fmt::Display).
///
/// Shapes are in the program's sizes. Where all sizes of a shape are known, by the specialisation or
/// by [inputs](Prepared::explain_with), its extents stand beside it; where those of all buffers are,
/// so does the memory that a run takes.
///
/// Values are numbered as they are in the program that was lowered: the one prepared, as the passes left it and with
/// what checkpoints compute.
///
/// ```
/// # use std::sync::Arc;
/// # use tenferro_core::program::ProgramBuilder;
/// # use tenferro_core::{DType, Tensor, TensorRead};
/// # use tenferro_runtime::reference::{self, ReferenceEngine};
/// # use tenferro_runtime::{Engine, Runtime};
/// let mut b = ProgramBuilder::new("norm");
/// let n = b.size("n");
/// let x = b.input("x", DType::F64, &[n])?;
/// let square = b.mul(x, x)?;
/// let y = b.sum(square, &[0])?;
/// let program = Arc::new(b.finish(&[(Some("y"), y)])?);
///
/// let runtime = Runtime::builder().register_engine(reference::registration())?.build()?;
/// let x = Tensor::from_vec_col_major([2], vec![1.0, 2.5])?;
/// let inputs = [TensorRead::from(&x)];
/// let prepared = runtime.prepare(&program, &inputs, &[ReferenceEngine::new().target()])?;
/// let text = prepared.explain().to_string();
/// assert!(text.contains("mul(x: f64[n], x: f64[n]) -> %1: f64[n] in slot 0"), "{text}");
/// let text = prepared.explain_with(&inputs)?.to_string();
/// assert!(text.contains("%1: f64[n] = [2] in slot 0"), "{text}");
/// assert!(text.contains("24 bytes at most at once"), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Explanation {
    prepared: Prepared,
    /// What was lowered, in the names of the program prepared.
    program: SemanticProgram,
    /// By id, where known.
    sizes: Vec<Option<usize>>,
}

impl Prepared {
    /// What a run will do, as far as that is known before the inputs are.
    pub fn explain(&self) -> Explanation {
        let count = self.lowered().sizes().len();
        let sizes = (0..count).map(|id| self.specialization().size(SizeId(id as u32))).collect();
        Explanation { prepared: self.clone(), program: self.lowered().in_names_of(self.program()), sizes }
    }

    /// What a run on these inputs will do, which are given as to [`Runtime::run`](crate::Runtime::run).
    /// Sizes that are read off values remain unknown.
    ///
    /// # Errors
    /// Where the inputs do not fit the program or what it was specialised for.
    pub fn explain_with(&self, inputs: &[TensorRead<'_>]) -> Result<Explanation> {
        const CALL: &str = "Prepared::explain_with";
        let inputs = compiled::complete_reads(CALL, self.program_ref(), inputs)?;
        let metas: Vec<InputMeta<'_>> = inputs.iter().map(InputMeta::of).collect();
        let bound = bind(CALL, self, &metas)?;
        let count = self.lowered().sizes().len();
        let sizes = (0..count).map(|id| bound.sizes.get(id).copied()).collect();
        Ok(Explanation { prepared: self.clone(), program: self.lowered().in_names_of(self.program()), sizes })
    }
}

impl Explanation {
    fn plan(&self) -> &Plan {
        &self.prepared.shared.plan
    }

    fn program(&self) -> &SemanticProgram {
        &self.program
    }

    fn names(&self) -> SizeNames<'_> {
        SizeNames(self.program.sizes())
    }

    /// The extents of a shape, where all sizes in it are known.
    fn extents(&self, shape: &[SymDim]) -> Option<Vec<usize>> {
        let known: Vec<usize> = self.sizes.iter().map(|size| size.unwrap_or(0)).collect();
        let extent = |dim: &SymDim| {
            let mut is_known = true;
            dim.for_each_size(&mut |SizeId(id)| is_known &= self.sizes.get(id as usize).is_some_and(Option::is_some));
            if is_known { dim.eval_extent(&known).ok() } else { None }
        };
        shape.iter().map(extent).collect()
    }

    /// `f64[n, 3] = [2, 3]`
    fn meta(&self, meta: &ValueMeta) -> String {
        let symbolic = self.names().meta(meta);
        let is_constant = meta.shape.iter().all(|dim| dim.sizes_needed() == 0);
        match self.extents(&meta.shape) {
            Some(extents) if !is_constant => format!("{symbolic} = {extents:?}"),
            _ => symbolic,
        }
    }

    fn bytes(&self, meta: &ValueMeta) -> Option<u64> {
        let elements = self.extents(&meta.shape)?.into_iter().map(|extent| extent as u64);
        elements.chain([meta.dtype.size() as u64]).try_fold(1, u64::checked_mul)
    }

    /// The name of an input, or the number of another value; of a copy in other memory also where.
    fn value(&self, definition: u32) -> String {
        let ValueId(id) = self.plan().values[definition as usize];
        let name = match self.program.inputs().get(id as usize) {
            Some(input) => input.name.to_string(),
            None => format!("%{id}"),
        };
        let is_copy = self.plan().values[..definition as usize].contains(&ValueId(id));
        if is_copy { format!("{name}'{definition}") } else { name }
    }

    fn described(&self, definition: u32) -> String {
        let meta = &self.program().values()[self.plan().values[definition as usize].index()];
        format!("{}: {}", self.value(definition), self.meta(meta))
    }

    /// The values that steps leave in slots, in the order of the steps.
    fn results(&self) -> impl Iterator<Item = u32> {
        let in_slot = |definition: &Definition| match definition {
            Definition::Slot(_) | Definition::Reshape { .. } => true,
            Definition::Input(_) | Definition::Scalar(_) | Definition::View { .. } => false,
        };
        (0u32..).zip(&self.plan().definitions).filter(move |(_, definition)| in_slot(definition)).map(|(at, _)| at)
    }

    fn memory(&self, engine: Option<usize>) -> Memory {
        Memory(engine.and_then(|engine| self.prepared.targets()[engine].allocation_domain))
    }

    fn write_step(
        &self,
        f: &mut fmt::Formatter<'_>,
        position: usize,
        results: &mut impl Iterator<Item = u32>,
    ) -> fmt::Result {
        let step = &self.plan().steps[position];
        let operands: Vec<String> = step.inputs.iter().map(|&input| self.described(input)).collect();
        let results = step.outputs.iter().zip(results);
        let results: Vec<String> =
            results.map(|(slot, result)| format!("{} in slot {slot}", self.described(result))).collect();
        write!(f, "  {position:>3}  {}({}) -> {}", step.work.name(), operands.join(", "), results.join(", "))?;
        match &step.work {
            Work::Transfer(passage) => {
                write!(f, "; from {} to {}", self.memory(passage.from), self.memory(passage.to))?;
            }
            _ => write!(f, "; engine {}", step.engine)?,
        }
        if !step.release.is_empty() {
            let slots: Vec<String> = step.release.iter().map(u32::to_string).collect();
            write!(f, "; releases slot {}", slots.join(", "))?;
        }
        writeln!(f)?;
        match note(step) {
            Some(note) => writeln!(f, "       {note}"),
            None => Ok(()),
        }
    }

    /// What takes no command.
    fn write_free(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan();
        let mut head = Some("free, by layout or known before the run\n");
        for (position, definition) in (0..).zip(&plan.definitions) {
            let made = match definition {
                Definition::View { source, op } => format!("{}({})", op.name(), self.value(*source)),
                Definition::Reshape { source, slot } => {
                    format!("reshape({}), or in slot {slot} where strides need a copy", self.value(*source))
                }
                Definition::Scalar(i) => match &plan.scalars[*i as usize] {
                    ScalarSource::Constant(value) => format!("constant {value}"),
                    ScalarSource::Size(dim, _) => format!("size {}", self.names().dim(dim)),
                },
                Definition::Input(_) | Definition::Slot(_) => continue,
            };
            write!(f, "{}", head.take().unwrap_or(""))?;
            writeln!(f, "       {} = {made}", self.described(position))?;
        }
        Ok(())
    }

    fn write_buffers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan();
        writeln!(f, "buffers")?;
        let mut sizes = Vec::with_capacity(plan.slots.len());
        for (i, slot) in plan.slots.iter().enumerate() {
            write!(f, "  {i:>3}  {}", self.meta(&slot.meta))?;
            let writers = plan.steps.iter().filter(|step| step.outputs.contains(&(i as u32))).count();
            write!(f, " in {}, serves {writers} value{}", self.memory(slot.engine), plural(writers))?;
            let bytes = self.bytes(&slot.meta);
            match bytes {
                Some(bytes) => writeln!(f, ", {bytes} bytes")?,
                None => writeln!(f)?,
            }
            sizes.push(bytes);
        }
        let Some(sizes) = sizes.into_iter().collect::<Option<Vec<u64>>>() else {
            return writeln!(f, "       bytes depend on sizes; see `Prepared::explain_with`");
        };
        let all: u64 = sizes.iter().sum();
        let without: u64 = plan.steps.iter().flat_map(|step| &step.outputs).map(|&slot| sizes[slot as usize]).sum();
        let peak = peak(plan, &sizes);
        writeln!(f, "       {all} bytes in all ({without} if none were shared), {peak} bytes at most at once")
    }
}

/// The most bytes that slots hold at once: from the first step that writes one to where it is
/// released. Copies that strides may need are counted.
fn peak(plan: &Plan, sizes: &[u64]) -> u64 {
    let (mut live, mut now, mut peak) = (vec![false; sizes.len()], 0, 0);
    for step in &plan.steps {
        for &slot in &step.outputs {
            if !std::mem::replace(&mut live[slot as usize], true) {
                now += sizes[slot as usize];
            }
        }
        peak = peak.max(now);
        for &slot in &step.release {
            if std::mem::replace(&mut live[slot as usize], false) {
                now -= sizes[slot as usize];
            }
        }
    }
    peak
}

/// What is to say of a step besides.
fn note(step: &Step) -> Option<&'static str> {
    match (&step.work, step.kind) {
        (Work::Late { .. }, _) => Some("chosen at the run: its kernel depends on a size that is read off a value"),
        (Work::Compact(_), _) => Some("only where the operand's strides do not allow a view"),
        (_, WorkKind::Core(OpClass::Elementwise)) => {
            Some("not fused: its engine prepares each elementwise operation as a command of its own")
        }
        _ => None,
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prepared, plan, program) = (&self.prepared, self.plan(), self.program());
        let (steps, engines) = (plan.steps.len(), prepared.targets().len());
        let name = prepared.program().name();
        writeln!(f, "{name}: {steps} command{} on {engines} engine{}", plural(steps), plural(engines))?;
        writeln!(f, "engines")?;
        for (i, target) in prepared.targets().iter().enumerate() {
            writeln!(f, "  {i:>3}  {target}")?;
        }
        let specialized = prepared.specialization().describe(prepared.program());
        let specialized = if specialized.is_empty() { "dtypes and ranks".to_owned() } else { specialized };
        writeln!(f, "prepared for\n       {specialized}")?;
        writeln!(f, "inputs")?;
        for i in 0..program.inputs().len() as u32 {
            writeln!(f, "       {}", self.described(i))?;
        }
        writeln!(f, "commands")?;
        let mut results = self.results();
        let mut reads = plan.reads.iter().zip(program.value_sizes()).peekable();
        for position in 0..=steps {
            while let Some((read, size)) = reads.next_if(|(read, _)| read.step == position) {
                writeln!(
                    f,
                    "       waits, and reads a size off {}; it is `{}`",
                    self.described(read.value),
                    size.name
                )?;
            }
            if position < steps {
                self.write_step(f, position, &mut results)?;
            }
        }
        self.write_free(f)?;
        writeln!(f, "outputs")?;
        for (output, &value) in prepared.program().outputs().iter().zip(&plan.outputs) {
            let name = output.name.as_ref().map(|name| format!("{name} = ")).unwrap_or_default();
            writeln!(f, "       {name}{}", self.described(value))?;
        }
        self.write_buffers(f)
    }
}
