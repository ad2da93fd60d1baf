//! `st,stm32-dac`: the digital-to-analog converter of an STM32 with two channels (RM0090, "Digital-to-analog converter
//! (DAC)"; with `cyclescope,has-sample-and-hold` the DAC of an STM32L4+, RM0432).
//!
//! Modelled: data registers in all alignments, for one channel and both; noise and triangle waves; DMA requests, and
//! their underrun (DMAUDRx), which stops them until it is cleared; the interrupt, which is also TIM6's. The data go to
//! DAC_DORx one cycle of PCLK1 after the write, or after a trigger: one cycle after a software trigger, three after a
//! timer's (TRGO, as far as the timer's model has it). Waveforms show the channels as values of 12 bits (`out1` and
//! `out2`), 0 while the channel is off. With `cyclescope,prints-codes` each change is a line of the device's stream:
//! the time, the channel, the code, and the voltage. An output settles in the time of the data sheet, after its
//! wake-up, and the settling is an activity.
//!
//! Not modelled: the external trigger (EXTI line 9) and triggers of other timers, which never come; sample-and-hold
//! mode, which converts like normal mode, with a note; calibration (CENx), which ends at once with the factory
//! trimming; loads at the output.

mod channel;
mod registers;

#[cfg(test)]
mod tests;

pub use self::registers::{REGISTERS, WITH_SAMPLE_AND_HOLD};

use self::channel::{Channel, Converts};
use self::registers::*;
use crate::model::{Group, Model};
use crate::support::dma_lines::DmaLine;
use crate::support::registers::{find, flag};
use crate::support::stm32_clock_gate::ClockGate;
use engine::activity::{Activity, Detail, Kind};
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::observe::waves::SignalId;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};

/// An output that settles.
static SETTLING: Activity = Activity::new(
    Kind::Conversion,
    "settling",
    "the settling of an output, by channel, from the change of its code until it is within 1 LSB; the code",
);
/// Activities of a DAC.
const ACTIVITIES: &[&Activity] = &[&SETTLING];

/// Tokens of events: codes change; DMA requests change.
const CONVERTED: u32 = 0;
const DMA_ACTIVITIES: u32 = 1;

/// Cycles from a trigger, and from a write or a software trigger, to the change of the code.
const TRIGGER_CYCLES: u64 = 3;
const WRITE_CYCLES: u64 = 1;

/// The board's parameters of the converter.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// PCLK1.
    pub clock: ClockInput,
    /// Its interrupt.
    #[state(skip)]
    pub interrupt: Option<IrqLine>,
    /// True for the registers of an STM32L4+.
    #[state(skip)]
    pub has_sample_and_hold: bool,
    /// VREF+ in microvolts.
    #[state(skip)]
    pub reference_uv: u32,
    /// Settling time of an output.
    #[state(skip)]
    pub settling: Ps,
    /// Settling time after the channel is turned on.
    #[state(skip)]
    pub wake_up: Ps,
    /// True if each change is printed.
    #[state(skip)]
    pub prints: bool,
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
}

/// The converter.
#[derive(Debug, State)]
pub struct Dac {
    params: Params,
    /// DAC_CR, and the further registers of an STM32L4+: DAC_CCR, DAC_MCR, DAC_SHSR1, DAC_SHSR2, DAC_SHHR, DAC_SHRR.
    control: u32,
    more: [u32; 6],
    channels: [Channel; CHANNELS],
    dma: [DmaLine; CHANNELS],
    #[state(skip)]
    wires: Vec<SignalId>,
    level: bool,
    alarm: Alarm,
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32-dac"], 1, from_node).with_activities(ACTIVITIES).naming(REGISTERS);

/// Builds the converter from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "resets", "#io-channel-cells", "interrupt-names"]);
    let volts = "VREF+ of up to 3.6 V in microvolts";
    let params = Params {
        clock: reader.clock_input(0, "PCLK1"),
        interrupt: reader.interrupt(0, "its underrun interrupt"),
        has_sample_and_hold: reader.flag(
            "cyclescope,has-sample-and-hold",
            "its registers are those of an STM32L4+, with sample-and-hold mode",
        ),
        reference_uv: reader.u32_or("cyclescope,reference-microvolts", 3_300_000, 1_000_000..=3_600_000, volts),
        settling: reader.timing_ps("cyclescope,settling-ns", "from the change of a code until the output has settled"),
        wake_up: reader.timing_ps("cyclescope,wake-up-ns", "from the enable of a channel until its output has settled"),
        prints: reader
            .flag("cyclescope,prints-codes", "prints each change of an output as a line of the device's stream"),
        gate: ClockGate::from_node(reader),
    };
    let dma = ["tx1", "tx2"].map(|name| DmaLine::from_node(reader, name, "a channel needs its next code"));
    Box::new(Dac::new(params, dma))
}

