//! The chips on an I2C bus, for any master: each has an address, and all receive every frame.
//!
//! A master calls [`I2cChips::start`] and [`I2cChips::stop`] for these conditions on the bus, [`I2cChips::send`] and
//! [`I2cChips::receive`] for its bytes, passes on events and changes of pins, and calls [`I2cChips::settle`] after all
//! its operations. Calls come at the times of the wire, never ahead of them. [`I2cChips::connect`] sets whether the
//! pins of the master's chip carry SCL and SDA.

use crate::prelude::*;
use crate::support::hosted_chip::Hosted;
use engine::bus::device::PortId;
use engine::dt::fault::FaultKind;
use engine::dt::node::{Node, Property};
use engine::wire::i2c::{ADDRESSES, Answer, Direction, GENERAL_CALL, Given, I2cTarget, PULLED_UP};

/// The token of a master's own events: chips are woken by events with lower tokens.
pub const MASTER_EVENT: u32 = 128;

/// A chip on I2C.
pub type I2cChip = Hosted<dyn I2cTarget>;

#[derive(State)]
struct Addressed {
    #[state(skip)]
    address: u8,
    chip: I2cChip,
    /// True if it has acknowledged the frame's address: it takes part until the next START or the STOP.
    takes_part: bool,
}

/// The chips of a bus.
#[derive(Default, State)]
pub struct I2cChips {
    #[state(with = engine::state::fixed)]
    chips: Vec<Addressed>,
    /// True if the next byte is an address.
    addressing: bool,
    /// True if the frame's chip transmits, and the master has acknowledged all bytes so far.
    is_read: bool,
    /// True if the master's signals don't reach the bus.
    is_cut_off: bool,
}

impl I2cChips {
    /// Chips with their addresses. Chip number n is woken by events with the token n.
    pub fn new(chips: Vec<(u8, I2cChip)>) -> I2cChips {
        let chips = chips.into_iter().map(|(address, chip)| Addressed { address, chip, takes_part: false });
        I2cChips { chips: chips.collect(), ..I2cChips::default() }
    }

    /// The chips of a master's node, each with the address that its `reg` gives. An address that another chip has
    /// already is a fault.
    pub fn from_node(reader: &mut NodeReader) -> I2cChips {
        let mut chips: Vec<(u8, I2cChip)> = Vec::new();
        for child in reader.children() {
            let token = chips.len() as u32;
            let taken = address_of(child).filter(|address| chips.iter().any(|(taken, _)| taken == address));
            let chip = reader.child(child, |reader| {
                let address = reader.u32("reg", ADDRESSES, "the chip's address on the bus, 7 bits: 8 to 119 (0x77)");
                if let Some(taken) = taken {
                    let (value, allowed) = (format!("{taken:#x}"), "another chip on the bus has this address".into());
                    let kind = FaultKind::OutOfRange { property: "reg".into(), value, allowed };
                    reader.fault_at("reg", kind);
                }
                let target = crate::i2c_chip(reader)?;
                Some((address as u8, Hosted::wired(target, reader, token)))
            });
            chips.extend(chip);
        }
        I2cChips::new(chips)
    }

    /// Connects the master's signals to the bus, or disconnects them: no chip receives a frame then, and none
    /// acknowledges.
    pub fn connect(&mut self, is_connected: bool) {
        self.is_cut_off = !is_connected;
    }

    /// The board comes out of reset.
    pub fn start_up(&mut self, ctx: &mut Ctx) {
        self.each(|chip| chip.start(ctx));
    }

    /// A START, or a repeated START if no STOP has ended the previous frame.
    pub fn start(&mut self, at: Ps) {
        for addressed in self.chips.iter_mut().filter(|addressed| addressed.takes_part) {
            addressed.chip.access(at, |chip, at| chip.repeated_start(at));
            addressed.takes_part = false;
        }
        (self.addressing, self.is_read) = (true, false);
    }

