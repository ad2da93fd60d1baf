//! `st,stm32-window-watchdog`: the window watchdog of an STM32, WWDG (RM0090 and RM0432, "Window watchdog (WWDG)").
//!
//! Modelled: all registers; the counter, which counts its bus clock / 4096, divided by the prescaler, active or not,
//! while its enable bit passes the clock; the early wake-up interrupt at 0x40. The counter at 0x3f, and a reload while
//! it is above the window, reset the board while WDGA is set: the run ends with a note. A write of the counter restarts
//! the prescaler.

use crate::model::{Group, Model};
use crate::support::kernel_clock::KernelClock;
use crate::support::registers::{AccessKind, Register, flag};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map.
pub const REGISTERS: &[Register] = &[
    Register::new("WWDG_CR", CR, AccessKind::Rw, COUNTER, 0xff),
    Register::new("WWDG_CFR", CFR, AccessKind::Rw, COUNTER, 0x3ff),
    Register::new("WWDG_SR", SR, AccessKind::Rw, 0, 1),
];

const CR: u32 = 0x0;
const CFR: u32 = 0x4;
const SR: u32 = 0x8;

/// WWDG_CR.T and WWDG_CFR.W.
const COUNTER: u32 = 0x7f;
const CR_WDGA: u32 = 1 << 7;
const CFR_WDGTB: u32 = 7;
const CFR_EWI: u32 = 1 << 9;
/// The counter's value at its early wake-up; below it the board is reset.
const EARLY: u32 = 0x40;
/// Clocks of the bus in a step of the prescaler.
const PRESCALER: u64 = 4096;
/// The exit status of a run that a watchdog ends.
const EXIT_STATUS: i32 = 1;

/// The board's parameters of the watchdog.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// The clock of its bus.
    pub clock: ClockInput,
    /// The early wake-up interrupt.
    #[state(skip)]
    pub interrupt: Option<IrqLine>,
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
}

/// The watchdog.
#[derive(Debug, State)]
pub struct Wwdg {
    params: Params,
    clock: KernelClock,
    is_active: bool,
    configuration: u32,
    /// WWDG_SR.EWIF.
    early: bool,
    /// The edge at which the counter was written, and its value.
    loaded: (u64, u32),
    alarm: Alarm,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["st,stm32-window-watchdog"], 1, from_node).naming(REGISTERS);

/// Builds the watchdog from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Wwdg::new(Params {
        clock: reader.clock_input(0, "the clock of its bus"),
        interrupt: reader.interrupt(0, "its early wake-up interrupt"),
        gate: ClockGate::from_node(reader),
    }))
}

impl Wwdg {
    /// The watchdog after reset.
    pub fn new(params: Params) -> Wwdg {
        Wwdg {
            clock: KernelClock::new(params.clock).after(params.gate),
            params,
            is_active: false,
            configuration: COUNTER,
            early: false,
            loaded: (0, COUNTER),
            alarm: Alarm::default(),
            writes: 0,
        }
    }

    fn edge(&self, ctx: &Ctx) -> u64 {
        self.clock.edge(ctx.now)
    }

    /// Clocks of the bus for each value of the counter.
    const fn step(&self) -> u64 {
        PRESCALER << (self.configuration >> CFR_WDGTB & 3)
    }

    /// T[6:0], which wraps around while the watchdog is not active.
    fn counter(&self, edge: u64) -> u32 {
        let steps = edge.saturating_sub(self.loaded.0) / self.step();
        self.loaded.1.wrapping_sub(steps as u32) & COUNTER
    }

    /// The edges at which the counter reaches 0x40 and 0x3f after its last write.
    fn ends(&self) -> [u64; 2] {
        let steps = u64::from(self.loaded.1.saturating_sub(EARLY));
        [steps, steps + 1].map(|steps| self.loaded.0 + steps * self.step())
    }

