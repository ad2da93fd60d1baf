//! A chip with pins beyond the wire: the stream passes in time for them.

use engine::polling::{Poll, Polled};
use std::sync::{Arc, Mutex};

use super::*;
use engine::bus::device::IrqLine;
use engine::pins::Pin;
use engine::wire::spi::{Burst, ControlPin};

/// The level of its pin after a number of clocks, or in a cycle of the SoC's clock.
#[derive(Clone, Copy)]
enum Plan {
    AfterClocks(u32),
    InCycle(u64),
}

/// A chip whose pin goes high as planned, and that writes down the cycles in which bursts ended and pins moved.
#[derive(engine::state::State)]
struct Planned {
    #[state(skip)]
    plan: Plan,
    clocks: u32,
    now: Ps,
    level: bool,
    #[state(skip)]
    saw: Arc<Mutex<Vec<u64>>>,
}

impl Planned {
    fn see(&mut self, now: Ps) {
        self.advance(now);
        self.saw.lock().unwrap().push(Soc::clock().cycles_until_ceil(now).0);
    }
}

impl SpiTarget for Planned {
    fn select(&mut self, now: Ps) {
        self.advance(now);
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        self.see(end);
        self.clocks += burst.clocks;
        self.level |= matches!(self.plan, Plan::AfterClocks(clocks) if self.clocks >= clocks);
        0
    }

    fn deselect(&mut self, now: Ps) {
        self.advance(now);
    }

    fn control(&mut self, _: ControlPin, _: bool, now: Ps) {
        self.see(now);
    }

    fn advance(&mut self, now: Ps) {
        assert!(now >= self.now, "the time goes back from {} to {now}", self.now);
        self.level |= self.wakes_at().is_some_and(|due| due <= now);
        self.now = now;
    }

    fn wakes_at(&self) -> Option<Ps> {
        match self.plan {
            Plan::InCycle(cycle) if !self.level => Some(Soc::clock().ps_at_floor(Cycles(cycle))),
            _ => None,
        }
    }

    fn interrupt(&self) -> Option<bool> {
        Some(self.level)
    }
}

impl Polled for Planned {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// The interface with such a chip, whose reset is on a pin of another device; and what the chip saw.
fn planned(plan: Plan) -> (Soc, Arc<Mutex<Vec<u64>>>) {
    let saw = Arc::new(Mutex::new(Vec::new()));
    let chip = Planned { plan, clocks: 0, now: Ps::ZERO, level: false, saw: Arc::clone(&saw) };
    let line = IrqLine::Core { core: 0, bit: 3 };
    let chip = HostedChip::new(Box::new(chip), "chip0".to_owned(), Some(line), 0);
    let chip = chip.with_control(Pin::new(DeviceId(1), 0), ControlPin::Reset, "reset");
    let mut bus = Bus::default();
    bus.add_core();
    bus.devices.push(Some(Box::new(PicosocSpimemio::new(Soc::clock(), WINDOW, chip))));
    bus.device_names.push("spimemio".to_owned());
    (Soc { bus, cycle: 0 }, saw)
}

impl Soc {
    /// Runs events up to the beginning of a cycle: the level of the interrupt then.
    fn pending_in(&mut self, cycle: u64) -> bool {
        self.bus.run_events(Soc::clock().ps_at_floor(Cycles(cycle)));
        self.bus.core_irqs[0].low() != 0
    }
}

/// As `lines` has it: the first word ends in cycle 166, the next one in cycle 230, and three bytes more in cycle 278.
#[test]
fn a_chip_that_wakes_by_itself_has_had_the_clocks_before() {
    let (mut soc, saw) = planned(Plan::InCycle(250));
    soc.word(0x1000);
    assert!(!soc.pending_in(249));
    assert!(soc.pending_in(250));
    // The next word has had its clocks up to then: 230 + 2 * 9.
    assert_eq!(saw.lock().unwrap()[5..], [230, 248]);
    soc.cycle = 300;
    soc.word(0x1008);
    // The last byte begins in the cycle after the request.
    assert_eq!(saw.lock().unwrap()[7..], [301 + 16]);
}

#[test]
fn a_control_pin_finds_the_clocks_before_it_passed() {
    let (mut soc, saw) = planned(Plan::AfterClocks(u32::MAX));
    soc.word(0x1000);
    soc.cycle = 250;
    soc.call(|device, ctx| device.pins_changed(DeviceId(1).into(), 1, 0, ctx));
    assert_eq!(saw.lock().unwrap()[5..], [230, 248, 250]);
}

/// 24 clocks of commands, 24 of an address, 32 of a word: the next word is over after 112 clocks.
#[test]
fn clocks_that_nobody_asks_for_move_the_interrupt_line() {
    for (clocks, cycle) in [(80, 166), (112, 231), (136, 279)] {
        let (mut soc, _) = planned(Plan::AfterClocks(clocks));
        soc.word(0x1000);
        assert!(!soc.pending_in(cycle - 1), "{clocks} clocks");
        assert!(soc.pending_in(cycle), "{clocks} clocks");
    }
}
