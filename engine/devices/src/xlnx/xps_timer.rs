//! `xlnx,xps-timer-1.00.a`: AXI Timer v2.0 (PG079): two counters of up to 32 bits, or one of 64.
//!
//! Modelled: generate mode (counting up or down, hold or auto reload, the interrupt at each rollover), capture mode
//! without a capture input (the counter wraps), cascade mode, ENALL. A counter's value is a function of time
//! ([`counter`]); there is an event only for a rollover that raises the interrupt.
//!
//! Not modelled: the pins. The capture triggers stay inactive, generate outputs and PWM drive nothing; a note says so
//! when they are enabled.

use crate::prelude::*;
use crate::support::activities::TIMER;
use crate::support::axi_lite::{AxiLitePort, edge_in_reach};
use crate::support::timer_interrupt::TimerInterrupt;
use counter::{Counter, Setting};

mod counter;

registers! {
    /// The registers of timer 0 (PG079, Register Space).
    const TIMER0 "" {
        TCSR "TCSR0" 0x00 rw {
            MDT 0, UDT 1, GENT 2, CAPT 3, ARHT 4, LOAD 5, ENIT 6, ENT 7, TINT 8 w1c, PWMA 9, ENALL 10, CASC 11
        };
        TLR "TLR0" 0x04 rw;
        TCR "TCR0" 0x08 ro volatile;
    }

    /// The registers of timer 1, with the same bits.
    const TIMER1 "" {
        TCSR1 0x10 rw mask 0x7ff { TINT 8 w1c };
        TLR1 0x14 rw;
        TCR1 0x18 ro volatile;
    }
}

/// The register map of a core with both timers.
const MAP: Map = joined!(TIMER0, TIMER1);

/// From a register of timer 0 to timer 1's.
const STRIDE: u32 = TCSR1 - TCSR;

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.port))]
#[poll(first = XpsTimer::list_rollovers)]
pub struct XpsTimer {
    /// The register port; its clock is counted.
    #[state(skip)]
    port: AxiLitePort,
    /// Width of the counters in bits: 8, 16 or 32.
    #[state(skip)]
    width_bits: u32,
    #[state(skip)]
    has_timer1: bool,
    interrupt: TimerInterrupt,
    registers: Registers,
    /// In cascade mode, timer 0's counter has both halves.
    #[poll(skip = "they count by themselves: an access to one is counted below, and rollovers are listed")]
    counters: [Counter; 2],
    /// Writes, and reads of a counter's value, so far: a loop with such an access is in another state each iteration.
    moving_accesses: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["xlnx,xps-timer-1.00.a"], 1, from_node).with_activities(TIMER).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let port = AxiLitePort::from_node(reader);
    let width_bits = reader.u32_or("xlnx,count-width", 32, [8, 16, 32], "the counters have 8, 16 or 32 bits");
    let has_timer1 = reader.u32("xlnx,one-timer-only", 0..=1, "0 is two timers, 1 is one") == 0;
    for pin in ["xlnx,gen0-assert", "xlnx,gen1-assert", "xlnx,trig0-assert", "xlnx,trig1-assert"] {
        reader.u32_or(pin, 1, 0..=1, "the active level of a pin; changes nothing");
    }
    reader.known(&["clock-names"]);
    Box::new(XpsTimer::new(port, width_bits, has_timer1, reader.interrupt(0, "its interrupt")))
}

impl XpsTimer {
    /// The device after reset.
    pub fn new(port: AxiLitePort, width_bits: u32, has_timer1: bool, interrupt: Option<IrqLine>) -> XpsTimer {
        let registers = Registers::new(if has_timer1 { &MAP } else { &TIMER0 });
        let (interrupt, counters) = (TimerInterrupt::new(interrupt), Default::default());
        XpsTimer { port, width_bits, has_timer1, interrupt, registers, counters, moving_accesses: 0 }
    }

    fn is_cascaded(&self) -> bool {
        self.has_timer1 && self.registers.has(TCSR, TCSR_CASC)
    }

    /// A register of a timer.
    fn of(&self, index: usize, register: u32) -> u32 {
        self.registers[register + STRIDE * index as u32]
    }

    /// Counters that run by themselves: in cascade mode only one.
    fn running(&self) -> std::ops::Range<usize> {
        if self.is_cascaded() || !self.has_timer1 { 0..1 } else { 0..2 }
    }

