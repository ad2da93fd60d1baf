use super::*;
use crate::bench::Bench;
use engine::bus::device::{AccessResult, AccessSize, DeviceId, Reply};
use engine::pins::Drive;

/// A port that does what its test says.
#[derive(State, Polled)]
#[poll(never = "no test polls it")]
struct Port;

impl Device for Port {
    fn write(&mut self, _: usize, enables: u32, _: AccessSize, levels: u32, ctx: &mut Ctx) -> AccessResult {
        ctx.bus.wires.set_pull_downs(ctx.id, u32::MAX);
        ctx.bus.drive_port(ctx.id, Drive { enables, levels }, 0, ctx.now);
        Ok(Reply::written(ctx.now))
    }
}

/// Lights at pins 3 and, active low, 4 of a port that pulls all of them down.
fn bench() -> Bench {
    let led = |name: &str, number, active_low| {
        Led::new([name, name, name].map(str::to_owned), Pin::new(DeviceId(0), number), active_low)
    };
    let leds = vec![led("LD3", 3, false), led("LD4", 4, true)];
    let mut bench = Bench::new(Port).and(Leds { leds }).as_port();
    bench.bus.with_device(DeviceId(1), Ps(0), |leds, ctx| leds.reset(ctx));
    bench.write(Ps(0), 0, 0).unwrap();
    bench
}

fn light(bench: &Bench, index: usize, now: u64) -> Light {
    bench.bus.lights(Ps(now)).swap_remove(index)
}

#[test]
fn a_light_is_on_while_its_pin_is_driven_to_its_level() {
    let mut bench = bench();
    // Nobody drives: the lights themselves hold their wires.
    assert_eq!([0, 1].map(|index| light(&bench, index, 9).is_on), [false, false]);
    assert_eq!(bench.bus.wires.levels(DeviceId(0)) & 0x18, 0x10);
    bench.write(Ps(10), 0x18, 0x08).unwrap();
    assert_eq!([0, 1].map(|index| light(&bench, index, 10).is_on), [true, true]);
    bench.write(Ps(14), 0x18, 0x10).unwrap();
    bench.write(Ps(20), 0x18, 0x08).unwrap();
    let light_record = light(&bench, 0, 27);
    assert_eq!(
        (light_record.times_on, light_record.times_off, light_record.on, light_record.last),
        (2, 1, Ps(11), Some(Ps(20)))
    );
    assert_eq!((light_record.pin_name.as_str(), light_record.period), ("device0.3", None), "two are no period yet");
    // A pin that the firmware releases lights nothing.
    bench.write(Ps(30), 0, 0).unwrap();
    assert_eq!([0, 1].map(|index| light(&bench, index, 40).is_on), [false, false]);
}

#[test]
fn a_period_is_the_mean_of_the_last_ones_if_they_are_equal() {
    let mut bench = bench();
    let mut now = 0;
    for (on, off) in (0..100).map(|_| (100, 40)).chain((0..9).map(|turn| (30 + turn % 2, 70))) {
        bench.write(Ps(now + off), 0x08, 0x08).unwrap();
        bench.write(Ps(now + off + on), 0x08, 0).unwrap();
        now += off + on;
    }
    // Of the last eight periods, four are 100 and four 101; the light is on for 30 and 31 of them.
    assert_eq!(light(&bench, 0, now).period, Some((Ps(100), Ps(30))));
    bench.write(Ps(now + 200), 0x08, 0x08).unwrap();
    assert_eq!(light(&bench, 0, now + 300).period, None);
    assert_eq!(light(&bench, 0, now + 300).times_on, 110);
}
