//! `atmel,sama5d4-dma`: the DMA controller (XDMAC) of Atmel's (Microchip's) SAMA5D4 and SAMA5D2, 16 channels.
//!
//! Document: SAMA5D2 Series datasheet (DS60001476), "DMA Controller (XDMAC)".
//!
//! Modelled: single blocks of microblocks, linked lists with descriptors of all four views, all address modes and
//! strides, memory sets, transfers between memories in bursts, transfers synchronised with a peripheral's request line
//! or with software, suspension, disable and flush, bus errors, the interrupt. A device's request line is an input of
//! this controller, like an interrupt line of an interrupt controller: `dmas` names it.
//!
//! Not modelled: the FIFO that lets a channel read ahead of its writes, arbitration settings (XDMAC_GCFG and XDMAC_GWAC
//! keep their values without effect; channels share buses as masters do), request overflow, MBR_UBC's data views except
//! for their registers, protection, bus interfaces (SIF, DIF). A datum of 64 bits is two word accesses to a device.

mod channel;
mod registers;
mod transfer;

#[cfg(test)]
mod tests;

use self::channel::Channel;
use self::registers::*;
use crate::prelude::*;
use crate::support::activities::DMA;
use crate::support::bus_master::{Stage, show_channels};
use crate::support::interrupt_output::InterruptOutput;

/// The controller's timing.
#[derive(Clone, Copy, Debug, State, Polled)]
struct Params {
    clock: ClockInput,
    /// From a channel's enable to its first access.
    #[state(skip)]
    setup_cycles: Cycles,
    /// From a request, or from the end of its transfer, to the next sampling of the request line.
    #[state(skip)]
    request_cycles: Cycles,
    interrupt: InterruptOutput,
}

/// The controller.
#[derive(State, Polled, RegisterBank)]
#[port(Port::APB)]
#[banks(channels, PLACES)]
pub struct Xdmac {
    params: Params,
    registers: Registers,
    #[state(with = engine::state::fixed)]
    channels: Vec<Channel>,
    /// Levels of the request lines: bit n is line n.
    requests: u128,
    /// Channels whose reads or writes are suspended, which make no step.
    suspended: u32,
    blocks: u64,
    bytes: u64,
    descriptors: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Dma, &["atmel,sama5d4-dma"], 1, from_node).with_activities(DMA).naming(GLOBAL.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "#dma-cells"]);
    let request = "clocks from a peripheral's request to the access, at least 1";
    Box::new(Xdmac::new(Params {
        clock: reader.clock_input(0, "the clock of registers and transfers"),
        setup_cycles: reader.timing_cycles("cyclescope,setup-cycles", "clocks from an enable to the first access"),
        // At least one: a peripheral withdraws its request after the access to its register, not at the same time.
        request_cycles: Cycles(reader.timing_u32("cyclescope,request-cycles", 1..=u32::MAX, request).into()),
        interrupt: InterruptOutput::new(reader.interrupt(0, "its interrupt")),
    }))
}

impl Xdmac {
    fn new(params: Params) -> Xdmac {
        let (requests, suspended, blocks, bytes, descriptors) = Default::default();
        let (registers, channels) = (Registers::new(&GLOBAL), (0..CHANNELS).map(|_| Channel::new()).collect());
        Xdmac { params, registers, channels, requests, suspended, blocks, bytes, descriptors }
    }

    /// A bit for each channel for which `so` is true.
    fn each(&self, so: impl Fn(&Channel) -> bool) -> u32 {
        self.channels.iter().enumerate().map(|(index, channel)| u32::from(so(channel)) << index).sum()
    }

    /// XDMAC_GIS.
    fn pending(&self) -> u32 {
        self.each(|channel| channel.registers.has(CIS, channel.registers[CIM]))
    }

    fn of_each(&mut self, bits: u32, mut act: impl FnMut(&mut Xdmac, usize)) {
        (0..CHANNELS).filter(|index| bits & 1 << index != 0).for_each(|index| act(self, index));
    }

    fn enable(&mut self, index: usize, ctx: &mut Ctx) {
        let channel = &mut self.channels[index];
        if channel.stage != Stage::Idle {
            return;
        }
        channel.generation = channel.generation.wrapping_add(1);
        channel.armed = false;
        channel.linked = false;
        channel.begin_block();
        if channel.has_next() {
            channel.stage = Stage::Fetch;
        } else if channel.left() == 0 {
            ctx.note("a channel was enabled with a microblock of no data (XDMAC_CUBC is 0): its block is over at once");
        }
        self.arm(index, self.params.clock.rate.after(ctx.now, self.params.setup_cycles), ctx);
    }

