//! `st,stm32f4-gcan`: the filter banks of an STM32's bxCAN, for one or two controllers (RM0090, "Controller area
//! network (bxCAN)", "Identifier filtering"; RM0432 for an STM32L4, which has 14 banks and one controller).
//!
//! Modelled: CAN_FMR to CAN_FiR2; banks of 32 and of 16 bits, masks and lists, for either FIFO; the number of the
//! filter that a frame matches (FMI), by the rules of "Filter priority rules"; FINIT, which rejects all frames; CAN2SB,
//! the first bank of the second controller, whose filters are numbered from there. A bank can be written while it is
//! not active or FINIT is set, the registers of modes, scales and FIFOs while FINIT is set.

use crate::prelude::*;
use engine::wire::can::Frame;

registers! {
    /// The registers that all banks share. FINIT: the banks are being set up. CAN2SB: the first bank of the second
    /// controller.
    const MAP "CAN_" {
        FMR 0x00 rw reset 0x2a1c_0e01 mask u32::MAX { FINIT 0, CAN2SB 8..14 };
        /// By bank: a list, or a mask.
        FM1R 0x04 rw mask 0x0fff_ffff;
        /// By bank: of 32 bits, or of 16.
        FS1R 0x0c rw mask 0x0fff_ffff;
        /// By bank: for FIFO 1, or FIFO 0.
        FFA1R 0x14 rw mask 0x0fff_ffff;
        /// By bank: it is active.
        FA1R 0x1c rw mask 0x0fff_ffff;
    }

    /// The register pairs of the banks.
    const BANKS "CAN_" {
        FR1 "F{}R1" [0..28; 8] 0x40 rw;
        FR2 "F{}R2" [0..28; 8] 0x44 rw;
    }
}

const ALL: Map = joined!(MAP, BANKS);

/// The banks.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
pub struct Filters {
    gate: ClockGate,
    #[state(skip)]
    banks: u32,
    registers: Registers,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Can, &["st,stm32f4-gcan"], 1, from_node).naming(MAP.rows);

/// Builds the banks from their node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks", "resets"]);
    let banks = reader.u32_or("cyclescope,banks", 28, 1..=28, "number of filter banks, 1 to 28");
    Box::new(Filters::new(banks, ClockGate::from_node(reader)))
}

/// The kind of a filter's comparison, in the order of priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    WideList,
    WideMask,
    List,
    Mask,
}

/// The bits of a frame that a 32-bit filter compares.
fn wide(frame: &Frame) -> u32 {
    let id = if frame.is_extended { frame.id << 3 } else { frame.id << 21 };
    id | u32::from(frame.is_extended) << 2 | u32::from(frame.is_remote) << 1
}

/// The bits of a frame that a 16-bit filter compares.
fn narrow(frame: &Frame) -> u32 {
    let (id, rest) = if frame.is_extended { (frame.id >> 18, frame.id >> 15 & 7) } else { (frame.id, 0) };
    id << 5 | u32::from(frame.is_remote) << 4 | u32::from(frame.is_extended) << 3 | rest
}

impl Filters {
    /// All banks after reset.
    pub fn new(banks: u32, gate: ClockGate) -> Filters {
        Filters { gate, banks: banks.min(28), registers: Registers::new(&ALL) }
    }

    fn is_set_up(&self) -> bool {
        self.registers.has(FMR, FMR_FINIT)
    }

    /// The banks of one of the two controllers.
    fn banks_of(&self, is_second: bool) -> std::ops::Range<u32> {
        let start = self.registers.field(FMR, FMR_CAN2SB).min(self.banks);
        if is_second { start..self.banks } else { 0..start }
    }

    /// The FIFO and the number of the filter that a frame matches.
    fn accepts(&self, frame: &Frame, is_second: bool) -> Option<(usize, u8)> {
        if self.is_set_up() {
            return None;
        }
        let mut numbers = [0; 2];
        let mut best = None;
        for bank in self.banks_of(is_second) {
            let is = |register: u32| self.registers.has(register, 1 << bank);
            let fifo = usize::from(is(FFA1R));
            let first = numbers[fifo];
            let [one, other] = [FR1, FR2].map(|first| self.registers[first + 8 * bank]);
            let (halves, others) = ([one & 0xffff, one >> 16], [other & 0xffff, other >> 16]);
            let (word, half) = (wide(frame), narrow(frame));
            let masked = |[value, mask]: [u32; 2]| (half ^ value) & mask == 0;
            let (rank, count, found) = match (is(FS1R), is(FM1R)) {
                (true, true) => (Rank::WideList, 2, [one, other].iter().position(|id| *id & !1 == word)),
                (true, false) => (Rank::WideMask, 1, ((word ^ one) & other & !1 == 0).then_some(0)),
                (false, true) => (Rank::List, 4, [halves, others].concat().iter().position(|id| *id == half)),
                (false, false) => (Rank::Mask, 2, [halves, others].into_iter().position(masked)),
            };
            // Banks that are not active are numbered as well.
            numbers[fifo] += count;
            let number = found.filter(|_| is(FA1R)).map(|place| first + place);
            let key = number.map(|number| (rank, number, fifo));
            best = best.into_iter().chain(key).min();
        }
        best.map(|(_, number, fifo)| (fifo, number as u8))
    }

