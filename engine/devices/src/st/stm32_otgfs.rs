//! `st,stm32-otgfs` and `st,stm32-otghs`: USB OTG of STM32F4, full speed and high speed (RM0090, "USB on-the-go
//! full-speed (OTG_FS)" and "USB on-the-go high-speed (OTG_HS)"; RM0383 for the STM32F411), and, as `st,stm32l4-otgfs`,
//! the OTG_FS of STM32L4R and L4S (RM0432, likewise): Synopsys cores (DWC2), on a board without a USB cable.
//!
//! Modelled: the global, device and host registers, behind the clock gate; core reset and the flushing of FIFOs, which
//! clear their own bits after their time, if the PHY's clock runs (GRSTCTL); device and host mode, forced after 25 ms,
//! and MMIS if firmware uses a register of the other mode; VBUS sensing, which never sees VBUS, or is bypassed
//! (NOVBUSSENS, or BVALOVAL of an STM32L4), which makes the session valid (SRQINT, BSVLD) and pulls D+ up until SDIS
//! disconnects; early suspend and suspend after 3 ms and 6 ms, as no host sends (ESUSP, USBSUSP, SUSPSTS); global and
//! endpoint NAK, endpoint enables and disables, transmit FIFOs that firmware fills; the interrupt.
//!
//! No host is connected: no reset, no enumeration, no SOF, no packet. In host mode no device is connected. A channel
//! halts at once.
//!
//! Not modelled: a cable, and so all transfers, DMA, SRP and HNP; a ULPI PHY, without whose clock the core reset of an
//! OTG_HS does not end while PHYSEL is 0 (a note says so); battery charging detection and LPM of an STM32L4 (registers
//! only); the OTG_HS's separate interrupts of endpoint 1 and of the wake-up; the contents of the FIFOs.

mod endpoints;
mod line;
mod registers;

#[cfg(test)]
mod tests;

use crate::model::{Group, Model};
use crate::support::kernel_clock::KernelClock;
use crate::support::registers::{AccessKind, Register, flag};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};
use registers::*;

pub use registers::{Part, REGISTERS};

const HIGH_SPEED: &str = "st,stm32-otghs";
const L4: &str = "st,stm32l4-otgfs";
/// Bytes of registers, below the FIFOs.
const REGISTER_BYTES: u32 = 0x1000;
/// Maximum number of transmit FIFOs.
const MOST_FIFOS: usize = 6;
/// The token of the core's events.
const WAKE: u32 = 0;

/// The board's parameters of the core.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// The part that the core belongs to.
    #[state(skip)]
    pub part: Part,
    /// The clock of the PHY, 48 MHz.
    pub phy: KernelClock,
    /// HCLK.
    pub bus_clock: ClockInput,
    /// Clocks of a core reset, and of the flushing of a FIFO, of the slower of both clocks.
    #[state(skip)]
    pub reset_cycles: Cycles,
    /// Clocks of the flushing of a FIFO.
    #[state(skip)]
    pub flush_cycles: Cycles,
    /// Time from FHMOD or FDMOD to the other mode.
    #[state(skip)]
    pub mode_change: Ps,
    /// Idle time until early suspend, and again until suspend.
    #[state(skip)]
    pub idle: Ps,
    /// Its interrupt.
    #[state(skip)]
    pub interrupt: Option<IrqLine>,
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
}

/// State of a bit that clears itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, engine::state::Fresh)]
enum Busy {
    #[default]
    No,
    /// Set until this time.
    Until(Ps),
    /// Set while the PHY has no clock.
    WithoutClock,
}

/// The core.
#[derive(Debug, State)]
pub struct Otg {
    params: Params,
    /// Register values by offset / 4, with latched flags, and bits that firmware set in DCTL and in control registers
    /// of endpoints.
    #[state(with = engine::state::fixed)]
    values: Vec<u32>,
    core_reset: Busy,
    /// Flushes of the receive FIFO and of transmit FIFOs, by their bits in GRSTCTL.
    flushes: [Busy; 2],
    /// Words in each transmit FIFO.
    filled: [u32; MOST_FIFOS],
    is_host: bool,
    /// The time at which the core changes to the mode that GUSBCFG forces.
    mode_changes_at: Option<Ps>,
    /// The session is valid.
    has_session: bool,
    /// The time since which D+ is pulled up, and idle.
    idle_since: Option<Ps>,
    /// The number of ESUSP and USBSUSP events since then.
    suspends: u32,
    level: bool,
    alarm: Alarm,
    /// Incremented by every change.
    version: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Usb, &["st,stm32-otgfs", HIGH_SPEED, L4], 1, from_node).naming(REGISTERS);

