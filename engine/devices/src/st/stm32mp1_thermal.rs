//! `st,stm32-thermal`: the digital temperature sensor of STM32MP1 (RM0436, "Digital temperature sensor (DTS)").
//!
//! The sensor is an oscillator whose frequency rises with the temperature. It is measured against pclk: DTS_DR counts
//! pclk's clocks during TS1_SMP_TIME periods of the sensor. Or it is measured against LSE: DTS_DR counts the sensor's
//! periods during that many clocks of LSE. The temperature is a constant property of the board.
//!
//! Modelled: TS1_EN with the time to TS1_RDY; continuous measurements while TS1_START is set, each with its time; the
//! factory's calibration at 30 degrees; the thresholds of DTS_ITR1, the flags of DTS_SR and the interrupt.
//!
//! Not modelled: measurements that a hardware trigger starts (TS1_INTRIG_SEL, with a note), the time of the calibration
//! of the measurement itself (Q_MEAS_opt), asynchronous flags, noise.

use crate::prelude::*;
use crate::support::interrupt_output::InterruptOutput;

registers! {
    /// The register map (RM0436, "DTS register map").
    const MAP "DTS_" {
        CFGR1 0x00 rw {
            TS1_EN 0, TS1_START 4, TS1_INTRIG_SEL 8..12, TS1_SMP_TIME 16..20, REFCLK_SEL 20, Q_MEAS_OPT 21,
            HSREF_CLK_DIV 24..31
        };
        /// The frequency at the temperature of the calibration, in units of 100 Hz; that temperature is 30 degrees.
        T0VALR1 0x08 ro mask 0x3_ffff;
        /// Hertz for a degree.
        RAMPVALR 0x10 ro mask 0xffff;
        ITR1 0x14 rw { TS1_LITTHD 0..16, TS1_HITTHD 16..32 };
        DR 0x1c ro volatile mask 0xffff;
        SR 0x20 ro volatile { FLAGS 0..3, TS1_RDY 15 };
        ITENR 0x24 rw mask 0x77;
        ICIFR 0x28 wo mask 0x77;
        OR 0x2c rw;
    }
}

/// The flags: the end of a measurement, one below the low threshold, one above the high one.
const FLAGS: usize = 3;
/// The temperature of the calibration, in thousandths of a degree.
const CALIBRATED_AT: i64 = 30_000;

/// What the board says of the sensor.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// pclk.
    pub pclk: ClockInput,
    /// LSE.
    pub lse: Hz,
    /// The sensor's frequency at the temperature of the calibration, in units of 100 Hz.
    pub calibrated: u32,
    /// Hertz for a degree.
    pub ramp_hz: u32,
    /// The temperature, in thousandths of a degree Celsius.
    pub millicelsius: i32,
    /// From TS1_EN to TS1_RDY.
    pub wake_up: Ps,
}

/// The sensor.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
#[poll(first = Dts::list_changes)]
pub struct Dts {
    #[state(skip)]
    params: Params,
    pclk: ClockInput,
    gate: ClockGate,
    registers: Registers,
    ready_at: Ps,
    /// The start of continuous measurements.
    measuring_since: Option<Ps>,
    /// The end of the last measurement before that, and its result.
    measured: (Ps, u32),
    /// The time at which each flag was cleared.
    cleared: [Ps; FLAGS],
    interrupt: InterruptOutput,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32-thermal"], 1, from_node).naming(MAP.rows);

/// Builds the sensor from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "#thermal-sensor-cells"]);
    let (pclk, lse) = (reader.clock_input(0, "pclk"), reader.clock(1, "LSE"));
    let frequency = "the sensor's frequency at 30 degrees, in units of 100 Hz, 1 to 65535";
    let calibrated = reader.timing_u32("cyclescope,frequency-100hz", 1..=0xffff, frequency);
    let ramp = "what a degree adds to that frequency, in Hz, 1 to 65535";
    let ramp_hz = reader.timing_u32("cyclescope,ramp-hz", 1..=0xffff, ramp);
    let wake_up = reader.timing_ps("cyclescope,wake-up-us", "from TS1_EN to TS1_RDY");
    let meaning = "the temperature, in thousandths of a degree Celsius, -40000 to 125000; 25000 without it";
    let is_measurable = |[value]: [u32; 1]| (-40_000..=125_000).contains(&(value as i32));
    let given = reader.cells("cyclescope,temperature-millicelsius", is_measurable, meaning);
    let millicelsius = given.map_or(25_000, |[value]| value as i32);
    let interrupt = reader.interrupt(0, "its interrupt");
    let params = Params { pclk, lse, calibrated, ramp_hz, millicelsius, wake_up };
    Box::new(Dts::new(params, interrupt, ClockGate::from_node(reader)))
}

