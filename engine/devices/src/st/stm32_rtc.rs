//! `st,stm32-rtc`: the real-time clock of STM32F4 (RM0090, "Real-time clock (RTC)") and, as `st,stm32l4-rtc`, the RTC
//! of STM32L4R and L4S (RM0432; without coarse calibration, with more backup registers).
//!
//! Modelled: the write protection by PWR_CR.DBP and by the keys of RTC_WPR; initialization mode, prescalers, the
//! calendar in both hour formats with its leap years, sub-seconds, RTC_SHIFTR, summer time; shadow registers, which
//! follow each second edge of RTCCLK (RSF), and their lock from a read of RTC_TR or RTC_SSR to a read of RTC_DR;
//! BYPSHAD; alarms A and B with their masks and sub-seconds; the wake-up timer with all its clocks; interrupts, through
//! EXTI's lines; backup registers. A run begins at the reset value, 1 January 2000. The RTC is stopped while
//! RCC_BDCR.RTCEN is 0 or the source of RTCCLK is off: requests of the firmware wait, with a note. RCC_BDCR.BDRST
//! resets it.
//!
//! Not modelled: calibration (RTC_CALR, RTC_CALIBR: registers, with a note), time stamps, tamper pins, the reference
//! clock and outputs (registers, with a note), the requirement that PCLK1 be at least seven times RTCCLK.

mod alarms;
mod calendar;
mod counting;
mod setting;
pub mod stm32mp1;

#[cfg(test)]
mod tests;

use self::calendar::Moment;
use self::counting::Counting;
use crate::prelude::*;
use crate::registers::{self, Access};
use crate::support::activities::TIMER;
use crate::support::clock_gate::BACKUP_DOMAIN;
use crate::support::interrupt_output::InterruptOutput;
use crate::support::kernel_clock::KernelClock;
use crate::support::timer_interrupt::TimerInterrupt;

registers! {
    /// The registers of all chips; those that RTC_BKPxR follow.
    const COMMON "RTC_" {
        TR 0x00 rw mask 0x007f_7f7f;
        DR 0x04 rw reset DR_RESET mask 0x00ff_ff3f;
        PRER 0x10 rw reset 0x007f_00ff { PREDIV_S 0..15, PREDIV_A 16..23 };
        WUTR 0x14 rw reset 0xffff mask 0xffff;
        ALRMAR 0x1c rw;
        ALRMBR 0x20 rw;
        WPR 0x24 wo mask 0xff;
        SSR 0x28 ro volatile {
            /// A further shift would overflow.
            OVERFLOWS 15,
            SS 0..15,
        };
        SHIFTR 0x2c wo { SUBFS 0..15, ADD1S 31 };
        TSTR 0x30 ro mask 0x007f_7f7f;
        TSDR 0x34 ro mask 0x00ff_ff3f;
        TSSSR 0x38 ro mask 0xffff;
        CALR 0x3c rw mask 0xe1ff;
        ALRMASSR 0x44 rw mask 0x0f00_7fff;
        ALRMBSSR 0x48 rw mask 0x0f00_7fff;
    }

    /// What an STM32F4 has.
    const F4 "RTC_" {
        /// ADD1H and SUB1H, bits 16 and 17, are not kept.
        CR 0x08 rw mask 0x00ff_ffff {
            WUCKSEL 0..3, REFCKON 4, BYPSHAD 5, FMT 6,
            /// Coarse calibration of an STM32F4.
            DCE 7,
            ALRAE 8, ALRBE 9, WUTE 10, TSE 11, ALRAIE 12, ALRBIE 13, WUTIE 14, COE 23,
        };
        ISR 0x0c rw volatile reset 7 mask 0x0001_3fff {
            ALRAWF 0, ALRBWF 1, WUTWF 2, INITS 4, RSF 5, INITF 6, INIT 7, ALRAF 8, ALRBF 9, WUTF 10,
        };
        CALIBR 0x18 rw mask 0x9f;
        TAFCR 0x40 rw mask 0x0007_ff9f;
    }

    /// What an STM32L4 has.
    const L4_ONLY "RTC_" {
        L4_CR "CR" 0x08 rw mask 0x01ff_ff7f;
        L4_ISR "ISR" 0x0c rw volatile reset 7 mask 0x0003_ffff;
        TAMPCR 0x40 rw mask 0x01ff_ffff;
        OR 0x4c rw mask 3;
    }

    /// As many as a chip can have.
    const BACKUP "RTC_" {
        BKP0R "BKP{}R" [0..32; 4] 0x50 rw;
    }
}

