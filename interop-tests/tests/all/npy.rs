//! NumPy's files: read back, as NumPy writes them, and wrong.

use std::io::Cursor;

use proptest::prelude::*;
use tenferro_core::tensor::npy::{self, Compression, Order};
use tenferro_core::{Complex, DType, Scalar, ScalarValue, Tensor, TensorRead, TypedTensor, with_dtype};

use super::support::{laid_out, shapes};

fn bits(tensor: &Tensor) -> Vec<ScalarValue> {
    with_dtype!(tensor.dtype(), T => tensor.iter::<T>().unwrap().map(Scalar::to_value).collect())
}

/// A file as NumPy 2 writes it.
fn file(version: u8, text: &str, elements: &[u8]) -> Vec<u8> {
    let (mut bytes, len) = (b"\x93NUMPY".to_vec(), if version == 1 { 118 } else { 116 });
    bytes.extend([version, 0]);
    bytes.extend(&(len as u32).to_le_bytes()[..if version == 1 { 2 } else { 4 }]);
    bytes.extend(format!("{text:<0$}\n", len - 1).bytes());
    bytes.extend(elements);
    bytes
}

fn read(bytes: &[u8]) -> Tensor {
    npy::read(&mut Cursor::new(bytes)).unwrap()
}

#[test]
fn tensors_of_every_dtype_shape_layout_and_order_read_back() {
    for dtype in DType::ALL {
        for shape in shapes() {
            for tensor in laid_out(dtype, &shape) {
                for order in [Order::RowMajor, Order::ColMajor] {
                    let mut bytes = Vec::new();
                    npy::write(&mut bytes, &tensor, order).unwrap();
                    let read = read(&bytes);
                    assert_eq!((read.dtype(), read.shape()), (dtype, &shape[..]));
                    assert_eq!(bits(&read), bits(&tensor));
                    assert!(read.layout().is_contiguous());
                }
            }
        }
    }
}

/// The bytes are those that NumPy 2.4 wrote for the arrays in the comments.
#[test]
fn files_of_numpy() {
    // np.array([[1.5, -2], [np.inf, 3]], dtype=">f8")
    let elements = b"?\xf8\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0\x7f\xf0\0\0\0\0\0\0@\x08\0\0\0\0\0\0";
    let big = file(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (2, 2), }", elements);
    assert_eq!(read(&big), Tensor::from_nested(&[[1.5, -2.0], [f64::INFINITY, 3.0]]).unwrap());
    // np.array([1+2j], ">c16")
    let elements = b"?\xf0\0\0\0\0\0\0@\0\0\0\0\0\0\0";
    let big = file(1, "{'descr': '>c16', 'fortran_order': False, 'shape': (1,), }", elements);
    assert_eq!(read(&big), Tensor::from_nested(&[Complex::new(1.0, 2.0)]).unwrap());
    // np.zeros((0, 3), ">c8")
    let empty = read(&file(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (0, 3), }", b""));
    assert_eq!((empty.dtype(), empty.shape()), (DType::C32, &[0, 3][..]));
    // np.array([7], "<i8"), version 3.0
    let new = file(3, "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", b"\x07\0\0\0\0\0\0\0");
    assert_eq!(read(&new), Tensor::from_nested(&[7_i64]).unwrap());
    // As Python 2 and other writers have it.
    let odd = file(2, "{\"shape\": (1L ,2) , 'fortran_order':True,'descr':'=i4'}", &1_i32.to_ne_bytes().repeat(2));
    assert_eq!(read(&odd), Tensor::from_nested(&[[1, 1]]).unwrap());

    // These are written byte by byte as NumPy does.
    // np.asfortranarray(np.arange(6, dtype="<i4").reshape(2, 3))
    let elements = b"\0\0\0\0\x03\0\0\0\x01\0\0\0\x04\0\0\0\x02\0\0\0\x05\0\0\0";
    let fortran = file(1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }", elements);
    let tensor = Tensor::from_nested(&[[0, 1, 2], [3, 4, 5]]).unwrap();
    assert_eq!(read(&fortran), tensor);
    let mut bytes = Vec::new();
    npy::write(&mut bytes, &tensor, Order::ColMajor).unwrap();
    assert_eq!(bytes, fortran);
    // np.array(True)
    let scalar = file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (), }", b"\x01");
    assert_eq!(read(&scalar), Tensor::scalar(true));
    let mut bytes = Vec::new();
    npy::write(&mut bytes, &Tensor::scalar(true), Order::RowMajor).unwrap();
    assert_eq!(bytes, scalar);
}

