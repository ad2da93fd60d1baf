//! `ingenic,jz4740-intc`: the JZ4740's interrupt controller (Linux's irq-ingenic.c and binding; U-Boot's asm/jz4740.h
//! for names).
//!
//! Modelled: all registers. There are 32 sources, with the levels that their devices drive. A source that is not masked
//! is pending, and while any source is pending, the only line into the core is active. There are no priorities and no
//! acknowledge: software reads ICPR, and serves the device.
//!
//! After reset all sources are masked.

use crate::model::{Group, Model};
use crate::support::apb;
use crate::support::registers::{AccessKind, Register};
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map.
pub const REGISTERS: &[Register] = &[
    Register::new("ICSR", ICSR, AccessKind::Ro, 0, u32::MAX),
    Register::new("ICMR", ICMR, AccessKind::Rw, ICMR_RESET, u32::MAX),
    Register::new("ICMSR", ICMSR, AccessKind::Wo, 0, u32::MAX),
    Register::new("ICMCR", ICMCR, AccessKind::Wo, 0, u32::MAX),
    Register::new("ICPR", ICPR, AccessKind::Ro, 0, u32::MAX),
];

const ICSR: u32 = 0x00;
const ICMR: u32 = 0x04;
const ICMSR: u32 = 0x08;
const ICMCR: u32 = 0x0c;
const ICPR: u32 = 0x10;
const ICMR_RESET: u32 = u32::MAX;

/// The number of sources.
pub const SOURCES: u32 = u32::BITS;

/// The device.
#[derive(Debug, State)]
pub struct Intc {
    clock: ClockInput,
    #[state(skip)]
    output: Option<IrqLine>,
    /// Levels of the sources.
    sources: u32,
    mask: u32,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["ingenic,jz4740-intc"], 1, from_node).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "clock of its bus");
    Box::new(Intc::new(clock, reader.interrupt(0, "its interrupt")))
}

impl Intc {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>, output: Option<IrqLine>) -> Intc {
        Intc { clock: clock.into(), output, sources: 0, mask: ICMR_RESET }
    }

    const fn pending(&self) -> u32 {
        self.sources & !self.mask
    }

    fn drive(&self, ctx: &mut Ctx) {
        ctx.set_irq(self.output, self.pending() != 0);
    }
}

impl Device for Intc {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let register = match offset & !3 {
            ICSR => self.sources,
            ICMR => self.mask,
            ICPR => self.pending(),
            _ => 0,
        };
        Ok(apb::read(register, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        match apb::written(value, offset, size) {
            (ICMR, value) => self.mask = value,
            (ICMSR, value) => self.mask |= value,
            (ICMCR, value) => self.mask &= !value,
            _ => {}
        }
        self.drive(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        let bit = 1u32.checked_shl(input).unwrap_or(0);
        self.sources = if level { self.sources | bit } else { self.sources & !bit };
        self.drive(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}

impl Polled for Intc {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock.rate);
        poll.state(self.sources);
        poll.state(self.mask);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_plain_node};
    use crate::support::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::time::{Cycles, Hz, Ps};

    const NOW: Ps = Ps(0);
    const IP2: u32 = 1 << 2;

    fn intc() -> Bench {
        let (bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 2])]);
        assert!(faults.is_empty(), "{faults:?}");
        bench
    }

    fn drive(bench: &mut Bench, input: u32, level: bool) {
        bench.bus.set_irq(IrqLine::Device { device: DeviceId(0), input }, level, NOW);
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(REGISTERS, &[], &mut intc());
    }

    #[test]
    fn masks_are_set_and_cleared_bit_by_bit() {
        let mut bench = intc();
        bench.write(NOW, ICMCR, 0x0000_ff00).unwrap();
        assert_eq!(bench.value(NOW, ICMR), 0xffff_00ff);
        bench.write(NOW, ICMSR, 0x0000_1000).unwrap();
        assert_eq!(bench.value(NOW, ICMR), 0xffff_10ff);
        bench.write(NOW, ICMR, 0x1234_5678).unwrap();
        assert_eq!(bench.value(NOW, ICMR), 0x1234_5678);
    }

    #[test]
    fn a_source_reaches_the_core_unless_it_is_masked() {
        let mut bench = intc();
        drive(&mut bench, 23, true);
        let seen = [ICSR, ICPR].map(|register| bench.value(NOW, register));
        assert_eq!((seen, bench.pending()), ([1 << 23, 0], 0));
        bench.write(NOW, ICMCR, 1 << 23).unwrap();
        assert_eq!((bench.value(NOW, ICPR), bench.pending()), (1 << 23, IP2));
        bench.write(NOW, ICMSR, 1 << 23).unwrap();
        assert_eq!((bench.value(NOW, ICPR), bench.pending()), (0, 0));
    }

    #[test]
    fn the_line_follows_all_levels() {
        let mut bench = intc();
        bench.write(NOW, ICMCR, u32::MAX).unwrap();
        drive(&mut bench, 9, true);
        drive(&mut bench, 25, true);
        assert_eq!((bench.value(NOW, ICPR), bench.pending()), (1 << 9 | 1 << 25, IP2));
        drive(&mut bench, 25, false);
        assert_eq!((bench.value(NOW, ICPR), bench.pending()), (1 << 9, IP2));
        drive(&mut bench, 9, false);
        assert_eq!((bench.value(NOW, ICPR), bench.pending()), (0, 0));
    }

    #[test]
    fn polling_it_repeats_until_a_source_changes() {
        let mut bench = intc();
        let look = |bench: &mut Bench, number| {
            let mut poll = Poll::look(Hz::new(300_000_000).unwrap(), Cycles(number));
            assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
            poll
        };
        let before = look(&mut bench, 3 * 10);
        assert!(look(&mut bench, 3 * 20).repeats(&before));
        drive(&mut bench, 1, true);
        assert!(!look(&mut bench, 3 * 30).repeats(&before));
    }
}
