//! Program status registers (ARM, B1.3.3).

use super::super::psr::{apsr, set_apsr};
use super::modes::Mode;
use super::{System, X};

/// Asynchronous aborts are masked.
pub(super) const A: u32 = 1 << 8;
/// IRQ is masked.
pub(super) const I: u32 = 1 << 7;
/// FIQ is masked.
pub(super) const F: u32 = 1 << 6;
/// T32.
const T: u32 = 1 << 5;
const MODE: u32 = 0x1f;
/// Bits of CPSR that mrs reads: not J, IT and T.
pub const MRS_MASK: u32 = 0xf8ff_03df;
/// Stored bits of an SPSR.
const SPSR_MASK: u32 = 0xfe0f_fdff;

/// Bits of the fields c, x, s and f of msr.
fn field_mask(fields: u8) -> u32 {
    (0..4).filter(|n| fields & 1 << n != 0).fold(0, |mask, n| mask | 0xff << (8 * n))
}

impl System {
    /// CPSR, with all of its parts.
    pub fn cpsr(&self, x: &X) -> u32 {
        apsr(x) | self.state.it_bits() | self.masks | u32::from(self.state.thumb) << 5 | self.mode as u32
    }

    /// The effect of msr: writes the bytes under the field mask (c 1, x 2, s 4, f 8), as far as the mode allows. The
    /// instruction set and ITSTATE stay; a mode that does not exist is not entered.
    pub fn write_cpsr(&mut self, x: &mut X, value: u32, fields: u8) {
        let mask = field_mask(fields);
        set_apsr(x, value, fields);
        if self.is_privileged() {
            let masks = mask & (A | I | F);
            self.masks = self.masks & !masks | value & masks;
            if mask & MODE != 0
                && let Some(mode) = Mode::from_bits(value)
            {
                self.change_mode(x, mode);
            }
        }
    }

    /// The effect of an exception return: writes all bits.
    pub(super) fn restore_cpsr(&mut self, x: &mut X, value: u32) {
        self.write_cpsr(x, value, 15);
        self.state.thumb = value & T != 0;
        self.state.set_it_bits(value);
    }

    /// A debugger's write: all bits but the mode.
    pub fn set_status(&mut self, x: &mut X, value: u32) {
        set_apsr(x, value, 15);
        self.masks = value & (A | I | F);
        self.state.thumb = value & T != 0;
        self.state.set_it_bits(value);
    }

    /// The effect of msr on the SPSR of the mode.
    pub(super) fn write_spsr(&mut self, value: u32, fields: u8) {
        let mask = field_mask(fields) & SPSR_MASK;
        self.set_spsr(self.spsr() & !mask | value & mask);
    }

    /// The effect of cps: `what` is the immediate of [`super::super::op::Code::Cps`].
    pub(super) fn change_state(&mut self, x: &mut X, what: u32) {
        let masks = what & 0x1c0;
        if what & 1 << 9 != 0 {
            self.masks |= masks;
        }
        if what & 1 << 10 != 0 {
            self.masks &= !masks;
        }
        if what & 1 << 5 != 0
            && let Some(mode) = Mode::from_bits(what)
        {
            self.change_mode(x, mode);
        }
    }

    /// The effect of cps that sets these masks.
    pub fn mask(&mut self, masks: u32) {
        self.masks |= masks & (A | I | F);
    }

    pub(super) fn masked(&self, mask: u32) -> bool {
        self.masks & mask != 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::registers::Z_SOURCE;
    use super::super::tests::system;
    use super::*;

    #[test]
    fn reset_is_supervisor_mode_with_all_masked() {
        let (system, mut x) = system();
        x[Z_SOURCE as usize] = 1;
        assert_eq!(system.cpsr(&x), 0x1d3);
    }

    #[test]
    fn msr_writes_the_fields_that_it_names() {
        let (mut system, mut x) = system();
        system.write_cpsr(&mut x, 0xf80f_0010, 8);
        assert_eq!(system.cpsr(&x), 0xf800_01d3);
        system.write_cpsr(&mut x, 0x000a_0010, 4);
        assert_eq!(system.cpsr(&x), 0xf80a_01d3);
        system.write_cpsr(&mut x, 0x0000_0012, 2);
        assert_eq!(system.cpsr(&x), 0xf80a_00d3);
        system.write_cpsr(&mut x, 0x0000_003f, 1);
        assert_eq!(system.cpsr(&x), 0xf80a_001f, "T is not written");
        system.write_cpsr(&mut x, 0x0000_0016, 1);
        assert_eq!(system.mode(), Mode::System, "there is no monitor mode");
    }

    #[test]
    fn user_mode_changes_flags_alone() {
        let (mut system, mut x) = system();
        system.write_cpsr(&mut x, 0x10, 15);
        system.write_cpsr(&mut x, 0xffff_ffff, 15);
        assert_eq!(system.cpsr(&x), 0xf80f_0010);
    }

    #[test]
    fn a_return_restores_instruction_set_and_it() {
        for value in [0xa600_fc30_u32, 0x5a0f_0192, 0x0205_a8b3, 0x0600_0c3f] {
            let (mut system, mut x) = system();
            system.restore_cpsr(&mut x, value);
            assert_eq!(system.cpsr(&x), value);
        }
        let (mut system, mut x) = system();
        system.restore_cpsr(&mut x, 0x0600_0c32);
        assert_eq!((system.state.it, system.state.thumb, system.mode()), (0x0f, true, Mode::Irq));
    }

    #[test]
    fn cps_sets_and_clears_masks_and_changes_mode() {
        let (mut system, mut x) = system();
        system.change_state(&mut x, 1 << 10 | 1 << 7 | 1 << 6);
        assert_eq!(system.cpsr(&x) & 0x1ff, 0x113);
        system.change_state(&mut x, 1 << 9 | 1 << 7 | 1 << 5 | 0x1f);
        assert_eq!(system.cpsr(&x) & 0x1ff, 0x19f);
    }
}
