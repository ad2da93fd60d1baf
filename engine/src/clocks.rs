//! Clocks that firmware sets while it runs: what clock controllers provide, and devices look up.
//!
//! Most clocks of a board are fixed, and a device reads its own from its node. A clock controller tells here of those
//! that it switches or divides. What no controller has told of runs, at the board's rate.

use std::collections::BTreeMap;

use crate::time::Hz;

/// The rates and gates that clock controllers have set.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    rates: BTreeMap<&'static str, Hz>,
    gates: BTreeMap<u32, u32>,
}

impl Clocks {
    /// A clock, by the name that its consumer gives it, has this rate from now on.
    pub fn set_rate(&mut self, name: &'static str, rate: Hz) {
        self.rates.insert(name, rate);
    }

    /// The rate of a clock, where a controller sets it.
    pub fn rate(&self, name: &str) -> Option<Hz> {
        self.rates.get(name).copied()
    }

    /// The gates of a register, by its offset in the clock controller: bit n lets clock n of that register run.
    pub fn set_gates(&mut self, register: u32, open: u32) {
        self.gates.insert(register, open);
    }

    /// True unless a controller keeps the clock from running.
    pub fn is_running(&self, register: u32, bit: u32) -> bool {
        self.gates.get(&register).is_none_or(|open| open >> bit & 1 != 0)
    }
}
