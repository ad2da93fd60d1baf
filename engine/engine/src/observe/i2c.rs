//! The wires of an I2C bus whose master is modelled by clocks and bytes, not by pins.

use super::waves::{SignalId, Waves};
use crate::activity::{Activity, Kind, Scope};
use crate::state::State;
use crate::time::Ps;

/// A frame on the bus.
pub static BUS_BUSY: Activity = Activity::new(Kind::Wire, "bus busy", "from START to STOP");
/// A frame on the bus, with its bytes.
pub static FRAME: Activity = Activity::new(Kind::Frame, "frame", "from START to STOP; the bytes, addresses among them");
/// The activities of all I2C masters.
pub const I2C: &[&Activity] = &[&BUS_BUSY, &FRAME];

/// The two wires of a bus, if they are recorded. Edges are recorded in the order of their times.
#[derive(Debug, Default, State)]
pub struct I2cSignals {
    #[state(skip)]
    named: Option<Named>,
    /// The level that each side of SDA allows: the line is low where either pulls it low.
    master_sda: bool,
    chips_sda: bool,
    scope: Scope,
}

#[derive(Debug)]
struct Named {
    waves: Waves,
    scl: SignalId,
    sda: SignalId,
}

impl I2cSignals {
    /// The signals of a bus with the label `scope`, both pulled up. `activities` records what the master does.
    pub fn new(waves: &Waves, activities: Scope, scope: &str) -> I2cSignals {
        let [scl, sda] = ["scl", "sda"].map(|name| waves.signal(scope, name, true));
        let named = Some(Named { waves: waves.clone(), scl, sda });
        I2cSignals { named, master_sda: true, chips_sda: true, scope: activities }
    }

    /// A frame begins with a START, or ends with a STOP.
    #[inline]
    pub fn frame(&self, begins: bool, at: Ps) {
        self.scope.level(&BUS_BUSY, begins, at);
        self.scope.level(&FRAME, begins, at);
    }

    /// A byte has passed: from the master (also an address), or from a chip.
    #[inline]
    pub fn byte(&self, byte: u8, receives: bool) {
        let (sent, received) = (Some(byte.into()), Some(byte.into()));
        self.scope.bits(&FRAME, 8, sent.filter(|_| !receives), received.filter(|_| receives));
    }

    /// SCL has this level from `at` on.
    #[inline]
    pub fn scl(&self, at: Ps, level: bool) {
        if let Some(named) = self.recorded() {
            named.waves.set(named.scl, at, level);
        }
    }

    /// The master pulls SDA low from `at` on, or releases it.
    #[inline]
    pub fn master_sda(&mut self, at: Ps, level: bool) {
        self.master_sda = level;
        self.sda(at);
    }

    /// The chips pull SDA low from `at` on, or release it.
    #[inline]
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
