//! `altr,juart-1.0`: Altera's JTAG UART core (Embedded Peripherals IP User Guide, JTAG UART Core): a console through
//! the JTAG cable.
//!
//! Modelled: the data and control registers, both FIFOs of 64 characters (the core's default), both interrupts at their
//! default thresholds. A terminal on the host is always attached: it takes a character out of the write FIFO every
//! `cyclescope,character-us`, and continues to do so after the program has ended, so that all characters in the FIFO
//! reach the console. A character written to the full FIFO is lost, with a note. Typed characters come at the same
//! rate, and wait while the read FIFO is full, so that none is lost. The read interrupt is pending while at most 8
//! places are free, and from a pause of one character's time after the last character on, until the data register is
//! read.

use crate::prelude::*;
use crate::support::activities::{RECEIVED, SENT};
use crate::support::axi_lite::AxiLitePort;
use crate::support::serial::receiver::{Receiver, Room, WhenFull};
use engine::activity::{Activity, Kind};
use engine::bus::device::{SerialPort, WhenReceived};
use engine::serial::Passage;

registers! {
    /// The register map (JTAG UART Core, Register Map).
    const MAP "" {
        DATA "data" 0x0 rw volatile {
            CHARACTER 0..8,
            /// A character was available.
            RVALID 15,
            /// Characters left in the read FIFO.
            RAVAIL 16..32,
        };
        CONTROL "control" 0x4 rw reset (FIFO_CHARACTERS as u32) << WSPACE_SHIFT {
            /// The read interrupt is enabled.
            RE 0,
            /// The write interrupt is enabled.
            WE 1,
            /// The read interrupt is pending.
            RI 8 ro,
            /// The write interrupt is pending.
            WI 9 ro,
            /// The host has polled the core since this was cleared by a write of 1.
            AC 10,
            /// Free places of the write FIFO.
            WSPACE 16..32 ro,
        };
    }
}

const RAVAIL_SHIFT: u32 = DATA_RAVAIL.trailing_zeros();
const WSPACE_SHIFT: u32 = CONTROL_WSPACE.trailing_zeros();
const FIFO_CHARACTERS: u64 = 64;
/// The write interrupt is pending while at most this many characters are in the FIFO.
const WRITE_THRESHOLD_CHARACTERS: u64 = 8;

/// The read interrupt is pending while at most this many places are free in the read FIFO.
const READ_THRESHOLD_CHARACTERS: u64 = 8;

/// Characters that wait for the host.
static WRITE_FIFO: Activity =
    Activity::new(Kind::Queue, "write FIFO", "a character, from its write to where the host takes it; its value");
/// Characters from the host.
static READ_FIFO: Activity =
    Activity::new(Kind::Queue, "read FIFO", "a character, from where it has come to its read; its value");
/// The activities that the device records.
const ACTIVITIES: &[&Activity] = &[&SENT, &RECEIVED, &WRITE_FIFO, &READ_FIFO];

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.port))]
#[poll(first = Juart::list_deadlines)]
pub struct Juart {
    #[state(skip)]
    port: AxiLitePort,
    /// Time between two characters that the host takes.
    #[state(skip)]
    character_ps: Ps,
    interrupt: Option<IrqLine>,
    /// Characters in the write FIFO.
    waiting: u64,
    /// The time at which the host takes the next of them.
    next_taken: Ps,
    /// The time from which on the control register shows the host's polling.
    active_from: Ps,
    /// CONTROL has the enables.
    registers: Registers,
    receiver: Receiver,
    /// The time of the host's pause, if it types nothing by then.
    pauses_at: Option<Ps>,
    /// True if the host has paused while characters waited, and none has been read since.
    paused: bool,
    /// The event that was requested and has not run.
    alarm: Alarm,
    sent_characters: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Serial, &["altr,juart-1.0"], 1, from_node).with_activities(ACTIVITIES).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let port = AxiLitePort::from_node(reader);
    let character_ps = reader.timing_ps("cyclescope,character-us", "time in which the host takes a character");
    Box::new(Juart::new(port, character_ps, reader.interrupt(0, "its interrupt")))
}

