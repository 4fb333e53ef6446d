//! The cases that are compared with peers, under their names there.
//!
//! `cargo bench --bench cases -- SUITE [--threads N] [--filter S] [--batches B] [--batch-ms M] [--max-flops F]
//! [--max-peak P]` prints
//! `name<TAB>min_ns<TAB>median_ns`, and counts as `#key<TAB>value`. Suites: `einsum2 einsumN run ad instances kernel`.
//! A ratio is taken against a peer measured in the same run on the same machine.
#![allow(clippy::unwrap_used)]

#[path = "cases/ad.rs"]
mod ad;
#[path = "cases/einsum2.rs"]
mod einsum2;
#[path = "cases/einsum_n.rs"]
mod einsum_n;
#[path = "cases/instances.rs"]
mod instances;
#[path = "cases/kernel.rs"]
mod kernel;
#[path = "cases/measure.rs"]
mod measure;
#[path = "cases/run.rs"]
mod run;

use measure::Config;

fn main() {
    // `cargo bench` adds `--bench`
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let config = Config::new(&arguments);
    match arguments.first().map(String::as_str) {
        Some("einsum2") => einsum2::suite(&config),
        Some("einsumN") => einsum_n::suite(&config),
        Some("run") => run::suite(&config),
        Some("ad") => ad::suite(&config),
        Some("instances") => instances::suite(&config),
        Some("kernel") => kernel::suite(&config),
        _ => eprintln!(
            "usage: cargo bench --bench cases -- einsum2|einsumN|run|ad|instances|kernel [--threads N] [--filter S]"
        ),
    }
}
