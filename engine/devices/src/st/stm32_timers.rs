//! `st,stm32-timers`: the timers TIM1 to TIM17 of STM32: advanced-control, general-purpose and basic timers (RM0090 and
//! RM0432, "Advanced-control timers", "General-purpose timers", "Basic timers"). The node says what features a timer
//! has.
//!
//! Modelled, to the clock: prescaler and its preload; up, down and centre-aligned counting; TIM_ARR with and without
//! preload (ARPE); the repetition counter; one-pulse mode; update events with UDIS, URS and UG; output compare and PWM
//! with preload, and their flags by CMS; outputs in their polarity, gated by MOE if the timer has it, on the pins whose
//! port selects that function (`devices/support/pin_functions.rs`); input capture from such a pin, with its prescaler,
//! and from the pin of the neighbour channel; interrupts; DMA requests of updates and channels; the trigger output, to
//! the devices that the board connects, on resets, enables and updates (MMS 0 to 2); TIM_DCR and TIM_DMAR. A counter is
//! enabled a clock after CEN. A change of the clock's rate does not change the counter and its prescaler.
//!
//! A write takes effect on the first edge of the timer's clock at or after it. A capture takes the counter's value at
//! the edge of the pin: the two clocks of the synchronisation, the filter (ICxF) and the dead time are left out. For a
//! board without the functions of its chip's pins, a channel is on its pin of `channel-gpios`, whatever the port
//! selects.
//!
//! Not modelled: slave modes and external clocks (TIM_SMCR keeps written values, with a note: the counter counts its
//! own clock), other trigger outputs (TRGO stays low, with a note), break inputs, complementary outputs, OCxCE, OCxM
//! above 7, combined and asymmetric PWM, and the channels 5 and 6. A timer whose clock gate is closed keeps counting.

mod channel;
mod counter;
mod pins;
mod registers;
mod settle;

#[cfg(test)]
mod tests;

pub use self::registers::REGISTERS;

use self::channel::Channel;
use self::counter::{Counter, Mode};
use self::registers::*;
use crate::model::{Group, Model};
use crate::support::activities::{COUNTING, TIMER};
use crate::support::dma_lines::DmaLine;
use crate::support::pin_functions::PinFunctions;
use crate::support::registers::{flag, names_of};
use crate::support::stm32_clock_gate::ClockGate;
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, PortId, Reply, SlaveError};
use engine::dt::reader::{NodeReader, PowerOfTwo};
use engine::dt::wiring::{ClockInput, Pin};
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::Ps;

/// Tokens of events: a change in the counter; a change of DMA requests.
const COUNTED: u32 = 0;
const DMA_ACTIVITIES: u32 = 1;

/// The features of a timer.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// The timer's clock.
    pub clock: ClockInput,
    /// Bits of the counter.
    #[state(skip)]
    pub bits: u32,
    /// Number of channels.
    #[state(skip)]
    pub channels: usize,
    /// True if the timer has TIM_RCR and TIM_BDTR.
    #[state(skip)]
    pub is_advanced: bool,
    /// True if the timer counts in one direction only.
    #[state(skip)]
    pub counts_up: bool,
    /// Interrupts of break, update, trigger and commutation, and capture/compare; or one for all.
    #[state(skip)]
    pub interrupts: [Option<IrqLine>; 4],
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
}

/// A timer.
#[derive(State)]
pub struct Timer {
    params: Params,
    counter: Counter,
    channels: [Channel; CHANNELS],
    /// The pins that carry the channels.
    pins: PinFunctions,
    /// Registers that keep written values: TIM_CR1 (except for DIR), TIM_CR2, TIM_SMCR, TIM_DIER, TIM_BDTR, TIM_DCR,
    /// TIM_OR.
    control: u32,
    control2: u32,
    slave: u32,
    enables: u32,
    breaks: u32,
    burst: u32,
    option: u32,
    /// Accesses of TIM_DMAR in the burst so far.
    bursts: u32,
    /// TIM_PSC, TIM_ARR and TIM_RCR as written.
    prescaler: u32,
    reload: u32,
    repetition: u32,
    /// Number of sweeps that end before the next update.
    repeats_left: u32,
    /// TIM_SR.
    flags: u32,
    /// Pending transfer requests: bits of TIM_DIER.
    requests: u32,
    /// Requests of updates and of the channels.
    dma: [DmaLine; 1 + CHANNELS],
    /// TRGO: the devices that it triggers, and whether it is to be raised.
    trigger: DmaLine,
    triggers: bool,
    levels: [bool; 4],
    alarm: Alarm,
    updates: u64,
    /// Number of writes, and of reads of counting registers.
    moving_accesses: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["st,stm32-timers"], 1, from_node).with_activities(TIMER).naming(REGISTERS);

