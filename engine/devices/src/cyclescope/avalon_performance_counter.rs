//! `cyclescope,avalon-performance-counter`: Altera's performance counter core (Embedded Peripherals IP User Guide,
//! Performance Counter Unit Core): clocks spent in sections of a program, which it marks by writes.
//!
//! Section 0 is the global one: the others' clocks and starts count only while it runs. A section's time is the number
//! of clocks from the write that starts it to the write that stops it. Linux has no binding for the core, so Cyclescope
//! has a compatible of its own.
//!
//! The whole core is modelled. Sections beyond the number with which the core is built read 0.

use crate::prelude::*;
use crate::support::axi_lite::AxiLitePort;

registers! {
    /// The register map (Performance Counter Unit Core, Register Map) of the global section; the others have the same
    /// every [`STRIDE`].
    const MAP "" {
        /// Low half of the section's clocks; a write stops the section, or with bit 0 set, in section 0, resets the
        /// whole core.
        TIME_LOW "T[0]lo" 0x0 rw volatile;
        /// High half of the section's clocks; a write starts the section.
        TIME_HIGH "T[0]hi" 0x4 rw volatile;
        /// The number of times that the section was started.
        EVENTS "Ev[0]" 0x8 ro volatile;
    }

    /// Those of the other sections of the largest core.
    const FURTHER "" {
        TIME_LOW1 "T[{}]lo" [1..8; STRIDE] 0x10 rw volatile;
        TIME_HIGH1 "T[{}]hi" [1..8; STRIDE] 0x14 rw volatile;
        EVENTS1 "Ev[{}]" [1..8; STRIDE] 0x18 ro volatile;
    }
}

/// All registers.
const ALL: Map = joined!(MAP, FURTHER);

/// Bytes from a section's registers to the next one's.
const STRIDE: u32 = 0x10;

/// Written to the global section's first register: everything is zeroed and stopped.
const GLOBAL_RESET: u32 = 1 << 0;

/// Sections of the largest core, without the global one.
const MOST_SECTIONS: u32 = 7;

/// A section's counters.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
struct Section {
    runs: bool,
    /// A program can read them: a loop that reads running sections is not skipped.
    clocks: u64,
    starts: u32,
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.port))]
#[poll(first = PerformanceCounter::settles)]
pub struct PerformanceCounter {
    #[state(skip)]
    port: AxiLitePort,
    registers: Registers,
    /// The global section, then the others.
    #[state(with = engine::state::fixed)]
    sections: Vec<Section>,
    /// The cycle up to which clocks are counted.
    #[poll(skip = "that of the list")]
    cycle: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["cyclescope,avalon-performance-counter"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let port = AxiLitePort::from_node(reader);
    let allowed = 1..=MOST_SECTIONS;
    let sections = reader.u32("cyclescope,sections", allowed, "this core has 1 to 7 simultaneously measured sections");
    Box::new(PerformanceCounter::new(port, sections as usize))
}

impl PerformanceCounter {
    /// The device after reset, with `sections` sections besides the global one; the port's clock is counted.
    pub fn new(port: AxiLitePort, sections: usize) -> PerformanceCounter {
        let (registers, sections) = (Registers::new(&ALL), vec![Section::default(); 1 + sections]);
        PerformanceCounter { port, registers, sections, cycle: 0 }
    }

    /// False if the cycles of the polling core are not those that it counts.
    fn settles(&mut self, poll: &mut Poll) -> bool {
        self.pass_to(poll.now());
        poll.clock() == self.port.clock
    }
}

impl Table for PerformanceCounter {
    /// Counts the clocks up to `now`.
    fn pass_to(&mut self, now: Ps) {
        let cycle = self.port.clock.cycles_until_floor(now).0;
        let elapsed = cycle.saturating_sub(self.cycle);
        self.cycle += elapsed;
        if self.sections[0].runs {
            for section in self.sections.iter_mut().filter(|section| section.runs) {
                section.clocks = section.clocks.wrapping_add(elapsed);
            }
        }
    }

    fn shown(&mut self, register: u32, _: u32, _: &mut Ctx) -> u32 {
        let Some(section) = self.sections.get((register / STRIDE) as usize) else { return 0 };
        match register % STRIDE {
            TIME_LOW => section.clocks as u32,
            TIME_HIGH => (section.clocks >> 32) as u32,
            EVENTS => section.starts,
            _ => 0,
        }
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, _: &mut Ctx) {
        let index = (register / STRIDE) as usize;
        let counts = index == 0 || self.sections[0].runs;
        let Some(section) = self.sections.get_mut(index) else { return };
        match register % STRIDE {
            TIME_LOW if index == 0 && new & GLOBAL_RESET != 0 => self.sections.fill(Section::default()),
            TIME_LOW => section.runs = false,
            TIME_HIGH => {
                section.runs = true;
                section.starts = section.starts.wrapping_add(u32::from(counts));
            }
            _ => {}
        }
    }
}

impl Device for PerformanceCounter {
    by_table!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_node};
    use crate::registers::walk;
    use engine::time::{Cycles, Hz};

    fn clock() -> Hz {
        Hz::new(100_000_000).unwrap()
    }

