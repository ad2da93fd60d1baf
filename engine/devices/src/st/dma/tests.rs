//! For the tests of controllers that serve requests: a controller at 100 MHz, memory, and a device with a request line.

use crate::bench::dma::{self, mhz};
use crate::support::dma_lines::DmaLine;
use engine::bus::Bus;
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, Reply};
use engine::polling::{Poll, Polled};
use engine::time::{Cycles, Ps};

pub const RAM: u32 = 0x2000_0000;
pub const PORT: u32 = 0x4001_3000;
const DMA: u32 = 0x4002_6000;

/// A data register that requests `asks` transfers, each 20 clocks after the last access. It reads as a count in steps
/// of `step`, and keeps written values and their times.
#[derive(engine::state::State)]
pub struct Port {
    pub asks: u32,
    pub line: DmaLine,
    pub step: u32,
    pub value: u32,
    pub got: Vec<(u32, u64)>,
}

impl Device for Port {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        self.value += self.step;
        self.accessed(self.value, ctx);
        Ok(Reply::read(self.value, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.accessed(value, ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == 1 { self.line.set(true, 0, ctx) } else { self.line.event(0, ctx) }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.got.iter().map(|(value, cycle)| (value.to_string(), *cycle)).collect()
    }
}

impl Polled for Port {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

impl Port {
    fn accessed(&mut self, value: u32, ctx: &mut Ctx) {
        self.got.push((value, mhz(100).cycles_until_ceil(ctx.now).0));
        self.asks = self.asks.saturating_sub(1);
        self.line.set(false, 0, ctx);
        if self.asks > 0 {
            ctx.schedule(mhz(100).after(ctx.now, Cycles(20)), 1);
        }
    }
}

/// A register of resets: writes hold the controller, which has this clock enable bit, in reset, or release it.
#[derive(engine::state::State)]
pub struct Resets(#[state(skip)] pub (u32, u32));

impl Device for Resets {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        ctx.bus.clocks.set_resets(self.0.0, value << self.0.1);
        ctx.set_clocks(&[]);
        Ok(Reply::written(ctx.now))
    }
}

impl Polled for Resets {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// A bus with a controller, which is device 0, and a device.
pub struct Rig {
    pub bus: Bus,
    pub now: Ps,
}

impl Rig {
    pub fn new(controller: impl Device + 'static, port: impl Device + 'static) -> Rig {
        Rig { bus: dma::bus(RAM, (DMA, controller), (PORT, port)), now: Ps::ZERO }
    }

    pub fn put(&mut self, offset: u32, value: u32) {
        self.bus.run_events(self.now);
        self.now = self.bus.write(self.now, DMA + offset, AccessSize::Word, value).unwrap().done;
    }

    pub fn get(&mut self, offset: u32) -> u32 {
        self.bus.run_events(self.now);
        let access = self.bus.read(self.now, DMA + offset, AccessSize::Word).unwrap();
        self.now = access.done;
        access.value
    }

    /// The device requests a transfer, in this clock.
    pub fn ask(&mut self) -> u64 {
        self.bus.run_events(self.now);
        self.bus.with_device(DeviceId(1), self.now, |device, ctx| device.event(1, ctx));
        mhz(100).cycles_until_ceil(self.now).0
    }

    /// Runs `clocks` more clocks.
    pub fn run(&mut self, clocks: u64) {
        self.now = mhz(100).after(self.now, Cycles(clocks));
        self.bus.run_events(self.now);
    }

    pub fn store(&mut self, at: u32, bytes: &[u8]) {
        assert!(self.bus.poke(at, bytes));
    }

    pub fn bytes(&self, at: u32, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        assert!(self.bus.peek(at, &mut bytes));
        bytes
    }

    pub fn got(&self) -> Vec<(u32, u64)> {
        let counters = self.bus.devices[1].as_ref().unwrap().counters();
        counters.into_iter().map(|(value, cycle)| (value.parse().unwrap(), cycle)).collect()
    }

    pub fn pending(&self) -> bool {
        self.bus.core_irqs[0].low() & 1 << 6 != 0
    }
}
