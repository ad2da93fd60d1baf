//! Exceptions and interrupts of machine mode (privileged specification, section 3.1).

/// A synchronous exception, with what goes into mtval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Its cause.
    pub cause: ExceptionCause,
    /// Faulting address or encoding; 0 where there is none.
    pub value: u32,
}

/// Causes, under their codes in mcause (table "mcause values after trap").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExceptionCause {
    /// A jump to an odd halfword without compressed instructions.
    InstructionAddressMisaligned = 0,
    /// A fetch that nothing or an error answered.
    InstructionAccessFault = 1,
    /// An encoding that means nothing, or a CSR that is not there.
    IllegalInstruction = 2,
    /// ebreak.
    Breakpoint = 3,
    /// A load from an address that is not a multiple of its size.
    LoadAddressMisaligned = 4,
    /// A load that nothing or an error answered.
    LoadAccessFault = 5,
    /// A store to an address that is not a multiple of its size.
    StoreAddressMisaligned = 6,
    /// A store that nothing or an error answered.
    StoreAccessFault = 7,
    /// ecall in machine mode.
    MachineEcall = 11,
}

impl ExceptionCause {
    /// The manual's name for it, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            ExceptionCause::InstructionAddressMisaligned => "instruction address misaligned",
            ExceptionCause::InstructionAccessFault => "instruction access fault",
            ExceptionCause::IllegalInstruction => "illegal instruction",
            ExceptionCause::Breakpoint => "breakpoint",
            ExceptionCause::LoadAddressMisaligned => "load address misaligned",
            ExceptionCause::LoadAccessFault => "load access fault",
            ExceptionCause::StoreAddressMisaligned => "store address misaligned",
            ExceptionCause::StoreAccessFault => "store access fault",
            ExceptionCause::MachineEcall => "environment call from machine mode",
        }
    }
}

/// Machine interrupts: their bits in mip and mie, and their codes in mcause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Machine software interrupt.
    Software = 3,
    /// Machine timer interrupt.
    Timer = 7,
    /// Machine external interrupt.
    External = 11,
}

/// Interrupts in the order in which they are taken when several are pending (section 3.1.9).
pub const PRIORITY: [Interrupt; 3] = [Interrupt::External, Interrupt::Software, Interrupt::Timer];

/// The bits of mip and mie of the machine interrupts above.
pub const MACHINE_INTERRUPTS: u32 = 1 << 3 | 1 << 7 | 1 << 11;

/// The bits of mip and mie that the specification leaves to the platform (section 3.1.9): up to sixteen lines of a core's own, taken
/// before all others, the lowest number first.
pub const PLATFORM_INTERRUPTS: u32 = 0xffff_0000;
