//! `st,stm32-rng`: the random number generator of STM32F4 (RM0090, "Random number generator (RNG)"), of STM32L4
//! and of STM32MP15 (RM0436).
//!
//! Modelled: all registers. While RNG_CR.RNGEN is set, a word is generated in `cyclescope,word-cycles` of the RNG's
//! clock, from its next edge on. The word is ready (DRDY) until it is read; then the next one is generated. A clock
//! that is slower than a sixteenth of the bus clock, or stopped, is a clock error (CECS, CEIS), and no words are
//! generated. The interrupt.
//!
//! Words are not random: each `cyclescope,seed` selects a fixed sequence, so that runs can be repeated. Seed errors
//! (SECS, SEIS) do not occur.

use crate::prelude::*;
use crate::support::activities::{GENERATING, GENERATOR};
use crate::support::kernel_clock::KernelClock;
use engine::dt::reader::ANY;

registers! {
    /// The register map.
    pub const MAP "RNG_" {
        CR 0x0 rw {
            RNGEN 2,
            IE 3,
            /// Disables the detection of clock errors; reserved in an STM32F4.
            CED 5,
        };
        SR 0x4 rw { DRDY 0 ro, CECS 1 ro, SECS 2 ro, CEIS 5 w0c, SEIS 6 w0c };
        DR 0x8 ro volatile;
    }
}

/// The RNG's clock must be at least the bus clock divided by this.
const SLOWEST: u64 = 16;

/// The board's parameters of the generator.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Params {
    /// RNG_CLK.
    pub clock: KernelClock,
    /// The clock of its bus.
    pub bus_clock: ClockInput,
    /// Clocks from one word to the next.
    #[state(skip)]
    pub word_cycles: Cycles,
    /// The start of the sequence of words.
    #[state(skip)]
    pub seed: u32,
    /// The interrupt, to up to two processors.
    pub interrupts: [Option<IrqLine>; 2],
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
}

/// The generator.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[poll(first = Rng::list_word)]
pub struct Rng {
    params: Params,
    registers: Registers,
    /// The clock's edge at which the next word is ready, while one is made.
    due: Option<u64>,
    /// The word that is ready.
    word: Option<u32>,
    state: u64,
    words: u64,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32-rng"], 1, from_node).with_activities(GENERATOR).naming(MAP.rows);

/// Builds the generator from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Rng::new(Params {
        clock: KernelClock::new(reader.clock_input(0, "the RNG's clock")),
        bus_clock: reader.clock_input(1, "the clock of its bus, which the RNG's clock is compared with"),
        word_cycles: reader.timing_cycles("cyclescope,word-cycles", "clocks of the RNG from one word to the next"),
        seed: reader.u32_or("cyclescope,seed", 1, ANY, "selects the sequence of words"),
        interrupts: [reader.interrupt(0, "its interrupt"), reader.interrupt(1, "its interrupt, to another processor")],
        gate: ClockGate::from_node(reader),
    }))
}

impl Rng {
    /// The generator after reset.
    pub fn new(params: Params) -> Rng {
        let (registers, state, alarm) = (Registers::new(&MAP), u64::from(params.seed), Alarm::default());
        Rng { params, registers, due: None, word: None, state, words: 0, alarm }
    }

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators), the upper half of each number.
    fn next_word(&mut self) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 32) as u32
    }

    fn is_on(&self) -> bool {
        self.registers.has(CR, CR_RNGEN)
    }

    /// True if the clock is too slow.
    fn is_slow(&self) -> bool {
        let (own, bus) = (self.params.clock.rate().get(), self.params.bus_clock.rate.get());
        let is_slow = own * SLOWEST < bus || !self.params.clock.is_running();
        self.is_on() && !self.registers.has(CR, CR_CED) && is_slow
    }

    /// Starts a word if none is ready or under way.
    fn begin(&mut self, ctx: &mut Ctx) {
        if self.is_on() {
            self.params.clock.is_needed(ctx);
        }
        if self.is_slow() {
            if !self.registers.has(SR, SR_CEIS) && self.params.clock.is_running() {
                ctx.note("the RNG's clock is slower than a sixteenth of the bus clock: no words are generated");
            }
            self.registers.put(SR, SR_CEIS, true);
            self.due = None;
        } else if self.is_on() && self.word.is_none() && self.due.is_none() {
            let begins = self.params.clock.next_edge(ctx.now);
            self.due = Some(begins + self.params.word_cycles.0);
        }
    }

    fn status(&self) -> u32 {
        self.registers[SR] | flag(SR_DRDY, self.word.is_some()) | flag(SR_CECS, self.is_slow())
    }

    /// Drives the interrupt, and asks for an event at the next word if the firmware waits for one.
    fn drive(&mut self, ctx: &mut Ctx) {
        let waits = self.registers.has(CR, CR_IE);
        let level = waits && self.status() & (SR_DRDY | SR_CEIS) != 0;
        self.params.interrupts.into_iter().for_each(|line| ctx.set_irq(line, level));
        let due = self.due.and_then(|due| self.params.clock.due(due));
        ctx.awaits(&GENERATING, due, Detail::None);
        if let Some(due) = due.filter(|_| waits) {
            self.alarm.set(due, 0, ctx);
        }
    }

    fn list_word(&mut self, poll: &mut Poll) -> bool {
        let Some(due) = self.due.and_then(|due| self.params.clock.due(due)) else { return true };
        poll.until(due);
        due > poll.now()
    }
}