/// The register map of an STM32F4 (RM0090, "RTC register map"); RTC_BKPxR follow.
pub const MAP: Map = joined!(COMMON, F4);
/// The register map of an STM32L4 (RM0432, "RTC register map"); RTC_BKPxR follow.
pub const L4_MAP: Map = joined!(COMMON, L4_ONLY);
/// Both with RTC_BKPxR.
const F4_ALL: Map = joined!(COMMON, F4, BACKUP);
const L4_ALL: Map = joined!(COMMON, L4_ONLY, BACKUP);

/// 1 January 2000, a Monday.
const DR_RESET: u32 = 0x2101;
const CR_ADD1H: u32 = 1 << 16;
const CR_SUB1H: u32 = 1 << 17;
/// Bits that can only be written in initialization mode.
const CR_INIT_ONLY: u32 = CR_REFCKON | CR_FMT | CR_DCE;
/// Flags that a write of 0 clears, and that no key protects.
const ISR_FLAGS: u32 = 0x3f00;
/// Enables of the alarms and of the wake-up timer; their flags; and the flags that say that they can be written.
const ENABLES: [u32; 3] = [CR_ALRAE, CR_ALRBE, CR_WUTE];
const FLAGS: [u32; 3] = [ISR_ALRAF, ISR_ALRBF, ISR_WUTF];
const WRITABLE: [u32; 3] = [ISR_ALRAWF, ISR_ALRBWF, ISR_WUTWF];

/// The compatible of the STM32L4's RTC.
const L4: &str = "st,stm32l4-rtc";
const KEYS: [u32; 2] = [0xca, 0x53];

/// The board's parameters of the clock.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// RTCCLK.
    pub clock: ClockInput,
    /// RCC_BDCR.RTCEN.
    pub enable: ClockGate,
    /// The register map, with the backup registers.
    pub map: &'static Map,
    /// Number of backup registers.
    pub backup_registers: u32,
    /// Edges from a request to INITF, WUTWF, ALRAWF and ALRBWF.
    pub synchronisation: Cycles,
    /// Edges from the end of initialization mode to the first one that counts.
    pub restart: Cycles,
    /// EXTI lines of the alarms and of the wake-up timer.
    pub interrupts: [Option<IrqLine>; 2],
    /// Its clock enable bit on the bus.
    pub gate: ClockGate,
    /// The place in the map of the register at an offset.
    pub place: fn(u32) -> u32,
}

/// The RTC. Edges are numbers of RTCCLK's edges.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[poll(first = Rtc::list_changes)]
pub struct Rtc {
    #[state(skip)]
    params: Params,
    /// RTCCLK, gated by RTCEN.
    clock: KernelClock,
    /// RTC_TR and RTC_DR are those written in initialization mode.
    registers: Registers,
    counting: Counting,
    /// The number of correct keys written to RTC_WPR so far.
    keys: usize,
    /// Flags of RTC_ISR that a write of 0 clears.
    flags: u32,
    /// The edge at which INITF is set, in initialization mode.
    init_from: Option<u64>,
    /// RSF is set from this edge on.
    synchronised_from: u64,
    /// Alarms A and B, and the wake-up timer, can be written from these edges on.
    writable_from: [u64; 3],
    /// RTC_SSR, RTC_TR, RTC_DR while locked.
    locked: Option<[u32; 3]>,
    /// The next edges of alarms A and B, and of the wake-up timer.
    next: [Option<u64>; 3],
    outputs: [InterruptOutput; 2],
    event: TimerInterrupt,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["st,stm32-rtc", L4], 1, from_node)
    .with_activities(TIMER)
    .naming(MAP.rows)
    .naming_as(L4, L4_MAP.rows);

