//! The devices that raise interrupts: since when lines are up, for how late a core takes an interrupt, and what ended a
//! core's sleep. Kept only for profiles and for records of waits.
//!
//! Controllers, ports and similar devices pass on interrupts. So each action is attributed to a device: a device that
//! is called acts on its own account, but one that passes on acts for its caller, also in the events that it schedules
//! meanwhile. Levels would not show the source: a line may pulse, or be taken by its falling edge, and on some lines
//! each change is an interrupt.

use std::collections::{BTreeMap, VecDeque};

use crate::bus::device::{DeviceId, IrqLine};
use crate::state::{Fresh, State};
use crate::time::Ps;

/// Length of a chain of controllers.
const MOST_CONTROLLERS: usize = 4;
/// Interrupts that are kept for each core, since other cores may lag by some.
const MOST_REMEMBERED: usize = 32;

/// A line that is up, or was for no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
struct Up {
    since: Ps,
    by: DeviceId,
    /// The device that the line's level is attributed to.
    cause: DeviceId,
    /// A core has taken its interrupt.
    taken: bool,
    /// It is down again, at the same time.
    is_pulse: bool,
}

/// The sources of interrupts.
#[derive(Clone, Debug, Default, State)]
pub struct InterruptSources {
    is_on: bool,
    up: BTreeMap<IrqLine, Up>,
    /// By device: it passes on interrupts.
    passing: Vec<bool>,
    /// The device that present actions are attributed to.
    cause: Option<DeviceId>,
    /// The same for scheduled events, by their numbers.
    awaited: BTreeMap<u64, DeviceId>,
    /// By core: the last interrupts, and the devices that raised them.
    came: BTreeMap<u32, VecDeque<(Ps, DeviceId)>>,
}

impl InterruptSources {
    /// Starts to follow interrupts; `passing` says for each device whether it passes them on.
    #[inline]
    pub fn start(&mut self, passing: Vec<bool>) {
        (self.is_on, self.passing) = (true, passing);
    }

    /// A device is called. Returns the device to which actions were attributed before, for [`InterruptSources::end`].
    #[inline]
    pub fn begin(&mut self, device: DeviceId) -> Option<DeviceId> {
        let before = self.cause;
        if self.is_on && !self.passes(device) {
            self.cause = Some(device);
        }
        before
    }

    /// An event happens: returns the same as [`InterruptSources::begin`].
    #[inline]
    pub fn begin_event(&mut self, number: u64) -> Option<DeviceId> {
        let before = self.cause;
        if self.is_on {
            self.cause = self.awaited.remove(&number);
        }
        before
    }

    /// The call or the event is over.
    #[inline]
    pub fn end(&mut self, before: Option<DeviceId>) {
        self.cause = before;
    }

    /// A device that is being called has asked for an event.
    #[inline]
    pub fn asked_for(&mut self, number: u64, by: Option<DeviceId>) {
        if self.is_on
            && let (Some(cause), Some(by)) = (self.cause, by)
            && self.passes(by)
        {
            self.awaited.insert(number, cause);
        }
    }

    fn passes(&self, device: DeviceId) -> bool {
        self.passing.get(device.0 as usize).copied().unwrap_or(false)
    }

    /// A device drives a line to this level.
    #[inline]
    pub fn set(&mut self, line: IrqLine, by: DeviceId, level: bool, now: Ps) {
        if self.is_on {
            self.follow(line, by, level, now);
        }
    }

    /// A device drives a line on which each change is an interrupt.
    #[inline]
    pub fn change(&mut self, line: IrqLine, by: DeviceId, now: Ps) {
        if self.is_on {
            let cause = self.cause.unwrap_or(by);
            self.up.insert(line, Up { since: now, by, cause, taken: false, is_pulse: false });
        }
    }

    fn follow(&mut self, line: IrqLine, by: DeviceId, level: bool, now: Ps) {
        let cause = self.cause.unwrap_or(by);
        match (level, self.up.get_mut(&line)) {
            (true, Some(Up { is_pulse: false, .. })) => {}
            (true, _) => drop(self.up.insert(line, Up { since: now, by, cause, taken: false, is_pulse: false })),
            (false, Some(up)) if up.since == now && !up.taken => up.is_pulse = true,
            (false, _) => drop(self.up.remove(&line)),
        }
    }