/// Builds the core from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "interrupt-names"]);
    let compatibles = reader.node.compatibles();
    let part = match () {
        () if compatibles.contains(&L4) => Part::L4Fs,
        () if compatibles.contains(&HIGH_SPEED) => Part::F4Hs,
        () => Part::F4Fs,
    };
    let slower = "clocks of HCLK or of the PHY, whichever is slower";
    let reset = format!("{slower}, from CSRST until that clears itself");
    let flush = format!("{slower}, from RXFFLSH or TXFFLSH until that clears itself");
    Box::new(Otg::new(Params {
        part,
        phy: KernelClock::new(reader.clock_input(0, "the clock of the PHY, 48 MHz")),
        bus_clock: reader.clock_input(1, "HCLK"),
        reset_cycles: reader.timing_cycles("cyclescope,reset-cycles", &reset),
        flush_cycles: reader.timing_cycles("cyclescope,flush-cycles", &flush),
        mode_change: reader
            .timing_ps("cyclescope,mode-change-us", "from FHMOD or FDMOD until the core is in that mode"),
        idle: reader.timing_ps("cyclescope,idle-us", "idle time until ESUSP, and from there to USBSUSP"),
        interrupt: reader.interrupt(0, "its interrupt"),
        gate: ClockGate::from_node(reader),
    }))
}

impl Otg {
    /// The core after reset.
    pub fn new(params: Params) -> Otg {
        let mut otg = Otg {
            params,
            values: vec![0; REGISTER_BYTES as usize / 4],
            core_reset: Busy::No,
            flushes: [Busy::No; 2],
            filled: [0; MOST_FIFOS],
            is_host: false,
            mode_changes_at: None,
            has_session: false,
            idle_since: None,
            suspends: 0,
            level: false,
            alarm: Alarm::default(),
            version: 0,
        };
        otg.reset_values(|_| true);
        otg
    }

    /// Sets registers to their reset values.
    fn reset_values(&mut self, which: impl Fn(u32) -> bool) {
        for offset in REGISTERS.iter().map(|row| row.offset).filter(|offset| which(*offset)) {
            self.values[offset as usize / 4] = row(self.params.part, offset).map_or(0, |row| row.reset);
        }
    }

    fn get(&self, offset: u32) -> u32 {
        self.values[offset as usize / 4]
    }

    fn get_mut(&mut self, offset: u32) -> &mut u32 {
        &mut self.values[offset as usize / 4]
    }

    /// The duration of `cycles` clocks of HCLK or of the PHY, whichever is slower.
    fn clocks(&self, cycles: Cycles) -> Ps {
        let [phy, bus] = [self.params.phy.rate(), self.params.bus_clock.rate].map(|clock| clock.ps_at_floor(cycles));
        phy.max(bus)
    }

    /// True if the PHY has its clock: the internal PHY from PLL48CLK; boards have no external ULPI PHY.
    fn phy_runs(&self) -> bool {
        let is_outside = self.params.part == Part::F4Hs && self.get(GUSBCFG) & GUSBCFG_PHYSEL == 0;
        !is_outside && self.params.phy.is_running()
    }

    /// Starts an operation that takes clocks. Without a clock it waits, with a note.
    fn begin(&self, cycles: Cycles, ctx: &mut Ctx) -> Busy {
        if self.phy_runs() {
            return Busy::Until(ctx.now.saturating_add(self.clocks(cycles)));
        }
        self.params.phy.is_needed(ctx);
        if self.params.phy.is_running() {
            ctx.note(
                "a reset or a flush waits for the clock of a PHY by ULPI, which the board does not have \
                 (GUSBCFG.PHYSEL is 0): its bit in GRSTCTL stays 1",
            );
        }
        Busy::WithoutClock
    }

    /// A write of GRSTCTL: ones start operations, zeroes have no effect.
    fn write_grstctl(&mut self, value: u32, ctx: &mut Ctx) {
        if value & GRSTCTL_CSRST != 0 {
            self.reset_core(ctx);
            self.core_reset = self.begin(self.params.reset_cycles, ctx);
            return;
        }
        let number = value >> GRSTCTL_TXFNUM & 0x1f;
        *self.get_mut(GRSTCTL) = GRSTCTL_AHBIDL | number << GRSTCTL_TXFNUM;
        if value & GRSTCTL_RXFFLSH != 0 {
            self.flushes[0] = self.begin(self.params.flush_cycles, ctx);
        }
        if value & GRSTCTL_TXFFLSH != 0 {
            self.flushes[1] = self.begin(self.params.flush_cycles, ctx);
            match self.filled.get_mut(number as usize) {
                Some(filled) => *filled = 0,
                None if number == ALL_FIFOS => self.filled = [0; MOST_FIFOS],
                None => {}
            }
        }
    }

