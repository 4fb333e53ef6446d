//! Archives of named arrays.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Order, failed, read_whole, write_array};
use crate::error::{Error, Result};
use crate::tensor::{Tensor, TensorRead};

/// Whether the arrays of an archive are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// They are not, as by `numpy.savez`.
    Stored,
    /// They are, as by `numpy.savez_compressed`.
    Deflate,
}

/// Reads a `.npz` file: its arrays with their names, in the order of the file.
///
/// # Errors
/// The file cannot be read or is no zip archive, or an entry is not named `<array>.npy` or cannot be read as one. The
/// message names the file, the array, the dtype and the shape.
pub fn load_npz(path: impl AsRef<Path>) -> Result<Vec<(String, Tensor)>> {
    let op = "npy::load_npz";
    let path = path.as_ref();
    let place = path.display().to_string();
    let file = File::open(path).map_err(|error| failed(op, &place, error))?;
    read_arrays(op, &place, BufReader::new(file))
}

/// Reads arrays as a `.npz` file holds them.
///
/// # Errors
/// As [`load_npz`].
pub fn read_npz(source: impl Read + Seek) -> Result<Vec<(String, Tensor)>> {
    read_arrays("npy::read_npz", "source", source)
}

/// Writes a `.npz` file, over one that is there, in column-major order.
///
/// # Errors
/// The file cannot be written, or two arrays have the same name.
pub fn save_npz(path: impl AsRef<Path>, arrays: &[(&str, TensorRead<'_>)], compression: Compression) -> Result<()> {
    let op = "npy::save_npz";
    let path = path.as_ref();
    let place = path.display().to_string();
    // Before a file that is there is lost.
    check_names(op, arrays)?;
    let file = File::create(path).map_err(|error| failed(op, &place, error))?;
    write_arrays(op, &place, BufWriter::new(file), arrays, compression)
}

/// Writes arrays as a `.npz` file holds them, in column-major order.
///
/// # Errors
/// As [`save_npz`].
pub fn write_npz(
    destination: impl Write + Seek,
    arrays: &[(&str, TensorRead<'_>)],
    compression: Compression,
) -> Result<()> {
    write_arrays("npy::write_npz", "destination", destination, arrays, compression)
}

fn read_arrays(op: &'static str, place: &str, source: impl Read + Seek) -> Result<Vec<(String, Tensor)>> {
    let mut archive = ZipArchive::new(source).map_err(|error| failed(op, place, error))?;
    let mut arrays = Vec::new();
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(|error| failed(op, place, error))?;
        let file = entry.name().map_err(|error| failed(op, place, error))?.into_owned();
        let Some(name) = file.strip_suffix(".npy") else {
            return Err(Error::argument(op, place.to_owned(), format!("holds `{file}`, which is no .npy file")));
        };
        let place = array_place(place, name);
        arrays.push((name.to_owned(), read_whole(op, &place, &mut entry)?));
    }
    Ok(arrays)
}

fn write_arrays(
    op: &'static str,
    place: &str,
    destination: impl Write + Seek,
    arrays: &[(&str, TensorRead<'_>)],
    compression: Compression,
) -> Result<()> {
    let method = match compression {
        Compression::Stored => CompressionMethod::Stored,
        Compression::Deflate => CompressionMethod::Deflated,
    };
    // Entries may exceed the 4 GiB of the classic format.
    let options = SimpleFileOptions::default().compression_method(method).large_file(true);
    check_names(op, arrays)?;
    let mut archive = ZipWriter::new(destination);
    for (name, tensor) in arrays {
        let place = array_place(place, name);
        archive.start_file(format!("{name}.npy"), options).map_err(|error| failed(op, &place, error))?;
        write_array(op, &place, &mut archive, tensor, Order::ColMajor)?;
    }
    let mut destination = archive.finish().map_err(|error| failed(op, place, error))?;
    destination.flush().map_err(|error| failed(op, place, error))
}

/// Refuses two arrays of one name.
fn check_names(op: &'static str, arrays: &[(&str, TensorRead<'_>)]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match arrays.iter().find(|(name, _)| !seen.insert(*name)) {
        None => Ok(()),
        Some((name, _)) => Err(Error::argument(op, "arrays", format!("hold two of the name `{name}`"))),
    }
}

/// How messages name an array of an archive.
fn array_place(place: &str, name: &str) -> String {
    format!("{place}[{name}]")
}
