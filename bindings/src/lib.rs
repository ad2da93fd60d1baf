//! The engine as the Python module `cyclescope._engine`: conversions, no logic.

use engine::disassembly;
use engine::encoding::Encoding;
use engine::isa::riscv::{decode, disasm};
use engine::one_line::one_line;
// The derive macros use this name.
use pyo3::prelude::*;

use arguments::Arg;

mod activities;
mod arguments;
mod caught;
mod debugging;
mod describe;
mod exercise;
mod fat;
mod gdb;
mod lines;
mod machine;
mod nodes;
mod profile;
mod python;
mod reference;
mod report;
mod semihosting;
mod snapshots;
mod states;
mod stop;
mod svd;
mod triggers;
mod waves;

pyo3::create_exception!(_engine, EngineError, pyo3::exceptions::PyException, "The engine refused its input.");
pyo3::create_exception!(_engine, BoardError, EngineError, "A board has faults: `faults` lists them all.");
pyo3::create_exception!(_engine, ElfError, EngineError, "An ELF file can't be loaded.");

pyo3::create_exception!(
    _engine,
    BusError,
    pyo3::exceptions::PyException,
    "A device in Python answers an access with a bus error."
);

/// The text of an instruction at `pc`; for a compressed one, only the low half of `encoding` counts.
#[pyfunction]
#[pyo3(signature = (encoding, pc, instruction_set = None))]
fn disassemble(encoding: Arg<u32>, pc: Arg<u32>, instruction_set: Option<Arg<String>>) -> PyResult<String> {
    let (encoding, pc) = (encoding.0, pc.0);
    let set = match instruction_set.as_ref().map_or("riscv", |set| set.0.as_str()) {
        "riscv" => Encoding::RiscV,
        "riscv-no-aliases" => return caught::caught(|| Ok(disasm::disassemble(&decode::decode(encoding), pc))),
        "a32" => Encoding::A32,
        "t32" => Encoding::T32,
        "t32-m" => Encoding::T32M,
        "mips" => Encoding::Mips,
        other => {
            let known = "there are riscv, riscv-no-aliases, a32, t32, t32-m and mips";
            return Err(EngineError::new_err(format!("no instruction set '{}'; {known}", one_line(other))));
        }
    };
    caught::caught(|| Ok(disassembly::text_of(encoding, set, pc)))
}

/// Address, encoding, bytes, text, target and names.
type Row = (u32, u32, u8, String, Option<String>, Vec<String>);

/// The instructions of an ELF file, and the data between them.
#[pyfunction]
fn listing(elf: Arg<Vec<u8>>) -> PyResult<Vec<Row>> {
    caught::caught(|| {
        let lines = disassembly::list(&elf.0).map_err(|error| ElfError::new_err(error.to_string()))?;
        let row =
            |line: disassembly::Line| (line.addr, line.encoding, line.len_bytes, line.text, line.target, line.names);
        Ok(lines.into_iter().map(row).collect())
    })
}

/// The address of the function that a name means, as [`disassembly::function_meant`] finds it; None without such a
/// function. Raises EngineError for an ambiguous name.
#[pyfunction]
fn function_meant(elf: Arg<Vec<u8>>, name: Arg<String>) -> PyResult<Option<u32>> {
    caught::caught(|| {
        disassembly::function_meant(&elf.0, &name.0).map_err(|asked| match asked {
            disassembly::Asked::Elf(error) => ElfError::new_err(error.to_string()),
            disassembly::Asked::Several(text) => EngineError::new_err(text),
        })
    })
}

/// The module.
#[pymodule]
pub fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    caught::keep_quiet();
    let py = module.py();
    module.add("EngineError", py.get_type::<EngineError>())?;
    module.add("BoardError", py.get_type::<BoardError>())?;
    module.add("ElfError", py.get_type::<ElfError>())?;
    module.add("BusError", py.get_type::<BusError>())?;
    module.add_function(wrap_pyfunction!(caught::hurry, module)?)?;
    module.add_function(wrap_pyfunction!(disassemble, module)?)?;
    module.add_function(wrap_pyfunction!(listing, module)?)?;
    module.add_function(wrap_pyfunction!(function_meant, module)?)?;
    module.add_function(wrap_pyfunction!(reference::bindings, module)?)?;
    module.add_function(wrap_pyfunction!(reference::common_properties, module)?)?;
    module.add_function(wrap_pyfunction!(exercise::exercise, module)?)?;
    module.add_function(wrap_pyfunction!(exercise::exercise_polls, module)?)?;
    module.add_function(wrap_pyfunction!(fat::fat_add, module)?)?;
    module.add_function(wrap_pyfunction!(fat::fat_remove, module)?)?;
    module.add_function(wrap_pyfunction!(fat::fat_read, module)?)?;
    module.add_function(wrap_pyfunction!(snapshots::snapshot_time_ps, module)?)?;
    module.add_function(wrap_pyfunction!(svd::read_svd, module)?)?;
    module.add_function(wrap_pyfunction!(python::models::declared, module)?)?;
    module.add_class::<python::base::DeviceBase>()?;
    module.add_class::<activities::Activities>()?;
    module.add_class::<debugging::Hold>()?;
    module.add_class::<gdb::Gdb>()?;
    module.add_class::<stop::Stop>()?;
    module.add_class::<machine::Machine>()
}