/// Builds the clock from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let is_l4 = reader.node.compatibles().contains(&L4);
    let meanings = ["EXTI's line of the alarms", "EXTI's line of the wake-up"];
    Box::new(Rtc::new(Params::from_node(reader, if is_l4 { &L4_ALL } else { &F4_ALL }, meanings)))
}

impl Params {
    /// Reads a node of an RTC with the registers of a map, and with the meanings of its interrupts.
    fn from_node(reader: &mut NodeReader, map: &'static Map, interrupts: [&str; 2]) -> Params {
        reader.known(&["clock-names", "interrupt-names"]);
        let meaning = "RTCEN: the offset of a register of the RCC, a multiple of 4, and a bit number, 0 to 31";
        let enable = ClockGate::named("cyclescope,rtc-enable", meaning, reader);
        let meaning = "number of backup registers, up to 32";
        let backup_registers = reader.u32_or("cyclescope,backup-registers", 20, 0..=32, meaning);
        let meaning = "edges of RTCCLK from a request to INITF, WUTWF, ALRAWF and ALRBWF";
        let synchronisation = reader.timing_cycles("cyclescope,synchronisation-cycles", meaning);
        let meaning = "edges of RTCCLK from the end of initialization mode until the calendar counts";
        Params {
            clock: reader.clock_input(0, "RTCCLK"),
            enable,
            map,
            backup_registers,
            synchronisation,
            restart: reader.timing_cycles("cyclescope,restart-cycles", meaning),
            interrupts: [0, 1].map(|index| reader.interrupt(index, interrupts[index])),
            gate: ClockGate::from_node(reader),
            place: |offset| offset,
        }
    }
}

/// The divisors of both prescalers, by RTC_PRER.
fn dividers(prer: u32) -> [u64; 2] {
    [PRER_PREDIV_A, PRER_PREDIV_S].map(|mask| u64::from(field(prer, mask)) + 1)
}

impl Rtc {
    /// The clock after a reset of the backup domain.
    pub fn new(params: Params) -> Rtc {
        let registers = Registers::new(params.map);
        Rtc {
            clock: KernelClock::new(params.clock).after(params.enable),
            params,
            counting: Counting::new(dividers(registers[PRER])),
            registers,
            keys: 0,
            flags: 0,
            init_from: None,
            synchronised_from: 2,
            writable_from: [0; 3],
            locked: None,
            next: [None; 3],
            outputs: params.interrupts.map(InterruptOutput::new),
            event: TimerInterrupt::default(),
        }
    }

    /// RCC_BDCR.BDRST: registers return to their reset values, and the calendar restarts.
    fn reset_domain(&mut self, edge: u64) {
        let Rtc { clock, event, outputs, .. } = *self;
        *self = Rtc { clock, event, outputs, ..Rtc::new(self.params) };
        self.counting.set(Moment::default(), edge);
        self.synchronised_from = (edge + 2).next_multiple_of(2);
    }

    /// True for that of an STM32MP1, with flags in a register of their own, and one interrupt.
    fn has_status(&self) -> bool {
        self.params.map.row(stm32mp1::STATUS).is_some()
    }

    /// The place in the map of the register and byte at an offset.
    fn place(&self, offset: u32) -> u32 {
        (self.params.place)(offset & !3) | offset & 3
    }

    /// Alarms, and the wake-up timer, whose flag and interrupt enable are set.
    fn asking(&self) -> [bool; 2] {
        let cr = self.registers[CR];
        let on = |enable: u32, flag: u32| cr & enable != 0 && self.flags & flag != 0;
        [on(CR_ALRAIE, ISR_ALRAF) || on(CR_ALRBIE, ISR_ALRBF), on(CR_WUTIE, ISR_WUTF)]
    }

