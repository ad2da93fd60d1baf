//! `atmel,sama5d2-tcb` and `atmel,at91sam9x5-tcb`: Timer Counter block of three 32-bit channels (SAMA5D2 datasheet
//! DS60001476, section TC), with SAMA5D2's clocks: TIMER_CLOCK2 to 4 are the peripheral clock divided by 8, 32 and 128,
//! TIMER_CLOCK5 is the slow clock; EMR.NODIVCLK selects the peripheral clock itself.
//!
//! Modelled: capture mode without signals on the pins, waveform mode with its four ways to count, compares with RA, RB
//! and RC, stop and disable by RC, software triggers and SYNC, status and interrupts (one line for the block), write
//! protection. A channel ([`channel`]) is a function of time; there is an event only for a flag that raises the
//! interrupt. Dividers run freely from reset, so a trigger counts from the next edge of the channel's clock.
//!
//! Not modelled: pins (TIOA, TIOB, TCLK), the quadrature decoder, Gray and down counting, TIMER_CLOCK1, which is a
//! clock that the PMC generates. A channel that uses one of them is stopped, with a note.

use crate::model::{Group, Model};
use crate::support::activities::{COUNTING, TIMER};
use crate::support::apb::{self, WriteProtection};
use crate::support::axi_lite::edge_in_reach;
use crate::support::registers::{AccessKind, Register};
use channel::{CMR_MASK, Channel, FLAGS};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Hz, Ps};

mod channel;

/// The register map (Timer Counter User Interface): the first channel's registers, and those of the block. The other
/// channels' registers follow at steps of 0x40.
pub const REGISTERS: &[Register] = &[
    Register::new("TC_CCR0", CCR, AccessKind::Wo, 0, CCR_CLKEN | CCR_CLKDIS | CCR_SWTRG),
    Register::new("TC_CMR0", CMR, AccessKind::Rw, 0, CMR_MASK),
    Register::new("TC_SMMR0", SMMR, AccessKind::Rw, 0, SMMR_MASK),
    Register::new("TC_RAB0", RAB, AccessKind::Ro, 0, u32::MAX),
    Register::new("TC_CV0", CV, AccessKind::Ro, 0, u32::MAX),
    Register::new("TC_RA0", RA, AccessKind::Rw, 0, u32::MAX),
    Register::new("TC_RB0", RB, AccessKind::Rw, 0, u32::MAX),
    Register::new("TC_RC0", RC, AccessKind::Rw, 0, u32::MAX),
    Register::new("TC_SR0", SR, AccessKind::Ro, 0, FLAGS | channel::SR_CLKSTA),
    Register::new("TC_IER0", IER, AccessKind::Wo, 0, FLAGS),
    Register::new("TC_IDR0", IDR, AccessKind::Wo, 0, FLAGS),
    Register::new("TC_IMR0", IMR, AccessKind::Ro, 0, FLAGS),
    Register::new("TC_EMR0", EMR, AccessKind::Rw, 0, EMR_MASK),
    Register::new("TC_BCR", BCR, AccessKind::Wo, 0, BCR_SYNC),
    Register::new("TC_BMR", BMR, AccessKind::Rw, 0, BMR_MASK),
    Register::new("TC_QIER", QIER, AccessKind::Wo, 0, QDEC_FLAGS),
    Register::new("TC_QIDR", QIDR, AccessKind::Wo, 0, QDEC_FLAGS),
    Register::new("TC_QIMR", QIMR, AccessKind::Ro, 0, QDEC_FLAGS),
    Register::new("TC_QISR", 0xd4, AccessKind::Ro, 0, 0x10f),
    Register::new("TC_FMR", FMR, AccessKind::Rw, 0, 3),
    Register::new("TC_WPMR", WPMR, AccessKind::Rw, 0, apb::WPMR_WPEN),
];

const CCR: u32 = 0x00;
const CMR: u32 = 0x04;
const SMMR: u32 = 0x08;
const RAB: u32 = 0x0c;
const CV: u32 = 0x10;
const RA: u32 = 0x14;
const RB: u32 = 0x18;
const RC: u32 = 0x1c;
const SR: u32 = 0x20;
const IER: u32 = 0x24;
const IDR: u32 = 0x28;
const IMR: u32 = 0x2c;
const EMR: u32 = 0x30;
const BCR: u32 = 0xc0;
const BMR: u32 = 0xc4;
const QIER: u32 = 0xc8;
const QIDR: u32 = 0xcc;
const QIMR: u32 = 0xd0;
const FMR: u32 = 0xd8;
const WPMR: u32 = 0xe4;
/// From a register of a channel to the next channel's.
const STRIDE: u32 = 0x40;
const CHANNELS: usize = 3;

