//! The controller at 100 MHz, with a multiplexer before it, memory and a device that requests transfers.

use super::*;
use crate::bench::dma::mhz;
use crate::st::dma::stm32_dmamux::Mux;
use crate::st::dma::tests::{PORT, Port, RAM, Resets, Rig};
use crate::support::clock_gate::ClockGate;
use crate::support::dma_lines::DmaLine;
use crate::support::interrupt_output::InterruptOutput;
use engine::bus::device::{DeviceId, IrqLine};
use engine::dt::wiring::ClockInput;

const REQUEST: u32 = 11;
/// The controller's clock enable bit.
const GATE: (u32, u32) = (0x48, 0);
const CHANNEL_3: u32 = 2 * PLACES.bytes;
/// Positions of fields of DMA_CCRx.
const PSIZE: u32 = 8;
const MSIZE: u32 = 10;

fn wiring() -> Wiring<CHANNELS> {
    let mut wiring = Wiring::new(ClockInput::fixed(mhz(100)), CHANNELS);
    wiring.cycles = [Cycles(2), Cycles(1)];
    wiring.interrupts[2] = InterruptOutput::new(Some(IrqLine::Core { core: 0, bit: 6 }));
    wiring
}

fn rig(asks: u32) -> Rig {
    let line = DmaLine::new(vec![IrqLine::Device { device: DeviceId(2), input: REQUEST }]);
    let port = Port { asks, line, step: 0x101, value: 0, got: Vec::new() };
    let mut rig = Rig::new(Dma::new(wiring()), port);
    let outputs = (0..7).map(|input| DmaLine::new(vec![IrqLine::Device { device: DeviceId(0), input }]));
    rig.bus.devices.push(Some(Box::new(Mux::of_l4(outputs.collect()))));
    rig.bus.device_names.push("dmamux".into());
    // Channel 3 of the controller is the multiplexer's channel 2.
    rig.bus.with_device(DeviceId(2), Ps::ZERO, |mux, ctx| mux.write(0, 8, AccessSize::Word, REQUEST, ctx)).unwrap();
    rig
}

impl Rig {
    fn start(&mut self, control: u32, count: u32, [peripheral, memory]: [u32; 2]) {
        for (register, value) in [(CNDTR, count), (CPAR, peripheral), (CMAR, memory), (CCR, control | CCR_EN)] {
            self.put(CHANNEL_3 + register, value);
        }
    }

    /// The flags of channel 3.
    fn flags_of_3(&mut self) -> u32 {
        self.get(ISR) >> 8 & 0xf
    }
}

#[test]
fn requests_pass_the_multiplexer_one_datum_each() {
    let mut rig = rig(3);
    rig.start(CCR_MINC | TCIF, 3, [PORT, RAM]);
    let asked = rig.ask();
    rig.run(200);
    // Two clocks to the read, and two on its path; the port requests again 20 clocks later.
    assert_eq!(rig.got().iter().map(|(_, cycle)| *cycle).collect::<Vec<_>>(), [4, 28, 52].map(|clock| asked + clock));
    assert_eq!(rig.bytes(RAM, 4), [1, 2, 3, 0]);
    assert_eq!((rig.flags_of_3(), rig.bus.core_irqs[0].low()), (1 | TCIF | HTIF, 1 << 6));
    assert_eq!((rig.get(CHANNEL_3 + CNDTR), rig.get(CHANNEL_3 + CCR) & CCR_EN), (0, CCR_EN));
    rig.put(IFCR, 1 << 8);
    assert_eq!((rig.flags_of_3(), rig.bus.core_irqs[0].low()), (0, 0));
}

#[test]
fn data_are_cut_or_filled() {
    // RM0432, "DMA data width, alignment and endianness": halfwords to words, and words to bytes.
    let mut rig = rig(2);
    rig.start(CCR_MINC | 1 << PSIZE | 2 << MSIZE, 2, [PORT, RAM]);
    rig.ask();
    rig.run(200);
    assert_eq!(rig.bytes(RAM, 8), [1, 1, 0, 0, 2, 2, 0, 0]);
    rig.put(CHANNEL_3 + CCR, 0);
    rig.start(CCR_MEM2MEM | CCR_MINC | CCR_PINC | 2 << PSIZE, 2, [RAM, RAM + 0x40]);
    rig.run(100);
    assert_eq!(rig.bytes(RAM + 0x40, 3), [1, 2, 0]);
}

#[test]
fn a_circular_transfer_to_a_peripheral_goes_on() {
    let mut rig = rig(5);
    assert!(rig.bus.poke(RAM, &[7, 8]));
    rig.start(CCR_MINC | CCR_CIRC | CCR_DIR, 2, [PORT, RAM]);
    rig.ask();
    rig.run(300);
    assert_eq!(rig.got().iter().map(|(value, _)| *value).collect::<Vec<_>>(), [7, 8, 7, 8, 7]);
    assert_eq!(rig.get(CHANNEL_3 + CNDTR), 1);
}

#[test]
fn a_bus_error_switches_the_channel_off() {
    let mut rig = rig(0);
    rig.start(CCR_MEM2MEM | TEIF, 2, [RAM, 0x6000_0000]);
    rig.run(50);
    assert_eq!(
        (rig.flags_of_3(), rig.get(CHANNEL_3 + CCR) & CCR_EN, rig.bus.core_irqs[0].low()),
        (1 | TEIF, 0, 1 << 6)
    );
}

#[test]
fn what_was_read_before_a_channel_is_switched_off_goes_nowhere() {
    for clocks in 1..12 {
        let mut rig = rig(0);
        assert!(rig.bus.poke(RAM, &[7]));
        rig.start(CCR_MEM2MEM, 1, [RAM, RAM + 0x40]);
        rig.run(clocks);
        let written = rig.bytes(RAM + 0x40, 1);
        rig.put(CHANNEL_3 + CCR, 0);
        rig.start(CCR_MEM2MEM, 0, [RAM, RAM + 0x40]);
        rig.run(50);
        assert_eq!((rig.bytes(RAM + 0x40, 1), rig.get(CHANNEL_3 + CNDTR)), (written, 0), "after {clocks} clocks");
    }
}

#[test]
fn a_channel_that_resets_its_controller_is_gone() {
    let wiring = Wiring { gate: ClockGate::at(GATE.0, GATE.1), ..wiring() };
    let mut rig = Rig::new(Dma::new(wiring), Resets(GATE));
    rig.bus.with_device(DeviceId(0), Ps::ZERO, |dma, ctx| dma.reset(ctx));
    assert!(rig.bus.poke(RAM, &[1, 0, 0, 0]));
    rig.start(CCR_MEM2MEM | CCR_DIR | 2 << PSIZE | 2 << MSIZE | INTERRUPTS, 4, [PORT, RAM]);
    rig.run(200);
    assert_eq!((rig.get(CHANNEL_3 + CCR), rig.get(CHANNEL_3 + CNDTR), rig.flags_of_3()), (0, 0, 0));
    rig.put(CHANNEL_3 + CNDTR, 5);
    assert_eq!(rig.get(CHANNEL_3 + CNDTR), 0);
    rig.bus.clocks.set_resets(GATE.0, 0);
    rig.bus.set_clocks(&[], rig.now);
    rig.put(CHANNEL_3 + CNDTR, 5);
    assert_eq!(rig.get(CHANNEL_3 + CNDTR), 5);
}
