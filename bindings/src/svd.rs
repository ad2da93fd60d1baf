//! Registers of a chip from its CMSIS-SVD file, by the crate `svd-parser`, as `cyclescope,registers` has them.

use std::fmt::Write;

use pyo3::prelude::*;
use svd_parser::svd::{Device, MaybeArray, PeripheralInfo, RegisterCluster, RegisterInfo};
use svd_parser::{Config, ValidateLevel};

use crate::EngineError;
use crate::arguments::Arg;
use crate::caught::caught;

/// The largest chips have some 50,000; a few lines of a file may claim any number.
const MOST_REGISTERS: u64 = 1 << 18;
/// Nobody nests clusters deeper.
const MOST_DEPTH: u32 = 16;

/// A peripheral: name, base address, its blocks of addresses from there (offset and size in bytes), registers.
type Peripheral = (String, u64, Vec<(u32, u32)>, Vec<String>);

/// A core: name, bits of an interrupt's priority, how many external interrupts.
type Core = (String, u32, u32);

/// A chip: its name, its core if the file tells it, its peripherals.
type Chip = (String, Option<Core>, Vec<Peripheral>);

/// What a CMSIS-SVD file tells of a chip. Raises EngineError for what is none.
#[pyfunction]
pub fn read_svd(py: Python<'_>, text: Arg<String>) -> PyResult<Chip> {
    py.detach(|| caught(|| read(&text.0).map_err(EngineError::new_err)))
}

fn read(text: &str) -> Result<Chip, String> {
    let config = Config::default().validate_level(ValidateLevel::Disabled).ignore_enums(true);
    let told = |error: &dyn std::fmt::Display| error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = svd_parser::parse_with_config(text, &config).map_err(|error| told(&format!("{error:#}")))?;
    if registers_of(&plain) > MOST_REGISTERS {
        return Err(format!("it has more than {MOST_REGISTERS} registers"));
    }
    let mut device = svd_parser::expand(&plain).map_err(|error| told(&format!("{error:#}")))?;
    svd_parser::expand_properties(&mut device);
    let peripherals = device.peripherals.iter().map(|peripheral| described(peripheral)).collect();
    Ok((word(&device.name), core(&device), peripherals))
}

fn core(device: &Device) -> Option<Core> {
    let cpu = device.cpu.as_ref()?;
    let interrupts = device.peripherals.iter().flat_map(|peripheral| &peripheral.interrupt);
    let named = interrupts.map(|interrupt| interrupt.value + 1).max().unwrap_or(0);
    Some((word(&cpu.name), cpu.nvic_priority_bits, cpu.device_num_interrupts.unwrap_or(0).max(named)))
}

/// How many registers the file has with all arrays written out, at least.
fn registers_of(device: &Device) -> u64 {
    let sum = |registers: &Option<Vec<RegisterCluster>>| registers.as_deref().map_or(1, |all| count(all, 0));
    let each = device.peripherals.iter().map(|peripheral| times(peripheral).saturating_mul(sum(&peripheral.registers)));
    each.fold(0, u64::saturating_add)
}

fn count(registers: &[RegisterCluster], depth: u32) -> u64 {
    if depth > MOST_DEPTH {
        return u64::MAX;
    }
    let each = registers.iter().map(|item| match item {
        RegisterCluster::Register(register) => times(register),
        RegisterCluster::Cluster(cluster) => times(cluster).saturating_mul(count(&cluster.children, depth + 1)),
    });
    each.fold(0, u64::saturating_add)
}

fn times<T>(item: &MaybeArray<T>) -> u64 {
    match item {
        MaybeArray::Single(_) => 1,
        MaybeArray::Array(_, dim) => u64::from(dim.dim),
    }
}

fn described(peripheral: &PeripheralInfo) -> Peripheral {
    let mut registers = Vec::new();
    list(peripheral.registers.as_deref().unwrap_or_default(), "", 0, &mut registers);
    let blocks = peripheral.address_block.as_deref().unwrap_or_default();
    let blocks = blocks.iter().map(|block| (block.offset, block.size)).collect();
    (word(&peripheral.name), peripheral.base_address, blocks, registers)
}

/// Adds all registers that a stub can have, those of clusters under their names.
fn list(registers: &[RegisterCluster], prefix: &str, base: u32, into: &mut Vec<String>) {
    for item in registers {
        match item {
            RegisterCluster::Register(register) => into.extend(line(register, prefix, base)),
            RegisterCluster::Cluster(cluster) => {
                let prefix = format!("{prefix}{}_", word(&cluster.name));
                list(&cluster.children, &prefix, base.wrapping_add(cluster.address_offset), into);
            }
        }
    }
}

/// A name that can stand in a string of a board's source: C's identifiers, which the format asks for, can.
fn word(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_[].-".contains(letter);
    name.trim().chars().map(|letter| if plain(letter) { letter } else { '_' }).collect()
}

fn line(register: &RegisterInfo, prefix: &str, base: u32) -> Option<String> {
    let offset = base.checked_add(register.address_offset)?;
    let bits = match register.properties.size.unwrap_or(32) {
        1..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => return None,
    };
    if !offset.is_multiple_of(bits / 8) {
        return None;
    }
    let mut line = format!("{prefix}{} {offset:#x}", word(&register.name));
    if bits < 32 {
        let _ = write!(line, " bits {bits}");
    }
    match register.properties.access {
        Some(access) if !access.can_write() => line.push_str(" ro"),
        Some(access) if !access.can_read() => line.push_str(" wo"),
        _ => {}
    }
    let reset = register.properties.reset_value.unwrap_or(0) as u32 & u32::MAX >> (32 - bits);
    if reset != 0 {
        let _ = write!(line, " reset {reset:#x}");
    }
    Some(line)
}
