//! Sets of dtypes, as an operation declares what it accepts.

use std::fmt;

use super::DType;

/// A set of dtypes.
///
/// ```
/// use tenferro_core::{DType, DTypeSet};
/// assert!(DTypeSet::FLOAT.contains(DType::C32));
/// assert_eq!(DTypeSet::ORDERED.to_string(), "f32, f64, i32 or i64");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DTypeSet(u8);

impl DTypeSet {
    /// `f32 f64`.
    pub const REAL_FLOAT: DTypeSet = DTypeSet::of(&[DType::F32, DType::F64]);
    /// `c32 c64`.
    pub const COMPLEX: DTypeSet = DTypeSet::of(&[DType::C32, DType::C64]);
    /// `f32 f64 c32 c64`.
    pub const FLOAT: DTypeSet = DTypeSet::REAL_FLOAT.union(DTypeSet::COMPLEX);
    /// `i32 i64`.
    pub const INTEGER: DTypeSet = DTypeSet::of(&[DType::I32, DType::I64]);
    /// What `<` compares: `f32 f64 i32 i64`.
    pub const ORDERED: DTypeSet = DTypeSet::REAL_FLOAT.union(DTypeSet::INTEGER);
    /// All but `bool`.
    pub const NUMERIC: DTypeSet = DTypeSet::FLOAT.union(DTypeSet::INTEGER);
    /// `bool` alone.
    pub const BOOL: DTypeSet = DTypeSet::of(&[DType::Bool]);
    /// Every dtype.
    pub const ALL: DTypeSet = DTypeSet::of(&DType::ALL);

    /// The set of those dtypes.
    pub const fn of(dtypes: &[DType]) -> DTypeSet {
        let mut bits = 0;
        let mut i = 0;
        while i < dtypes.len() {
            bits |= 1 << dtypes[i] as u8;
            i += 1;
        }
        DTypeSet(bits)
    }

    /// Whether the dtype is a member.
    pub const fn contains(self, dtype: DType) -> bool {
        self.0 & (1 << dtype as u8) != 0
    }

    /// The members of either.
    pub const fn union(self, other: DTypeSet) -> DTypeSet {
        DTypeSet(self.0 | other.0)
    }

    /// The members, in the order of [`DType::ALL`].
    pub fn iter(self) -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(move |&dtype| self.contains(dtype))
    }
}

impl fmt::Display for DTypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.iter().count();
        if count == 0 {
            return f.write_str("no dtype");
        }
        for (i, dtype) in self.iter().enumerate() {
            let separator = match i {
                0 => "",
                _ if i + 1 == count => " or ",
                _ => ", ",
            };
            write!(f, "{separator}{dtype}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_lists_the_members() {
        assert_eq!(DTypeSet::of(&[]).to_string(), "no dtype");
        assert_eq!(DTypeSet::BOOL.to_string(), "bool");
        assert_eq!(DTypeSet::COMPLEX.to_string(), "c32 or c64");
        assert_eq!(DTypeSet::ALL.to_string(), "f32, f64, c32, c64, i32, i64 or bool");
    }

    #[test]
    fn all_is_numeric_and_bool() {
        assert_eq!(DTypeSet::NUMERIC.union(DTypeSet::BOOL), DTypeSet::ALL);
        assert!(!DTypeSet::NUMERIC.contains(DType::Bool));
    }
}
