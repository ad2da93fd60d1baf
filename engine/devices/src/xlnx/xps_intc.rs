//! `xlnx,xps-intc-1.00.a`: AXI Interrupt Controller v4.1 (PG099): up to 32 inputs, bit 0 with the highest priority, one
//! output.
//!
//! Modelled: standard interrupt mode, inputs level or rising-edge sensitive by `xlnx,kind-of-intr`, software interrupts
//! through ISR until MER.HIE is set (after that a write to ISR has no effect). An input that is active while HIE is 0
//! is not captured; a level input is captured when HIE is set, and again after its acknowledge if it is still active.
//!
//! Not modelled: fast mode (IMR, IVAR) and nested interrupts (ILR), which a core built without them does not have:
//! their registers read 0 and ignore writes.

use crate::prelude::*;
use crate::support::axi_lite::AxiLitePort;
use engine::dt::reader::ANY;

registers! {
    /// The register map (PG099, Register Space).
    const MAP "" {
        ISR 0x00 rw locked_by MER_HIE in MER;
        IPR 0x04 ro volatile;
        IER 0x08 rw;
        IAR 0x0c clear ISR;
        SIE 0x10 set IER;
        CIE 0x14 clear IER;
        IVR 0x18 ro volatile reset u32::MAX;
        MER 0x1c rw {
            /// Master interrupt enable: the output.
            ME 0,
            /// Hardware interrupt enable: the inputs. Once set it stays set.
            HIE 1,
        };
    }
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.port))]
pub struct Intc {
    #[state(skip)]
    #[poll(phase)]
    port: AxiLitePort,
    /// Bits of the inputs that exist.
    #[state(skip)]
    inputs: u32,
    /// Bits of the inputs that are edge sensitive; the others are level sensitive.
    #[state(skip)]
    edge_inputs: u32,
    output: Option<IrqLine>,
    /// Levels of the inputs.
    levels: u32,
    registers: Registers,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["xlnx,xps-intc-1.00.a"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let port = AxiLitePort::from_node(reader);
    let count = reader.u32("xlnx,num-intr-inputs", 1..=32, "this controller has 1 to 32 inputs");
    let edge_inputs = reader.u32("xlnx,kind-of-intr", ANY, "one bit an input: 1 is edge, 0 is level sensitive");
    let inputs = u32::MAX >> (32 - count.clamp(1, 32));
    Box::new(Intc::new(port, inputs, edge_inputs, reader.interrupt(0, "its interrupt")))
}

impl Intc {
    /// The device after reset.
    pub fn new(port: AxiLitePort, inputs: u32, edge_inputs: u32, output: Option<IrqLine>) -> Intc {
        Intc { port, inputs, edge_inputs, output, levels: 0, registers: Registers::new(&MAP) }
    }

    fn pending(&self) -> u32 {
        self.registers[ISR] & self.registers[IER]
    }

    /// Sets bits of ISR if the inputs are enabled.
    fn capture(&mut self, bits: u32) {
        let is_enabled = self.registers.has(MER, MER_HIE);
        self.registers.put(ISR, if is_enabled { bits } else { 0 }, true);
    }
}

impl Table for Intc {
    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        match register {
            IPR => self.pending(),
            IVR if self.pending() != 0 => self.pending().trailing_zeros(),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, _: &mut Ctx) {
        match register {
            ISR | IER => self.registers.set(register, new & self.inputs),
            MER => self.registers.put(MER, old & MER_HIE, true),
            _ => {}
        }
    }

    /// Captures active level inputs and drives the output.
    fn update(&mut self, ctx: &mut Ctx) {
        self.capture(self.levels & !self.edge_inputs);
        ctx.set_irq(self.output, self.registers.has(MER, MER_ME) && self.pending() != 0);
    }
}

impl Device for Intc {
    by_table!();

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        let bit = 1u32.checked_shl(input).unwrap_or(0) & self.inputs;
        let rising = if level { bit & !self.levels } else { 0 };
        self.levels = if level { self.levels | bit } else { self.levels & !bit };
        self.capture(rising & self.edge_inputs);
        self.update(ctx);
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::polled::{Access, Loop};
    use crate::bench::{Bench, CPU_INTC, read_node};
    use crate::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::time::{Cycles, Hz, Ps};
    use proptest::prelude::*;

