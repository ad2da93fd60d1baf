//! `st,stm32-exti`: the extended interrupts and events controller of STM32F4 (RM0090, "External interrupt/event
//! controller (EXTI)"), with up to 32 lines, and of STM32L4+ (RM0432), with up to 64 in two banks.
//!
//! Modelled: all registers; input lines (pins by way of SYSCFG, and other peripherals: a line's number is an input of
//! this device), their edge selection, software's bits, pending bits, and the interrupts of lines that are not masked,
//! which the node's `line-ranges` assign to controllers. A line without an edge detector (a direct line) only wakes up,
//! and has its own interrupt elsewhere. A line whose event is not masked (EXTI_EMR) sends an event to the core, which
//! ends its wfe: at the selected edges, by software, and at the rising edge of a direct line. The core is the one that
//! gets the interrupts.

use crate::model::{Group, Model};
use crate::support::registers::{AccessKind, Register};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::fault::FaultKind;
use engine::dt::reader::NodeReader;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map of a bank with 32 lines; the second bank is at 0x20.
pub const REGISTERS: &[Register] = &[
    Register::new("EXTI_IMR", IMR, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_EMR", EMR, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_RTSR", RTSR, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_FTSR", FTSR, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_SWIER", SWIER, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_PR", PR, AccessKind::W1c, 0, u32::MAX),
];

const IMR: u32 = 0x00;
const EMR: u32 = 0x04;
const RTSR: u32 = 0x08;
const FTSR: u32 = 0x0c;
const SWIER: u32 = 0x10;
const PR: u32 = 0x14;
/// Bytes from a bank to the next.
const STRIDE: u32 = 0x20;
const MOST_LINES: u32 = 64;

/// Lines that share an interrupt.
#[derive(Clone, Copy, Debug)]
pub struct LineGroup {
    /// A bit for each of its lines.
    pub lines: u64,
    /// The interrupt that the lines share.
    pub interrupt: Option<IrqLine>,
}

/// The board's parameters of the controller.
#[derive(Clone, Debug)]
pub struct Params {
    /// The implemented lines, one bit each.
    pub lines: u64,
    /// Lines without an edge detector, which are not masked after reset.
    pub direct: u64,
    /// The interrupts.
    pub groups: Vec<LineGroup>,
}

impl Params {
    /// The cores that get the controller's interrupts, and so its events.
    fn cores(&self) -> Vec<u32> {
        let mut cores: Vec<u32> = Vec::new();
        for group in &self.groups {
            if let Some(IrqLine::Core { core, .. }) = group.interrupt
                && !cores.contains(&core)
            {
                cores.push(core);
            }
        }
        cores
    }
}

/// The controller: one bit for each line.
#[derive(Debug, State)]
pub struct Exti {
    #[state(skip)]
    params: Params,
    #[state(skip)]
    cores: Vec<u32>,
    unmasked: u64,
    events: u64,
    rising: u64,
    falling: u64,
    software: u64,
    pending: u64,
    levels: u64,
    /// Groups whose interrupt is active.
    raised: u64,
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["st,stm32-exti"], 1, from_node).naming(REGISTERS);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["interrupt-names", "clocks"]);
    let count = reader.u32_or("num-lines", 23, 1..=MOST_LINES, "number of lines");
    let lines = u64::MAX >> (MOST_LINES - count.clamp(1, MOST_LINES));
    let meaning = "lines without an edge detector: one bit each, lines 32 and above in the first cell";
    let direct = reader.cells("cyclescope,direct-lines", |_: [u32; 2]| true, meaning).unwrap_or_default();
    let direct = u64::from(direct[0]) << 32 | u64::from(direct[1]);
    Box::new(Exti::new(Params { lines, direct: direct & lines, groups: read_groups(reader) }))
}

/// The interrupts in their order, each with its first line and number of lines.
fn read_groups(reader: &mut NodeReader) -> Vec<LineGroup> {
    const NAME: &str = "line-ranges";
    let meaning = "for each interrupt, its first line and number of lines";
    let interrupts = reader.interrupts("the interrupts of the lines, by line-ranges");
    let ranges = reader.numbers(NAME, meaning);
    let is_range =
        |pair: &[u32]| pair.len() == 2 && pair[0] < MOST_LINES && (1..=MOST_LINES - pair[0]).contains(&pair[1]);
    if ranges.len() != 2 * interrupts.len() || !ranges.chunks(2).all(is_range) {
        let (property, expected) = (NAME.to_owned(), format!("{meaning}, up to line 63"));
        reader.fault_at(NAME, FaultKind::WrongType { property, expected });
        return Vec::new();
    }
    let group = |(pair, interrupt): (&[u32], Option<IrqLine>)| LineGroup {
        lines: u64::MAX >> (MOST_LINES - pair[1]) << pair[0],
        interrupt,
    };
    ranges.chunks(2).zip(interrupts).map(group).collect()
}

