//! `st,stm32-crc`: the CRC calculation unit of STM32F4 (RM0090, "CRC calculation unit"), for words, with the Ethernet
//! polynomial; and `st,stm32f7-crc`: the unit of STM32L4 and others (RM0432), for words, halfwords and bytes, with
//! programmable polynomial, initial value and order of bits.
//!
//! Modelled: all registers. A word takes `cyclescope,word-cycles` of the bus clock, a halfword half of them, a byte a
//! quarter. A write or read of CRC_DR waits until the calculations of earlier writes have ended; the programmable unit
//! can buffer one write meanwhile.

use crate::prelude::*;

registers! {
    /// The register map; only the programmable unit has CRC_INIT and CRC_POL, and stores CRC_CR.
    pub const MAP "CRC_" {
        DR 0x00 rw volatile reset u32::MAX;
        IDR 0x04 rw mask 0xff;
        CR 0x08 rw { POLYSIZE 3..5, REV_IN 5..7, REV_OUT 7 };
        INIT 0x10 rw reset u32::MAX;
        POL 0x14 rw reset ETHERNET;
    }
}

const ETHERNET: u32 = 0x04c1_1db7;
/// CRC_CR.RESET, which is not stored.
const CR_RESET: u32 = 1 << 0;
/// Length of the polynomial in bits, by CRC_CR.POLYSIZE.
const SIZES: [u32; 4] = [32, 16, 8, 7];
/// The compatible of a programmable unit.
const PROGRAMMABLE: &str = "st,stm32f7-crc";

/// The board's parameters of the unit.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Params {
    /// The clock of its bus.
    #[poll(phase)]
    pub clock: ClockInput,
    /// Clocks of the calculation of a word.
    #[state(skip)]
    pub word_cycles: Cycles,
    /// The unit with programmable polynomial, initial value and order of bits.
    #[state(skip)]
    pub is_programmable: bool,
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
}

/// The unit.
#[derive(Debug, State, Polled)]
pub struct Crc {
    params: Params,
    registers: Registers,
    crc: u32,
    /// Start and end of the last write's calculation.
    #[poll(end)]
    begins: Ps,
    #[poll(end)]
    ends: Ps,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32-crc", PROGRAMMABLE], 1, from_node).naming(MAP.rows);

/// Builds the unit from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Crc::new(Params {
        clock: reader.clock_input(0, "the clock of its bus"),
        word_cycles: reader.timing_cycles("cyclescope,word-cycles", "clocks of the calculation of a word"),
        is_programmable: reader.node.compatibles().contains(&PROGRAMMABLE),
        gate: ClockGate::from_node(reader),
    }))
}

impl Crc {
    /// The unit after reset.
    pub fn new(params: Params) -> Crc {
        Crc { params, registers: Registers::new(&MAP), crc: u32::MAX, begins: Ps::ZERO, ends: Ps::ZERO }
    }

    fn bits(&self) -> u32 {
        SIZES[self.registers.field(CR, CR_POLYSIZE) as usize]
    }

    /// The input, with its bits in the order that CRC_CR.REV_IN selects.
    fn reversed_in(&self, value: u32, bits: u32) -> u32 {
        let order = self.registers.field(CR, CR_REV_IN) as usize;
        let unit = [bits, 8, 16.min(bits), bits][order];
        if order == 0 {
            return value;
        }
        let reverse = |part: u32| (value >> part & (u32::MAX >> (32 - unit))).reverse_bits() >> (32 - unit) << part;
        (0..bits / unit).fold(0, |word, index| word | reverse(index * unit))
    }

    fn feed(&mut self, value: u32, size: AccessSize) {
        let (data_bits, crc_bits) = (8 * size.bytes(), self.bits());
        let value = self.reversed_in(value & u32::MAX >> (32 - data_bits), data_bits);
        let (mask, polynomial) = (u32::MAX >> (32 - crc_bits), self.registers[POL]);
        for bit in (0..data_bits).rev() {
            let carry = (self.crc >> (crc_bits - 1) ^ value >> bit) & 1;
            self.crc = (self.crc << 1 ^ if carry != 0 { polynomial } else { 0 }) & mask;
        }
    }

    fn result(&self) -> u32 {
        let is_reversed = self.registers.has(CR, CR_REV_OUT);
        if is_reversed { self.crc.reverse_bits() >> (32 - self.bits()) } else { self.crc }
    }

    fn value(&self, register: u32) -> u32 {
        match register {
            DR => self.result(),
            INIT | POL if !self.params.is_programmable => 0,
            _ => self.registers.held(register),
        }
    }

    /// A write of CRC_DR. Returns when the bus is free again.
    fn calculate(&mut self, value: u32, size: AccessSize, now: Ps) -> Ps {
        let clock = self.params.clock.rate;
        // Without a buffer the previous calculation must have ended; with one, the buffered one must have begun.
        let taken = if self.params.is_programmable { now.max(self.begins) } else { now };
        self.begins = clock.edge_at_or_after(taken.max(self.ends));
        let cycles = self.params.word_cycles.0 * u64::from(size.bytes()) / 4;
        self.ends = clock.after(self.begins, Cycles(cycles));
        self.feed(value, size);
        if self.params.is_programmable { taken } else { self.ends }
    }

    /// A write of another register.
    fn set(&mut self, register: u32, value: u32) {
        let is_programmable = self.params.is_programmable;
        let is_stored = is_programmable || register == IDR;
        if is_stored && self.registers.write(register, value).is_err() {
            return;
        }
        if register == CR && value & CR_RESET != 0 || register == INIT && is_programmable {
            self.crc = self.registers[INIT] & u32::MAX >> (32 - self.bits());
        }
    }
}

