//! Core operations, scalars and symbolic sizes as constant expressions.

use std::fmt::Debug;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;
use tenferro_core::ops::CoreOp;
use tenferro_core::shape::{Factor, SymDim, Term};
use tenferro_core::{DType, ScalarValue};

use super::program::Tables;

/// The constant expression of an operation.
pub(super) fn core_op(op: &CoreOp, tables: &mut Tables) -> TokenStream {
    match op {
        CoreOp::Constant(value) => {
            let value = scalar(*value);
            quote!(Constant(#value))
        }
        CoreOp::SizeValue { dim, dtype } => {
            let (dim, dtype) = (sym_dim(dim), self::dtype(*dtype));
            quote!(SizeValue { dim: #dim, dtype: #dtype })
        }
        CoreOp::Iota { shape, axis, dtype } => {
            let (shape, axis, dtype) = (dims(shape, tables), index(*axis), self::dtype(*dtype));
            quote!(Iota { shape: #shape, axis: #axis, dtype: #dtype })
        }
        CoreOp::Convert(to) => {
            let to = dtype(*to);
            quote!(Convert(#to))
        }
        CoreOp::Compare(comparison) => {
            let comparison = variant(comparison);
            quote!(Compare(Comparison::#comparison))
        }
        CoreOp::Reshape { shape } => {
            let shape = dims(shape, tables);
            quote!(Reshape { shape: #shape })
        }
        CoreOp::BroadcastInDim { shape, axes } => {
            let (shape, axes) = (dims(shape, tables), indices(axes));
            quote!(BroadcastInDim { shape: #shape, axes: #axes })
        }
        CoreOp::Slice { start, limit, stride } => {
            let (start, limit, stride) = (dims(start, tables), dims(limit, tables), indices(stride));
            quote!(Slice { start: #start, limit: #limit, stride: #stride })
        }
        CoreOp::Pad { low, high, interior } => {
            let (low, high, interior) = (dims(low, tables), dims(high, tables), indices(interior));
            quote!(Pad { low: #low, high: #high, interior: #interior })
        }
        CoreOp::ExtractDiag { axis_a, axis_b } => {
            let (a, b) = (index(*axis_a), index(*axis_b));
            quote!(ExtractDiag { axis_a: #a, axis_b: #b })
        }
        CoreOp::Tril { row, column, k } => triangle("Tril", [*row, *column], *k),
        CoreOp::Triu { row, column, k } => triangle("Triu", [*row, *column], *k),
        CoreOp::DynamicSlice { sizes } => {
            let sizes = dims(sizes, tables);
            quote!(DynamicSlice { sizes: #sizes })
        }
        CoreOp::Transpose { axes } => with_axes("Transpose", axes),
        CoreOp::Reverse { axes } => with_axes("Reverse", axes),
        CoreOp::Sum { axes } => with_axes("Sum", axes),
        CoreOp::Prod { axes } => with_axes("Prod", axes),
        CoreOp::Any { axes } => with_axes("Any", axes),
        CoreOp::All { axes } => with_axes("All", axes),
        CoreOp::Max { axes } => with_axes("Max", axes),
        CoreOp::Min { axes } => with_axes("Min", axes),
        CoreOp::Concatenate { axis } => with_axis("Concatenate", *axis),
        CoreOp::Gather { axis } => with_axis("Gather", *axis),
        CoreOp::Scatter { axis } => with_axis("Scatter", *axis),
        CoreOp::ScatterAdd { axis } => with_axis("ScatterAdd", *axis),
        CoreOp::ArgMax { axis } => with_axis("ArgMax", *axis),
        CoreOp::ArgMin { axis } => with_axis("ArgMin", *axis),
        CoreOp::CumSum { axis } => with_axis("CumSum", *axis),
        CoreOp::CumProd { axis } => with_axis("CumProd", *axis),
        CoreOp::LinearRecurrence { axis } => with_axis("LinearRecurrence", *axis),
        without_attributes => {
            let name = variant(without_attributes);
            quote!(#name)
        }
    }
}

fn triangle(name: &str, axes: [u32; 2], k: i64) -> TokenStream {
    let (name, [row, column], k) = (ident(name), axes.map(index), integer(k));
    quote!(#name { row: #row, column: #column, k: #k })
}

fn with_axes(name: &str, axes: &[u32]) -> TokenStream {
    let (name, axes) = (ident(name), indices(axes));
    quote!(#name { axes: #axes })
}

fn with_axis(name: &str, axis: u32) -> TokenStream {
    let (name, axis) = (ident(name), index(axis));
    quote!(#name { axis: #axis })
}

/// The name of a variant without attributes is its `Debug` form.
pub(super) fn variant(value: &impl Debug) -> Ident {
    ident(&format!("{value:?}"))
}

pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

pub(super) fn index(value: u32) -> Literal {
    Literal::u32_unsuffixed(value)
}

pub(super) fn indices(values: &[u32]) -> TokenStream {
    let values = values.iter().map(|v| index(*v));
    quote!(B(&[#(#values),*]))
}

pub(super) fn dtype(dtype: DType) -> Ident {
    variant(&dtype)
}

/// A list of extents: a reference to a table, or nothing.
fn dims(dims: &[SymDim], tables: &mut Tables) -> TokenStream {
    let table = tables.dims(dims);
    quote!(B(#table))
}

/// The constant expression of an extent.
pub(super) fn sym_dim(dim: &SymDim) -> TokenStream {
    let constant = integer(dim.constant);
    if dim.as_const().is_some() {
        return quote!(dim(#constant));
    }
    if let Some(size) = dim.as_size() {
        let id = index(size.0);
        return quote!(size::<#id>());
    }
    if let Some((size, scale, _)) = dim.as_affine() {
        let (id, scale) = (index(size.0), integer(scale));
        return quote!(affine::<#id, #scale, #constant>());
    }
    let terms = dim.terms.iter().map(|Term { factors, coefficient }| {
        let (factors, coefficient) = (factors.iter().map(factor), integer(*coefficient));
        quote!(Term { factors: B(&[#(#factors),*]), coefficient: #coefficient })
    });
    quote!(SymDim { constant: #constant, terms: B(&[#(#terms),*]) })
}

fn factor(factor: &Factor) -> TokenStream {
    let (name, arguments) = match factor {
        Factor::Size(id) => {
            let id = index(id.0);
            return quote!(Factor::Size(SizeId(#id)));
        }
        Factor::Quotient(arguments) => ("Quotient", arguments),
        Factor::Min(arguments) => ("Min", arguments),
        Factor::Max(arguments) => ("Max", arguments),
    };
    let (name, arguments) = (ident(name), arguments.iter().map(sym_dim));
    quote!(Factor::#name(B(&[#(#arguments),*])))
}

/// The constant expression of a scalar.
fn scalar(value: ScalarValue) -> TokenStream {
    let name = dtype(value.dtype());
    let value = match value {
        ScalarValue::F32(v) => float32(v),
        ScalarValue::F64(v) => float64(v),
        ScalarValue::C32(v) => {
            let (re, im) = (float32(v.re), float32(v.im));
            quote!(Complex::new(#re, #im))
        }
        ScalarValue::C64(v) => {
            let (re, im) = (float64(v.re), float64(v.im));
            quote!(Complex::new(#re, #im))
        }
        ScalarValue::I32(v) => integer(v.into()),
        ScalarValue::I64(v) => integer(v),
        ScalarValue::Bool(v) => quote!(#v),
    };
    quote!(ScalarValue::#name(#value))
}

/// A literal token has no sign of its own in source text, so the sign is written before it.
pub(super) fn integer(value: i64) -> TokenStream {
    let digits = Literal::u64_unsuffixed(value.unsigned_abs());
    if value < 0 { quote!(-#digits) } else { quote!(#digits) }
}

fn float64(value: f64) -> TokenStream {
    let bits = hexadecimal(value.to_bits().into());
    if value.is_finite() { float(value.is_sign_negative(), value.abs()) } else { quote!(f64::from_bits(#bits)) }
}

fn float32(value: f32) -> TokenStream {
    let bits = hexadecimal(value.to_bits().into());
    if value.is_finite() { float(value.is_sign_negative(), value.abs()) } else { quote!(f32::from_bits(#bits)) }
}

/// The `Debug` form is the shortest text that reads back as the same number, with an exponent where it is large.
fn float(negative: bool, magnitude: impl Debug) -> TokenStream {
    let digits: Literal = format!("{magnitude:?}").parse().expect("a finite float prints as one token");
    if negative { quote!(-#digits) } else { quote!(#digits) }
}

pub(super) fn hexadecimal(value: u128) -> Literal {
    format!("{value:#x}").parse().expect("a hexadecimal integer is one token")
}
