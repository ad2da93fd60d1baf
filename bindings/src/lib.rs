//! The engine as the Python module `cyclescope._engine`: conversions, no logic.

use cyclescope_engine::isa::riscv::{decode, disasm};
use pyo3::prelude::*;

use arguments::Arg;

mod arguments;
mod caught;
mod describe;
mod fat;
mod machine;
mod nodes;
mod reference;
mod report;
mod semihosting;
mod stop;
mod waves;

pyo3::create_exception!(_engine, EngineError, pyo3::exceptions::PyException, "The engine refused its input.");
pyo3::create_exception!(_engine, BoardError, EngineError, "A board has faults: `faults` lists them all.");
pyo3::create_exception!(_engine, ElfError, EngineError, "An ELF file can't be loaded.");

/// The text of the RISC-V instruction that begins with `encoding`, at `pc`; of a compressed one only the low half counts.
#[pyfunction]
fn disassemble(encoding: Arg<u32>, pc: Arg<u32>) -> PyResult<String> {
    caught::caught(|| Ok(disasm::disassemble(&decode::decode(encoding.0), pc.0)))
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    caught::keep_quiet();
    let py = module.py();
    module.add("EngineError", py.get_type::<EngineError>())?;
    module.add("BoardError", py.get_type::<BoardError>())?;
    module.add("ElfError", py.get_type::<ElfError>())?;
    module.add_function(wrap_pyfunction!(disassemble, module)?)?;
    module.add_function(wrap_pyfunction!(reference::bindings, module)?)?;
    module.add_function(wrap_pyfunction!(reference::common_properties, module)?)?;
    module.add_function(wrap_pyfunction!(fat::fat_add, module)?)?;
    module.add_function(wrap_pyfunction!(fat::fat_remove, module)?)?;
    module.add_function(wrap_pyfunction!(fat::fat_read, module)?)?;
    module.add_class::<stop::Stop>()?;
    module.add_class::<machine::Machine>()
}
