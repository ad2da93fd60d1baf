//! The floating-point unit's control registers, and the preservation of its state by exceptions (ARM, B1.4.6, B1.5.7
//! and B3.2.20 on).

use super::System;
use super::entry::Floating;
use crate::isa::arm::vfp::is_allowed;
use crate::state::State;

/// Implemented bits of FPSCR: N, Z, C, V, AHP, DN, FZ, RMode, and the cumulative exceptions.
pub(super) const FPSCR_MASK: u32 = 0xf7c0_009f;
/// FPDSCR: AHP, DN, FZ, RMode.
const FPDSCR_MASK: u32 = 0x07c0_0000;

/// FPCCR.
pub(super) mod fpccr {
    pub const ASPEN: u32 = 1 << 31;
    pub const LSPEN: u32 = 1 << 30;
    pub const LSPACT: u32 = 1 << 0;
    pub const USER: u32 = 1 << 1;
    pub const THREAD: u32 = 1 << 3;
    /// HardFault, BusFault, MemManage and DebugMonitor could have pre-empted when the frame was made.
    pub const HFRDY: u32 = 1 << 4;
    pub const MMRDY: u32 = 1 << 5;
    pub const BFRDY: u32 = 1 << 6;
    pub const MONRDY: u32 = 1 << 8;
    pub const WRITABLE: u32 = ASPEN | LSPEN | MONRDY | BFRDY | MMRDY | HFRDY | THREAD | USER | LSPACT;
}

/// CPACR: fields of cp10 and cp11.
const CPACR_MASK: u32 = 0xf << 20;

/// Registers of the floating-point unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub(super) struct FloatingPoint {
    pub fpscr: u32,
    pub fpccr: u32,
    fpcar: u32,
    fpdscr: u32,
    cpacr: u32,
    /// CONTROL.FPCA: the running code has floating-point state.
    pub context: bool,
    /// An instruction may be executed without preparation ([`System::begin_floating`]).
    pub ready: bool,
}

impl Default for FloatingPoint {
    /// After reset: disabled; state is preserved, lazily.
    fn default() -> FloatingPoint {
        let fpccr = fpccr::ASPEN | fpccr::LSPEN;
        FloatingPoint { fpscr: 0, fpccr, fpcar: 0, fpdscr: 0, cpacr: 0, context: false, ready: false }
    }
}

impl System {
    /// True if CPACR allows it in this mode.
    pub fn floating_is_allowed(&self) -> bool {
        self.config.features.vfp && is_allowed(self.floating.cpacr, self.is_privileged())
    }

    /// Address for the state of the code that an exception interrupted, to be stored before the first instruction that
    /// uses the registers: S0 to S15 and FPSCR; afterwards [`System::floating_is_saved`].
    pub fn lazy_address(&self) -> Option<u32> {
        self.is_floating_lazy().then_some(self.floating.fpcar)
    }

    /// True if those stores are privileged.
    pub fn lazy_is_privileged(&self) -> bool {
        self.floating.fpccr & fpccr::USER == 0
    }

    /// Notes that they have been stored.
    pub fn floating_is_saved(&mut self) {
        self.floating.fpccr &= !fpccr::LSPACT;
        self.follow_privilege();
    }

    /// Prepares for an allowed floating-point instruction: the code has floating-point state from now on (ARM,
    /// ExecuteFPCheck).
    pub fn begin_floating(&mut self) {
        if self.floating.fpccr & fpccr::ASPEN != 0 && !self.floating.context {
            self.floating.fpscr = self.floating.fpscr & !FPDSCR_MASK | self.floating.fpdscr;
            self.floating.context = true;
        }
        self.follow_privilege();
    }

    pub(super) fn is_floating_lazy(&self) -> bool {
        self.floating.fpccr & fpccr::LSPACT != 0
    }

    /// Floating-point state in an exception's frame.
    pub(super) fn floating_frame(&self) -> Floating {
        match (self.floating.context, self.floating.fpccr & fpccr::LSPEN != 0) {
            (false, _) => Floating::None,
            (true, true) => Floating::Reserved,
            (true, false) => Floating::Stored,
        }
    }

    /// Notes that a frame with room for the state has been made.
    pub(super) fn reserve_floating(&mut self, address: u32) {
        use super::exceptions::number;
        let current = self.execution_priority();
        let ready = |exception: u8, bit: u32| {
            let could = exception == number::HARD_FAULT || self.nvic.enabled.contains(exception);
            if could && self.nvic.group_priority(exception) < current { bit } else { 0 }
        };
        let readiness = ready(number::HARD_FAULT, fpccr::HFRDY)
            | ready(number::MEM_MANAGE, fpccr::MMRDY)
            | ready(number::BUS_FAULT, fpccr::BFRDY)
            | ready(number::DEBUG_MONITOR, fpccr::MONRDY);
        let user = if self.is_privileged() { 0 } else { fpccr::USER };
        let thread = if self.in_handler() { 0 } else { fpccr::THREAD };
        let kept = self.floating.fpccr & (fpccr::ASPEN | fpccr::LSPEN);
        self.floating.fpccr = kept | fpccr::LSPACT | readiness | user | thread;
        self.floating.fpcar = address & !7;
    }

    pub(super) fn set_floating_context(&mut self, context: bool) {
        self.floating.context = context;
        self.follow_privilege();
    }

    /// Updates this after a change of the mode, or of a register on which `ready` depends.
    pub(super) fn follow_privilege(&mut self) {
        let begun = self.floating.context || self.floating.fpccr & fpccr::ASPEN == 0;
        self.floating.ready = begun && !self.is_floating_lazy() && self.floating_is_allowed();
    }

    // ---- Registers in the system control space

    /// CPACR, FPCCR, FPCAR, FPDSCR by their offsets; `None` for others.
    pub(super) fn read_floating(&self, offset: u32) -> Option<u32> {
        let registers = &self.floating;
        Some(match offset {
            0xd88 => registers.cpacr,
            0xf34 => registers.fpccr,
            0xf38 => registers.fpcar,
            0xf3c => registers.fpdscr,
            _ => return None,
        })
    }

    pub(super) fn write_floating(&mut self, offset: u32, value: u32) -> bool {
        if !self.config.features.vfp {
            return matches!(offset, 0xd88 | 0xf34 | 0xf38 | 0xf3c);
        }
        let registers = &mut self.floating;
        match offset {
            0xd88 => registers.cpacr = value & CPACR_MASK,
            0xf34 => registers.fpccr = value & fpccr::WRITABLE,
            0xf38 => registers.fpcar = value & !7,
            0xf3c => registers.fpdscr = value & FPDSCR_MASK,
            _ => return false,
        }
        self.follow_privilege();
        true
    }
}