    fn arm(&mut self, ctx: &mut Ctx) {
        self.alarm.cancel(0, ctx);
        ctx.set_irq(self.params.interrupt, self.early && self.configuration & CFR_EWI != 0);
        let edge = self.edge(ctx);
        let next = self.ends().into_iter().filter(|end| *end > edge && self.is_active).min();
        if let Some(due) = next.and_then(|next| self.clock.due(next)) {
            self.alarm.set(due, 0, ctx);
        }
    }

    fn write_control(&mut self, value: u32, ctx: &mut Ctx) {
        let counter = self.counter(self.edge(ctx));
        if self.is_active && counter > self.configuration & COUNTER {
            end_run("the watchdog WWDG was written before its window", ctx);
        }
        self.is_active |= value & CR_WDGA != 0;
        self.loaded = (self.clock.next_edge(ctx.now), value & COUNTER);
        if self.is_active && value & EARLY == 0 {
            end_run("the watchdog WWDG was written with a counter below 0x40", ctx);
        }
    }

    fn write_configuration(&mut self, value: u32, ctx: &mut Ctx) {
        // Clocks that were counted with the old prescaler stay counted; EWI stays set.
        let edge = self.edge(ctx);
        self.loaded = (edge, self.counter(edge));
        self.configuration = value & 0x3ff | self.configuration & CFR_EWI;
    }
}

/// Ends the run: the watchdog resets the board.
fn end_run(what: &str, ctx: &mut Ctx) {
    ctx.note(&format!("{what}, and resets the board: the run ends"));
    ctx.exit_by_reset(EXIT_STATUS);
}

