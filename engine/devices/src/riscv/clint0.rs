//! `riscv,clint0`, `sifive,clint0`: the core-local interruptor: software and timer interrupts of RISC-V cores.
//!
//! Layout and behaviour: SiFive FU540-C000 manual v1p4, chapter 9 (CLINT); meaning of `mtime` and `mtimecmp`: RISC-V
//! Privileged Architecture, Machine Timer Registers. One `msip` and one `mtimecmp` for each pair of lines in
//! `interrupts-extended` (software interrupt, then timer interrupt, hart after hart). `mtime` counts the edges of the
//! second of `clocks`. `mtimecmp` starts at all ones, so no timer interrupt is pending before software asks for one.

use crate::prelude::*;
use crate::support::activities::TIMER;
use crate::support::axi_lite::{AxiLitePort, edge_in_reach, on_lanes};
use crate::support::timer_interrupt::TimerInterrupt;

registers! {
    /// The register map, for hart 0: further harts follow every 4 (`msip`) and 8 bytes (`mtimecmp`).
    const MAP "" {
        MSIP "msip" 0x0 rw mask 1;
        MTIMECMP "mtimecmp" 0x4000 rw reset u32::MAX;
        MTIMECMPH "mtimecmph" 0x4004 rw reset u32::MAX;
        MTIME "mtime" 0xbff8 rw;
        MTIMEH "mtimeh" 0xbffc rw;
    }
}

/// The registers of one hart.
#[derive(Clone, Debug, State, Polled)]
struct Hart {
    software: Option<IrqLine>,
    timer: TimerInterrupt,
    msip: bool,
    mtimecmp: u64,
}

/// The device.
#[derive(Debug, State, Polled)]
#[poll(first = Clint::list_tick)]
pub struct Clint {
    #[state(skip)]
    port: AxiLitePort,
    /// The clock that `mtime` counts.
    #[state(skip)]
    mtime_clock: Hz,
    #[state(with = engine::state::fixed)]
    harts: Vec<Hart>,
    /// `mtime` minus the edges of its clock since reset: software may write `mtime`.
    offset: u64,
    /// Reads of `mtime`.
    #[poll(skip = "listed with the tick up to which they agree")]
    mtime_reads: u64,
    /// The latest time of an access or an event: an event may run after an access that is later than its due time.
    latest: Ps,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["riscv,clint0", "sifive,clint0"], 1, from_node)
    .with_activities(TIMER)
    .naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let port = AxiLitePort::from_node(reader);
    let mtime_clock = reader.clock(1, "the second of clocks is the one that mtime counts");
    reader.known(&["clock-names"]);
    let lines = reader.interrupts("software and timer interrupt of each hart, hart after hart");
    Box::new(Clint::new(port, mtime_clock, &lines))
}

impl Clint {
    /// The device after reset; `lines` are each hart's software and timer interrupt.
    pub fn new(port: AxiLitePort, mtime_clock: Hz, lines: &[Option<IrqLine>]) -> Clint {
        let hart = |(number, pair): (u32, &[Option<IrqLine>])| Hart {
            software: pair[0],
            timer: TimerInterrupt::new(pair.get(1).copied().flatten()).numbered(number),
            msip: false,
            mtimecmp: u64::MAX,
        };
        let harts = (0..).zip(lines.chunks(2)).map(hart).collect();
        Clint { port, mtime_clock, harts, offset: 0, mtime_reads: 0, latest: Ps::ZERO }
    }

    fn mtime(&self, now: Ps) -> u64 {
        self.mtime_clock.cycles_until_floor(now).0.wrapping_add(self.offset)
    }

    /// Sets the timer interrupt of hart `index` for now, and requests an event for its next change.
    fn update_timer(&mut self, index: usize, ctx: &mut Ctx) {
        self.latest = self.latest.max(ctx.now);
        let mtime = self.mtime(self.latest);
        let edges = self.mtime_clock.cycles_until_floor(self.latest).0;
        let hart = &mut self.harts[index];
        let remaining = hart.mtimecmp.saturating_sub(mtime);
        let rises = edges.checked_add(remaining).and_then(|edge| edge_in_reach(self.mtime_clock, edge));
        hart.timer.drive(remaining == 0, rises, ctx);
    }

    /// The half of `mtime` or of a `mtimecmp` at an offset: its lowest bit.
    const fn half(offset: u32) -> u32 {
        8 * (offset & 4)
    }

