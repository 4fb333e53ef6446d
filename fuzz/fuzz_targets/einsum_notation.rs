//! Any bytes are refused with a place or are a notation that prints as it was written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenferro_einsum::EinsumNotation;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for parse in [EinsumNotation::parse, EinsumNotation::parse_implicit] {
        match parse(&text) {
            Ok(notation) => {
                assert_eq!(parse(&notation.to_string()).as_ref(), Ok(&notation));
                let _ = notation.resolve(&vec![2; notation.operand_count()]);
            }
            Err(error) => drop(error.to_string()),
        }
    }
});