impl Dts {
    /// The sensor after reset.
    pub fn new(params: Params, interrupt: Option<IrqLine>, gate: ClockGate) -> Dts {
        let mut registers = Registers::new(&MAP);
        registers.set(T0VALR1, params.calibrated);
        registers.set(RAMPVALR, params.ramp_hz);
        let (ready_at, measuring_since, measured, cleared, alarm) = Default::default();
        let interrupt = InterruptOutput::new(interrupt);
        Dts {
            pclk: params.pclk,
            params,
            gate,
            registers,
            ready_at,
            measuring_since,
            measured,
            cleared,
            interrupt,
            alarm,
        }
    }

    /// The sensor's frequency; at least 1 Hz.
    fn frequency(&self) -> u64 {
        let Params { calibrated, ramp_hz, millicelsius, .. } = self.params;
        let warmer = (i64::from(millicelsius) - CALIBRATED_AT) * i64::from(ramp_hz) / 1000;
        (i64::from(calibrated) * 100 + warmer).max(1) as u64
    }

    /// The rate that times a measurement, by TS1_SMP_TIME of its clocks, and the rate that is counted meanwhile.
    fn rates(&self) -> [u64; 2] {
        let is_slow = self.registers.has(CFGR1, CFGR1_REFCLK_SEL);
        if is_slow { [self.params.lse.get(), self.frequency()] } else { [self.frequency(), self.pclk.rate.get()] }
    }

    /// The clocks of a measurement.
    fn samples(&self) -> u64 {
        u64::from(self.registers.field(CFGR1, CFGR1_TS1_SMP_TIME)).max(1)
    }

    /// The length of a measurement.
    fn period(&self) -> Ps {
        Ps((self.samples() * 1_000_000_000_000 / self.rates()[0]).max(1))
    }

    fn result(&self) -> u32 {
        let [timing, counted] = self.rates();
        (self.samples() * counted / timing).min(0xffff) as u32
    }

    /// The end of the last measurement by `now`, and its result.
    fn last(&self, now: Ps) -> (Ps, u32) {
        let ended = self.measuring_since.map_or(0, |since| now.saturating_sub(since).0 / self.period().0);
        match self.measuring_since {
            Some(since) if ended > 0 => (since + Ps(ended * self.period().0), self.result()),
            _ => self.measured,
        }
    }

    /// The end of the measurement that is under way.
    fn next(&self, now: Ps) -> Option<Ps> {
        let since = self.measuring_since?;
        let ended = now.saturating_sub(since).0 / self.period().0;
        Some(since.saturating_add(Ps((ended + 1) * self.period().0)))
    }

    /// The flags that a measurement with this result sets.
    fn conditions(&self, result: u32) -> u32 {
        let [low, high] = [ITR1_TS1_LITTHD, ITR1_TS1_HITTHD].map(|mask| self.registers.field(ITR1, mask));
        1 | flag(2, low != 0 && result < low) | flag(4, high != 0 && result > high)
    }

    fn flags(&self, now: Ps) -> u32 {
        let (end, result) = self.last(now);
        let set = |bit: usize| self.conditions(result) & 1 << bit & flag(1 << bit, end > self.cleared[bit]);
        (0..FLAGS).fold(0, |flags, bit| flags | set(bit))
    }

    fn is_ready(&self, now: Ps) -> bool {
        self.registers.has(CFGR1, CFGR1_TS1_EN) && now >= self.ready_at
    }

    /// A write of DTS_CFGR1.
    fn configure(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        if new & !old & CFGR1_TS1_EN != 0 {
            self.ready_at = ctx.now.saturating_add(self.params.wake_up);
        }
        if new & CFGR1_TS1_INTRIG_SEL != 0 && new & !old & CFGR1_TS1_START != 0 {
            ctx.note("hardware triggers (DTS_CFGR1.TS1_INTRIG_SEL) are not modelled: the sensor measures continuously");
        }
        let measures = CFGR1_TS1_EN | CFGR1_TS1_START;
        self.measuring_since = (new & measures == measures).then_some(ctx.now.max(self.ready_at));
    }

    fn list_changes(&mut self, poll: &mut Poll) -> bool {
        let now = poll.now();
        let ready = Some(self.ready_at).filter(|at| *at > now);
        ready.into_iter().chain(self.next(now)).for_each(|due| poll.until(due));
        poll.state(self.flags(now));
        poll.state(self.last(now).1);
        true
    }
}

