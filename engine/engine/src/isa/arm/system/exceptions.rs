//! Exceptions, their entry and return (ARM, B1.8 and B1.9).

use super::super::registers::LR;
use super::modes::Mode;
use super::psr;
use super::registers::{SCTLR_TE, SCTLR_V};
use super::{System, X};
use crate::cpu::memory_system::Mmu as _;
use crate::faults::BusFaultKind;

/// IRQ, in the pending bits of a core.
pub const PENDING_IRQ: u32 = 1 << 0;
/// FIQ.
pub const PENDING_FIQ: u32 = 1 << 1;
/// Vectors with SCTLR.V.
const HIGH_VECTORS: u32 = 0xffff_0000;
/// DFSR.WnR.
const FSR_WRITE: u32 = 1 << 11;
/// DFSR.ExT, IFSR.ExT: the slave answered with an error; 0 for a decode error (TRM, c5).
const FSR_SLAVE_ERROR: u32 = 1 << 12;

/// Reason to leave the flow of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    /// An encoding that is undefined, or undefined in this mode, or that needs a disabled unit.
    Undefined(u32),
    /// Supervisor call, with its number.
    Svc(u32),
    /// Breakpoint, with its number: as a prefetch abort.
    Bkpt(u32),
    /// A refused instruction fetch.
    PrefetchAbort(Abort),
    /// A refused data access.
    DataAbort(Abort),
    /// Interrupt.
    Irq,
    /// Fast interrupt.
    Fiq,
}

/// A refused access.
pub type Abort = crate::cpu::memory_system::access::Abort<FaultStatus>;

/// Causes of aborts, with their codes in DFSR and IFSR (ARM, short-descriptor fault status).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum FaultStatus {
    Alignment = 0b00001,
    Debug = 0b00010,
    AccessFlagSection = 0b00011,
    CacheMaintenance = 0b00100,
    TranslationSection = 0b00101,
    AccessFlagPage = 0b00110,
    TranslationPage = 0b00111,
    External = 0b01000,
    DomainSection = 0b01001,
    DomainPage = 0b01011,
    WalkFirst = 0b01100,
    PermissionSection = 0b01101,
    WalkSecond = 0b01110,
    PermissionPage = 0b01111,
    AsynchronousExternal = 0b10110,
}

impl FaultStatus {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            FaultStatus::Alignment => "alignment fault",
            FaultStatus::Debug => "debug event",
            FaultStatus::AccessFlagSection => "access flag fault, section",
            FaultStatus::CacheMaintenance => "cache maintenance fault",
            FaultStatus::TranslationSection => "translation fault, section",
            FaultStatus::AccessFlagPage => "access flag fault, page",
            FaultStatus::TranslationPage => "translation fault, page",
            FaultStatus::External => "external abort",
            FaultStatus::DomainSection => "domain fault, section",
            FaultStatus::DomainPage => "domain fault, page",
            FaultStatus::WalkFirst => "external abort on a translation table walk, first level",
            FaultStatus::PermissionSection => "permission fault, section",
            FaultStatus::WalkSecond => "external abort on a translation table walk, second level",
            FaultStatus::PermissionPage => "permission fault, page",
            FaultStatus::AsynchronousExternal => "asynchronous external abort",
        }
    }
}

impl Abort {
    /// FS and ExT as in DFSR and IFSR.
    pub(super) fn fsr(&self) -> u32 {
        let status = self.status as u32;
        let slave = if self.bus == Some(BusFaultKind::Slave) { FSR_SLAVE_ERROR } else { 0 };
        status & 15 | status >> 4 << 10 | slave
    }
}

impl Exception {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Exception::Undefined(_) => "undefined instruction",
            Exception::Svc(_) => "supervisor call",
            Exception::Bkpt(_) => "breakpoint",
            Exception::PrefetchAbort(_) => "prefetch abort",
            Exception::DataAbort(_) => "data abort",
            Exception::Irq => "IRQ",
            Exception::Fiq => "FIQ",
        }
    }

    /// Mode, vector's offset, masks that it sets, and LR minus the instruction's address in A32 and T32 (ARM, B1.8).
    fn entry(self) -> (Mode, u32, u32, [u32; 2]) {
        match self {
            Exception::Undefined(_) => (Mode::Undefined, 0x04, psr::I, [4, 2]),
            Exception::Svc(_) => (Mode::Supervisor, 0x08, psr::I, [4, 2]),
            Exception::Bkpt(_) | Exception::PrefetchAbort(_) => (Mode::Abort, 0x0c, psr::I | psr::A, [4, 4]),
            Exception::DataAbort(_) => (Mode::Abort, 0x10, psr::I | psr::A, [8, 8]),
            Exception::Irq => (Mode::Irq, 0x18, psr::I | psr::A, [4, 4]),
            Exception::Fiq => (Mode::Fiq, 0x1c, psr::I | psr::A | psr::F, [4, 4]),
        }
    }
}

