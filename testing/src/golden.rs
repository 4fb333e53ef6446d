//! Reference values: one JSON record a line, arrays flattened in column-major order.
//!
//! The folder is `TENFERRO_GOLDEN` where set, else `shared/golden` beside the repository, else the small subset
//! committed here, so that a bare clone still tests something.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::announce;
use serde_json::Value;
use tenferro_core::{Complex32, Complex64, DType, Tensor, compare};

/// One record.
#[derive(Clone, Debug)]
pub struct Record(pub Value);

/// All records of a file.
///
/// # Panics
/// When the file cannot be read.
pub fn records(file: &str) -> Vec<Record> {
    read(&folder().join(file))
}

/// All records of operations that the golden data do not have; `testing/own/make.py` wrote them.
///
/// # Panics
/// When the file cannot be read.
pub fn own_records() -> Vec<Record> {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("own/operations.jsonl"))
}

fn read(path: &Path) -> Vec<Record> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let record = |line: &str| Record(serde_json::from_str(line).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    text.lines().map(record).collect()
}

fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("TENFERRO_GOLDEN") {
        return folder.into();
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = here.join("../../shared/golden");
    if shared.is_dir() { shared } else { here.join("golden") }
}

impl Record {
    /// A field as text; empty when absent.
    pub fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    /// Whether the record carries a tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.0["tags"].as_array().is_some_and(|tags| tags.iter().any(|t| t == tag))
    }

    /// A list of small numbers in the attributes, as `axes`.
    pub fn axes(&self, key: &str) -> Vec<u32> {
        numbers(&self.0["attrs"][key]).iter().map(|&n| n as u32).collect()
    }

    /// An array, `None` when null or absent.
    pub fn tensor(&self, key: &str) -> Option<Tensor> {
        tensor(&self.0[key])
    }

    /// A list of arrays; entries may be null.
    pub fn tensors(&self, key: &str) -> Vec<Option<Tensor>> {
        self.0[key].as_array().map(|list| list.iter().map(tensor).collect()).unwrap_or_default()
    }

    /// Named arrays in alphabetical order.
    pub fn named(&self, key: &str) -> Vec<(String, Option<Tensor>)> {
        let fields = self.0[key].as_object();
        fields.map(|f| f.iter().map(|(name, value)| (name.clone(), tensor(value))).collect()).unwrap_or_default()
    }

    /// `(rtol, atol)`; `tol_grad` falls back to `tol`.
    pub fn tolerance(&self, key: &str) -> (f64, f64) {
        let tol = if self.0[key].is_object() { &self.0[key] } else { &self.0["tol"] };
        (tol["rtol"].as_f64().unwrap_or(0.0), tol["atol"].as_f64().unwrap_or(0.0))
    }

    /// Requires equality within the record's tolerance.
    ///
    /// # Panics
    /// With the record's id when it does not hold.
    pub fn check(&self, what: &str, actual: &Tensor, expected: &Tensor, tolerance: (f64, f64)) {
        if let Err(mismatch) = compare(actual, expected, tolerance.0, tolerance.1) {
            let subject = [self.text("op"), self.text("equation"), self.text("expression")].concat();
            panic!("{} {subject} ({what}): {mismatch}", self.text("id"));
        }
    }
}

/// How many records were covered, and why others were not.
#[derive(Debug, Default)]
pub struct Coverage {
    covered: usize,
    skipped: BTreeMap<String, usize>,
}

impl Coverage {
    /// Counts a record that was checked.
    pub fn cover(&mut self) {
        self.covered += 1;
    }

    /// Counts a record whose operation is not built yet.
    pub fn skip_unbuilt(&mut self, operation: &str) {
        *self.skipped.entry(operation.to_string()).or_default() += 1;
    }

    /// Prints the counts.
    ///
    /// # Panics
    /// When nothing was covered.
    pub fn report(&self, file: &str, how: &str) {
        let skipped: usize = self.skipped.values().sum();
        let mut lines = format!("golden {file} through {how}: {} rows covered, {skipped} skipped", self.covered);
        for (operation, count) in &self.skipped {
            lines += &format!("\n  {count} skipped: operation not built yet: {operation}");
        }
        announce(&lines);
        assert!(self.covered > 0, "no row of {file} was covered");
    }
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().map(|list| list.iter().filter_map(Value::as_i64).collect()).unwrap_or_default()
}

/// An array, `None` when null.
///
/// # Panics
/// When it is malformed.
fn tensor(value: &Value) -> Option<Tensor> {
    let fields = value.as_object()?;
    let shape: Vec<usize> = numbers(&fields["shape"]).iter().map(|&n| n as usize).collect();
    let dtype = fields["dtype"].as_str().and_then(DType::from_name).expect("a dtype");
    let data = fields["data"].as_array().expect("data");
    let real = |v: &Value| match v.as_str() {
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        Some(_) => f64::NAN,
        None => v.as_f64().expect("a number"),
    };
    // An f32 is the one nearest to the decimal, which may differ from rounding twice.
    let single = |v: &Value| if v.is_string() { real(v) as f32 } else { v.to_string().parse().expect("a number") };
    let integer = |v: &Value| v.as_i64().expect("an integer");
    let made = match dtype {
        DType::F32 => Tensor::from_vec_col_major(shape, data.iter().map(single).collect()),
        DType::F64 => Tensor::from_vec_col_major(shape, data.iter().map(real).collect()),
        DType::C32 => Tensor::from_vec_col_major(
            shape,
            data.iter().map(|v| Complex32::new(single(&v[0]), single(&v[1]))).collect(),
        ),
        DType::C64 => {
            Tensor::from_vec_col_major(shape, data.iter().map(|v| Complex64::new(real(&v[0]), real(&v[1]))).collect())
        }
        DType::I32 => Tensor::from_vec_col_major(shape, data.iter().map(|v| integer(v) as i32).collect()),
        DType::I64 => Tensor::from_vec_col_major(shape, data.iter().map(integer).collect()),
        DType::Bool => Tensor::from_vec_col_major(shape, data.iter().map(|v| v.as_bool().expect("a bool")).collect()),
    };
    Some(made.expect("an array whose data fill its shape"))
}
