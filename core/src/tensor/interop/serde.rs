//! Tensors and dtypes in any format of `serde`.
//!
//! A tensor is a struct of `dtype`, `shape` and `values`, in this order; the values are in column-major order. A
//! complex number is a pair. JSON and other texts have no word for infinities and NaN: there they are the strings
//! `inf`, `-inf` and `nan`.

use std::fmt;
use std::marker::PhantomData;

use ::serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Unexpected, Visitor};
use ::serde::ser::{SerializeSeq, SerializeStruct};
use ::serde::{Deserialize, Deserializer, Serialize, Serializer};
use num_complex::Complex;

use crate::dtype::{DType, Scalar};
use crate::tensor::{Layout, Tensor, TensorView, TypedTensor, TypedView};
use crate::with_dtype;

const NAME: &str = "Tensor";
const FIELDS: &[&str] = &["dtype", "shape", "values"];

impl Serialize for DType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for DType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = DType;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a dtype: f32, f64, c32, c64, i32, i64 or bool")
            }

            fn visit_str<E: ::serde::de::Error>(self, name: &str) -> Result<DType, E> {
                DType::from_name(name).ok_or_else(|| E::invalid_value(Unexpected::Str(name), &self))
            }
        }

        deserializer.deserialize_str(Name)
    }
}

impl Serialize for TensorView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tensor = serializer.serialize_struct(NAME, FIELDS.len())?;
        tensor.serialize_field("dtype", &self.dtype())?;
        tensor.serialize_field("shape", self.shape())?;
        with_dtype!(self.dtype(), T => {
            tensor.serialize_field("values", &Values::<T> { view: self, element: PhantomData })?;
        });
        tensor.end()
    }
}

impl Serialize for Tensor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.view().serialize(serializer)
    }
}

impl<T: Scalar, const R: usize> Serialize for TypedView<'_, T, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_dyn().serialize(serializer)
    }
}

impl<T: Scalar, const R: usize> Serialize for TypedTensor<T, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_dyn().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tensor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(NAME, FIELDS, TensorVisitor)
    }
}

impl<'de, T: Scalar, const R: usize> Deserialize<'de> for TypedTensor<T, R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Tensor::deserialize(deserializer)?.try_into_typed().map_err(D::Error::custom)
    }
}

/// The elements of a view whose dtype is that of `T`.
struct Values<'a, T> {
    view: &'a TensorView<'a>,
    element: PhantomData<T>,
}

impl<T: Scalar + Value> Serialize for Values<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words = serializer.is_human_readable();
        let mut values = serializer.serialize_seq(Some(self.view.len()))?;
        for element in self.view.iter::<T>().map_err(::serde::ser::Error::custom)? {
            element.write(words, &mut values)?;
        }
        values.end()
    }
}

struct TensorVisitor;

impl<'de> Visitor<'de> for TensorVisitor {
    type Value = Tensor;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tensor: its dtype, its shape and its values in column-major order")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<Tensor, A::Error> {
        let missing = |i| A::Error::invalid_length(i, &self);
        let dtype = fields.next_element()?.ok_or_else(|| missing(0))?;
        let shape = fields.next_element()?.ok_or_else(|| missing(1))?;
        fields.next_element_seed(ValuesOf { dtype, shape })?.ok_or_else(|| missing(2))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Tensor, A::Error> {
        let (mut dtype, mut shape, mut tensor) = (None, None, None);
        while let Some(key) = fields.next_key::<String>()? {
            match (key.as_str(), dtype, &shape) {
                ("dtype", None, _) => dtype = Some(fields.next_value()?),
                ("shape", _, None) => shape = Some(fields.next_value()?),
                ("values", Some(dtype), Some(shape)) if tensor.is_none() => {
                    tensor = Some(fields.next_value_seed(ValuesOf { dtype, shape: Vec::clone(shape) })?);
                }
                ("values", ..) if tensor.is_none() => {
                    return Err(A::Error::custom("the `dtype` and the `shape` of a tensor come before its `values`"));
                }
                ("dtype" | "shape" | "values", ..) => {
                    return Err(A::Error::custom(format_args!("a tensor has one field `{key}`")));
                }
                _ => return Err(A::Error::unknown_field(&key, FIELDS)),
            }
        }
        match (dtype, shape) {
            (None, _) => Err(A::Error::missing_field("dtype")),
            (_, None) => Err(A::Error::missing_field("shape")),
            _ => tensor.ok_or_else(|| A::Error::missing_field("values")),
        }
    }
}

/// The values of a tensor of which the rest is known.
struct ValuesOf {
    dtype: DType,
    shape: Vec<usize>,
}

