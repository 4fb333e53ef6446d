//! Semantic programs as `static` tables.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use tenferro_core::extension::ExtensionOp;
use tenferro_core::program::{Guard, Input, Node, Op, Output, SemanticProgram, Size, ValueId, ValueMeta};
use tenferro_core::shape::SymDim;

use super::extension;
use super::op::{core_op, dtype, hexadecimal, ident, index, sym_dim, variant};

/// What the programs of one kernel share: lists of extents and extension payloads, each one `static`.
#[derive(Default)]
pub(super) struct Tables {
    dims: Vec<Vec<SymDim>>,
    payloads: Vec<(Ident, TokenStream)>,
    statics: TokenStream,
    size_names: Vec<String>,
}

impl Tables {
    /// Tables for programs whose sizes have the names that `program` gives them, for the comments.
    pub fn new(program: &SemanticProgram) -> Self {
        Self { size_names: program.sizes().iter().map(|size| size.name.to_string()).collect(), ..Self::default() }
    }

    /// The declarations of everything that was asked for.
    pub fn into_statics(self) -> TokenStream {
        self.statics
    }

    /// A reference to the table of these extents.
    pub fn dims(&mut self, dims: &[SymDim]) -> TokenStream {
        if dims.is_empty() {
            return quote!(&[]);
        }
        let position = self.dims.iter().position(|known| known == dims).unwrap_or_else(|| {
            self.declare_dims(dims);
            self.dims.len() - 1
        });
        let name = dims_name(position);
        quote!(&#name)
    }

    fn declare_dims(&mut self, dims: &[SymDim]) {
        let name = dims_name(self.dims.len());
        let size_name = |id: tenferro_core::shape::SizeId| match self.size_names.get(id.0 as usize) {
            Some(name) => name.clone(),
            None => format!("s{}", id.0),
        };
        let text: Vec<_> = dims.iter().map(|dim| dim.display_with(&size_name)).collect();
        let doc = format!(" [{}]", text.join(", "));
        let (count, values) = (dims.len(), dims.iter().map(sym_dim));
        let count = index(count as u32);
        self.statics.extend(quote! {
            #[doc = #doc]
            static #name: [SymDim; #count] = [#(#values),*];
        });
        self.dims.push(dims.to_vec());
    }

    /// The name of the `static` that holds this payload.
    fn payload(&mut self, op: &dyn ExtensionOp) -> Ident {
        let extension::Payload { kind, value } = extension::payload(op);
        let text = value.to_string();
        if let Some((name, _)) = self.payloads.iter().find(|(_, known)| known.to_string() == text) {
            return name.clone();
        }
        let name = ident(&format!("E{}", self.payloads.len()));
        let doc = format!(" {}", extension::describe(op));
        self.statics.extend(quote! {
            #[doc = #doc]
            static #name: #kind = #value;
        });
        self.payloads.push((name.clone(), value));
        name
    }
}

fn dims_name(position: usize) -> Ident {
    ident(&format!("D{position}"))
}

/// The constant expression of a program.
pub(super) fn program(program: &SemanticProgram, tables: &mut Tables) -> TokenStream {
    let name = program.name();
    let sizes = program.sizes().iter().map(|Size { name, input, axis, scale, offset }| {
        let (input, axis) = (index(*input), index(*axis));
        quote!(Size { name: B(#name), input: #input, axis: #axis, scale: #scale, offset: #offset })
    });
    let inputs = program.inputs().iter().map(|Input { name }| quote!(Input { name: B(#name) }));
    let values: Vec<_> = program.values().iter().map(|meta| value_meta(meta, tables)).collect();
    let nodes: Vec<_> = program.nodes().iter().map(|node| self::node(node, tables)).collect();
    let outputs = program.outputs().iter().map(|Output { name, value }| {
        let value = value_id(*value);
        match name {
            Some(name) => quote!(Output { name: Some(B(#name)), value: #value }),
            None => quote!(Output { name: None, value: #value }),
        }
    });
    let guards = program.guards().iter().map(|Guard { lhs, relation, rhs, reason }| {
        let (lhs, relation, rhs) = (sym_dim(lhs), variant(relation), sym_dim(rhs));
        quote!(Guard { lhs: #lhs, relation: Relation::#relation, rhs: #rhs, reason: B(#reason) })
    });
    let fingerprint = hexadecimal(program.fingerprint().0);
    quote! {
        SemanticProgram {
            name: B(#name),
            sizes: B(&[#(#sizes),*]),
            inputs: B(&[#(#inputs),*]),
            values: B(&[#(#values),*]),
            nodes: B(&[#(#nodes),*]),
            outputs: B(&[#(#outputs),*]),
            guards: B(&[#(#guards),*]),
            fingerprint: Fingerprint(#fingerprint),
        }
    }
}

fn value_meta(meta: &ValueMeta, tables: &mut Tables) -> TokenStream {
    let (dtype, dims) = (dtype(meta.dtype), tables.dims(&meta.shape));
    quote!(value(#dtype, #dims))
}

fn node(node: &Node, tables: &mut Tables) -> TokenStream {
    let inputs = node.inputs.iter().map(|v| value_id(*v));
    let first_output = value_id(node.first_output);
    match &node.op {
        Op::Core(op) => {
            let op = core_op(op, tables);
            quote!(core(#op, &[#(#inputs),*], #first_output))
        }
        Op::Extension(op) => {
            let (payload, count) = (tables.payload(&**op), index(node.output_count));
            quote!(extension(&#payload, &[#(#inputs),*], #first_output, #count))
        }
    }
}

fn value_id(id: ValueId) -> TokenStream {
    let id = index(id.0);
    quote!(V(#id))
}