#[test]
fn what_is_wrong_is_said() {
    let error = |bytes: &[u8]| npy::read(&mut Cursor::new(bytes)).unwrap_err().to_string();
    let text = |text: &str| error(&file(1, text, b""));
    let contains = |error: String, expected: &str| assert!(error.contains(expected), "{error}");
    contains(error(b"PK\x03\x04 and so on"), "npy::read: `source` is no .npy file: it does not start with");
    contains(error(b"\x93NUM"), "`source` is no .npy file");
    contains(error(b"\x93NUMPY\x04\0\x01\0 "), "has version 4.0 of the format");
    contains(error(b"\x93NUMPY\x02\0\xff\xff\xff\xff"), "has a header of 4294967295 bytes");
    contains(error(&file(1, "{'descr': '<f8'", b"")[..30]), "cannot be read");
    let dtype = text("{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }");
    contains(dtype, "`source` holds an array of dtype `<u2` and shape [2, 3], which is none of f4, f8,");
    contains(text("{'descr': '|f8', 'fortran_order': False, 'shape': (), }"), "dtype `|f8`");
    contains(text("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (), }"), "has a dtype of records");
    contains(text("{'descr': '<f8', 'shape': (), }"), "has no key `fortran_order`");
    contains(text("{'descr': '<f8', 'fortran_order': 1, 'shape': (), }"), "has no `False` before `1,");
    contains(text("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }"), "has an extent that is no size");
    contains(text("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999999999999,), }"), "no size");
    contains(text("{'descr': '<f8', 'fortran_order': False, 'shape': (), 'x': 1}"), "has an unknown key `x`");
    contains(text("{'descr': '<f8', 'fortran_order': False, 'shape': ()} {"), "has `{` after the dictionary");
    contains(text("{'descr': '<f8"), "has a string without an end");
    contains(text("[]"), "has no `{` before `[]`");
    let vast = text("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776, 1099511627776), }");
    contains(vast, "holds an array of dtype f64 and shape [1099511627776, 1099511627776], larger than memory");
    let promised = text("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }");
    contains(promised, "ends after 0 of the 8796093022208 bytes of dtype f64 and shape [1099511627776]");
    let bools = error(&file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", b"\x01\x02"));
    contains(bools, "holds the bytes [2], which are neither true nor false, in an array of dtype bool and shape [2]");
    contains(npy::load("no such folder/x.npy").unwrap_err().to_string(), "npy::load: `no such folder/x.npy` failed:");
    let saved = npy::save("no such folder/x.npy", &Tensor::scalar(1), Order::RowMajor);
    contains(saved.unwrap_err().to_string(), "npy::save: `no such folder/x.npy` failed:");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(at in 0..200_usize, byte: u8, cut in 0..200_usize) {
        let mut bytes = file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }", &[0; 24]);
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        // Whether it is read depends; that it returns does not.
        let _ = npy::read(&mut Cursor::new(&bytes));
        bytes.truncate(cut.min(bytes.len() - 1));
        let _ = npy::read(&mut Cursor::new(&bytes));
    }
}

#[test]
fn archives_keep_names_and_order() {
    let tensors: Vec<Tensor> = DType::ALL.into_iter().flat_map(|dtype| laid_out(dtype, &[2, 3])).collect();
    let names: Vec<String> = (0..tensors.len()).rev().map(|i| format!("layers/{i}.weight é")).collect();
    let arrays: Vec<_> = names.iter().map(String::as_str).zip(tensors.iter().map(TensorRead::from)).collect();
    for compression in [Compression::Stored, Compression::Deflate] {
        let mut file = Cursor::new(Vec::new());
        npy::write_npz(&mut file, &arrays, compression).unwrap();
        let read = npy::read_npz(file).unwrap();
        assert_eq!(read.len(), arrays.len());
        for ((name, tensor), (expected, original)) in read.iter().zip(names.iter().zip(&tensors)) {
            assert_eq!((name, bits(tensor)), (expected, bits(original)));
        }
    }
    let mut none = Cursor::new(Vec::new());
    npy::write_npz(&mut none, &[], Compression::Stored).unwrap();
    assert_eq!(npy::read_npz(none).unwrap(), []);
}

