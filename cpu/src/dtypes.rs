//! From a dtype to the Rust type that a kernel is instantiated for.

/// `Some` of an expression with `$T` bound to the one of the types that has this dtype.
macro_rules! over {
    ([$($type:ty),*], $dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $(dtype if dtype == <$type as tenferro_core::Scalar>::DTYPE => {
                type $T = $type;
                Some($body)
            })*
            _ => None,
        }
    };
}

/// The same over all numbers.
macro_rules! numeric {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::dtypes::over!(
            [f32, f64, tenferro_core::Complex32, tenferro_core::Complex64, i32, i64], $dtype, $T => $body
        )
    };
}

/// The same over floats, real and complex.
macro_rules! float {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::dtypes::over!(
            [f32, f64, tenferro_core::Complex32, tenferro_core::Complex64], $dtype, $T => $body
        )
    };
}

/// The same over what `<` compares.
macro_rules! ordered {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::dtypes::over!([f32, f64, i32, i64], $dtype, $T => $body)
    };
}

pub(crate) use {float, numeric, ordered, over};
