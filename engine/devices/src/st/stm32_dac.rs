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

#[cfg(test)]
mod tests;

use self::channel::{Channel, Converts};
use crate::prelude::*;
use crate::support::dma_lines::DmaLine;
use crate::support::interrupt_output::InterruptOutput;
use engine::activity::{Activity, Kind};
use engine::observe::waves::SignalId;

registers! {
    /// DAC_CR of an STM32F4; its upper half has the same bits for channel 2.
    const F4_CONTROL "DAC_" {
        CR 0x00 rw mask 0x3fff_3fff {
            EN1 0, BOFF1 1, TEN1 2, TSEL1 3..6, WAVE1 6..8, MAMP1 8..12, DMAEN1 12, DMAUDRIE1 13,
        };
    }

    /// DAC_CR of an STM32L4+.
    const L4_CONTROL "DAC_" {
        L4_CR "CR" 0x00 rw mask 0x7fff_ffff { TEN1 1, TSEL1 2..6 };
    }

    /// The registers of all DACs.
    const COMMON "DAC_" {
        SWTRIGR 0x04 wo mask 3;
        DHR12R1 0x08 rw mask 0xfff;
        DHR12L1 0x0c rw volatile mask 0xfff0;
        DHR8R1 0x10 rw volatile mask 0xff;
        DHR12R2 0x14 rw mask 0xfff;
        DHR12L2 0x18 rw volatile mask 0xfff0;
        DHR8R2 0x1c rw volatile mask 0xff;
        DHR12RD 0x20 rw volatile mask 0x0fff_0fff;
        DHR12LD 0x24 rw volatile mask 0xfff0_fff0;
        DHR8RD 0x28 rw volatile mask 0xffff;
        DOR1 0x2c ro volatile mask 0xfff;
        DOR2 0x30 ro volatile mask 0xfff;
        SR 0x34 rw volatile { DMAUDR1 13, DMAUDR2 29 };
    }

    /// Further registers of an STM32L4+. The factory trimming in DAC_CCR is modelled as the middle of its range.
    pub const WITH_SAMPLE_AND_HOLD "DAC_" {
        CCR 0x38 rw reset 0x0010_0010 mask 0x001f_001f;
        MCR 0x3c rw { MODE1 0..3, MODE2 16..19 };
        SHSR "SHSR{}" [1..3; 4] 0x40 rw mask 0x3ff;
        SHHR 0x48 rw reset 0x0001_0001 mask 0x03ff_03ff;
        SHRR 0x4c rw reset 0x0001_0001 mask 0x00ff_00ff;
    }
}

/// The registers of an STM32F4 (RM0090, "DAC registers").
pub const MAP: Map = joined!(F4_CONTROL, COMMON);
/// The registers of an STM32L4+ (RM0432, "DAC registers").
const L4_MAP: Map = joined!(L4_CONTROL, COMMON, WITH_SAMPLE_AND_HOLD);

const CHANNELS: usize = 2;
/// Bits of a code.
const BITS: usize = 12;
/// The data of the channels in the registers from DAC_DHR12R1 to DAC_DHR8RD.
const DATA: [[u32; CHANNELS]; 9] = [
    [0xfff, 0],
    [0xfff0, 0],
    [0xff, 0],
    [0, 0xfff],
    [0, 0xfff0],
    [0, 0xff],
    [0xfff, 0x0fff_0000],
    [0xfff0, 0xfff0_0000],
    [0xff, 0xff00],
];
/// The registers that hold the data of the channels.
const HELD: [u32; CHANNELS] = [DHR12R1, DHR12R2];
/// The upper bit of MODE1 and MODE2.
const MCR_SAMPLE_AND_HOLD: u32 = 1 << 2 | 1 << 18;

/// A generation of the converter.
#[derive(Debug)]
struct Generation {
    map: &'static Map,
    /// TEN and TSEL of a channel, and the value of TSEL for the software trigger.
    enable: u32,
    select: u32,
    software: u32,
}