    /// True if firmware may write a register now.
    fn takes(&self, register: u32) -> bool {
        match register {
            FM1R | FS1R | FFA1R => self.is_set_up(),
            FR1.. => {
                let bank = (register - FR1) / 8;
                bank < self.banks && (self.is_set_up() || !self.registers.has(FA1R, 1 << bank))
            }
            _ => true,
        }
    }
}

impl Table for Filters {
    fn wrote(&mut self, register: u32, old: u32, new: u32, _: &mut Ctx) {
        let all = if (FM1R..FR1).contains(&register) { u32::MAX >> (32 - self.banks) } else { u32::MAX };
        let value = if self.takes(register) { new & all } else { old };
        self.registers.set(register, value);
    }
}

impl Device for Filters {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.gate.follow(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        if self.gate.is_reset(ctx.bus) {
            self.registers.reset();
        }
    }

    fn can_filter(&self, frame: &Frame, is_second: bool) -> Option<(usize, u8)> {
        self.accepts(frame, is_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::time::Ps;

    fn put(bench: &mut Bench, writes: &[(u32, u32)]) {
        writes.iter().for_each(|(offset, value)| _ = bench.write(Ps(0), *offset, *value).unwrap());
    }

    fn filter(bench: &mut Bench, frame: Frame, is_second: bool) -> Option<(usize, u8)> {
        bench.bus.with_device(DeviceId(0), Ps(0), |device, _| device.can_filter(&frame, is_second))
    }

    fn frame(id: u32) -> Frame {
        Frame::standard(id, &[])
    }

    #[test]
    fn the_device_keeps_its_table() {
        let mut bench = Bench::new(Filters::new(28, ClockGate::NONE));
        walk::device_keeps_its_table(MAP.rows, &["CAN_FMR", "CAN_FM1R", "CAN_FS1R", "CAN_FFA1R"], &mut bench);
        put(&mut bench, &[(FMR, 0x2a1c_0e01 & !1), (FM1R, 1), (FA1R, 1), (FR1, 7), (FR1 + 8, 9)]);
        assert_eq!([FM1R, FR1, FR1 + 8].map(|offset| bench.value(Ps(0), offset)), [0, 0, 9]);
    }

    /// RM0090, "Filter match index": the example's first banks, and the rules of priority.
    #[test]
    fn the_number_of_a_filter_counts_those_before_it_of_its_fifo() {
        let mut bench = Bench::new(Filters::new(28, ClockGate::NONE));
        // Bank 0: two identifiers of 32 bits; 1: a mask of 32 bits; 3: two masks of 16 bits; all for FIFO 0. Bank 2:
        // four identifiers for FIFO 1.
        put(&mut bench, &[(FM1R, 0b0101), (FS1R, 0b0011), (FFA1R, 0b0100), (FA1R, 0b1110)]);
        put(&mut bench, &[(FR1, 0x100 << 21), (FR1 + 4, 0x101 << 21)]);
        put(&mut bench, &[(FR1 + 8, 0x200 << 21), (FR1 + 12, 0x7f0 << 21 | 6)]);
        put(&mut bench, &[(FR1 + 16, 0x301 << 21 | 0x300 << 5), (FR1 + 20, 0x303 << 21 | 0x302 << 5)]);
        put(&mut bench, &[(FR1 + 24, 0x7ff << 21 | 0x400 << 5), (FR1 + 28, 0)]);
        assert_eq!(filter(&mut bench, frame(0x205), false), None, "FINIT");
        put(&mut bench, &[(FMR, 0x2a1c_0e01 & !FMR_FINIT)]);
        assert_eq!(filter(&mut bench, frame(0x205), false), Some((0, 2)));
        assert_eq!(filter(&mut bench, Frame { is_remote: true, ..frame(0x205) }, false), Some((0, 4)), "a mask of 0");
        assert_eq!(filter(&mut bench, frame(0x303), false), Some((1, 3)), "a list of 16 bits goes before a mask");
        assert_eq!(filter(&mut bench, frame(0x400), false), Some((0, 3)));
        // Bank 0 is not active; its numbers stay in use.
        assert_eq!(filter(&mut bench, frame(0x100), false), Some((0, 4)));
        put(&mut bench, &[(FA1R, 0b1111)]);
        assert_eq!(filter(&mut bench, frame(0x101), false), Some((0, 1)));
        assert_eq!(filter(&mut bench, frame(0x101), true), None, "the second controller has other banks");
    }

    #[test]
    fn banks_from_can2sb_on_are_the_second_ones() {
        let mut bench = Bench::new(Filters::new(28, ClockGate::NONE));
        put(&mut bench, &[(FMR, 1 << 8 | 1), (FS1R, 2), (FA1R, 2), (FMR, 1 << 8)]);
        assert_eq!(filter(&mut bench, frame(5), false), None);
        assert_eq!(filter(&mut bench, frame(5), true), Some((0, 0)));
        let extended = Frame { is_extended: true, ..frame(0x1234_5678) };
        put(&mut bench, &[(FA1R, 0), (FR1 + 8, 0x1234_5678 << 3 | 4), (FR1 + 12, u32::MAX), (FA1R, 2)]);
        assert_eq!(filter(&mut bench, extended, true), Some((0, 0)));
        assert_eq!(filter(&mut bench, frame(5), true), None);
    }
}
