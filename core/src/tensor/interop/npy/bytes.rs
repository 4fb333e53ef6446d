//! Elements as bytes.

use num_complex::Complex;

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

/// An element as bytes.
pub(super) trait Bytes: Sized {
    /// The element of as many bytes as it has.
    fn decode(bytes: &[u8], endian: Endian) -> Result<Self, String>;
    /// Appends the bytes of the element, the least significant first.
    fn encode(self, bytes: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($T:ty)*) => { $(
        impl Bytes for $T {
            fn decode(bytes: &[u8], endian: Endian) -> Result<Self, String> {
                let bytes = bytes.try_into().map_err(|_| format!("has {} bytes for an element", bytes.len()))?;
                Ok(match endian {
                    Endian::Little => <$T>::from_le_bytes(bytes),
                    Endian::Big => <$T>::from_be_bytes(bytes),
                })
            }

            fn encode(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )* };
}

numbers! { f32 f64 i32 i64 }

impl<F: Bytes> Bytes for Complex<F> {
    fn decode(bytes: &[u8], endian: Endian) -> Result<Self, String> {
        let (re, im) = bytes.split_at(bytes.len() / 2);
        Ok(Complex::new(F::decode(re, endian)?, F::decode(im, endian)?))
    }

    fn encode(self, bytes: &mut Vec<u8>) {
        self.re.encode(bytes);
        self.im.encode(bytes);
    }
}

impl Bytes for bool {
    fn decode(bytes: &[u8], _: Endian) -> Result<Self, String> {
        match bytes {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(format!("holds the bytes {bytes:?}, which are neither true nor false,")),
        }
    }

    fn encode(self, bytes: &mut Vec<u8>) {
        bytes.push(self.into());
    }
}
