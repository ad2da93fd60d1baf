//! Wires between pins, with devices at their ends.

use crate::bench::Bench;
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, Reply};
use engine::dt::wiring::DeviceId;
use engine::pins::*;
use engine::polling::{Poll, Polled};
use engine::time::Ps;

const PORT: DeviceId = DeviceId(0);
const CHIP: DeviceId = DeviceId(1);

/// A port without registers: a write drives all of its pins.
#[derive(engine::state::State)]
struct Port32;

impl Device for Port32 {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(ctx.bus.sample_port(ctx.id, ctx.now), ctx.now))
    }

    fn write(&mut self, _: usize, enables: u32, _: AccessSize, levels: u32, ctx: &mut Ctx) -> AccessResult {
        ctx.bus.drive_port(ctx.id, Drive { enables, levels }, u32::MAX, ctx.now);
        Ok(Reply::written(ctx.now))
    }
}

impl Polled for Port32 {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// A chip that inverts pin 0 onto pin 1 at once, and onto pin 2 with a delay of 10 ps.
#[derive(Default, engine::state::State)]
struct Inverter {
    last: (Ps, bool),
    seen: Vec<(Ps, u32, u32)>,
}

impl Device for Inverter {
    fn read(&mut self, _: usize, index: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let (at, changed, levels) = self.seen[index as usize];
        assert_eq!(at, ctx.now);
        Ok(Reply::read(changed << 16 | levels & 0xffff, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        ctx.bus.wires.watch(pin(0), ctx.id, false);
        ctx.bus.wires.watch(pin(3), ctx.id, false);
        ctx.bus.wires.watch(pin(2), ctx.id, true);
        Ok(Reply::written(ctx.now))
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        assert_eq!(port, PORT.into());
        self.seen.push((ctx.now, changed, levels));
        if changed & 1 != 0 {
            self.last = (ctx.now, levels & 1 == 0);
            ctx.bus.wires.set_moving(pin(2), true);
            ctx.bus.drive_pin(pin(1), Some(levels & 1 == 0), ctx.now);
        }
    }

    fn pins_sampled(&mut self, _: PortId, ctx: &mut Ctx) {
        if ctx.now >= self.last.0 + Ps(10) {
            ctx.bus.wires.set_moving(pin(2), false);
            ctx.bus.drive_pin(pin(2), Some(self.last.1), ctx.now);
        }
    }
}

impl Polled for Inverter {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

fn pin(number: u32) -> Pin {
    Pin::new(PORT, number)
}

fn bench() -> Bench {
    let mut bench = Bench::new(Port32).as_port().and(Inverter::default());
    bench.bus.with_device(CHIP, Ps::ZERO, |chip, ctx| chip.write(0, 0, AccessSize::Word, 0, ctx)).unwrap();
    bench
}

#[test]
fn a_register_write_is_one_change_and_answers_come_within_it() {
    let mut bench = bench();
    bench.write(Ps(100), 0b1001, 0b0000).unwrap();
    // Both wires at once, and the chip's answer is there for the port that is still busy.
    let seen = bench.bus.with_device(CHIP, Ps(100), |chip, ctx| chip.read(0, 0, AccessSize::Word, ctx)).unwrap();
    assert_eq!(seen.value, 0b1001 << 16 | 0xfff6);
    assert_eq!(bench.bus.wires.take_edges(PORT), (0, 0b1001));
    bench.write(Ps(200), 0b1001, 0b1001).unwrap();
    assert!(!bench.bus.wires.level(pin(1)));
    assert_eq!(bench.bus.wires.take_edges(PORT), (0b1001, 0b0010));
}

#[test]
fn a_late_wire_is_brought_up_to_date_when_it_is_read() {
    let mut bench = bench();
    bench.write(Ps(100), 1, 1).unwrap();
    bench.write(Ps(120), 1, 0).unwrap();
    bench.write(Ps(140), 1, 1).unwrap();
    assert_eq!(bench.value(Ps(149), 0) & 0b111, 0b101);
    assert!(bench.bus.wires.is_moving(PORT));
    assert_eq!(bench.value(Ps(150), 0) & 0b111, 0b001);
    assert!(!bench.bus.wires.is_moving(PORT));
}

#[test]
fn low_wins_against_high_and_the_user_hears_of_it_once() {
    let mut bench = bench();
    for at in [100, 200] {
        bench.write(Ps(at), 0b11, 0b00).unwrap();
        assert_eq!(bench.value(Ps(at), 0) & 0b11, 0b00);
        bench.write(Ps(at + 50), 0b11, 0b11).unwrap();
        assert_eq!(bench.value(Ps(at + 50), 0) & 0b11, 0b01);
    }
    let note = "device0: pin 1 and what is wired to it drive against each other: low wins (first at 100 ps)";
    assert_eq!(bench.bus.notes(), [note]);
}

#[test]
fn what_nobody_drives_is_pulled_up_or_stays() {
    let mut bench = bench();
    let mut levels = |drive, pull_ups| {
        bench.bus.drive_port(PORT, drive, pull_ups, Ps::ZERO);
        bench.bus.wires.levels(PORT) >> 8
    };
    let low = Drive { enables: 0x700, levels: 0x100 };
    assert_eq!(levels(low, u32::MAX), 0xff_fff9);
    assert_eq!(levels(Drive::default(), !0x200), 0xff_fffd);
    assert_eq!(levels(Drive::default(), u32::MAX), 0xff_ffff);
}

#[test]
fn what_is_no_port_has_no_wires() {
    let mut bench = bench();
    let stray = Pin::new(CHIP, 0);
    bench.bus.drive_pin(stray, Some(false), Ps::ZERO);
    bench.bus.wires.watch(stray, CHIP, false);
    assert!(bench.bus.wires.level(stray));
    bench.bus.drive_pin(pin(32), Some(false), Ps::ZERO);
    assert_eq!(bench.value(Ps::ZERO, 0), u32::MAX);
}

#[test]
fn named_wires_are_recorded_with_their_levels_at_the_start() {
    let mut bench = bench();
    let clock = bench.bus.waves.signal("spi", "sck", true);
    bench.bus.wires.name(pin(3), clock);
    bench.write(Ps(10), 8, 0).unwrap();
    bench.bus.wires.record_levels(&bench.bus.waves);
    bench.bus.waves.start();
    bench.write(Ps(123), 8, 8).unwrap();
    bench.write(Ps(456), 9, 8).unwrap();
    assert!(!bench.bus.waves.signals()[0].first);
    let changes = bench.bus.waves.take();
    assert_eq!(changes.iter().map(|change| (change.at, change.level)).collect::<Vec<_>>(), [(Ps(123), true)]);
}