    /// An interrupt comes to a core, by a line that `by` drives.
    #[inline]
    pub fn come(&mut self, core: u32, now: Ps, by: Option<DeviceId>) {
        if self.is_on
            && let Some(cause) = self.cause.or(by)
        {
            let came = self.came.entry(core).or_default();
            if came.len() == MOST_REMEMBERED {
                came.pop_front();
            }
            came.push_back((now, cause));
        }
    }

    /// The device whose interrupt came to a core last, after time `from` and up to time `to`.
    #[inline]
    pub fn came_last(&self, core: u32, (from, to): (Ps, Ps)) -> Option<DeviceId> {
        let came = self.came.get(&core)?.iter().rev();
        let mut within = came.filter(|(at, _)| (from < *at) && (*at <= to));
        within.next().map(|(_, device)| *device)
    }

    /// A core takes the interrupt at an input. Returns since when that waits, and the device that raised it: behind a
    /// controller, the line that went up last of those whose interrupt has not been taken.
    pub fn take(&mut self, core: u32, bit: u32) -> Option<(Ps, DeviceId)> {
        let own = IrqLine::Core { core, bit };
        let mut found = *self.up.get(&own)?;
        let mut line = own;
        for _ in 0..MOST_CONTROLLERS {
            let after = |(line, up): &(&IrqLine, &Up)| {
                matches!(line, IrqLine::Device { device, .. } if *device == found.by) && !up.taken
            };
            let Some((next, up)) = self.up.iter().filter(after).max_by_key(|(_, up)| up.since) else { break };
            (line, found) = (*next, *up);
        }
        if let Some(up) = self.up.get_mut(&line) {
            up.taken = true;
        }
        Some((found.since, found.cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Bus;
    use crate::bus::device::{AccessResult, AccessSize, Ctx, Device, Reply};
    use crate::polling::{Poll, Polled};

    const CORE: IrqLine = IrqLine::Core { core: 0, bit: 0 };

    fn input(input: u32) -> IrqLine {
        IrqLine::Device { device: DeviceId(9), input }
    }

    #[test]
    fn an_interrupt_after_a_controller_is_the_devices() {
        let mut interrupt_sources = InterruptSources::default();
        interrupt_sources.start(vec![]);
        interrupt_sources.set(input(3), DeviceId(1), true, Ps(100));
        interrupt_sources.set(CORE, DeviceId(9), true, Ps(110));
        interrupt_sources.set(input(4), DeviceId(2), true, Ps(150));
        assert_eq!(interrupt_sources.take(0, 0), Some((Ps(150), DeviceId(2))));
        assert_eq!(interrupt_sources.take(0, 0), Some((Ps(100), DeviceId(1))));
        // An interrupt that was taken before, and is still up, is not the reason.
        assert_eq!(interrupt_sources.take(0, 0), Some((Ps(110), DeviceId(9))));
        interrupt_sources.set(input(4), DeviceId(2), false, Ps(200));
        interrupt_sources.set(input(4), DeviceId(2), true, Ps(300));
        assert_eq!(interrupt_sources.take(0, 0), Some((Ps(300), DeviceId(2))));
        assert_eq!(interrupt_sources.take(1, 0), None);
    }

    /// Device 9 is a controller, and passes on interrupts.
    fn passing() -> InterruptSources {
        let mut interrupt_sources = InterruptSources::default();
        interrupt_sources.start((0..10).map(|device| device == 9).collect());
        interrupt_sources
    }

    #[test]
    fn interrupts_that_are_passed_on_belong_to_their_source() {
        let mut interrupt_sources = passing();
        let outer = interrupt_sources.begin(DeviceId(3));
        let inner = interrupt_sources.begin(DeviceId(9));
        interrupt_sources.come(0, Ps(100), Some(DeviceId(9)));
        // The controller's event, and one of another device that is called meanwhile.
        interrupt_sources.asked_for(7, Some(DeviceId(9)));
        interrupt_sources.asked_for(8, Some(DeviceId(4)));
        interrupt_sources.end(inner);
        interrupt_sources.end(outer);
        let before = interrupt_sources.begin_event(8);
        interrupt_sources.come(0, Ps(140), Some(DeviceId(9)));
        interrupt_sources.end(before);
        let before = interrupt_sources.begin_event(7);
        interrupt_sources.come(1, Ps(150), Some(DeviceId(9)));
        interrupt_sources.end(before);
        assert_eq!(interrupt_sources.came_last(0, (Ps(0), Ps(139))), Some(DeviceId(3)));
        assert_eq!(interrupt_sources.came_last(0, (Ps(0), Ps(140))), Some(DeviceId(9)), "on its own account");
        assert_eq!(
            (interrupt_sources.came_last(0, (Ps(140), Ps(200))), interrupt_sources.came_last(2, (Ps(0), Ps(200)))),
            (None, None)
        );
        assert_eq!(interrupt_sources.came_last(1, (Ps(0), Ps(150))), Some(DeviceId(3)));
        assert!(interrupt_sources.awaited.is_empty());
    }

    #[test]
    fn a_pulse_is_its_devices_until_it_is_taken() {
        let mut interrupt_sources = passing();
        for (device, level) in [(1, true), (1, false), (9, true)] {
            let line = if device == 9 { CORE } else { input(3) };
            interrupt_sources.set(line, DeviceId(device), level, Ps(100));
        }
        assert_eq!(interrupt_sources.take(0, 0), Some((Ps(100), DeviceId(1))));
        // The interrupt is taken; a line that goes down later is no pulse.
        interrupt_sources.set(input(4), DeviceId(2), true, Ps(200));
        interrupt_sources.set(input(4), DeviceId(2), false, Ps(201));
        assert_eq!(interrupt_sources.take(0, 0), Some((Ps(100), DeviceId(9))));
        interrupt_sources.set(input(3), DeviceId(1), true, Ps(300));
        assert_eq!(interrupt_sources.take(0, 0), Some((Ps(300), DeviceId(1))));
    }

    /// Drives input 3 of device 1, as the event says; or is that device, which takes falling edges, and raises the
    /// core's line for no time and some time later.
    #[derive(crate::state::State)]
    struct Wired {
        is_controller: bool,
    }

    const PULSES: u32 = 0;
    const FALLS: u32 = 1;
    const LATER: Ps = Ps(5);

    impl Device for Wired {
        fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
            Ok(Reply::read(0, ctx.now))
        }

        fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
            Ok(Reply::written(ctx.now))
        }

        fn irq_input(&mut self, _: u32, level: bool, ctx: &mut Ctx) {
            if !level {
                ctx.schedule(ctx.now + LATER, 0);
            }
        }

        fn event(&mut self, token: u32, ctx: &mut Ctx) {
            let line = IrqLine::Device { device: DeviceId(1), input: 3 };
            if self.is_controller {
                ctx.set_irq(Some(CORE), true);
                ctx.set_irq(Some(CORE), false);
            } else {
                ctx.set_irq(Some(line), token == PULSES);
                ctx.set_irq(Some(line), false);
            }
        }

        fn passes_interrupts(&self) -> bool {
            self.is_controller
        }
    }

    impl Polled for Wired {
        fn polled(&mut self, _: &mut Poll) -> bool {
            false
        }
    }

    #[test]
    fn pulses_and_falling_edges_are_of_the_device_that_drives_them() {
        let mut bus = Bus { device_names: vec!["timer".into(), "intc".into()], ..Bus::default() };
        bus.devices.extend([false, true].map(|is_controller| {
            let device: Box<dyn Device> = Box::new(Wired { is_controller });
            Some(device)
        }));
        bus.add_core();
        bus.follow_interrupts();
        for (at, token) in [(100, PULSES), (200, FALLS)] {
            bus.events.schedule(Ps(at), DeviceId(0), token);
            bus.run_events(Ps(at + 50));
            let came = |from: u64, to: u64| bus.interrupted_last(0, (Ps(from), Ps(to)));
            assert_eq!(came(at, at + 50), Some("timer".to_owned()));
            assert_eq!((came(at, at + 4), came(at + 5, at + 50)), (None, None));
        }
        // An event of its own is attributed to itself.
        bus.events.schedule(Ps(300), DeviceId(1), 0);
        bus.run_events(Ps(300));
        assert_eq!(bus.interrupted_last(0, (Ps(250), Ps(300))), Some("intc".to_owned()));
    }
}