const CCR_CLKEN: u32 = 1 << 0;
const CCR_CLKDIS: u32 = 1 << 1;
const CCR_SWTRG: u32 = 1 << 2;
const SMMR_MASK: u32 = 3;
const EMR_MASK: u32 = 3 | 3 << 4 | EMR_NODIVCLK;
const EMR_NODIVCLK: u32 = 1 << 8;
const BCR_SYNC: u32 = 1 << 0;
const BMR_MASK: u32 = 0x3ff7_ff3f;
const BMR_QDEN: u32 = 1 << 8;
const QDEC_FLAGS: u32 = 7;
/// TC_WPMR.WPKEY: "TIM".
const WPKEY: u32 = 0x54_494d;

/// The clock of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The peripheral clock, divided.
    Peripheral { divider: u64 },
    /// TIMER_CLOCK5.
    Slow,
    /// A clock that has no edges in the model.
    Nothing,
}

/// The device.
#[derive(Debug, State)]
pub struct Tcb {
    clock: ClockInput,
    #[state(skip)]
    slow_clock: Hz,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    channels: [Channel; CHANNELS],
    block_mode: u32,
    decoder_mask: u32,
    fault_mode: u32,
    protection: WriteProtection,
    alarm: Alarm,
    /// Writes, and reads of a counter, so far: a loop with such an access is in another state each iteration.
    moving_accesses: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["atmel,at91sam9x5-tcb", "atmel,sama5d2-tcb"], 1, from_node)
    .with_activities(TIMER)
    .naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "the peripheral clock");
    let slow_clock = reader.clock(1, "the slow clock, TIMER_CLOCK5");
    reader.known(&["clock-names"]);
    Box::new(Tcb::new(clock, slow_clock, reader.interrupt(0, "its interrupt")))
}