/// Builds the timer from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "interrupt-names", "resets"]);
    let params = Params {
        clock: reader.clock_input(0, "the timer's clock"),
        bits: reader.u32_or("cyclescope,counter-bits", 16, PowerOfTwo(16..=32), "bits of the counter, 16 or 32"),
        channels: reader.u32_or("cyclescope,channels", 4, 0..=4, "number of capture/compare channels, 0 to 4") as usize,
        is_advanced: reader.flag("cyclescope,advanced", "the timer has a repetition counter and a break register"),
        counts_up: reader.flag("cyclescope,counts-up", "the timer counts in one direction only, without DIR and CMS"),
        interrupts: [
            reader.interrupt(0, "its interrupt; the break interrupt of a timer with several"),
            reader.interrupt(1, "its update interrupt"),
            reader.interrupt(2, "its trigger and commutation interrupt"),
            reader.interrupt(3, "its capture/compare interrupt"),
        ],
        gate: ClockGate::from_node(reader),
    };
    let meaning = "the pins of its channels, from channel 1 on; outputs if the firmware configures them so";
    let pins = [0, 1, 2, 3].map(|index| reader.gpio("channel-gpios", index, meaning));
    let requests = [("up", "an update"), ("ch1", "channel 1"), ("ch2", "channel 2"), ("ch3", "channel 3")];
    let [up, ch1, ch2, ch3] = requests.map(|(name, meaning)| DmaLine::from_node(reader, name, meaning));
    let ch4 = DmaLine::from_node(reader, "ch4", "channel 4");
    let carriers = PinFunctions::from_node(reader, &["ch1", "ch2", "ch3", "ch4"]);
    let meaning = "targets of its trigger output, each a device and the number of the trigger there";
    let trigger = DmaLine::new(reader.trigger_lines("cyclescope,trigger-outputs", meaning));
    Box::new(Timer { pins: carriers, trigger, ..Timer::new(params, pins, [up, ch1, ch2, ch3, ch4]) })
}

impl Timer {
    /// The timer after reset.
    pub fn new(params: Params, pins: [Option<Pin>; CHANNELS], dma: [DmaLine; 1 + CHANNELS]) -> Timer {
        let most = u32::MAX >> (32 - params.bits);
        Timer {
            params,
            counter: Counter::new(params.clock.rate, most),
            channels: pins.map(|pin| Channel { pin, ..Channel::default() }),
            pins: PinFunctions::default(),
            control: 0,
            control2: 0,
            slave: 0,
            enables: 0,
            breaks: 0,
            burst: 0,
            option: 0,
            bursts: 0,
            prescaler: 0,
            reload: most,
            repetition: 0,
            repeats_left: 0,
            flags: 0,
            requests: 0,
            dma,
            trigger: DmaLine::default(),
            triggers: false,
            levels: [false; 4],
            alarm: Alarm::default(),
            updates: 0,
            moving_accesses: 0,
        }
    }

    /// True unless the timer has MOE and MOE is 0.
    const fn has_outputs(&self) -> bool {
        !self.params.is_advanced || self.breaks & BDTR_MOE != 0
    }

    /// True if TRGO is connected and selected for this event (TIM_CR2.MMS).
    fn triggers_on(&self, what: u32) -> bool {
        self.control2 >> CR2_MMS & 7 == what && !self.trigger.is_open()
    }

    fn set_control(&mut self, value: u32, ctx: &mut Ctx) {
        let value = if self.params.counts_up { value & !(CR1_DIR | 3 << CR1_CMS) } else { value };
        let started = value & CR1_CEN != 0 && !self.counter.running;
        let mode = if value >> CR1_CMS & 3 == 0 { Mode::Edge } else { Mode::Centre };
        if mode == Mode::Edge {
            self.counter.down = value & CR1_DIR != 0;
        }
        if started && self.slave & (SMCR_SMS | SMCR_ECE) != 0 {
            ctx.note("a slave mode or an external clock (TIM_SMCR) is not modelled: the counter counts its own clock");
        }
        self.counter.mode = mode;
        self.control = value & !CR1_DIR;
        if value & CR1_ARPE == 0 {
            self.counter.reload = self.reload;
        }
        if started {
            self.counter.start(ctx.now);
            self.triggers |= self.triggers_on(CR2_MMS_ENABLE);
        }
        self.counter.running = value & CR1_CEN != 0;
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        let pins = self.channels.map(|channel| channel.pin);
        let kept = std::mem::replace(self, Timer::new(self.params, pins, Default::default()));
        (self.dma, self.alarm, self.levels) = (kept.dma, kept.alarm, kept.levels);
        self.trigger = kept.trigger;
        (self.updates, self.moving_accesses) = (kept.updates, kept.moving_accesses + 1);
        self.pins = kept.pins;
        for (channel, before) in self.channels.iter_mut().zip(kept.channels) {
            (channel.driven, channel.is_carried) = (before.driven, before.is_carried);
        }
        self.update(ctx);
    }