    /// The time of edge number `number`: 10 ns each.
    fn cycle(number: u64) -> Ps {
        clock().ps_at_floor(Cycles(number))
    }

    fn counter() -> Bench {
        let port = AxiLitePort { clock: clock(), read_cycles: Cycles(1), write_cycles: Cycles(0) };
        Bench::new(PerformanceCounter::new(port, 3))
    }

    fn start(bench: &mut Bench, at: u64, section: u32) {
        bench.write(cycle(at), STRIDE * section + TIME_HIGH, 0).unwrap();
    }

    fn stop(bench: &mut Bench, at: u64, section: u32) {
        bench.write(cycle(at), STRIDE * section + TIME_LOW, 0).unwrap();
    }

    /// Clocks and starts of a section, read at a cycle.
    fn section(bench: &mut Bench, at: u64, section: u32) -> (u64, u32) {
        let mut read = |register| bench.value(cycle(at), STRIDE * section + register);
        (u64::from(read(TIME_HIGH)) << 32 | u64::from(read(TIME_LOW)), read(EVENTS))
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(MAP.rows, &["T[0]lo", "T[0]hi"], &mut counter());
    }

    #[test]
    fn an_access_takes_its_clocks() {
        assert_eq!(counter().read(cycle(2), EVENTS), Ok((0, cycle(3))));
        assert_eq!(counter().write(cycle(2), TIME_HIGH, 0), Ok(cycle(2)));
    }

    #[test]
    fn a_section_counts_from_start_to_stop() {
        let mut bench = counter();
        start(&mut bench, 10, 0);
        start(&mut bench, 13, 1);
        stop(&mut bench, 113, 1);
        start(&mut bench, 200, 1);
        stop(&mut bench, 207, 1);
        stop(&mut bench, 210, 0);
        assert_eq!(section(&mut bench, 1000, 0), (200, 1));
        assert_eq!(section(&mut bench, 1000, 1), (107, 2));
        assert_eq!(section(&mut bench, 1000, 2), (0, 0));
    }

    #[test]
    fn sections_stand_while_the_global_one_does() {
        let mut bench = counter();
        start(&mut bench, 10, 2);
        assert_eq!(section(&mut bench, 50, 2), (0, 0));
        start(&mut bench, 50, 0);
        assert_eq!(section(&mut bench, 60, 2), (10, 0));
        stop(&mut bench, 60, 0);
        assert_eq!(section(&mut bench, 70, 2), (10, 0));
        start(&mut bench, 80, 0);
        start(&mut bench, 85, 2);
        assert_eq!(section(&mut bench, 90, 2), (20, 1));
        assert_eq!(section(&mut bench, 90, 0), (20, 2));
    }

    #[test]
    fn clocks_have_64_bits() {
        let mut bench = counter();
        start(&mut bench, 1, 0);
        assert_eq!(section(&mut bench, 1 + (7 << 32) + 5, 0), ((7 << 32) + 5, 1));
    }

    #[test]
    fn a_reset_zeroes_and_stops_everything() {
        let mut bench = counter();
        start(&mut bench, 0, 0);
        start(&mut bench, 0, 3);
        bench.write(cycle(100), TIME_LOW, 1).unwrap();
        assert_eq!((section(&mut bench, 200, 0), section(&mut bench, 200, 3)), ((0, 0), (0, 0)));
        // Bit 0 means nothing to the other sections.
        start(&mut bench, 200, 0);
        start(&mut bench, 200, 3);
        bench.write(cycle(210), 3 * STRIDE + TIME_LOW, 1).unwrap();
        assert_eq!(section(&mut bench, 300, 3), (10, 1));
        assert_eq!(section(&mut bench, 300, 0), (100, 1));
    }

    #[test]
    fn what_the_core_does_not_have_reads_zero() {
        let mut bench = counter();
        start(&mut bench, 0, 0);
        start(&mut bench, 0, 4);
        bench.write(cycle(0), 0xc, 1).unwrap();
        assert_eq!(section(&mut bench, 10, 4), (0, 0));
        assert_eq!((bench.value(cycle(10), 0xc), bench.value(cycle(10), 0xffc)), (0, 0));
    }

    #[test]
    fn a_loop_is_skipped_over_it_only_while_nothing_counts() {
        let mut bench = counter();
        let look = |bench: &mut Bench, number| {
            let mut poll = Poll::look(clock(), Cycles(number));
            assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
            poll
        };
        let before = look(&mut bench, 100);
        assert!(look(&mut bench, 110).repeats(&before));
        start(&mut bench, 110, 0);
        let before = look(&mut bench, 120);
        assert!(!look(&mut bench, 130).repeats(&before));
    }

    #[test]
    fn a_node_says_how_many_sections_there_are() {
        let (_, faults) = read_node(from_node, &[("cyclescope,sections", &[7])]);
        assert!(faults.is_empty(), "{faults:?}");
        let (_, faults) = read_node(from_node, &[("cyclescope,sections", &[8])]);
        assert_eq!(faults, ["cyclescope,sections is 8; this core has 1 to 7 simultaneously measured sections"]);
    }
}