impl Dac {
    /// The converter after reset.
    pub fn new(params: Params, dma: [DmaLine; CHANNELS]) -> Dac {
        Dac {
            params,
            control: 0,
            more: MORE_RESETS,
            channels: [Channel::default(); CHANNELS],
            dma,
            wires: Vec::new(),
            level: false,
            alarm: Alarm::default(),
            changes: 0,
        }
    }

    /// A channel's half of DAC_CR.
    const fn half(&self, index: usize) -> u32 {
        self.control >> (16 * index) & 0xffff
    }

    const fn is_on(&self, index: usize) -> bool {
        self.half(index) & CR_EN != 0
    }

    /// The trigger that a channel waits for, by its number in TSEL; `None` if the channel does not wait for a trigger.
    const fn trigger_of(&self, index: usize) -> Option<u32> {
        let half = self.half(index);
        let (enable, select) = if self.params.has_sample_and_hold {
            (L4_TEN, half >> L4_TSEL & 0xf)
        } else {
            (F4_TEN, half >> F4_TSEL & 7)
        };
        if half & enable != 0 { Some(select) } else { None }
    }

    const fn software(&self) -> u32 {
        if self.params.has_sample_and_hold { L4_SOFTWARE } else { F4_SOFTWARE }
    }

    fn convert_after(&mut self, index: usize, cycles: u64, what: Converts, ctx: &Ctx) {
        let due = self.params.clock.rate.after(ctx.now, Cycles(cycles));
        self.channels[index].due = Some((due, what));
    }

    /// Triggers all channels that wait for this trigger.
    fn trigger(&mut self, select: u32, ctx: &mut Ctx) {
        let by_software = select == self.software();
        for index in 0..CHANNELS {
            if !self.is_on(index) || self.trigger_of(index) != Some(select) {
                continue;
            }
            let cycles = if by_software { WRITE_CYCLES } else { TRIGGER_CYCLES };
            self.convert_after(index, cycles, Converts::Triggered, ctx);
            if by_software || self.half(index) & CR_DMAEN == 0 {
                continue;
            }
            let channel = &mut self.channels[index];
            if channel.waits_for_dma {
                channel.underruns |= true;
            } else if !channel.underruns {
                channel.waits_for_dma = true;
                self.dma[index].pulse(DMA_ACTIVITIES, ctx);
            }
        }
    }

    /// A write of a data register. In those of both channels, the upper half is the second channel's.
    fn set_data(&mut self, offset: u32, value: u32, ctx: &Ctx) {
        let mut set = |index: usize, data: u32| {
            self.channels[index].data = data & 0xfff;
            self.channels[index].waits_for_dma = false;
            if self.is_on(index) && self.trigger_of(index).is_none() {
                self.convert_after(index, WRITE_CYCLES, Converts::Held, ctx);
            }
        };
        match offset {
            DHR12R1 => set(0, value),
            DHR12L1 => set(0, value >> 4),
            DHR8R1 => set(0, (value & 0xff) << 4),
            DHR12R2 => set(1, value),
            DHR12L2 => set(1, value >> 4),
            DHR8R2 => set(1, (value & 0xff) << 4),
            DHR12RD => [value, value >> 16].into_iter().enumerate().for_each(|(index, data)| set(index, data)),
            DHR12LD => [value >> 4, value >> 20].into_iter().enumerate().for_each(|(index, data)| set(index, data)),
            DHR8RD => [value & 0xff, value >> 8 & 0xff].into_iter().enumerate().for_each(|(at, it)| set(at, it << 4)),
            _ => {}
        }
    }

