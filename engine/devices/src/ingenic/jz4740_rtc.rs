//! `ingenic,jz4740-rtc`: the JZ4740's real-time clock with its hibernate control (Linux's rtc-jz4740.c; U-Boot's
//! asm/jz4740.h for names).
//!
//! Modelled: all registers. The seconds count while RTCCR.RTCE is set, NC1HZ + 1 clocks each, and set RTCCR.1HZ and,
//! when they reach RTCSAR while RTCCR.AE is set, RTCCR.AF; both raise the interrupt if enabled. After a write the
//! registers ignore further writes until RTCCR.WRDY is set again. Setting HCR.PD hibernates: the board's power is
//! switched off, and the run ends with exit status 0.
//!
//! The clock starts with 0 seconds, running; on a real board, it keeps its time while the board is off. Not modelled:
//! waking up, and RTCGR.ADJC, which makes some of 1024 seconds a clock longer.

use crate::prelude::*;
use crate::support::activities::TIMER;
use crate::support::counter::Ticks;
use crate::support::timer_interrupt::TimerInterrupt;

registers! {
    /// The register map. A written 0 clears 1HZ and AF.
    const MAP "" {
        RTCCR 0x00 rw reset 0x81 mask 0xfd {
            RTCE 0, AE 2, AIE 3, AF 4 w0c,
            /// 1HZIE and 1HZ.
            HZIE 5, HZ 6 w0c,
            WRDY 7 ro,
        };
        RTCSR 0x04 rw;
        RTCSAR 0x08 rw;
        /// NC1HZ is that for a crystal of 32768 Hz.
        RTCGR 0x0c rw locked_by RTCGR_LOCK in RTCGR reset 0x7fff { NC1HZ 0..16, ADJC 16..26, LOCK 31 };
        HCR 0x20 rw volatile { PD 0 };
        HWFCR 0x24 rw mask 0xffe0;
        HRCR 0x28 rw mask 0x0fe0;
        HWCR 0x2c rw mask 1;
        HWRSR 0x30 rw mask 0x33;
        HSPR 0x34 rw;
    }
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = Rtc::list_deadlines)]
pub struct Rtc {
    #[poll(phase)]
    bus_clock: ClockInput,
    #[state(skip)]
    clock: Hz,
    #[state(skip)]
    write_cycles: Cycles,
    interrupt: TimerInterrupt,
    registers: Registers,
    /// The clock in which the present second began.
    second_began: u64,
    ready_at: Ps,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["ingenic,jz4740-rtc"], 1, from_node).with_activities(TIMER).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock(0, "the clock that is counted, of 32768 Hz");
    let bus_clock = reader.clock_input(1, "clock of its bus");
    reader.known(&["clock-names", "system-power-controller"]);
    let write_cycles = reader.timing_cycles("cyclescope,write-cycles", "clocks until RTCCR.WRDY is set after a write");
    Box::new(Rtc::new(bus_clock, clock, write_cycles, reader.interrupt(0, "its interrupt")))
}

impl Rtc {
    /// The device at power-on.
    pub fn new(bus_clock: impl Into<ClockInput>, clock: Hz, write_cycles: Cycles, interrupt: Option<IrqLine>) -> Rtc {
        Rtc {
            bus_clock: bus_clock.into(),
            clock,
            write_cycles,
            interrupt: TimerInterrupt::new(interrupt),
            registers: Registers::new(&MAP),
            second_began: 0,
            ready_at: Ps::ZERO,
        }
    }

    fn runs(&self) -> bool {
        self.registers.has(RTCCR, RTCCR_RTCE)
    }

    /// Seconds after the present one began.
    fn ticks(&self) -> Ticks {
        let divider = u64::from(self.registers.field(RTCGR, RTCGR_NC1HZ)) + 1;
        Ticks { clock: self.clock, divider, origin: self.second_began }
    }

    fn next_second(&self) -> Option<Ps> {
        self.ticks().time_of(1).filter(|_| self.runs())
    }

    fn list_deadlines(&mut self, poll: &mut Poll) -> bool {
        self.pass_to(poll.now());
        Some(self.ready_at).into_iter().chain(self.next_second()).for_each(|at| poll.until(at));
        true
    }
}

impl Table for Rtc {
    const UPDATES_AFTER_READS: bool = true;

    /// Brings the seconds up to `now`.
    fn pass_to(&mut self, now: Ps) {
        if !self.runs() {
            self.second_began = self.clock.cycles_until_floor(now).0;
            return;
        }
        let (ticks, seconds) = (self.ticks(), self.registers[RTCSR]);
        let passed = ticks.at(now);
        if passed > 0 {
            let until_alarm = u64::from(self.registers[RTCSAR].wrapping_sub(seconds).wrapping_sub(1)) + 1;
            let comes = self.registers.has(RTCCR, RTCCR_AE) && until_alarm <= passed;
            self.registers.put(RTCCR, RTCCR_HZ | flag(RTCCR_AF, comes), true);
            self.registers.set(RTCSR, seconds.wrapping_add(passed as u32));
            self.second_began += passed * ticks.divider;
        }
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        let is_busy = register == RTCCR && self.ready_at > ctx.now;
        held & !flag(RTCCR_WRDY, is_busy)
    }

    fn takes_write(&mut self, _: u32, ctx: &mut Ctx) -> bool {
        let is_ready = self.ready_at <= ctx.now;
        if is_ready {
            self.ready_at = self.clock.after(ctx.now, self.write_cycles);
        } else {
            ctx.note("a register was written while RTCCR.WRDY is 0: the write is lost");
        }
        is_ready
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, ctx: &mut Ctx) {
        match register {
            RTCSR => self.second_began = self.clock.cycles_until_floor(ctx.now).0,
            HCR if new & HCR_PD != 0 => ctx.exit(0),
            _ => {}
        }
    }

    fn refused(&mut self, _: u32, why: Refused, ctx: &mut Ctx) {
        if matches!(why, Refused::Locked(..)) {
            ctx.note("RTCGR is locked (LOCK): a write to it had no effect");
        }
    }

    /// Updates the interrupt line, and requests an event at the next second that may raise it.
    fn update(&mut self, ctx: &mut Ctx) {
        let enables = self.registers[RTCCR] & (RTCCR_HZIE | RTCCR_AIE);
        // A flag is the bit above its enable.
        let raised = self.registers.has(RTCCR, enables << 1);
        self.interrupt.drive(raised, self.next_second().filter(|_| enables != 0), ctx);
    }
}

impl Device for Rtc {
    by_table!(interrupt);

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.bus_clock);
    }
}

#[cfg(test)]
mod tests;
