//! `st,stm32mp1-ipcc`: the mailbox between an STM32MP1's processors, IPCC (RM0436, "Inter-processor communication
//! controller (IPCC)").
//!
//! Six channels in each direction. A processor sets its channel's flag to signal the other one (the channel is then
//! occupied); the other one clears the flag when it has received the message. An occupied channel interrupts its
//! receiver, a free one its sender, each while its mask bit is 0 and its kind of interrupt is enabled.
//!
//! Modelled: all registers, the four interrupt lines, the clock gate. The node's interrupts are, in order: processor 1
//! occupied, processor 1 free, processor 2 occupied, processor 2 free.
//!
//! The counters show, for each channel that was used, how often it was set, the longest time for which it was occupied,
//! and whether it still is when the run ends: a message that was not acknowledged.
//!
//! Not modelled: security (which processor may access what), and the wake-up lines to the EXTI.

use crate::model::{Group, Model};
use crate::support::activities::{MAILBOX, MESSAGE};
use crate::support::registers::{AccessKind, Register, flag};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::Ps;

/// The register map (RM0436, "IPCC registers").
pub const REGISTERS: &[Register] = &[
    Register::new("IPCC_C1CR", CR, AccessKind::Rw, 0, CR_MASK),
    Register::new("IPCC_C1MR", MR, AccessKind::Rw, CHANNEL_BITS, CHANNEL_BITS),
    Register::new("IPCC_C1SCR", SCR, AccessKind::Wo, 0, CHANNEL_BITS),
    Register::new("IPCC_C1TOC2SR", TOSR, AccessKind::Ro, 0, CHANNELS_MASK),
    Register::new("IPCC_C2CR", PROCESSOR_BYTES + CR, AccessKind::Rw, 0, CR_MASK),
    Register::new("IPCC_C2MR", PROCESSOR_BYTES + MR, AccessKind::Rw, CHANNEL_BITS, CHANNEL_BITS),
    Register::new("IPCC_C2SCR", PROCESSOR_BYTES + SCR, AccessKind::Wo, 0, CHANNEL_BITS),
    Register::new("IPCC_C2TOC1SR", PROCESSOR_BYTES + TOSR, AccessKind::Ro, 0, CHANNELS_MASK),
    Register::new("IPCC_HWCFGR", HWCFGR, AccessKind::Ro, CHANNELS as u32, 0xff),
    Register::new("IPCC_VERR", VERR, AccessKind::Ro, VERSION, 0xff),
    Register::new("IPCC_IPIDR", IPIDR, AccessKind::Ro, IDENTIFICATION, u32::MAX),
    Register::new("IPCC_SIDR", SIDR, AccessKind::Ro, SIZE_IDENTIFICATION, u32::MAX),
];

const CHANNELS: usize = 6;
const PROCESSORS: usize = 2;

const CR: u32 = 0x00;
const MR: u32 = 0x04;
const SCR: u32 = 0x08;
const TOSR: u32 = 0x0c;
/// Processor 2's registers come after processor 1's.
const PROCESSOR_BYTES: u32 = 0x10;
const HWCFGR: u32 = 0x3f0;
const VERR: u32 = 0x3f4;
const IPIDR: u32 = 0x3f8;
const SIDR: u32 = 0x3fc;

const CR_RXOIE: u32 = 1 << 0;
const CR_TXFIE: u32 = 1 << 16;
const CR_MASK: u32 = CR_RXOIE | CR_TXFIE;
const CHANNELS_MASK: u32 = (1 << CHANNELS) - 1;
/// Position of the second set of a register's channel bits: CHnFM, CHnS.
const UPPER: u32 = 16;
const CHANNEL_BITS: u32 = CHANNELS_MASK << UPPER | CHANNELS_MASK;

/// Version 1.0, the IPCC's number, and 1 KiB of registers (the reset values of RM0436).
const VERSION: u32 = 0x10;
const IDENTIFICATION: u32 = 0x0010_0071;
const SIZE_IDENTIFICATION: u32 = 0xa3c5_dd01;

/// A channel in one direction.
#[derive(Clone, Copy, Debug, Default, State)]
struct Channel {
    /// The time since which it is occupied.
    since: Option<Ps>,
    kicks: u64,
    longest: Ps,
}

impl Channel {
    /// Frees the channel at `now`.
    fn free(&mut self, now: Ps) {
        if let Some(since) = self.since.take() {
            self.longest = self.longest.max(now.saturating_sub(since));
        }
    }
}

/// The registers of one processor.
#[derive(Clone, Copy, Debug, State)]
struct Processor {
    /// IPCC_CxCR.
    control: u32,
    /// IPCC_CxMR.
    mask: u32,
    /// The channels that it sends on.
    channels: [Channel; CHANNELS],
    #[state(skip)]
    occupied_line: Option<IrqLine>,
    #[state(skip)]
    free_line: Option<IrqLine>,
}

impl Processor {
    fn new(occupied_line: Option<IrqLine>, free_line: Option<IrqLine>) -> Processor {
        let channels = [Channel::default(); CHANNELS];
        Processor { control: 0, mask: CHANNEL_BITS, channels, occupied_line, free_line }
    }

    /// IPCC_CxTOCySR: the channels that it has set.
    fn occupied(&self) -> u32 {
        let bits = self.channels.iter().enumerate();
        bits.fold(0, |flags, (index, channel)| flags | flag(1 << index, channel.since.is_some()))
    }
}