impl Device for Crc {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        if !self.params.gate.is_open(ctx) {
            return Ok(Reply::read(0, ctx.now));
        }
        let done = if offset & !3 == DR { ctx.now.max(self.ends) } else { ctx.now };
        Ok(Reply::read(size.extracted(self.value(offset & !3), offset), done))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        if !self.params.gate.takes_writes(ctx) {
            return Ok(Reply::written(ctx.now));
        }
        if offset & !3 != DR {
            self.set(offset & !3, size.merged(self.value(offset & !3), offset, value));
            return Ok(Reply::written(ctx.now));
        }
        // The unit of an STM32F4 takes only words: in a narrower write, the other lanes are zeroes.
        let (value, size) =
            if self.params.is_programmable { (value, size) } else { (size.merged(0, offset, value), AccessSize::Word) };
        Ok(Reply::written(self.calculate(value, size, ctx.now)))
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        // A calculation under way ends at the old rate: it takes a few clocks only.
        self.params.clock.rate = ctx.bus.clocks.rate_of(self.params.clock);
        if self.params.gate.is_reset(ctx.bus) {
            *self = Crc { ends: ctx.now, ..Crc::new(self.params) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::time::Hz;

    fn crc(is_programmable: bool) -> Bench {
        let clock = ClockInput::fixed(Hz::new(100_000_000).unwrap());
        let gate = ClockGate::default();
        Bench::new(Crc::new(Params { clock, word_cycles: Cycles(4), is_programmable, gate }))
    }

    fn feed(bench: &mut Bench, bytes: &[u8]) {
        for byte in bytes {
            let write = |unit: &mut dyn Device, ctx: &mut Ctx| unit.write(0, DR, AccessSize::Byte, (*byte).into(), ctx);
            bench.bus.with_device(DeviceId(0), Ps(0), write).unwrap();
        }
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_map(&MAP, &[], &mut crc(true));
        assert_eq!(crc(false).value(Ps(0), DR), u32::MAX);
    }

    #[test]
    fn a_word_goes_by_the_polynomial_of_ethernet() {
        // CRC-32/MPEG-2 of the bytes 0x12 0x34 0x56 0x78, and of four zeroes.
        for (word, expected) in [(0x1234_5678, 0xdf8a_8a2b), (0, 0xc704_dd7b)] {
            let mut bench = crc(false);
            bench.write(Ps(0), DR, word).unwrap();
            assert_eq!(bench.value(Ps(0), DR), expected);
            bench.write(Ps(0), CR, CR_RESET).unwrap();
            assert_eq!(bench.value(Ps(0), DR), u32::MAX);
        }
    }

    #[test]
    fn check_values_of_well_known_codes() {
        let check = b"123456789";
        // From the catalogue of parametrised CRCs: CRC-32/MPEG-2, CRC-32 (without its last inversion), CRC-16/XMODEM,
        // CRC-8/SMBUS, CRC-7/MMC.
        for (control, initial, polynomial, expected) in [
            (0, u32::MAX, ETHERNET, 0x0376_e6e7),
            (1 << 5 | CR_REV_OUT, u32::MAX, ETHERNET, !0xcbf4_3926),
            (1 << 3, 0, 0x1021, 0x31c3),
            (2 << 3, 0, 0x07, 0xf4),
            (3 << 3, 0, 0x09, 0x75),
        ] {
            let mut bench = crc(true);
            for (offset, value) in [(POL, polynomial), (CR, control), (INIT, initial), (CR, control | CR_RESET)] {
                bench.write(Ps(0), offset, value).unwrap();
            }
            feed(&mut bench, check);
            assert_eq!(bench.value(Ps(0), DR), expected, "{control:#x}");
        }
    }

    #[test]
    fn a_word_reversed_by_bytes_is_its_bytes_reversed() {
        let mut words = crc(true);
        let mut bytes = crc(true);
        for bench in [&mut words, &mut bytes] {
            bench.write(Ps(0), CR, 1 << 5).unwrap();
        }
        words.write(Ps(0), DR, 0x3132_3334).unwrap();
        feed(&mut bytes, b"1234");
        assert_eq!(words.value(Ps(0), DR), bytes.value(Ps(0), DR));
    }

    #[test]
    fn a_word_takes_four_clocks_and_what_comes_after_waits() {
        let mut bench = crc(false);
        assert_eq!(bench.write(Ps(10_000), DR, 1), Ok(Ps(50_000)));
        let mut bench = crc(true);
        // The first begins at once, the second is buffered until 50 ns, the third waits until then.
        assert_eq!(bench.write(Ps(10_000), DR, 1), Ok(Ps(10_000)));
        assert_eq!(bench.write(Ps(20_000), DR, 1), Ok(Ps(20_000)));
        assert_eq!(bench.write(Ps(30_000), DR, 1), Ok(Ps(50_000)));
        assert_eq!(bench.read(Ps(60_000), DR).unwrap().1, Ps(130_000));
        assert_eq!(bench.read(Ps(60_000), IDR).unwrap().1, Ps(60_000));
    }

    #[test]
    fn a_node_gives_clock_and_time() {
        let (mut bench, mut faults) = read_plain_node(from_node, &[("cyclescope,word-cycles", &[4])]);
        faults.retain(|fault| !fault.contains("cyclescope,sources"));
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(bench.write(Ps(0), DR, 1), Ok(Ps(40_000)));
    }
}
