//! Registers for a debugger: r0 to pc and the status register, those of VFP, and further ones of the profile.

use super::architecture::Profile;
use super::instruction_set::Arm;
use super::registers::{LR, SP};
use crate::bus::Bus;
use crate::core::debug::{Architecture, Group, Register};

#[rustfmt::skip]
const GENERAL: [&str; 13] = ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12"];
/// Numbers of the program counter and the status register.
const PC: usize = 15;
const STATUS: usize = 16;

/// All registers.
pub(super) fn registers<P: Profile>(core: &Arm<P>, bus: &Bus) -> Vec<Register> {
    let system = &core.isa.system;
    let word = |name: &'static str, value| Register::word(name, Group::General, value);
    let status = if P::ARCHITECTURE == Architecture::ArmM { "xpsr" } else { "cpsr" };
    let mut all: Vec<Register> = GENERAL.iter().zip(&core.x).map(|(name, value)| word(name, *value)).collect();
    all.extend([
        word("sp", core.x[usize::from(SP)]),
        word("lr", core.x[usize::from(LR)]),
        word("pc", core.pc),
        word(status, system.status(&core.x)),
    ]);
    for number in 0..doubles::<P>(core) {
        let [low, high] = [2 * number, 2 * number + 1].map(|single| u64::from(core.isa.s[single]));
        all.push(Register::double(format!("d{number}"), Group::Float, high << 32 | low));
    }
    if system.features().vfp {
        all.push(Register::word("fpscr", Group::Float, system.fpscr()));
    }
    all.extend(P::special_registers(core, bus));
    all
}

/// Writes a register.
pub(super) fn set<P: Profile>(core: &mut Arm<P>, bus: &mut Bus, number: usize, value: u64) -> bool {
    let (word, first_double, doubles) = (value as u32, STATUS + 1, doubles::<P>(core));
    let has_vfp = core.isa.system.features().vfp;
    match number {
        0..PC => core.x[number] = word,
        PC => {
            // The instruction set is not changed.
            core.pc = word & if core.isa.system.state().thumb { !1 } else { !3 };
            core.isa.system.state_mut().it = 0;
        }
        STATUS => return P::set_status(core, word),
        _ if number < first_double + doubles => {
            let single = 2 * (number - first_double);
            (core.isa.s[single], core.isa.s[single + 1]) = (word, (value >> 32) as u32);
        }
        _ if has_vfp && number == first_double + doubles => core.isa.system.set_fpscr(word),
        _ => return P::set_special_register(core, bus, number - first_double - doubles - usize::from(has_vfp), word),
    }
    true
}

/// VFP registers of 64 bits.
fn doubles<P: Profile>(core: &Arm<P>) -> usize {
    let features = core.isa.system.features();
    match (features.vfp, features.vfp_d32) {
        (false, _) => 0,
        (true, false) => 16,
        (true, true) => 32,
    }
}
