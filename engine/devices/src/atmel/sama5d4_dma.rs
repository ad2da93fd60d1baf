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

use self::channel::{Channel, Stage};
use self::registers::{
    CHANNEL_BASE, CHANNEL_BYTES, CHANNEL_REGISTERS, CHANNELS, GTYPE, REGISTERS, REQUESTS, XDMAC_GCFG, XDMAC_GD,
    XDMAC_GE, XDMAC_GID, XDMAC_GIE, XDMAC_GIM, XDMAC_GIS, XDMAC_GRS, XDMAC_GRWR, XDMAC_GRWS, XDMAC_GS, XDMAC_GSWF,
    XDMAC_GSWR, XDMAC_GSWS, XDMAC_GTYPE, XDMAC_GWAC, XDMAC_GWS, cis,
};
use crate::model::{Group, Model};
use crate::support::activities::{DMA, TRANSFER};
use crate::support::apb;
use crate::support::registers::find;
use engine::activity::{Detail, Kind};
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};

/// The controller's timing.
#[derive(Clone, Copy, Debug, State)]
struct Params {
    clock: ClockInput,
    /// From a channel's enable to its first access.
    #[state(skip)]
    setup_cycles: Cycles,
    /// From a request, or from the end of its transfer, to the next sampling of the request line.
    #[state(skip)]
    request_cycles: Cycles,
    #[state(skip)]
    interrupt: Option<IrqLine>,
}

impl Params {
    fn from_node(reader: &mut NodeReader) -> Params {
        reader.known(&["clock-names", "#dma-cells"]);
        Params {
            clock: reader.clock_input(0, "the clock of registers and transfers"),
            setup_cycles: reader.timing_cycles("cyclescope,setup-cycles", "clocks from an enable to the first access"),
            request_cycles: Cycles(request_cycles(reader).into()),
            interrupt: reader.interrupt(0, "its interrupt"),
        }
    }
}

/// At least one: a peripheral withdraws its request after the access to its register, not at the same time.
fn request_cycles(reader: &mut NodeReader) -> u32 {
    let meaning = "clocks from a peripheral's request to the access, at least 1";
    reader.timing_u32("cyclescope,request-cycles", 1..=u32::MAX, meaning)
}

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, State)]
struct Totals {
    blocks: u64,
    bytes: u64,
    descriptors: u64,
}

/// The controller.
#[derive(State)]
pub struct Xdmac {
    params: Params,
    #[state(with = engine::state::fixed)]
    channels: Vec<Channel>,
    /// Levels of the request lines.
    requests: [bool; REQUESTS],
    /// XDMAC_GIM.
    mask: u32,
    gcfg: u32,
    gwac: u32,
    /// XDMAC_GRS and XDMAC_GWS: a channel whose reads or writes are suspended makes no step.
    read_suspended: u32,
    write_suspended: u32,
    suspended: u32,
    irq_level: bool,
    totals: Totals,
    /// The number of writes, steps and requests: without these, reads change only a channel's status.
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Dma, &["atmel,sama5d4-dma"], 1, from_node).with_activities(DMA).naming(REGISTERS);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Xdmac::new(Params::from_node(reader)))
}

impl Xdmac {
    fn new(params: Params) -> Xdmac {
        Xdmac {
            params,
            channels: vec![Channel::default(); CHANNELS],
            requests: [false; REQUESTS],
            mask: 0,
            gcfg: 0,
            gwac: 0,
            read_suspended: 0,
            write_suspended: 0,
            suspended: 0,
            irq_level: false,
            totals: Totals::default(),
            changes: 0,
        }
    }

    /// A bit for each channel for which `so` is true.
    fn each(&self, so: impl Fn(&Channel) -> bool) -> u32 {
        self.channels.iter().enumerate().map(|(index, channel)| u32::from(so(channel)) << index).sum()
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            XDMAC_GTYPE => GTYPE,
            XDMAC_GCFG => self.gcfg,
            XDMAC_GWAC => self.gwac,
            XDMAC_GIM => self.mask,
            XDMAC_GIS => self.each(|channel| channel.status & channel.mask != 0),
            XDMAC_GS => self.each(|channel| channel.stage != Stage::Off),
            XDMAC_GRS => self.read_suspended,
            XDMAC_GWS => self.write_suspended,
            XDMAC_GSWS => self.each(|channel| channel.asked),
            _ => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match offset {
            XDMAC_GCFG => self.gcfg = value,
            XDMAC_GWAC => self.gwac = value,
            XDMAC_GIE => self.mask |= value,
            XDMAC_GID => self.mask &= !value,
            XDMAC_GE => self.of_each(value, |controller, index| controller.enable(index, ctx)),
            XDMAC_GD => self.of_each(value, |controller, index| controller.disable(index)),
            XDMAC_GRS => self.suspend(value, self.write_suspended, ctx),
            XDMAC_GWS => self.suspend(self.read_suspended, value, ctx),
            XDMAC_GRWS => self.suspend(self.read_suspended | value, self.write_suspended | value, ctx),
            XDMAC_GRWR => self.suspend(self.read_suspended & !value, self.write_suspended & !value, ctx),
            XDMAC_GSWR => self.of_each(value, |controller, index| {
                controller.channels[index].asked = true;
                controller.arm(index, ctx.now, ctx);
            }),
            // No data waits in a FIFO: a flush is complete at once.
            XDMAC_GSWF => self.of_each(value, |controller, index| controller.channels[index].status |= cis::FIS),
            _ => {}
        }
    }