impl System {
    /// Takes an exception of the instruction at `pc`; an interrupt is taken before it. Returns the address of the
    /// handler; the instruction set has been set. [`System::it`] has to be that of the instruction at `pc`.
    pub fn enter(&mut self, x: &mut X, exception: Exception, pc: u32) -> u32 {
        self.note_fault(exception);
        if let Exception::Svc(_) = exception {
            self.state.advance_it();
        }
        let (mode, offset, masks, link) = exception.entry();
        let cpsr = self.cpsr(x);
        let link = pc.wrapping_add(link[usize::from(self.state.thumb)]);
        self.change_mode(x, mode);
        self.set_spsr(cpsr);
        x[LR as usize] = link;
        self.masks |= masks;
        self.state.thumb = self.registers.sctlr & SCTLR_TE != 0;
        self.state.it = 0;
        self.vectors().wrapping_add(offset)
    }

    /// True for an exception that is part of an operating system's work: all that processes raise, in User mode with
    /// the MMU on, among them those that the system uses to load pages and to switch units on; and refused translations
    /// of the system's own accesses, once it has processes, or an address space with a number of its own: it fills that
    /// of a first process before it runs it.
    pub fn is_usual(&self, exception: Exception) -> bool {
        let by_mmu = |abort: Abort| {
            use FaultStatus::*;
            matches!(
                abort.status,
                TranslationSection
                    | TranslationPage
                    | AccessFlagSection
                    | AccessFlagPage
                    | DomainSection
                    | DomainPage
                    | PermissionSection
                    | PermissionPage
            )
        };
        self.mmu_is_on()
            && match exception {
                _ if !self.is_privileged() => true,
                Exception::DataAbort(abort) | Exception::PrefetchAbort(abort) => {
                    (self.has_processes || self.registers.contextidr != 0) && by_mmu(abort)
                }
                _ => false,
            }
    }

    /// Returns from an exception: CPSR becomes `cpsr`; returns the address, `pc` aligned for the instruction set.
    pub fn leave(&mut self, x: &mut X, pc: u32, cpsr: u32) -> u32 {
        self.restore_cpsr(x, cpsr);
        self.has_processes |= !self.is_privileged() && self.mmu_is_on();
        pc & if self.state.thumb { !1 } else { !3 }
    }

    /// Base of the exception vectors.
    pub fn vectors(&self) -> u32 {
        if self.registers.sctlr & SCTLR_V != 0 { HIGH_VECTORS } else { self.registers.vbar }
    }

    /// The interrupt to take now, if a pending one (bit 0 IRQ, bit 1 FIQ) is not masked.
    #[inline]
    pub fn deliverable(&self, pending: u32) -> Option<Exception> {
        if pending & PENDING_FIQ != 0 && !self.masked(psr::F) {
            return Some(Exception::Fiq);
        }
        (pending & PENDING_IRQ != 0 && !self.masked(psr::I)).then_some(Exception::Irq)
    }

    /// True if the pending interrupts end a wfi: masks do not matter (ARM, B1.8).
    pub fn wakes(&self, pending: u32) -> bool {
        pending & (PENDING_IRQ | PENDING_FIQ) != 0
    }

