//! Semantic programs as `static` tables.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use tenferro_core::extension::ExtensionRef;
use tenferro_core::program::{Guard, Input, Node, Op, Output, SemanticProgram, Size, SizeBinding, ValueMeta};
use tenferro_core::shape::{SizeId, SymDim};

use super::extension::{self, Payload};
use super::op::{core_op, dtype, hexadecimal, ident, index, integer, sym_dim, variant};

/// What the programs of one kernel share, each written once: lists of extents, types of values,
/// extension payloads, and the sizes.
#[derive(Default)]
pub(super) struct Tables {
    dims: Vec<Vec<SymDim>>,
    types: Vec<ValueMeta>,
    payloads: Vec<ExtensionRef>,
    sizes: Vec<Vec<Size>>,
    size_names: Vec<String>,
    declarations: TokenStream,
}

impl Tables {
    /// Tables for programs whose sizes have the names that `program` gives them, for the comments.
    pub fn new(program: &SemanticProgram) -> Self {
        Self { size_names: program.sizes().iter().map(|size| size.name.to_string()).collect(), ..Self::default() }
    }

    /// The declarations of everything that was asked for.
    pub fn into_declarations(self) -> TokenStream {
        self.declarations
    }

    /// A reference to the table of these extents.
    pub fn dims(&mut self, dims: &[SymDim]) -> TokenStream {
        if dims.is_empty() {
            return quote!(&[]);
        }
        let position = self.dims.iter().position(|known| known == dims).unwrap_or_else(|| {
            let position = self.dims.len();
            let (name, doc) = (numbered("D", position), format!(" {}", self.shape_text(dims)));
            let (count, values) = (Literal::usize_unsuffixed(dims.len()), dims.iter().map(sym_dim));
            self.declarations.extend(quote! {
                #[doc = #doc]
                static #name: [SymDim; #count] = [#(#values),*];
            });
            self.dims.push(dims.to_vec());
            position
        });
        let name = numbered("D", position);
        quote!(&#name)
    }

    /// The constant of this dtype and shape.
    fn value_type(&mut self, meta: &ValueMeta) -> Ident {
        let position = self.types.iter().position(|known| known == meta).unwrap_or_else(|| {
            let position = self.types.len();
            let doc = format!(" {}{}", meta.dtype, self.shape_text(&meta.shape));
            let (name, dtype, dims) = (numbered("T", position), dtype(meta.dtype), self.dims(&meta.shape));
            self.declarations.extend(quote! {
                #[doc = #doc]
                const #name: ValueMeta = value(#dtype, #dims);
            });
            self.types.push(meta.clone());
            position
        });
        numbered("T", position)
    }

    /// The `static` that holds this payload.
    fn payload(&mut self, op: &ExtensionRef) -> Ident {
        let position = self.payloads.iter().position(|known| known == op).unwrap_or_else(|| {
            let position = self.payloads.len();
            let Payload { kind, value } = extension::payload(&**op);
            let (name, doc) = (numbered("E", position), format!(" {}", extension::describe(&**op)));
            self.declarations.extend(quote! {
                #[doc = #doc]
                static #name: #kind = #value;
            });
            self.payloads.push(op.clone());
            position
        });
        numbered("E", position)
    }

    /// The `static` that holds these sizes.
    fn sizes(&mut self, sizes: &[Size]) -> Ident {
        let position = self.sizes.iter().position(|known| known == sizes).unwrap_or_else(|| {
            let position = self.sizes.len();
            let values = sizes.iter().map(|Size { name, binding }| match binding {
                SizeBinding::Axis { input, axis, scale, offset } => {
                    let (input, axis, scale, offset) = (index(*input), index(*axis), integer(*scale), integer(*offset));
                    quote!(size_of(#name, #input, #axis, #scale, #offset))
                }
                SizeBinding::Value { value, bound } => {
                    let (value, bound) = (index(value.0), sym_dim(bound));
                    quote!(size_of_value(#name, #value, #bound))
                }
            });
            let (name, count) = (numbered("S", position), Literal::usize_unsuffixed(sizes.len()));
            self.declarations.extend(quote!(static #name: [Size; #count] = [#(#values),*];));
            self.sizes.push(sizes.to_vec());
            position
        });
        numbered("S", position)
    }

    fn shape_text(&self, dims: &[SymDim]) -> String {
        if dims.is_empty() {
            return String::new();
        }
        let size_name = |id: SizeId| match self.size_names.get(id.0 as usize) {
            Some(name) => name.clone(),
            None => format!("s{}", id.0),
        };
        let text: Vec<_> = dims.iter().map(|dim| dim.display_with(&size_name).to_string()).collect();
        format!("[{}]", text.join(", "))
    }
}

fn numbered(prefix: &str, position: usize) -> Ident {
    ident(&format!("{prefix}{position}"))
}

/// The constant expression of a program.
pub(super) fn program(program: &SemanticProgram, tables: &mut Tables) -> TokenStream {
    let (name, sizes) = (program.name(), tables.sizes(program.sizes()));
    let inputs = program.inputs().iter().map(|Input { name }| quote!(input(#name)));
    let values: Vec<_> = program.values().iter().map(|meta| tables.value_type(meta)).collect();
    let nodes: Vec<_> = program.nodes().iter().map(|node| self::node(node, tables)).collect();
    let outputs = program.outputs().iter().map(|Output { name, value }| {
        let value = index(value.0);
        match name {
            Some(name) => quote!(named(#name, #value)),
            None => quote!(output(#value)),
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
            sizes: B(&#sizes),
            inputs: B(&[#(#inputs),*]),
            values: B(&[#(#values),*]),
            nodes: B(&[#(#nodes),*]),
            outputs: B(&[#(#outputs),*]),
            guards: B(&[#(#guards),*]),
            fingerprint: Fingerprint(#fingerprint),
        }
    }
}

fn node(node: &Node, tables: &mut Tables) -> TokenStream {
    let inputs = node.inputs.iter().map(|input| index(input.0));
    let first_output = index(node.first_output.0);
    match &node.op {
        Op::Core(op) => {
            let op = core_op(op, tables);
            quote!(core(#first_output, #op, &[#(V(#inputs)),*]))
        }
        Op::Extension(op) => {
            let (payload, count) = (tables.payload(op), index(node.output_count));
            quote!(extension(#first_output, #count, &#payload, &[#(V(#inputs)),*]))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn sizes_are_written_with_what_they_are_read_off() {
        let text = "program f<n, k = count <= 2*n + 1>(x: f64[2*n], count: i64) -> f64[k] {
            guard k <= 2*n, \"`slice` (limit of a slice)\"
            %2 = slice start=[0] limit=[k] stride=[1] x : f64[k]
            return %2
        }";
        let read = SemanticProgram::parse(text).unwrap();
        let mut tables = Tables::new(&read);
        program(&read, &mut tables);
        let sizes = tables.into_declarations().to_string();
        let expected = quote!([size_of("n", 0, 0, 2, 0), size_of_value("k", 1, affine::<0, 2, 1>())]).to_string();
        assert!(sizes.contains(&expected), "{sizes}");
    }
}
