//! Register accesses of an STM32's peripherals, through the enable bits of its RCC (RM0436, RM0090, RM0432, "Reset and
//! clock control (RCC)", enable registers) and the bridge to their bus.
//!
//! A peripheral without an enabled clock answers 0 and ignores writes. Its node gives the place of its enable bit:
//! `cyclescope,clock-enable = <register bit>`, with the offset of the MPU's enable register (RCC_MP_xxxENSETR). Without
//! that property it always has its clock, as on a board without an RCC. The register block with the bits publishes them
//! in [`engine::clocks`].
//!
//! A clock runs some cycles after its bit is set (STM32F405/407's ES0182, "Delay after an RCC peripheral clock
//! enabling", STM32F411's ES0287 likewise; RM0432, "Peripheral clock enable register", for the STM32L4+): an access
//! before then gets a note, and is carried out nevertheless. A read of the RCC's register in between prevents that.
//!
//! The bridges to the APBs, and AHB slaves that support only words according to the manuals, ignore the size of an
//! access: a store of a byte or a halfword repeats it on all lanes (RM0090, "DMA controller", addressing an AHB
//! peripheral that does not support byte or halfword writes: a store of 0xb0 to any byte of a register writes
//! 0xb0b0b0b0). Ports, flash, CRC unit and the RCC itself take bytes on their own lanes ([`AccessSize::merged`]).

use crate::prelude::*;
use engine::bus::Bus;

/// A gate that PWR opens by its bit DBP: the write access to the registers of the backup domain. No register of an RCC
/// has such an offset.
pub const BACKUP_DOMAIN: (u32, u32) = (0x1_0000, 8);

/// A gate that PWR opens by its bit IOSV: the pins on VDDIO2.
pub const SECOND_SUPPLY: (u32, u32) = (0x1_0000, 9);

/// The word that a store writes to a register that takes words only.
pub const fn on_all_lanes(value: u32, size: AccessSize) -> u32 {
    match size {
        AccessSize::Byte => (value & 0xff) * 0x0101_0101,
        AccessSize::Half => (value & 0xffff) * 0x0001_0001,
        AccessSize::Word => value,
    }
}

/// The place of a peripheral's enable bit: the offset of its register, and its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockGate(Option<(u32, u32)>);

impl ClockGate {
    /// A peripheral that always has its clock.
    pub const NONE: ClockGate = ClockGate(None);

    /// A load, answered within its cycle: `register` gives the value of the register at an offset.
    ///
    /// # Errors
    /// Never: a peripheral without its clock answers 0.
    pub fn read(
        self,
        offset: u32,
        size: AccessSize,
        ctx: &mut Ctx,
        register: impl FnOnce(u32, &mut Ctx) -> u32,
    ) -> AccessResult {
        let value = if self.is_open(ctx) { register(offset & !3, ctx) } else { 0 };
        Ok(Reply::read(size.extracted(value, offset), ctx.now))
    }

    /// A store, answered within its cycle: `set` gets the offset of the register, and the word that the bridge makes of
    /// the value.
    ///
    /// # Errors
    /// Never: a peripheral without its clock ignores the store.
    pub fn write(
        self,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
        set: impl FnOnce(u32, u32, &mut Ctx),
    ) -> AccessResult {
        if self.takes_writes(ctx) {
            set(offset & !3, on_all_lanes(value, size), ctx);
        }
        Ok(Reply::written(ctx.now))
    }

    /// The gate of a bit of an enable register.
    #[cfg(test)]
    pub const fn at(register: u32, bit: u32) -> ClockGate {
        ClockGate(Some((register, bit)))
    }

    /// The gate that a node names, if any.
    pub fn from_node(reader: &mut NodeReader) -> ClockGate {
        let meaning =
            "the offset of an enable register of the RCC, a multiple of 4, and the number of a bit there, 0 to 31";
        ClockGate::named("cyclescope,clock-enable", meaning, reader)
    }

    /// The gate that a property of a node names, if any.
    pub fn named(property: &str, meaning: &str, reader: &mut NodeReader) -> ClockGate {
        let cells = reader.cells(property, |[register, bit]| register % 4 == 0 && bit < 32, meaning);
        ClockGate(cells.map(|[register, bit]| (register, bit)))
    }

