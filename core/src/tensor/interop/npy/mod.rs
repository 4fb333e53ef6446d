//! NumPy's files: `.npy`, one array, and `.npz`, a zip archive of named ones.
//!
//! ```
//! use tenferro_core::tensor::npy::{self, Compression, Order};
//! use tenferro_core::{TensorRead, TypedTensor};
//! let folder = std::env::temp_dir();
//! let a = TypedTensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
//!
//! let file = folder.join(format!("tenferro-{}.npy", std::process::id()));
//! npy::save(&file, &a, Order::RowMajor)?;
//! assert_eq!(npy::load(&file)?.try_into_typed::<f64, 2>()?, a);
//!
//! let archive = file.with_extension("npz");
//! npy::save_npz(&archive, &[("weights", TensorRead::from(&a))], Compression::Deflate)?;
//! assert_eq!(npy::load_npz(&archive)?[0].0, "weights");
//! # std::fs::remove_file(file).and(std::fs::remove_file(archive)).expect("files just written");
//! # Ok::<(), tenferro_core::Error>(())
//! ```
//!
//! The format is that of NEP 1 and `numpy.lib.format`, versions 1 to 3: little and big endian, both orders. Its header
//! is read here and not by a crate: those that read it overflow on absurd shapes and bring a parser generator along.

mod archive;
mod bytes;
mod header;

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

pub use archive::{Compression, load_npz, read_npz, save_npz, write_npz};
use bytes::Bytes;
use header::Header;

use crate::error::{Error, Result};
use crate::tensor::{Layout, Tensor, TensorRead};
use crate::with_dtype;

/// The order in which a file holds the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The last axis varies fastest: `fortran_order` is `False`, as NumPy writes its own arrays.
    RowMajor,
    /// The first axis varies fastest: `fortran_order` is `True`. Nothing has to be reordered.
    ColMajor,
}

/// Reads a `.npy` file.
///
/// # Errors
/// The file cannot be read, is no `.npy` file or is cut short, or its dtype is none of ours. The message names the
/// file, the dtype and the shape.
pub fn load(path: impl AsRef<Path>) -> Result<Tensor> {
    let op = "npy::load";
    let path = path.as_ref();
    let place = path.display().to_string();
    let file = File::open(path).map_err(|error| failed(op, &place, error))?;
    read_whole(op, &place, &mut BufReader::new(file))
}

/// Reads an array as a `.npy` file holds it, and nothing beyond: of several in one stream, the next.
///
/// # Errors
/// As [`load`].
pub fn read(source: &mut impl Read) -> Result<Tensor> {
    read_array("npy::read", "source", source)
}

/// Writes a `.npy` file, over one that is there.
///
/// # Errors
/// The file cannot be written.
pub fn save<'a>(path: impl AsRef<Path>, tensor: impl Into<TensorRead<'a>>, order: Order) -> Result<()> {
    let op = "npy::save";
    let path = path.as_ref();
    let place = path.display().to_string();
    let file = File::create(path).map_err(|error| failed(op, &place, error))?;
    let mut file = BufWriter::new(file);
    write_array(op, &place, &mut file, &tensor.into(), order)?;
    file.flush().map_err(|error| failed(op, &place, error))
}

/// Writes an array as a `.npy` file holds it.
///
/// # Errors
/// The destination cannot be written.
pub fn write<'a>(destination: &mut impl Write, tensor: impl Into<TensorRead<'a>>, order: Order) -> Result<()> {
    write_array("npy::write", "destination", destination, &tensor.into(), order)
}

/// Reads an array with nothing after it.
fn read_whole(op: &'static str, place: &str, source: &mut impl Read) -> Result<Tensor> {
    let tensor = read_array(op, place, source)?;
    // Of an archive, the sum of an entry is checked at its end, so the end has to be read.
    match std::io::copy(source, &mut std::io::sink()).map_err(|error| failed(op, place, error))? {
        0 => Ok(tensor),
        rest => Err(Error::argument(op, place.to_owned(), format!("holds {rest} bytes after its array"))),
    }
}

fn read_array(op: &'static str, place: &str, source: &mut impl Read) -> Result<Tensor> {
    let refuse = |message: String| Error::argument(op, place.to_owned(), message);
    let header = Header::read(source).map_err(refuse)?;
    let shape = &header.shape[..];
    let what = || format!("of dtype {} and shape {shape:?}", header.dtype);
    let count = Layout::col_major(shape).ok().and_then(|layout| layout.len().checked_mul(header.dtype.size()));
    let Some(expected) = count else {
        return Err(refuse(format!("holds an array {}, larger than memory can address", what())));
    };
    // The header may promise anything: memory is taken only as the bytes come in.
    let mut bytes = Vec::new();
    source.take(expected as u64).read_to_end(&mut bytes).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    if bytes.len() < expected {
        return Err(refuse(format!("ends after {} of the {expected} bytes {}", bytes.len(), what())));
    }
    // The elements are those of the transpose in column-major order if they are in row-major order.
    let mut stored = shape.to_vec();
    if header.order == Order::RowMajor {
        stored.reverse();
    }
    let mut tensor = Tensor::zeros(header.dtype, &stored)?;
    with_dtype!(header.dtype, T => {
        for (slot, bytes) in tensor.iter_mut::<T>()?.zip(bytes.chunks_exact(size_of::<T>())) {
            *slot = T::decode(bytes, header.endian).map_err(|message| refuse(format!("{message} in an array {}", what())))?;
        }
    });
    match header.order {
        Order::RowMajor => tensor.t().to_contiguous(),
        Order::ColMajor => Ok(tensor),
    }
}

fn write_array(
    op: &'static str,
    place: &str,
    destination: &mut impl Write,
    tensor: &TensorRead<'_>,
    order: Order,
) -> Result<()> {
    let view = tensor.view();
    let mut bytes = header::write(view.dtype(), order, view.shape());
    let stored = match order {
        Order::RowMajor => view.t(),
        Order::ColMajor => view,
    };
    /// Written at a time.
    const CHUNK: usize = 1 << 16;
    with_dtype!(stored.dtype(), T => {
        for element in stored.iter::<T>()? {
            element.encode(&mut bytes);
            if bytes.len() >= CHUNK {
                destination.write_all(&bytes).map_err(|error| failed(op, place, error))?;
                bytes.clear();
            }
        }
    });
    destination.write_all(&bytes).map_err(|error| failed(op, place, error))
}

fn failed(op: &'static str, place: &str, error: impl std::fmt::Display) -> Error {
    Error::argument(op, place.to_owned(), format!("failed: {error}"))
}