    /// Sets fault status and address registers.
    fn note_fault(&mut self, exception: Exception) {
        let registers = &mut self.registers;
        match exception {
            Exception::DataAbort(abort) => {
                registers.dfsr =
                    abort.fsr() | u32::from(abort.domain & 15) << 4 | if abort.write { FSR_WRITE } else { 0 };
                if abort.status != FaultStatus::AsynchronousExternal {
                    registers.dfar = abort.va;
                }
            }
            Exception::PrefetchAbort(abort) => {
                registers.ifsr = abort.fsr();
                registers.ifar = abort.va;
            }
            Exception::Bkpt(_) => registers.ifsr = FaultStatus::Debug as u32,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cp15, set_cp15, system};
    use super::*;

    const READ: Abort = Abort { va: 0x1234, status: FaultStatus::PermissionPage, write: false, domain: 3, bus: None };

    #[test]
    fn links_and_modes_are_those_of_the_table() {
        let rows = [
            (Exception::Undefined(0), 0x04, 0x1b, 0x1004, 0x1002),
            (Exception::Svc(1), 0x08, 0x13, 0x1004, 0x1002),
            (Exception::PrefetchAbort(READ), 0x0c, 0x17, 0x1004, 0x1004),
            (Exception::DataAbort(READ), 0x10, 0x17, 0x1008, 0x1008),
            (Exception::Irq, 0x18, 0x12, 0x1004, 0x1004),
            (Exception::Fiq, 0x1c, 0x11, 0x1004, 0x1004),
        ];
        for (exception, offset, mode, link_a32, link_t32) in rows {
            for (cpsr, link) in [(0x8000_0010, link_a32), (0x8000_0030, link_t32)] {
                let (mut system, mut x) = system();
                system.restore_cpsr(&mut x, cpsr);
                assert_eq!(system.enter(&mut x, exception, 0x1000), offset);
                assert_eq!((system.mode() as u32, system.spsr(), x[14]), (mode, cpsr, link));
                assert!(!system.state.thumb);
                assert_eq!(system.leave(&mut x, 0x1003, cpsr), if cpsr & 0x20 == 0 { 0x1000 } else { 0x1002 });
                assert_eq!(system.cpsr(&x), cpsr);
            }
        }
    }

    #[test]
    fn masks_are_set_as_each_exception_does() {
        let after = |exception| {
            let (mut system, mut x) = system();
            system.restore_cpsr(&mut x, 0x10);
            system.enter(&mut x, exception, 0);
            system.cpsr(&x) & 0x1c0
        };
        assert_eq!(after(Exception::Svc(0)), psr::I);
        assert_eq!(after(Exception::Irq), psr::I | psr::A);
        assert_eq!(after(Exception::DataAbort(READ)), psr::I | psr::A);
        assert_eq!(after(Exception::Fiq), psr::I | psr::A | psr::F);
    }

    #[test]
    fn vectors_move_with_vbar_v_and_te() {
        let (mut system, mut x) = system();
        set_cp15(&mut system, &mut x, (12, 0, 0, 0), 0x20_003f);
        assert_eq!(system.enter(&mut x, Exception::Irq, 0), 0x20_0038);
        set_cp15(&mut system, &mut x, (1, 0, 0, 0), 1 << 13 | 1 << 30);
        assert_eq!(system.enter(&mut x, Exception::Irq, 0), 0xffff_0018);
        assert!(system.state.thumb);
    }

    #[test]
    fn faults_leave_status_and_address() {
        let (mut system, mut x) = system();
        system.enter(&mut x, Exception::DataAbort(Abort { write: true, ..READ }), 0);
        assert_eq!(cp15(&mut system, &mut x, (5, 0, 0, 0)), Some(0x83f));
        assert_eq!(cp15(&mut system, &mut x, (6, 0, 0, 0)), Some(0x1234));
        let slave = Abort { status: FaultStatus::External, bus: Some(BusFaultKind::Slave), va: 0x5678, ..READ };
        system.enter(&mut x, Exception::PrefetchAbort(slave), 0);
        assert_eq!(cp15(&mut system, &mut x, (5, 0, 0, 1)), Some(0x1008));
        assert_eq!(cp15(&mut system, &mut x, (6, 0, 0, 2)), Some(0x5678));
        let late = Abort { status: FaultStatus::AsynchronousExternal, va: 1, ..READ };
        system.enter(&mut x, Exception::DataAbort(late), 0);
        assert_eq!(cp15(&mut system, &mut x, (5, 0, 0, 0)), Some(0x436));
        assert_eq!(cp15(&mut system, &mut x, (6, 0, 0, 0)), Some(0x1234));
        system.enter(&mut x, Exception::Bkpt(7), 0);
        assert_eq!(cp15(&mut system, &mut x, (5, 0, 0, 1)), Some(2));
    }

    #[test]
    fn what_processes_raise_is_usual_and_so_are_page_faults_of_their_system() {
        let (mut system, mut x) = system();
        let page_fault = Exception::DataAbort(READ);
        let external = Exception::DataAbort(Abort { status: FaultStatus::External, ..READ });
        system.leave(&mut x, 0, 0x10);
        assert!(!system.is_usual(page_fault), "the MMU is off");
        system.enter(&mut x, Exception::Svc(0), 0);
        set_cp15(&mut system, &mut x, (1, 0, 0, 0), 1);
        assert!(!system.is_usual(page_fault), "there are no processes");
        set_cp15(&mut system, &mut x, (13, 0, 0, 1), 0x101);
        assert!(system.is_usual(page_fault), "it fills an address space with a number");
        set_cp15(&mut system, &mut x, (13, 0, 0, 1), 0);
        system.leave(&mut x, 0, 0x10);
        assert!([page_fault, external, Exception::Undefined(0)].into_iter().all(|it| system.is_usual(it)));
        system.enter(&mut x, Exception::Svc(0), 0);
        assert!(system.is_usual(page_fault));
        assert!(!system.is_usual(external) && !system.is_usual(Exception::Undefined(0)));
    }

    #[test]
    fn a_call_in_an_it_block_returns_after_itself() {
        let (mut system, mut x) = system();
        system.restore_cpsr(&mut x, 0x30);
        system.state.it = 0x05;
        system.enter(&mut x, Exception::Svc(0), 0);
        assert_eq!(system.spsr() >> 25 & 3 | system.spsr() >> 8 & 0xfc, 0x0a);
    }

    #[test]
    fn fiq_comes_first_and_masks_hold() {
        let (mut system, mut x) = system();
        assert_eq!(system.deliverable(3), None);
        assert!(system.wakes(1) && system.wakes(2) && !system.wakes(0));
        system.restore_cpsr(&mut x, 0x13);
        assert_eq!(system.deliverable(3), Some(Exception::Fiq));
        assert_eq!(system.deliverable(1), Some(Exception::Irq));
        system.restore_cpsr(&mut x, 0x53);
        assert_eq!(system.deliverable(3), Some(Exception::Irq));
        system.restore_cpsr(&mut x, 0xd3);
        assert_eq!(system.deliverable(3), None);
    }
}
