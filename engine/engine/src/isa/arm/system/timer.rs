//! The generic timer's registers, c14 (ARM, chapter B8 and B4.1): a device has them, and counts; the permissions to use
//! them are here.

use super::System;
use super::effect::{DeviceRegister, Effect};
use super::registers::Number;
use crate::bus::device::CoreRegister;

/// CNTKCTL: User mode may read the physical and the virtual counter, and CNTFRQ with either of them.
const PL0PCTEN: u32 = 1 << 0;
const PL0VCTEN: u32 = 1 << 1;
/// It may use the virtual and the physical timer.
const PL0VTEN: u32 = 1 << 8;
const PL0PTEN: u32 = 1 << 9;
/// The counter sends events to wfe: EVNTEN; on which of its edges: EVNTDIR, EVNTI.
const EVNTEN: u32 = 1 << 2;
const EVENT_EDGE: u32 = 0xf8;
/// Stored bits of CNTKCTL.
pub(super) const CNTKCTL_MASK: u32 = PL0PCTEN | PL0VCTEN | PL0VTEN | PL0PTEN | EVNTEN | EVENT_EDGE;
/// The number of CNTKCTL, a register of the core itself.
pub(super) const CNTKCTL: Number = (14, 0, 1, 0);

impl System {
    /// An access by mrc or mcr (`written`) to a register of 32 bits; `None` if it is not the timer's, or not accessible
    /// in this mode.
    pub(super) fn timer_register(&self, number: Number, written: Option<u32>, to: u8, encoding: u32) -> Option<Effect> {
        let (crn, opc1, crm, opc2) = number;
        let bit = match (crm, opc2) {
            (0, 0) if written.is_none() => PL0PCTEN | PL0VCTEN,
            (2, 0 | 1) => PL0PTEN,
            (3, 0 | 1) => PL0VTEN,
            _ => 0,
        };
        let register = CoreRegister::Single(crn, opc1, crm, opc2);
        (crn == 14 && number != CNTKCTL && self.has_timer_for(bit)).then_some(Effect::DeviceRegister(DeviceRegister {
            register,
            written: written.map(u64::from),
            to: [to, super::super::registers::SINK],
            encoding,
        }))
    }

    /// As [`System::timer_register`], by mrrc or mcrr.
    pub(super) fn wide_timer_register(
        &self,
        (crm, opc1): (u32, u32),
        written: Option<u64>,
        to: [u8; 2],
        encoding: u32,
    ) -> Option<Effect> {
        let bit = match (opc1, written) {
            (0, None) => PL0PCTEN,
            (1, None) => PL0VCTEN,
            (2, _) => PL0PTEN,
            (3, _) => PL0VTEN,
            _ => 0,
        };
        let register = CoreRegister::Double(crm, opc1);
        let access = DeviceRegister { register, written, to, encoding };
        (crm == 14 && self.has_timer_for(bit)).then_some(Effect::DeviceRegister(access))
    }

    /// True if the counter sends events, whose times are not modelled: any wfe may end early.
    pub(super) fn has_event_stream(&self) -> bool {
        self.registers.cntkctl & EVNTEN != 0
    }

    /// True if there is a timer, and the mode may use it by one of the given `bits` of CNTKCTL.
    fn has_timer_for(&self, bits: u32) -> bool {
        self.config.generic_timer && (self.is_privileged() || self.registers.cntkctl & bits != 0)
    }
}
