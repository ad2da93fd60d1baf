//! The controller at 100 MHz behind a multiplexer, with memory and a device that requests transfers.

use super::*;
use crate::bench::dma::{self, mhz};
use crate::st::stm32_dmamux::Mux;
use crate::support::dma_lines::DmaLine;
use engine::bus::Bus;
use engine::bus::device::DeviceId;
use engine::polling::{Poll, Polled};

const RAM: u32 = 0x2000_0000;
const DMA: u32 = 0x4002_0000;
const PORT: u32 = 0x4001_3000;
const REQUEST: u32 = 11;
/// The controller's clock enable bit.
const GATE: (u32, u32) = (0x48, 0);
const CHANNEL_3: u32 = CHANNEL_BASE + 2 * CHANNEL_BYTES;

/// A data register that requests `asks` transfers, 20 clocks after each access, and keeps the times of accesses.
#[derive(engine::state::State)]
struct Port {
    asks: u32,
    line: DmaLine,
    value: u32,
    got: Vec<(u32, u64)>,
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

impl Device for Port {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.value += 0x101;
        self.accessed(self.value, ctx);
        Ok(Reply::read(self.value, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
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

struct Rig {
    bus: Bus,
    now: Ps,
}

fn params() -> Params {
    let mut interrupts = [None; CHANNELS];
    interrupts[2] = Some(IrqLine::Core { core: 0, bit: 6 });
    Params {
        clock: ClockInput::fixed(mhz(100)),
        request_cycles: Cycles(2),
        transfer_cycles: Cycles(1),
        unreachable: Unreachable::default(),
        interrupts,
        gate: ClockGate::default(),
    }
}

fn rig(asks: u32) -> Rig {
    let line = DmaLine::new(vec![IrqLine::Device { device: DeviceId(2), input: REQUEST }]);
    let port = Port { asks, line, value: 0, got: Vec::new() };
    let mut bus = dma::bus(RAM, (DMA, Dma::new(params())), (PORT, port));
    let outputs = (0..7).map(|input| DmaLine::new(vec![IrqLine::Device { device: DeviceId(0), input }]));
    bus.devices.push(Some(Box::new(Mux::new(outputs.collect(), ClockGate::default()))));
    bus.device_names.push("dmamux".into());
    // Channel 3 of the controller is the multiplexer's channel 2.
    bus.with_device(DeviceId(2), Ps::ZERO, |mux, ctx| mux.write(0, 8, AccessSize::Word, REQUEST, ctx)).unwrap();
    Rig { bus, now: Ps::ZERO }
}

impl Rig {
    fn put(&mut self, offset: u32, value: u32) {
        self.bus.run_events(self.now);
        self.now = self.bus.write(self.now, DMA + offset, AccessSize::Word, value).unwrap().done;
    }

    fn get(&mut self, offset: u32) -> u32 {
        self.bus.run_events(self.now);
        let access = self.bus.read(self.now, DMA + offset, AccessSize::Word).unwrap();
        self.now = access.done;
        access.value
    }

    fn set(&mut self, control: u32, count: u32, [peripheral, memory]: [u32; 2]) {
        for (register, value) in [(CNDTR, count), (CPAR, peripheral), (CMAR, memory), (CCR, control | EN)] {
            self.put(CHANNEL_3 + register, value);
        }
    }

    fn ask(&mut self) -> u64 {
        self.bus.run_events(self.now);
        self.bus.with_device(DeviceId(1), self.now, |device, ctx| device.event(1, ctx));
        mhz(100).cycles_until_ceil(self.now).0
    }

    fn run(&mut self, clocks: u64) {
        self.now = mhz(100).after(self.now, Cycles(clocks));
        self.bus.run_events(self.now);
    }

    fn bytes(&self, at: u32, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        assert!(self.bus.peek(at, &mut bytes));
        bytes
    }

    fn got(&self) -> Vec<(u32, u64)> {
        let counters = self.bus.devices[1].as_ref().unwrap().counters();
        counters.into_iter().map(|(value, cycle)| (value.parse().unwrap(), cycle)).collect()
    }

    /// The flags of channel 3.
    fn flags(&mut self) -> u32 {
        self.get(ISR) >> 8 & 0xf
    }
}

#[test]
fn requests_pass_the_multiplexer_one_datum_each() {
    let mut rig = rig(3);
    rig.set(MINC | TCIF, 3, [PORT, RAM]);
    let asked = rig.ask();
    rig.run(200);
    // Two clocks to the read, and two on its path; the port requests again 20 clocks later.
    assert_eq!(rig.got().iter().map(|(_, cycle)| *cycle).collect::<Vec<_>>(), [4, 28, 52].map(|clock| asked + clock));
    assert_eq!(rig.bytes(RAM, 4), [1, 2, 3, 0]);
    assert_eq!((rig.flags(), rig.bus.core_irqs[0].low()), (1 | TCIF | HTIF, 1 << 6));
    assert_eq!((rig.get(CHANNEL_3 + CNDTR), rig.get(CHANNEL_3 + CCR) & EN), (0, EN));
    rig.put(IFCR, 1 << 8);
    assert_eq!((rig.flags(), rig.bus.core_irqs[0].low()), (0, 0));
}

#[test]
fn data_are_cut_or_filled() {
    // RM0432, "DMA data width, alignment and endianness": halfwords to words, and words to bytes.
    let mut rig = rig(2);
    rig.set(MINC | 1 << PSIZE | 2 << MSIZE, 2, [PORT, RAM]);
    rig.ask();
    rig.run(200);
    assert_eq!(rig.bytes(RAM, 8), [1, 1, 0, 0, 2, 2, 0, 0]);
    rig.put(CHANNEL_3 + CCR, 0);
    rig.set(MEM2MEM | MINC | PINC | 2 << PSIZE, 2, [RAM, RAM + 0x40]);
    rig.run(100);
    assert_eq!(rig.bytes(RAM + 0x40, 3), [1, 2, 0]);
}

#[test]
fn a_circular_transfer_to_a_peripheral_goes_on() {
    let mut rig = rig(5);
    assert!(rig.bus.poke(RAM, &[7, 8]));
    rig.set(MINC | CIRC | FROM_MEMORY, 2, [PORT, RAM]);
    rig.ask();
    rig.run(300);
    assert_eq!(rig.got().iter().map(|(value, _)| *value).collect::<Vec<_>>(), [7, 8, 7, 8, 7]);
    assert_eq!(rig.get(CHANNEL_3 + CNDTR), 1);
}

#[test]
fn a_bus_error_switches_the_channel_off() {
    let mut rig = rig(0);
    rig.set(MEM2MEM | TEIF, 2, [RAM, 0x6000_0000]);
    rig.run(50);
    assert_eq!((rig.flags(), rig.get(CHANNEL_3 + CCR) & EN, rig.bus.core_irqs[0].low()), (1 | TEIF, 0, 1 << 6));
}

#[test]
fn what_was_read_before_a_channel_is_switched_off_goes_nowhere() {
    for clocks in 1..12 {
        let mut rig = rig(0);
        assert!(rig.bus.poke(RAM, &[7]));
        rig.set(MEM2MEM, 1, [RAM, RAM + 0x40]);
        rig.run(clocks);
        let written = rig.bytes(RAM + 0x40, 1);
        rig.put(CHANNEL_3 + CCR, 0);
        rig.set(MEM2MEM, 0, [RAM, RAM + 0x40]);
        rig.run(50);
        assert_eq!((rig.bytes(RAM + 0x40, 1), rig.get(CHANNEL_3 + CNDTR)), (written, 0), "after {clocks} clocks");
    }
}

/// A register of resets: writes hold the controller in reset, or release it.
#[derive(engine::state::State)]
struct Resets;

impl Device for Resets {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        ctx.bus.clocks.set_resets(GATE.0, value << GATE.1);
        ctx.set_clocks(&[]);
        Ok(Reply::written(ctx.now))
    }
}

impl Polled for Resets {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[test]
fn a_channel_that_resets_its_controller_is_gone() {
    let params = Params { gate: ClockGate::at(GATE.0, GATE.1), ..params() };
    let mut rig = Rig { bus: dma::bus(RAM, (DMA, Dma::new(params)), (PORT, Resets)), now: Ps::ZERO };
    rig.bus.with_device(DeviceId(0), Ps::ZERO, |dma, ctx| dma.reset(ctx));
    assert!(rig.bus.poke(RAM, &[1, 0, 0, 0]));
    rig.set(MEM2MEM | FROM_MEMORY | 2 << PSIZE | 2 << MSIZE | INTERRUPTS, 4, [PORT, RAM]);
    rig.run(200);
    assert_eq!((rig.get(CHANNEL_3 + CCR), rig.get(CHANNEL_3 + CNDTR), rig.flags()), (0, 0, 0));
    rig.put(CHANNEL_3 + CNDTR, 5);
    assert_eq!(rig.get(CHANNEL_3 + CNDTR), 0);
    rig.bus.clocks.set_resets(GATE.0, 0);
    rig.bus.set_clocks(&[], rig.now);
    rig.put(CHANNEL_3 + CNDTR, 5);
    assert_eq!(rig.get(CHANNEL_3 + CNDTR), 5);
}