    fn data(&self, offset: u32) -> u32 {
        let [one, two] = self.channels.map(|channel| channel.data);
        match offset {
            DHR12R1 => one,
            DHR12L1 => one << 4,
            DHR8R1 => one >> 4,
            DHR12R2 => two,
            DHR12L2 => two << 4,
            DHR8R2 => two >> 4,
            DHR12RD => one | two << 16,
            DHR12LD => one << 4 | two << 20,
            DHR8RD => one >> 4 | two >> 4 << 8,
            _ => 0,
        }
    }

    fn set_control(&mut self, value: u32, ctx: &Ctx) {
        let mask = if self.params.has_sample_and_hold { L4_CR_MASK } else { F4_CR_MASK };
        let before = std::mem::replace(&mut self.control, value & mask);
        for index in 0..CHANNELS {
            let was_on = before >> (16 * index) & CR_EN != 0;
            if self.is_on(index) == was_on {
                continue;
            }
            let channel = &mut self.channels[index];
            channel.restart();
            if !was_on {
                channel.on_since = Some(ctx.now);
                if self.trigger_of(index).is_none() {
                    self.convert_after(index, WRITE_CYCLES, Converts::Held, ctx);
                }
            }
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match offset {
            CR => self.set_control(value, ctx),
            SWTRIGR => {
                for index in (0..CHANNELS).filter(|index| value >> index & 1 != 0) {
                    self.trigger_by_software(index, ctx);
                }
            }
            DHR12R1..=DHR8RD => self.set_data(offset, value, ctx),
            // Write 1 to clear.
            SR => {
                for (index, channel) in self.channels.iter_mut().enumerate() {
                    if value >> (16 * index) & SR_DMAUDR != 0 {
                        (channel.underruns, channel.waits_for_dma) = (false, false);
                    }
                }
            }
            CCR.. if self.params.has_sample_and_hold => {
                let Some(row) = find(WITH_SAMPLE_AND_HOLD, offset) else { return };
                self.more[((offset - CCR) / 4) as usize % 6] = value & row.mask;
                if offset == MCR && value & MCR_SAMPLE_AND_HOLD != 0 {
                    ctx.note(
                        "sample-and-hold mode (DAC_MCR.MODEx) is not modelled: the channel converts as in normal mode",
                    );
                }
            }
            _ => {}
        }
    }

    /// SWTRIGx: only a channel that waits for the software trigger uses it.
    fn trigger_by_software(&mut self, index: usize, ctx: &mut Ctx) {
        if self.is_on(index) && self.trigger_of(index) == Some(self.software()) {
            self.convert_after(index, WRITE_CYCLES, Converts::Triggered, ctx);
        }
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            CR => self.control,
            DHR12R1..=DHR8RD => self.data(offset),
            DOR1 => self.channels[0].code,
            DOR2 => self.channels[1].code,
            SR => {
                let each = |(index, channel): (usize, &Channel)| flag(SR_DMAUDR, channel.underruns) << (16 * index);
                self.channels.iter().enumerate().map(each).sum()
            }
            CCR..=SHRR if self.params.has_sample_and_hold => self.more[((offset - CCR) / 4) as usize % 6],
            _ => 0,
        }
    }

    /// Applies the changes of codes that are due.
    fn settle(&mut self, ctx: &mut Ctx) {
        for index in 0..CHANNELS {
            let half = self.half(index);
            let channel = &mut self.channels[index];
            let Some((due, what)) = channel.due.filter(|(due, _)| *due <= ctx.now) else { continue };
            channel.due = None;
            channel.convert(what, half);
            self.changes += 1;
            self.show(index, due, ctx);
        }
    }

