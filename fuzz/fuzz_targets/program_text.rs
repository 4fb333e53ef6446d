//! Any bytes are refused with a place or are a program that reads back from its own text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenferro_core::program::SemanticProgram;
use tenferro_einsum::EinsumPayloads;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match SemanticProgram::parse_with(&text, &[&EinsumPayloads]) {
        Ok(program) => {
            let printed = program.to_string();
            let read = SemanticProgram::parse_with(&printed, &[&EinsumPayloads]);
            assert_eq!(read.as_ref(), Ok(&program), "{printed}");
        }
        Err(error) => drop(error.to_string()),
    }
});
