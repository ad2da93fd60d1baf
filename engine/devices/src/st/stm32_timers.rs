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
mod settle;

#[cfg(test)]
mod tests;

use self::channel::{Channel, MODE};
use self::counter::{Counter, Mode};
use crate::prelude::*;
use crate::support::activities::TIMER;
use crate::support::dma_lines::DmaLine;
use crate::support::interrupt_output::InterruptOutput;
use crate::support::pin_functions::PinFunctions;
use crate::support::timer_interrupt::TimerInterrupt;
use engine::bus::device::PortId;
use engine::dt::reader::PowerOfTwo;
use engine::dt::wiring::Pin;

registers! {
    /// The register map of an advanced-control timer, which has all registers (RM0090, "TIM1 and TIM8 register map").
    /// Simpler timers lack some registers, or some bits.
    pub const MAP "TIM_" {
        CR1 0x00 rw mask 0x0bff {
            CEN 0, UDIS 1, URS 2, OPM 3, DIR 4, CMS 5..7, ARPE 7,
            /// Of an STM32L4: bit 31 of TIM_CNT is a copy of UIF.
            UIFREMAP 11,
        };
        CR2 0x04 rw mask 0x00ff_fffd {
            /// The source of TRGO.
            MMS 4..7,
        };
        SMCR 0x08 rw mask 0x0001_fff7 {
            SMS 0..3,
            /// External clock mode 2.
            ECE 14,
            /// The fourth bit of SMS, of an STM32L4.
            SMS3 16,
        };
        DIER 0x0c rw mask 0x7fff {
            UIE 0,
            /// The DMA request of updates; those of the channels are at the next bits.
            UDE 8,
        };
        SR 0x10 rw {
            UIF 0 w0c, CC1IF 1 w0c, CC2IF 2 w0c, CC3IF 3 w0c, CC4IF 4 w0c, COMIF 5 w0c, TIF 6 w0c, BIF 7 w0c,
            B2IF 8 w0c, CC1OF 9 w0c, CC2OF 10 w0c, CC3OF 11 w0c, CC4OF 12 w0c, SBIF 13 w0c, CC5IF 16 w0c, CC6IF 17 w0c,
        };
        EGR 0x14 wo mask 0x01ff;
        CCMR1 0x18 rw mask 0x0101_ffff;
        CCMR2 0x1c rw mask 0x0101_ffff;
        CCER 0x20 rw mask 0x0033_ffff { CC1E 0, CC1P 1, CC1NP 3 };
        CNT 0x24 rw volatile;
        PSC 0x28 rw mask 0xffff;
        ARR 0x2c rw reset u32::MAX;
        RCR 0x30 rw mask 0xffff;
        CCR "CCR{}" [1..5; 4] 0x34 rw;
        BDTR 0x44 rw mask 0x03ff_ffff { MOE 15 };
        DCR 0x48 rw { DBA 0..5, DBL 8..13 };
        DMAR 0x4c rw volatile;
        OR 0x50 rw;
    }
}

const CCR_LAST: u32 = CCR + 12;

/// UIF, and UIE in TIM_DIER, and UG in TIM_EGR; and so on.
const UPDATE: u32 = SR_UIF;
const COMPARE: u32 = SR_CC1IF | SR_CC2IF | SR_CC3IF | SR_CC4IF;
const COM: u32 = SR_COMIF;
const TRIGGER: u32 = SR_TIF;
const BREAK: u32 = SR_BIF;
/// The flags that interrupt.
const INTERRUPTS: u32 = UPDATE | COMPARE | COM | TRIGGER | BREAK;

/// Values of TIM_CR2.MMS: TRGO comes with a reset by UG, CEN, or updates.
const MMS_RESET: u32 = 0;
const MMS_ENABLE: u32 = 1;
const MMS_UPDATE: u32 = 2;

/// Maximum number of channels.
const CHANNELS: usize = 4;

/// The token of the event of a change of DMA requests; 0 is that of a change in the counter.
const DMA_ACTIVITIES: u32 = 1;

/// The features of a timer.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The timer's clock.
    pub clock: ClockInput,
    /// Bits of the counter.
    pub bits: u32,
    /// Number of channels.
    pub channels: usize,
    /// True if the timer has TIM_RCR and TIM_BDTR.
    pub is_advanced: bool,
    /// True if the timer counts in one direction only.
    pub counts_up: bool,
    /// Interrupts of break, update, trigger and commutation, and capture/compare; or one for all.
    pub interrupts: [Option<IrqLine>; 4],
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
}