    /// A core reset: registers that RM0090, GRSTCTL.CSRST, does not list as kept return to their reset values, except
    /// for those outside the core (GCCFG). PHYSEL is kept as well, because it selects the clock that the reset itself
    /// needs.
    fn reset_core(&mut self, ctx: &mut Ctx) {
        let kept =
            [(HCFG, 3), (DCFG, 3), (GUSBCFG, GUSBCFG_PHYSEL)].map(|(offset, mask)| (offset, mask, self.get(offset)));
        self.reset_values(|offset| ![GCCFG, PCGCCTL].contains(&offset));
        for (offset, mask, before) in kept {
            let value = self.get_mut(offset);
            *value = *value & !mask | before & mask;
        }
        self.filled = [0; MOST_FIFOS];
        self.flushes = [Busy::No; 2];
        self.mode_may_change(ctx.now);
    }

    fn grstctl(&self) -> u32 {
        let busy =
            [(self.core_reset, GRSTCTL_CSRST), (self.flushes[0], GRSTCTL_RXFFLSH), (self.flushes[1], GRSTCTL_TXFFLSH)];
        busy.into_iter().fold(self.get(GRSTCTL), |bits, (state, bit)| bits | flag(bit, state != Busy::No))
    }

    /// Flags of GINTSTS.
    fn interrupts(&self) -> u32 {
        let [ins, outs] = self.endpoint_interrupts();
        let unmasked = self.get(DAINTMSK);
        self.get(GINTSTS) & INT_LATCHED
            | INT_NPTXFE
            | INT_PTXFE
            | flag(INT_CMOD, self.is_host)
            | flag(INT_OTGINT, self.get(GOTGINT) != 0)
            | flag(INT_GINAKEFF, self.get(DCTL) & DCTL_GINSTS != 0)
            | flag(INT_GONAKEFF, self.get(DCTL) & DCTL_GONSTS != 0)
            | flag(INT_IEPINT, ins & unmasked != 0)
            | flag(INT_OEPINT, outs & unmasked >> 16 != 0)
            | flag(INT_HCINT, self.channel_interrupts() & self.get(HAINTMSK) != 0)
    }

    /// True for a register of the mode that the core is not in: it ignores the access.
    fn is_of_other_mode(&self, offset: u32) -> bool {
        match offset {
            HCFG..DCFG => !self.is_host,
            DCFG..PCGCCTL => self.is_host,
            _ => false,
        }
    }

    fn mismatch(&mut self) {
        self.version += u64::from(self.get(GINTSTS) & INT_MMIS == 0);
        *self.get_mut(GINTSTS) |= INT_MMIS;
    }

    fn read_register(&mut self, offset: u32, ctx: &mut Ctx) -> u32 {
        if offset >= REGISTER_BYTES || row(self.params.part, offset).is_none() {
            return 0;
        }
        if self.is_of_other_mode(offset) {
            self.mismatch();
            self.update(ctx);
            return 0;
        }
        match offset {
            GOTGCTL => self.get(GOTGCTL) | flag(GOTGCTL_BSVLD, self.has_session),
            GRSTCTL => self.grstctl(),
            GINTSTS => self.interrupts(),
            HNPTXSTS => self.get(HNPTXSTS) & !0xffff | self.room(0),
            HAINT => self.channel_interrupts(),
            DSTS => self.get(DSTS) | flag(DSTS_SUSPSTS, self.suspends == 2),
            DAINT => self.endpoint_interrupts()[0] | self.endpoint_interrupts()[1] << 16,
            PCGCCTL => self.get(PCGCCTL) | flag(PCGCCTL_PHYSUSP, self.get(PCGCCTL) & PCGCCTL_STPPCLK != 0),
            IN_ENDPOINTS..OUT_ENDPOINTS => self.in_endpoint(offset),
            _ => self.get(offset),
        }
    }

