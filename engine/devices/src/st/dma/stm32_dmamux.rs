//! `st,stm32-dmamux`: the multiplexer of DMA requests of STM32L4+, G4 and others (RM0432, "DMA request multiplexer
//! (DMAMUX)"), and, as `st,stm32h7-dmamux`, that of STM32H7 and STM32MP1 (RM0436), whose controllers have streams.
//!
//! Modelled: DMAMUX_CxCR.DMAREQ_ID, which connects each channel of the controllers behind the multiplexer with one of
//! the requests. The controllers are `dma-masters`; channels 0 to 6 belong to the first, or channels 0 to 7 if they
//! have streams. A device's request line is an input of the multiplexer, numbered by the request: `dmas` gives the
//! number. A stream gets the request as that of its channel 0 (CHSEL), which does not exist behind a multiplexer.
//!
//! Not modelled: synchronisation and events (SE, EGE): requests pass at once, with a note; request generators (their
//! registers keep written values). A request passes without delay.

use crate::prelude::*;
use crate::support::dma_lines::DmaLine;

registers! {
    /// The registers of channel 0.
    const FIRST "DMAMUX_" {
        CCR "C0CR" 0x00 rw mask 0x1fff_ff7f { DMAREQ_ID 0..7, EGE 9, SE 16 };
    }

    /// Those of the other channels.
    const OTHERS "DMAMUX_" {
        C1CR "C{}CR" [1..14; 4] 0x04 rw mask 0x1fff_ff7f;
    }

    /// The registers after them.
    const REST "DMAMUX_" {
        CSR 0x80 ro mask 0x3fff;
        CFR 0x84 wo mask 0x3fff;
        RGCR "RG{}CR" [0..4; 4] 0x100 rw mask 0x00ff_011f;
        RGSR 0x140 ro mask 0xf;
        RGCFR 0x144 wo mask 0xf;
    }

    /// Those of the channels that an STM32MP1 has more.
    const MORE_CHANNELS "DMAMUX_" {
        C14CR "C{}CR" [14..16; 4] 0x38 rw mask 0x1fff_ff7f;
    }

    /// The registers after them.
    const REST_OF_MP1 "DMAMUX_" {
        MP1_CSR "CSR" 0x80 ro mask 0xffff;
        MP1_CFR "CFR" 0x84 wo mask 0xffff;
        MP1_RGCR "RG{}CR" [0..8; 4] 0x100 rw mask 0x00ff_0107;
        MP1_RGSR "RGSR" 0x140 ro mask 0xff;
        MP1_RGCFR "RGCFR" 0x144 wo mask 0xff;
        HWCFGR2 0x3ec ro reset 8 mask 0xff;
        HWCFGR1 0x3f0 ro reset 0x0808_6c10;
        VERR 0x3f4 ro reset 0x11 mask 0xff;
        IPIDR 0x3f8 ro reset 0x0010_0011;
        SIDR 0x3fc ro reset 0xa3c5_dd01;
    }
}

/// The registers of channel 0 and of the generators (RM0432, "DMAMUX register map").
pub const NAMED: Map = joined!(FIRST, REST);
const ALL: Map = joined!(FIRST, OTHERS, REST);
/// Those of an STM32MP1.
const MP1_ALL: Map = joined!(FIRST, OTHERS, MORE_CHANNELS, REST_OF_MP1);

/// The compatible of the multiplexer of an STM32H7 and an STM32MP1.
const H7: &str = "st,stm32h7-dmamux";
/// Channels of each controller, and the distance of their inputs there.
const CHANNELS_OF_MASTER: [u32; 2] = [7, 1];
/// The same for controllers with streams, which have eight inputs each.
const STREAMS_OF_MASTER: [u32; 2] = [8, 8];
/// The most channels.
const CHANNELS: usize = 16;
const REQUESTS: usize = 128;

/// The multiplexer.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
pub struct Mux {
    gate: ClockGate,
    registers: Registers,
    /// Levels of the inputs.
    levels: [bool; REQUESTS],
    #[state(with = engine::state::fixed)]
    outputs: Vec<DmaLine>,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Dma, &["st,stm32-dmamux", H7], 1, from_node).naming(NAMED.rows).naming_as(H7, MP1_ALL.rows);