impl Juart {
    /// The device after reset.
    pub fn new(port: AxiLitePort, character_ps: Ps, interrupt: Option<IrqLine>) -> Juart {
        // A host without a pause would take any number of characters at once.
        let character_ps = character_ps.max(Ps(1));
        Juart {
            port,
            character_ps,
            interrupt,
            waiting: 0,
            next_taken: Ps::ZERO,
            active_from: character_ps,
            registers: Registers::new(&MAP),
            receiver: Receiver::new(&READ_FIFO),
            pauses_at: None,
            paused: false,
            alarm: Alarm::default(),
            sent_characters: 0,
        }
    }

    /// Removes the characters that the host has taken by `now`.
    fn pass_to(&mut self, now: Ps) {
        if self.waiting > 0 && self.next_taken <= now {
            let taken = (1 + (now.0 - self.next_taken.0) / self.character_ps.0).min(self.waiting);
            self.waiting -= taken;
            self.next_taken.0 += taken * self.character_ps.0;
        }
        if self.pauses_at.is_some_and(|at| at <= now) {
            self.pauses_at = None;
            self.paused = !self.receiver.is_empty();
        }
    }

    fn wants_reading(&self) -> bool {
        let free = FIFO_CHARACTERS - self.receiver.len() as u64;
        self.registers.has(CONTROL, CONTROL_RE) && (self.paused || free <= READ_THRESHOLD_CHARACTERS)
    }

    fn read_data(&mut self, ctx: &mut Ctx) -> u32 {
        let Some(character) = self.receiver.take(ctx.now, self.port.clock) else { return 0 };
        self.paused = false;
        self.update(ctx);
        ctx.line_changed();
        u32::from(character) | DATA_RVALID | (self.receiver.len() as u32) << RAVAIL_SHIFT
    }

    fn push(&mut self, character: u8, ctx: &mut Ctx) {
        if self.waiting == FIFO_CHARACTERS {
            ctx.note("a character was written to the full write FIFO and is lost (JTAG UART Core, Data Register)");
            return;
        }
        if self.waiting == 0 {
            self.next_taken = ctx.now + self.character_ps;
        }
        self.waiting += 1;
        self.sent_characters += 1;
        let taken_at = self.next_taken.0 + (self.waiting - 1) * self.character_ps.0;
        let begin = Ps(taken_at - self.character_ps.0);
        ctx.span(&SENT, begin, Ps(taken_at), Detail::Value(character.into()));
        ctx.span(&WRITE_FIFO, ctx.now, Ps(taken_at), Detail::Value(character.into()));
        ctx.console_at(&[character], Ps(taken_at));
    }

    fn control(&self, held: u32, now: Ps) -> u32 {
        let wants_data = self.waiting <= WRITE_THRESHOLD_CHARACTERS;
        held & (CONTROL_RE | CONTROL_WE)
            | flag(CONTROL_WI, held & CONTROL_WE != 0 && wants_data)
            | flag(CONTROL_RI, self.wants_reading())
            | flag(CONTROL_AC, self.active_from <= now)
            | ((FIFO_CHARACTERS - self.waiting) as u32) << WSPACE_SHIFT
    }

    fn list_deadlines(&mut self, poll: &mut Poll) -> bool {
        self.pass_to(poll.now());
        let taken = Some(self.next_taken).filter(|_| self.waiting > 0);
        [Some(self.active_from), taken, self.pauses_at].into_iter().flatten().for_each(|at| poll.until(at));
        poll.clock() == self.port.clock
    }
}

impl Table for Juart {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            CONTROL => self.control(held, ctx.now),
            DATA => self.read_data(ctx),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, ctx: &mut Ctx) {
        if register == DATA {
            self.push(new as u8, ctx);
        } else if new & CONTROL_AC != 0 {
            self.active_from = ctx.now + self.character_ps;
            self.registers.put(CONTROL, CONTROL_AC, false);
        }
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        let enabled = self.registers.has(CONTROL, CONTROL_WE);
        let excess = self.waiting.saturating_sub(WRITE_THRESHOLD_CHARACTERS);
        ctx.set_irq(self.interrupt, enabled && excess == 0 || self.wants_reading());
        if enabled && excess > 0 {
            self.alarm.set(Ps(self.next_taken.0 + (excess - 1) * self.character_ps.0), 0, ctx);
        }
        if let Some(pause) = self.pauses_at {
            self.alarm.set(pause, 0, ctx);
        }
    }
}

