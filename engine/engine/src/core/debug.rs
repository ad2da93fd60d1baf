//! A debugger's interface to a core: its registers, its view of memory, and stops.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::Stop;
use crate::bus::Bus;
use crate::state::State;
use crate::time::Ps;

/// The core's architecture, for debuggers: it decides the registers that they expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// RISC-V with 32 bits.
    RiscV32,
    /// Armv7-A.
    ArmA,
    /// Armv7-M.
    ArmM,
    /// MIPS32, little-endian.
    Mips32,
}

/// Groups of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The registers that instructions name, the program counter and the status register.
    General,
    /// Floating point.
    Float,
    /// System registers: CSRs, coprocessor 15, coprocessor 0, special registers.
    System,
}

/// A register as a debugger shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name in the architecture's manual, in lower case.
    pub name: Cow<'static, str>,
    /// 32 or 64.
    pub bits: u32,
    /// Its group.
    pub group: Group,
    /// Its value.
    pub value: u64,
}

impl Register {
    /// A register of 32 bits.
    pub fn word(name: impl Into<Cow<'static, str>>, group: Group, value: u32) -> Register {
        Register { name: name.into(), bits: 32, group, value: value.into() }
    }

    /// A register of 64 bits.
    pub fn double(name: impl Into<Cow<'static, str>>, group: Group, value: u64) -> Register {
        Register { name: name.into(), bits: 64, group, value }
    }
}

/// The position of a core, for a debugger's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Address of the next instruction.
    pub pc: u32,
    /// Stack pointer.
    pub sp: u32,
    /// Instructions that have run.
    pub instructions: u64,
    /// Interrupts that were taken.
    pub interrupts: u64,
    /// The last and the next instruction belong together: the next instruction is in a branch's delay slot, or an
    /// exception is being entered or left.
    pub is_between: bool,
}

/// The breakpoints of a core.
#[derive(Debug, Default, State)]
pub struct Breaks {
    /// They belong to the debugger, and are no state.
    #[state(skip)]
    addresses: BTreeSet<u32>,
    /// Where it stopped last: address, and instructions and exceptions so far. It continues from there.
    passed: Option<(u32, u64, u64)>,
    /// It has stopped at one, and [`Breaks::take_hit`] was not called since.
    #[state(skip)]
    is_hit: bool,
    /// Followed calls have begun or ended since the last stop.
    #[state(skip)]
    calls: bool,
    /// Interrupts that were taken.
    pub interrupts: u64,
}

impl Breaks {
    /// Makes the core stop before instructions at these addresses, and at no others.
    pub fn set(&mut self, addresses: BTreeSet<u32>) {
        self.addresses = addresses;
    }

    /// True if there are breakpoints.
    #[inline]
    pub fn are_set(&self) -> bool {
        !self.addresses.is_empty()
    }

    /// True if the core stops before the instruction at an address.
    #[inline]
    pub fn stop_at(&self, pc: u32) -> bool {
        self.addresses.contains(&pc)
    }

    /// True if a core at `pc`, after this number of instructions and exceptions, stops there now: it does so once.
    pub fn hit(&mut self, pc: u32, instructions: u64, exceptions: u64) -> bool {
        let here = Some((pc, instructions, exceptions));
        let is_hit = self.stop_at(pc) && self.passed != here;
        if is_hit {
            (self.passed, self.is_hit) = (here, true);
        }
        is_hit
    }

    /// True if the core has stopped at a breakpoint since the last call.
    pub fn take_hit(&mut self) -> bool {
        self.calls = false;
        std::mem::take(&mut self.is_hit)
    }

    /// Records whether followed calls have begun or ended.
    pub fn calls_have_changed(&mut self, changed: bool) {
        self.calls |= changed;
    }

    /// True if they have since the last [`Breaks::take_changed_calls`].
    pub fn have_calls_changed(&self) -> bool {
        self.calls
    }

    /// As [`Breaks::have_calls_changed`], and clears the flag.
    #[inline]
    pub fn take_calls(&mut self) -> bool {
        std::mem::take(&mut self.calls)
    }
}

/// A core as a debugger sees it.
pub trait Debugged {
    /// Its architecture.
    fn architecture(&self) -> Architecture;

    /// All registers, the general ones first, in the order in which their architecture's GDB descriptions have them.
    /// Reading one changes nothing.
    fn debug_registers(&self, bus: &Bus) -> Vec<Register>;

    /// Writes a register, by its place in [`Debugged::debug_registers`], without time. False if it can't be written.
    fn set_debug_register(&mut self, bus: &mut Bus, number: usize, value: u64) -> bool;

    /// Its position.
    fn position(&self) -> Position;

    /// The physical address of the core's address `addr`, and the number of bytes from there on that are contiguous as
    /// well; `None` where the core may not read.
    fn physical(&self, bus: &Bus, addr: u32) -> Option<(u32, u32)>;

    /// Copies a word or less of the core's own memory-mapped registers, without side effects. False if `addr` is not
    /// the address of one.
    fn peek_own(&self, addr: u32, into: &mut [u8]) -> bool;

    /// Makes it stop with [`Stop::Break`] before instructions at these addresses.
    fn set_breaks(&mut self, addresses: BTreeSet<u32>);

    /// True if it has stopped at one of them since the last call.
    fn take_break(&mut self) -> bool;

    /// Makes it stop with [`Stop::Break`] when a first call of one of `functions` begins, and when the last one ends.
    fn ask_for_calls(&mut self, functions: &BTreeSet<u32>);

    /// True if a call of this function is active.
    fn is_in_call(&self, function: u32) -> bool;

    /// True if such calls have begun or ended since it last stopped.
    fn has_changed_calls(&self) -> bool;

    /// Runs one instruction, or takes one interrupt, unless its time reaches `until` before.
    fn step_until(&mut self, bus: &mut Bus, until: Ps) -> Stop;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_stops_once_before_each_run_of_an_instruction() {
        let mut breaks = Breaks::default();
        assert!(!breaks.hit(0x100, 7, 0) && !breaks.are_set());
        breaks.set([0x100].into());
        assert!(breaks.hit(0x100, 7, 0));
        assert!(breaks.take_hit() && !breaks.take_hit());
        assert!(!breaks.hit(0x100, 7, 0), "it goes on");
        assert!(!breaks.hit(0x104, 8, 0));
        assert!(breaks.hit(0x100, 9, 0), "it comes round again");
        assert!(breaks.hit(0x100, 9, 1), "it is back from an interrupt");
    }
}