/// Builds the multiplexer from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["#dma-cells", "dma-channels", "dma-requests", "clock-names", "resets", "interrupt-names"]);
    reader.known(&["clocks"]);
    reader.interrupt(0, "its overrun interrupt, which never occurs in the model");
    reader.u32_or("dma-generators", 4, 0..=4, "number of request generators");
    let masters = reader.dma_masters("dma-masters", 2, "the controllers behind the multiplexer");
    let has_streams = reader.node.compatibles().contains(&H7);
    let [channels, distance] = if has_streams { STREAMS_OF_MASTER } else { CHANNELS_OF_MASTER };
    let outputs = masters.into_iter().flat_map(|line| {
        let lines = (0..channels).map(move |channel| match line {
            IrqLine::Device { device, .. } => Some(IrqLine::Device { device, input: distance * channel }),
            IrqLine::Core { .. } => None,
        });
        lines.map(|line| DmaLine::new(line.into_iter().collect()))
    });
    let outputs = outputs.collect();
    let map = if has_streams { &MP1_ALL } else { &ALL };
    Box::new(Mux::new(map, outputs, ClockGate::from_node(reader)))
}

impl Mux {
    /// The multiplexer after reset, with the lines of its channels.
    pub fn new(map: &'static Map, outputs: Vec<DmaLine>, gate: ClockGate) -> Mux {
        Mux { gate, registers: Registers::new(map), levels: [false; REQUESTS], outputs }
    }

    /// That of an STM32L4+, always with its clock.
    #[cfg(test)]
    pub fn of_l4(outputs: Vec<DmaLine>) -> Mux {
        Mux::new(&ALL, outputs, ClockGate::NONE)
    }

    /// The input that a channel selects; 0 selects no input.
    fn request(&self, channel: usize) -> u32 {
        self.registers[CCR + 4 * channel as u32] & CCR_DMAREQ_ID
    }

    /// Drives the channel's line with the level of the selected input.
    fn drive(&mut self, channel: usize, ctx: &mut Ctx) {
        let request = self.request(channel);
        let level = request != 0 && self.levels[request as usize];
        if let Some(line) = self.outputs.get_mut(channel) {
            line.set(level, channel as u32, ctx);
        }
    }
}

impl Table for Mux {
    fn wrote(&mut self, register: u32, _old: u32, new: u32, ctx: &mut Ctx) {
        if register < CSR {
            if new & (CCR_SE | CCR_EGE) != 0 {
                ctx.note("synchronisation (DMAMUX_CxCR.SE, EGE) is not modelled: requests pass at once");
            }
            self.drive((register / 4) as usize, ctx);
        }
    }
}

impl Device for Mux {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.gate.follow(ctx);
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if let Some(line) = self.outputs.get_mut(token as usize) {
            line.event(token, ctx);
        }
    }

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        let Some(line) = self.levels.get_mut(input as usize) else { return };
        *line = level;
        for channel in 0..CHANNELS {
            if self.request(channel) == input {
                self.drive(channel, ctx);
            }
        }
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        if self.gate.is_reset(ctx.bus) {
            self.registers.reset();
            (0..CHANNELS).for_each(|channel| self.drive(channel, ctx));
        }
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk;
    use engine::time::Ps;

    #[test]
    fn each_channel_and_generator_has_a_register_of_its_own() {
        let mut bench = Bench::new(Mux::new(&ALL, Vec::new(), ClockGate::default()));
        let registers = (0..0x38).step_by(4).chain((RGCR..0x110).step_by(4));
        for offset in registers.clone() {
            bench.write(Ps(0), offset, (offset / 4) & 0x1f).unwrap();
        }
        for offset in registers {
            assert_eq!(bench.value(Ps(0), offset), (offset / 4) & 0x1f, "{offset:#x}");
        }
    }

    #[test]
    fn that_of_an_stm32mp1_has_sixteen_channels_and_eight_generators() {
        let mut bench = Bench::new(Mux::new(&MP1_ALL, Vec::new(), ClockGate::default()));
        walk::device_keeps_its_map(&MP1_ALL, &[], &mut bench);
    }
}