    fn is_12h(&self) -> bool {
        self.registers.has(CR, CR_FMT)
    }

    fn isr(&self, edge: u64) -> u32 {
        let (initializing, cr) = (self.is_initializing(edge), self.registers[CR]);
        let synchronised = self.counting.is_running && edge >= self.synchronised_from && cr & CR_BYPSHAD == 0;
        let writable = (0..3).fold(0, |bits, index| {
            bits | flag(WRITABLE[index], cr & ENABLES[index] == 0 && edge >= self.writable_from[index])
        });
        self.flags
            | writable
            | flag(ISR_INITS, self.calendar(edge)[2] >> 16 != 0)
            | flag(ISR_RSF, synchronised)
            | flag(ISR_INITF, initializing)
            | flag(ISR_INIT, self.init_from.is_some())
    }

    /// RTC_TR and RTC_DR as written in initialization mode.
    fn written(&self) -> [u32; 2] {
        [TR, DR].map(|register| self.registers[register])
    }

    /// RTC_SSR, RTC_TR and RTC_DR at an edge.
    fn calendar(&self, edge: u64) -> [u32; 3] {
        let moment = self.counting.moment(edge);
        let [tr, dr] = if self.init_from.is_some() { self.written() } else { [moment.tr(self.is_12h()), moment.dr()] };
        [self.counting.sub_seconds(edge), tr, dr]
    }

    /// The calendar as reads see it.
    fn readable(&self, edge: u64) -> [u32; 3] {
        let is_direct = self.registers.has(CR, CR_BYPSHAD) || self.init_from.is_some();
        self.calendar(if is_direct { edge } else { edge & !1 })
    }

    /// True, with a note, while nothing can be written.
    fn is_protected(&self, ctx: &mut Ctx) -> bool {
        let (register, bit) = BACKUP_DOMAIN;
        if !ctx.bus.clocks.is_running(register, bit) {
            ctx.note(
                "a register was written while the backup domain is protected (PWR's DBP is 0): it keeps its value",
            );
            return true;
        }
        let is_reset = self.params.enable.is_reset(ctx.bus);
        if is_reset {
            ctx.note("a register was written while the backup domain is reset (RCC_BDCR.BDRST): it keeps its value");
        }
        is_reset
    }

    /// The edge of the next change that a read can see, apart from those in events.
    fn next_change(&self, edge: u64) -> u64 {
        let (_, ticks) = self.counting.tick(edge & !1);
        let second = self.counting.moment(edge & !1).second;
        let tick = self.counting.edge_of((second, ticks + 1)).map(|at| at.max(edge + 1));
        let ahead = [self.synchronised_from].into_iter().chain(self.init_from).chain(self.writable_from);
        ahead.chain(self.next.into_iter().flatten()).chain(tick).filter(|at| *at > edge).min().unwrap_or(u64::MAX)
    }

    fn list_changes(&mut self, poll: &mut Poll) -> bool {
        if let Some(due) = self.clock.due(self.next_change(self.clock.edge(poll.now()))) {
            poll.until(due);
        }
        true
    }
}

impl Table for Rtc {
    const UPDATES_AFTER_READS: bool = true;

