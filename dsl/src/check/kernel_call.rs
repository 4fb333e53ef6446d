//! Calls of kernels of the same block: dtypes and sizes of the callee from the arguments.

use tenferro_core::DType;
use tenferro_core::shape::{SizeId, SymDim};

use super::body::Checker;
use super::signature::{Signature, Type};
use super::sizes::Agreement;
use super::tree::{Elem, Expr};
use crate::syntax::{self, Call};

impl Checker<'_> {
    /// The results of a kernel for these arguments.
    pub(super) fn kernel_call(&mut self, expr: &syntax::Expr, call: &Call) -> Option<Vec<Expr>> {
        let kernel = self.callee(call)?;
        let callee = &self.signatures[kernel];
        self.note_call(kernel);
        self.no_options(call, &[])?;
        if call.indices.is_some() {
            self.error(expr.place, format!("`{0}` is a kernel and takes whole tensors: write `{0}(..)`", call.name));
            return None;
        }
        let args: Vec<Option<Expr>> = call.args.iter().map(|arg| self.value(arg)).collect();
        if args.len() != callee.params.len() {
            let wanted = callee.params.len();
            let message = format!(
                "`{}` takes {wanted} argument{}, not {}: {}",
                call.name,
                if wanted == 1 { "" } else { "s" },
                args.len(),
                callee.text()
            );
            self.error(&call.name, message);
            return None;
        }
        let mut args: Vec<Expr> = args.into_iter().collect::<Option<_>>()?;
        let params: Vec<&Type> = callee.param_types.iter().map(Option::as_ref).collect::<Option<_>>()?;
        let outputs: Vec<&Type> = callee.output_types.iter().map(Option::as_ref).collect::<Option<_>>()?;
        let generic = self.chosen_dtype(callee, &params, &args, call)?;
        let instance = |elem: Elem| match (elem, generic) {
            (Elem::Generic(_), Some(chosen)) => chosen,
            (elem, _) => elem,
        };
        for (i, (arg, param)) in args.iter_mut().zip(&params).enumerate() {
            let elem = instance(param.elem);
            if arg.fits(elem) && arg.rank() == param.shape.len() {
                arg.adapt(elem);
                continue;
            }
            if !self.literals_fit(arg, elem, call.args[i].place) {
                return None;
            }
            let actual = self.type_text(arg.elem, &arg.shape);
            let message = format!(
                "argument `{}` of `{}` is {}{}, but this is {actual}",
                callee.params[i].ident,
                call.name,
                self.elem_text(elem),
                if param.shape.is_empty() { "" } else { &callee.params[i].shape_text }
            );
            self.error(call.args[i].place, message);
            return None;
        }
        let sizes = self.sizes_of_call(callee, &params, &args, call)?;
        let types = outputs
            .iter()
            .map(|ty| (instance(ty.elem), ty.shape.iter().map(|dim| dim.substitute(&sizes)).collect()))
            .collect();
        Some(self.call_step(kernel, generic, args, types))
    }

    /// What the callee's dtype parameter stands for; the outer `None` is an error.
    fn chosen_dtype(
        &mut self,
        callee: &Signature,
        params: &[&Type],
        args: &[Expr],
        call: &Call,
    ) -> Option<Option<Elem>> {
        let Some(generic) = &callee.generic else { return Some(None) };
        let candidates =
            || args.iter().zip(params).enumerate().filter(|(_, (_, param))| matches!(param.elem, Elem::Generic(_)));
        let chosen =
            candidates().map(|(_, (arg, _))| arg.elem).find(|elem| !elem.adapts()).unwrap_or(Elem::Fixed(DType::F64));
        for (i, (arg, _)) in candidates() {
            let message = if !arg.elem.adapts() && arg.elem != chosen {
                format!(
                    "`{}` needs one dtype `{}`: an argument before has {}, `{}` has {}",
                    call.name,
                    generic.ident,
                    self.elem_text(chosen),
                    callee.params[i].ident,
                    self.elem_text(arg.elem)
                )
            } else if !chosen.within(generic.bound.dtypes()) {
                format!(
                    "argument `{}` of `{}` may be {}, but this is {}",
                    callee.params[i].ident,
                    call.name,
                    generic.bound.dtypes(),
                    self.elem_text(arg.elem)
                )
            } else {
                continue;
            };
            self.error(call.args[i].place, message);
            return None;
        }
        Some(Some(chosen))
    }

    /// The callee's sizes in terms of the caller's.
    fn sizes_of_call(
        &mut self,
        callee: &Signature,
        params: &[&Type],
        args: &[Expr],
        call: &Call,
    ) -> Option<Vec<SymDim>> {
        let axes = || {
            let arguments = params.iter().zip(args).enumerate();
            arguments.flat_map(|(i, (param, arg))| param.shape.iter().zip(&arg.shape).map(move |(d, a)| (i, d, a)))
        };
        let mut sizes = Vec::new();
        for i in 0..callee.sizes.names().len() {
            let id = SizeId(i as u32);
            let alone = axes().find(|(_, dim, _)| dim.as_size() == Some(id));
            let solvable = |(_, dim, _): &(_, &SymDim, _)| dim.as_affine().is_some_and(|(size, ..)| size == id);
            let (argument, dim, actual) = alone.or_else(|| axes().find(solvable))?;
            let (_, scale, offset) = dim.as_affine()?;
            let rest = actual - offset;
            let size = rest.div(&SymDim::constant(scale));
            let name = &callee.sizes.names()[i];
            if rest.as_const().is_some() && (&size * scale != rest || size.as_const().is_some_and(|size| size < 0)) {
                let message = format!(
                    "argument `{}` of `{}` is declared {}, but is {}, which no size `{name}` fits",
                    callee.params[argument].ident,
                    call.name,
                    callee.params[argument].shape_text,
                    self.sizes().shape_text(&args[argument].shape),
                );
                self.error(call.args[argument].place, message);
                return None;
            }
            // That this is exact is left to the inputs, and from here on taken for granted.
            let reason = format!("size `{name}` of `{}`", call.name);
            self.require_equal(&(&size * scale + offset), actual, &reason);
            sizes.push(size);
        }
        for (i, (param, arg)) in params.iter().zip(args).enumerate() {
            for (axis, (dim, actual)) in param.shape.iter().zip(&arg.shape).enumerate() {
                let expected = dim.substitute(&sizes);
                if self.compare(&expected, actual) == Agreement::Never {
                    let wanted: Vec<SymDim> = param.shape.iter().map(|dim| dim.substitute(&sizes)).collect();
                    let message = format!(
                        "argument `{}` of `{}`, declared {}, must be {} here, but is {}",
                        callee.params[i].ident,
                        call.name,
                        callee.params[i].shape_text,
                        self.sizes().shape_text(&wanted),
                        self.sizes().shape_text(&arg.shape),
                    );
                    self.error(call.args[i].place, message);
                    return None;
                }
                let reason = format!("axis {axis} of argument `{}` of `{}`", callee.params[i].ident, call.name);
                self.require_equal(&expected, actual, &reason);
            }
        }
        Some(sizes)
    }
}

impl Signature {
    /// `f(x: f64[n], y: f64)`
    fn text(&self) -> String {
        let params: Vec<String> = self
            .params
            .iter()
            .map(|param| {
                let dtype = match (param.dtype, &self.generic) {
                    (crate::lowered::DTypeRef::Fixed(dtype), _) => dtype.name().to_string(),
                    (_, Some(generic)) => generic.ident.to_string(),
                    (_, None) => "?".to_string(),
                };
                let shape = if param.rank == 0 { "" } else { &param.shape_text };
                format!("{}: {dtype}{shape}", param.ident)
            })
            .collect();
        format!("{}({})", self.name, params.join(", "))
    }
}
