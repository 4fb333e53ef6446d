//! What an element is: the seven dtypes, sets of them, scalar values and the Rust types behind them.

mod elements;
mod scalar;
mod set;
mod value;

pub(crate) use elements::Element;
pub use elements::Elements;
pub use scalar::{Float, Num, Real, Scalar};
pub use set::DTypeSet;
pub use value::ScalarValue;

use std::fmt;

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `Complex<f32>`.
    C32,
    /// `Complex<f64>`.
    C64,
    /// `i32`.
    I32,
    /// `i64`.
    I64,
    /// `bool`.
    Bool,
}

impl DType {
    /// Every dtype.
    pub const ALL: [DType; 7] = [DType::F32, DType::F64, DType::C32, DType::C64, DType::I32, DType::I64, DType::Bool];

    /// The name the language uses: `f32 f64 c32 c64 i32 i64 bool`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::C32 => "c32",
            DType::C64 => "c64",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::Bool => "bool",
        }
    }

    /// The dtype of that [`name`](Self::name).
    ///
    /// ```
    /// use tenferro_core::DType;
    /// assert_eq!(DType::from_name("c64"), Some(DType::C64));
    /// assert_eq!(DType::from_name("f16"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Bytes an element takes.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool => 1,
            DType::F32 | DType::I32 => 4,
            DType::F64 | DType::C32 | DType::I64 => 8,
            DType::C64 => 16,
        }
    }

    /// Whether derivatives exist: `f32 f64 c32 c64`.
    pub const fn is_float(self) -> bool {
        DTypeSet::FLOAT.contains(self)
    }

    /// `f32` or `f64`.
    pub const fn is_real_float(self) -> bool {
        DTypeSet::REAL_FLOAT.contains(self)
    }

    /// `c32` or `c64`.
    pub const fn is_complex(self) -> bool {
        DTypeSet::COMPLEX.contains(self)
    }

    /// `i32` or `i64`.
    pub const fn is_integer(self) -> bool {
        DTypeSet::INTEGER.contains(self)
    }

    /// The dtype of a complex number's parts; any other dtype is its own.
    pub const fn to_real(self) -> DType {
        match self {
            DType::C32 => DType::F32,
            DType::C64 => DType::F64,
            other => other,
        }
    }

    /// The complex dtype above a real one (`f64` -> `c64`); others stay.
    pub const fn to_complex(self) -> DType {
        match self {
            DType::F32 => DType::C32,
            DType::F64 => DType::C64,
            other => other,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Runs an expression with a type name bound to the Rust type of a dtype.
///
/// ```
/// use tenferro_core::{DType, with_dtype};
/// let size = with_dtype!(DType::C64, T => size_of::<T>());
/// assert_eq!(size, 16);
/// ```
#[macro_export]
macro_rules! with_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
            $crate::DType::C32 => {
                type $T = $crate::Complex<f32>;
                $body
            }
            $crate::DType::C64 => {
                type $T = $crate::Complex<f64>;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::Bool => {
                type $T = bool;
                $body
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for dtype in DType::ALL {
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
            assert_eq!(dtype.to_string(), dtype.name());
        }
    }

    #[test]
    fn sizes_are_those_of_the_rust_types() {
        for dtype in DType::ALL {
            assert_eq!(with_dtype!(dtype, T => size_of::<T>()), dtype.size());
            assert_eq!(with_dtype!(dtype, T => T::DTYPE), dtype);
        }
    }

    #[test]
    fn classes_do_not_overlap() {
        for dtype in DType::ALL {
            let classes = [dtype.is_real_float(), dtype.is_complex(), dtype.is_integer(), dtype == DType::Bool];
            assert_eq!(classes.into_iter().filter(|&member| member).count(), 1);
            assert!(!dtype.to_real().is_complex());
        }
    }
}
