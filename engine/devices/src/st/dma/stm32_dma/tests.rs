//! The controller at 100 MHz on a bus with memory and a device with a request line. The paths to memory and device take
//! two clocks, and one back; the memory's port takes three for a word. A peripheral's access comes two clocks after the
//! request, a memory's three.

use super::stream::{Side, flags};
use super::*;
use crate::bench::dma::mhz;
use crate::registers::walk;
use crate::st::dma::tests::{PORT, Port, RAM, Resets, Rig};
use crate::support::clock_gate::ClockGate;
use crate::support::dma_lines::DmaLine;
use crate::support::interrupt_output::InterruptOutput;
use engine::bus::device::{DeviceId, IrqLine};
use engine::dt::wiring::ClockInput;
use engine::time::Ps;

/// Stream 3, channel 2.
const LINE: u32 = 8 * 3 + 2;
const STREAM: u32 = 3 * PLACES.bytes;
const CHANNEL_2: u32 = 2 << CHSEL;
const TO_PERIPHERAL: u32 = 1 << 6;
const MEMORIES: u32 = 2 << 6;
const ALL_INTERRUPTS: u32 = CR_INTERRUPTS;
/// Positions of fields of DMA_SxCR.
const PSIZE: u32 = 11;
const MSIZE: u32 = 13;
const PL: u32 = 16;
const MBURST: u32 = 23;
const CHSEL: u32 = 25;
/// The controller's clock enable bit.
const GATE: (u32, u32) = (0x30, 21);
/// Clocks of a register access, with its path there and back.
const ACCESS: u64 = 3;
const MEMORY: u64 = 6;

fn wiring() -> Wiring<STREAMS> {
    let mut wiring = Wiring::new(ClockInput::fixed(mhz(100)), LINES);
    wiring.cycles = [Cycles(2), Cycles(3)];
    wiring.interrupts[3] = InterruptOutput::new(Some(IrqLine::Core { core: 0, bit: 6 }));
    wiring.unreachable = Some([0x1000_0000, 0x1_0000]);
    wiring
}

fn rig(between_memories: bool, asks: u32) -> Rig {
    let line = DmaLine::new(vec![IrqLine::Device { device: DeviceId(0), input: LINE }]);
    Rig::new(Dma::new(between_memories, wiring()), Port { asks, line, step: 1, value: 0, got: Vec::new() })
}

impl Rig {
    /// Writes or reads a register directly, without the path to it.
    fn at_once(&mut self, offset: u32, written: Option<u32>) -> u32 {
        let access = |device: &mut dyn Device, ctx: &mut Ctx| match written {
            Some(value) => device.write(0, offset, AccessSize::Word, value, ctx),
            None => device.read(0, offset, AccessSize::Word, ctx),
        };
        self.bus.with_device(DeviceId(0), self.now, access).unwrap().value
    }

    /// The registers of stream 3, and its enable.
    fn set(&mut self, control: u32, fifo: u32, items: u32, [peripheral, memory]: [u32; 2]) {
        for (register, value) in [(NDTR, items), (PAR, peripheral), (M0AR, memory), (FCR, fifo)] {
            self.put(STREAM + register, value);
        }
        self.put(STREAM + CR, control | CR_EN);
    }

    fn flags(&mut self) -> u32 {
        self.get(LISR) >> FLAG_SHIFTS[3]
    }
}

#[test]
fn each_request_moves_a_datum_to_memory() {
    let mut rig = rig(true, 3);
    rig.set(CHANNEL_2 | CR_MINC | 1 << MSIZE | ALL_INTERRUPTS, 0x21, 3, [PORT, RAM]);
    let asked = rig.ask();
    // The read arrives two clocks of arbitration and two of the path after the request.
    rig.run(4);
    assert_eq!(rig.got(), [(1, asked + 4)]);
    // The port's next request comes 20 clocks later.
    rig.run(100);
    assert_eq!(rig.got(), [(1, asked + 4), (2, asked + 28), (3, asked + 52)]);
    // Direct mode: items have PSIZE, whatever MSIZE is.
    assert_eq!(rig.bytes(RAM, 4), [1, 2, 3, 0]);
    assert_eq!((rig.flags(), rig.pending()), (flags::HTIF | flags::TCIF, true));
    assert_eq!((rig.get(STREAM + CR) & CR_EN, rig.get(STREAM + NDTR)), (0, 0));
    rig.put(LIFCR, flags::ALL << FLAG_SHIFTS[3]);
    assert_eq!((rig.flags(), rig.pending()), (0, false));
}

