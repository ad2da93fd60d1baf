//! `ingenic,jz4740-intc`: the JZ4740's interrupt controller (Linux's irq-ingenic.c and binding; U-Boot's asm/jz4740.h
//! for names).
//!
//! Modelled: all registers. There are 32 sources, with the levels that their devices drive. A source that is not masked
//! is pending, and while any source is pending, the only line into the core is active. There are no priorities and no
//! acknowledge: software reads ICPR, and serves the device.
//!
//! After reset all sources are masked.

use crate::prelude::*;

registers! {
    /// The register map.
    const MAP "" {
        /// Levels of the sources.
        ICSR 0x00 ro;
        ICMR 0x04 rw reset u32::MAX;
        ICMSR 0x08 set ICMR;
        ICMCR 0x0c clear ICMR;
        ICPR 0x10 ro volatile;
    }
}

/// The number of sources.
pub const SOURCES: u32 = u32::BITS;

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
pub struct Intc {
    #[poll(phase)]
    clock: ClockInput,
    output: Option<IrqLine>,
    registers: Registers,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["ingenic,jz4740-intc"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "clock of its bus");
    Box::new(Intc::new(clock, reader.interrupt(0, "its interrupt")))
}

impl Intc {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>, output: Option<IrqLine>) -> Intc {
        Intc { clock: clock.into(), output, registers: Registers::new(&MAP) }
    }

    fn pending(&self) -> u32 {
        self.registers[ICSR] & !self.registers[ICMR]
    }
}

impl Table for Intc {
    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        if register == ICPR { self.pending() } else { held }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        ctx.set_irq(self.output, self.pending() != 0);
    }
}

impl Device for Intc {
    by_table!();

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        self.registers.put(ICSR, 1u32.checked_shl(input).unwrap_or(0), level);
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::polling::Poll;
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
        walk::device_keeps_its_table(MAP.rows, &[], &mut intc());
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