/// What happened in the counter, and was not passed on yet. The time alone decides on it; a change that is visible
/// outside the registers is an event.
#[derive(Clone, Copy, Debug, Default, State)]
struct Pending {
    /// Number of sweeps that end before the next update.
    repeats_left: u32,
    /// Pending transfer requests: bits of TIM_DIER.
    requests: u32,
    /// TRGO is to be raised.
    triggers: bool,
}

/// A timer.
#[derive(State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[poll(first = Timer::list_flags)]
pub struct Timer {
    #[state(skip)]
    params: Params,
    counter: Counter,
    channels: [Channel; CHANNELS],
    /// The pins that carry the channels.
    pins: PinFunctions,
    /// TIM_CR1.CEN and DIR are the counter's.
    registers: Registers,
    /// Accesses of TIM_DMAR in the burst so far.
    bursts: u32,
    #[poll(skip = "the flags show it, at known times")]
    pending: Pending,
    /// Requests of updates and of the channels.
    dma: [DmaLine; 1 + CHANNELS],
    /// TRGO: the devices that it triggers.
    trigger: DmaLine,
    interrupts: [InterruptOutput; 4],
    event: TimerInterrupt,
    #[poll(skip = "no register shows it")]
    updates: u64,
    /// Number of writes, and of reads of counting registers: loops with these are not skipped.
    moving_accesses: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["st,stm32-timers"], 1, from_node).with_activities(TIMER).naming(MAP.rows);

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
    let requests =
        [("up", "an update"), ("ch1", "channel 1"), ("ch2", "channel 2"), ("ch3", "channel 3"), ("ch4", "channel 4")];
    let requests = requests.map(|(name, meaning)| DmaLine::from_node(reader, name, meaning));
    let carriers = PinFunctions::from_node(reader, &["ch1", "ch2", "ch3", "ch4"]);
    let meaning = "targets of its trigger output, each a device and the number of the trigger there";
    let trigger = DmaLine::new(reader.trigger_lines("cyclescope,trigger-outputs", meaning));
    Box::new(Timer { pins: carriers, trigger, ..Timer::new(params, pins, requests) })
}

impl Timer {
    /// The timer after reset.
    pub fn new(params: Params, pins: [Option<Pin>; CHANNELS], dma: [DmaLine; 1 + CHANNELS]) -> Timer {
        let mut registers = Registers::new(&MAP);
        let counter = Counter::new(params.clock, u32::MAX >> (32 - params.bits));
        registers.set(ARR, counter.most);
        let (carriers, pending, trigger, event) = Default::default();
        Timer {
            params,
            counter,
            channels: pins.map(|pin| Channel { pin, ..Channel::default() }),
            pins: carriers,
            registers,
            bursts: 0,
            pending,
            dma,
            trigger,
            interrupts: params.interrupts.map(InterruptOutput::new),
            event,
            updates: 0,
            moving_accesses: 0,
        }
    }

    fn has(&self, register: u32, bits: u32) -> bool {
        self.registers.has(register, bits)
    }

    /// True unless the timer has MOE and MOE is 0.
    fn has_outputs(&self) -> bool {
        !self.params.is_advanced || self.has(BDTR, BDTR_MOE)
    }

    /// True if TRGO is connected and selected for this event (TIM_CR2.MMS).
    fn triggers_on(&self, what: u32) -> bool {
        self.registers.field(CR2, CR2_MMS) == what && !self.trigger.is_open()
    }

    fn set_control(&mut self, value: u32, ctx: &mut Ctx) {
        let started = value & CR1_CEN != 0 && !self.counter.running;
        let mode = if value & CR1_CMS == 0 { Mode::Edge } else { Mode::Centre };
        if mode == Mode::Edge {
            self.counter.down = value & CR1_DIR != 0;
        }
        if started && self.has(SMCR, SMCR_SMS | SMCR_SMS3 | SMCR_ECE) {
            ctx.note("a slave mode or an external clock (TIM_SMCR) is not modelled: the counter counts its own clock");
        }
        self.counter.mode = mode;
        self.reload();
        if started {
            self.counter.start(ctx.now);
            self.pending.triggers |= self.triggers_on(MMS_ENABLE);
        }
        self.counter.running = value & CR1_CEN != 0;
    }