impl Table for Rng {
    fn settle(&mut self, ctx: &mut Ctx) {
        let edge = self.params.clock.edge(ctx.now);
        if self.due.is_some_and(|due| due <= edge) {
            self.due = None;
            self.word = Some(self.next_word());
            self.words += 1;
        }
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            SR => self.status(),
            DR => {
                let word = self.word.take().unwrap_or(0);
                self.update(ctx);
                word
            }
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, _old: u32, _new: u32, _ctx: &mut Ctx) {
        if register == CR && !self.is_on() {
            (self.due, self.word) = (None, None);
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.begin(ctx);
        self.drive(ctx);
    }
}

impl Device for Rng {
    by_table!();

    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == DR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.settle(ctx);
        self.drive(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        let (from, to) = self.params.clock.follow(ctx);
        self.params.bus_clock.rate = ctx.bus.clocks.rate_of(self.params.bus_clock);
        self.due = self.due.map(|due| to + due.saturating_sub(from));
        self.alarm.cancel(0, ctx);
        self.update(ctx);
        if self.params.gate.is_reset(ctx.bus) {
            self.registers.reset();
            (self.due, self.word) = (None, None);
            self.drive(ctx);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("words".to_owned(), self.words)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::clocks::User;
    use engine::dt::wiring::ClockId;
    use engine::time::{Hz, Ps};

    const PLL48: ClockId = ClockId(3);

    fn mhz(mhz: u64) -> Hz {
        Hz::new(mhz * 1_000_000).unwrap()
    }

    fn edge(number: u64) -> Ps {
        mhz(48).ps_at_floor(Cycles(number))
    }

    fn rng(clock: u64, seed: u32) -> Bench {
        let mut bench = Bench::new(Rng::new(Params {
            clock: KernelClock::new(ClockInput { rate: mhz(clock), id: Some(PLL48) }),
            bus_clock: ClockInput::fixed(mhz(168)),
            word_cycles: Cycles(40),
            seed,
            interrupts: [Some(IrqLine::Core { core: 0, bit: 5 }), None],
            gate: ClockGate::default(),
        }));
        bench.bus.clocks.add_user(PLL48, User::Device(DeviceId(0)));
        bench
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_map(&MAP, &["RNG_CR", "RNG_SR"], &mut rng(48, 1));
        assert_eq!((rng(48, 1).value(Ps(0), CR), rng(48, 1).value(Ps(0), SR)), (0, 0));
    }

    #[test]
    fn a_word_takes_forty_clocks_from_the_last_ones_read() {
        let mut bench = rng(48, 1);
        bench.write(edge(7), CR, CR_RNGEN).unwrap();
        assert_eq!(bench.value(Ps(edge(47).0 - 1), SR), 0);
        assert_eq!(bench.value(edge(47), SR), SR_DRDY);
        assert_eq!(bench.value(edge(1000), SR), SR_DRDY);
        let word = bench.value(edge(1000), DR);
        assert_eq!(bench.value(edge(1040 - 1), SR), 0);
        assert_eq!(bench.value(edge(1040 - 1), DR), 0, "nothing is ready");
        assert_eq!(bench.value(edge(1040), SR), SR_DRDY);
        assert_ne!(bench.value(edge(1040), DR), word);
        assert_eq!(bench.bus.events.next_due(), Ps::MAX, "nobody waits");
    }

    #[test]
    fn words_are_the_same_for_the_same_seed() {
        let words = |seed| {
            let mut bench = rng(48, seed);
            bench.write(Ps(0), CR, CR_RNGEN).unwrap();
            [100, 200, 300].map(|at| bench.value(edge(at), DR))
        };
        assert_eq!(words(1), words(1));
        assert_ne!(words(1), words(2));
        // SplitMix64 from 0 begins with 0xe220a8397b1dcdaf.
        assert_eq!(words(0)[0], 0xe220_a839);
    }

    #[test]
    fn an_interrupt_comes_with_the_word() {
        let mut bench = rng(48, 1);
        bench.write(Ps(0), CR, CR_RNGEN | CR_IE).unwrap();
        bench.run(Ps(edge(40).0 - 1));
        assert_eq!(bench.pending(), 0);
        bench.run(edge(40));
        assert_eq!(bench.pending(), 1 << 5);
        bench.value(edge(50), DR);
        assert_eq!(bench.pending(), 0);
        bench.run(edge(90));
        assert_eq!(bench.pending(), 1 << 5);
    }

    #[test]
    fn a_slow_clock_is_an_error_until_it_is_fast_again() {
        let mut bench = rng(10, 1);
        bench.write(Ps(0), CR, CR_RNGEN | CR_IE).unwrap();
        let later = Ps::from_us(100);
        assert_eq!((bench.value(later, SR), bench.pending()), (SR_CECS | SR_CEIS, 1 << 5));
        assert_eq!(bench.bus.notes().len(), 1);
        bench.bus.set_clocks(&[(PLL48, mhz(48))], later);
        bench.write(later, SR, 0).unwrap();
        assert_eq!((bench.value(later, SR), bench.pending()), (0, 0));
        bench.run(later + Ps::from_us(1));
        assert_eq!(bench.value(later + Ps::from_us(1), SR), SR_DRDY);
        // 160 MHz / 16 is not yet too slow.
        let mut bench = rng(11, 1);
        bench.write(Ps(0), CR, CR_RNGEN).unwrap();
        assert_eq!(bench.value(Ps(0), SR), 0);
    }

    #[test]
    fn a_clock_that_is_off_is_an_error_and_its_source_is_reported() {
        let mut bench = rng(48, 1);
        bench.bus.clocks.stop(PLL48, Some("the PLL's output Q, which is off (RCC_CR.PLLON)".to_owned()));
        bench.bus.set_clocks(&[], Ps(0));
        bench.write(Ps(0), CR, CR_RNGEN).unwrap();
        assert_eq!(bench.value(Ps::from_us(9), SR), SR_CECS | SR_CEIS);
        let notes = bench.bus.notes();
        assert!(notes.len() == 1 && format!("{notes:?}").contains("RCC_CR.PLLON"), "{notes:?}");
        bench.bus.set_clocks(&[(PLL48, mhz(48))], Ps::from_us(9));
        assert_eq!(bench.value(Ps::from_us(10), SR), SR_CEIS | SR_DRDY);
    }

    #[test]
    fn a_word_under_way_follows_its_clock() {
        let mut bench = rng(48, 1);
        bench.write(Ps(0), CR, CR_RNGEN).unwrap();
        // Half of it at 48 MHz, half at 24 MHz.
        bench.bus.set_clocks(&[(PLL48, mhz(24))], edge(20));
        assert_eq!(bench.value(Ps(edge(60).0 - 1), SR), 0);
        assert_eq!(bench.value(edge(60), SR), SR_DRDY);
    }

    #[test]
    fn a_node_gives_clocks_and_interrupt() {
        let properties: [(&str, &[u32]); 2] =
            [("interrupts-extended", &[CPU_INTC, 3]), ("cyclescope,word-cycles", &[40])];
        let (mut bench, mut faults) = read_plain_node(from_node, &properties);
        faults.retain(|fault| !fault.contains("cyclescope,sources"));
        assert!(faults.is_empty(), "{faults:?}");
        bench.write(Ps(0), CR, CR_RNGEN | CR_IE).unwrap();
        bench.run(Ps(400_000));
        assert_eq!(bench.pending(), 1 << 3);
    }
}
