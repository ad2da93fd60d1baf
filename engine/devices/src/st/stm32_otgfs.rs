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

use crate::prelude::*;
use crate::support::interrupt_output::InterruptOutput;
use crate::support::kernel_clock::KernelClock;
use registers::*;

pub use registers::Part;

const HIGH_SPEED: &str = "st,stm32-otghs";
const L4: &str = "st,stm32l4-otgfs";
/// Maximum number of transmit FIFOs.
const MOST_FIFOS: usize = 6;
/// Bits of GRSTCTL that clear themselves.
const OPERATIONS: [u32; 3] = [GRSTCTL_CSRST, GRSTCTL_RXFFLSH, GRSTCTL_TXFFLSH];
const CORE_RESET: usize = 0;
const RX_FLUSH: usize = 1;
const TX_FLUSH: usize = 2;
/// The token of the core's events.
const WAKE: u32 = 0;

/// The board's parameters of the core.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Params {
    /// The part that the core belongs to.
    #[state(skip)]
    pub part: &'static Part,
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
    pub interrupt: Option<IrqLine>,
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
}

/// A bit that clears itself waits for the PHY's clock, and not for a time.
const WITHOUT_CLOCK: Ps = Ps::MAX;

/// The core.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[poll(first = Otg::list_changes)]
pub struct Otg {
    params: Params,
    /// With latched flags, and bits that firmware set in DCTL and in control registers of endpoints.
    registers: Registers,
    /// The ends of the core reset, and of flushes of the receive FIFO and of transmit FIFOs, as in [`OPERATIONS`],
    /// while they are under way.
    busy: [Option<Ps>; 3],
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
    interrupt: InterruptOutput,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Usb, &["st,stm32-otgfs", HIGH_SPEED, L4], 1, from_node).naming(ALL.rows);

/// Builds the core from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "interrupt-names"]);
    let compatibles = reader.node.compatibles();
    let part = match () {
        () if compatibles.contains(&L4) => &L4FS,
        () if compatibles.contains(&HIGH_SPEED) => &F4HS,
        () => &F4FS,
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
        Otg {
            params,
            registers: Registers::new(&params.part.map),
            busy: [None; 3],
            filled: [0; MOST_FIFOS],
            is_host: false,
            mode_changes_at: None,
            has_session: false,
            idle_since: None,
            suspends: 0,
            interrupt: InterruptOutput::new(params.interrupt),
            alarm: Alarm::default(),
        }
    }

    /// True if the PHY has its clock: the internal PHY from PLL48CLK; boards have no external ULPI PHY.
    fn phy_runs(&self) -> bool {
        let is_outside = self.params.part.has_ulpi && !self.registers.has(GUSBCFG, GUSBCFG_PHYSEL);
        !is_outside && self.params.phy.is_running()
    }

    /// Starts an operation, which takes clocks of HCLK or of the PHY, whichever is slower. Without a clock it waits,
    /// with a note.
    fn begin(&mut self, operation: usize, ctx: &mut Ctx) {
        let Params { phy, bus_clock, reset_cycles, flush_cycles, .. } = self.params;
        if self.phy_runs() {
            let cycles = if operation == CORE_RESET { reset_cycles } else { flush_cycles };
            let length = phy.rate().ps_at_floor(cycles).max(bus_clock.rate.ps_at_floor(cycles));
            self.busy[operation] = Some(ctx.now.saturating_add(length));
            return;
        }
        phy.is_needed(ctx);
        if phy.is_running() {
            ctx.note(
                "a reset or a flush waits for the clock of a PHY by ULPI, which the board does not have \
                 (GUSBCFG.PHYSEL is 0): its bit in GRSTCTL stays 1",
            );
        }
        self.busy[operation] = Some(WITHOUT_CLOCK);
    }

    /// A write of GRSTCTL: ones start operations, zeroes have no effect.
    fn wrote_grstctl(&mut self, value: u32, ctx: &mut Ctx) {
        if value & GRSTCTL_CSRST != 0 {
            self.reset_core(ctx);
            self.begin(CORE_RESET, ctx);
            return;
        }
        let number = field(value, GRSTCTL_TXFNUM);
        self.registers.set(GRSTCTL, GRSTCTL_AHBIDL | value & GRSTCTL_TXFNUM);
        if value & GRSTCTL_RXFFLSH != 0 {
            self.begin(RX_FLUSH, ctx);
        }
        if value & GRSTCTL_TXFFLSH != 0 {
            self.begin(TX_FLUSH, ctx);
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
        let kept = [(HCFG, 3), (DCFG, 3), (GUSBCFG, GUSBCFG_PHYSEL), (GCCFG, u32::MAX), (PCGCCTL, u32::MAX)]
            .map(|(register, mask)| (register, mask, self.registers[register] & mask));
        self.registers.reset();
        for (register, mask, before) in kept {
            self.registers.set(register, self.registers[register] & !mask | before);
        }
        self.filled = [0; MOST_FIFOS];
        self.busy = [None; 3];
        self.mode_may_change(ctx.now);
    }

    fn grstctl(&self) -> u32 {
        let busy = self.busy.iter().zip(OPERATIONS);
        busy.fold(self.registers[GRSTCTL], |bits, (busy, bit)| bits | flag(bit, busy.is_some()))
    }

    /// Flags of GINTSTS.
    fn interrupts(&self) -> u32 {
        let [ins, outs] = self.endpoint_interrupts();
        let unmasked = self.registers[DAINTMSK];
        self.registers[GINTSTS] & LATCHED
            | GINTSTS_NPTXFE
            | GINTSTS_PTXFE
            | flag(GINTSTS_CMOD, self.is_host)
            | flag(GINTSTS_OTGINT, self.registers[GOTGINT] != 0)
            | flag(GINTSTS_GINAKEFF, self.registers.has(DCTL, DCTL_GINSTS))
            | flag(GINTSTS_GONAKEFF, self.registers.has(DCTL, DCTL_GONSTS))
            | flag(GINTSTS_IEPINT, ins & unmasked != 0)
            | flag(GINTSTS_OEPINT, outs & unmasked >> 16 != 0)
            | flag(GINTSTS_HCINT, self.channel_interrupts() & self.registers[HAINTMSK] != 0)
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
        self.registers.put(GINTSTS, GINTSTS_MMIS, true);
    }

    /// Continues operations that waited for the PHY's clock, if it runs by now.
    fn clock_may_run(&mut self, ctx: &mut Ctx) {
        if !self.phy_runs() {
            return;
        }
        for operation in 0..self.busy.len() {
            if self.busy[operation] == Some(WITHOUT_CLOCK) {
                self.begin(operation, ctx);
            }
        }
    }

    /// Applies all changes up to now.
    fn advance(&mut self, ctx: &mut Ctx) {
        self.busy = self.busy.map(|busy| busy.filter(|end| *end > ctx.now));
        self.settle_line(ctx);
    }

    /// The time of the next change without an access.
    fn next_change(&self) -> Option<Ps> {
        let ends = self.busy.into_iter().flatten().filter(|end| *end != WITHOUT_CLOCK);
        ends.chain(self.mode_changes_at).chain(self.next_suspend()).min()
    }

    fn list_changes(&mut self, poll: &mut Poll) -> bool {
        let due = self.next_change();
        due.into_iter().for_each(|due| poll.until(due));
        due.is_none_or(|due| due > poll.now())
    }
}