#[test]
fn the_last_datum_is_in_memory_when_the_flag_comes() {
    let mut rig = rig(true, 1);
    rig.set(CHANNEL_2 | 1 << 4, 0x21, 1, [PORT, RAM]);
    let asked = rig.ask();
    let end = asked + 2 + ACCESS + 3 + MEMORY;
    rig.bus.run_events(mhz(100).ps_at_floor(Cycles(end - 1)));
    assert!(!rig.pending());
    rig.bus.run_events(mhz(100).ps_at_floor(Cycles(end)));
    assert!(rig.pending());
}

#[test]
fn a_datum_for_a_peripheral_is_there_before_its_request() {
    let mut rig = rig(true, 2);
    rig.store(RAM, &[0x11, 0x22]);
    rig.set(CHANNEL_2 | CR_MINC | TO_PERIPHERAL, 0x21, 2, [PORT, RAM]);
    rig.run(50);
    assert_eq!((rig.got().len(), rig.get(STREAM + NDTR)), (0, 2));
    let asked = rig.ask();
    rig.run(60);
    assert_eq!(rig.got(), [(0x11, asked + 4), (0x22, asked + 28)]);
    assert_eq!(rig.flags() & flags::TCIF, flags::TCIF);
}

#[test]
fn a_request_of_another_channel_does_not_count() {
    let mut rig = rig(true, 2);
    rig.set(3 << CHSEL | CR_MINC, 0x21, 2, [PORT, RAM]);
    rig.ask();
    rig.run(100);
    assert_eq!(rig.got(), []);
}

#[test]
fn memories_are_copied_through_the_fifo_which_packs() {
    let mut rig = rig(true, 0);
    let data: Vec<u8> = (1..=36).collect();
    rig.store(RAM, &data);
    // Bytes to words, in bursts of four.
    let control = MEMORIES | CR_MINC | CR_PINC | 2 << MSIZE | 1 << MBURST;
    rig.set(control, FCR_DMDIS | 3, 36, [RAM, RAM + 0x100]);
    rig.run(2000);
    assert_eq!(rig.bytes(RAM + 0x100, 36), data);
    assert_eq!(rig.flags() & flags::TCIF, flags::TCIF);
    let control = MEMORIES | CR_MINC | CR_PINC | 2 << PSIZE | 1 << MSIZE;
    rig.put(LIFCR, u32::MAX);
    rig.set(control, FCR_DMDIS, 4, [RAM, RAM + 0x200]);
    rig.run(1000);
    assert_eq!(rig.bytes(RAM + 0x200, 17), [&data[..16], &[0]].concat());
}

/// RM0090 Rev 21, 10.5.6: after the end DMA_SxNDTR is 0, and is "reloaded automatically with the previously programmed
/// value ... when the stream is enabled again by setting EN bit to '1'".
#[test]
fn a_stream_that_is_enabled_again_moves_as_many_items() {
    let mut rig = rig(true, 0);
    let control = MEMORIES | CR_MINC | CR_PINC;
    let data: Vec<u8> = (1..=8).collect();
    rig.store(RAM, &data);
    rig.set(control, FCR_DMDIS | 3, 8, [RAM, RAM + 0x100]);
    for run in 0..3 {
        rig.run(1000);
        assert_eq!((rig.flags() & flags::TCIF, rig.bytes(RAM + 0x100, 9)), (flags::TCIF, [&data[..], &[0]].concat()));
        assert_eq!((rig.get(STREAM + NDTR), rig.get(STREAM + CR) & CR_EN), (0, 0), "run {run}");
        rig.put(LIFCR, u32::MAX);
        rig.store(RAM + 0x100, &[0xff; 8]);
        rig.put(STREAM + CR, control | CR_EN);
    }
    rig.run(1000);
    // A stream with no items to move stays off.
    rig.put(LIFCR, u32::MAX);
    rig.put(STREAM + NDTR, 0);
    rig.put(STREAM + CR, control | CR_EN);
    assert_eq!((rig.flags(), rig.get(STREAM + CR) & CR_EN), (0, 0));
    // If it is disabled before its end, it continues with the remaining items.
    let mut rig = self::rig(true, 1);
    rig.set(CHANNEL_2 | CR_MINC, 0x21, 3, [PORT, RAM]);
    rig.ask();
    rig.run(100);
    rig.put(STREAM + CR, CHANNEL_2 | CR_MINC);
    assert_eq!(rig.get(STREAM + NDTR), 2);
    rig.put(STREAM + CR, CHANNEL_2 | CR_MINC | CR_EN);
    assert_eq!(rig.get(STREAM + NDTR), 2);
}