impl Device for Juart {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.receiver.observe(ctx);
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.pass_to(ctx.now);
        self.update(ctx);
    }

    fn finish(&mut self, _now: Ps) {
        self.receiver.stay(self.port.clock);
    }

    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.receiver.counters(self.sent_characters)
    }
}

impl SerialPort for Juart {
    fn when_received(&self) -> WhenReceived {
        WhenReceived::raises(self.registers.has(CONTROL, CONTROL_RE), self.interrupt)
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        self.pass_to(ctx.now);
        if self.receiver.len() as u64 == FIFO_CHARACTERS {
            return None;
        }
        self.pauses_at = None;
        Some(Passage::whole(ctx.now + self.character_ps))
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        let recorded = Some((ctx.now, self.port.clock));
        let room = Room { characters: FIFO_CHARACTERS as usize, when_full: WhenFull::Keep, recorded };
        self.receiver.put(character, room, ctx);
        self.pauses_at = Some(ctx.now + self.character_ps);
        self.update(ctx);
    }
}

#[cfg(test)]
mod receiving_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_node};
    use crate::registers::walk;
    use engine::time::{Cycles, Hz};

    /// Time of a character.
    const CHARACTER: u64 = 10_000_000;
    const IRQ: u32 = 1 << 19;

    fn uart() -> Bench {
        let port =
            AxiLitePort { clock: Hz::new(100_000_000).unwrap(), read_cycles: Cycles(1), write_cycles: Cycles(0) };
        Bench::new(Juart::new(port, Ps(CHARACTER), Some(IrqLine::Core { core: 0, bit: 19 })))
    }

    fn put(bench: &mut Bench, at: Ps, text: &str) {
        for character in text.bytes() {
            bench.write(at, DATA, u32::from(character)).unwrap();
        }
    }

    fn space(bench: &mut Bench, at: Ps) -> u32 {
        bench.value(at, CONTROL) >> WSPACE_SHIFT
    }

    #[test]
    fn the_device_keeps_its_table() {
        // Both registers read the FIFOs' state: their own tests check them.
        walk::table_is_sound(MAP.rows);
        let mut bench = uart();
        for register in MAP.rows {
            assert_eq!(bench.value(Ps::ZERO, register.offset), register.reset, "{}", register.name);
        }
        assert_eq!(bench.read(Ps(10_000), CONTROL), Ok((64 << WSPACE_SHIFT, Ps(20_000))));
        assert_eq!(bench.write(Ps(10_000), CONTROL, 0), Ok(Ps(10_000)));
    }

    #[test]
    fn what_is_written_is_on_the_console_and_the_host_takes_it_in_time() {
        let mut bench = uart();
        put(&mut bench, Ps(500), "abc");
        assert_eq!(bench.printed(), "abc");
        assert_eq!(space(&mut bench, Ps(500)), 61);
        assert_eq!(space(&mut bench, Ps(500 + CHARACTER - 1)), 61);
        assert_eq!(space(&mut bench, Ps(500 + CHARACTER)), 62);
        // The next one after a pause is taken a whole character later.
        assert_eq!(space(&mut bench, Ps(500 + 9 * CHARACTER)), 64);
        put(&mut bench, Ps(500 + 9 * CHARACTER), "d");
        assert_eq!(space(&mut bench, Ps(500 + 10 * CHARACTER - 1)), 63);
        assert_eq!(space(&mut bench, Ps(500 + 10 * CHARACTER)), 64);
    }

    #[test]
    fn a_character_is_in_a_fifo_until_the_host_takes_it_or_the_program() {
        let mut bench = uart();
        bench.record_entries();
        put(&mut bench, Ps(500), "ab");
        bench.type_at(Ps(1000), "cd");
        bench.run(Ps(3 * CHARACTER));
        bench.value(Ps(3 * CHARACTER), DATA);
        let end = 4 * CHARACTER;
        let value = |character: u8| u32::from(character);
        let sent = [(500, 500 + CHARACTER, value(b'a')), (500, 500 + 2 * CHARACTER, value(b'b'))];
        assert_eq!(bench.entries("write FIFO", Ps(end)), sent);
        let received = [(1000 + CHARACTER, 3 * CHARACTER, value(b'c')), (1000 + 2 * CHARACTER, end, value(b'd'))];
        assert_eq!(bench.entries("read FIFO", Ps(end)), received);
    }

    #[test]
    fn a_character_for_the_full_fifo_is_lost() {
        let mut bench = uart();
        put(&mut bench, Ps(0), &"x".repeat(64));
        assert_eq!(space(&mut bench, Ps(0)), 0);
        put(&mut bench, Ps(CHARACTER - 1), "y");
        assert_eq!((bench.printed(), bench.bus.notes().len()), ("x".repeat(64), 1));
        put(&mut bench, Ps(CHARACTER), "z");
        assert_eq!(bench.printed(), "z");
    }

    #[test]
    fn the_write_interrupt_comes_when_eight_characters_are_left() {
        let mut bench = uart();
        put(&mut bench, Ps(0), &"x".repeat(10));
        bench.write(Ps(0), CONTROL, CONTROL_WE).unwrap();
        assert_eq!((bench.pending(), bench.value(Ps(0), CONTROL) & CONTROL_WI), (0, 0));
        bench.run(Ps(2 * CHARACTER - 1));
        assert_eq!(bench.pending(), 0);
        bench.run(Ps(2 * CHARACTER));
        assert_eq!(bench.pending(), IRQ);
        assert_eq!(bench.value(Ps(2 * CHARACTER), CONTROL) & (CONTROL_WI | CONTROL_WE), CONTROL_WI | CONTROL_WE);
        put(&mut bench, Ps(2 * CHARACTER), "y");
        assert_eq!(bench.pending(), 0);
        bench.write(Ps(2 * CHARACTER), CONTROL, 0).unwrap();
        bench.run(Ps(20 * CHARACTER));
        assert_eq!(bench.pending(), 0);
    }

    #[test]
    fn the_host_shows_that_it_polls() {
        let mut bench = uart();
        assert_eq!(bench.value(Ps(CHARACTER - 1), CONTROL) & CONTROL_AC, 0);
        assert_eq!(bench.value(Ps(CHARACTER), CONTROL) & CONTROL_AC, CONTROL_AC);
        bench.write(Ps(CHARACTER), CONTROL, CONTROL_AC).unwrap();
        assert_eq!(bench.value(Ps(2 * CHARACTER - 1), CONTROL) & CONTROL_AC, 0);
        assert_eq!(bench.value(Ps(2 * CHARACTER), CONTROL) & CONTROL_AC, CONTROL_AC);
    }

    #[test]
    fn waiting_for_a_place_can_be_skipped_until_the_host_takes_a_character() {
        let mut bench = uart();
        put(&mut bench, Ps(CHARACTER), &"x".repeat(64));
        let mut look = |cycle| {
            let mut poll = Poll::look(Hz::new(100_000_000).unwrap(), Cycles(cycle));
            let device = bench.bus.devices[0].as_mut().unwrap();
            assert!(device.polled(&mut poll));
            poll
        };
        // A character is 1000 clocks: the first leaves at clock 2000.
        let (before, after) = (look(1100), look(1110));
        assert!(after.repeats(&before));
        assert_eq!(after.deadline(&before), Ps(2 * CHARACTER));
        assert!(!look(2000).repeats(&after));
    }

    #[test]
    fn a_node_has_the_time_of_a_character() {
        let (_, faults) = read_node(from_node, &[("interrupts-extended", &[CPU_INTC, 19])]);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("cyclescope,character-us"), "{faults:?}");
    }
}