impl Table for Otg {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        if self.params.part.map.row(register).is_none() {
            return 0;
        }
        if self.is_of_other_mode(register) {
            self.mismatch();
            self.update(ctx);
            return 0;
        }
        match register {
            GOTGCTL => held | flag(GOTGCTL_BSVLD, self.has_session),
            GRSTCTL => self.grstctl(),
            GINTSTS => self.interrupts(),
            HNPTXSTS => held & !0xffff | self.room(0),
            HAINT => self.channel_interrupts(),
            DSTS => held | flag(DSTS_SUSPSTS, self.suspends == 2),
            DAINT => self.endpoint_interrupts()[0] | self.endpoint_interrupts()[1] << 16,
            PCGCCTL => held | flag(PCGCCTL_PHYSUSP, held & PCGCCTL_STPPCLK != 0),
            IN_ENDPOINTS..OUT_ENDPOINTS => self.in_endpoint(register),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        if self.is_of_other_mode(register) {
            self.registers.set(register, old);
            self.mismatch();
            return;
        }
        match register {
            GRSTCTL => self.wrote_grstctl(new, ctx),
            DCTL => self.wrote_dctl(old, new, ctx),
            GOTGCTL | GCCFG => self.line_may_change(ctx),
            GUSBCFG => {
                self.mode_may_change(ctx.now);
                self.clock_may_run(ctx);
                self.line_may_change(ctx);
            }
            CHANNELS..DCFG => self.wrote_channel(register, new),
            IN_ENDPOINTS..PCGCCTL => self.wrote_endpoint(register, old, new),
            _ => {}
        }
    }

    /// Writes of FIFOs, which are no registers, and of read-only registers.
    fn refused(&mut self, offset: u32, _: Refused, ctx: &mut Ctx) {
        if (FIFOS..FIFOS * (self.params.part.endpoints + 1)).contains(&offset) {
            self.push(offset / FIFOS - 1, ctx);
        } else if self.registers.map().row(offset).is_some() && self.is_of_other_mode(offset) {
            self.mismatch();
        }
    }

    /// After any change: updates the interrupt, and the event of the next one.
    fn update(&mut self, ctx: &mut Ctx) {
        let (is_on, mask) = (self.registers.has(GAHBCFG, GAHBCFG_GINTMSK), self.registers[GINTMSK]);
        self.interrupt.drive(is_on && self.interrupts() & mask != 0, ctx);
        let waits = is_on && mask & (GINTSTS_ESUSP | GINTSTS_USBSUSP) != 0;
        let due = if waits { self.mode_changes_at.into_iter().chain(self.next_suspend()).min() } else { None };
        match due {
            Some(due) => self.alarm.set(due.max(ctx.now), WAKE, ctx),
            None => self.alarm.cancel(WAKE, ctx),
        }
    }
}

impl Device for Otg {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        self.params.phy.follow(ctx);
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.advance(ctx);
        self.update(ctx);
    }

    /// Operations under way end at the old rate: they take a few clocks only.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
        self.params.phy.follow(ctx);
        self.params.bus_clock.rate = ctx.bus.clocks.rate_of(self.params.bus_clock);
        if self.params.gate.is_reset(ctx.bus) {
            *self = Otg { alarm: self.alarm, interrupt: self.interrupt, ..Otg::new(self.params) };
        }
        self.clock_may_run(ctx);
        self.line_may_change(ctx);
        self.update(ctx);
    }
}