    fn register(&mut self, offset: u32, now: Ps) -> u32 {
        match self.find(offset) {
            Some((MSIP, hart)) => u32::from(self.harts[hart].msip),
            Some((MTIMECMP, hart)) => (self.harts[hart].mtimecmp >> Self::half(offset)) as u32,
            Some(_) => {
                self.mtime_reads += 1;
                (self.mtime(now) >> Self::half(offset)) as u32
            }
            None => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let half = Self::half(offset);
        let replaced = |whole: u64| whole & !(u64::from(u32::MAX) << half) | u64::from(value) << half;
        match self.find(offset) {
            Some((MSIP, hart)) => {
                self.harts[hart].msip = value & 1 != 0;
                ctx.set_irq(self.harts[hart].software, value & 1 != 0);
            }
            Some((MTIMECMP, hart)) => {
                self.harts[hart].mtimecmp = replaced(self.harts[hart].mtimecmp);
                self.update_timer(hart, ctx);
            }
            Some(_) => {
                let mtime = self.mtime(ctx.now);
                self.offset = self.offset.wrapping_add(replaced(mtime).wrapping_sub(mtime));
                (0..self.harts.len()).for_each(|hart| self.update_timer(hart, ctx));
            }
            None => {}
        }
    }

    /// The kind of the register at `offset`, and its hart; `None` if there is no register.
    fn find(&self, offset: u32) -> Option<(u32, usize)> {
        let harts = self.harts.len() as u32;
        match offset & !3 {
            word if word < MSIP + 4 * harts => Some((MSIP, (word / 4) as usize)),
            word if (MTIMECMP..MTIMECMP + 8 * harts).contains(&word) => {
                Some((MTIMECMP, ((word - MTIMECMP) / 8) as usize))
            }
            MTIME | MTIMEH => Some((MTIME, 0)),
            _ => None,
        }
    }

    /// Timer interrupts are events; the only other change is that of `mtime` at its next tick.
    fn list_tick(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.port.clock);
        let ticks = self.mtime_clock.cycles_until_floor(poll.now()).0;
        poll.until_for(self.mtime_reads, self.mtime_clock.ps_at_floor(Cycles(ticks + 1)));
        true
    }
}

