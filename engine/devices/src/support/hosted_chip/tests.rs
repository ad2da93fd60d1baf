//! Interrupts, alarms and control pins of chips whose controllers work ahead, or catch up late.

use super::*;
use crate::bench::Bench;
use engine::bus::device::{AccessResult, AccessSize, Device, DeviceId, Reply};
use engine::polling::{Poll, Polled};
use engine::time::Ps;
use engine::wire::spi::Lines;

/// Interrupts every microsecond until its supply is taken.
#[derive(Default, engine::state::State)]
struct Clockwork {
    now: Ps,
    off: bool,
}

impl SpiTarget for Clockwork {
    fn select(&mut self, now: Ps) {
        self.advance(now);
    }

    fn shift(&mut self, _: Burst, end: Ps) -> u32 {
        self.advance(end);
        0
    }

    fn deselect(&mut self, now: Ps) {
        self.advance(now);
    }

    fn advance(&mut self, now: Ps) {
        assert!(now >= self.now, "the time goes back from {} to {now}", self.now);
        self.now = now;
    }

    fn wakes_at(&self) -> Option<Ps> {
        (!self.off).then(|| Ps((self.now.0 / 1_000_000 + 1) * 1_000_000))
    }

    fn interrupt(&self) -> Option<bool> {
        Some(!self.off && self.now.0 / 1_000_000 % 2 == 1)
    }

    fn control(&mut self, pin: ControlPin, level: bool, now: Ps) {
        self.advance(now);
        self.off |= pin == ControlPin::PowerOff && level;
    }

    fn take_notes(&mut self) -> Vec<String> {
        if self.off { vec!["switched off".to_owned()] } else { Vec::new() }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("ticks", self.now.0 / 1_000_000)]
    }
}

impl Polled for Clockwork {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[derive(engine::state::State)]
struct Host(HostedChip);

impl Device for Host {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(self.0.counters().map(|(_, count)| count as u32).sum(), ctx.now))
    }

    /// Switches the supply, or passes clocks to the chip that end `value` picoseconds later.
    fn write(&mut self, _: usize, at: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        match at {
            0 => self.0.control(ControlPin::PowerOff, value != 0, ctx),
            _ => drop(self.0.shift(Burst::byte_out(Lines::Single, 0), ctx.now + Ps(value.into()))),
        }
        self.0.follow(None, ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        assert_eq!(token, 7);
        self.0.event(ctx);
    }
}

impl Polled for Host {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[test]
fn a_chip_is_woken_and_its_interrupt_and_notes_come_through() {
    let chip = Box::<Clockwork>::default();
    let line = IrqLine::Core { core: 0, bit: 3 };
    let mut bench = Bench::new(Host(HostedChip::new(chip, "chip0".to_owned(), Some(line), 7)));
    bench.write(Ps::ZERO, 0, 0).unwrap();
    bench.run(Ps::from_us(2));
    assert_eq!(bench.pending(), 0);
    bench.run(Ps::from_us(3));
    assert_eq!((bench.pending(), bench.value(Ps::from_us(3), 0)), (1 << 3, 3));
    bench.write(Ps::from_us(3), 0, 1).unwrap();
    assert_eq!(bench.pending(), 0);
    assert_eq!(bench.bus.events.next_due(), Ps::MAX);
    assert!(bench.bus.notes()[0].to_string().contains("chip0: switched off"), "{}", bench.bus.notes()[0]);
}

#[test]
fn what_the_chip_does_within_clocks_that_lie_ahead_shows_at_its_time() {
    let chip = Box::<Clockwork>::default();
    let line = IrqLine::Core { core: 0, bit: 3 };
    let mut bench = Bench::new(Host(HostedChip::new(chip, "chip0".to_owned(), Some(line), 7)));
    // The chip knows of 2.5 us, in which its pin goes high at 1 us and low at 2 us.
    bench.write(Ps::ZERO, 4, 2_500_000).unwrap();
    for (ns, pending) in [(0, 0), (999, 0), (1000, 8), (1999, 8), (2000, 0), (2999, 0), (3000, 8)] {
        bench.run(Ps::from_ns(ns));
        assert_eq!(bench.pending(), pending, "{ns} ns");
    }
}

#[test]
fn a_control_pin_that_moves_while_clocks_lie_ahead_acts_at_their_end() {
    let line = IrqLine::Core { core: 0, bit: 3 };
    let mut bench = Bench::new(Host(HostedChip::new(Box::<Clockwork>::default(), "chip0".to_owned(), Some(line), 7)));
    // The chip knows of 3.5 us as its supply goes at 0.5 us: its pin still rises at 1 us and falls at 2 us, rises
    // at 3 us, and falls with the supply.
    bench.write(Ps::ZERO, 4, 3_500_000).unwrap();
    bench.write(Ps::from_ns(500), 0, 1).unwrap();
    for (ns, pending) in [(999, 0), (1000, 8), (1999, 8), (2000, 0), (2999, 0), (3000, 8), (3499, 8), (3500, 0)] {
        bench.run(Ps::from_ns(ns));
        assert_eq!(bench.pending(), pending, "{ns} ns");
    }
    assert_eq!(bench.bus.events.next_due(), Ps::MAX);
}

/// A chip without an interrupt pin.
#[derive(engine::state::State)]
struct Mute(Clockwork);

impl SpiTarget for Mute {
    fn select(&mut self, now: Ps) {
        self.0.select(now);
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        self.0.shift(burst, end)
    }

    fn deselect(&mut self, now: Ps) {
        self.0.deselect(now);
    }

    fn control(&mut self, pin: ControlPin, level: bool, now: Ps) {
        self.0.control(pin, level, now);
    }
}

impl Polled for Mute {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[test]
fn the_time_of_a_chip_with_nothing_but_control_pins_never_goes_back() {
    let chip = HostedChip::new(Box::new(Mute(Clockwork::default())), "chip0".to_owned(), None, 7);
    let pin = Pin::new(DeviceId(1), 0);
    let mut bench = Bench::new(Host(chip.with_control(pin, ControlPin::PowerOff, "vdd_off")));
    bench.write(Ps::ZERO, 4, 3_500_000).unwrap();
    bench.write(Ps::from_ns(500), 0, 1).unwrap();
    bench.write(Ps::from_ns(600), 4, 1000).unwrap();
}