impl Tcb {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>, slow_clock: Hz, interrupt: Option<IrqLine>) -> Tcb {
        Tcb {
            clock: clock.into(),
            slow_clock,
            interrupt,
            channels: [Channel::default(); CHANNELS],
            block_mode: 0,
            decoder_mask: 0,
            fault_mode: 0,
            protection: WriteProtection::new(WPKEY),
            alarm: Alarm::default(),
            moving_accesses: 0,
        }
    }

    fn source(&self, index: usize) -> Source {
        let Channel { cmr, emr, .. } = self.channels[index];
        match cmr & channel::CMR_TCCLKS {
            _ if emr & EMR_NODIVCLK != 0 => Source::Peripheral { divider: 1 },
            1 => Source::Peripheral { divider: 8 },
            2 => Source::Peripheral { divider: 32 },
            3 => Source::Peripheral { divider: 128 },
            4 => Source::Slow,
            _ => Source::Nothing,
        }
    }

    /// Edges of a channel's clock up to `now`.
    fn tick(&self, source: Source, now: Ps) -> u64 {
        match source {
            Source::Peripheral { divider } => self.clock.rate.cycles_until_floor(now).0 / divider,
            Source::Slow => self.slow_clock.cycles_until_floor(now).0,
            Source::Nothing => 0,
        }
    }

    /// The time at which the block sees edge number `tick` of a channel's clock.
    fn tick_time(&self, source: Source, tick: u64) -> Option<Ps> {
        match source {
            Source::Peripheral { divider } => edge_in_reach(self.clock.rate, tick.checked_mul(divider)?),
            Source::Slow => edge_in_reach(self.slow_clock, tick).map(|at| self.clock.rate.edge_at_or_after(at)),
            Source::Nothing => None,
        }
    }

    /// Brings the channels up to `now`.
    fn settle(&mut self, now: Ps) {
        for index in 0..CHANNELS {
            let tick = self.tick(self.source(index), now);
            self.channels[index].settle(tick);
        }
    }

    /// The time at which a channel first sets one of `flags` that is not set.
    fn flag_time(&self, index: usize, flags: u32) -> Option<Ps> {
        let tick = self.channels[index].tick_of(flags)?;
        self.tick_time(self.source(index), tick)
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        let raised = self.channels.iter().any(|channel| channel.flags & channel.interrupt_mask != 0);
        ctx.set_irq(self.interrupt, raised);
        let masks = self.channels.map(|channel| channel.interrupt_mask);
        let dues = (0..CHANNELS).filter_map(|index| self.flag_time(index, masks[index]).filter(|_| !raised));
        let due = dues.min();
        ctx.awaits(&COUNTING, due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }

    fn register(&mut self, offset: u32) -> u32 {
        let (index, register) = split(offset);
        let Some(channel) = self.channels.get_mut(index) else { return self.block_register(offset) };
        match register {
            CMR => channel.cmr,
            SMMR => channel.smmr,
            RAB | RA => channel.ra,
            CV => channel.value(),
            RB => channel.rb,
            RC => channel.rc,
            SR => channel.take_status(),
            IMR => channel.interrupt_mask,
            EMR => channel.emr,
            _ => 0,
        }
    }

    fn block_register(&self, offset: u32) -> u32 {
        match offset {
            BMR => self.block_mode,
            QIMR => self.decoder_mask,
            FMR => self.fault_mode,
            WPMR => self.protection.mode(),
            _ => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let (index, register) = split(offset);
        let protected = match index {
            0..CHANNELS => matches!(register, CMR | SMMR | RA | RB | RC | EMR),
            _ => matches!(offset, BMR | FMR),
        };
        if protected && self.protection.refuses(offset, ctx) {
            return;
        }
        let Some(channel) = self.channels.get_mut(index) else {
            self.set_block_register(offset, value, ctx);
            return;
        };
        match register {
            CCR => self.command(index, value, ctx),
            CMR | EMR => self.set_mode(index, register, value, ctx.now),
            SMMR => channel.smmr = value & SMMR_MASK,
            RA if channel.is_waveform() => channel.ra = value,
            RB if channel.is_waveform() => channel.rb = value,
            RC => channel.rc = value,
            IER => channel.interrupt_mask |= value & FLAGS,
            IDR => channel.interrupt_mask &= !value,
            _ => {}
        }
    }

    fn set_block_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match offset {
            BCR if value & BCR_SYNC != 0 => (0..CHANNELS).for_each(|index| self.command(index, CCR_SWTRG, ctx)),
            BMR => {
                self.block_mode = value & BMR_MASK;
                if value & BMR_QDEN != 0 {
                    ctx.note("the quadrature decoder is enabled (TC_BMR.QDEN), which is not modelled");
                }
            }
            QIER => self.decoder_mask |= value & QDEC_FLAGS,
            QIDR => self.decoder_mask &= !value,
            FMR => self.fault_mode = value & 3,
            WPMR => self.protection.set_mode(value),
            _ => {}
        }
    }

    fn set_mode(&mut self, index: usize, register: u32, value: u32, now: Ps) {
        let channel = &mut self.channels[index];
        match register {
            CMR => channel.cmr = value & CMR_MASK,
            _ => channel.emr = value & EMR_MASK,
        }
        let tick = self.tick(self.source(index), now);
        self.channels[index].stand_at(tick);
    }

    fn command(&mut self, index: usize, value: u32, ctx: &mut Ctx) {
        if value & CCR_CLKDIS != 0 {
            self.channels[index].disable();
        } else if value & CCR_CLKEN != 0 {
            self.channels[index].enabled = true;
        }
        if value & CCR_SWTRG != 0 && self.channels[index].enabled {
            self.channels[index].trigger();
            if self.source(index) == Source::Nothing {
                ctx.note(
                    "a channel is to count TIMER_CLOCK1 (GCLK) or a pin (TC_CMR.TCCLKS), which are not modelled: it \
                     stands",
                );
            }
            if self.channels[index].smmr != 0 {
                ctx.note("Gray and down counting (TC_SMMR) are not modelled: the counter counts up");
            }
        }
    }
}

/// Channel and register at `offset`; the block's own registers have a channel that does not exist.
const fn split(offset: u32) -> (usize, u32) {
    ((offset / STRIDE) as usize, offset % STRIDE)
}

impl Device for Tcb {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.settle(ctx.now);
        let (index, register) = split(offset & !3);
        self.moving_accesses += u64::from(index < CHANNELS && register == CV);
        let value = self.register(offset & !3);
        self.update(ctx);
        Ok(apb::read(value, offset, size, ctx))
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
        self.moving_accesses += 1;
        let (offset, value) = apb::written(value, offset, size);
        self.set_register(offset, value, ctx);
        self.update(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.settle(ctx.now);
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx.now);
        ctx.bus.clocks.update(&mut self.clock);
        for index in 0..CHANNELS {
            let tick = self.tick(self.source(index), ctx.now);
            self.channels[index].stand_at(tick);
        }
        self.alarm.cancel(0, ctx);
        self.update(ctx);
    }
}

impl Polled for Tcb {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock.rate);
        self.settle(poll.now());
        poll.state(self.moving_accesses);
        for index in 0..CHANNELS {
            poll.state(self.channels[index].flags);
            poll.state(self.channels[index].enabled);
            // Counters run by themselves: their changes of the status come at fixed times.
            if let Some(due) = self.flag_time(index, FLAGS) {
                poll.until(due);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