    fn of_each(&mut self, bits: u32, mut act: impl FnMut(&mut Xdmac, usize)) {
        (0..CHANNELS).filter(|index| bits & 1 << index != 0).for_each(|index| act(self, index));
    }

    fn enable(&mut self, index: usize, ctx: &mut Ctx) {
        let channel = &mut self.channels[index];
        if channel.stage != Stage::Off {
            return;
        }
        channel.generation = channel.generation.wrapping_add(1);
        channel.armed = false;
        channel.linked = false;
        channel.begin_block();
        if channel.next.exists() {
            channel.stage = Stage::Fetch;
        } else if channel.left == 0 {
            ctx.note("a channel was enabled with a microblock of no data (XDMAC_CUBC is 0): its block is over at once");
        }
        self.arm(index, self.params.clock.rate.after(ctx.now, self.params.setup_cycles), ctx);
    }

    fn disable(&mut self, index: usize) {
        if self.channels[index].stage != Stage::Off {
            self.switch_off(index);
            self.channels[index].status |= cis::DIS;
        }
    }

    fn switch_off(&mut self, index: usize) {
        let channel = &mut self.channels[index];
        channel.stage = Stage::Off;
        channel.generation = channel.generation.wrapping_add(1);
        channel.armed = false;
        channel.chunk_left = 0;
    }

    fn suspend(&mut self, read: u32, write: u32, ctx: &mut Ctx) {
        (self.read_suspended, self.write_suspended) = (read, write);
        let resumed = self.suspended & !(read | write);
        self.suspended = read | write;
        self.of_each(resumed, |controller, index| controller.arm(index, ctx.now, ctx));
    }

    /// Requests the next step of an enabled channel, at `due`, unless one is requested or nothing needs it.
    fn arm(&mut self, index: usize, due: Ps, ctx: &mut Ctx) {
        let channel = &mut self.channels[index];
        if channel.stage == Stage::Off || std::mem::replace(&mut channel.armed, true) {
            return;
        }
        let token = channel.generation << 4 | index as u32;
        ctx.schedule(due.max(ctx.now), token);
    }

    fn update_interrupt(&mut self, ctx: &mut Ctx) {
        if ctx.records(Kind::Transfer) {
            for (index, channel) in self.channels.iter().enumerate() {
                let bytes = channel.left * channel.config.datum_bytes();
                let detail = || Detail::Address { address: channel.source, bytes };
                ctx.level_with((&TRANSFER, index as u32), channel.stage != Stage::Off, detail);
            }
        }
        let level = self.register(XDMAC_GIS) & self.mask != 0;
        if level != self.irq_level {
            self.irq_level = level;
            ctx.set_irq(self.params.interrupt, level);
        }
    }
}

/// The channel whose registers are at `offset`, and the register's offset among them.
fn channel_at(offset: u32) -> Option<(usize, u32)> {
    let within = offset.checked_sub(CHANNEL_BASE)?;
    let index = (within / CHANNEL_BYTES) as usize;
    (index < CHANNELS).then_some((index, within % CHANNEL_BYTES))
}

impl Device for Xdmac {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let value = match channel_at(offset & !3) {
            Some((index, register)) => self.channels[index].register(register),
            None => self.register(offset & !3),
        };
        self.update_interrupt(ctx);
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
        self.changes += 1;
        let (offset, value) = apb::written(value, offset, size);
        match channel_at(offset) {
            Some((index, register)) => {
                let mask = find(CHANNEL_REGISTERS, register).map_or(0, |register| register.mask);
                self.channels[index].set_register(register, value & mask);
            }
            None => {
                let mask = find(REGISTERS, offset).map_or(0, |register| register.mask);
                self.set_register(offset, value & mask, ctx);
            }
        }
        self.update_interrupt(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        let index = (token & 0xf) as usize;
        let channel = &mut self.channels[index];
        if channel.generation << 4 != token & !0xf {
            return;
        }
        channel.armed = false;
        self.changes += 1;
        self.step(index, ctx);
        self.update_interrupt(ctx);
    }

    /// A peripheral's request line.
    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        let Some(line) = self.requests.get_mut(input as usize) else { return };
        *line = level;
        self.changes += 1;
        if !level {
            return;
        }
        let due = self.params.clock.rate.after(ctx.now, self.params.request_cycles);
        for index in 0..CHANNELS {
            let Channel { config, stage, .. } = &self.channels[index];
            let waits = *stage == Stage::Read && config.is_synchronised() && !config.asks_software();
            if waits && config.request_line() == input as usize {
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
        let Totals { blocks, bytes, descriptors } = self.totals;
        [("blocks", blocks), ("bytes", bytes), ("descriptors", descriptors)]
            .map(|(name, count)| (name.to_owned(), count))
            .to_vec()
    }
}

impl Polled for Xdmac {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.changes);
        self.channels.iter().for_each(|channel| poll.state(channel.status));
        true
    }
}
