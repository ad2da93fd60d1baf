//! The wires of an I2C bus whose master knows of clocks and bytes, not of pins.

use super::waves::{SignalId, Waves};
use crate::time::Ps;

/// The two wires of a bus, if they are recorded. Edges are told in the order of their times.
#[derive(Debug, Default)]
pub struct I2cSignals {
    named: Option<Named>,
    /// What each side of SDA lets the line be: it is low where either pulls it low.
    master_sda: bool,
    chips_sda: bool,
}

#[derive(Debug)]
struct Named {
    waves: Waves,
    scl: SignalId,
    sda: SignalId,
}

impl I2cSignals {
    /// The signals of a bus with the label `scope`, both pulled up.
    pub fn new(waves: &Waves, scope: &str) -> I2cSignals {
        let [scl, sda] = ["scl", "sda"].map(|name| waves.signal(scope, name, true));
        I2cSignals { named: Some(Named { waves: waves.clone(), scl, sda }), master_sda: true, chips_sda: true }
    }

    /// SCL has this level from `at` on.
    pub fn scl(&self, at: Ps, level: bool) {
        if let Some(named) = self.recorded() {
            named.waves.set(named.scl, at, level);
        }
    }

    /// The master pulls SDA low from `at` on, or lets go of it.
    pub fn master_sda(&mut self, at: Ps, level: bool) {
        self.master_sda = level;
        self.sda(at);
    }

    /// The chips pull SDA low from `at` on, or let go of it.
    pub fn chips_sda(&mut self, at: Ps, level: bool) {
        self.chips_sda = level;
        self.sda(at);
    }

    fn sda(&self, at: Ps) {
        if let Some(named) = self.recorded() {
            named.waves.set(named.sda, at, self.master_sda && self.chips_sda);
        }
    }

    fn recorded(&self) -> Option<&Named> {
        self.named.as_ref().filter(|named| named.waves.is_on())
    }
}