impl Device for Clint {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let value = self.register(offset, ctx.now);
        Ok(self.port.read(value, offset, size, ctx.now))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.set_register(offset, on_lanes(value, offset, size), ctx);
        Ok(self.port.written(ctx.now))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        let hart = token as usize;
        self.harts[hart].timer.rang(ctx.now);
        self.update_timer(hart, ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::polled::{Access, Loop};
    use crate::bench::{Bench, CPU_INTC, read_node};
    use crate::registers::walk;
    use proptest::prelude::*;

    const MSI: u32 = 1 << 3;
    const MTI: u32 = 1 << 7;

    /// mtime at 1 MHz: a tick is 1 us.
    fn clint() -> Bench {
        let port =
            AxiLitePort { clock: Hz::new(100_000_000).unwrap(), read_cycles: Cycles(4), write_cycles: Cycles(3) };
        let line = |bit| Some(IrqLine::Core { core: 0, bit });
        Bench::new(Clint::new(port, Hz::new(1_000_000).unwrap(), &[line(3), line(7)]))
    }

    fn set_mtimecmp(bench: &mut Bench, at: Ps, ticks: u64) {
        bench.write(at, MTIMECMP + 4, u32::MAX).unwrap();
        bench.write(at, MTIMECMP, ticks as u32).unwrap();
        bench.write(at, MTIMECMP + 4, (ticks >> 32) as u32).unwrap();
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(MAP.rows, &[], &mut clint());
    }

    #[test]
    fn an_access_takes_its_clocks() {
        assert_eq!(clint().read(Ps(20_000), MTIMECMP), Ok((u32::MAX, Ps(60_000))));
        assert_eq!(clint().write(Ps(20_000), MTIMECMP, 0), Ok(Ps(50_000)));
    }

    #[test]
    fn mtime_counts_its_own_clock() {
        let mut bench = clint();
        assert_eq!(bench.value(Ps(999_999), MTIME), 0);
        assert_eq!(bench.value(Ps(1_000_000), MTIME), 1);
        bench.write(Ps(1_500_000), MTIME + 4, 7).unwrap();
        bench.write(Ps(1_500_000), MTIME, u32::MAX).unwrap();
        assert_eq!(bench.value(Ps(1_999_999), MTIME), u32::MAX);
        assert_eq!((bench.value(Ps(2_000_000), MTIME), bench.value(Ps(2_000_000), MTIME + 4)), (0, 8));
    }

    #[test]
    fn the_timer_interrupt_comes_with_the_tick_and_goes_with_mtimecmp() {
        let mut bench = clint();
        set_mtimecmp(&mut bench, Ps(0), 5);
        bench.run(Ps(4_999_999));
        assert_eq!(bench.pending(), 0);
        bench.run(Ps(5_000_000));
        assert_eq!(bench.pending(), MTI);
        set_mtimecmp(&mut bench, Ps(6_000_000), 9);
        assert_eq!(bench.pending(), 0);
        bench.run(Ps(9_000_000));
        assert_eq!(bench.pending(), MTI);
    }

    #[test]
    fn only_the_latest_mtimecmp_counts() {
        let mut bench = clint();
        set_mtimecmp(&mut bench, Ps(0), 5);
        set_mtimecmp(&mut bench, Ps(0), 8);
        bench.run(Ps(7_999_999));
        assert_eq!(bench.pending(), 0);
        bench.run(Ps(8_000_000));
        assert_eq!(bench.pending(), MTI);
        set_mtimecmp(&mut bench, Ps(8_000_000), u64::MAX);
        assert_eq!(bench.pending(), 0);
        bench.run(Ps(u64::MAX / 4));
        assert_eq!(bench.pending(), 0);
    }

    #[test]
    fn a_timer_that_is_set_earlier_and_earlier_fills_no_memory() {
        let mut bench = clint();
        for ticks in (0..30_000).rev() {
            set_mtimecmp(&mut bench, Ps(0), 1_000_000 + ticks);
        }
        let mut events = 0;
        while bench.bus.events.pop_due(Ps::MAX).is_some() {
            events += 1;
        }
        assert!((1..=10_001).contains(&events), "{events}");
    }

    #[test]
    fn an_event_that_runs_after_a_later_access_changes_nothing() {
        let mut bench = clint();
        set_mtimecmp(&mut bench, Ps(0), 5);
        // The access is at 7 us before the event of 5 us has run: the new comparison is in effect already.
        set_mtimecmp(&mut bench, Ps(7_000_000), 6);
        assert_eq!(bench.pending(), MTI);
        bench.run(Ps(7_000_000));
        assert_eq!(bench.pending(), MTI);
    }

    #[test]
    fn writing_mtime_moves_the_interrupt() {
        let mut bench = clint();
        set_mtimecmp(&mut bench, Ps(0), 100);
        bench.write(Ps(10_000_000), MTIME, 90).unwrap();
        bench.run(Ps(19_999_999));
        assert_eq!(bench.pending(), 0);
        bench.run(Ps(20_000_000));
        assert_eq!(bench.pending(), MTI);
        bench.write(Ps(21_000_000), MTIME, 0).unwrap();
        assert_eq!(bench.pending(), 0);
    }

    #[test]
    fn msip_drives_the_software_interrupt() {
        let mut bench = clint();
        bench.write(Ps(0), MSIP, 0xff).unwrap();
        assert_eq!((bench.pending(), bench.value(Ps(0), MSIP)), (MSI, 1));
        bench.write(Ps(0), MSIP, 0).unwrap();
        assert_eq!(bench.pending(), 0);
    }

    #[test]
    fn harts_that_are_not_there_read_zero() {
        let mut bench = clint();
        bench.write(Ps(0), MSIP + 4, 1).unwrap();
        bench.write(Ps(0), MTIMECMP + 8, 1).unwrap();
        assert_eq!((bench.value(Ps(0), MSIP + 4), bench.value(Ps(0), MTIMECMP + 8)), (0, 0));
        assert_eq!(bench.pending(), 0);
    }

    // ---- Polling

    #[test]
    fn a_loop_is_skipped_up_to_the_tick_that_it_would_read() {
        let (core, read) = (Hz::new(100_000_000).unwrap(), |register| [Access::Read(register)]);
        // 100 cycles a tick. Six iterations of 7 cycles are run first; the next one, and five of the same length, lie
        // within a tick or not.
        for (start, skipped) in [(0, true), (42, false), (60, true)] {
            let polled = Loop::even(core, 7, &read(MTIME));
            assert_eq!(polled.assert_skipped_as_run(clint, start, 4), skipped, "{start}");
        }
        for register in [MSIP, MTIMECMP] {
            assert!(Loop::even(core, 7, &read(register)).assert_skipped_as_run(clint, 60, 100_000));
        }
        assert!(!Loop::even(core, 7, &[Access::Write(MTIMECMP, 5)]).assert_skipped_as_run(clint, 0, 1));
        // If the clock is as fast as the core's, each read returns another value.
        let fast = || {
            let port = AxiLitePort { clock: core, read_cycles: Cycles(4), write_cycles: Cycles(3) };
            Bench::new(Clint::new(port, core, &[None, None]))
        };
        assert!(!Loop::even(core, 7, &read(MTIME)).assert_skipped_as_run(fast, 0, 1));
    }

    proptest! {
        #[test]
        fn skipped_iterations_are_as_run(
            distance in 1_u64..60,
            registers in prop::collection::vec(prop::sample::select(vec![MSIP, MTIMECMP, MTIME, MTIME + 4]), 1..6),
            at in 0_usize..6,
            write in prop::sample::select(vec![MSIP, MTIMECMP, MTIME]),
            megahertz in prop::sample::select(vec![100, 125, 50, 33]),
            start in 0_u64..1000,
            count in 1_u64..30,
        ) {
            let mut accesses: Vec<Access> = registers.into_iter().map(Access::Read).collect();
            if let Some(access) = accesses.get_mut(at) {
                *access = Access::Write(write, 3);
            }
            let core = Hz::new(megahertz * 1_000_000).unwrap();
            Loop::even(core, distance, &accesses).assert_skipped_as_run(clint, start, count);
        }
    }

    #[test]
    fn a_node_wires_each_hart_two_lines() {
        let lines = [CPU_INTC, 3, CPU_INTC, 7];
        let (mut bench, faults) = read_node(from_node, &[("interrupts-extended", &lines)]);
        assert!(faults.is_empty(), "{faults:?}");
        bench.write(Ps(0), MSIP, 1).unwrap();
        set_mtimecmp(&mut bench, Ps(0), 100);
        bench.run(Ps(1_000_000));
        assert_eq!(bench.pending(), MSI | MTI);
    }
}
