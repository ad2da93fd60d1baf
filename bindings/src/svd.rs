//! Registers of a chip from its CMSIS-SVD file, by the crate `svd-parser`, as `cyclescope,registers` has them.

mod expansion;
mod xml;

use pyo3::prelude::*;
use svd_parser::svd::Device;
use svd_parser::{Config, ValidateLevel};

use crate::EngineError;
use crate::arguments::Arg;
use crate::caught::waited_for;
use expansion::{Described, Expansion, MOST_REGISTERS, word};

/// Characters of a message from the parser: it may quote any text of the file.
const MOST_SHOWN: usize = 300;

/// A core: name, bits of an interrupt's priority, number of external interrupts.
type Core = (String, u32, u32);

/// A chip: its name, its core if the file describes it, its peripherals.
type Chip = (String, Option<Core>, Vec<Described>);

/// Reads a chip's description from a CMSIS-SVD file. Raises EngineError for an invalid file.
#[pyfunction]
pub fn read_svd(py: Python<'_>, text: Arg<String>) -> PyResult<Chip> {
    waited_for(py, move || read(&text.0).map_err(EngineError::new_err))
}

fn read(text: &str) -> Result<Chip, String> {
    let text = text.trim_start_matches('\u{feff}');
    let shortened = |error: String| {
        let line = error.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(MOST_SHOWN) {
            Some((end, _)) => format!("{}...", &line[..end]),
            None => line,
        }
    };
    xml::check(text, MOST_REGISTERS)?;
    let config = Config::default().validate_level(ValidateLevel::Disabled).ignore_enums(true);
    let device = svd_parser::parse_with_config(text, &config).map_err(|error| shortened(format!("{error:#}")))?;
    let peripherals = Expansion::new(&device).peripherals().map_err(shortened)?;
    Ok((word(&device.name), core(&device), peripherals))
}

fn core(device: &Device) -> Option<Core> {
    let cpu = device.cpu.as_ref()?;
    let interrupts = device.peripherals.iter().flat_map(|peripheral| &peripheral.interrupt);
    let named = interrupts.map(|interrupt| interrupt.value.saturating_add(1)).max().unwrap_or(0);
    Some((word(&cpu.name), cpu.nvic_priority_bits, cpu.device_num_interrupts.unwrap_or(0).max(named)))
}