/// The device.
#[derive(Debug, State)]
pub struct Ipcc {
    processors: [Processor; PROCESSORS],
    #[state(skip)]
    gate: ClockGate,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Message, &["st,stm32mp1-ipcc"], 1, from_node).with_activities(MAILBOX).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks", "clock-names", "interrupt-names", "st,proc-id", "#mbox-cells", "wakeup-source"]);
    let lines = [
        reader.interrupt(0, "to processor 1: a channel is occupied"),
        reader.interrupt(1, "to processor 1: a channel is free"),
        reader.interrupt(2, "to processor 2: a channel is occupied"),
        reader.interrupt(3, "to processor 2: a channel is free"),
    ];
    Box::new(Ipcc::new(lines, ClockGate::from_node(reader)))
}

impl Ipcc {
    /// The device after reset; lines in the order of the node's interrupts.
    pub fn new(lines: [Option<IrqLine>; 4], gate: ClockGate) -> Ipcc {
        let [occupied1, free1, occupied2, free2] = lines;
        Ipcc { processors: [Processor::new(occupied1, free1), Processor::new(occupied2, free2)], gate }
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            HWCFGR => CHANNELS as u32,
            VERR => VERSION,
            IPIDR => IDENTIFICATION,
            SIDR => SIZE_IDENTIFICATION,
            _ => match processor_at(offset) {
                Some((processor, CR)) => self.processors[processor].control,
                Some((processor, MR)) => self.processors[processor].mask,
                Some((processor, TOSR)) => self.processors[processor].occupied(),
                _ => 0,
            },
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match processor_at(offset) {
            Some((processor, CR)) => self.processors[processor].control = value & CR_MASK,
            Some((processor, MR)) => self.processors[processor].mask = value & CHANNEL_BITS,
            Some((processor, SCR)) => {
                self.free(processor, value & CHANNELS_MASK, ctx);
                self.occupy(processor, value >> UPPER & CHANNELS_MASK, ctx);
            }
            _ => {}
        }
    }

    /// CHnS: occupies channels that `processor` sends on.
    fn occupy(&mut self, processor: usize, channels: u32, ctx: &mut Ctx) {
        for index in (0..CHANNELS).filter(|index| channels >> index & 1 != 0) {
            let channel = &mut self.processors[processor].channels[index];
            channel.kicks += 1;
            if channel.since.is_some() {
                ctx.note(&format!(
                    "processor {} set channel {} while it was still occupied: the other processor sees no second \
                     message",
                    processor + 1,
                    index + 1
                ));
            }
            channel.since.get_or_insert(ctx.now);
        }
    }

    /// CHnC: frees channels that `processor` receives on.
    fn free(&mut self, processor: usize, channels: u32, ctx: &mut Ctx) {
        for index in (0..CHANNELS).filter(|index| channels >> index & 1 != 0) {
            self.processors[1 - processor].channels[index].free(ctx.now);
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let sent = [self.processors[0].occupied(), self.processors[1].occupied()];
        for part in 0..PROCESSORS * CHANNELS {
            let occupied = sent[part / CHANNELS] >> (part % CHANNELS) & 1 != 0;
            ctx.level((&MESSAGE, part as u32), occupied);
        }
        for (index, processor) in self.processors.iter().enumerate() {
            let unmasked = !processor.mask;
            let occupied = sent[1 - index] & unmasked & CHANNELS_MASK != 0 && processor.control & CR_RXOIE != 0;
            let free = !sent[index] & unmasked >> UPPER & CHANNELS_MASK != 0 && processor.control & CR_TXFIE != 0;
            ctx.set_irq(processor.occupied_line, occupied);
            ctx.set_irq(processor.free_line, free);
        }
    }
}

/// The processor whose register is at `offset`, and the register's offset among its registers.
fn processor_at(offset: u32) -> Option<(usize, u32)> {
    let processor = (offset / PROCESSOR_BYTES) as usize;
    (processor < PROCESSORS).then_some((processor, offset % PROCESSOR_BYTES))
}

impl Device for Ipcc {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.gate.read(offset, size, ctx, |offset, _| self.register(offset))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.gate.write(offset, size, value, ctx, |offset, value, ctx| {
            self.set_register(offset, value, ctx);
            self.update(ctx);
        })
    }

    fn finish(&mut self, now: Ps) {
        for channel in self.processors.iter_mut().flat_map(|processor| &mut processor.channels) {
            let left = channel.since.map_or(Ps::ZERO, |since| now.saturating_sub(since));
            channel.longest = channel.longest.max(left);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let mut totals = Vec::new();
        for (from, processor) in self.processors.iter().enumerate() {
            let used = processor.channels.iter().enumerate().filter(|(_, channel)| channel.kicks > 0);
            for (index, channel) in used {
                let name = format!("c{}toc{}_ch{}", from + 1, PROCESSORS - from, index + 1);
                totals.push((format!("{name}_kicks"), channel.kicks));
                totals.push((format!("{name}_longest_occupied_ps"), channel.longest.0));
                totals.push((format!("{name}_left_occupied"), u64::from(channel.since.is_some())));
            }
        }
        totals
    }
}

impl Polled for Ipcc {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        for processor in &self.processors {
            poll.state(processor.control);
            poll.state(processor.mask);
            for channel in &processor.channels {
                // A loop that sets or frees a channel has a new state each time.
                poll.state(channel.since.map_or(u64::MAX, |since| since.0));
                poll.state(channel.kicks);
                poll.state(channel.longest.0);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
