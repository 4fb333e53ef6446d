// What `tenferro!` makes of the kernel in `tests/all/expansion.rs`. Written by that test under TENFERRO_BLESS=1.

/// The quadratic form `x' a x`.
///
/// `quadratic(x: f64[n], a: f64[n, n]) -> f64`
#[allow(non_camel_case_types, dead_code)]
#[derive(
    :: core :: clone :: Clone, :: core :: marker :: Copy, :: core :: fmt :: Debug, :: core :: default :: Default,
)]
pub struct quadratic;
#[allow(unused, deprecated, clippy::all, clippy::pedantic)]
const _: () = {
    use ::tenferro::__private as __t;
    use __t::{
        local as a, local as ct, local as d_x, local as out, local as results, local as runtime, local as session,
        local as shapes, local as targets, local as x,
    };
    mod __programs {
        use ::tenferro::__private::program::*;
        static S0: [Size; 1] = [size_of("n", 0, 0, 1, 0)];
        /// [n]
        static D0: [SymDim; 1] = [size::<0>()];
        /// f64[n]
        const T0: ValueMeta = value(F64, &D0);
        /// [n, n]
        static D1: [SymDim; 2] = [size::<0>(), size::<0>()];
        /// f64[n, n]
        const T1: ValueMeta = value(F64, &D1);
        /// f64
        const T2: ValueMeta = value(F64, &[]);
        /// "i,ij,j->"
        static E0: EinsumOp = EinsumOp {
            inputs: B(&[B(&[0]), B(&[0, 1]), B(&[1])]),
            output: B(&[]),
            stretch: B(&[]),
            plan: EinsumOptimize::Auto,
            goal: Goal::DEFAULT,
        };
        /// ",i,ij->j"
        static E1: EinsumOp = EinsumOp {
            inputs: B(&[B(&[]), B(&[0]), B(&[0, 1])]),
            output: B(&[1]),
            stretch: B(&[]),
            plan: EinsumOptimize::Auto,
            goal: Goal::DEFAULT,
        };
        /// ",ij,j->i"
        static E2: EinsumOp = EinsumOp {
            inputs: B(&[B(&[]), B(&[0, 1]), B(&[1])]),
            output: B(&[0]),
            stretch: B(&[]),
            plan: EinsumOptimize::Auto,
            goal: Goal::DEFAULT,
        };
        /// "i,ij->j"
        static E3: EinsumOp = EinsumOp {
            inputs: B(&[B(&[0]), B(&[0, 1])]),
            output: B(&[1]),
            stretch: B(&[]),
            plan: EinsumOptimize::Auto,
            goal: Goal::DEFAULT,
        };
        /// "ij,j->i"
        static E4: EinsumOp = EinsumOp {
            inputs: B(&[B(&[0, 1]), B(&[1])]),
            output: B(&[0]),
            stretch: B(&[]),
            plan: EinsumOptimize::Auto,
            goal: Goal::DEFAULT,
        };
        pub(super) static PRIMAL: KernelProgram = KernelProgram {
            slot: Slot::new(),
            program: SemanticProgram {
                name: B("quadratic"),
                sizes: B(&S0),
                inputs: B(&[input("x"), input("a")]),
                values: B(&[T0, T1, T2]),
                nodes: B(&[extension(2, 1, &E0, &[V(0), V(1), V(0)])]),
                outputs: B(&[output(2)]),
                guards: B(&[]),
                fingerprint: Fingerprint(0x145a6957f176e73b2c7fefeda15f8874),
            },
        };
        pub(super) static JVP: KernelProgram = KernelProgram {
            slot: Slot::new(),
            program: SemanticProgram {
                name: B("jvp_quadratic"),
                sizes: B(&S0),
                inputs: B(&[input("x"), input("a"), input("d_x")]),
                values: B(&[T0, T1, T0, T2, T2, T2, T2]),
                nodes: B(&[
                    extension(3, 1, &E0, &[V(0), V(1), V(0)]),
                    extension(4, 1, &E0, &[V(2), V(1), V(0)]),
                    extension(5, 1, &E0, &[V(0), V(1), V(2)]),
                    core(6, Add, &[V(4), V(5)]),
                ]),
                outputs: B(&[output(3), output(6)]),
                guards: B(&[]),
                fingerprint: Fingerprint(0xcd6feb9c9978499d89f8182c98657f1f),
            },
        };
        pub(super) static VJP: KernelProgram = KernelProgram {
            slot: Slot::new(),
            program: SemanticProgram {
                name: B("vjp_quadratic"),
                sizes: B(&S0),
                inputs: B(&[input("x"), input("a"), input("ct")]),
                values: B(&[T0, T1, T2, T2, T0, T0, T0]),
                nodes: B(&[
                    extension(3, 1, &E0, &[V(0), V(1), V(0)]),
                    extension(4, 1, &E1, &[V(2), V(0), V(1)]),
                    extension(5, 1, &E2, &[V(2), V(1), V(0)]),
                    core(6, Add, &[V(4), V(5)]),
                ]),
                outputs: B(&[output(3), named("d_x", 6)]),
                guards: B(&[]),
                fingerprint: Fingerprint(0xf722c079ecb57ccd17fc6afb968752fe),
            },
        };
        pub(super) static GRAD: KernelProgram = KernelProgram {
            slot: Slot::new(),
            program: SemanticProgram {
                name: B("grad_quadratic"),
                sizes: B(&S0),
                inputs: B(&[input("x"), input("a")]),
                values: B(&[T0, T1, T0, T0, T0]),
                nodes: B(&[
                    extension(2, 1, &E3, &[V(0), V(1)]),
                    extension(3, 1, &E4, &[V(1), V(0)]),
                    core(4, Add, &[V(2), V(3)]),
                ]),
                outputs: B(&[named("d_x", 4)]),
                guards: B(&[]),
                fingerprint: Fingerprint(0xcc619c080e9a8f925960517db5a1969),
            },
        };
        pub(super) static VALUE_AND_GRAD: KernelProgram = KernelProgram {
            slot: Slot::new(),
            program: SemanticProgram {
                name: B("value_and_grad_quadratic"),
                sizes: B(&S0),
                inputs: B(&[input("x"), input("a")]),
                values: B(&[T0, T1, T2, T0, T0, T0]),
                nodes: B(&[
                    extension(2, 1, &E0, &[V(0), V(1), V(0)]),
                    extension(3, 1, &E3, &[V(0), V(1)]),
                    extension(4, 1, &E4, &[V(1), V(0)]),
                    core(5, Add, &[V(3), V(4)]),
                ]),
                outputs: B(&[output(2), named("d_x", 5)]),
                guards: B(&[]),
                fingerprint: Fingerprint(0x231b0f5883b40333920f4819f3a0539e),
            },
        };
        pub(super) static HVP: KernelProgram = KernelProgram {
            slot: Slot::new(),
            program: SemanticProgram {
                name: B("hvp_quadratic"),
                sizes: B(&S0),
                inputs: B(&[input("x"), input("a"), input("d_x")]),
                values: B(&[T0, T1, T0, T0, T0, T0]),
                nodes: B(&[
                    extension(3, 1, &E3, &[V(2), V(1)]),
                    extension(4, 1, &E4, &[V(1), V(2)]),
                    core(5, Add, &[V(3), V(4)]),
                ]),
                outputs: B(&[named("d_x", 5)]),
                guards: B(&[]),
                fingerprint: Fingerprint(0xafa5e455ea69163955a86bdfbdc915ed),
            },
        };
    }
    impl quadratic {
        /// Runs the kernel.
        ///
        /// `quadratic(x: f64[n], a: f64[n, n]) -> f64`
        pub fn run(
            self,
            session: &mut __t::Session,
            x: impl __t::Operand<f64, 1>,
            a: impl __t::Operand<f64, 2>,
        ) -> __t::Result<f64> {
            let mut results = __t::call(session, &__programs::PRIMAL, &[x.read(), a.read()])?;
            ::core::result::Result::Ok(results.scalar()?)
        }
        /// Runs the kernel and writes the result over existing values, whose shapes must be those of the result.
        ///
        /// `quadratic(x: f64[n], a: f64[n, n]) -> f64`
        pub fn run_into(
            self,
            session: &mut __t::Session,
            x: impl __t::Operand<f64, 1>,
            a: impl __t::Operand<f64, 2>,
            out: &mut f64,
        ) -> __t::Result<()> {
            __t::call_into(session, &__programs::PRIMAL, &[x.read(), a.read()], &mut [&mut __t::Place(out)])
        }
        /// Prepares the kernel for engines and for the shapes of its arguments, to be run without a session.
        ///
        /// `quadratic(x: f64[n], a: f64[n, n]) -> f64`
        pub fn prepare(
            self,
            runtime: &__t::Runtime,
            targets: &[__t::EngineTarget],
            shapes: ([usize; 1], [usize; 2]),
        ) -> __t::Result<__t::Prepared<Self>> {
            __t::Prepared::new(runtime, targets, &[&shapes.0, &shapes.1])
        }
        /// Forward mode: the output, and its tangent for tangents of `x`.
        ///
        /// `quadratic(x: f64[n], a: f64[n, n]) -> f64`
        pub fn jvp(
            self,
            session: &mut __t::Session,
            x: impl __t::Operand<f64, 1>,
            a: impl __t::Operand<f64, 2>,
            d_x: impl __t::Operand<f64, 1>,
        ) -> __t::Result<(f64, f64)> {
            let mut results = __t::call(session, &__programs::JVP, &[x.read(), a.read(), d_x.read()])?;
            ::core::result::Result::Ok((results.scalar()?, results.scalar()?))
        }
        /// Reverse mode: the output, and what a cotangent of it becomes for `x`.
        ///
        /// `quadratic(x: f64[n], a: f64[n, n]) -> f64`
        pub fn vjp(
            self,
            session: &mut __t::Session,
            x: impl __t::Operand<f64, 1>,
            a: impl __t::Operand<f64, 2>,
            ct: f64,
        ) -> __t::Result<(f64, __t::TypedTensor<f64, 1>)> {
            let mut results = __t::call(session, &__programs::VJP, &[x.read(), a.read(), __t::scalar(&ct)?])?;
            ::core::result::Result::Ok((results.scalar()?, results.tensor()?))
        }
        /// The gradient with respect to `x`.
        ///
        /// `quadratic(x: f64[n], a: f64[n, n]) -> f64`
        pub fn grad(
            self,
            session: &mut __t::Session,
            x: impl __t::Operand<f64, 1>,
            a: impl __t::Operand<f64, 2>,
        ) -> __t::Result<__t::TypedTensor<f64, 1>> {
            let mut results = __t::call(session, &__programs::GRAD, &[x.read(), a.read()])?;
            ::core::result::Result::Ok(results.tensor()?)
        }
        /// The value, and the gradient with respect to `x`.
        ///
        /// `quadratic(x: f64[n], a: f64[n, n]) -> f64`
        pub fn value_and_grad(
            self,
            session: &mut __t::Session,
            x: impl __t::Operand<f64, 1>,
            a: impl __t::Operand<f64, 2>,
        ) -> __t::Result<(f64, __t::TypedTensor<f64, 1>)> {
            let mut results = __t::call(session, &__programs::VALUE_AND_GRAD, &[x.read(), a.read()])?;
            ::core::result::Result::Ok((results.scalar()?, results.tensor()?))
        }
        /// The Hessian with respect to `x`, times the tangents.
        ///
        /// `quadratic(x: f64[n], a: f64[n, n]) -> f64`
        pub fn hvp(
            self,
            session: &mut __t::Session,
            x: impl __t::Operand<f64, 1>,
            a: impl __t::Operand<f64, 2>,
            d_x: impl __t::Operand<f64, 1>,
        ) -> __t::Result<__t::TypedTensor<f64, 1>> {
            let mut results = __t::call(session, &__programs::HVP, &[x.read(), a.read(), d_x.read()])?;
            ::core::result::Result::Ok(results.tensor()?)
        }
        /// The program behind [`run`](Self::run), made while compiling.
        pub fn program(self) -> &'static __t::SemanticProgram {
            &__programs::PRIMAL.program
        }
        /// The program behind [`jvp`](Self::jvp), made while compiling.
        pub fn jvp_program(self) -> &'static __t::SemanticProgram {
            &__programs::JVP.program
        }
        /// The program behind [`vjp`](Self::vjp), made while compiling.
        pub fn vjp_program(self) -> &'static __t::SemanticProgram {
            &__programs::VJP.program
        }
        /// The program behind [`grad`](Self::grad), made while compiling.
        pub fn grad_program(self) -> &'static __t::SemanticProgram {
            &__programs::GRAD.program
        }
        /// The program behind [`value_and_grad`](Self::value_and_grad), made while compiling.
        pub fn value_and_grad_program(self) -> &'static __t::SemanticProgram {
            &__programs::VALUE_AND_GRAD.program
        }
        /// The program behind [`hvp`](Self::hvp), made while compiling.
        pub fn hvp_program(self) -> &'static __t::SemanticProgram {
            &__programs::HVP.program
        }
    }
    impl __t::Kernel for quadratic {
        const NAME: &'static str = "quadratic";
        type Inputs = (__t::Array<f64, 1>, __t::Array<f64, 2>);
        type Output = f64;
        fn program() -> &'static __t::SemanticProgram {
            &__programs::PRIMAL.program
        }
        fn output(results: &mut __t::Results) -> __t::Result<f64> {
            ::core::result::Result::Ok(results.scalar()?)
        }
    }
};
