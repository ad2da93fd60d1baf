//! Registers for a debugger: r0 to r31, lo, hi and pc, then coprocessor 0.

use super::instruction_set::Mips;
use super::op::{HI, LO};
use super::system::{Effect, Now};
use crate::bus::Bus;
use crate::core::debug::{Group, Register};
use crate::cpu::isa::Isa as _;

use super::instruction_set::MipsSet;

/// The general registers, which GDB names by number.
#[rustfmt::skip]
const NAMES: [&str; 32] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r16", "r17",
    "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31",
];

/// Registers of coprocessor 0: number, select, name.
#[rustfmt::skip]
const CP0: [(u8, u8, &str); 16] = [
    (12, 0, "status"), (8, 0, "badvaddr"), (13, 0, "cause"), (14, 0, "epc"), (30, 0, "errorepc"), (0, 0, "index"),
    (1, 0, "random"), (2, 0, "entrylo0"), (3, 0, "entrylo1"), (4, 0, "context"), (5, 0, "pagemask"), (6, 0, "wired"),
    (10, 0, "entryhi"), (15, 0, "prid"), (16, 0, "config"), (16, 1, "config1"),
];

/// All registers.
pub(super) fn registers(core: &Mips, bus: &Bus) -> Vec<Register> {
    let now = now(core, bus);
    let word = |name: &'static str, value| Register::word(name, Group::General, value);
    let general = NAMES.iter().zip(&core.x).map(|(name, value)| word(name, *value));
    let further = [("lo", core.x[usize::from(LO)]), ("hi", core.x[usize::from(HI)]), ("pc", core.pc)];
    let system = CP0.iter().map(|(register, select, name)| {
        Register::word(*name, Group::System, core.isa.system.register(*register, *select, now))
    });
    general.chain(further.map(|(name, value)| word(name, value))).chain(system).collect()
}

/// Writes a register.
pub(super) fn set(core: &mut Mips, bus: &mut Bus, number: usize, value: u32) -> bool {
    let now = now(core, bus);
    match number {
        0 => return false,
        1..32 => core.x[number] = value,
        32 => core.x[usize::from(LO)] = value,
        33 => core.x[usize::from(HI)] = value,
        34 => MipsSet::set_pc(core, value),
        _ => {
            let Some((register, select, _)) = CP0.get(number - 35) else { return false };
            if core.isa.system.write(*register, *select, value, now) == Effect::TranslationChanged {
                core.map_changed();
            }
        }
    }
    true
}

fn now(core: &Mips, bus: &Bus) -> Now {
    Now { pending: core.shell.irqs.up(bus, core.shell.cycles).low(), instructions: core.shell.instructions }
}