    /// Updates the flags to now.
    fn settle(&mut self, ctx: &mut Ctx) {
        let edge = self.clock.edge(ctx.now);
        while let Some((index, at)) = self.due(edge) {
            self.flags |= FLAGS[index];
            self.next[index] = if index < 2 { self.next_alarm(index, at) } else { Some(at + self.wakeup_period()) };
        }
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        let edge = self.clock.edge(ctx.now);
        let place = match register {
            SSR => 0,
            TR => 1,
            DR => 2,
            ISR if self.has_status() => return self.isr(edge) & !ISR_FLAGS,
            ISR => return self.isr(edge),
            stm32mp1::STATUS => return self.flags >> ISR_FLAGS.trailing_zeros(),
            // The interrupt enables of RTC_CR are in the order of the flags, four bits above them.
            stm32mp1::MASKED_STATUS => return (self.flags & self.registers[CR] >> 4) >> ISR_FLAGS.trailing_zeros(),
            _ => return held,
        };
        let shown = self.locked.unwrap_or_else(|| self.readable(edge));
        self.locked = (place < 2 && !self.registers.has(CR, CR_BYPSHAD)).then_some(shown);
        shown[place]
    }

    fn takes_write(&mut self, register: u32, ctx: &mut Ctx) -> bool {
        let edge = self.clock.edge(ctx.now);
        let is_protected = self.is_protected(ctx);
        let row = self.params.map.row(register).filter(|row| !is_protected && row.access != Access::Ro);
        let Some(row) = row else { return false };
        let when = match register {
            _ if register >= stm32mp1::OTHERS => return true,
            BKP0R.. => return (register - BKP0R) / 4 < self.params.backup_registers,
            WPR | ISR | TAFCR | OR => return true,
            _ if self.keys < KEYS.len() => "without the keys 0xca and 0x53 in RTC_WPR",
            TR | DR | PRER if !self.is_initializing(edge) => "outside of initialization mode",
            WUTR | ALRMAR | ALRMBR | ALRMASSR | ALRMBSSR if !self.can_write(register, edge) => {
                "while RTC_ISR says that it can't be"
            }
            _ => return true,
        };
        ctx.note(&format!("{} was written {when}: it keeps its value", row.name));
        false
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            WPR => self.keys = if KEYS.get(self.keys % 2) == Some(&new) { self.keys % 2 + 1 } else { 0 },
            ISR => self.set_isr(if self.has_status() { new | ISR_FLAGS } else { new }, ctx),
            stm32mp1::STATUS_CLEAR => self.flags &= !(new << ISR_FLAGS.trailing_zeros()),
            CR => self.set_cr(old, new, ctx),
            SHIFTR => self.shift(new, ctx),
            CALIBR | CALR if new != 0 => {
                ctx.note("calibration (RTC_CALR, RTC_CALIBR) is not modelled: RTCCLK counts as it is");
            }
            TAFCR if new != 0 => {
                ctx.note("tamper pins and time stamps (RTC_TAFCR, RTC_TAMPCR) are not modelled: none comes");
            }
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let [alarms, wakes] = self.asking();
        let levels = if self.has_status() { [alarms || wakes; 2] } else { [alarms, wakes] };
        self.outputs.iter_mut().zip(levels).for_each(|(output, level)| output.drive(level, ctx));
        let next = self.next.iter().flatten().min();
        let due = next.and_then(|edge| self.clock.due(*edge));
        self.event.expect_only(due.map(|due| due.max(ctx.now)), ctx);
    }
}

impl Device for Rtc {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let place = self.place(offset);
        registers::read(self, place, size, ctx)
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let place = self.place(offset);
        registers::write(self, place, size, value, ctx)
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.event.rang(ctx.now);
        self.settle(ctx);
        self.update(ctx);
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.enable.follow(ctx);
        self.clock.follow(ctx);
    }

    /// Renumbers the edges: future edges keep their distance in edges.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        let (from, to) = self.clock.follow(ctx);
        let moved = |at: u64| to + at.saturating_sub(from);
        self.counting.settle(from, to, self.counting.is_running);
        self.init_from = self.init_from.map(moved);
        self.synchronised_from = moved(self.synchronised_from).next_multiple_of(2);
        self.writable_from = self.writable_from.map(moved);
        self.next = self.next.map(|at| at.map(moved));
        self.event.cancel(ctx);
        if self.params.enable.is_reset(ctx.bus) {
            self.reset_domain(to);
        }
        self.update(ctx);
    }
}
