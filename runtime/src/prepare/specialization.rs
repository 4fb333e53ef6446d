//! How much of the inputs a prepared program depends on.
//!
//! A preparation starts out knowing nothing of the inputs. What its operations ask to know is
//! collected into [`SpecializationRequirements`]; the program is prepared once for each distinct
//! [`Specialization`], which is the requirements and what the inputs answer to them.

use smallvec::SmallVec;
use tenferro_core::Layout;
use tenferro_core::program::SemanticProgram;
use tenferro_core::shape::SizeId;

/// How an operand lies in memory, as far as kernels are chosen by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LayoutClass {
    /// Compact, first axis fastest.
    ColumnMajor,
    /// Any other strides.
    Strided,
}

impl LayoutClass {
    /// The class of a layout.
    pub fn of(layout: &Layout) -> Self {
        if layout.is_contiguous() { Self::ColumnMajor } else { Self::Strided }
    }

    fn name(self) -> &'static str {
        match self {
            Self::ColumnMajor => "column-major",
            Self::Strided => "strided",
        }
    }
}

/// What a preparation must know of a program's inputs.
///
/// Extents are asked for by the program's sizes: each size is bound by one axis of one input or read
/// off a value, and every other axis follows from the sizes. What depends on sizes of values is
/// prepared when these are known, at the first run with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SpecializationRequirements {
    metadata: bool,
    sizes: SmallVec<[SizeId; 8]>,
    layouts: SmallVec<[u32; 4]>,
}

impl SpecializationRequirements {
    /// Nothing is looked at.
    pub fn polymorphic() -> Self {
        Self::default()
    }

    /// Dtypes and ranks are.
    pub fn metadata() -> Self {
        Self { metadata: true, ..Self::default() }
    }

    /// Also the values of these sizes.
    #[must_use]
    pub fn with_sizes(mut self, sizes: impl IntoIterator<Item = SizeId>) -> Self {
        self.sizes.extend(sizes);
        self.sizes.sort_unstable();
        self.sizes.dedup();
        self
    }

    /// Also the layout classes of these inputs of the program.
    #[must_use]
    pub fn with_layouts(mut self, inputs: impl IntoIterator<Item = u32>) -> Self {
        self.layouts.extend(inputs);
        self.layouts.sort_unstable();
        self.layouts.dedup();
        self
    }

    /// What both ask for.
    #[must_use]
    pub fn union(self, other: &Self) -> Self {
        let metadata = self.metadata || other.metadata;
        let all = self.with_sizes(other.sizes.iter().copied()).with_layouts(other.layouts.iter().copied());
        Self { metadata, ..all }
    }

    /// How many of the program's sizes must be known for an answer.
    pub(crate) fn sizes_needed(&self) -> usize {
        self.sizes.last().map_or(0, |id| id.0 as usize + 1)
    }

    /// What is asked for that the program does not have.
    pub(crate) fn beyond(&self, Askable { inputs, sizes }: Askable) -> Option<String> {
        let input = self.layouts.last().filter(|&&input| input as usize >= inputs);
        let size = self.sizes.last().filter(|&&SizeId(size)| size as usize >= sizes);
        match (input, size) {
            (Some(input), _) => Some(format!("the layout of input {input} of a program that has {inputs}")),
            (None, Some(SizeId(size))) => Some(format!("size {size} of a program that has {sizes}")),
            (None, None) => None,
        }
    }

    /// Whether all that `other` asks for is asked for here.
    pub fn contains(&self, other: &Self) -> bool {
        self.metadata >= other.metadata
            && other.sizes.iter().all(|size| self.sizes.binary_search(size).is_ok())
            && other.layouts.iter().all(|input| self.layouts.binary_search(input).is_ok())
    }
}

/// How many inputs and sizes a program has to be asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Askable {
    pub inputs: usize,
    pub sizes: usize,
}

impl Askable {
    pub fn of(program: &SemanticProgram) -> Self {
        Self { inputs: program.inputs().len(), sizes: program.sizes().len() }
    }
}

/// What is known of the inputs of one call; dtypes and ranks are the program's.
pub(crate) struct Signature<'a> {
    pub sizes: &'a [usize],
    pub layouts: &'a [LayoutClass],
}

/// Requirements with their answers: what a prepared program is specialised for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Specialization {
    requirements: SpecializationRequirements,
    sizes: SmallVec<[usize; 8]>,
    layouts: SmallVec<[LayoutClass; 4]>,
}

impl Specialization {
    pub(crate) fn project(requirements: SpecializationRequirements, signature: &Signature<'_>) -> Self {
        let sizes = requirements.sizes.iter().map(|id| signature.sizes[id.0 as usize]).collect();
        let layouts = requirements.layouts.iter().map(|&input| signature.layouts[input as usize]).collect();
        Self { requirements, sizes, layouts }
    }

    /// What was asked for.
    pub fn requirements(&self) -> &SpecializationRequirements {
        &self.requirements
    }

    /// The value of a size, if it was asked for.
    pub fn size(&self, id: SizeId) -> Option<usize> {
        self.requirements.sizes.binary_search(&id).ok().map(|i| self.sizes[i])
    }

    /// The layout class of an input of the program, if it was asked for.
    pub fn layout(&self, input: u32) -> Option<LayoutClass> {
        self.requirements.layouts.binary_search(&input).ok().map(|i| self.layouts[i])
    }

    /// In the program's words: ``size `n` = 3, input `a` column-major``.
    pub(crate) fn describe(&self, program: &SemanticProgram) -> String {
        let Self { requirements, sizes, layouts } = self;
        let sizes = requirements.sizes.iter().zip(sizes).map(|(id, value)| {
            let name = &program.sizes()[id.0 as usize].name;
            format!("size `{name}` = {value}")
        });
        let layouts = requirements.layouts.iter().zip(layouts).map(|(&input, class)| {
            let name = &program.inputs()[input as usize].name;
            format!("input `{name}` {}", class.name())
        });
        sizes.chain(layouts).collect::<Vec<_>>().join(", ")
    }
}