    /// True if the peripheral has its clock; else a note says what the firmware has to do.
    pub fn is_open(self, ctx: &mut Ctx) -> bool {
        let Some((register, bit)) = self.0 else { return true };
        let open = ctx.bus.clocks.is_running(register, bit);
        if open && ctx.bus.clocks.opens_at(register, bit, ctx.now).is_some() {
            ctx.note(&format!(
                "it was accessed a few cycles too soon after the enable of its clock (bit {bit} of the RCC's enable \
                 register at {register:#x}): on a board such a read may give anything, and a write may be lost. Read \
                 that register back, or execute a DSB, in between"
            ));
        }
        if !open {
            ctx.note(&format!(
                "it was accessed while its clock is off (bit {bit} of the RCC's enable register at {register:#x}): \
                 reads give 0, writes do nothing"
            ));
        }
        open
    }

    /// [`ClockGate::is_open`] for a write, which a peripheral that is held in reset ignores.
    pub fn takes_writes(self, ctx: &mut Ctx) -> bool {
        let is_open = self.is_open(ctx);
        if is_open && self.is_reset(ctx.bus) {
            ctx.note("it was written while the RCC holds it in reset (RCC_xxxRSTR): the write does nothing");
            return false;
        }
        is_open
    }

    /// True while the RCC holds the peripheral in reset. Devices that follow the gate return to their reset state then.
    pub fn is_reset(self, bus: &Bus) -> bool {
        self.0.is_some_and(|(register, bit)| bus.clocks.is_reset(register, bit))
    }

    /// Notifies the calling device of changes from now on, as of changes of its clocks' rates.
    pub fn follow(self, ctx: &mut Ctx) {
        if let Some((register, bit)) = self.0 {
            ctx.bus.clocks.follow_gate(register, bit, ctx.id);
        }
    }

