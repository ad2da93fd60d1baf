//! The controller on a bus of memory, a peripheral with request lines and, in one file, the QSPI.

use super::registers::*;
use super::*;
use crate::bench::Bench;
use crate::bench::dma::{self, mhz};
use crate::bench::polled::{Access, Loop};
use crate::registers::walk;
use engine::bus::Bus;
use engine::bus::device::DeviceId;
use engine::polling::{Poll, Polled};
use proptest::prelude::*;

mod lists;
mod memory;
mod peripheral;
mod registers;

const RAM: u32 = 0x20_0000;
const DMA: u32 = 0xf001_0000;
const PORT: u32 = 0xf002_0000;
/// Fields of XDMAC_CC.
const PER_TRAN: u32 = 1;
const MBSIZE_SIXTEEN: u32 = 3 << 1;
const MEM2PER: u32 = 1 << 4;
const SWREQ: u32 = 1 << 6;
const MEMSET: u32 = 1 << 7;
const WORDS: u32 = 2 << 11;
const SOURCE_UP: u32 = 1 << 16;
const DESTINATION_UP: u32 = 1 << 18;
const PERID_SHIFT: u32 = 24;
/// A copy by words in bursts of 16.
const COPY: u32 = MBSIZE_SIXTEEN | WORDS | SOURCE_UP | DESTINATION_UP;

fn params() -> Params {
    Params {
        clock: mhz(100).into(),
        setup_cycles: Cycles(10),
        request_cycles: Cycles(3),
        interrupt: InterruptOutput::new(Some(IrqLine::Core { core: 0, bit: 6 })),
    }
}

/// A data register that asks for one access every 20 clocks of 100 MHz on request line 4, `asks` times in all. It gives
/// a count, and shifts the digits in that it gets.
#[derive(engine::state::State)]
struct Port {
    asks: u32,
    value: u32,
    line: IrqLine,
}

impl Device for Port {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        self.value += 1;
        self.accessed(ctx);
        Ok(Reply::read(self.value, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.value = self.value * 16 + value;
        self.accessed(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        ctx.set_irq(Some(self.line), token == 1);
    }
}

impl Polled for Port {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

impl Port {
    fn accessed(&mut self, ctx: &mut Ctx) {
        ctx.schedule(ctx.now, 0);
        self.asks = self.asks.saturating_sub(1);
        if self.asks > 0 {
            ctx.schedule(mhz(100).after(ctx.now, Cycles(20)), 1);
        }
    }
}

struct Rig {
    bus: Bus,
    now: Ps,
}

fn rig(asks: u32) -> Rig {
    let line = IrqLine::Device { device: DeviceId(0), input: 4 };
    let port = Port { asks, value: 0, line };
    Rig { bus: dma::bus(RAM, (DMA, Xdmac::new(params())), (PORT, port)), now: Ps::ZERO }
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

    /// Registers of a channel.
    fn set(&mut self, channel: u32, registers: &[(u32, u32)]) {
        for (register, value) in registers {
            self.put(PLACES.first + channel * PLACES.bytes + register, *value);
        }
    }

    fn of(&mut self, channel: u32, register: u32) -> u32 {
        self.get(PLACES.first + channel * PLACES.bytes + register)
    }

    fn store(&mut self, at: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(self.bus.poke(at, &bytes));
    }

    fn words(&self, at: u32, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        assert!(self.bus.peek(at, &mut bytes));
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    /// Enables a channel and waits for it: the clocks from the enable's arrival to the last event.
    fn run(&mut self, channel: u32) -> u64 {
        self.put(GE, 1 << channel);
        // The response takes one clock.
        let begun = mhz(100).cycles_until_ceil(self.now).0 - 1;
        let mut last = self.now;
        while self.bus.events.next_due() != Ps::MAX {
            last = self.bus.events.next_due();
            self.bus.run_events(last);
        }
        self.now = self.now.max(last);
        mhz(100).cycles_until_ceil(last).0 - begun
    }

    /// The digits that the port got, with a count after them.
    fn ports_value(&mut self) -> u32 {
        self.bus.read(self.now, PORT, AccessSize::Word).unwrap().value - 1
    }

    /// XDMAC_CIS, after one millisecond.
    fn status(&mut self, channel: u32) -> u32 {
        self.now += Ps::from_us(1000);
        self.of(channel, CIS)
    }
}

fn count(from: u32, words: u32) -> Vec<u32> {
    (from..from + words).collect()
}

// ---- Polling

proptest! {
    #[test]
    fn skipped_iterations_are_as_run(
        distance in 1_u64..60,
        accesses in prop::collection::vec(
            (
                prop::sample::select(vec![GS, GIS, GIE, GE, GD, PLACES.first + 0xc]),
                0_u32..32,
            ),
            1..6,
        ),
        start in 0_u64..100,
        count in 1_u64..30,
    ) {
        let access = |(register, value)| match value {
            0..4 => Access::Write(register, value),
            _ => Access::Read(register),
        };
        let accesses: Vec<Access> = accesses.into_iter().map(access).collect();
        Loop::even(mhz(100), distance, &accesses)
            .assert_skipped_as_run(|| Bench::new(Xdmac::new(params())), start, count);
    }
}

#[test]
fn a_wait_for_a_channel_is_skipped() {
    let make = || Bench::new(Xdmac::new(Params { setup_cycles: Cycles(5000), ..params() }));
    let (status, active) = (Access::Read(PLACES.first + 0xc), Access::Read(GS));
    let enabled = || {
        let mut bench = make();
        bench.write(Ps(0), GE, 1).unwrap();
        bench
    };
    assert!(Loop::even(mhz(100), 12, &[active, status]).assert_skipped_as_run(enabled, 0, 150));
    assert!(!Loop::even(mhz(100), 12, &[active, status]).assert_skipped_as_run(enabled, 0, 220), "it ends in between");
    assert!(Loop::even(mhz(100), 12, &[active, status]).assert_skipped_as_run(enabled, 5010, 100_000));
}
