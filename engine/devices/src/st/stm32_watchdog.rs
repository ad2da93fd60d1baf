//! `st,stm32-watchdog`: the independent watchdog of an STM32, IWDG (RM0090 and RM0432, "Independent watchdog (IWDG)"),
//! and, as `st,stm32mp1-iwdg`, that of STM32MP1 (RM0436).
//!
//! Modelled: all registers, with the key that unlocks them; the counter, which counts LSI divided by the prescaler,
//! from the key 0xcccc on; IWDG_SR, whose bits are set for `cyclescope,update-cycles` of LSI after a write, during
//! which another write is lost; with `cyclescope,window` or in an STM32MP1, IWDG_WINR; in an STM32MP1, prescalers up to
//! 1024 and the early interrupt (IWDG_EWCR), when the counter comes to EWIT - 1. A time-out, and a reload outside the
//! window, reset the board: the run ends with a note.
//!
//! Each reload restarts the prescaler. Option bytes (a watchdog started by hardware, stopped in standby) are not
//! modelled.

use crate::prelude::*;
use crate::support::axi_lite::edge_in_reach;
use crate::support::board_reset::reset_board;
use crate::support::interrupt_output::InterruptOutput;

registers! {
    /// The registers of all chips.
    const PLAIN "IWDG_" {
        KR 0x00 wo mask 0xffff;
        PR 0x04 rw mask 7;
        RLR 0x08 rw reset MOST mask MOST;
        SR 0x0c ro volatile { PVU 0, RVU 1, WVU 2 };
    }

    /// What some chips add.
    const WINDOW "IWDG_" {
        WINR 0x10 rw reset MOST mask MOST;
    }

    /// What an STM32MP1 has. Its prescaler is 1024 for all values from 8 on, as in Linux's stm32_iwdg.c.
    const OF_MP1 "IWDG_" {
        MP1_KR "KR" 0x00 wo mask 0xffff;
        MP1_PR "PR" 0x04 rw reset 7 mask 0xf;
        MP1_RLR "RLR" 0x08 rw reset MOST mask MOST;
        MP1_SR "SR" 0x0c ro volatile { PVU 0, RVU 1, WVU 2, EWU 3, EWIF 14 };
        EWCR 0x14 rw {
            EWIT 0..12,
            /// Clears the interrupt; reads 0.
            EWIC 14,
            EWIE 15,
        };
        HWCFGR 0x3f0 ro reset 0x71 mask 0xff;
        VERR 0x3f4 ro reset 0x23 mask 0xff;
        IDR 0x3f8 ro reset 0x0012_0041;
        SIDR 0x3fc ro reset 0xa3c5_dd01;
    }
}

/// The register map of a watchdog with IWDG_WINR.
pub const WITH_WINDOW: Map = joined!(PLAIN, WINDOW);
/// The register map of an STM32MP1's.
pub const MP1_MAP: Map = joined!(OF_MP1, WINDOW);

const MOST: u32 = 0xfff;
/// Registers that a key unlocks, in the order of their bits of IWDG_SR.
const LOCKED: [u32; 4] = [PR, RLR, WINR, EWCR];
const KEY_OPEN: u32 = 0x5555;
const KEY_RELOAD: u32 = 0xaaaa;
const KEY_START: u32 = 0xcccc;

/// The compatible of an STM32MP1's watchdog.
const MP1: &str = "st,stm32mp1-iwdg";

/// The watchdog.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
#[poll(first = Iwdg::list_updates)]
pub struct Iwdg {
    /// LSI.
    clock: ClockInput,
    /// Its clock enable bit on the bus.
    gate: ClockGate,
    /// Clocks of LSI until a written register takes effect.
    #[state(skip)]
    update_cycles: Cycles,
    registers: Registers,
    is_open: bool,
    /// The edge of LSI at which each of the locked registers takes effect.
    busy_until: [u64; LOCKED.len()],
    /// The edge at which the counter was loaded, and its value; `None` before it is started.
    loaded: Option<(u64, u32)>,
    /// The early interrupt is pending.
    is_early: bool,
    interrupt: InterruptOutput,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["st,stm32-watchdog", MP1], 1, from_node)
    .naming(WITH_WINDOW.rows)
    .naming_as(MP1, MP1_MAP.rows);