    /// Shows an output's value from `at` on: in wires, the stream, and the activity.
    fn show(&mut self, index: usize, at: Ps, ctx: &mut Ctx) {
        let channel = &mut self.channels[index];
        let code = channel.code;
        if std::mem::replace(&mut channel.shown, code) == code {
            return;
        }
        let from = channel.on_since.take();
        self.show_wires(index, code, at, ctx);
        let ready = from.map_or(Ps::ZERO, |on| on + self.params.wake_up);
        let settled = ready.max(at + self.params.settling);
        ctx.span((&SETTLING, index as u32), at, settled, Detail::Value(code));
        if self.params.prints {
            let uv = u64::from(code) * u64::from(self.params.reference_uv) / 4096;
            let (ns, number) = (at.0 / 1000, index + 1);
            let (seconds, ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
            let line = format!("{seconds}.{ns:09} {number} {code} {}.{:06}\n", uv / 1_000_000, uv % 1_000_000);
            ctx.bus.print_on(ctx.id, line.as_bytes());
        }
    }

    fn show_wires(&self, index: usize, code: u32, at: Ps, ctx: &Ctx) {
        if ctx.bus.waves.is_on() {
            let wires = self.wires.iter().skip(BITS * index).take(BITS).enumerate();
            ctx.bus.waves.set_many(|set| wires.for_each(|(bit, wire)| set(*wire, at, code >> bit & 1 != 0)));
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let level = (0..CHANNELS).any(|index| self.channels[index].underruns && self.half(index) & CR_DMAUDRIE != 0);
        if std::mem::replace(&mut self.level, level) != level {
            ctx.set_irq(self.params.interrupt, level);
        }
        for index in 0..CHANNELS {
            // The output of a channel that is off is 0.
            if !self.is_on(index) && self.channels[index].shown != 0 {
                self.show(index, ctx.now, ctx);
            }
        }
        match self.channels.iter().filter_map(|channel| channel.due).map(|(due, _)| due).min() {
            Some(due) => self.alarm.set(due, CONVERTED, ctx),
            None => self.alarm.cancel(CONVERTED, ctx),
        }
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.set_control(0, ctx);
        self.channels.iter_mut().for_each(|channel| channel.data = 0);
        self.more = MORE_RESETS;
        self.changes += 1;
        self.update(ctx);
    }
}

impl Device for Dac {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        let label = ctx.label().to_owned();
        let names = (0..CHANNELS).flat_map(|channel| (0..BITS).map(move |bit| format!("out{}[{bit}]", channel + 1)));
        self.wires = names.map(|name| ctx.bus.waves.signal(&label, &name, false)).collect();
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, ctx| {
            self.settle(ctx);
            self.register(offset)
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
            self.changes += 1;
            self.set_register(offset, value, ctx);
            self.update(ctx);
        })
    }

    /// A trigger input; its number is the value of TSEL.
    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        if level && self.params.gate.state(ctx.bus) {
            self.settle(ctx);
            self.changes += 1;
            self.trigger(input, ctx);
            self.update(ctx);
        }
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == DMA_ACTIVITIES {
            self.dma.iter_mut().for_each(|line| line.event(DMA_ACTIVITIES, ctx));
            return;
        }
        self.alarm.rang(ctx.now);
        self.settle(ctx);
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.params.clock.rate = ctx.bus.clocks.rate_of(self.params.clock);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("conversions".to_owned(), self.channels.iter().map(|channel| channel.conversions).sum())]
    }
}

impl Polled for Dac {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        // Codes change in events.
        poll.state(self.changes);
        if let Some((due, _)) = self.channels.iter().filter_map(|channel| channel.due).min_by_key(|(due, _)| *due) {
            poll.until(due);
        }
        true
    }
}
