//! Tensors, dtypes and programs in a text format, and tensors in a format that is none.

use serde::de::value::{Error as ValueError, SeqDeserializer};
use serde::{Deserialize, Serialize};
use tenferro::dtype::Complex;
use tenferro::prelude::*;
use tenferro_core::program::SemanticProgram;
use tenferro_core::with_dtype;

use super::support::{laid_out, shapes};

fn bits(tensor: &Tensor) -> Vec<tenferro_core::ScalarValue> {
    with_dtype!(tensor.dtype(), T => tensor.iter::<T>().unwrap().map(Scalar::to_value).collect())
}

#[test]
fn tensors_of_every_dtype_shape_and_layout_read_back() {
    for dtype in DType::ALL {
        for shape in shapes() {
            for tensor in laid_out(dtype, &shape) {
                let json = serde_json::to_string(&tensor).unwrap();
                let read: Tensor = serde_json::from_str(&json).unwrap();
                assert_eq!((read.dtype(), read.shape()), (dtype, &shape[..]));
                assert_eq!(bits(&read), bits(&tensor));
                // A tree of values keeps its keys in alphabetical order.
                let tree = serde_json::to_value(tensor.view()).unwrap();
                assert_eq!(bits(&Tensor::deserialize(tree).unwrap()), bits(&tensor));
            }
        }
    }
}

#[test]
fn the_text_is_as_documented() {
    let a = TypedTensor::from([[1.5, f64::NAN], [f64::INFINITY, f64::NEG_INFINITY]]);
    let json = r#"{"dtype":"f64","shape":[2,2],"values":[1.5,"inf","nan","-inf"]}"#;
    assert_eq!(serde_json::to_string(&a).unwrap(), json);
    assert_eq!(serde_json::to_string(&a.view()).unwrap(), json);
    let read: TypedTensor<f64, 2> = serde_json::from_str(json).unwrap();
    assert!(read[[0, 1]].is_nan());
    let z = TypedTensor::from([Complex::new(1.0_f32, -2.0)]);
    assert_eq!(serde_json::to_string(&z).unwrap(), r#"{"dtype":"c32","shape":[1],"values":[[1.0,-2.0]]}"#);
    let integers = r#"{"shape":[2],"dtype":"f32","values":[1,-2]}"#;
    assert_eq!(serde_json::from_str::<TypedTensor<f32, 1>>(integers).unwrap(), TypedTensor::from([1.0, -2.0]));
    assert_eq!(serde_json::to_string(&DType::ALL).unwrap(), r#"["f32","f64","c32","c64","i32","i64","bool"]"#);
}

#[test]
fn what_is_wrong_is_said() {
    let error = |json: &str| serde_json::from_str::<Tensor>(json).unwrap_err().to_string();
    let starts = |json: &str, expected: &str| assert!(error(json).starts_with(expected), "{}", error(json));
    starts(r#"{"dtype":"f16"}"#, "invalid value: string \"f16\", expected a dtype: f32, f64,");
    starts(r#"{"dtype":"f32","shape":[2],"values":[1]}"#, "invalid length 1, expected 2 elements");
    starts(r#"{"dtype":"f32","shape":[1],"values":[1,2]}"#, "invalid length 2, expected 1 elements");
    starts(r#"{"dtype":"i32","shape":[1],"values":[1.5]}"#, "invalid type: floating point `1.5`");
    starts(r#"{"dtype":"f32","shape":[1],"values":["nay"]}"#, "invalid value: string \"nay\", expected a number");
    starts(r#"{"values":[1],"dtype":"f32","shape":[1]}"#, "the `dtype` and the `shape` of a tensor come before");
    starts(r#"{"dtype":"f32","dtype":"f32"}"#, "a tensor has one field `dtype`");
    starts(r#"{"dtype":"f32","shape":[0],"values":[],"values":[]}"#, "a tensor has one field `values`");
    starts(r#"{"dtype":"f32","strides":[1]}"#, "unknown field `strides`");
    starts(r#"{"dtype":"f32","shape":[1]}"#, "missing field `values`");
    starts(r#"{"dtype":"f32","shape":[4294967296,4294967296,2],"values":[]}"#, "deserialize: shape [4294967296,");
    let error = serde_json::from_str::<TypedTensor<f64, 1>>(r#"{"dtype":"f32","shape":[0],"values":[]}"#).unwrap_err();
    assert!(error.to_string().starts_with("try_into_typed: `tensor` is f32, expected f64"), "{error}");
}

/// A format without field names, whose fields come one after the other.
#[test]
fn fields_may_come_without_names() {
    let json = r#"["i64",[2,1],[7,8]]"#;
    assert_eq!(serde_json::from_str::<TypedTensor<i64, 2>>(json).unwrap(), TypedTensor::from([[7], [8]]));
    assert!(serde_json::from_str::<Tensor>(r#"["i64",[2]]"#).is_err());
    let parts = SeqDeserializer::<_, ValueError>::new(std::iter::empty::<u8>());
    assert!(Tensor::deserialize(parts).is_err());
}

tenferro! {
    fn plain(x: f64[n]) -> f64 { sum(exp(x) * x) }
    fn with_einsum(x: f64[n, m], y: f64[m]) -> f64[n] { einsum("ij,j->i", x, y) }
}

#[test]
fn programs_are_their_text() {
    let json = serde_json::to_string(plain.program()).unwrap();
    let read: SemanticProgram = serde_json::from_str(&json).unwrap();
    assert_eq!(&read, plain.program());
    assert_eq!(read.fingerprint(), plain.program().fingerprint());
    let error = with_einsum.program().serialize(serde_json::value::Serializer).unwrap_err().to_string();
    assert!(error.contains("`with_einsum` has an operation of family"), "{error}");
    let error = serde_json::from_str::<SemanticProgram>(r#""program f() -> f64 { return y }""#).unwrap_err();
    assert!(error.to_string().contains("there is no value `y`"), "{error}");
}

/// A number that the dtype has no room for is no infinity, which has a word of its own.
#[test]
fn numbers_out_of_range_are_refused() {
    let text = |dtype: &str, number: &str| {
        let tensor = match dtype {
            "f32" => serde_json::to_string(&Tensor::from(TypedTensor::from([1.5f32]))),
            "c32" => {
                serde_json::to_string(&Tensor::from(TypedTensor::from([tenferro_core::Complex::new(1.5f32, 0.0)])))
            }
            _ => serde_json::to_string(&Tensor::from(TypedTensor::from([1.5f64]))),
        };
        tensor.unwrap().replace("1.5", number)
    };
    for (dtype, number) in [("f32", "1e39"), ("f32", "-1e300"), ("c32", "1e39"), ("f32", "3.4028236e38")] {
        let error = serde_json::from_str::<Tensor>(&text(dtype, number)).unwrap_err().to_string();
        assert!(error.contains("out of the range of f32"), "{dtype} {number}: {error}");
    }
    for (dtype, number) in [("f32", "3.4028235e38"), ("f32", "1e-60"), ("f32", "\"inf\""), ("f64", "1e300")] {
        serde_json::from_str::<Tensor>(&text(dtype, number)).unwrap();
    }
}