    /// Without preload TIM_ARR is in force at once.
    fn reload(&mut self) {
        if !self.has(CR1, CR1_ARPE) {
            self.counter.reload = self.registers[ARR];
        }
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        let params = Params { clock: self.counter.clock, ..self.params };
        let Timer { counter, registers, .. } = Timer::new(params, [None; CHANNELS], Default::default());
        (self.counter, self.registers, self.bursts, self.pending) = (counter, registers, 0, Pending::default());
        for channel in &mut self.channels {
            let Channel { pin, is_carried, driven, .. } = *channel;
            *channel = Channel { pin, is_carried, driven, ..Channel::default() };
        }
        self.update(ctx);
    }

    /// The bits of a register that this timer does not have.
    fn absent(&self, register: u32) -> u32 {
        let lacking = |bits: fn(u32) -> u32| (self.params.channels as u32..CHANNELS as u32).map(bits).sum::<u32>();
        match register {
            CR1 if self.params.counts_up => CR1_DIR | CR1_CMS,
            CCMR1 => lacking(|channel| if channel < 2 { MODE << (8 * channel) } else { 0 }),
            CCMR2 => lacking(|channel| if channel < 2 { 0 } else { MODE << (8 * (channel - 2)) }),
            CCER => lacking(|channel| 0xf << (4 * channel)),
            // Enables, and requests, which have the bit positions of flags and overcaptures.
            DIER => lacking(|channel| (SR_CC1IF | SR_CC1OF) << channel),
            CCR..=CCR_LAST if (register - CCR) as usize / 4 >= self.params.channels => u32::MAX,
            CNT | ARR | CCR..=CCR_LAST => !self.counter.most,
            RCR | BDTR if !self.params.is_advanced => u32::MAX,
            _ => 0,
        }
    }

    /// A write of a register, which held `old`, by software or by a burst.
    fn written(&mut self, register: u32, old: u32, value: u32, ctx: &mut Ctx) {
        let value = value & !self.absent(register);
        self.registers.set(register, value);
        match register {
            CR1 => self.set_control(value, ctx),
            CR2 if self.registers.field(CR2, CR2_MMS) > MMS_UPDATE && !self.trigger.is_open() => {
                ctx.note("a trigger output of compares (TIM_CR2.MMS) is not modelled: none comes");
            }
            EGR => self.generate(value, ctx.now),
            CCMR1 => self.set_modes(0, value),
            CCMR2 => self.set_modes(2, value),
            CCER => {
                let each = self.channels.iter_mut().enumerate();
                each.for_each(|(index, channel)| channel.enable = value >> (4 * index as u32) & 0xf);
            }
            CNT => {
                self.counter.value = value;
                self.follow();
            }
            ARR => self.reload(),
            CCR..=CCR_LAST => self.set_compare(register, old),
            DCR => self.bursts = 0,
            DMAR => self.burst(value, ctx),
            _ => {}
        }
    }

    /// A write of TIM_CCMR1 or TIM_CCMR2, which have two channels each.
    fn set_modes(&mut self, first: usize, value: u32) {
        for index in first..first + 2 {
            let channel = &mut self.channels[index];
            channel.mode = value >> (8 * (index - first)) & MODE;
            self.load(index);
        }
    }

    /// A write of TIM_CCRx, which held `old`.
    fn set_compare(&mut self, register: u32, old: u32) {
        let index = (register - CCR) as usize / 4;
        if self.channels[index].is_input() {
            self.registers.set(register, old);
        } else {
            self.load(index);
        }
    }

    /// Without preload TIM_CCRx is in force at once.
    fn load(&mut self, index: usize) {
        let channel = &mut self.channels[index];
        if !channel.has_preload() && !channel.is_input() {
            channel.value = self.registers[CCR + 4 * index as u32];
        }
        channel.follow(&self.counter);
    }

    /// The register for the next access of TIM_DMAR: DBL + 1 registers in order, from DBA on.
    fn next_of_burst(&mut self) -> u32 {
        let (first, length) = (self.registers.field(DCR, DCR_DBA), self.registers.field(DCR, DCR_DBL) + 1);
        let register = 4 * (first + self.bursts);
        self.bursts = (self.bursts + 1) % length;
        register
    }

