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

use crate::model::{Group, Model};
use crate::support::activities::{COUNTING, TIMER};
use crate::support::apb;
use crate::support::axi_lite::edge_in_reach;
use crate::support::registers::{AccessKind, Register, flag};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Hz, Ps};

/// The register map.
pub const REGISTERS: &[Register] = &[
    Register::new("RTCCR", RTCCR, AccessKind::Rw, RTCCR_WRDY | RTCCR_RTCE, 0xfd),
    Register::new("RTCSR", RTCSR, AccessKind::Rw, 0, u32::MAX),
    Register::new("RTCSAR", RTCSAR, AccessKind::Rw, 0, u32::MAX),
    Register::new("RTCGR", RTCGR, AccessKind::Rw, RTCGR_RESET, RTCGR_MASK),
    Register::new("HCR", HCR, AccessKind::Rw, 0, HCR_PD),
    Register::new("HWFCR", HWFCR, AccessKind::Rw, 0, 0xffe0),
    Register::new("HRCR", HRCR, AccessKind::Rw, 0, 0x0fe0),
    Register::new("HWCR", HWCR, AccessKind::Rw, 0, 1),
    Register::new("HWRSR", HWRSR, AccessKind::Rw, 0, 0x33),
    Register::new("HSPR", HSPR, AccessKind::Rw, 0, u32::MAX),
];

const RTCCR: u32 = 0x00;
const RTCSR: u32 = 0x04;
const RTCSAR: u32 = 0x08;
const RTCGR: u32 = 0x0c;
const HCR: u32 = 0x20;
const HWFCR: u32 = 0x24;
const HRCR: u32 = 0x28;
const HWCR: u32 = 0x2c;
const HWRSR: u32 = 0x30;
const HSPR: u32 = 0x34;

const RTCCR_WRDY: u32 = 1 << 7;
const RTCCR_1HZ: u32 = 1 << 6;
const RTCCR_1HZIE: u32 = 1 << 5;
const RTCCR_AF: u32 = 1 << 4;
const RTCCR_AIE: u32 = 1 << 3;
const RTCCR_AE: u32 = 1 << 2;
const RTCCR_RTCE: u32 = 1 << 0;
/// The bits that a write sets; it clears 1HZ and AF where it has zeroes.
const RTCCR_SETTINGS: u32 = RTCCR_1HZIE | RTCCR_AIE | RTCCR_AE | RTCCR_RTCE;
const RTCGR_MASK: u32 = RTCGR_LOCK | 0x03ff_ffff;
const RTCGR_LOCK: u32 = 1 << 31;
/// NC1HZ for a crystal of 32768 Hz.
const RTCGR_RESET: u32 = 0x7fff;
const HCR_PD: u32 = 1 << 0;