    /// A write of TIM_CCMR1 or TIM_CCMR2, which have two channels each.
    fn set_modes(&mut self, first: usize, value: u32) {
        for (index, channel) in self.channels[first..first + 2].iter_mut().enumerate() {
            let shift = 8 * index as u32;
            channel.mode = value >> shift & (0xff | CCMR_OCM_HIGH);
            if !channel.has_preload() && !channel.is_input() {
                channel.value = channel.written;
            }
            channel.follow(&self.counter);
        }
    }

    fn modes(&self, first: usize) -> u32 {
        self.channels[first].mode | self.channels[first + 1].mode << 8
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let (value, most) = (value & mask(offset, self.params.channels as u32), self.counter.most);
        match offset {
            CR1 => self.set_control(value, ctx),
            CR2 => {
                if value >> CR2_MMS & 7 > CR2_MMS_UPDATE && !self.trigger.is_open() {
                    ctx.note("a trigger output of compares (TIM_CR2.MMS) is not modelled: none comes");
                }
                self.control2 = value;
            }
            SMCR => self.slave = value,
            DIER => self.enables = value,
            // Write 0 to clear.
            SR => self.flags &= value,
            EGR => self.generate(value, ctx.now),
            CCMR1 => self.set_modes(0, value),
            CCMR2 => self.set_modes(2, value),
            CCER => {
                let each = self.channels.iter_mut().enumerate();
                each.for_each(|(index, channel)| channel.enable = value >> (4 * index as u32) & 0xf);
            }
            CNT => {
                self.counter.value = value & most;
                self.follow();
            }
            PSC => self.prescaler = value,
            ARR => {
                self.reload = value & most;
                if self.control & CR1_ARPE == 0 {
                    self.counter.reload = self.reload;
                }
            }
            RCR if self.params.is_advanced => self.repetition = value,
            CCR1..=CCR4 => self.set_compare(((offset - CCR1) / 4) as usize, value & most),
            BDTR if self.params.is_advanced => self.breaks = value,
            DCR => (self.burst, self.bursts) = (value, 0),
            DMAR => {
                let offset = self.next_of_burst();
                if offset != DMAR {
                    self.set_register(offset, value, ctx);
                }
            }
            OR => self.option = value,
            _ => {}
        }
    }

    fn set_compare(&mut self, index: usize, value: u32) {
        let channel = &mut self.channels[index];
        if channel.is_input() {
            return;
        }
        channel.written = value;
        if !channel.has_preload() {
            channel.value = value;
        }
        channel.follow(&self.counter);
    }

    /// The register for the next access of TIM_DMAR: DBL + 1 registers in order, from DBA on.
    fn next_of_burst(&mut self) -> u32 {
        let (first, length) = (self.burst & 0x1f, (self.burst >> 8 & 0x1f) + 1);
        let register = 4 * (first + self.bursts);
        self.bursts = (self.bursts + 1) % length;
        register
    }

    fn register(&mut self, offset: u32) -> u32 {
        match offset {
            CR1 => {
                let running = flag(CR1_CEN, self.counter.running);
                self.control & !CR1_CEN | running | flag(CR1_DIR, self.counter.down)
            }
            CR2 => self.control2,
            SMCR => self.slave,
            DIER => self.enables,
            SR => self.flags,
            CCMR1 => self.modes(0),
            CCMR2 => self.modes(2),
            CCER => (0..CHANNELS).map(|index| self.channels[index].enable << (4 * index)).sum(),
            CNT => {
                let copy = self.control & CR1_UIFREMAP != 0 && self.flags & UPDATE != 0;
                self.counter.value | flag(1 << 31, copy)
            }
            PSC => self.prescaler,
            ARR => self.reload,
            RCR => self.repetition,
            CCR1..=CCR4 => self.compare(((offset - CCR1) / 4) as usize),
            BDTR => self.breaks,
            DCR => self.burst,
            DMAR => {
                let offset = self.next_of_burst();
                if offset == DMAR { 0 } else { self.register(offset) }
            }
            OR => self.option,
            _ => 0,
        }
    }