    fn write_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if (FIFOS..FIFOS + REGISTER_BYTES * self.params.part.endpoints()).contains(&offset) {
            self.push(offset / REGISTER_BYTES - 1, ctx);
            return;
        }
        let Some(row) = (offset < REGISTER_BYTES).then(|| row(self.params.part, offset)).flatten() else { return };
        if self.is_of_other_mode(offset) {
            self.mismatch();
            return;
        }
        let plain = self.plain_write(&row, value);
        match offset {
            GRSTCTL => self.write_grstctl(value, ctx),
            DCTL => self.write_dctl(value, ctx),
            GOTGCTL | GCCFG => {
                *self.get_mut(offset) = plain;
                self.line_may_change(ctx);
            }
            GUSBCFG => {
                *self.get_mut(offset) = plain;
                self.mode_may_change(ctx.now);
                self.clock_may_run(ctx);
                self.line_may_change(ctx);
            }
            CHANNELS..DCFG => self.write_channel(offset, plain),
            IN_ENDPOINTS..PCGCCTL => self.write_endpoint(offset, value, plain),
            _ => *self.get_mut(offset) = plain,
        }
    }

    /// The value that a write gives a register, by the register map alone.
    fn plain_write(&self, row: &Register, value: u32) -> u32 {
        let written = row.after_write(self.get(row.offset), value);
        match row.offset {
            // CIDSTS, and the bits that depend on VBUS and negotiation.
            GOTGCTL => written & !0x000f_0101 | row.reset,
            // Read-only in an STM32L4.
            GUSBCFG => written | row.reset & GUSBCFG_PHYSEL,
            PCGCCTL => written & !PCGCCTL_PHYSUSP,
            _ if row.access == AccessKind::W1c => written & row.mask,
            _ => written,
        }
    }

    /// Continues operations that waited for the PHY's clock, if it runs by now.
    fn clock_may_run(&mut self, ctx: &mut Ctx) {
        if !self.phy_runs() {
            return;
        }
        let [reset, flush] = [self.params.reset_cycles, self.params.flush_cycles];
        if self.core_reset == Busy::WithoutClock {
            self.core_reset = self.begin(reset, ctx);
        }
        for index in 0..self.flushes.len() {
            if self.flushes[index] == Busy::WithoutClock {
                self.flushes[index] = self.begin(flush, ctx);
            }
        }
    }

    /// Applies all changes up to now.
    fn settle(&mut self, ctx: &mut Ctx) {
        let now = ctx.now;
        for busy in [&mut self.core_reset].into_iter().chain(&mut self.flushes) {
            if matches!(busy, Busy::Until(end) if *end <= now) {
                *busy = Busy::No;
                self.version += 1;
            }
        }
        self.settle_line(ctx);
    }

    /// The time of the next change without an access.
    fn next_change(&self) -> Option<Ps> {
        let busy = [self.core_reset, self.flushes[0], self.flushes[1]].into_iter();
        let ends = busy.filter_map(|busy| if let Busy::Until(end) = busy { Some(end) } else { None });
        ends.chain(self.mode_changes_at).chain(self.next_suspend()).min()
    }

    /// After any change: updates the interrupt, and the event of the next one.
    fn update(&mut self, ctx: &mut Ctx) {
        let (is_on, mask) = (self.get(GAHBCFG) & GAHBCFG_GINTMSK != 0, self.get(GINTMSK));
        let level = is_on && self.interrupts() & mask != 0;
        if std::mem::replace(&mut self.level, level) != level {
            ctx.set_irq(self.params.interrupt, level);
        }
        let waits = is_on && mask & (INT_ESUSP | INT_USBSUSP) != 0;
        let due = if waits { self.mode_changes_at.into_iter().chain(self.next_suspend()).min() } else { None };
        match due {
            Some(due) => self.alarm.set(due.max(ctx.now), WAKE, ctx),
            None => self.alarm.cancel(WAKE, ctx),
        }
    }
}

impl Device for Otg {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        self.params.phy.follow(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, ctx| {
            self.settle(ctx);
            self.read_register(offset, ctx)
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
            self.settle(ctx);
            self.version += 1;
            self.write_register(offset, value, ctx);
            self.update(ctx);
        })
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.settle(ctx);
        self.update(ctx);
    }

    /// Operations under way end at the old rate: they take a few clocks only.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.version += 1;
        self.params.phy.follow(ctx);
        self.params.bus_clock.rate = ctx.bus.clocks.rate_of(self.params.bus_clock);
        if self.params.gate.is_reset(ctx.bus) {
            let fresh = Otg::new(self.params);
            let kept = std::mem::replace(self, fresh);
            (self.alarm, self.level, self.version) = (kept.alarm, kept.level, kept.version);
        }
        self.clock_may_run(ctx);
        self.line_may_change(ctx);
        self.update(ctx);
    }
}

impl Polled for Otg {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        if let Some(due) = self.next_change() {
            if due <= poll.now() {
                return false;
            }
            poll.until(due);
        }
        poll.state(self.version);
        true
    }
}