    fn setting(&self, index: usize) -> Setting {
        let (tcsr, tlr) = (self.of(index, TCSR), u64::from(self.of(index, TLR)));
        let (max, reload) = if self.is_cascaded() {
            (u64::MAX >> (64 - 2 * self.width_bits), u64::from(self.registers[TLR1]) << self.width_bits | tlr)
        } else {
            (u64::MAX >> (64 - self.width_bits), tlr)
        };
        Setting {
            max,
            reload,
            down: tcsr & TCSR_UDT != 0,
            runs: tcsr & TCSR_ENT != 0 && tcsr & TCSR_LOAD == 0,
            reloads: tcsr & TCSR_ARHT != 0,
            generates: tcsr & TCSR_MDT == 0,
        }
    }

    /// The time at which a counter that runs by itself rolls over next.
    fn rollover(&self, index: usize) -> Option<Ps> {
        let cycle = self.counters[index].rollover_cycle(&self.setting(index))?;
        edge_in_reach(self.port.clock, cycle)
    }

    /// The flags are set at fixed times.
    fn list_rollovers(&mut self, poll: &mut Poll) -> bool {
        // With another clock, each iteration's accesses would wait for other edges.
        if poll.clock() != self.port.clock {
            return false;
        }
        self.pass_to(poll.now());
        self.running().filter_map(|index| self.rollover(index)).for_each(|due| poll.until(due));
        true
    }

    /// TCR.
    fn value(&self, index: usize) -> u32 {
        if self.is_cascaded() {
            let shift = self.width_bits * index as u32;
            return (self.counters[0].value >> shift) as u32 & self.width_mask();
        }
        self.counters[index].value as u32
    }

    fn wrote_control(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        if new & (TCSR_GENT | TCSR_CAPT | TCSR_PWMA) != 0 {
            ctx.note("capture triggers, generate outputs and PWM are enabled, but the timer's pins are not modelled");
        }
        let enables_all = new & TCSR_ENALL != 0;
        for control in [TCSR, TCSR1] {
            self.registers.put(control, if enables_all { TCSR_ENALL | TCSR_ENT } else { TCSR_ENALL }, enables_all);
        }
        if register == TCSR && self.has_timer1 && (old ^ new) & TCSR_CASC != 0 {
            self.recouple(old & TCSR_CASC != 0);
        }
    }

    /// Combines both counters' values into one, or splits them.
    fn recouple(&mut self, was_cascaded: bool) {
        let low = self.counters[0].value;
        if was_cascaded {
            self.counters[1].set(low >> self.width_bits);
            self.counters[0].set(low & u64::from(self.width_mask()));
        } else {
            let high = self.counters[1].value;
            self.counters[0].set(high << self.width_bits | low);
        }
        self.counters[1].cycle = self.counters[0].cycle;
    }

    /// LOAD copies the load register to the counter for as long as it is set; in cascade mode each LOAD its own half.
    fn load(&mut self) {
        for index in 0..2 {
            let tlr = u64::from(self.of(index, TLR));
            if self.of(index, TCSR) & TCSR_LOAD == 0 {
                continue;
            }
            if self.is_cascaded() {
                let shift = self.width_bits * index as u32;
                let kept = self.counters[0].value & !(u64::from(self.width_mask()) << shift);
                self.counters[0].set(kept | tlr << shift);
            } else {
                self.counters[index].set(tlr);
            }
        }
    }

    fn width_mask(&self) -> u32 {
        u32::MAX >> (32 - self.width_bits)
    }
}

impl Table for XpsTimer {
    const UPDATES_AFTER_READS: bool = true;

    /// Brings the counters and interrupt flags up to `now`.
    fn pass_to(&mut self, now: Ps) {
        let cycle = self.port.clock.cycles_until_floor(now).0;
        for index in self.running() {
            let setting = self.setting(index);
            if self.counters[index].settle(&setting, cycle) {
                self.registers.put(TCSR + STRIDE * index as u32, TCSR_TINT, true);
            }
        }
    }

    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        let is_value = matches!(register, TCR | TCR1);
        self.moving_accesses += u64::from(is_value);
        if is_value { self.value((register / STRIDE) as usize) } else { held }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        self.moving_accesses += 1;
        match register {
            TCSR | TCSR1 => self.wrote_control(register, old, new, ctx),
            TLR | TLR1 => self.registers.set(register, new & self.width_mask()),
            _ => {}
        }
        self.load();
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        const RAISED: u32 = TCSR_TINT | TCSR_ENIT;
        let raised = (0..2).any(|index| self.of(index, TCSR) & RAISED == RAISED);
        let awaited = self.running().filter(|index| self.of(*index, TCSR) & RAISED == TCSR_ENIT);
        let due = awaited.filter_map(|index| self.rollover(index)).min();
        self.interrupt.drive(raised, due, ctx);
    }
}

impl Device for XpsTimer {
    by_table!(interrupt);
}

#[cfg(test)]
mod tests;