impl<'de> DeserializeSeed<'de> for ValuesOf {
    type Value = Tensor;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tensor, D::Error> {
        // Refused before any value is read.
        let len = Layout::col_major_for("deserialize", &self.shape).map_err(D::Error::custom)?.len();
        let words = deserializer.is_human_readable();
        with_dtype!(self.dtype, T => {
            let values = deserializer.deserialize_seq(Elements::<T> { len, words, element: PhantomData })?;
            Tensor::from_vec_col_major(self.shape, values).map_err(D::Error::custom)
        })
    }
}

struct Elements<T> {
    len: usize,
    words: bool,
    element: PhantomData<T>,
}

impl<'de, T: Value> Visitor<'de> for Elements<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.len)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<T>, A::Error> {
        // The shape may promise anything: memory is taken only as the values come in.
        let mut values = Vec::new();
        while let Some(value) = T::read(self.words, &mut elements)? {
            if values.len() == self.len {
                return Err(A::Error::invalid_length(values.len() + 1, &self));
            }
            values.push(value);
        }
        if values.len() < self.len { Err(A::Error::invalid_length(values.len(), &self)) } else { Ok(values) }
    }
}

/// An element in a sequence; `words` says whether the format is a text.
trait Value: Sized {
    fn write<S: SerializeSeq>(self, words: bool, values: &mut S) -> Result<(), S::Error>;
    fn read<'de, A: SeqAccess<'de>>(words: bool, values: &mut A) -> Result<Option<Self>, A::Error>;
}

macro_rules! exact_values {
    ($($T:ty)*) => { $(
        impl Value for $T {
            fn write<S: SerializeSeq>(self, _: bool, values: &mut S) -> Result<(), S::Error> {
                values.serialize_element(&self)
            }

            fn read<'de, A: SeqAccess<'de>>(_: bool, values: &mut A) -> Result<Option<Self>, A::Error> {
                values.next_element()
            }
        }
    )* };
}

exact_values! { i32 i64 bool }

macro_rules! float_values {
    ($($T:ty)*) => { $(
        impl Value for $T {
            fn write<S: SerializeSeq>(self, words: bool, values: &mut S) -> Result<(), S::Error> {
                match words {
                    true => values.serialize_element(&Word(self)),
                    false => values.serialize_element(&self),
                }
            }

            fn read<'de, A: SeqAccess<'de>>(words: bool, values: &mut A) -> Result<Option<Self>, A::Error> {
                match words {
                    true => Ok(values.next_element::<Word<$T>>()?.map(|word| word.0)),
                    false => values.next_element(),
                }
            }
        }

        impl Value for Complex<$T> {
            fn write<S: SerializeSeq>(self, words: bool, values: &mut S) -> Result<(), S::Error> {
                match words {
                    true => values.serialize_element(&(Word(self.re), Word(self.im))),
                    false => values.serialize_element(&(self.re, self.im)),
                }
            }

            fn read<'de, A: SeqAccess<'de>>(words: bool, values: &mut A) -> Result<Option<Self>, A::Error> {
                Ok(match words {
                    true => values.next_element::<(Word<$T>, Word<$T>)>()?.map(|(re, im)| Complex::new(re.0, im.0)),
                    false => values.next_element()?.map(|(re, im)| Complex::new(re, im)),
                })
            }
        }

        impl Serialize for Word<$T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    x if x.is_finite() => x.serialize(serializer),
                    x if x.is_nan() => serializer.serialize_str("nan"),
                    x if x > 0.0 => serializer.serialize_str("inf"),
                    _ => serializer.serialize_str("-inf"),
                }
            }
        }

        impl<'de> Deserialize<'de> for Word<$T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let x = deserializer.deserialize_any(WordVisitor)?;
                let word = x as $T;
                if x.is_finite() && !word.is_finite() {
                    let message = format!("{x:e} is out of the range of {}", stringify!($T));
                    return Err(<D::Error as ::serde::de::Error>::custom(message));
                }
                Ok(Word(word))
            }
        }
    )* };
}

float_values! { f32 f64 }

/// A float in a text.
struct Word<F>(F);

struct WordVisitor;

impl Visitor<'_> for WordVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"inf\", \"-inf\" or \"nan\"")
    }

    fn visit_f64<E>(self, x: f64) -> Result<f64, E> {
        Ok(x)
    }

    fn visit_i64<E>(self, x: i64) -> Result<f64, E> {
        Ok(x as f64)
    }

    fn visit_u64<E>(self, x: u64) -> Result<f64, E> {
        Ok(x as f64)
    }

    fn visit_str<E: ::serde::de::Error>(self, word: &str) -> Result<f64, E> {
        match word {
            "inf" => Ok(f64::INFINITY),
            "-inf" => Ok(f64::NEG_INFINITY),
            "nan" => Ok(f64::NAN),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
    }
}
