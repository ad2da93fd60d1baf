//! What an instruction set and a core of it supply to be tested.

use super::program::{Jump, Step, assemble};
use crate::whole::support::rig::assert_sums;
use cyclescope_engine::machine::{Machine, Outcome, RunReport};
use cyclescope_engine::time::Ps;
use std::collections::BTreeMap;

/// Where handlers are, in local memory; where a character to print is; both as physical addresses.
pub const HANDLER: u32 = 0x2000;
pub const TEXT: u32 = 0x4000;

/// A core in a small machine: local memory at 0, RAM that its caches keep, RAM behind the interconnect, the device
/// [`Late`](crate::whole::support::late).
pub trait Target {
    /// Where programs begin, as the core names it: local memory, cached RAM, slow RAM. Bit 0 of none is set.
    const CODE: [u32; 3];
    /// Data in cached RAM, half-way up.
    const DATA: u32;
    const DEVICE: u32;
    /// An address with nothing there, as messages have it and as programs do.
    const NOWHERE: (u32, u32);
    /// Cycles of an addition.
    const ADD_CYCLES: u64 = 1;
    /// What was decoded is dropped when something is stored beside it.
    const DROPS_CODE: bool = true;
    /// Has code compiled for the host; and one of the places of code where it does.
    const COMPILES: bool = true;
    const COMPILED: u32 = Self::CODE[1];
    /// Prints by semihosting.
    const PRINTS: bool = true;
    /// How often one interrupt is taken whose line the handler lowers.
    const TAKEN: u32 = 1;
    /// Caches are off until [`Step::Begin`], without which programs run as well.
    const CACHES_ARE_OFF: bool = false;
    /// Vectors with room for a jump to the handler.
    const VECTORS: &[u32] = &[];
    /// Instructions of its own, which may stand anywhere and change none of a program's registers.
    const OWN: &[&[u16]];

    /// The machine with a core that begins at an address.
    fn machine(at: u32) -> Machine;
    /// A step's bytes at an address; branches lead to `to`.
    fn encode(step: Step, at: u32, to: u32) -> Vec<u8>;
    /// Where one of a program's registers is in [`Machine::registers`].
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

/// A program with its machine, and where its labels are.
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

/// The machine with a program, and a handler of whatever happens.
pub fn handled<T: Target>(at: u32, program: &[Step], handler: &[Step]) -> Machine {
    let mut machine = machine::<T>(at, program);
    let to = T::local(HANDLER);
    assert!(machine.bus().poke(HANDLER, &assemble::<T>(to, handler).0));
    for vector in T::VECTORS {
        assert!(machine.bus().poke(*vector, &T::encode(Jump(0), T::local(*vector), to)));
    }
    machine
}

/// Runs to the end, for 20 ms at the most, and looks at the sums.
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

/// What the run ended with, which is a fault.
pub fn fault_text(report: &RunReport) -> &str {
    let Outcome::Fault(text) = &report.outcome else { panic!("{:?}", report.outcome) };
    text
}