impl Exti {
    /// The controller after reset.
    pub fn new(params: Params) -> Exti {
        Exti {
            unmasked: params.direct,
            cores: params.cores(),
            params,
            events: 0,
            rising: 0,
            falling: 0,
            software: 0,
            pending: 0,
            levels: 0,
            raised: 0,
            changes: 0,
        }
    }

    /// Lines with an edge detector.
    const fn configurable(&self) -> u64 {
        self.params.lines & !self.params.direct
    }

    fn register(&self, register: u32) -> u64 {
        match register {
            IMR => self.unmasked,
            EMR => self.events,
            RTSR => self.rising,
            FTSR => self.falling,
            SWIER => self.software,
            PR => self.pending,
            _ => 0,
        }
    }

    /// Writes bits of the lines in `mask`. Returns the lines for which software requests an interrupt or event.
    fn set_register(&mut self, register: u32, mask: u64, value: u64) -> u64 {
        let (all, configurable) = (self.params.lines & mask, self.configurable() & mask);
        let put = |held: &mut u64, mask: u64| *held = *held & !mask | value & mask;
        match register {
            IMR => put(&mut self.unmasked, all),
            EMR => put(&mut self.events, all),
            RTSR => put(&mut self.rising, configurable),
            FTSR => put(&mut self.falling, configurable),
            SWIER => {
                // A bit that goes from 0 to 1 makes its line pending; PR clears it.
                let asked = value & configurable & !self.software;
                self.pending |= asked;
                self.software |= asked;
                return asked;
            }
            PR => {
                self.pending &= !(value & configurable);
                self.software &= !(value & configurable);
            }
            _ => {}
        }
        0
    }

    /// Sends events for these lines if they are not masked (RM0090, 12.2.3).
    fn send_events(&self, lines: u64, ctx: &mut Ctx) {
        if lines & self.events != 0 {
            self.cores.iter().for_each(|core| ctx.send_event(*core));
        }
    }

    /// Drives the interrupts.
    fn update(&mut self, ctx: &mut Ctx) {
        self.changes += 1;
        let asking = self.pending & self.unmasked;
        for (index, group) in self.params.groups.iter().enumerate() {
            let (level, bit) = (group.lines & asking != 0, 1 << (index % 64));
            if level != (self.raised & bit != 0) {
                self.raised ^= bit;
                ctx.set_irq(group.interrupt, level);
            }
        }
    }
}

/// The register of a bank at `offset`, and the number of the bank's first line.
const fn split(offset: u32) -> (u32, u32) {
    (offset % STRIDE, 32 * (offset / STRIDE))
}

impl Device for Exti {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        ClockGate::NONE.read(offset, size, ctx, |offset, _| {
            let (register, first) = split(offset);
            self.register(register).checked_shr(first).unwrap_or(0) as u32
        })
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        ClockGate::NONE.write(offset, size, value, ctx, |offset, value, ctx| {
            let (register, first) = split(offset);
            let shifted = |lanes: u32| u64::from(lanes).checked_shl(first).unwrap_or(0);
            let asked = self.set_register(register, shifted(u32::MAX), shifted(value));
            self.update(ctx);
            self.send_events(asked, ctx);
        })
    }

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        let bit = 1u64.checked_shl(input).unwrap_or(0) & self.params.lines;
        let was = self.levels & bit != 0;
        if level == was {
            return;
        }
        self.levels ^= bit;
        if bit & if level { self.rising } else { self.falling } != 0 {
            self.pending |= bit;
            self.update(ctx);
            self.send_events(bit, ctx);
        } else if level {
            self.send_events(bit & self.params.direct, ctx);
        }
    }

    fn interrupt_flags(&self) -> Option<String> {
        let asking = self.pending & self.unmasked;
        let lines: Vec<String> =
            (0..MOST_LINES).filter(|line| asking >> line & 1 != 0).map(|line| format!("line {line} pending")).collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}