    /// A read of TIM_CCRx; in capture mode it clears the channel's flag.
    fn compare(&mut self, index: usize) -> u32 {
        let channel = &self.channels[index];
        if channel.is_input() {
            self.flags &= !(1 << (1 + index));
            return channel.value;
        }
        channel.written
    }

    /// Updates interrupts, DMA requests and pins, and schedules an event for their next change.
    fn update(&mut self, ctx: &mut Ctx) {
        let pending = self.flags & self.enables;
        let levels = if self.params.interrupts[1].is_some() {
            [BREAK, UPDATE, TRIGGER | COM, COMPARE].map(|bits| pending & bits != 0)
        } else {
            [pending & 0xff != 0, false, false, false]
        };
        for (index, level) in levels.into_iter().enumerate() {
            if std::mem::replace(&mut self.levels[index], level) != level {
                ctx.set_irq(self.params.interrupts[index], level);
            }
        }
        let requests = std::mem::take(&mut self.requests) & self.enables;
        for index in 0..self.dma.len() {
            if requests >> (DIER_UDE + index as u32) & 1 != 0 {
                self.dma[index].pulse(DMA_ACTIVITIES, ctx);
            }
        }
        if std::mem::take(&mut self.triggers) {
            self.trigger.pulse(DMA_ACTIVITIES, ctx);
        }
        self.drive_pins(ctx);
        let due = self.next_event();
        ctx.awaits(&COUNTING, due, Detail::None);
        match due {
            Some(due) => self.alarm.set(due, COUNTED, ctx),
            None => self.alarm.cancel(COUNTED, ctx),
        }
    }
}

impl Device for Timer {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        self.pins.follow(ctx);
        self.connect(ctx);
        for (index, channel) in self.channels.iter().enumerate() {
            let Some(pin) = channel.pin else { continue };
            ctx.bus.wires.watch(pin, ctx.id, false);
            let label = ctx.label().to_owned();
            let signal = ctx.bus.waves.signal(&label, &format!("ch{}", index + 1), ctx.bus.wires.level(pin));
            ctx.bus.wires.name(pin, signal);
        }
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, ctx| {
            self.settle(ctx.now);
            let moves = matches!(offset, CNT | DMAR | CCR1..=CCR4);
            self.moving_accesses += u64::from(moves);
            let value = self.register(offset);
            self.update(ctx);
            value
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
            self.settle(ctx.now);
            self.moving_accesses += 1;
            self.set_register(offset, value, ctx);
            if matches!(offset, CR1 | CCER | BDTR) {
                self.note_pins(ctx);
            }
            self.update(ctx);
        })
    }

    fn interrupt_flags(&self) -> Option<String> {
        names_of(self.flags & self.enables, FLAGS)
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == DMA_ACTIVITIES {
            self.dma.iter_mut().chain([&mut self.trigger]).for_each(|line| line.event(DMA_ACTIVITIES, ctx));
            return;
        }
        self.alarm.rang(ctx.now);
        self.settle(ctx.now);
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx.now);
        self.params.clock.rate = ctx.bus.clocks.rate_of(self.params.clock);
        self.counter.set_clock(self.params.clock.rate, ctx.now);
        self.alarm.cancel(COUNTED, ctx);
        self.update(ctx);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.settle(ctx.now);
        for index in 0..CHANNELS {
            let pin = self.input(index, ctx).filter(|pin| pin.port == port && pin.of(changed));
            if let Some(pin) = pin {
                self.capture(index, pin.of(levels));
            }
        }
        self.update(ctx);
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        self.settle(ctx.now);
        self.connect(ctx);
        self.update(ctx);
    }

    fn finish(&mut self, now: Ps) {
        self.settle(now);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("updates".to_owned(), self.updates)]
    }
}

impl Polled for Timer {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.settle(poll.now());
        // The counter's own changes appear in flags, at known times.
        poll.phase(self.params.clock.rate);
        poll.state(self.moving_accesses);
        poll.state(self.flags);
        poll.state(self.counter.running);
        poll.state(self.counter.down);
        if let Some(due) = self.next_flag() {
            poll.until(due);
        }
        true
    }
}