impl Device for Wwdg {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        self.clock.follow(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, ctx| match offset {
            CR => flag(CR_WDGA, self.is_active) | self.counter(self.edge(ctx)),
            CFR => self.configuration,
            SR => u32::from(self.early),
            _ => 0,
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
        self.params.gate.write(offset, size, value, ctx, |offset, value, ctx| {
            self.writes += 1;
            match (offset, value) {
                (CR, value) => self.write_control(value, ctx),
                (CFR, value) => self.write_configuration(value, ctx),
                (SR, value) => self.early &= value & 1 != 0,
                _ => {}
            }
            self.arm(ctx);
        })
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        let (edge, [early, end]) = (self.edge(ctx), self.ends());
        self.early |= early == edge;
        if self.is_active && end <= edge {
            self.is_active = false;
            end_run("the watchdog WWDG was not written in time", ctx);
        }
        self.arm(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        let counter = self.counter(self.edge(ctx));
        let (from, to) = self.clock.follow(ctx);
        let passed = from.saturating_sub(self.loaded.0) % self.step();
        self.loaded = (to.saturating_sub(passed), counter);
        if self.params.gate.is_reset(ctx.bus) {
            (self.is_active, self.configuration, self.early) = (false, COUNTER, false);
            self.loaded = (to, COUNTER);
        }
        self.writes += 1;
        self.arm(ctx);
    }
}

impl Polled for Wwdg {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        let edge = self.clock.edge(poll.now());
        let next = self.loaded.0 + (edge.saturating_sub(self.loaded.0) / self.step() + 1) * self.step();
        if let Some(due) = self.clock.due(next) {
            poll.until(due);
        }
        for state in [self.counter(edge), u32::from(self.early), u32::from(self.is_active)] {
            poll.state(state);
        }
        poll.state(self.writes);
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

    fn edge(number: u64) -> Ps {
        Hz::new(30_000_000).unwrap().ps_at_floor(Cycles(number))
    }

    fn wwdg() -> Bench {
        let clock = ClockInput::fixed(Hz::new(30_000_000).unwrap());
        let interrupt = Some(IrqLine::Core { core: 0, bit: 2 });
        Bench::new(Wwdg::new(Params { clock, interrupt, gate: ClockGate::default() }))
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(REGISTERS, &["WWDG_CR", "WWDG_CFR", "WWDG_SR"], &mut wwdg());
        assert_eq!([CR, CFR, SR].map(|at| wwdg().value(Ps(0), at)), [COUNTER, COUNTER, 0]);
    }

    #[test]
    fn times_out_as_the_table_says() {
        // RM0090, table of WWDG time-outs at 30 MHz: 136.53 us to 8.74 ms for WDGTB 0, to 69.91 ms for WDGTB 3.
        for (prescaler, counter, clocks) in [(0, 0x40, 4096), (0, 0x7f, 64 * 4096), (3, 0x7f, 8 * 64 * 4096)] {
            let mut bench = wwdg();
            bench.write(Ps(0), CFR, prescaler << CFR_WDGTB | COUNTER).unwrap();
            bench.write(Ps(0), CR, CR_WDGA | counter).unwrap();
            bench.run(Ps::from_us(1_000_000));
            assert_eq!(bench.bus.exit.map(|exit| exit.at), Some(edge(clocks)), "{prescaler} {counter:#x}");
        }
        assert_eq!(edge(4096).0 / 10_000, 13_653, "136.53 us");
    }

    #[test]
    fn it_counts_before_it_is_active_and_wakes_early() {
        let mut bench = wwdg();
        assert_eq!(bench.value(edge(5 * 4096), CR), COUNTER - 5);
        bench.write(edge(5 * 4096), CFR, CFR_EWI | COUNTER).unwrap();
        bench.write(edge(5 * 4096), CR, CR_WDGA | 0x42).unwrap();
        bench.run(edge(7 * 4096 - 1));
        assert_eq!(bench.pending(), 0);
        bench.run(edge(7 * 4096));
        assert_eq!((bench.pending(), bench.value(edge(7 * 4096), SR)), (1 << 2, 1));
        bench.write(edge(7 * 4096), SR, 0).unwrap();
        assert_eq!(bench.pending(), 0);
        bench.write(edge(7 * 4096 + 9), CR, CR_WDGA | COUNTER).unwrap();
        bench.run(edge(8 * 4096));
        assert_eq!(bench.bus.exit, None);
    }

    #[test]
    fn it_counts_while_its_enable_bit_lets_it() {
        let properties: [(&str, &[u32]); 1] = [("cyclescope,clock-enable", &[0x40, 11])];
        let (mut bench, _) = read_plain_node(from_node, &properties);
        // The bench's clock has 100 MHz.
        let at = |number: u64| Ps::from_ns(10 * number);
        let gate = |bench: &mut Bench, at: Ps, open: u32| {
            bench.bus.clocks.set_gates(0x40, open << 11);
            bench.bus.set_clocks(&[], at);
        };
        gate(&mut bench, Ps(0), 0);
        bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
        gate(&mut bench, at(1000), 1);
        assert_eq!(bench.value(at(1000 + 3 * 4096 - 1), CR), COUNTER - 2);
        assert_eq!(bench.value(at(1000 + 3 * 4096), CR), COUNTER - 3);
        gate(&mut bench, at(1000 + 3 * 4096), 0);
        gate(&mut bench, at(90_000), 1);
        assert_eq!(bench.value(at(90_000 + 4095), CR), COUNTER - 3);
        assert_eq!(bench.value(at(90_000 + 4096), CR), COUNTER - 4);
    }

    #[test]
    fn a_write_before_the_window_resets() {
        let mut bench = wwdg();
        bench.write(Ps(0), CFR, 0x50).unwrap();
        bench.write(Ps(0), CR, CR_WDGA | 0x60).unwrap();
        // At 0x50 from 16 steps on.
        bench.write(edge(16 * 4096), CR, 0x60).unwrap();
        assert_eq!(bench.bus.exit, None);
        bench.write(edge(32 * 4096 - 1), CR, 0x60).unwrap();
        assert!(bench.bus.exit.is_some());
    }

    #[test]
    fn a_node_gives_interrupt_and_gate() {
        let properties: [(&str, &[u32]); 2] =
            [("interrupts-extended", &[CPU_INTC, 0]), ("cyclescope,clock-enable", &[0x40, 11])];
        let (mut bench, faults) = read_plain_node(from_node, &properties);
        assert!(faults.is_empty(), "{faults:?}");
        bench.bus.clocks.set_gates(0x40, 0);
        assert_eq!((bench.value(Ps(0), CR), bench.bus.notes().len()), (0, 1));
    }
}