/// Builds the watchdog from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "LSI, which clocks the counter");
    let update_cycles =
        reader.timing_cycles("cyclescope,update-cycles", "clocks of LSI until a written register takes effect");
    let has_window = reader.flag("cyclescope,window", "the watchdog has IWDG_WINR");
    let is_mp1 = reader.node.compatibles().contains(&MP1);
    let map = if is_mp1 { &MP1_MAP } else { Iwdg::map(has_window) };
    let interrupt = InterruptOutput::new(reader.interrupt(0, "the early interrupt of an STM32MP1's"));
    let gate = ClockGate::from_node(reader);
    Box::new(Iwdg { interrupt, gate, ..Iwdg::with(clock, update_cycles, map) })
}

impl Iwdg {
    /// The watchdog after reset.
    pub fn new(clock: ClockInput, update_cycles: Cycles, has_window: bool) -> Iwdg {
        Iwdg::with(clock, update_cycles, Iwdg::map(has_window))
    }

    const fn map(has_window: bool) -> &'static Map {
        if has_window { &WITH_WINDOW } else { &PLAIN }
    }

    fn with(clock: ClockInput, update_cycles: Cycles, map: &'static Map) -> Iwdg {
        let (gate, is_open, busy_until, loaded, is_early, alarm) = Default::default();
        let (registers, interrupt) = (Registers::new(map), InterruptOutput::new(None));
        Iwdg { clock, gate, update_cycles, registers, is_open, busy_until, loaded, is_early, interrupt, alarm }
    }

    fn edge(&self, ctx: &Ctx) -> u64 {
        self.clock.rate.cycles_until_floor(ctx.now).0
    }

    fn has(&self, register: u32) -> bool {
        self.registers.map().row(register).is_some()
    }

    /// Clocks of LSI for each value of the counter.
    fn step(&self) -> u64 {
        4 << self.registers[PR].min(if self.has(EWCR) { 8 } else { 6 })
    }

    /// The edge at which the early interrupt comes, if the counter has that value ahead of it.
    fn early(&self) -> Option<u64> {
        let (loaded, from) = self.loaded.filter(|_| self.registers.has(EWCR, EWCR_EWIE))?;
        let at = self.registers.field(EWCR, EWCR_EWIT).checked_sub(1)?;
        Some(loaded + u64::from(from.checked_sub(at)?) * self.step())
    }

    /// The edge at which the counter reaches its end.
    fn end(&self) -> Option<u64> {
        self.loaded.map(|(edge, from)| edge + (u64::from(from) + 1) * self.step())
    }

    fn counter(&self, edge: u64) -> u32 {
        let (loaded, from) = self.loaded.unwrap_or((edge, MOST));
        u64::from(from).saturating_sub(edge.saturating_sub(loaded) / self.step()) as u32
    }

    fn status(&self, edge: u64) -> u32 {
        let busy = |place: usize| flag(1 << place, self.busy_until[place] > edge);
        (0..LOCKED.len()).fold(flag(MP1_SR_EWIF, self.is_early), |bits, place| bits | busy(place))
    }

    /// Reloads the counter, at the next edge of LSI.
    fn reload(&mut self, ctx: &mut Ctx) {
        let begins = self.clock.rate.cycles_until_ceil(ctx.now).0;
        self.loaded = Some((begins, self.registers[RLR]));
        self.arm(ctx);
    }

    fn arm(&mut self, ctx: &mut Ctx) {
        self.alarm.cancel(0, ctx);
        let edge = self.edge(ctx);
        let early = self.early().filter(|early| *early > edge && !self.is_early);
        let next = early.into_iter().chain(self.end()).min();
        if let Some(due) = next.and_then(|next| edge_in_reach(self.clock.rate, next)) {
            self.alarm.set(due, 0, ctx);
        }
    }

    fn write_key(&mut self, key: u32, ctx: &mut Ctx) {
        self.is_open = key == KEY_OPEN;
        match key {
            KEY_START if self.loaded.is_none() => self.reload(ctx),
            KEY_RELOAD if self.loaded.is_some() => {
                let counter = self.counter(self.edge(ctx));
                if self.has(WINR) && counter > self.registers[WINR] {
                    end_run("the watchdog IWDG was reloaded before its window", ctx);
                }
                self.reload(ctx);
            }
            _ => {}
        }
    }

    /// A write of a locked register, which held `old`.
    fn wrote_value(&mut self, register: u32, old: u32, ctx: &mut Ctx) {
        let (edge, new) = (self.edge(ctx), self.registers[register]);
        let Some(place) = LOCKED.iter().position(|locked| *locked == register) else { return };
        self.registers.set(register, old);
        if register == EWCR && new & EWCR_EWIC != 0 {
            // The flag is cleared without the key.
            self.is_early = false;
            self.arm(ctx);
            if (new ^ old) & !EWCR_EWIC == 0 {
                return;
            }
        }
        if !self.is_open {
            ctx.note("a register was written without the key 0x5555 in IWDG_KR: it keeps its value");
            return;
        }
        if self.busy_until[place] > edge {
            ctx.note("a register was written while IWDG_SR says that it is being updated: it keeps its value");
            return;
        }
        // Clocks that were counted with the old prescaler stay counted.
        let counter = self.counter(edge);
        self.registers.set(register, if register == EWCR { new & !EWCR_EWIC } else { new });
        self.busy_until[place] = edge + self.update_cycles.0;
        match register {
            PR if self.loaded.is_some() => {
                self.loaded = Some((edge, counter));
                self.arm(ctx);
            }
            // A write of the window, and one of the early interrupt, reload the counter.
            WINR | EWCR if self.loaded.is_some() => self.reload(ctx),
            _ => {}
        }
    }

    fn list_updates(&mut self, poll: &mut Poll) -> bool {
        let edge = self.clock.rate.cycles_until_floor(poll.now()).0;
        let updates = self.busy_until.iter().filter(|at| **at > edge).min();
        if let Some(due) = updates.and_then(|at| edge_in_reach(self.clock.rate, *at)) {
            poll.until(due);
        }
        poll.state(self.status(edge));
        true
    }
}