/// `np.savez_compressed(file, a=np.array([[1, 2]], dtype="<i8"))`, as NumPy 2.4 wrote it.
#[test]
fn an_archive_of_numpy() {
    let hex = concat!(
        "504b03042d000000080000002100c9bc68d6ffffffffffffffff05001400612e6e70790100100090000000000000004c",
        "000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a",
        "12774bcc294e058a17672416a402f91a863a0a469a3a0ab50a64032e4606086082d200504b01022d032d000000080000",
        "002100c9bc68d64c00000090000000050000000000000000000000800100000000612e6e7079504b0506000000000100",
        "010033000000830000000000",
    );
    let digits: Vec<u8> = hex.bytes().map(|digit| (digit as char).to_digit(16).unwrap() as u8).collect();
    let bytes: Vec<u8> = digits.chunks(2).map(|pair| 16 * pair[0] + pair[1]).collect();
    let arrays = npy::read_npz(Cursor::new(bytes)).unwrap();
    assert_eq!(arrays, [("a".to_owned(), Tensor::from_nested(&[[1_i64, 2]]).unwrap())]);
}

#[test]
fn wrong_archives_name_the_array() {
    let one = TypedTensor::from([1.0, 2.0]);
    let twice = [("x", TensorRead::from(&one)), ("x", TensorRead::from(&one))];
    let error = npy::write_npz(Cursor::new(Vec::new()), &twice, Compression::Stored).unwrap_err();
    assert_eq!(error.to_string(), "npy::write_npz: `arrays` hold two of the name `x`");
    let error = npy::read_npz(Cursor::new(b"no archive")).unwrap_err();
    assert!(error.to_string().starts_with("npy::read_npz: `source` failed:"), "{error}");

    let mut file = Cursor::new(Vec::new());
    npy::write_npz(&mut file, &twice[..1], Compression::Stored).unwrap();
    let whole = file.into_inner();
    let at = |text: &[u8]| whole.windows(text.len()).position(|part| part == text).unwrap();
    // Another dtype within, of the same length: the archive's own sum is checked after the header has been read.
    let mut bytes = whole.clone();
    bytes[at(b"<f8")..][..3].copy_from_slice(b"<u8");
    let error = npy::read_npz(Cursor::new(bytes)).unwrap_err();
    assert!(error.to_string().contains("`source[x]` holds an array of dtype `<u8` and shape [2]"), "{error}");
    // Other elements: the sum tells.
    let mut bytes = whole.clone();
    let elements = at(&2.0_f64.to_le_bytes());
    bytes[elements] ^= 1;
    let error = npy::read_npz(Cursor::new(bytes)).unwrap_err();
    assert!(error.to_string().contains("`source[x]` failed:"), "{error}");
    let mut bytes = whole.clone();
    for i in 0..bytes.len() - 4 {
        if &bytes[i..i + 5] == b"x.npy" {
            bytes[i..i + 5].copy_from_slice(b"x.txt");
        }
    }
    let error = npy::read_npz(Cursor::new(bytes)).unwrap_err();
    assert_eq!(error.to_string(), "npy::read_npz: `source` holds `x.txt`, which is no .npy file");
}

/// A file is one array, be it by itself or in an archive; a stream may go on.
#[test]
fn what_follows_an_array_is_refused_in_a_file_and_left_in_a_stream() {
    let a = TypedTensor::from([1, 2, 3]);
    let mut bytes = Vec::new();
    npy::write(&mut bytes, &a, Order::ColMajor).unwrap();
    npy::write(&mut bytes, &a, Order::RowMajor).unwrap();
    let mut stream = &bytes[..];
    for _ in 0..2 {
        assert_eq!(npy::read(&mut stream).unwrap().try_into_typed::<i32, 1>().unwrap(), a);
    }
    assert!(stream.is_empty());
    let path = std::env::temp_dir().join(format!("two-arrays-{}.npy", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    let error = npy::load(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(error.contains(&format!("holds {} bytes after its array", bytes.len() / 2)), "{error}");
}