    const MEI: u32 = 1 << 11;
    const NOW: Ps = Ps(0);

    fn port() -> AxiLitePort {
        AxiLitePort { clock: Hz::new(100_000_000).unwrap(), read_cycles: Cycles(4), write_cycles: Cycles(3) }
    }

    /// Inputs 1 and 2 are edge sensitive.
    fn with(inputs: u32) -> Bench {
        Bench::new(Intc::new(port(), inputs, 0b0110, Some(IrqLine::Core { core: 0, bit: 11 })))
    }

    /// Inputs 0 to 3.
    fn intc() -> Bench {
        with(0b1111)
    }

    fn enabled(inputs: u32) -> Bench {
        let mut bench = intc();
        bench.write(NOW, IER, inputs).unwrap();
        bench.write(NOW, MER, MER_ME | MER_HIE).unwrap();
        bench
    }

    fn drive(bench: &mut Bench, input: u32, level: bool) {
        bench.bus.set_irq(IrqLine::Device { device: DeviceId(0), input }, level, NOW);
    }

    #[test]
    fn the_device_keeps_its_table() {
        // A write of ones to MER disables writes of ISR.
        walk::device_keeps_its_table(MAP.rows, &["MER"], &mut with(u32::MAX));
    }

    #[test]
    fn enables_are_set_and_cleared_bit_by_bit_where_inputs_exist() {
        let mut bench = intc();
        bench.write(NOW, IER, u32::MAX).unwrap();
        assert_eq!(bench.read(NOW, IER), Ok((0b1111, Ps(40_000))));
        assert_eq!(bench.write(NOW, CIE, 0b0101), Ok(Ps(30_000)));
        bench.write(NOW, SIE, 0b0001).unwrap();
        assert_eq!(bench.value(NOW, IER), 0b1011);
    }

    #[test]
    fn a_level_input_stays_pending_until_its_source_is_served() {
        let mut bench = enabled(0b0001);
        drive(&mut bench, 0, true);
        assert_eq!((bench.pending(), bench.value(NOW, IPR), bench.value(NOW, IVR)), (MEI, 1, 0));
        bench.write(NOW, IAR, 1).unwrap();
        assert_eq!(bench.pending(), MEI);
        drive(&mut bench, 0, false);
        assert_eq!(bench.pending(), MEI);
        bench.write(NOW, IAR, 1).unwrap();
        assert_eq!((bench.pending(), bench.value(NOW, IVR)), (0, u32::MAX));
    }

    #[test]
    fn an_edge_input_is_captured_once() {
        let mut bench = enabled(0b0010);
        drive(&mut bench, 1, true);
        bench.write(NOW, IAR, 0b0010).unwrap();
        assert_eq!(bench.pending(), 0);
        drive(&mut bench, 1, false);
        drive(&mut bench, 1, true);
        drive(&mut bench, 1, false);
        assert_eq!((bench.pending(), bench.value(NOW, ISR)), (MEI, 0b0010));
    }

    #[test]
    fn the_lowest_pending_input_has_priority() {
        let mut bench = enabled(0b1100);
        for input in [3, 2, 0] {
            drive(&mut bench, input, true);
        }
        assert_eq!((bench.value(NOW, ISR), bench.value(NOW, IPR), bench.value(NOW, IVR)), (0b1101, 0b1100, 2));
    }

    #[test]
    fn nothing_is_captured_before_hardware_interrupts_are_enabled() {
        let mut bench = intc();
        bench.write(NOW, IER, 0b1111).unwrap();
        bench.write(NOW, MER, MER_ME).unwrap();
        drive(&mut bench, 1, true);
        drive(&mut bench, 3, true);
        assert_eq!((bench.pending(), bench.value(NOW, ISR)), (0, 0));
        // The edge is lost, the level is captured.
        bench.write(NOW, MER, MER_ME | MER_HIE).unwrap();
        assert_eq!((bench.pending(), bench.value(NOW, ISR)), (MEI, 0b1000));
    }

