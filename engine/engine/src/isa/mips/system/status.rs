//! Status and Cause: privilege, masks and lines of interrupts (PRA, Status, Cause).

use super::System;

/// Status: coprocessor 0 is usable in user mode.
pub(super) const CU0: u32 = 1 << 28;
/// Status: vectors in the boot ROM.
pub(super) const BEV: u32 = 1 << 22;
/// Status: masks of interrupts; Cause: their lines.
pub(super) const IM: u32 = 0xff << 8;
/// Status: user mode, unless EXL or ERL.
pub(super) const UM: u32 = 1 << 4;
/// Status: in the handler of an error, or reset.
pub(super) const ERL: u32 = 1 << 2;
/// Status: in the handler of an exception.
pub(super) const EXL: u32 = 1 << 1;
/// Status: interrupts enabled.
pub(super) const IE: u32 = 1 << 0;
/// Writable bits of Status: coprocessors 1 to 3, reduced power, 64-bit segments and reversed endianness do not exist.
pub(super) const STATUS_WRITABLE: u32 = CU0 | BEV | IM | UM | ERL | EXL | IE;
/// Cause: the exception was in a branch delay slot.
pub(super) const BD: u32 = 1 << 31;
/// Cause: interrupts have a vector of their own.
pub(super) const IV: u32 = 1 << 23;
/// Cause: the two interrupts that software requests.
pub(super) const IP_SOFTWARE: u32 = 3 << 8;
/// Writable bits of Cause.
pub(super) const CAUSE_WRITABLE: u32 = IV | IP_SOFTWARE;

impl System {
    /// True in kernel mode.
    #[inline]
    pub fn is_privileged(&self) -> bool {
        let status = self.registers.status;
        status & UM == 0 || status & (EXL | ERL) != 0
    }

    /// True while an exception is being handled.
    pub fn is_in_handler(&self) -> bool {
        self.registers.status & EXL != 0
    }

    /// True if instructions of coprocessor 0 (and `cache`, `eret`, `wait`) are allowed; else they raise
    /// [`super::Exception::CopUnusable`].
    #[inline]
    pub fn may_use_cp0(&self) -> bool {
        self.is_privileged() || self.registers.status & CU0 != 0
    }

    /// True if an interrupt is to be taken now. `pending`: lines that are high, bit n is Cause.IP n.
    #[inline]
    pub fn deliverable(&self, pending: u32) -> bool {
        self.registers.status & (IE | EXL | ERL) == IE && self.requested(pending) & self.registers.status & IM != 0
    }

    /// True if the pending lines end a `wait`: an interrupt that is not masked by IM, whether or not interrupts are
    /// enabled.
    #[inline]
    pub fn wakes(&self, pending: u32) -> bool {
        self.requested(pending) & self.registers.status & IM != 0
    }

    /// The most urgent interrupt that is pending and masked, for the user.
    pub fn held_back(&self, pending: u32) -> Option<String> {
        let masked = (self.requested(pending) & !self.registers.status & IM) >> IM.trailing_zeros();
        Some(format!("interrupt {} is pending, but masked in Status.IM", masked.checked_ilog2()?))
    }

    /// Cause.IP.
    #[inline]
    fn requested(&self, pending: u32) -> u32 {
        pending << 8 & IM & !IP_SOFTWARE | self.registers.cause & IP_SOFTWARE
    }

    /// The value of Cause now.
    pub(super) fn cause(&self, pending: u32) -> u32 {
        self.registers.cause & !IM | self.requested(pending)
    }
}
