//! `st,stm32-dbgmcu`: the debug support of an STM32 (RM0090, "MCU debug component (DBGMCU)"; RM0383 and RM0432, the
//! same): the identity of the chip, and the clocks that stop when a debugger halts the core.
//!
//! Modelled: DBGMCU_IDCODE, with the board's value; DBGMCU_CR.DBG_SLEEP, which keeps the core's clock, and so
//! DWT_CYCCNT, running during sleep. The other registers and bits only keep written values: a debugger that halts the
//! core stops simulated time, and Stop and Standby are not modelled.

use crate::model::{Group, Model};
use crate::support::apb;
use engine::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::polling::Poll;
use engine::state::State;

/// DBGMCU_IDCODE; DBGMCU_CR and at most three freeze registers follow.
const IDCODE: u32 = 0x0;
const CR: usize = 1;
/// The core's HCLK keeps running in Sleep mode (RM0090, 38.16.1).
const CR_DBG_SLEEP: u32 = 1 << 0;
const REGISTERS: usize = 5;

/// The device.
#[derive(Debug, State)]
pub struct Dbgmcu {
    words: [u32; REGISTERS],
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32-dbgmcu"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let code =
        reader.u32("cyclescope,idcode", 0..=u32::MAX, "DBGMCU_IDCODE: the revision above bit 16, the device below");
    Box::new(Dbgmcu::new(code))
}

impl Dbgmcu {
    /// The device of a chip with this code.
    pub const fn new(idcode: u32) -> Dbgmcu {
        Dbgmcu { words: [idcode, 0, 0, 0, 0], writes: 0 }
    }
}

impl Device for Dbgmcu {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let word = self.words.get(offset as usize / 4).copied().unwrap_or(0);
        Ok(apb::read(word, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.writes += 1;
        if offset & !3 != IDCODE
            && let Some(word) = self.words.get_mut(offset as usize / 4)
        {
            *word = size.merged(*word, offset, value);
        }
        ctx.bus.clocked_asleep = self.words[CR] & CR_DBG_SLEEP != 0;
        Ok(Reply::written(ctx.now))
    }

    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.writes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::support::registers::walk::Port;

    #[test]
    fn the_code_stays_and_the_rest_is_kept() {
        let mut bench = Bench::new(Dbgmcu::new(0x1007_6413));
        for register in [0, 4, 8, 0x10, 0x14] {
            bench.put(register, 7);
        }
        assert_eq!([0, 4, 8, 0x10, 0x14].map(|register| bench.get(register)), [0x1007_6413, 7, 7, 7, 0]);
        assert!(bench.bus.clocked_asleep);
        bench.put(4, 6);
        assert!(!bench.bus.clocked_asleep);
    }
}
