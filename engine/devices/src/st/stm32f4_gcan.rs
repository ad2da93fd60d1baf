//! `st,stm32f4-gcan`: the filter banks of an STM32's bxCAN, for one or two controllers (RM0090, "Controller area
//! network (bxCAN)", "Identifier filtering"; RM0432 for an STM32L4, which has 14 banks and one controller).
//!
//! Modelled: CAN_FMR to CAN_FiR2; banks of 32 and of 16 bits, masks and lists, for either FIFO; the number of the
//! filter that a frame matches (FMI), by the rules of "Filter priority rules"; FINIT, which rejects all frames; CAN2SB,
//! the first bank of the second controller, whose filters are numbered from there. A bank can be written while it is
//! not active or FINIT is set, the registers of modes, scales and FIFOs while FINIT is set.

use crate::model::{Group, Model};
use crate::support::registers::{AccessKind, Register};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::wire::can::Frame;

/// The register map after CAN_FA1R: the banks' register pairs follow from 0x40 on.
pub const REGISTERS: &[Register] = &[
    Register::new("CAN_FMR", FMR, AccessKind::Rw, FMR_RESET, u32::MAX),
    Register::new("CAN_FM1R", FM1R, AccessKind::Rw, 0, 0x0fff_ffff),
    Register::new("CAN_FS1R", FS1R, AccessKind::Rw, 0, 0x0fff_ffff),
    Register::new("CAN_FFA1R", FFA1R, AccessKind::Rw, 0, 0x0fff_ffff),
    Register::new("CAN_FA1R", FA1R, AccessKind::Rw, 0, 0x0fff_ffff),
];

const FMR: u32 = 0x00;
const FM1R: u32 = 0x04;
const FS1R: u32 = 0x0c;
const FFA1R: u32 = 0x14;
const FA1R: u32 = 0x1c;
const BANKS: u32 = 0x40;

const FMR_RESET: u32 = 0x2a1c_0e01;
const FMR_FINIT: u32 = 1 << 0;
/// CAN2SB, six bits.
const FMR_CAN2SB: u32 = 8;
const MOST_BANKS: usize = 28;

/// The banks.
#[derive(Debug, State)]
pub struct Filters {
    #[state(skip)]
    gate: ClockGate,
    #[state(skip)]
    banks: usize,
    master: u32,
    /// Settings by bank: list or mask; 32 or 16 bits; FIFO 1 or 0; active.
    lists: u32,
    wide: u32,
    second_fifo: u32,
    active: u32,
    values: [[u32; 2]; MOST_BANKS],
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Can, &["st,stm32f4-gcan"], 1, from_node).naming(REGISTERS);

/// Builds the banks from their node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks", "resets"]);
    let banks = reader.u32_or("cyclescope,banks", 28, 1..=28, "number of filter banks, 1 to 28") as usize;
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
    pub fn new(banks: usize, gate: ClockGate) -> Filters {
        Filters {
            gate,
            banks: banks.min(MOST_BANKS),
            master: FMR_RESET,
            lists: 0,
            wide: 0,
            second_fifo: 0,
            active: 0,
            values: [[0; 2]; MOST_BANKS],
            changes: 0,
        }
    }

    const fn all(&self) -> u32 {
        u32::MAX >> (32 - self.banks)
    }

    const fn is_set_up(&self) -> bool {
        self.master & FMR_FINIT != 0
    }

    /// The banks of one of the two controllers.
    fn banks_of(&self, is_second: bool) -> std::ops::Range<usize> {
        let start = ((self.master >> FMR_CAN2SB & 0x3f) as usize).min(self.banks);
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
            let is = |bits: u32| bits >> bank & 1 != 0;
            let fifo = usize::from(is(self.second_fifo));
            let first = numbers[fifo];
            let [one, other] = self.values[bank];
            let (halves, others) = ([one & 0xffff, one >> 16], [other & 0xffff, other >> 16]);
            let (word, half) = (wide(frame), narrow(frame));
            let masked = |[value, mask]: [u32; 2]| (half ^ value) & mask == 0;
            let (rank, count, found) = match (is(self.wide), is(self.lists)) {
                (true, true) => (Rank::WideList, 2, [one, other].iter().position(|id| *id & !1 == word)),
                (true, false) => (Rank::WideMask, 1, ((word ^ one) & other & !1 == 0).then_some(0)),
                (false, true) => (Rank::List, 4, [halves, others].concat().iter().position(|id| *id == half)),
                (false, false) => (Rank::Mask, 2, [halves, others].into_iter().position(masked)),
            };
            // Banks that are not active are numbered as well.
            numbers[fifo] += count;
            let number = found.filter(|_| is(self.active)).map(|place| first + place);
            let key = number.map(|number| (rank, number, fifo));
            best = best.into_iter().chain(key).min();
        }
        best.map(|(_, number, fifo)| (fifo, number as u8))
    }

    fn set_register(&mut self, offset: u32, value: u32) {
        let value_of_banks = value & self.all();
        match offset {
            FMR => self.master = value,
            FA1R => self.active = value_of_banks,
            FM1R if self.is_set_up() => self.lists = value_of_banks,
            FS1R if self.is_set_up() => self.wide = value_of_banks,
            FFA1R if self.is_set_up() => self.second_fifo = value_of_banks,
            BANKS.. => {
                let bank = (offset - BANKS) as usize / 8;
                if bank < self.banks && (self.is_set_up() || self.active >> bank & 1 == 0) {
                    self.values[bank][offset as usize / 4 % 2] = value;
                }
            }
            _ => {}
        }
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            FMR => self.master,
            FM1R => self.lists,
            FS1R => self.wide,
            FFA1R => self.second_fifo,
            FA1R => self.active,
            BANKS.. => {
                let bank = (offset - BANKS) as usize / 8;
                self.values[..self.banks].get(bank).map_or(0, |bank| bank[offset as usize / 4 % 2])
            }
            _ => 0,
        }
    }
}