    /// Sends a byte of the master, an address first, up to the falling edge after its eighth clock: returns the chips'
    /// answer. SDA is low in the acknowledge clock if any chip acknowledges, and SCL is low until the last chip
    /// releases it.
    pub fn send(&mut self, byte: u8, at: Ps) -> Answer {
        let (address, direction) = (byte >> 1, Direction::of(byte));
        let is_general_call = address == GENERAL_CALL && direction == Direction::Write;
        let mut answer = Answer::NACK;
        for addressed in self.chips.iter_mut().filter(|_| !self.is_cut_off) {
            let own = if !self.addressing {
                if !addressed.takes_part {
                    continue;
                }
                addressed.chip.access(at, |chip, at| chip.write(byte, at))
            } else if addressed.address == address {
                addressed.chip.access(at, |chip, at| chip.address(direction, at))
            } else if is_general_call {
                addressed.chip.access(at, |chip, at| chip.general_call(at))
            } else {
                continue;
            };
            // A chip that does not acknowledge its address takes no part in the frame.
            addressed.takes_part |= own.ack;
            answer = Answer { ack: answer.ack || own.ack, stretch: answer.stretch.max(own.stretch) };
        }
        self.is_read = self.addressing && direction == Direction::Read;
        self.addressing = false;
        answer
    }

    /// The byte that the frame's chip transmits from the falling edge after the last acknowledge on.
    pub fn receive(&mut self, at: Ps) -> Given {
        let chip = self.chips.iter_mut().find(|addressed| addressed.takes_part);
        chip.filter(|_| self.is_read && !self.is_cut_off)
            .map_or(Given::byte(PULLED_UP), |addressed| addressed.chip.access(at, |chip, at| chip.read(at)))
    }

    /// True if the frame's chip is read, and transmits another byte.
    pub const fn are_read(&self) -> bool {
        self.is_read
    }

    /// The master has acknowledged that byte, or not, up to the falling edge after the acknowledge clock.
    pub fn acknowledge(&mut self, ack: bool, at: Ps) {
        for addressed in self.chips.iter_mut().filter(|addressed| addressed.takes_part) {
            addressed.chip.access(at, |chip, at| chip.acknowledged(ack, at));
        }
        self.is_read &= ack;
    }

    /// A STOP.
    pub fn stop(&mut self, at: Ps) {
        for addressed in self.chips.iter_mut().filter(|addressed| addressed.takes_part) {
            addressed.chip.access(at, |chip, at| chip.stop(at));
            addressed.takes_part = false;
        }
        (self.addressing, self.is_read) = (false, false);
    }

    /// Updates interrupt lines, alarms and notes after an operation.
    pub fn settle(&mut self, ctx: &mut Ctx) {
        self.each(|chip| chip.settle(ctx));
    }

    /// An event with the token of a chip is due.
    pub fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if let Some(addressed) = self.chips.get_mut(token as usize) {
            addressed.chip.event(ctx);
        }
    }

    /// Wires of a port changed that may control pins of the chips.
    pub fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.each(|chip| chip.pins_changed(port, changed, levels, ctx));
    }

    /// The chips' totals.
    pub fn counters(&self) -> impl Iterator<Item = (String, u64)> {
        self.chips.iter().flat_map(|addressed| addressed.chip.counters())
    }

    fn each(&mut self, call: impl FnMut(&mut I2cChip)) {
        self.chips.iter_mut().map(|addressed| &mut addressed.chip).for_each(call);
    }
}