#[test]
fn a_controller_without_that_copies_nothing() {
    let mut rig = rig(false, 0);
    rig.set(MEMORIES, FCR_DMDIS | 3, 4, [RAM, RAM + 0x100]);
    assert_eq!((rig.flags(), rig.get(STREAM + CR) & CR_EN), (flags::TEIF, 0));
}

#[test]
fn core_coupled_memory_is_out_of_reach() {
    let mut rig = rig(true, 1);
    rig.set(CHANNEL_2 | ALL_INTERRUPTS, 0x21, 1, [PORT, 0x1000_0010]);
    rig.ask();
    rig.run(100);
    assert_eq!((rig.flags(), rig.pending(), rig.get(STREAM + CR) & CR_EN), (flags::TEIF, true, 0));
    assert!(rig.bus.notes().iter().any(|note| note.contains("no way to 0x10000010")));
}

#[test]
fn circular_transfers_and_two_buffers_go_on() {
    let mut rig = rig(true, 5);
    rig.set(CHANNEL_2 | CR_MINC | CR_CIRC, 0x21, 2, [PORT, RAM]);
    rig.ask();
    rig.run(300);
    assert_eq!((rig.bytes(RAM, 3), rig.get(STREAM + NDTR)), (vec![5, 4, 0], 1));
    let mut rig = self::rig(true, 5);
    rig.put(STREAM + M1AR, RAM + 0x40);
    rig.set(CHANNEL_2 | CR_MINC | CR_DBM, 0x21, 2, [PORT, RAM]);
    rig.ask();
    rig.run(300);
    assert_eq!((rig.bytes(RAM, 2), rig.bytes(RAM + 0x40, 2)), (vec![5, 2], vec![3, 4]));
    assert_eq!(rig.get(STREAM + CR) & CR_CT, 0);
}

#[test]
fn a_stream_that_is_switched_off_empties_its_fifo() {
    let mut rig = rig(true, 3);
    rig.set(CHANNEL_2 | CR_MINC, FCR_DMDIS | 3, 8, [PORT, RAM]);
    rig.ask();
    rig.run(100);
    assert_eq!((rig.bytes(RAM, 3), rig.get(STREAM + FCR) >> 3 & 7), (vec![0, 0, 0], 0));
    rig.put(STREAM + CR, CHANNEL_2 | CR_MINC);
    rig.run(100);
    assert_eq!((rig.bytes(RAM, 4), rig.get(STREAM + NDTR)), (vec![1, 2, 3, 0], 5));
    assert_eq!(rig.flags() & flags::TCIF, flags::TCIF);
}

#[test]
fn a_stream_stays_on_until_its_access_has_ended() {
    let off = CHANNEL_2 | CR_MINC | TO_PERIPHERAL;
    let mut rig = rig(true, 3);
    rig.store(RAM, &[1, 2, 3, 4]);
    rig.set(off, 0x21, 4, [PORT, RAM]);
    // The memory's access, of six clocks, is on the bus three clocks after the enable: until it ends EN reads 1, and a
    // new enable has no effect.
    rig.run(4);
    rig.at_once(STREAM + CR, Some(off));
    assert_eq!((rig.at_once(STREAM + CR, None) & CR_EN, rig.at_once(LISR, None)), (1, 0));
    rig.at_once(STREAM + CR, Some(off | CR_EN));
    assert_eq!(rig.bus.notes().len(), 1);
    rig.run(20);
    assert_eq!((rig.get(STREAM + CR) & CR_EN, rig.flags() & flags::TCIF), (0, flags::TCIF));
    assert_eq!(rig.get(STREAM + NDTR), 4);
    // The FIFO's contents are gone, and the next enable starts a new transfer.
    rig.set(off, 0x21, 1, [PORT, RAM + 3]);
    rig.run(20);
    rig.ask();
    rig.run(50);
    assert_eq!(rig.got().iter().map(|(value, _)| *value).collect::<Vec<_>>(), [4]);
}