    /// [`ClockGate::is_open`] without a note.
    pub fn state(self, bus: &Bus) -> bool {
        self.0.is_none_or(|(register, bit)| bus.clocks.is_running(register, bit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_plain_node};
    use crate::{Kind, find};
    use engine::bus::device::{Device, DeviceId};
    use engine::polling::{Poll, Polled};
    use engine::time::Ps;

    #[derive(engine::state::State)]
    struct Registers(#[state(skip)] ClockGate, [u32; 2]);

    impl Device for Registers {
        fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
            self.0.read(offset, size, ctx, |offset, _| self.1[offset as usize / 4])
        }

        fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
            self.0.write(offset, size, value, ctx, |offset, value, _| self.1[offset as usize / 4] = value)
        }
    }

    impl Polled for Registers {
        fn polled(&mut self, _: &mut Poll) -> bool {
            false
        }
    }

    /// Stores less than a word, and reads the same size there. Returns that, and the whole register.
    fn narrow(offset: u32, size: AccessSize, value: u32) -> (u32, u32) {
        let mut bench = Bench::new(Registers(ClockGate::NONE, [0; 2]));
        let both = |device: &mut dyn Device, ctx: &mut Ctx| {
            device.write(0, offset, size, value, ctx).unwrap();
            device.read(0, offset, size, ctx).unwrap().value
        };
        (bench.bus.with_device(DeviceId(0), Ps(9), both), bench.value(Ps(9), 4))
    }

    #[test]
    fn less_than_a_word_is_on_all_lanes() {
        assert_eq!(narrow(4, AccessSize::Byte, 0xaa), (0xaa, 0xaaaa_aaaa));
        assert_eq!(narrow(7, AccessSize::Byte, 0xb0), (0xb0, 0xb0b0_b0b0));
        assert_eq!(narrow(6, AccessSize::Half, 0xcdef), (0xcdef, 0xcdef_cdef));
        assert_eq!(narrow(4, AccessSize::Word, 0x0123_4567), (0x0123_4567, 0x0123_4567));
    }

    #[test]
    fn an_access_right_after_the_enable_is_noted_once_and_served() {
        let mut bench = Bench::new(Registers(ClockGate(Some((0x40, 3))), [7; 2]));
        bench.bus.clocks.set_gates(0x40, 1 << 3);
        bench.bus.clocks.open_from(0x40, 1 << 3, Ps(100), Ps(50));
        assert_eq!((bench.value(Ps(100), 4), bench.bus.notes().len()), (7, 0), "in time");
        assert_eq!((bench.value(Ps(99), 4), bench.value(Ps(98), 4), bench.bus.notes().len()), (7, 7, 1));
        assert!(bench.bus.notes()[0].contains("a few cycles too soon"));
        // Another register's gates, and gates that were read back.
        let mut bench = Bench::new(Registers(ClockGate(Some((0x40, 3))), [7; 2]));
        bench.bus.clocks.set_gates(0x40, 1 << 3);
        bench.bus.clocks.open_from(0x44, 1 << 3, Ps(100), Ps(50));
        bench.bus.clocks.open_from(0x40, 1 << 3, Ps(100), Ps(50));
        bench.bus.clocks.opened(0x40);
        assert_eq!((bench.value(Ps(60), 4), bench.bus.notes().len()), (7, 0));
    }

    #[test]
    fn without_its_clock_it_answers_0_and_takes_nothing() {
        let mut bench = Bench::new(Registers(ClockGate(Some((0x40, 3))), [7; 2]));
        bench.bus.clocks.set_gates(0x40, 1 << 2);
        bench.write(Ps(0), 4, 9).unwrap();
        assert_eq!((bench.value(Ps(0), 4), bench.bus.notes().len()), (0, 1));
        bench.bus.clocks.set_gates(0x40, 1 << 3);
        assert_eq!(bench.value(Ps(0), 4), 7);
    }

    /// The values of a device's registers, except those that read a port's pins: a pin without a driver keeps its
    /// level.
    fn registers(bench: &mut Bench, is_port: bool) -> Vec<u32> {
        let offsets = (0..0x60).step_by(4).filter(|offset| !is_port || *offset != 0x10);
        offsets.map(|offset| bench.value(Ps(0), offset)).collect()
    }

    fn hold(bench: &mut Bench, held: u32) {
        bench.bus.clocks.set_resets(0x40, held << 5);
        bench.bus.set_clocks(&[], Ps(0));
    }

    #[test]
    fn a_peripheral_that_is_reset_is_as_at_the_start() {
        for compatible in [
            "st,stm32-usart",
            "st,stm32h7-uart",
            "st,stm32-spi",
            "st,stm32-spi-fifo",
            "st,stm32-i2c-v1",
            "st,stm32-i2c-v2",
            "st,stm32-timers",
            "st,stm32-gpio",
            "st,stm32-crc",
            "st,stm32f7-crc",
            "st,stm32-rng",
            "st,stm32-dac",
            "st,stm32f4-bxcan",
            "st,stm32f4-gcan",
            "st,stm32-ospi",
            "st,stm32-ospim",
            "st,stm32f4-adc",
            "st,stm32l4-adc",
            "st,stm32-dma-v1",
            "st,stm32-dma-v2",
            "st,stm32-dmamux",
            "st,stm32-window-watchdog",
            "st,stm32-sdmmc2",
        ] {
            let kind = find(compatible).unwrap().model.kind;
            let (Kind::Device(_, from_node) | Kind::Port(_, from_node)) = kind else { panic!("{compatible}") };
            let gate: (&str, &[u32]) = ("cyclescope,clock-enable", &[0x40, 5]);
            let mut bench = read_plain_node(from_node, &[gate]).0;
            let is_port = matches!(kind, Kind::Port(..));
            if is_port {
                bench = bench.as_port();
            }
            bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
            let fresh = registers(&mut bench, is_port);
            // This enables nothing.
            let write = |bench: &mut Bench| {
                (0..0x60).step_by(4).for_each(|offset| _ = bench.write(Ps(0), offset, 0x1234_5670).unwrap());
                registers(bench, is_port)
            };
            assert_ne!(write(&mut bench), fresh, "{compatible}");
            hold(&mut bench, 1);
            assert_eq!(registers(&mut bench, is_port), fresh, "{compatible}");
            assert_eq!(write(&mut bench), fresh, "{compatible}");
            hold(&mut bench, 0);
            assert_eq!(registers(&mut bench, is_port), fresh, "{compatible}");
            assert_ne!(write(&mut bench), fresh, "{compatible}");
        }
    }
}