    /// A write of TIM_DMAR.
    fn burst(&mut self, value: u32, ctx: &mut Ctx) {
        let register = self.next_of_burst();
        if register == DMAR {
            return;
        }
        if let Ok((_, old, new)) = self.registers.write(register, value) {
            self.written(register, old, new, ctx);
        }
    }

    fn value(&mut self, register: u32) -> u32 {
        let held = self.registers.held(register);
        match register {
            CR1 => {
                let running = flag(CR1_CEN, self.counter.running);
                held & !(CR1_CEN | CR1_DIR) | running | flag(CR1_DIR, self.counter.down)
            }
            CNT => {
                let copy = self.has(CR1, CR1_UIFREMAP) && self.has(SR, UPDATE);
                self.counter.value | flag(1 << 31, copy)
            }
            CCR..=CCR_LAST => self.compare(register, held),
            DMAR => match self.next_of_burst() {
                DMAR => 0,
                register => self.value(register),
            },
            _ => held,
        }
    }

    /// A read of TIM_CCRx; in capture mode it clears the channel's flag.
    fn compare(&mut self, register: u32, held: u32) -> u32 {
        let index = (register - CCR) as usize / 4;
        let channel = &self.channels[index];
        if !channel.is_input() {
            return held;
        }
        self.registers.put(SR, SR_CC1IF << index, false);
        channel.value
    }

    /// Updates interrupts, DMA requests and pins, and schedules an event for their next change.
    fn drive(&mut self, ctx: &mut Ctx) {
        let pending = self.registers[SR] & self.registers[DIER];
        let levels = if self.params.interrupts[1].is_some() {
            [BREAK, UPDATE, TRIGGER | COM, COMPARE].map(|bits| pending & bits != 0)
        } else {
            [pending & INTERRUPTS != 0, false, false, false]
        };
        self.interrupts.iter_mut().zip(levels).for_each(|(output, level)| output.drive(level, ctx));
        let requests = std::mem::take(&mut self.pending.requests) & self.registers[DIER];
        for (index, line) in self.dma.iter_mut().enumerate() {
            if requests & DIER_UDE << index != 0 {
                line.pulse(DMA_ACTIVITIES, ctx);
            }
        }
        if std::mem::take(&mut self.pending.triggers) {
            self.trigger.pulse(DMA_ACTIVITIES, ctx);
        }
        self.drive_pins(ctx);
        self.event.expect_only(self.next_event(), ctx);
    }

    /// The counter's own changes appear in flags, at known times.
    fn list_flags(&mut self, poll: &mut Poll) -> bool {
        self.count_up_to(poll.now());
        if let Some(due) = self.next_flag() {
            poll.until(due);
        }
        true
    }
}

impl Table for Timer {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.count_up_to(ctx.now);
    }

    fn shown(&mut self, register: u32, _held: u32, _: &mut Ctx) -> u32 {
        self.moving_accesses += u64::from(matches!(register, CNT | DMAR | CCR..=CCR_LAST));
        self.value(register)
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.drive(ctx);
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        self.written(register, old, new, ctx);
        if matches!(register, CR1 | CCER | BDTR) {
            self.note_pins(ctx);
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.moving_accesses += 1;
        self.drive(ctx);
    }
}

impl Device for Timer {
    by_table!();

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

    fn interrupt_flags(&self) -> Option<String> {
        let pending = self.registers[SR] & self.registers[DIER] & INTERRUPTS;
        let names = MAP.row(SR)?.names(pending).collect::<Vec<_>>();
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == DMA_ACTIVITIES {
            self.dma.iter_mut().chain([&mut self.trigger]).for_each(|line| line.event(DMA_ACTIVITIES, ctx));
            return;
        }
        self.event.rang(ctx.now);
        self.settle(ctx);
        self.drive(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.counter.follow_clock(ctx);
        self.event.cancel(ctx);
        self.drive(ctx);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.settle(ctx);
        for index in 0..CHANNELS {
            let pin = self.input(index, ctx).filter(|pin| pin.port == port && pin.of(changed));
            if let Some(pin) = pin {
                self.capture(index, pin.of(levels));
            }
        }
        self.drive(ctx);
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.connect(ctx);
        self.drive(ctx);
    }

    fn finish(&mut self, now: Ps) {
        self.count_up_to(now);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("updates".to_owned(), self.updates)]
    }
}