    fn disable(&mut self, index: usize) {
        if self.channels[index].stage != Stage::Idle {
            self.switch_off(index);
            self.channels[index].raise(CIS_DIS);
        }
    }

    fn switch_off(&mut self, index: usize) {
        let channel = &mut self.channels[index];
        channel.stage = Stage::Idle;
        channel.generation = channel.generation.wrapping_add(1);
        channel.armed = false;
        channel.chunk_left = 0;
    }

    /// XDMAC_GRS or XDMAC_GWS has changed.
    fn suspend(&mut self, ctx: &mut Ctx) {
        let suspended = self.registers[GRS] | self.registers[GWS];
        let resumed = std::mem::replace(&mut self.suspended, suspended) & !suspended;
        self.of_each(resumed, |controller, index| controller.arm(index, ctx.now, ctx));
    }

    /// Requests the next step of an enabled channel, at `due`, unless one is requested or nothing needs it.
    fn arm(&mut self, index: usize, due: Ps, ctx: &mut Ctx) {
        let channel = &mut self.channels[index];
        if channel.stage == Stage::Idle || std::mem::replace(&mut channel.armed, true) {
            return;
        }
        let token = channel.generation << 4 | index as u32;
        ctx.schedule(due.max(ctx.now), token);
    }

    fn update_interrupt(&mut self, ctx: &mut Ctx) {
        let each = |channel: &Channel| {
            (channel.stage != Stage::Idle, channel.source(), channel.left() * channel.datum_bytes())
        };
        show_channels(self.channels.iter().map(each), ctx);
        let level = self.pending() & self.registers[GIM] != 0;
        self.params.interrupt.drive(level, ctx);
    }
}

impl Table for Xdmac {
    fn shown(&mut self, register: u32, held: u32, _ctx: &mut Ctx) -> u32 {
        if let Some((index, CC)) = PLACES.at(register) {
            return self.channels[index].configuration(held);
        }
        match register {
            GIS => self.pending(),
            GS => self.each(|channel| channel.stage != Stage::Idle),
            GSWS => self.each(|channel| channel.asked),
            _ => held,
        }
    }

    fn was_read(&mut self, _register: u32, ctx: &mut Ctx) {
        self.update_interrupt(ctx);
    }

    fn wrote(&mut self, register: u32, _old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            GE => self.of_each(new, |controller, index| controller.enable(index, ctx)),
            GD => self.of_each(new, |controller, index| controller.disable(index)),
            GRS | GWS => self.suspend(ctx),
            GRWS | GRWR => {
                [GRS, GWS].into_iter().for_each(|suspended| self.registers.put(suspended, new, register == GRWS));
                self.suspend(ctx);
            }
            GSWR => self.of_each(new, |controller, index| {
                controller.channels[index].asked = true;
                controller.arm(index, ctx.now, ctx);
            }),
            // No data waits in a FIFO: a flush is complete at once.
            GSWF => self.of_each(new, |controller, index| controller.channels[index].raise(CIS_FIS)),
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.update_interrupt(ctx);
    }
}

impl Device for Xdmac {
    by_table!();

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        let index = (token & 0xf) as usize;
        let channel = &mut self.channels[index];
        if channel.generation << 4 != token & !0xf {
            return;
        }
        channel.armed = false;
        self.step(index, ctx);
        self.update_interrupt(ctx);
    }

    /// A peripheral's request line.
    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        if input >= u128::BITS {
            return;
        }
        self.requests = self.requests & !(1 << input) | u128::from(level) << input;
        if !level {
            return;
        }
        let due = self.params.clock.rate.after(ctx.now, self.params.request_cycles);
        for index in 0..CHANNELS {
            let channel = &self.channels[index];
            let waits = channel.stage == Stage::Read && channel.is(CC_TYPE) && !channel.is(CC_SWREQ);
            if waits && channel.field(CC_PERID) == input {
                self.arm(index, due, ctx);
            }
        }
    }

    fn is_master(&self) -> bool {
        true
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        // Operations in progress end at the old rate.
        ctx.bus.clocks.update(&mut self.params.clock);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        totals([("blocks", self.blocks), ("bytes", self.bytes), ("descriptors", self.descriptors)])
    }
}
