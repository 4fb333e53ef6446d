//! Who may depend on whom.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Every crate of the house and those of its own that it may use.
const HOUSE: &[(&str, &[&str])] = &[
    ("tenferro-core", &[]),
    ("tenferro-einsum", &["tenferro-core"]),
    ("tenferro-runtime", &["tenferro-core", "tenferro-einsum"]),
    ("tenferro-cpu", &["tenferro-core", "tenferro-einsum", "tenferro-runtime"]),
    ("tenferro-dsl", &["tenferro-core", "tenferro-einsum"]),
    ("tenferro-dsl-macros", &["tenferro-dsl"]),
    ("tenferro", &["tenferro-core", "tenferro-einsum", "tenferro-runtime", "tenferro-cpu", "tenferro-dsl-macros"]),
    // For tests alone, hence in nobody's list.
    ("tenferro-testing", &["tenferro-core"]),
    ("tenferro-interop-tests", &["tenferro-core"]),
];

/// Crates that the macro builds on every user's machine before anything else, so they stay light.
const LIGHT: &[&str] = &["tenferro-core", "tenferro-einsum", "tenferro-dsl"];

/// Crates that belong behind an engine.
const HEAVY: &[&str] = &[
    "faer",
    "gemm",
    "private-gemm-x86",
    "rayon",
    "rayon-core",
    "rustfft",
    "realfft",
    "ndarray",
    "nalgebra",
    "pulp",
    "tenferro-runtime",
    "tenferro-cpu",
];

/// The normal dependencies of every package, by name.
fn dependencies() -> (BTreeSet<String>, BTreeMap<String, BTreeSet<String>>) {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();

    let names: BTreeMap<String, String> =
        list(&metadata["packages"]).iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
    let members = list(&metadata["workspace_members"]).iter().map(|id| names[&text(id)].clone()).collect();
    let mut graph = BTreeMap::<String, BTreeSet<String>>::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let used = list(&node["deps"])
            .into_iter()
            .filter(|dependency| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()));
        let used = used.map(|dependency| names[&text(&dependency["pkg"])].clone());
        graph.entry(names[&text(&node["id"])].clone()).or_default().extend(used);
    }
    (members, graph)
}

#[test]
fn dependencies_point_one_way() {
    let (members, graph) = dependencies();
    for member in members {
        let Some((_, allowed)) = HOUSE.iter().find(|(name, _)| *name == member) else {
            panic!("`{member}` has no place in the table of this test")
        };
        let own = graph[&member].iter().filter(|name| name.starts_with("tenferro"));
        let forbidden: Vec<_> = own.filter(|name| !allowed.contains(&name.as_str())).collect();
        assert!(forbidden.is_empty(), "`{member}` must not depend on {forbidden:?}");
    }
}

#[test]
fn what_the_macro_is_made_of_stays_light() {
    for name in LIGHT {
        let reached = reached(name);
        let heavy: Vec<_> = reached.iter().filter(|name| HEAVY.contains(&name.as_str())).collect();
        assert!(heavy.is_empty(), "`{name}` must stay free of {heavy:?}");
    }
}

#[test]
fn values_of_other_crates_cost_nothing_unless_asked_for() {
    let reached = reached("tenferro");
    let optional = ["ndarray", "nalgebra", "faer", "serde", "zip"];
    let built: Vec<_> = optional.iter().filter(|name| reached.contains(**name)).collect();
    assert!(built.is_empty(), "`tenferro` must stay free of {built:?}");
}

/// Every package that a build of that one alone is made of. (The metadata of the workspace has features that only some
/// of its members ask for.)
fn reached(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--package", package])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let names: BTreeSet<_> = lines.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    assert!(names.contains(package), "{names:?}");
    names
}

/// Both globs name the same function `einsum`; were they two, using it would be refused.
#[test]
fn the_prelude_and_all_of_einsum_go_together() {
    #![allow(unused_imports)]
    use tenferro::einsum::*;
    use tenferro::prelude::*;

    let x = TypedTensor::from([1.0, 2.0]);
    let y = einsum(&mut Session::cpu(), "i,i->", &[&x, &x]).unwrap();
    assert_eq!(y.item::<f64>().unwrap(), 5.0);
}