/// Ends the run: the watchdog resets the board.
pub(super) fn end_run(what: &str, ctx: &mut Ctx) {
    reset_board(&format!("{what}, and resets the board: the run ends"), ctx);
}

impl Table for Iwdg {
    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        if register == SR { self.status(self.edge(ctx)) } else { held }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            KR => self.write_key(new, ctx),
            register => self.wrote_value(register, old, ctx),
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let level = self.is_early && self.registers.has(EWCR, EWCR_EWIE);
        self.interrupt.drive(level, ctx);
    }
}

impl Device for Iwdg {
    by_table!();

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        let edge = self.edge(ctx);
        if self.end().is_some_and(|end| end <= edge) {
            self.loaded = None;
            end_run("the watchdog IWDG was not reloaded in time (0xaaaa in IWDG_KR)", ctx);
        } else if self.early().is_some_and(|early| early <= edge) {
            self.is_early = true;
            self.arm(ctx);
        }
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        let (from, counter) = (self.edge(ctx), self.counter(self.edge(ctx)));
        let passed = self.loaded.map(|(loaded, _)| from.saturating_sub(loaded) % self.step());
        ctx.bus.clocks.update(&mut self.clock);
        let to = self.edge(ctx);
        self.busy_until = self.busy_until.map(|at| to + at.saturating_sub(from));
        self.loaded = passed.map(|passed| (to.saturating_sub(passed), counter));
        self.arm(ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::{AccessSize, DeviceId};
    use engine::clocks::User;
    use engine::dt::wiring::ClockId;
    use engine::time::{Hz, Ps};

    const LSI: ClockId = ClockId(4);

    fn edge(number: u64) -> Ps {
        Hz::new(32_000).unwrap().ps_at_floor(Cycles(number))
    }

    fn iwdg() -> Bench {
        let clock = ClockInput { rate: Hz::new(32_000).unwrap(), id: Some(LSI) };
        let mut bench = Bench::new(Iwdg::new(clock, Cycles(5), true));
        bench.bus.clocks.add_user(LSI, User::Device(DeviceId(0)));
        bench
    }

    /// The time at which the run ended.
    fn ended(bench: &mut Bench) -> Option<Ps> {
        bench.run(Ps::from_us(100_000_000));
        bench.bus.exit.map(|exit| exit.at)
    }

    #[test]
    fn the_device_keeps_its_table() {
        // These registers can only be written with a key.
        walk::device_keeps_its_map(&WITH_WINDOW, &["IWDG_PR", "IWDG_RLR", "IWDG_WINR"], &mut iwdg());
        assert_eq!([PR, RLR, WINR].map(|at| iwdg().value(Ps(0), at)), [0, MOST, MOST]);
    }

    #[test]
    fn times_out_as_the_table_says() {
        // RM0090, table of IWDG time-outs at 32 kHz: 0.125 ms to 512 ms for /4, 8 ms to 32768 ms for /256.
        for (prescaler, reload, us) in [(0, 0, 125), (0, MOST, 512_000), (6, 0, 8_000), (7, MOST, 32_768_000)] {
            let mut bench = iwdg();
            for (offset, value) in [(KR, KEY_OPEN), (PR, prescaler), (RLR, reload), (KR, KEY_START)] {
                bench.write(Ps(0), offset, value).unwrap();
            }
            assert_eq!(ended(&mut bench), Some(Ps::from_us(us)), "{prescaler} {reload}");
            assert!(bench.bus.exit_is_reset);
        }
    }

    #[test]
    fn a_key_of_two_equal_bytes_may_be_stored_as_one() {
        let mut bench = iwdg();
        bench.write(edge(0), KR, KEY_START).unwrap();
        let reload = |device: &mut dyn Device, ctx: &mut Ctx| device.write(0, KR, AccessSize::Byte, 0xaa, ctx);
        bench.bus.with_device(DeviceId(0), edge(16_000), reload).unwrap();
        assert_eq!(ended(&mut bench), Some(edge(16_000 + 4 * 4096)));
    }

    #[test]
    fn a_reload_begins_anew() {
        let mut bench = iwdg();
        bench.write(edge(0), KR, KEY_START).unwrap();
        bench.run(edge(16_000));
        bench.write(edge(16_000), KR, KEY_RELOAD).unwrap();
        assert_eq!(ended(&mut bench), Some(edge(16_000 + 4 * 4096)));
        assert_eq!(iwdg().bus.exit, None);
    }

    #[test]
    fn registers_need_the_key_and_their_time() {
        let mut bench = iwdg();
        bench.write(edge(10), PR, 3).unwrap();
        assert_eq!((bench.value(edge(10), PR), bench.bus.notes().len()), (0, 1));
        bench.write(edge(10), KR, KEY_OPEN).unwrap();
        bench.write(edge(10), PR, 3).unwrap();
        assert_eq!((bench.value(edge(10), PR), bench.value(edge(14), SR), bench.value(edge(15), SR)), (3, 1, 0));
        bench.write(edge(20), PR, 4).unwrap();
        bench.write(edge(21), PR, 5).unwrap();
        assert_eq!((bench.value(edge(21), PR), bench.bus.notes().len()), (4, 2));
    }

    #[test]
    fn a_reload_before_the_window_resets() {
        let mut bench = iwdg();
        for (offset, value) in [(KR, KEY_START), (KR, KEY_OPEN), (WINR, 4000)] {
            bench.write(Ps(0), offset, value).unwrap();
        }
        // The counter is at 4000 from edge 4 * 95 on.
        bench.write(edge(4 * 95), KR, KEY_RELOAD).unwrap();
        assert_eq!(bench.bus.exit, None);
        bench.write(edge(4 * 95 + 4 * 95 - 1), KR, KEY_RELOAD).unwrap();
        assert_eq!(bench.bus.exit.map(|exit| exit.at), Some(edge(4 * 190 - 1)));
    }

    /// The watchdog of an STM32MP1, with its interrupt at input 3 of the core.
    fn of_mp1() -> Bench {
        let clock = ClockInput { rate: Hz::new(32_000).unwrap(), id: None };
        let interrupt = InterruptOutput::new(Some(IrqLine::Core { core: 0, bit: 3 }));
        Bench::new(Iwdg { interrupt, ..Iwdg::with(clock, Cycles(5), &MP1_MAP) })
    }

    #[test]
    fn that_of_an_stm32mp1_has_other_registers_and_longer_times() {
        walk::device_keeps_its_map(&MP1_MAP, &["IWDG_PR", "IWDG_RLR", "IWDG_WINR", "IWDG_EWCR"], &mut of_mp1());
        assert_eq!([PR, RLR, WINR, EWCR].map(|at| of_mp1().value(Ps(0), at)), [7, MOST, MOST, 0]);
        // Linux's watchdog of 32 s at 32 kHz: 256, and the longest: 1024.
        for (prescaler, reload, seconds) in [(6, 3999, 32), (8, 3124, 100)] {
            let mut bench = of_mp1();
            for (offset, value) in [(KR, KEY_OPEN), (PR, prescaler), (RLR, reload), (KR, KEY_START)] {
                bench.write(Ps(0), offset, value).unwrap();
            }
            assert_eq!(ended(&mut bench), Some(Ps::from_us(1_000_000 * seconds)), "{prescaler}");
        }
    }

    #[test]
    fn the_early_interrupt_comes_before_the_reset() {
        let mut bench = of_mp1();
        for (offset, value) in [(KR, KEY_OPEN), (PR, 0), (RLR, 99), (EWCR, EWCR_EWIE | 50), (KR, KEY_START)] {
            bench.write(Ps(0), offset, value).unwrap();
        }
        // From 99 to 49, four edges each.
        bench.run(edge(200) - Ps(1));
        assert_eq!(bench.pending(), 0);
        bench.run(edge(200));
        assert_eq!((bench.pending(), bench.value(edge(200), SR)), (1 << 3, MP1_SR_EWIF));
        bench.write(edge(200), EWCR, EWCR_EWIE | EWCR_EWIC | 50).unwrap();
        assert_eq!((bench.pending(), bench.value(edge(200), EWCR)), (0, EWCR_EWIE | 50));
        bench.write(edge(300), KR, KEY_RELOAD).unwrap();
        bench.run(edge(500));
        assert_eq!(bench.pending(), 1 << 3);
        assert_eq!(ended(&mut bench), Some(edge(700)));
    }

    #[test]
    fn the_counter_follows_its_clock() {
        let mut bench = iwdg();
        bench.write(Ps(0), KR, KEY_START).unwrap();
        // A quarter of 4 * 4096 edges at 32 kHz, the rest at 64 kHz.
        bench.bus.set_clocks(&[(LSI, Hz::new(64_000).unwrap())], edge(4096));
        assert_eq!(ended(&mut bench), Some(edge(4096 + 3 * 2048)));
    }

    #[test]
    fn a_node_gives_clock_and_window() {
        let (mut bench, mut faults) = read_plain_node(from_node, &[("cyclescope,update-cycles", &[5])]);
        faults.retain(|fault| !fault.contains("cyclescope,sources"));
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(bench.value(Ps(0), WINR), 0);
    }
}
