//! xPSR, the masks, and their encodings in mrs and msr (ARM, B1.4.2, B1.4.3 and B5.2).

use super::super::psr::{WRITES_FLAGS, WRITES_GE, apsr, set_apsr};
use super::nvic::{Grouping, LEAST_URGENT};
use super::{System, X};

use crate::state::State;

/// EPSR.T.
const T: u32 = 1 << 24;

/// Bits of [`super::super::op::Code::Cps`]: FAULTMASK, PRIMASK, set, clear.
const CPS_F: u32 = 1 << 6;
const CPS_I: u32 = 1 << 7;
const CPS_SET: u32 = 1 << 9;
const CPS_CLEAR: u32 = 1 << 10;

/// Special registers' numbers, except those of the status (0 to 7).
pub(super) mod sysm {
    pub const MSP: u32 = 8;
    pub const PSP: u32 = 9;
    pub const PRIMASK: u32 = 16;
    pub const BASEPRI: u32 = 17;
    pub const BASEPRI_MAX: u32 = 18;
    pub const FAULTMASK: u32 = 19;
    pub const CONTROL: u32 = 20;
}

/// True for the number of a special register.
pub fn is_special_register(number: u32) -> bool {
    matches!(number, 0..=3 | 5..=9 | 16..=20)
}

impl System {
    /// xPSR, with all of its parts.
    pub fn xpsr(&self, x: &X) -> u32 {
        apsr(x) | self.state.it_bits() | if self.state.thumb { T } else { 0 } | u32::from(self.ipsr)
    }

    /// Restores flags, T and ITSTATE from a frame; IPSR has been set.
    pub fn restore_xpsr(&mut self, x: &mut X, value: u32) {
        set_apsr(x, value, WRITES_FLAGS | WRITES_GE);
        self.state.thumb = value & T != 0;
        self.state.set_it_bits(value);
    }

    /// CONTROL.
    pub(super) fn control(&self) -> u32 {
        u32::from(self.unprivileged) | u32::from(self.process_stack) << 1 | u32::from(self.floating.context) << 2
    }

    pub(super) fn read_special(&self, x: &X, number: u32) -> u32 {
        let privileged = |value: u32| if self.is_privileged() { value } else { 0 };
        match number {
            // EPSR reads as 0; bit 0 adds IPSR, bit 2 excludes APSR.
            0..=7 => {
                let flags = if number & 4 == 0 { apsr(x) } else { 0 };
                flags | if number & 1 != 0 { u32::from(self.ipsr) } else { 0 }
            }
            sysm::MSP => privileged(self.stack_pointers(x)[0]),
            sysm::PSP => privileged(self.stack_pointers(x)[1]),
            sysm::PRIMASK => privileged(u32::from(self.masks.primask)),
            sysm::BASEPRI | sysm::BASEPRI_MAX => privileged(u32::from(self.masks.basepri)),
            sysm::FAULTMASK => privileged(u32::from(self.masks.faultmask)),
            sysm::CONTROL => self.control(),
            _ => 0,
        }
    }

    /// `fields` matter only to APSR. Without privilege nothing else is written.
    pub(super) fn write_special(&mut self, x: &mut X, number: u32, value: u32, fields: u8) {
        if number & !3 == 0 {
            return set_apsr(x, value, fields);
        }
        if !self.is_privileged() {
            return;
        }
        let basepri = self.nvic.masked(value as u8);
        match number {
            sysm::MSP => self.set_stack_pointer(x, false, value),
            sysm::PSP => self.set_stack_pointer(x, true, value),
            sysm::PRIMASK => self.masks.primask = value & 1 != 0,
            sysm::BASEPRI => self.masks.basepri = basepri,
            sysm::BASEPRI_MAX if basepri != 0 && (self.masks.basepri == 0 || basepri < self.masks.basepri) => {
                self.masks.basepri = basepri;
            }
            sysm::FAULTMASK => self.set_faultmask(value & 1 != 0),
            sysm::CONTROL => self.write_control(x, value),
            _ => {}
        }
        self.changed();
    }

    fn write_control(&mut self, x: &mut X, value: u32) {
        self.keep_stacks(x, |system| {
            system.unprivileged = value & 1 != 0;
            if !system.in_handler() {
                system.process_stack = value & 2 != 0;
            }
        });
        if self.config.features.vfp {
            self.set_floating_context(value & 4 != 0);
        }
        self.follow_privilege();
    }

    /// The effect of cps.
    pub(super) fn change_masks(&mut self, what: u32) {
        if !self.is_privileged() || what & (CPS_SET | CPS_CLEAR) == 0 {
            return;
        }
        let set = what & CPS_SET != 0;
        if what & CPS_I != 0 {
            self.masks.primask = set;
        }
        if what & CPS_F != 0 {
            self.set_faultmask(set);
        }
        self.changed();
    }

    /// Sets FAULTMASK; it can't be set at a priority that is already more urgent.
    fn set_faultmask(&mut self, set: bool) {
        if !set || self.execution_priority() > -1 {
            self.masks.faultmask = set;
        }
    }
}

/// PRIMASK, FAULTMASK and BASEPRI (ARM, B1.4.3 and B1.5.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub(super) struct Masks {
    pub primask: bool,
    pub faultmask: bool,
    /// 0 masks nothing.
    pub basepri: u8,
}

impl Masks {
    /// The priority to which they raise execution.
    pub fn boosted(&self, grouping: Grouping) -> i16 {
        let primask = if self.primask { 0 } else { LEAST_URGENT };
        self.but_primask(grouping).min(primask)
    }

    /// The same by FAULTMASK and BASEPRI only.
    pub fn but_primask(&self, grouping: Grouping) -> i16 {
        let faultmask = if self.faultmask { -1 } else { LEAST_URGENT };
        let basepri = if self.basepri == 0 { LEAST_URGENT } else { grouping.group(i16::from(self.basepri)) };
        faultmask.min(basepri)
    }
}
