//! Registers for a debugger: general registers with the names of the calling convention, then CSRs.

use super::disasm::{CSR_NAMES, REGISTER_NAMES};
use super::instruction_set::Hart;
use super::system::CsrContext;
use crate::bus::Bus;
use crate::core::debug::{Group, Register};

/// Number of registers before the CSRs: the general ones and the program counter.
const GENERAL: usize = 33;

/// The general registers and the program counter, in GDB's order.
pub fn general(x: &[u32], pc: u32) -> Vec<Register> {
    let names = REGISTER_NAMES.iter().zip(x);
    let registers = names.map(|(name, value)| Register::word(*name, Group::General, *value));
    registers.chain([Register::word("pc", Group::General, pc)]).collect()
}

/// All registers.
pub(super) fn registers(core: &Hart, bus: &Bus) -> Vec<Register> {
    let context = context(core, bus);
    let csr = |(number, name): &(i32, &'static str)| {
        let value = core.isa.csrs.read(*number as u32, context)?;
        Some(Register::word(*name, Group::System, value))
    };
    general(&core.x[..32], core.pc).into_iter().chain(CSR_NAMES.iter().filter_map(csr)).collect()
}

/// Writes a register.
pub(super) fn set(core: &mut Hart, bus: &mut Bus, number: usize, value: u32) -> bool {
    let context = context(core, bus);
    match number {
        0 => return false,
        1..32 => core.x[number] = value,
        32 => core.pc = value & !1,
        _ => {
            let mut there = CSR_NAMES.iter().filter(|(csr, _)| core.isa.csrs.read(*csr as u32, context).is_some());
            let Some((csr, _)) = there.nth(number - GENERAL) else { return false };
            return core.isa.csrs.write(*csr as u32, value, context).is_some();
        }
    }
    true
}

fn context(core: &Hart, bus: &Bus) -> CsrContext {
    let (cycles, instructions) = (core.shell.had(core.shell.cycles), core.shell.instructions);
    CsrContext { cycles, instructions, pending: core.shell.irqs.up(bus, core.shell.cycles).low() }
}
