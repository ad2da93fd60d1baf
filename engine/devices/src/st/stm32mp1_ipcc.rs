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

use crate::prelude::*;
use crate::support::activities::{MAILBOX, MESSAGE};
use engine::pins::bits;

registers! {
    /// The register map (RM0436, "IPCC registers"); the last ones have the number of channels, version 1.0, the IPCC's
    /// number, and 1 KiB of registers.
    pub const MAP "IPCC_" {
        CR "C{}CR" [1..3; PROCESSOR_BYTES] 0x00 rw { RXOIE 0, TXFIE 16 };
        MR "C{}MR" [1..3; PROCESSOR_BYTES] 0x04 rw reset CHANNEL_BITS { OM 0..6, FM 16..22 };
        SCR "C{}SCR" [1..3; PROCESSOR_BYTES] 0x08 wo { C 0..6, S 16..22 };
        TOSR "C1TOC2SR" 0x0c ro volatile mask ALL_CHANNELS;
        TOSR2 "C2TOC1SR" 0x1c ro volatile mask ALL_CHANNELS;
        HWCFGR 0x3f0 ro reset CHANNELS as u32 mask 0xff;
        VERR 0x3f4 ro reset 0x10 mask 0xff;
        IPIDR 0x3f8 ro reset 0x0010_0071;
        SIDR 0x3fc ro reset 0xa3c5_dd01;
    }
}

const CHANNELS: usize = 6;
const PROCESSORS: usize = 2;
/// Processor 2's registers come after processor 1's.
const PROCESSOR_BYTES: u32 = 0x10;
const ALL_CHANNELS: u32 = (1 << CHANNELS) - 1;
const CHANNEL_BITS: u32 = MR_FM | MR_OM;

/// A channel in one direction.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
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

/// A processor.
#[derive(Clone, Copy, Debug, State, Polled)]
struct Processor {
    /// The channels that it sends on. A loop that sets or frees a channel has a new state each time.
    channels: [Channel; CHANNELS],
    /// Its interrupts: a channel is occupied, a channel is free.
    lines: [Option<IrqLine>; 2],
}

impl Processor {
    /// IPCC_CxTOCySR: the channels that it has set.
    fn occupied(&self) -> u32 {
        let bits = self.channels.iter().enumerate();
        bits.fold(0, |flags, (index, channel)| flags | flag(1 << index, channel.since.is_some()))
    }
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
pub struct Ipcc {
    registers: Registers,
    processors: [Processor; PROCESSORS],
    gate: ClockGate,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Message, &["st,stm32mp1-ipcc"], 1, from_node).with_activities(MAILBOX).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks", "clock-names", "interrupt-names", "st,proc-id", "#mbox-cells", "wakeup-source"]);
    let lines = std::array::from_fn(|line| {
        let state = ["occupied", "free"][line % 2];
        reader.interrupt(line, &format!("to processor {}: a channel is {state}", line / 2 + 1))
    });
    Box::new(Ipcc::new(lines, ClockGate::from_node(reader)))
}

impl Ipcc {
    /// The device after reset; lines in the order of the node's interrupts.
    pub fn new(lines: [Option<IrqLine>; 4], gate: ClockGate) -> Ipcc {
        let [occupied1, free1, occupied2, free2] = lines;
        let processors = [[occupied1, free1], [occupied2, free2]];
        let processors = processors.map(|lines| Processor { channels: Default::default(), lines });
        Ipcc { registers: Registers::new(&MAP), processors, gate }
    }

    /// CHnS: occupies channels that `processor` sends on.
    fn occupy(&mut self, processor: usize, channels: u32, ctx: &mut Ctx) {
        for index in bits(channels) {
            let channel = &mut self.processors[processor].channels[index as usize];
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
        bits(channels).for_each(|index| self.processors[1 - processor].channels[index as usize].free(ctx.now));
    }
}

impl Table for Ipcc {
    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        match register {
            TOSR => self.processors[0].occupied(),
            TOSR2 => self.processors[1].occupied(),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, _old: u32, new: u32, ctx: &mut Ctx) {
        if register < HWCFGR && register % PROCESSOR_BYTES == SCR {
            let processor = (register / PROCESSOR_BYTES) as usize;
            self.free(processor, field(new, SCR_C), ctx);
            self.occupy(processor, field(new, SCR_S), ctx);
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let sent = self.processors.map(|processor| processor.occupied());
        for part in 0..PROCESSORS * CHANNELS {
            let occupied = sent[part / CHANNELS] >> (part % CHANNELS) & 1 != 0;
            ctx.level((&MESSAGE, part as u32), occupied);
        }
        for (index, processor) in self.processors.iter().enumerate() {
            let offset = PROCESSOR_BYTES * index as u32;
            let (control, unmasked) = (self.registers[CR + offset], !self.registers[MR + offset]);
            let occupied = sent[1 - index] & field(unmasked, MR_OM) != 0 && control & CR_RXOIE != 0;
            let free = !sent[index] & field(unmasked, MR_FM) != 0 && control & CR_TXFIE != 0;
            processor.lines.into_iter().zip([occupied, free]).for_each(|(line, level)| ctx.set_irq(line, level));
        }
    }
}

impl Device for Ipcc {
    by_table!();

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

#[cfg(test)]
mod tests;
