//! `st,stm32-window-watchdog`: the window watchdog of an STM32, WWDG (RM0090 and RM0432, "Window watchdog (WWDG)").
//!
//! Modelled: all registers; the counter, which counts its bus clock / 4096, divided by the prescaler, active or not,
//! while its enable bit passes the clock; the early wake-up interrupt at 0x40. The counter at 0x3f, and a reload while
//! it is above the window, reset the board while WDGA is set: the run ends with a note. A write of the counter restarts
//! the prescaler.

use super::stm32_watchdog::end_run;
use crate::prelude::*;
use crate::support::kernel_clock::KernelClock;

registers! {
    /// The register map.
    pub const MAP "WWDG_" {
        CR 0x0 rw reset COUNTER mask 0xff { T 0..7, WDGA 7 };
        CFR 0x4 rw reset COUNTER mask 0x3ff { W 0..7, WDGTB 7..9, EWI 9 };
        SR 0x8 rw { EWIF 0 w0c };
    }
}

/// The largest value of the counter, and the one after reset.
const COUNTER: u32 = 0x7f;
/// The counter's value at its early wake-up; below it the board is reset.
const EARLY: u32 = 0x40;
/// Clocks of the bus in a step of the prescaler.
const PRESCALER: u64 = 4096;

/// The watchdog.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
#[poll(first = Wwdg::list_counter)]
pub struct Wwdg {
    gate: ClockGate,
    /// The early wake-up interrupt.
    interrupt: Option<IrqLine>,
    /// The clock of its bus.
    clock: KernelClock,
    /// WWDG_CR.T is the value with which the counter was loaded.
    registers: Registers,
    /// The edge at which the counter was loaded.
    loaded: u64,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["st,stm32-window-watchdog"], 1, from_node).naming(MAP.rows);

/// Builds the watchdog from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "the clock of its bus");
    let interrupt = reader.interrupt(0, "its early wake-up interrupt");
    Box::new(Wwdg::new(clock, interrupt, ClockGate::from_node(reader)))
}

impl Wwdg {
    /// The watchdog after reset.
    pub fn new(clock: ClockInput, interrupt: Option<IrqLine>, gate: ClockGate) -> Wwdg {
        let (clock, registers) = (KernelClock::new(clock).after(gate), Registers::new(&MAP));
        Wwdg { gate, interrupt, clock, registers, loaded: 0, alarm: Alarm::default() }
    }

    fn is_active(&self) -> bool {
        self.registers.has(CR, CR_WDGA)
    }

    /// Clocks of the bus for each value of the counter.
    fn step(&self) -> u64 {
        PRESCALER << self.registers.field(CFR, CFR_WDGTB)
    }

    /// T[6:0], which wraps around while the watchdog is not active.
    fn counter(&self, edge: u64) -> u32 {
        let steps = edge.saturating_sub(self.loaded) / self.step();
        self.registers[CR].wrapping_sub(steps as u32) & CR_T
    }

    /// The counter has this value from an edge on.
    fn load(&mut self, edge: u64, counter: u32) {
        self.loaded = edge;
        self.registers.set(CR, self.registers[CR] & CR_WDGA | counter);
    }

    /// The edges at which the counter reaches 0x40 and 0x3f after its last write.
    fn ends(&self) -> [u64; 2] {
        let steps = u64::from(self.registers.field(CR, CR_T).saturating_sub(EARLY));
        [steps, steps + 1].map(|steps| self.loaded + steps * self.step())
    }

    fn write_control(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        self.registers.set(CR, old);
        if self.is_active() && self.counter(self.clock.edge(ctx.now)) > self.registers.field(CFR, CFR_W) {
            end_run("the watchdog WWDG was written before its window", ctx);
        }
        self.registers.put(CR, new & CR_WDGA, true);
        self.load(self.clock.next_edge(ctx.now), new & CR_T);
        if self.is_active() && new & EARLY == 0 {
            end_run("the watchdog WWDG was written with a counter below 0x40", ctx);
        }
    }

    fn write_configuration(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        // Clocks that were counted with the old prescaler stay counted; EWI stays set.
        self.registers.set(CFR, old);
        let edge = self.clock.edge(ctx.now);
        self.load(edge, self.counter(edge));
        self.registers.set(CFR, new | old & CFR_EWI);
    }

    fn list_counter(&mut self, poll: &mut Poll) -> bool {
        let edge = self.clock.edge(poll.now());
        let steps = edge.saturating_sub(self.loaded) / self.step();
        if let Some(due) = self.clock.due(self.loaded + (steps + 1) * self.step()) {
            poll.until(due);
        }
        poll.state(self.counter(edge));
        true
    }
}

impl Table for Wwdg {
    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        if register == CR { held & CR_WDGA | self.counter(self.clock.edge(ctx.now)) } else { held }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CR => self.write_control(old, new, ctx),
            CFR => self.write_configuration(old, new, ctx),
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.alarm.cancel(0, ctx);
        ctx.set_irq(self.interrupt, self.registers.has(SR, SR_EWIF) && self.registers.has(CFR, CFR_EWI));
        let edge = self.clock.edge(ctx.now);
        let next = self.ends().into_iter().find(|end| *end > edge && self.is_active());
        if let Some(due) = next.and_then(|next| self.clock.due(next)) {
            self.alarm.set(due, 0, ctx);
        }
    }
}

impl Device for Wwdg {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.gate.follow(ctx);
        self.clock.follow(ctx);
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        let (edge, [early, end]) = (self.clock.edge(ctx.now), self.ends());
        self.registers.put(SR, SR_EWIF, early == edge || self.registers.has(SR, SR_EWIF));
        if self.is_active() && end <= edge {
            self.registers.put(CR, CR_WDGA, false);
            end_run("the watchdog WWDG was not written in time", ctx);
        }
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        let counter = self.counter(self.clock.edge(ctx.now));
        let (from, to) = self.clock.follow(ctx);
        let passed = from.saturating_sub(self.loaded) % self.step();
        self.load(to.saturating_sub(passed), counter);
        if self.gate.is_reset(ctx.bus) {
            self.registers.reset();
            self.loaded = to;
        }
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::time::{Cycles, Hz, Ps};

    fn edge(number: u64) -> Ps {
        Hz::new(30_000_000).unwrap().ps_at_floor(Cycles(number))
    }

    fn wwdg() -> Bench {
        let clock = ClockInput::fixed(Hz::new(30_000_000).unwrap());
        let interrupt = Some(IrqLine::Core { core: 0, bit: 2 });
        Bench::new(Wwdg::new(clock, interrupt, ClockGate::default()))
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_map(&MAP, &["WWDG_CR", "WWDG_CFR", "WWDG_SR"], &mut wwdg());
        assert_eq!([CR, CFR, SR].map(|at| wwdg().value(Ps(0), at)), [COUNTER, COUNTER, 0]);
    }

    #[test]
    fn times_out_as_the_table_says() {
        // RM0090, table of WWDG time-outs at 30 MHz: 136.53 us to 8.74 ms for WDGTB 0, to 69.91 ms for WDGTB 3.
        for (prescaler, counter, clocks) in [(0, 0x40, 4096), (0, 0x7f, 64 * 4096), (3, 0x7f, 8 * 64 * 4096)] {
            let mut bench = wwdg();
            bench.write(Ps(0), CFR, prescaler << 7 | COUNTER).unwrap();
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