/// The address of a chip's node, as written there.
fn address_of(child: &Node) -> Option<u8> {
    let cells = child.property("reg").and_then(Property::cells)?;
    cells.first().and_then(|address| u8::try_from(*address).ok())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    type Calls = Arc<Mutex<Vec<String>>>;

    /// Keeps the calls that it gets, and stretches the clock by its own time.
    #[derive(engine::state::State)]
    struct Named(&'static str, #[state(skip)] Calls, Answer);

    impl Named {
        fn keep(&self, what: &str) -> Answer {
            self.1.lock().unwrap().push(format!("{} {what}", self.0));
            self.2
        }
    }

    impl I2cTarget for Named {
        fn address(&mut self, direction: Direction, _: Ps) -> Answer {
            self.keep(&format!("{direction:?}"))
        }

        fn general_call(&mut self, _: Ps) -> Answer {
            self.keep("general call")
        }

        fn write(&mut self, byte: u8, _: Ps) -> Answer {
            self.keep(&byte.to_string());
            if byte == 9 { Answer::NACK } else { self.2 }
        }

        fn read(&mut self, _: Ps) -> Given {
            self.keep("read");
            Given::byte(0x11)
        }

        fn acknowledged(&mut self, ack: bool, _: Ps) {
            self.keep(if ack { "ack" } else { "nack" });
        }

        fn repeated_start(&mut self, _: Ps) {
            self.keep("repeated start");
        }

        fn stop(&mut self, _: Ps) {
            self.keep("stop");
        }
    }

    const NOW: Ps = Ps(1000);

    /// Two chips that keep their calls, and a chip at 0x30 that never answers.
    fn bus() -> (I2cChips, Calls) {
        let calls = Calls::default();
        let answers = [Answer::ACK, Answer::ACK.stretched(Ps(7)), Answer::NACK.stretched(Ps(3))];
        let chips = [("a", 0x10), ("b", 0x20), ("c", 0x30)].into_iter().zip(answers);
        let chips = chips.map(|((name, address), answer)| {
            let chip: Box<dyn I2cTarget> = Box::new(Named(name, Arc::clone(&calls), answer));
            (address, Hosted::new(chip, name.to_owned(), None, 0))
        });
        (I2cChips::new(chips.collect()), calls)
    }

    fn heard(calls: &Calls) -> Vec<String> {
        std::mem::take(&mut calls.lock().unwrap())
    }

    #[test]
    fn only_the_chip_that_is_called_takes_part() {
        let (mut chips, calls) = bus();
        chips.start(NOW);
        assert_eq!(chips.send(0x10 << 1, NOW), Answer::ACK);
        assert_eq!(chips.send(5, NOW), Answer::ACK);
        chips.start(NOW);
        assert_eq!(chips.send(0x20 << 1, NOW), Answer::ACK.stretched(Ps(7)));
        chips.stop(NOW);
        assert_eq!(heard(&calls), ["a Write", "a 5", "a repeated start", "b Write", "b stop"]);
        // After the STOP no chip receives.
        assert_eq!((chips.send(5, NOW), heard(&calls).len()), (Answer::NACK, 0));
    }

    #[test]
    fn a_chip_that_refuses_its_address_is_out_and_one_that_refuses_a_byte_is_not() {
        let (mut chips, calls) = bus();
        chips.start(NOW);
        assert_eq!(chips.send(0x30 << 1, NOW), Answer::NACK.stretched(Ps(3)));
        chips.stop(NOW);
        chips.start(NOW);
        chips.send(0x10 << 1, NOW);
        assert_eq!(chips.send(9, NOW), Answer::NACK);
        chips.stop(NOW);
        assert_eq!(heard(&calls), ["c Write", "a Write", "a 9", "a stop"]);
    }

    #[test]
    fn a_general_call_is_for_all_who_take_it() {
        let (mut chips, calls) = bus();
        chips.start(NOW);
        // The longest clock stretch counts.
        assert_eq!(chips.send(0, NOW), Answer::ACK.stretched(Ps(7)));
        chips.send(6, NOW);
        chips.stop(NOW);
        let expected = ["a general call", "b general call", "c general call", "a 6", "b 6", "a stop", "b stop"];
        assert_eq!(heard(&calls), expected);
        // The START byte has the same address, and addresses no chip.
        chips.start(NOW);
        assert_eq!((chips.send(1, NOW), heard(&calls).len()), (Answer::NACK, 0));
    }

    #[test]
    fn bytes_come_until_one_is_not_acknowledged() {
        let (mut chips, calls) = bus();
        chips.start(NOW);
        chips.send(0x10 << 1 | 1, NOW);
        assert!(chips.are_read());
        assert_eq!(chips.receive(NOW), Given::byte(0x11));
        chips.acknowledge(true, NOW);
        assert_eq!(chips.receive(NOW), Given::byte(0x11));
        chips.acknowledge(false, NOW);
        assert!(!chips.are_read());
        assert_eq!(chips.receive(NOW), Given::byte(PULLED_UP));
        assert_eq!(heard(&calls), ["a Read", "a read", "a ack", "a read", "a nack"]);
    }
}
