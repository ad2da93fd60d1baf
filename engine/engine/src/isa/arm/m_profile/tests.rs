//! The system side alone, with a plain memory instead of a core.

use super::entry::{Activated, Floating};
use super::exceptions::{During, number};
use super::*;
use crate::bus::device::AccessSize;
use crate::inputs::Inputs;
use crate::isa::arm::op::{Code, Op};
use crate::isa::arm::registers::{COUNT, LR, SP, Z_SOURCE};
use crate::isa::arm::system::Effect;
use crate::time::Ps;
use std::collections::BTreeMap;

mod exceptions;
mod faults;
mod floating;
mod mpu;
mod registers;

const SCS: u32 = 0xe000_e000;
const STACK: u32 = 0x2000_1000;
const CODE: u32 = 0x0800_0100;

/// The given lines high, all others low.
fn inputs(up: &[u32]) -> Inputs {
    let mut inputs = Inputs::default();
    up.iter().for_each(|line| {
        inputs.set(*line, true, Ps(1));
    });
    inputs
}

/// The state of a core outside of the system side.
struct Rig {
    system: System,
    x: X,
    s: [u32; 16],
    memory: BTreeMap<u32, u32>,
    pc: u32,
}

fn rig() -> Rig {
    let mut x = [0; COUNT];
    x[usize::from(SP)] = STACK;
    x[usize::from(Z_SOURCE)] = 1;
    let system = System::new(SystemConfig::cortex_m4(true, 150, 4, 0));
    Rig { system, x, s: [0; 16], memory: BTreeMap::new(), pc: CODE }
}

impl Rig {
    fn sp(&self) -> u32 {
        self.x[usize::from(SP)]
    }

    fn lr(&self) -> u32 {
        self.x[usize::from(LR)]
    }

    fn read(&self, offset: u32) -> u32 {
        self.system.load_own(SCS + offset, AccessSize::Word, 0).unwrap()
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.system.store_own(SCS + offset, AccessSize::Word, value, 0).unwrap();
    }

    /// Enables an interrupt with a priority.
    fn enable(&mut self, interrupt: u32, priority: u8) {
        self.write(0x100 + interrupt / 32 * 4, 1 << (interrupt % 32));
        let at = SCS + 0x400 + interrupt;
        self.system.store_own(at, AccessSize::Byte, u32::from(priority), 0).unwrap();
    }

    /// Raises the lines of the given interrupts; lowers all others.
    fn lines(&mut self, up: &[u32]) {
        let mut inputs = [0; 8];
        for input in up {
            inputs[(input / 32) as usize] |= 1 << (input % 32);
        }
        self.system.set_inputs(&inputs);
    }

    /// Stores the frame, and enters the exception that is pending then.
    fn take(&mut self) -> u8 {
        self.take_after(|_| {})
    }

    /// As `take`, with `meanwhile` called while the frame is stored.
    fn take_after(&mut self, meanwhile: impl FnOnce(&mut Rig)) -> u8 {
        assert!(self.system.due().is_some());
        let frame = self.system.begin_entry(&mut self.x, self.pc);
        for (at, word) in frame.words.into_iter().enumerate() {
            self.memory.insert(frame.address + 4 * at as u32, word);
        }
        if frame.floating == Floating::Stored {
            self.store_floating(frame.floating_address());
        }
        meanwhile(self);
        self.activate(frame.link)
    }

    fn activate(&mut self, link: u32) -> u8 {
        let Activated { number, vector } = self.system.activate(&mut self.x, link).unwrap();
        assert_eq!(vector, self.system.vectors() + 4 * u32::from(number));
        self.pc = 0x0800_1000 + 0x100 * u32::from(number);
        number
    }

    fn raise(&mut self, exception: Exception) -> Result<u8, Lockup> {
        self.pc = self.system.raise(exception, self.pc)?;
        Ok(self.take())
    }

    /// Returns from a handler. `Some` if another exception is entered instead.
    fn leave(&mut self) -> Option<u8> {
        let link = self.lr();
        assert!(self.system.is_return(link));
        match self.system.begin_return(&self.x, link) {
            Ok(Return::Chain(link)) => Some(self.activate(link)),
            Ok(Return::Unstack(frame)) => {
                let words = std::array::from_fn(|at| self.memory[&(frame.address + 4 * at as u32)]);
                if frame.floating {
                    self.load_floating(frame.floating_address());
                }
                match self.system.finish_return(&mut self.x, frame, &words) {
                    Ok(pc) => {
                        self.pc = pc;
                        None
                    }
                    Err(exception) => Some(self.chain_fault(exception, link)),
                }
            }
            Err(exception) => Some(self.chain_fault(exception, link)),
        }
    }

    fn chain_fault(&mut self, exception: Exception, link: u32) -> u8 {
        self.system.raise(exception, self.pc).unwrap();
        self.activate(link)
    }

    fn store_floating(&mut self, address: u32) {
        for (at, word) in self.s.into_iter().chain([self.system.fpscr()]).enumerate() {
            self.memory.insert(address + 4 * at as u32, word);
        }
    }

    fn load_floating(&mut self, address: u32) {
        self.s = std::array::from_fn(|at| self.memory[&(address + 4 * at as u32)]);
        self.system.set_fpscr(self.memory[&(address + 64)]);
    }

    fn execute(&mut self, op: Op) -> Result<Effect, Exception> {
        self.system.execute(&mut self.x, &op)
    }

    /// msr of a value.
    fn set_special(&mut self, number: u32, value: u32) {
        self.x[22] = value;
        self.execute(Op { code: Code::Msr, rd: 0, rn: 0, rm: 22, ra: 12, imm: number }).unwrap();
    }

    fn special(&mut self, number: u32) -> u32 {
        self.execute(Op { code: Code::Mrs, rd: 22, rn: 0, rm: 0, ra: 0, imm: number }).unwrap();
        self.x[22]
    }

    /// cps: 1 << 9 to set, 1 << 10 to clear; 1 << 7 PRIMASK, 1 << 6 FAULTMASK.
    fn cps(&mut self, what: u32) {
        self.execute(Op { code: Code::Cps, rd: 0, rn: 0, rm: 0, ra: 0, imm: what }).unwrap();
    }
}

/// A load at an address where the bus answers with an error.
fn bus_error(va: u32) -> Exception {
    Exception::DataAbort(Abort { va, status: FaultStatus::External, write: false, domain: 0, bus: None })
}
