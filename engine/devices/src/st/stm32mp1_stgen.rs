//! `st,stm32mp1-stgen`: the system timer's generator of STM32MP1, the counter that the generic timers of the A7s show
//! (RM0436, "System timer generator (STGEN)"). The first range is its control interface (STGENC), the second one its
//! read-only interface (STGENR).
//!
//! Modelled: the counter, which counts the node's clock from the start of the run, as TF-A has started it; its two
//! halves; the identification registers. STGENC_CNTFID0 is the clock's frequency.
//!
//! Not modelled: stopping and setting the counter (a note says so: the generic timers count on), STGENC_CNTCR.HLTDBG.

use crate::prelude::*;
use crate::support::axi_lite::edge_in_reach;

registers! {
    /// The control interface (RM0436, "STGENC register map").
    const MAP "STGENC_" {
        CNTCR 0x000 rw reset 1 { EN 0, HLTDBG 1 };
        CNTSR 0x004 ro volatile mask 3;
        CNTCVL 0x008 rw volatile;
        CNTCVU 0x00c rw volatile;
        CNTFID0 0x020 rw;
        PIDR4 0xfd0 ro reset 0x04;
        PIDR0 0xfe0 ro reset 0x01;
        PIDR1 0xfe4 ro reset 0xb1;
        PIDR2 0xfe8 ro reset 0x1b;
        CIDR0 0xff0 ro reset 0x0d;
        CIDR1 0xff4 ro reset 0xf0;
        CIDR2 0xff8 ro reset 0x50;
        CIDR3 0xffc ro reset 0xb1;
    }
}

/// The range of the read-only interface, whose halves of the counter come first; the rest is as in the other.
const READ_ONLY: usize = 1;

/// The generator.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
#[poll(first = Stgen::count_is_polled)]
pub struct Stgen {
    #[state(skip)]
    clock: Hz,
    registers: Registers,
    gate: ClockGate,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["st,stm32mp1-stgen"], 2, from_node).naming(MAP.rows);

/// Builds the generator from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock(0, "the clock that it counts");
    Box::new(Stgen::new(clock, ClockGate::from_node(reader)))
}

impl Stgen {
    /// The generator of a clock, as TF-A leaves it.
    pub fn new(clock: Hz, gate: ClockGate) -> Stgen {
        let mut registers = Registers::new(&MAP);
        registers.set(CNTFID0, u32::try_from(clock.get()).unwrap_or(u32::MAX));
        Stgen { clock, registers, gate }
    }

    fn count(&self, now: Ps) -> u64 {
        self.clock.cycles_until_floor(now).0
    }

    /// A loop that polls the counter waits for its next edge.
    fn count_is_polled(&mut self, poll: &mut Poll) -> bool {
        let count = self.count(poll.now());
        if let Some(due) = edge_in_reach(self.clock, count + 1) {
            poll.until(due);
        }
        poll.state(count as u32);
        true
    }
}

impl Table for Stgen {
    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            CNTSR => self.registers[CNTCR],
            CNTCVL => self.count(ctx.now) as u32,
            CNTCVU => (self.count(ctx.now) >> 32) as u32,
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        let is_stopped = register == CNTCR && old & !new & CNTCR_EN != 0;
        if is_stopped || matches!(register, CNTCVL | CNTCVU) {
            ctx.note("the counter of the system timer was stopped or set, which is not modelled: it counts on");
        }
    }
}

impl Device for Stgen {
    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let is_count = range == READ_ONLY && offset < CNTCVL;
        crate::registers::read(self, if is_count { CNTCVL + offset } else { offset }, size, ctx)
    }

    fn write(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        if range == READ_ONLY {
            return Ok(Reply::written(ctx.now));
        }
        crate::registers::write(self, offset, size, value, ctx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk::{self, Port as _};
    use engine::bus::device::DeviceId;

    fn stgen() -> Bench {
        Bench::new(Stgen::new(Hz::new(24_000_000).unwrap(), ClockGate::NONE))
    }

    #[test]
    fn registers_are_those_of_the_manual() {
        walk::device_keeps_its_map(&MAP, &["STGENC_CNTCR", "STGENC_CNTFID0"], &mut stgen());
        let mut bench = stgen();
        assert_eq!((bench.get(CNTCR), bench.get(CNTSR), bench.get(CNTFID0)), (1, 1, 24_000_000));
    }

    #[test]
    fn both_interfaces_show_the_counter() {
        let mut bench = stgen();
        // 2^32 edges at 24 MHz are 178.957 s.
        let at = Ps::from_us(200_000_000);
        assert_eq!((bench.value(at, CNTCVU), bench.value(at, CNTCVL)), (1, (4_800_000_000_u64 - (1 << 32)) as u32));
        let read = |device: &mut dyn Device, ctx: &mut Ctx| device.read(1, 4, AccessSize::Word, ctx).unwrap().value;
        assert_eq!(bench.bus.with_device(DeviceId(0), at, read), 1);
        bench.put(CNTCR, 0);
        assert_eq!(bench.bus.notes().len(), 1);
    }
}