    #[test]
    fn software_sets_isr_only_until_hie() {
        let mut bench = intc();
        bench.write(NOW, IER, 0b1111).unwrap();
        bench.write(NOW, ISR, 0b0100).unwrap();
        assert_eq!((bench.pending(), bench.value(NOW, IPR)), (0, 0b0100));
        bench.write(NOW, MER, MER_ME | MER_HIE).unwrap();
        assert_eq!(bench.pending(), MEI);
        bench.write(NOW, ISR, 0b1000).unwrap();
        assert_eq!(bench.value(NOW, ISR), 0b0100);
    }

    #[test]
    fn hie_stays_set_and_me_gates_the_output() {
        let mut bench = enabled(0b0001);
        drive(&mut bench, 0, true);
        bench.write(NOW, MER, 0).unwrap();
        assert_eq!((bench.pending(), bench.value(NOW, MER)), (0, MER_HIE));
    }

    #[test]
    fn a_loop_that_reads_is_skipped() {
        let clock = port().clock;
        let reads = [Access::Read(ISR), Access::Read(IPR), Access::Read(IVR)];
        let raised = || {
            let mut bench = enabled(0b0011);
            drive(&mut bench, 0, true);
            bench
        };
        assert!(Loop::even(clock, 9, &reads).assert_skipped_as_run(raised, 5, 1000));
        // Acknowledged, a level input is pending again; software may set and clear an enable.
        let (acknowledge, enable, disable) =
            (Access::Write(IAR, 1), Access::Write(SIE, 0b1000), Access::Write(CIE, 0b1000));
        let served = [reads[0], acknowledge, reads[1], enable, reads[1], disable];
        assert!(Loop::even(clock, 9, &served).assert_skipped_as_run(raised, 5, 1000));
        let half = Hz::new(200_000_000).unwrap();
        assert!(Loop::even(half, 9, &reads[..1]).assert_skipped_as_run(raised, 5, 1000));
    }

    proptest! {
        #[test]
        fn skipped_iterations_are_as_run(
            distance in 1_u64..60,
            accesses in prop::collection::vec(
                (prop::sample::select(vec![ISR, IPR, IER, IAR, SIE, CIE, IVR]), 0_u32..64),
                1..6,
            ),
            start in 0_u64..100,
            count in 1_u64..30,
        ) {
            let access = |(register, value)| match value {
                0..16 => Access::Write(register, value),
                _ => Access::Read(register),
            };
            let accesses: Vec<Access> = accesses.into_iter().map(access).collect();
            let polled = Loop::even(port().clock, distance, &accesses);
            polled.assert_skipped_as_run(|| enabled(0b0011), start, count);
        }
    }

    #[test]
    fn inputs_that_do_not_exist_are_ignored() {
        let mut bench = enabled(u32::MAX);
        for input in [4, 31, 32, 1000] {
            drive(&mut bench, input, true);
        }
        assert_eq!((bench.pending(), bench.value(NOW, ISR)), (0, 0));
    }

    #[test]
    fn a_node_says_which_inputs_there_are() {
        let lines = [CPU_INTC, 11];
        let built = [("xlnx,num-intr-inputs", &[2][..]), ("xlnx,kind-of-intr", &[0]), ("interrupts-extended", &lines)];
        let (mut bench, faults) = read_node(from_node, &built);
        assert!(faults.is_empty(), "{faults:?}");
        bench.write(NOW, IER, u32::MAX).unwrap();
        assert_eq!(bench.value(NOW, IER), 0b11);
        bench.write(NOW, MER, MER_ME | MER_HIE).unwrap();
        drive(&mut bench, 1, true);
        assert_eq!(bench.pending(), MEI);
        let (_, faults) = read_node(from_node, &[("xlnx,num-intr-inputs", &[33]), ("xlnx,kind-of-intr", &[0])]);
        assert_eq!(faults, ["xlnx,num-intr-inputs is 33; this controller has 1 to 32 inputs"]);
    }
}
