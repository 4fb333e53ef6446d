//! The 128-bit structural fingerprint of a program.
//!
//! SipHash-1-3 with 128-bit output (Aumasson and Bernstein 2012) under a fixed key. Integers are fed little-endian with
//! `usize` as 64 bits.

use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};

use siphasher::sip128::{Hasher128, SipHasher13};

use super::{SemanticProgram, SizeBinding};

/// A structural fingerprint: equal for programs of equal structure, however they were made.
///
/// It covers, in this order: for each size the axis that binds it, its factor and offset, or `u32::MAX`, the value that
/// it is read off and its bound; the number of inputs; dtype and shape of every value; every operation with its
/// attributes (constants by their bits, of an extension the family id and what
/// [`payload_hash`](crate::extension::ExtensionOp::payload_hash) feeds) and operands; the conditions of the guards; the
/// values that are returned. It covers no name, be it of the program, a size, an input or an output, and no reason of a
/// guard. The order of operations counts.
///
/// The value is the same in every process and on every little-endian platform, so it may be stored; another version of
/// tenferro may give another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub u128);

impl Display for Fingerprint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl SemanticProgram {
    /// The fingerprint computed anew; [`fingerprint`](Self::fingerprint) reads the stored one.
    pub(crate) fn compute_fingerprint(&self) -> Fingerprint {
        let mut state = StableHasher(SipHasher13::new_with_keys(0x7465_6e66, 0x6572_726f));
        for size in self.sizes.iter() {
            match &size.binding {
                SizeBinding::Axis { input, axis, scale, offset } => (input, axis, scale, offset).hash(&mut state),
                // No input has this number.
                SizeBinding::Value { value, bound } => (u32::MAX, value, bound).hash(&mut state),
            }
        }
        self.inputs.len().hash(&mut state);
        self.values.hash(&mut state);
        self.nodes.hash(&mut state);
        for guard in self.guards.iter() {
            (&guard.lhs, guard.relation, &guard.rhs).hash(&mut state);
        }
        self.outputs.len().hash(&mut state);
        for output in self.outputs.iter() {
            output.value.hash(&mut state);
        }
        let hash = state.0.finish128();
        Fingerprint(u128::from(hash.h1) << 64 | u128::from(hash.h2))
    }
}

/// Feeds integers in one width and byte order on every platform.
struct StableHasher(SipHasher13);

macro_rules! stable_integers {
    ($($method:ident $type:ty as $wide:ty),*) => {$(
        fn $method(&mut self, i: $type) {
            self.0.write(&(i as $wide).to_le_bytes());
        }
    )*};
}

impl Hasher for StableHasher {
    fn finish(&self) -> u64 {
        self.0.finish()
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
    stable_integers!(
        write_u16 u16 as u16, write_u32 u32 as u32, write_u64 u64 as u64, write_u128 u128 as u128,
        write_i16 i16 as i16, write_i32 i32 as i32, write_i64 i64 as i64, write_i128 i128 as i128,
        write_usize usize as u64, write_isize isize as i64
    );
}