impl Table for Dts {
    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            DR => self.last(ctx.now).1,
            SR => self.flags(ctx.now) | flag(SR_TS1_RDY, self.is_ready(ctx.now)),
            _ => held,
        }
    }

    /// The measurement that is under way ends by the settings before the write.
    fn takes_write(&mut self, register: u32, ctx: &mut Ctx) -> bool {
        if register == CFGR1 {
            self.measured = self.last(ctx.now);
        }
        true
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CFGR1 => self.configure(old, new, ctx),
            ICIFR => {
                let cleared = self.cleared.iter_mut().enumerate().filter(|(bit, _)| new >> bit & 1 != 0);
                cleared.for_each(|(_, at)| *at = ctx.now);
            }
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let (now, enabled) = (ctx.now, self.registers[ITENR] & ((1 << FLAGS) - 1));
        let set = self.flags(now) & enabled;
        self.interrupt.drive(set != 0, ctx);
        self.alarm.cancel(0, ctx);
        let due = self.next(now).filter(|_| set == 0 && self.conditions(self.result()) & enabled != 0);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }
}

impl Device for Dts {
    by_table!(alarm);

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.measured = self.last(ctx.now);
        self.measuring_since = self.measuring_since.map(|since| since.max(ctx.now));
        ctx.bus.clocks.update(&mut self.pclk);
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk::{self, Port as _};

    const ON: u32 = CFGR1_TS1_EN | CFGR1_TS1_SMP_TIME;

    fn dts(millicelsius: i32) -> Bench {
        let hz = |hz| Hz::new(hz).unwrap();
        let (pclk, lse) = (ClockInput::fixed(hz(104_438_965)), hz(32_768));
        let wake_up = Ps::from_us(67);
        let params = Params { pclk, lse, calibrated: 7500, ramp_hz: 2100, millicelsius, wake_up };
        Bench::new(Dts::new(params, Some(IrqLine::Core { core: 0, bit: 2 }), ClockGate::NONE))
    }

    /// As Linux's stm_thermal.c computes it, in thousandths of a degree.
    fn as_linux(bench: &mut Bench, at: Ps) -> i64 {
        let [t0, ramp, periods] = [T0VALR1, RAMPVALR, DR].map(|register| i64::from(bench.value(at, register)));
        let frequency = 104_438_965 * 15 / periods;
        (frequency - 100 * (t0 & 0xffff)) * 1000 / ramp + 30_000
    }

    #[test]
    fn registers_are_those_of_the_manual() {
        walk::device_keeps_its_map(&MAP, &["DTS_T0VALR1", "DTS_RAMPVALR"], &mut dts(25_000));
        assert_eq!((dts(0).get(T0VALR1), dts(0).get(RAMPVALR)), (7500, 2100));
    }

    #[test]
    fn linux_reads_the_temperature_of_the_board() {
        for millicelsius in [-40_000, 0, 25_000, 30_000, 95_000, 125_000] {
            let mut bench = dts(millicelsius);
            bench.put(CFGR1, ON);
            assert_eq!(bench.value(Ps::from_ns(66_999), SR), 0);
            assert_eq!((bench.value(Ps::from_us(67), SR), bench.value(Ps::from_us(67), DR)), (SR_TS1_RDY, 0));
            bench.write(Ps::from_us(70), CFGR1, ON | CFGR1_TS1_START).unwrap();
            // Fifteen periods of 580 to 950 kHz.
            assert_eq!(bench.value(Ps::from_us(85), DR), 0);
            let read = as_linux(&mut bench, Ps::from_us(100));
            // A clock more or less is 0.3 degrees at the most.
            assert!((read - i64::from(millicelsius)).abs() < 300, "{millicelsius}: {read}");
        }
    }

    #[test]
    fn a_threshold_that_is_passed_interrupts_at_the_end_of_a_measurement() {
        let mut bench = dts(30_000);
        // Above 29 degrees: fewer clocks than at 747.9 kHz.
        bench.put(ITR1, 104_438_965 * 15 / 747_900);
        bench.put(ITENR, 2);
        bench.put(CFGR1, ON | CFGR1_TS1_START);
        let end = Ps::from_us(67 + 20);
        bench.run(end - Ps(1));
        assert_eq!(bench.pending(), 0);
        bench.run(end);
        assert_eq!((bench.pending(), bench.value(end, SR)), (1 << 2, SR_TS1_RDY | 3));
        // The next measurement sets the flag again.
        bench.write(end, ICIFR, 7).unwrap();
        assert_eq!((bench.pending(), bench.value(end, SR)), (0, SR_TS1_RDY));
        bench.run(end + Ps::from_us(20));
        assert_eq!(bench.pending(), 1 << 2);
        // Off, it keeps its last result.
        bench.write(Ps::from_us(200), CFGR1, 0).unwrap();
        assert_eq!((bench.value(Ps::from_us(300), SR) & SR_TS1_RDY, bench.value(Ps::from_us(300), DR)), (0, 2088));
    }
}
