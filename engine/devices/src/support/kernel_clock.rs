//! The kernel clock of an STM32 peripheral, which may stop: a clock controller drives it from a source that firmware
//! turns on and off.
//!
//! Devices count its edges. After a change of the rate an edge keeps only its distance from now, not its number:
//! devices that wait for edges move them by the result of [`KernelClock::follow`]. While the clock is stopped, there
//! are no edges.

use crate::prelude::*;
use crate::support::axi_lite::edge_in_reach;

/// A device's clock.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct KernelClock {
    input: ClockInput,
    gate: ClockGate,
    /// The edge at which it stopped.
    stands_at: Option<u64>,
}

impl KernelClock {
    /// A clock that runs until its controller reports otherwise.
    pub const fn new(input: ClockInput) -> KernelClock {
        KernelClock { input, gate: ClockGate::NONE, stands_at: None }
    }

    /// The same clock after a gate, which also stops it. The device has to subscribe to the gate
    /// ([`ClockGate::follow`]) and to call [`KernelClock::follow`] when it comes out of reset.
    pub const fn after(self, gate: ClockGate) -> KernelClock {
        KernelClock { gate, ..self }
    }

    /// The same clock, stopped until its controller sets a rate.
    pub const fn standing(self) -> KernelClock {
        KernelClock { stands_at: Some(0), ..self }
    }

    /// Its rate; the last rate if it has stopped.
    pub const fn rate(&self) -> Hz {
        self.input.rate
    }

    /// True unless its source is off.
    pub const fn is_running(&self) -> bool {
        self.stands_at.is_none()
    }

    /// The last edge up to `now`.
    pub fn edge(&self, now: Ps) -> u64 {
        self.stands_at.unwrap_or_else(|| self.input.rate.cycles_until_floor(now).0)
    }

    /// The first edge that samples a change made now.
    pub fn next_edge(&self, now: Ps) -> u64 {
        self.stands_at.map_or_else(|| self.input.rate.cycles_until_ceil(now).0, |edge| edge + 1)
    }

    /// The time of an edge; `None` if it is beyond the end of any run, or the clock has stopped.
    pub fn due(&self, edge: u64) -> Option<Ps> {
        edge_in_reach(self.input.rate, edge).filter(|_| self.is_running())
    }

    /// Takes over the settings of its controller: called in `clocks_changed`, after the device has advanced to now.
    /// Returns the previous number of the last edge, and its number from now on.
    pub fn follow(&mut self, ctx: &Ctx) -> (u64, u64) {
        let before = self.edge(ctx.now);
        self.input.rate = ctx.bus.clocks.rate_of(self.input);
        self.stands_at = None;
        let stands = ctx.bus.clocks.is_stopped(self.input) || !self.gate.state(ctx.bus);
        self.stands_at = stands.then(|| self.edge(ctx.now));
        (before, self.edge(ctx.now))
    }

    /// Firmware starts an operation that needs this clock: notes the reason if the clock is stopped.
    pub fn is_needed(&self, ctx: &mut Ctx) {
        if let Some(why) = ctx.bus.clocks.stopped_by(self.input) {
            ctx.note(&format!("its clock comes from {why}: what the firmware asks of it waits until that runs"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use engine::bus::device::{AccessResult, AccessSize, Device, DeviceId, Reply};
    use engine::clocks::User;
    use engine::dt::wiring::ClockId;
    use engine::polling::{Poll, Polled};

    const CLOCK: ClockId = ClockId(3);
    const SOON: Ps = Ps::from_us(1);
    const LATER: Ps = Ps::from_us(9);
    const LATE: Ps = Ps::from_us(100);

    fn mhz(mhz: u64) -> Hz {
        Hz::new(mhz * 1_000_000).unwrap()
    }

    /// Waits for an edge: reads give 1 when it has passed, writes set the number of edges to wait.
    #[derive(engine::state::State)]
    struct Waiting(KernelClock, u64);

    impl Device for Waiting {
        fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
            Ok(Reply::read(u32::from(self.0.edge(ctx.now) >= self.1), ctx.now))
        }

        fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
            self.1 = self.0.next_edge(ctx.now) + u64::from(value);
            self.0.is_needed(ctx);
            Ok(Reply::written(ctx.now))
        }

        fn clocks_changed(&mut self, ctx: &mut Ctx) {
            let (from, to) = self.0.follow(ctx);
            self.1 = to + self.1.saturating_sub(from);
        }
    }

    impl Polled for Waiting {
        fn polled(&mut self, _: &mut Poll) -> bool {
            false
        }
    }

    fn waiting() -> Bench {
        let mut bench = Bench::new(Waiting(KernelClock::new(ClockInput { rate: mhz(10), id: Some(CLOCK) }), 0));
        bench.bus.clocks.add_user(CLOCK, User::Device(DeviceId(0)));
        bench
    }

    fn stop(bench: &mut Bench, at: Ps, why: Option<&str>) {
        bench.bus.clocks.stop(CLOCK, why.map(str::to_owned));
        bench.bus.set_clocks(&[], at);
    }

    #[test]
    fn no_edge_comes_while_the_clock_stands() {
        let mut bench = waiting();
        bench.write(Ps(0), 0, 20).unwrap();
        // Half of the period, a pause, a quarter at the same rate, and the last quarter at twice that.
        stop(&mut bench, SOON, None);
        assert_eq!(bench.value(LATE, 0), 0);
        bench.bus.set_clocks(&[(CLOCK, mhz(10))], LATE);
        bench.bus.set_clocks(&[(CLOCK, mhz(20))], LATE + Ps::from_ns(500));
        assert_eq!(bench.value(LATE + Ps::from_ns(749), 0), 0);
        assert_eq!(bench.value(LATE + Ps::from_ns(750), 0), 1);
        assert!(bench.bus.notes().is_empty());
    }

    #[test]
    fn a_device_that_needs_a_stopped_clock_gets_a_note() {
        let mut bench = waiting();
        stop(&mut bench, SOON, Some("HSI16, which is off (RCC_CR.HSION)"));
        bench.write(SOON, 0, 0).unwrap();
        let notes = format!("{:?}", bench.bus.notes());
        assert!(notes.contains("its clock comes from HSI16, which is off (RCC_CR.HSION)"), "{notes}");
        // The operation ends with the first edge.
        assert_eq!(bench.value(LATER, 0), 0);
        bench.bus.set_clocks(&[(CLOCK, mhz(10))], LATER);
        assert_eq!(bench.value(LATER + Ps::from_ns(100), 0), 1);
    }
}