#[test]
fn an_access_that_an_error_has_left_does_not_count_for_the_next_transfer() {
    let words = 2 << PSIZE | 2 << MSIZE;
    let mut rig = rig(true, 9);
    // The first word goes to memory that is out of reach. When the error arrives, the next one is being read.
    rig.set(CHANNEL_2 | words | ALL_INTERRUPTS, FCR_DMDIS, 8, [PORT, 0x1000_0000]);
    while !rig.pending() {
        rig.ask();
        rig.run(1);
    }
    let left = rig.at_once(STREAM + NDTR, None);
    assert_eq!((left, rig.got().len()), (7, 2));
    // There is no request on another channel.
    rig.at_once(STREAM + CR, Some(3 << CHSEL | words | CR_EN));
    rig.run(20);
    assert_eq!(rig.get(STREAM + NDTR), left);
}

#[test]
fn a_burst_that_does_not_fit_the_threshold_is_an_error() {
    let mut rig = rig(true, 1);
    // Bursts of four words need the whole FIFO.
    rig.set(CHANNEL_2 | 2 << MSIZE | 1 << MBURST, FCR_DMDIS | 1, 8, [PORT, RAM]);
    assert_eq!((rig.flags(), rig.get(STREAM + CR) & CR_EN), (flags::FEIF, 0));
}

#[test]
fn the_stream_of_the_higher_priority_is_first() {
    let mut streams = [Stream::new(), Stream::new()];
    for stream in &mut streams {
        stream.registers.set(CR, CR_EN | MEMORIES);
        stream.items = 4;
        stream.begin();
    }
    assert!(streams.iter().all(|stream| stream.wants(Side::Peripheral, false) == Some(1)));
    let mut rig = rig(true, 0);
    rig.store(RAM, &[7; 16]);
    // Of two copies, the one that begins later has the higher priority, and ends first.
    for (stream, priority) in [(1, 0), (5, 3)] {
        let base = stream * PLACES.bytes;
        for (register, value) in [(NDTR, 16), (PAR, RAM), (M0AR, RAM + 0x200 + 0x20 * stream), (FCR, FCR_DMDIS)] {
            rig.put(base + register, value);
        }
        rig.put(base + CR, MEMORIES | CR_PINC | CR_MINC | priority << PL | CR_EN);
    }
    let mut order = Vec::new();
    for _ in 0..600 {
        rig.run(1);
        for stream in [1, 5] {
            if rig.bytes(RAM + 0x20f + 0x20 * stream, 1) == [7] && !order.contains(&stream) {
                order.push(stream);
            }
        }
    }
    assert_eq!(order, [5, 1]);
}

#[test]
fn registers_are_locked_while_a_stream_is_on() {
    walk::table_is_sound(MAP.rows);
    let mut rig = rig(true, 0);
    assert_eq!(rig.get(STREAM + FCR), 0x21);
    rig.set(CHANNEL_2, 0x21, 5, [PORT, RAM]);
    rig.put(STREAM + NDTR, 9);
    assert_eq!(rig.get(STREAM + NDTR), 5);
    assert_eq!(rig.bus.notes().len(), 1);
}

#[test]
fn a_stream_that_resets_its_controller_is_gone() {
    let wiring = Wiring { gate: ClockGate::at(GATE.0, GATE.1), ..wiring() };
    let mut rig = Rig::new(Dma::new(true, wiring), Resets(GATE));
    rig.bus.with_device(DeviceId(0), Ps::ZERO, |dma, ctx| dma.reset(ctx));
    rig.store(RAM, &[1, 0, 0, 0]);
    let words = 2 << MSIZE | 2 << PSIZE;
    rig.set(MEMORIES | words | ALL_INTERRUPTS, FCR_DMDIS, 4, [RAM, PORT]);
    rig.run(200);
    assert_eq!((rig.get(STREAM + CR), rig.get(STREAM + NDTR), rig.flags(), rig.pending()), (0, 0, 0, false));
    // The controller is held in reset, and ignores writes until it is released.
    rig.put(STREAM + NDTR, 5);
    assert_eq!(rig.get(STREAM + NDTR), 0);
    rig.bus.clocks.set_resets(GATE.0, 0);
    rig.bus.set_clocks(&[], rig.now);
    rig.put(STREAM + NDTR, 5);
    assert_eq!(rig.get(STREAM + NDTR), 5);
}
