//! The power controllers of STM32F4 and STM32L4+ (RM0090, RM0383 and RM0432, "Power control (PWR)"): one device, by a
//! table for each part. That of STM32MP1 has regulators instead of voltages, and is a device of its own.

pub mod stm32f4;
pub mod stm32l4;
pub mod stm32mp1;

use crate::prelude::*;

use crate::support::activities::VOLTAGE;
use crate::support::kernel_clock::KernelClock;

/// What a part has of a power controller.
#[derive(Debug)]
pub struct Generation {
    /// The register map.
    map: &'static Map,
    /// The register with the voltage.
    control: u32,
    /// The register with the flags of transitions.
    status: u32,
    /// What the register of flags reads if it holds a value, at a time.
    flags: fn(&Pwr, u32, Ps) -> u32,
    /// A register was written: the register, what it held, and what it holds.
    wrote: fn(&mut Pwr, u32, u32, u32, &mut Ctx),
    /// Opens the gates that the registers control.
    open_gates: fn(&Pwr, &mut Ctx),
    /// The voltage in force if the control register holds a value: a place in the limits.
    voltage: fn(&Pwr, u32) -> usize,
    /// True if the voltage can be written while the PLL is off, and takes effect while it runs.
    needs_pll: bool,
    /// Voltages, each with its maximum HCLK in MHz.
    limits: &'static [(&'static str, u64)],
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
pub struct Pwr {
    #[state(skip)]
    generation: &'static Generation,
    hclk: ClockInput,
    pll: KernelClock,
    gate: ClockGate,
    /// The times of its transitions.
    #[state(skip)]
    times: [Ps; 2],
    registers: Registers,
    /// The ends of transitions: of the voltage, and of another regulator.
    until: [Ps; 2],
    alarm: Alarm,
}

impl Pwr {
    /// The device after reset, by HCLK and an output of the PLL (HCLK for parts whose voltage does not depend on the
    /// PLL).
    fn new(generation: &'static Generation, [hclk, pll]: [ClockInput; 2], gate: ClockGate, times: [Ps; 2]) -> Pwr {
        let (pll, registers) = (KernelClock::new(pll).standing(), Registers::new(generation.map));
        Pwr { generation, hclk, pll, gate, times, registers, until: [Ps::ZERO; 2], alarm: Alarm::default() }
    }

    /// A transition begins, whose end raises or lowers a flag.
    fn begin(&mut self, transition: usize, ctx: &mut Ctx) {
        let until = ctx.now.saturating_add(self.times[transition]);
        self.until[transition] = until;
        self.alarm.set(until, 0, ctx);
    }

    /// [`Pwr::begin`], recorded as a span.
    fn begin_span(&mut self, transition: usize, ctx: &mut Ctx) {
        ctx.span((&VOLTAGE, transition as u32), ctx.now, ctx.now.saturating_add(self.times[transition]), Detail::None);
        self.begin(transition, ctx);
    }

    fn is_changing(&self, transition: usize, now: Ps) -> bool {
        now < self.until[transition]
    }

    /// The voltage in force.
    fn voltage(&self) -> usize {
        (self.generation.voltage)(self, self.registers[self.generation.control])
    }

    /// Adds a note for a clock that is too fast for the voltage.
    fn check(&self, ctx: &mut Ctx) {
        let ((voltage, most_mhz), hz) = (self.generation.limits[self.voltage()], self.hclk.rate.get());
        if hz > most_mhz * 1_000_000 {
            ctx.note(&format!("HCLK runs at {hz} Hz {voltage}, which allows {most_mhz} MHz: the chip may fail"));
        }
    }

    /// Starts a transition if the voltage differs from that of `before`.
    fn voltage_may_change(&mut self, before: usize, ctx: &mut Ctx) {
        if self.voltage() != before {
            self.begin(0, ctx);
            ctx.awaits(&VOLTAGE, Some(self.until[0]), Detail::None);
        }
    }
}

impl Table for Pwr {
    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        if register == self.generation.status { (self.generation.flags)(self, held, ctx.now) } else { held }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        (self.generation.wrote)(self, register, old, new, ctx);
    }
}

impl Device for Pwr {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        (self.generation.open_gates)(self, ctx);
    }

    /// A flag changes, which wakes polling loops.
    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        if let Some(later) = self.until.into_iter().filter(|until| *until > ctx.now).min() {
            self.alarm.set(later, 0, ctx);
        }
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        let before = self.voltage();
        self.hclk.rate = ctx.bus.clocks.rate_of(self.hclk);
        self.pll.follow(ctx);
        self.voltage_may_change(before, ctx);
        self.check(ctx);
    }
}