impl Device for Filters {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.gate.follow(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.gate.read(offset, size, ctx, |offset, _| self.register(offset))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.gate.write(offset, size, value, ctx, |offset, value, _| {
            self.changes += 1;
            self.set_register(offset, value);
        })
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        if self.gate.is_reset(ctx.bus) {
            *self = Filters { changes: self.changes + 1, ..Filters::new(self.banks, self.gate) };
        }
    }

    fn can_filter(&self, frame: &Frame, is_second: bool) -> Option<(usize, u8)> {
        self.accepts(frame, is_second)
    }
}

impl Polled for Filters {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.changes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::support::registers::walk;
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
        walk::device_keeps_its_table(REGISTERS, &["CAN_FMR", "CAN_FM1R", "CAN_FS1R", "CAN_FFA1R"], &mut bench);
        put(&mut bench, &[(FMR, FMR_RESET & !1), (FM1R, 1), (FA1R, 1), (BANKS, 7), (BANKS + 8, 9)]);
        assert_eq!([FM1R, BANKS, BANKS + 8].map(|offset| bench.value(Ps(0), offset)), [0, 0, 9]);
    }

    /// RM0090, "Filter match index": the example's first banks, and the rules of priority.
    #[test]
    fn the_number_of_a_filter_counts_those_before_it_of_its_fifo() {
        let mut bench = Bench::new(Filters::new(28, ClockGate::NONE));
        // Bank 0: two identifiers of 32 bits; 1: a mask of 32 bits; 3: two masks of 16 bits; all for FIFO 0. Bank 2:
        // four identifiers for FIFO 1.
        put(&mut bench, &[(FM1R, 0b0101), (FS1R, 0b0011), (FFA1R, 0b0100), (FA1R, 0b1110)]);
        put(&mut bench, &[(BANKS, 0x100 << 21), (BANKS + 4, 0x101 << 21)]);
        put(&mut bench, &[(BANKS + 8, 0x200 << 21), (BANKS + 12, 0x7f0 << 21 | 6)]);
        put(&mut bench, &[(BANKS + 16, 0x301 << 21 | 0x300 << 5), (BANKS + 20, 0x303 << 21 | 0x302 << 5)]);
        put(&mut bench, &[(BANKS + 24, 0x7ff << 21 | 0x400 << 5), (BANKS + 28, 0)]);
        assert_eq!(filter(&mut bench, frame(0x205), false), None, "FINIT");
        put(&mut bench, &[(FMR, FMR_RESET & !FMR_FINIT)]);
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
        put(&mut bench, &[(FA1R, 0), (BANKS + 8, 0x1234_5678 << 3 | 4), (BANKS + 12, u32::MAX), (FA1R, 2)]);
        assert_eq!(filter(&mut bench, extended, true), Some((0, 0)));
        assert_eq!(filter(&mut bench, frame(5), true), None);
    }
}