/// The device.
#[derive(Debug, State)]
pub struct Rtc {
    bus_clock: ClockInput,
    #[state(skip)]
    clock: Hz,
    #[state(skip)]
    write_cycles: Cycles,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    control: u32,
    seconds: u32,
    alarm_seconds: u32,
    regulator: u32,
    /// HWFCR, HRCR, HWCR, HWRSR, HSPR.
    hibernate: [u32; 5],
    /// The clock in which the present second began.
    second_began: u64,
    ready_at: Ps,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["ingenic,jz4740-rtc"], 1, from_node).with_activities(TIMER).naming(REGISTERS);

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
            interrupt,
            control: RTCCR_RTCE,
            seconds: 0,
            alarm_seconds: 0,
            regulator: RTCGR_RESET,
            hibernate: [0; 5],
            second_began: 0,
            ready_at: Ps::ZERO,
            alarm: Alarm::default(),
        }
    }

    const fn runs(&self) -> bool {
        self.control & RTCCR_RTCE != 0
    }

    /// Clocks of a second.
    fn second(&self) -> u64 {
        u64::from(self.regulator & 0xffff) + 1
    }

    /// Brings the seconds up to `now`.
    fn settle(&mut self, now: Ps) {
        let clocks = self.clock.cycles_until_floor(now).0;
        if !self.runs() {
            self.second_began = clocks;
            return;
        }
        let passed = (clocks - self.second_began) / self.second();
        if passed > 0 {
            let until_alarm = u64::from(self.alarm_seconds.wrapping_sub(self.seconds).wrapping_sub(1)) + 1;
            self.control |= RTCCR_1HZ | flag(RTCCR_AF, self.control & RTCCR_AE != 0 && until_alarm <= passed);
            self.seconds = self.seconds.wrapping_add(passed as u32);
            self.second_began += passed * self.second();
        }
    }

    fn next_second(&self) -> Option<Ps> {
        edge_in_reach(self.clock, self.second_began + self.second()).filter(|_| self.runs())
    }

    /// Updates the interrupt line, and requests an event at the next second that may raise it.
    fn update(&mut self, ctx: &mut Ctx) {
        let raised = self.control & (self.control & (RTCCR_1HZIE | RTCCR_AIE)) << 1 & (RTCCR_1HZ | RTCCR_AF) != 0;
        ctx.set_irq(self.interrupt, raised);
        let waits = !raised && self.control & (RTCCR_1HZIE | RTCCR_AIE) != 0;
        let due = self.next_second().filter(|_| waits);
        ctx.awaits(&COUNTING, due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }

    fn register(&self, offset: u32, now: Ps) -> u32 {
        match offset {
            RTCCR => self.control | flag(RTCCR_WRDY, self.ready_at <= now),
            RTCSR => self.seconds,
            RTCSAR => self.alarm_seconds,
            RTCGR => self.regulator,
            HWFCR..=HSPR => self.hibernate[((offset - HWFCR) / 4) as usize],
            _ => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match offset {
            RTCCR => {
                let flags = self.control & value & (RTCCR_1HZ | RTCCR_AF);
                self.control = flags | value & RTCCR_SETTINGS;
            }
            RTCSR => {
                self.seconds = value;
                self.second_began = self.clock.cycles_until_floor(ctx.now).0;
            }
            RTCSAR => self.alarm_seconds = value,
            RTCGR if self.regulator & RTCGR_LOCK != 0 => {
                ctx.note("RTCGR is locked (LOCK): a write to it had no effect");
            }
            RTCGR => self.regulator = value & RTCGR_MASK,
            HCR if value & HCR_PD != 0 => ctx.exit(0),
            HWFCR..=HSPR => {
                let mask = REGISTERS.iter().find(|register| register.offset == offset).map_or(0, |found| found.mask);
                self.hibernate[((offset - HWFCR) / 4) as usize] = value & mask;
            }
            _ => {}
        }
    }
}

impl Device for Rtc {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.settle(ctx.now);
        let register = self.register(offset & !3, ctx.now);
        self.update(ctx);
        Ok(apb::read(register, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.settle(ctx.now);
        if self.ready_at > ctx.now {
            ctx.note("a register was written while RTCCR.WRDY is 0: the write is lost");
        } else {
            let (offset, value) = apb::written(value, offset, size);
            self.set_register(offset, value, ctx);
            self.ready_at = self.clock.after(ctx.now, self.write_cycles);
        }
        self.update(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.settle(ctx.now);
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.bus_clock);
    }
}

impl Polled for Rtc {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.bus_clock.rate);
        self.settle(poll.now());
        for register in [self.control, self.seconds, self.alarm_seconds, self.regulator] {
            poll.state(register);
        }
        self.hibernate.iter().for_each(|register| poll.state(*register));
        poll.state(self.second_began);
        poll.state(self.ready_at.0);
        poll.until(self.ready_at);
        if let Some(due) = self.next_second() {
            poll.until(due);
        }
        true
    }
}

#[cfg(test)]
mod tests;