impl Polled for Exti {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.changes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_plain_node};
    use crate::support::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::time::Ps;

    const NOW: Ps = Ps(0);

    fn exti(lines: u64, direct: u64) -> Bench {
        let group = |lines, bit| LineGroup { lines, interrupt: Some(IrqLine::Core { core: 0, bit }) };
        let groups = vec![group(1, 6), group(0x3e0, 23), group(1 << 35, 7)];
        Bench::new(Exti::new(Params { lines, direct, groups }))
    }

    fn input(bench: &mut Bench, line: u32, level: bool) {
        bench.bus.with_device(DeviceId(0), NOW, |device, ctx| device.irq_input(line, level, ctx));
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(REGISTERS, &["EXTI_SWIER", "EXTI_PR"], &mut exti(u64::MAX, 0));
    }

    #[test]
    fn edges_that_are_chosen_make_lines_pending_and_unmasked_ones_interrupt() {
        let mut bench = exti(0x7f_ffff, 0);
        bench.write(NOW, RTSR, 0x21).unwrap();
        bench.write(NOW, FTSR, 0x40).unwrap();
        bench.write(NOW, IMR, 0x60).unwrap();
        for line in [0, 5, 6] {
            input(&mut bench, line, true);
        }
        assert_eq!((bench.value(NOW, PR), bench.pending()), (0x21, 1 << 23));
        bench.write(NOW, PR, 0x20).unwrap();
        assert_eq!((bench.value(NOW, PR), bench.pending()), (0x01, 0));
        for line in [0, 5, 6] {
            input(&mut bench, line, false);
        }
        assert_eq!((bench.value(NOW, PR), bench.pending()), (0x41, 1 << 23));
        bench.write(NOW, IMR, 0x01).unwrap();
        assert_eq!(bench.pending(), 1 << 6);
    }

    #[test]
    fn software_makes_a_line_pending_once() {
        let mut bench = exti(0x7f_ffff, 0);
        bench.write(NOW, IMR, 1).unwrap();
        bench.write(NOW, SWIER, 1).unwrap();
        assert_eq!((bench.value(NOW, SWIER), bench.pending()), (1, 1 << 6));
        bench.write(NOW, PR, 1).unwrap();
        assert_eq!((bench.value(NOW, SWIER), bench.pending()), (0, 0));
        // Lines that do not exist.
        bench.write(NOW, RTSR, u32::MAX).unwrap();
        assert_eq!(bench.value(NOW, RTSR), 0x7f_ffff);
    }

    #[test]
    fn the_second_bank_has_lines_32_and_above_and_direct_ones_have_no_edges() {
        let direct = 0x87_ff82_0000;
        let mut bench = exti(u64::MAX >> 24, direct);
        let second = |register| STRIDE + register;
        assert_eq!((bench.value(NOW, IMR), bench.value(NOW, second(IMR))), (0xff82_0000, 0x87));
        bench.write(NOW, RTSR, u32::MAX).unwrap();
        bench.write(NOW, second(RTSR), u32::MAX).unwrap();
        assert_eq!((bench.value(NOW, RTSR), bench.value(NOW, second(RTSR))), (0x007d_ffff, 0x78));
        bench.write(NOW, second(IMR), 0x08).unwrap();
        input(&mut bench, 35, true);
        assert_eq!((bench.value(NOW, second(PR)), bench.pending()), (0x08, 1 << 7));
        bench.write(NOW, second(PR), 0x08).unwrap();
        assert_eq!(bench.pending(), 0);
        input(&mut bench, 17, true);
        input(&mut bench, 99, true);
        assert_eq!(bench.value(NOW, PR), 0);
    }

    #[test]
    fn lines_whose_event_is_not_masked_send_one_without_an_interrupt() {
        let mut bench = exti(0x7f_ffff, 1 << 17);
        let events = |bench: &Bench| bench.bus.core_irqs[0].events();
        bench.write(NOW, RTSR, 0x3).unwrap();
        bench.write(NOW, EMR, 0x2_0001).unwrap();
        input(&mut bench, 1, true);
        assert_eq!(events(&bench), 0, "its event is masked");
        input(&mut bench, 0, true);
        input(&mut bench, 0, false);
        assert_eq!((events(&bench), bench.pending()), (1, 0));
        bench.write(NOW, SWIER, 0x3).unwrap();
        bench.write(NOW, SWIER, 0x3).unwrap();
        assert_eq!(events(&bench), 2, "software asks once");
        bench.write(NOW, PR, 1).unwrap();
        bench.write(NOW, SWIER, 1).unwrap();
        assert_eq!(events(&bench), 3);
        input(&mut bench, 17, true);
        input(&mut bench, 17, false);
        assert_eq!((events(&bench), bench.pending()), (4, 0), "a direct line");
    }

    #[test]
    fn a_node_gives_lines_and_their_interrupts() {
        let interrupts: &[u32] = &[CPU_INTC, 6, CPU_INTC, 23];
        let node = |ranges: &[u32]| {
            read_plain_node(
                from_node,
                &[("interrupts-extended", interrupts), ("line-ranges", ranges), ("num-lines", &[40])],
            )
        };
        let (mut bench, faults) = node(&[0, 1, 5, 5]);
        assert!(faults.is_empty(), "{faults:?}");
        bench.write(NOW, IMR, 0x3ff).unwrap();
        bench.write(NOW, SWIER, 0x220).unwrap();
        assert_eq!(bench.pending(), 1 << 23);
        for ranges in [&[0, 1][..], &[0, 1, 60, 5], &[0, 0, 1, 1], &[0, 1, 1]] {
            assert_eq!(node(ranges).1.len(), 1, "{ranges:?}");
        }
    }
}
