//! The interface that an instruction set and its core implement to be tested.

use super::program::{Jump, Step, assemble};
use crate::whole::support::rig::assert_sums;
use crate::{Machine, Outcome, RunReport};
use engine::time::Ps;
use std::collections::BTreeMap;

/// Addresses of handlers in local memory, and of a character to print; both physical.
pub const HANDLER: u32 = 0x2000;
pub const TEXT: u32 = 0x4000;

/// A core in a small machine: local memory at 0, RAM that its caches keep, RAM behind the interconnect, the device
/// [`Late`](crate::whole::support::late).
pub trait Target {
    /// Start addresses of programs in the core's address space: local memory, cached RAM, slow RAM. Bit 0 is clear.
    const CODE: [u32; 3];
    /// Data in cached RAM, half-way up.
    const DATA: u32;
    const DEVICE: u32;
    /// An unmapped address, as in messages and as in programs.
    const NOWHERE: (u32, u32);
    /// Cycles of an addition.
    const ADD_CYCLES: u64 = 1;
    /// Decoded code is dropped when something is stored next to it.
    const DROPS_CODE: bool = true;
    /// The core compiles code for the host.
    const COMPILES: bool = true;
    const COMPILED: u32 = Self::CODE[1];
    /// Prints by semihosting.
    const PRINTS: bool = true;
    /// How often an interrupt is taken if the handler lowers its line.
    const TAKEN: u32 = 1;
    /// Caches are off until [`Step::Begin`]; programs also run without it.
    const CACHES_ARE_OFF: bool = false;
    /// Vectors with room for a jump to the handler.
    const VECTORS: &[u32] = &[];
    /// Instructions of its own, which may be anywhere and do not change a program's registers.
    const OWN: &[&[u16]];

    /// The machine with a core that begins at an address.
    fn machine(at: u32) -> Machine;
    /// A step's bytes at an address; branches lead to `to`.
    fn encode(step: Step, at: u32, to: u32) -> Vec<u8>;
    /// The index of a program's register in [`Machine::registers`].
    fn register(register: u32) -> usize;
    /// The address on the bus.
    fn physical(addr: u32) -> u32 {
        addr
    }
    /// The core's name for an address in local memory.
    fn local(addr: u32) -> u32 {
        addr
    }
}

/// A program with its machine, and the addresses of its labels.
pub struct Prepared {
    pub machine: Machine,
    pub labels: BTreeMap<u32, u32>,
}

/// The machine with a program.
pub fn prepared<T: Target>(at: u32, program: &[Step]) -> Prepared {
    let mut machine = T::machine(at);
    let (bytes, labels) = assemble::<T>(at, program);
    assert!(machine.bus().poke(T::physical(at), &bytes));
    Prepared { machine, labels }
}

pub fn machine<T: Target>(at: u32, program: &[Step]) -> Machine {
    prepared::<T>(at, program).machine
}

/// The machine with a program, and a handler for any exception.
pub fn handled<T: Target>(at: u32, program: &[Step], handler: &[Step]) -> Machine {
    let mut machine = machine::<T>(at, program);
    let to = T::local(HANDLER);
    assert!(machine.bus().poke(HANDLER, &assemble::<T>(to, handler).0));
    for vector in T::VECTORS {
        assert!(machine.bus().poke(*vector, &T::encode(Jump(0), T::local(*vector), to)));
    }
    machine
}

/// Runs to the end, for at most 20 ms, and checks the sums.
pub fn run(machine: &mut Machine) -> RunReport {
    let report = machine.run(Ps::from_us(20_000), |_| true);
    assert_sums(&report);
    report
}

/// Runs to the exit.
pub fn run_to_exit(machine: &mut Machine) -> RunReport {
    let report = run(machine);
    assert_eq!(report.outcome, Outcome::Exit(0));
    report
}

/// Runs to the exit, instruction by instruction.
pub fn step_to_exit(machine: &mut Machine) -> RunReport {
    assert_eq!(machine.trace(1_000_000, |_| {}), Some(Outcome::Exit(0)));
    machine.report(Outcome::Exit(0))
}

/// One of a program's registers.
pub fn register<T: Target>(machine: &Machine, register: u32) -> u32 {
    machine.registers()[T::register(register)]
}

/// The message of the fault with which the run ended.
pub fn fault_text(report: &RunReport) -> &str {
    let Outcome::Fault(text) = &report.outcome else { panic!("{:?}", report.outcome) };
    text
}
