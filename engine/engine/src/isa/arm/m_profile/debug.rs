//! Special registers for a debugger (ARM, B5.2.2).

use super::psr::sysm;
use super::{System, X};
use crate::bus::device::AccessSize;

/// The special registers, with their numbers for mrs and msr.
const SPECIAL: [(u32, &str); 6] = [
    (sysm::MSP, "msp"),
    (sysm::PSP, "psp"),
    (sysm::PRIMASK, "primask"),
    (sysm::BASEPRI, "basepri"),
    (sysm::FAULTMASK, "faultmask"),
    (sysm::CONTROL, "control"),
];

impl System {
    /// The stack pointers, the masks and CONTROL.
    pub fn special_registers(&self, x: &X) -> Vec<(&'static str, u32)> {
        let privileged = self.with_privilege();
        SPECIAL.iter().map(|(number, name)| (*name, privileged.read_special(x, *number))).collect()
    }

    /// Writes special register `number`. False if it does not exist.
    pub fn set_special_register(&mut self, x: &mut X, number: usize, value: u32) -> bool {
        const ALL_FIELDS: u8 = 15;
        let Some((register, _)) = SPECIAL.get(number) else { return false };
        let unprivileged = std::mem::take(&mut self.unprivileged);
        self.write_special(x, *register, value, ALL_FIELDS);
        if *register != sysm::CONTROL {
            self.unprivileged = unprivileged;
        }
        true
    }

    /// The value of a load of `addr` by privileged code, if it is a register of the private peripheral bus.
    pub fn peek_own(&self, addr: u32, size: AccessSize, cycles: u64) -> Option<u32> {
        self.with_privilege().load_own(addr, size, cycles).ok()
    }

    fn with_privilege(&self) -> System {
        System { unprivileged: false, ..self.clone() }
    }
}
