//! Channels: PWM and toggling on pins, captures, DMA requests.

use super::*;
use engine::bus::Bus;
use engine::bus::device::DeviceId;
use engine::bus::device::{AccessResult, AccessSize, Reply};
use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

/// A port without any behaviour.
#[derive(engine::state::State)]
struct Port;

impl Device for Port {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::written(ctx.now))
    }
}

impl Polled for Port {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

const PORT: DeviceId = DeviceId(1);

/// A timer whose channels 1 and 2 are on pins 3 and 4 of a port.
fn on_pins(registers: &[(u32, u32)], control: u32) -> Rig {
    let pin = |number| Some(Pin::new(PORT, number));
    let mut bench = Bench::new(timer(params(), [pin(3), pin(4), None, None])).and(Port);
    bench.bus.wires.add_port(PORT, 1);
    bench.record();
    let mut rig = Rig(bench);
    registers.iter().for_each(|(register, value)| rig.put(0, *register, *value));
    rig.put(0, CR1, control | CR1_CEN);
    rig
}

fn level(bus: &Bus, number: u32) -> bool {
    bus.wires.level(Pin::new(PORT, number))
}

const PWM1_PRELOADED: u32 = 0x68;

#[test]
fn pwm_is_high_below_its_compare_value() {
    // RM0090, "PWM mode": 8 clocks, 3 of them high. CCR is preloaded: UG loads it.
    let settings = [(ARR, 7), (CCMR1, PWM1_PRELOADED), (CCER, 1), (BDTR, BDTR_MOE), (CCR, 3), (EGR, 1)];
    let mut rig = on_pins(&settings, CR1_ARPE);
    rig.0.run(at(21));
    let edges: Vec<(Ps, bool)> = rig.0.recorded("ch1").into_iter().filter(|(time, _)| *time > Ps(0)).collect();
    assert_eq!(edges, [(at(4), false), (at(9), true), (at(12), false), (at(17), true), (at(20), false)]);
    // A new value comes with the next update.
    rig.put(21, CCR, 6);
    rig.0.run(at(40));
    let edges: Vec<Ps> =
        rig.0.recorded("ch1").into_iter().map(|(time, _)| time).filter(|time| *time > at(21)).collect();
    assert_eq!(edges, [at(25), at(31), at(33), at(39)]);
}

#[test]
fn a_channel_toggles_and_is_let_go_without_moe() {
    let mut rig = on_pins(&[(ARR, 9), (CCMR1, 0x3030), (CCER, 0x31), (CCR, 2), (CCR + 4, 5)], 0);
    rig.0.run(at(4));
    assert!(level(&rig.0.bus, 3), "pulled up");
    rig.put(5, BDTR, BDTR_MOE);
    // OC1REF has toggled once; OC2REF has not, and its polarity is inverted.
    assert_eq!((level(&rig.0.bus, 3), level(&rig.0.bus, 4)), (true, true));
    rig.0.run(at(10));
    assert_eq!((level(&rig.0.bus, 3), level(&rig.0.bus, 4)), (true, false));
    rig.0.run(at(13));
    assert_eq!((level(&rig.0.bus, 3), level(&rig.0.bus, 4)), (false, false));
}

#[test]
fn an_edge_is_captured_with_the_counter_as_it_is() {
    // Channel 1 captures rising edges of its pin, channel 2 falling edges of the same pin.
    let settings = [(CCMR1, 0x0201), (CCER, 0x31), (DIER, 4)];
    let mut rig = on_pins(&settings, 0);
    let pin = Pin::new(PORT, 3);
    for (cycle, wire) in [(100, false), (150, true), (250, false)] {
        rig.0.run(at(cycle));
        rig.0.bus.drive_pin(pin, Some(wire), at(cycle));
    }
    assert_eq!((rig.get(260, SR) & 0x606, rig.0.pending()), (0x406, 1 << 7));
    assert_eq!((rig.get(261, CCR), rig.get(261, CCR + 4)), (149, 249));
    assert_eq!((rig.get(262, SR) & 0x606, rig.0.pending()), (0x400, 0));
}

/// Records rising edges of its inputs.
#[derive(engine::state::State)]
struct Requests(#[state(skip)] Arc<Mutex<Vec<(u32, Ps)>>>);

impl Device for Requests {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::written(ctx.now))
    }

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        if level {
            self.0.lock().unwrap().push((input, ctx.now));
        }
    }
}

impl Polled for Requests {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[test]
fn updates_and_matches_ask_for_transfers() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let line = |input| DmaLine::new(vec![IrqLine::Device { device: DeviceId(1), input }]);
    let dma = [line(8), line(9), DmaLine::default(), DmaLine::default(), DmaLine::default()];
    let bench = Bench::new(Timer::new(params(), [None; 4], dma)).and(Requests(Arc::clone(&kept)));
    let mut rig = Rig(bench);
    for (register, value) in [(ARR, 9), (CCR, 4), (DIER, 3 * DIER_UDE), (CR1, CR1_CEN)] {
        rig.put(0, register, value);
    }
    rig.0.run(at(30));
    assert_eq!(*kept.lock().unwrap(), [(9, at(5)), (8, at(11)), (9, at(15)), (8, at(21)), (9, at(25))]);
}

#[test]
fn a_burst_goes_through_its_registers() {
    let mut rig = rig(&[(DCR, 2 << 8 | 13)], 0);
    for value in [10, 20, 30, 11] {
        rig.put(3, DMAR, value);
    }
    assert_eq!([0, 4, 8].map(|offset| rig.get(4, CCR + offset)), [11, 20, 30]);
}
