//! `st,stm32-exti`: the extended interrupts and events controller of STM32F4 (RM0090, "External interrupt/event
//! controller (EXTI)"), with up to 32 lines, and of STM32L4+ (RM0432), with up to 64 in two banks.
//!
//! Modelled: all registers; input lines (pins by way of SYSCFG, and other peripherals: a line's number is an input of
//! this device), their edge selection, software's bits, pending bits, and the interrupts of lines that are not masked,
//! which the node's `line-ranges` assign to controllers. A line without an edge detector (a direct line) only wakes up,
//! and has its own interrupt elsewhere. A line whose event is not masked (EXTI_EMR) sends an event to the core, which
//! ends its wfe: at the selected edges, by software, and at the rising edge of a direct line. The core is the one that
//! gets the interrupts.

use crate::prelude::*;

use super::{Bank, Exti, Generation, LineGroup, Params};
use crate::support::stm32_pin_lines::PinLines;

registers! {
    /// The registers of the first 32 lines.
    const FIRST "EXTI_" {
        IMR 0x00 rw;
        EMR 0x04 rw;
        RTSR 0x08 rw;
        FTSR 0x0c rw;
        SWIER 0x10 rw;
        PR 0x14 w1c;
    }

    /// Those of the next 32 lines.
    const SECOND "EXTI_" {
        IMR2 0x20 rw;
        EMR2 0x24 rw;
        RTSR2 0x28 rw;
        FTSR2 0x2c rw;
        SWIER2 0x30 rw;
        PR2 0x34 w1c;
    }
}

const BOTH: Map = joined!(FIRST, SECOND);
const MOST_LINES: u32 = 64;

static GENERATION: Generation = Generation {
    map: &BOTH,
    banks: &[Bank { rtsr: RTSR, masks: &[IMR] }, Bank { rtsr: RTSR2, masks: &[IMR2] }],
    pending: [PR - RTSR; 2],
    keeps_software: true,
    own: u64::MAX,
    has_inputs: true,
    has_interrupts_first: true,
};

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["st,stm32-exti"], 1, from_node).naming(FIRST.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["interrupt-names", "clocks"]);
    let count = reader.u32_or("num-lines", 23, 1..=MOST_LINES, "number of lines");
    let lines = u64::MAX >> (MOST_LINES - count.clamp(1, MOST_LINES));
    let meaning = "lines without an edge detector: one bit each, lines 32 and above in the first cell";
    let direct = reader.cells("cyclescope,direct-lines", |_: [u32; 2]| true, meaning).unwrap_or_default();
    let direct = u64::from(direct[0]) << 32 | u64::from(direct[1]);
    Box::new(new(lines, direct & lines, read_groups(reader)))
}

/// The controller with these lines after reset. Events go to the cores that get its interrupts.
fn new(lines: u64, direct: u64, groups: Vec<LineGroup>) -> Exti {
    let mut cores: Vec<u32> = Vec::new();
    for group in &groups {
        if let Some(IrqLine::Core { core, .. }) = group.interrupt
            && !cores.contains(&core)
        {
            cores.push(core);
        }
    }
    let of_banks = |lines: u64| [lines as u32, (lines >> 32) as u32, 0];
    let params = Params { lines: of_banks(lines), direct: of_banks(direct), groups, cores: vec![cores] };
    Exti::new(&GENERATION, params, PinLines::none())
}

/// The interrupts in their order, each with its first line and number of lines.
fn read_groups(reader: &mut NodeReader) -> Vec<LineGroup> {
    let meaning = "for each interrupt, its first line and number of lines";
    let interrupts = reader.interrupts("the interrupts of the lines, by line-ranges");
    let is_range = |[first, count]: &[u32; 2]| *first < MOST_LINES && (1..=MOST_LINES - first).contains(count);
    let are_sound = |ranges: &[[u32; 2]]| ranges.len() == interrupts.len() && ranges.iter().all(is_range);
    let ranges = reader.pairs("line-ranges", meaning, &format!("{meaning}, up to line 63"), are_sound);
    let group = |([first, count], interrupt): ([u32; 2], Option<IrqLine>)| LineGroup {
        processor: 0,
        lines: u64::MAX >> (MOST_LINES - count) << first,
        interrupt,
    };
    ranges.into_iter().zip(interrupts).map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::time::Ps;

    const NOW: Ps = Ps(0);

    fn exti(lines: u64, direct: u64) -> Bench {
        let group = |lines, bit| LineGroup { processor: 0, lines, interrupt: Some(IrqLine::Core { core: 0, bit }) };
        let groups = vec![group(1, 6), group(0x3e0, 23), group(1 << 35, 7)];
        Bench::new(new(lines, direct, groups))
    }

    fn input(bench: &mut Bench, line: u32, level: bool) {
        bench.bus.with_device(DeviceId(0), NOW, |device, ctx| device.irq_input(line, level, ctx));
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_map(
            &BOTH,
            &["EXTI_SWIER", "EXTI_PR", "EXTI_SWIER2", "EXTI_PR2"],
            &mut exti(u64::MAX, 0),
        );
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
        let second = |register| IMR2 + register;
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