static F4: Generation = Generation { map: &MAP, enable: CR_TEN1, select: CR_TSEL1, software: 7 };
static L4: Generation = Generation { map: &L4_MAP, enable: L4_CR_TEN1, select: L4_CR_TSEL1, software: 0 };

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
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// PCLK1.
    pub clock: ClockInput,
    /// Its interrupt.
    pub interrupt: Option<IrqLine>,
    /// True for the registers of an STM32L4+.
    pub has_sample_and_hold: bool,
    /// VREF+ in microvolts.
    pub reference_uv: u32,
    /// Settling time of an output.
    pub settling: Ps,
    /// Settling time after the channel is turned on.
    pub wake_up: Ps,
    /// True if each change is printed.
    pub prints: bool,
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
}

/// The converter.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[poll(first = Dac::list_codes)]
pub struct Dac {
    #[state(skip)]
    params: Params,
    clock: ClockInput,
    #[state(skip)]
    generation: &'static Generation,
    registers: Registers,
    channels: [Channel; CHANNELS],
    dma: [DmaLine; CHANNELS],
    #[state(skip)]
    wires: Vec<SignalId>,
    interrupt: InterruptOutput,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32-dac"], 1, from_node).with_activities(ACTIVITIES).naming(MAP.rows);

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
        let generation = if params.has_sample_and_hold { &L4 } else { &F4 };
        let (channels, wires, alarm) = Default::default();
        let (registers, interrupt) = (Registers::new(generation.map), InterruptOutput::new(params.interrupt));
        Dac { params, clock: params.clock, generation, registers, channels, dma, wires, interrupt, alarm }
    }

    /// A channel's half of DAC_CR.
    fn half(&self, index: usize) -> u32 {
        self.registers[CR] >> (16 * index) & 0xffff
    }

    fn is_on(&self, index: usize) -> bool {
        self.half(index) & CR_EN1 != 0
    }

    /// The trigger that a channel waits for, by its number in TSEL; `None` if the channel does not wait for a trigger.
    fn trigger_of(&self, index: usize) -> Option<u32> {
        let (half, Generation { enable, select, .. }) = (self.half(index), self.generation);
        (half & enable != 0).then(|| field(half, *select))
    }

    fn convert_after(&mut self, index: usize, cycles: u64, what: Converts, ctx: &Ctx) {
        let due = self.clock.rate.after(ctx.now, Cycles(cycles));
        self.channels[index].due = Some((due, what));
    }

    /// Triggers a channel, if it waits for this trigger.
    fn trigger(&mut self, index: usize, select: u32, ctx: &mut Ctx) {
        if !self.is_on(index) || self.trigger_of(index) != Some(select) {
            return;
        }
        let by_software = select == self.generation.software;
        let cycles = if by_software { WRITE_CYCLES } else { TRIGGER_CYCLES };
        self.convert_after(index, cycles, Converts::Triggered, ctx);
        if by_software || self.half(index) & CR_DMAEN1 == 0 {
            return;
        }
        let channel = &mut self.channels[index];
        if channel.waits_for_dma {
            channel.underruns = true;
        } else if !channel.underruns {
            channel.waits_for_dma = true;
            self.dma[index].pulse(DMA_ACTIVITIES, ctx);
        }
    }

    /// A write of a data register.
    fn set_data(&mut self, register: u32, value: u32, ctx: &Ctx) {
        for (index, mask) in DATA[(register - DHR12R1) as usize / 4].into_iter().enumerate() {
            if mask == 0 {
                continue;
            }
            self.registers.set(HELD[index], field(value, mask) << (BITS as u32 - mask.count_ones()));
            self.channels[index].waits_for_dma = false;
            if self.is_on(index) && self.trigger_of(index).is_none() {
                self.convert_after(index, WRITE_CYCLES, Converts::Held, ctx);
            }
        }
    }

    fn data(&self, register: u32) -> u32 {
        let masks = DATA[(register - DHR12R1) as usize / 4].into_iter().zip(HELD).filter(|(mask, _)| *mask != 0);
        masks.fold(0, |bits, (mask, held)| {
            bits | self.registers[held] >> (BITS as u32 - mask.count_ones()) << mask.trailing_zeros()
        })
    }

    /// Turns channels on and off after a write of DAC_CR, which held `before`.
    fn switch(&mut self, before: u32, ctx: &Ctx) {
        for index in 0..CHANNELS {
            let was_on = before >> (16 * index) & CR_EN1 != 0;
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

    /// A write of DAC_SR: 1 clears.
    fn clear(&mut self, value: u32) {
        for (channel, bit) in self.channels.iter_mut().zip([SR_DMAUDR1, SR_DMAUDR2]) {
            if value & bit != 0 {
                (channel.underruns, channel.waits_for_dma) = (false, false);
            }
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

    /// The next change of a code.
    fn due(&self) -> Option<Ps> {
        self.channels.iter().filter_map(|channel| channel.due).map(|(due, _)| due).min()
    }

    /// Codes change in events.
    fn list_codes(&mut self, poll: &mut Poll) -> bool {
        if let Some(due) = self.due() {
            poll.until(due);
        }
        true
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        let before = self.registers[CR];
        self.registers.reset();
        self.switch(before, ctx);
        self.update(ctx);
    }
}

impl Table for Dac {
    /// Applies the changes of codes that are due.
    fn settle(&mut self, ctx: &mut Ctx) {
        for (index, held) in HELD.iter().enumerate() {
            let (half, data) = (self.half(index), self.registers[*held]);
            let channel = &mut self.channels[index];
            let Some((due, what)) = channel.due.filter(|(due, _)| *due <= ctx.now) else { continue };
            channel.due = None;
            channel.convert(what, half, data);
            self.show(index, due, ctx);
        }
    }

    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        let [one, two] = &self.channels;
        match register {
            DHR12R1..=DHR8RD => self.data(register),
            DOR1 => one.code,
            DOR2 => two.code,
            SR => flag(SR_DMAUDR1, one.underruns) | flag(SR_DMAUDR2, two.underruns),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CR => self.switch(old, ctx),
            SWTRIGR => (0..CHANNELS)
                .filter(|index| new >> index & 1 != 0)
                .for_each(|index| self.trigger(index, self.generation.software, ctx)),
            DHR12R1..=DHR8RD => self.set_data(register, new, ctx),
            SR => self.clear(new),
            MCR if new & MCR_SAMPLE_AND_HOLD != 0 => {
                ctx.note("sample-and-hold mode (DAC_MCR.MODEx) is not modelled: the channel converts as in normal mode")
            }
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let level = (0..CHANNELS).any(|index| self.channels[index].underruns && self.half(index) & CR_DMAUDRIE1 != 0);
        self.interrupt.drive(level, ctx);
        for index in 0..CHANNELS {
            // The output of a channel that is off is 0.
            if !self.is_on(index) && self.channels[index].shown != 0 {
                self.show(index, ctx.now, ctx);
            }
        }
        match self.due() {
            Some(due) => self.alarm.set(due, CONVERTED, ctx),
            None => self.alarm.cancel(CONVERTED, ctx),
        }
    }
}

impl Device for Dac {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        let label = ctx.label().to_owned();
        let names = (0..CHANNELS).flat_map(|channel| (0..BITS).map(move |bit| format!("out{}[{bit}]", channel + 1)));
        self.wires = names.map(|name| ctx.bus.waves.signal(&label, &name, false)).collect();
    }

    /// A trigger input; its number is the value of TSEL.
    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        if level && self.params.gate.state(ctx.bus) {
            self.settle(ctx);
            (0..CHANNELS).for_each(|index| self.trigger(index, input, ctx));
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
        self.clock.rate = ctx.bus.clocks.rate_of(self.clock);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        totals([("conversions", self.channels.iter().map(|channel| channel.conversions).sum())])
    }
}
