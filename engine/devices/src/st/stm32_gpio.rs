//! `st,stm32-gpio`: a port of 16 general-purpose pins of an STM32 (RM0090, "General-purpose I/Os (GPIO)"; RM0432, which
//! adds GPIOx_BRR).
//!
//! Modelled: all registers; inputs, push-pull and open-drain outputs, pull-ups and pull-downs, analog pins, which read
//! 0; GPIOx_BSRR and GPIOx_BRR; the lock with its write sequence. A pin that is neither driven nor pulled keeps its
//! level, which is low after reset. Byte and halfword writes only change their lanes.
//!
//! A write takes effect, and wires change, at the time at which it reaches the port; a read shows the wires at that
//! time.
//!
//! A pin in alternate function carries a peripheral's signal if its function number at this pin selects one
//! (`devices/support/pin_functions.rs`); the port notifies the peripheral when GPIOx_MODER and GPIOx_AFRx change. Pins
//! of a second supply (`cyclescope,io2-pins`) are isolated until the firmware has declared the supply valid
//! (PWR_CR2.IOSV).
//!
//! Not modelled: levels of serial lines and buses at pins, which have waveforms of their own; timers' channels are
//! modelled. Speed settings have no effect.

use crate::prelude::*;
use engine::bus::device::PortId;
use engine::pins::functions::Functions;

use crate::support::clock_gate::SECOND_SUPPLY;
use crate::support::pin_bank::{PinBank, PinModes};

registers! {
    /// The register map; GPIOx_BRR is not in all chips.
    pub const MAP "GPIOx_" {
        MODER 0x00 rw;
        OTYPER 0x04 rw mask PINS;
        OSPEEDR 0x08 rw;
        PUPDR 0x0c rw;
        IDR 0x10 ro mask PINS;
        ODR 0x14 rw mask PINS;
        BSRR 0x18 wo;
        LCKR 0x1c rw volatile { LCK 0..16, LCKK 16 };
        AFRL 0x20 rw;
        AFRH 0x24 rw;
        BRR 0x28 wo mask PINS;
    }
}

const PINS: u32 = 0xffff;
const LCKK: u32 = LCKR_LCKK;
/// GPIOx_MODER.
const OUTPUT: u32 = 1;
const ALTERNATE: u32 = 2;
const ANALOG: u32 = 3;
/// GPIOx_PUPDR.
const UP: u32 = 1;
const DOWN: u32 = 2;

/// The board's parameters of the port.
#[derive(Clone, Copy, Debug, Default)]
pub struct Params {
    /// Reset values of GPIOx_MODER, GPIOx_OSPEEDR and GPIOx_PUPDR.
    pub resets: [u32; 3],
    /// True if the port has GPIOx_BRR.
    pub has_brr: bool,
    /// Pins on the second supply.
    pub second_supply: u32,
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
}

/// Progress of the lock sequence: writes with LCKK, without, and with it, each with the same pins, then a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
enum Lock {
    #[default]
    Open,
    /// The number of the three writes so far, and their pins.
    Begun(u8, u32),
    /// Locked pins, until reset.
    Locked(u32),
}

/// The port.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated_with_lanes(self.params.gate))]
pub struct Gpio {
    #[state(skip)]
    params: Params,
    registers: Registers,
    lock: Lock,
    /// Its changes are also those of what isolates pins.
    bank: PinBank,
    #[poll(total)]
    reads: u64,
    /// The wires see each write.
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::port(&["st,stm32-gpio"], 1, from_node).naming(MAP.rows);

/// Builds the port from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["gpio-controller", "#gpio-cells", "gpio-ranges", "ngpios", "clocks"]);
    let meaning = "GPIOx_MODER, GPIOx_OSPEEDR and GPIOx_PUPDR after reset; 0 by default";
    let resets = reader.cells("cyclescope,reset-values", |_: [u32; 3]| true, meaning).unwrap_or_default();
    let has_brr = reader.flag("cyclescope,reset-register", "the port has GPIOx_BRR");
    let meaning = "pins on the supply VDDIO2, one bit each, isolated while PWR_CR2.IOSV is 0";
    let second_supply = reader.u32_or("cyclescope,io2-pins", 0, 0..=PINS, meaning);
    let meaning = "pairs: a pin (0 to 15), and the alternate function (0 to 15) that the software before the \
                   firmware has selected for it";
    let are_sound = |pairs: &[[u32; 2]]| pairs.as_flattened().iter().all(|number| *number < 16);
    let booted = reader.pairs("cyclescope,boot-functions", meaning, meaning, are_sound);
    let mut gpio = Gpio::new(Params { resets, has_brr, second_supply, gate: ClockGate::from_node(reader) });
    booted.into_iter().for_each(|[pin, function]| gpio.assign(pin, function));
    Box::new(gpio)
}

/// All ones in a register's fields of `bits` bits for those pins from `first` on that are in `pins`.
fn spread(pins: u32, bits: u32, first: u32) -> u32 {
    let field = (1 << bits) - 1;
    (0..32 / bits)
        .filter(|place| pins >> (first + place) & 1 != 0)
        .fold(0, |mask, place| mask | field << (bits * place))
}

impl Gpio {
    /// The port after reset.
    pub fn new(params: Params) -> Gpio {
        let mut registers = Registers::new(&MAP);
        for (register, reset) in [MODER, OSPEEDR, PUPDR].into_iter().zip(params.resets) {
            registers.set(register, reset);
        }
        Gpio { params, registers, lock: Lock::default(), bank: PinBank::default(), reads: 0, writes: 0 }
    }

    /// The boot loader has selected an alternate function for a pin.
    fn assign(&mut self, pin: u32, function: u32) {
        self.registers.put(MODER, 3 << (2 * pin), false);
        self.registers.put(MODER, ALTERNATE << (2 * pin), true);
        self.registers.put(AFRL + pin / 8 * 4, function << (4 * (pin % 8)), true);
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        let Gpio { bank, reads, writes, .. } = *self;
        *self = Gpio { bank, reads, writes, ..Gpio::new(self.params) };
        self.bank.changes += 1;
        self.apply(ctx);
    }

    /// Pins with this value in their two bits of a register, a bit a pin.
    fn pins(&self, register: u32, wanted: u32) -> u32 {
        let word = self.registers[register];
        (0..16).filter(|pin| word >> (2 * pin) & 3 == wanted).fold(0, |pins, pin| pins | 1 << pin)
    }

    /// How the pins are configured.
    fn modes(&self, isolated: u32) -> PinModes {
        let pulled = !(self.pins(MODER, ANALOG) | isolated);
        PinModes {
            outputs: self.pins(MODER, OUTPUT) & !isolated,
            open_drain: self.registers[OTYPER],
            pull_ups: self.pins(PUPDR, UP) & pulled,
            pull_downs: self.pins(PUPDR, DOWN) & pulled,
            ..PinModes::default()
        }
    }

    /// Pins whose supply is not valid.
    fn isolated(&self, ctx: &Ctx) -> u32 {
        let (register, bit) = SECOND_SUPPLY;
        if self.params.second_supply == 0 || ctx.bus.clocks.is_running(register, bit) {
            return 0;
        }
        self.params.second_supply
    }

    /// The alternate functions of the pins, by the registers.
    fn functions(&self, isolated: u32) -> Functions {
        Functions {
            alternate: self.pins(MODER, ALTERNATE),
            numbers: u64::from(self.registers[AFRH]) << 32 | u64::from(self.registers[AFRL]),
            outputs: self.pins(MODER, OUTPUT),
            analog: self.pins(MODER, ANALOG),
            open_drain: self.registers[OTYPER],
            isolated,
            pull_ups: self.pins(PUPDR, UP),
        }
    }

    /// Applies what may have changed at the pins, after a write of the configuration or any other change.
    fn apply(&self, ctx: &mut Ctx) {
        ctx.bus.switch_pins(ctx.id, self.functions(self.isolated(ctx)), ctx.now);
        self.apply_levels(ctx);
    }

    fn apply_levels(&self, ctx: &mut Ctx) {
        self.bank.drive(self.modes(self.isolated(ctx)).driven(self.registers[ODR]), ctx);
    }

    /// The bits of a register that are locked.
    fn locked(&self, register: u32) -> u32 {
        let Lock::Locked(pins) = self.lock else { return 0 };
        match register {
            MODER | OSPEEDR | PUPDR => spread(pins, 2, 0),
            OTYPER => pins,
            AFRL => spread(pins, 4, 0),
            AFRH => spread(pins, 4, 8),
            _ => 0,
        }
    }

    /// GPIOx_LCKR: a read ends the sequence.
    fn read_lock(&mut self) -> u32 {
        if let Lock::Begun(3, pins) = self.lock {
            self.lock = Lock::Locked(pins);
        }
        match self.lock {
            Lock::Open => 0,
            Lock::Begun(_, pins) => pins,
            Lock::Locked(pins) => LCKK | pins,
        }
    }

    fn write_lock(&mut self, value: u32) {
        let (key, pins) = (value & LCKK != 0, value & PINS);
        self.lock = match self.lock {
            Lock::Locked(pins) => Lock::Locked(pins),
            Lock::Begun(1, before) if !key && pins == before => Lock::Begun(2, pins),
            Lock::Begun(2, before) if key && pins == before => Lock::Begun(3, pins),
            _ => Lock::Begun(u8::from(key), pins),
        };
    }

    /// The port's output becomes this; wires change if the port then drives others.
    fn set_output(&mut self, old: u32, new: u32, ctx: &mut Ctx) {
        self.registers.set(ODR, new);
        let modes = self.modes(0);
        if modes.driven(new) != modes.driven(old) {
            self.apply_levels(ctx);
        }
    }
}

impl Table for Gpio {
    fn arrives(&mut self, is_write: bool) {
        *if is_write { &mut self.writes } else { &mut self.reads } += 1;
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            IDR => self.bank.sample(ctx) & PINS & !self.pins(MODER, ANALOG),
            LCKR => self.read_lock(),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        let output = self.registers[ODR];
        match register {
            ODR => self.set_output(old, new, ctx),
            // If both are requested, setting has priority.
            BSRR => self.set_output(output, output & !(new >> 16) | new & PINS, ctx),
            BRR if self.params.has_brr => self.set_output(output, output & !new, ctx),
            BRR => {}
            LCKR => {
                self.write_lock(new);
                self.apply(ctx);
            }
            _ => {
                let locked = self.locked(register);
                self.registers.set(register, old & locked | new & !locked);
                self.apply(ctx);
            }
        }
    }
}

impl Device for Gpio {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        if self.params.second_supply != 0 {
            ctx.bus.clocks.follow_gate(SECOND_SUPPLY.0, SECOND_SUPPLY.1, ctx.id);
        }
        // A pin that was never driven or pulled is low.
        let modes = PinModes { pull_downs: u32::MAX, ..self.modes(self.isolated(ctx)) };
        self.bank.drive(modes.driven(self.registers[ODR]), ctx);
        self.apply(ctx);
    }

    fn pins_changed(&mut self, _port: PortId, _changed: u32, _levels: u32, _ctx: &mut Ctx) {
        self.bank.changes += 1;
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        } else if self.params.second_supply != 0 {
            self.bank.changes += 1;
            self.apply(ctx);
        }
    }

    fn pin_count(&self) -> u32 {
        PINS.count_ones()
    }

    fn passes_interrupts(&self) -> bool {
        true
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("reads".to_owned(), self.reads), ("writes".to_owned(), self.writes)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::pins::Pin;
    use engine::time::Ps;

    const NOW: Ps = Ps(0);

    fn gpio(resets: [u32; 3]) -> Bench {
        let mut bench = Bench::new(Gpio::new(Params { resets, has_brr: true, ..Params::default() })).as_port();
        bench.bus.with_device(DeviceId(0), NOW, |port, ctx| port.reset(ctx));
        bench
    }

    fn outside(bench: &mut Bench, pin: u32, level: Option<bool>) {
        bench.bus.drive_pin(Pin::new(DeviceId(0), pin), level, NOW);
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_map(&MAP, &[], &mut gpio([0; 3]));
    }

    #[test]
    fn outputs_drive_and_inputs_read_what_is_driven_or_pulled() {
        let mut bench = gpio([0; 3]);
        // Pin 0 push-pull, pin 1 open drain, pin 2 pulled up, pin 3 pulled down, pin 4 analog.
        for (offset, value) in [(MODER, 0b11_00_00_01_01), (OTYPER, 0b10), (PUPDR, 0b01_10_01_00_00), (BSRR, 0b11)] {
            bench.write(NOW, offset, value).unwrap();
        }
        assert_eq!(bench.value(NOW, IDR), 0b0_0101, "an open drain that is off drives nothing");
        outside(&mut bench, 1, Some(true));
        outside(&mut bench, 3, Some(true));
        outside(&mut bench, 4, Some(true));
        assert_eq!(bench.value(NOW, IDR), 0b0_1111, "an analog pin reads 0");
        bench.write(NOW, BSRR, 0b11 << 16).unwrap();
        outside(&mut bench, 1, None);
        outside(&mut bench, 3, None);
        assert_eq!(bench.value(NOW, IDR), 0b0_0100);
    }

    #[test]
    fn pins_that_the_boot_loader_has_set_up_are_so_until_a_reset() {
        let properties: &[(&str, &[u32])] = &[
            ("cyclescope,reset-values", &[u32::MAX, 0, 0]),
            ("cyclescope,boot-functions", &[2, 8, 11, 6]),
            ("cyclescope,clock-enable", &[0x40, 5]),
        ];
        let (bench, faults) = read_plain_node(from_node, properties);
        assert!(faults.is_empty(), "{faults:?}");
        let mut bench = bench.as_port();
        bench.bus.clocks.set_gates(0x40, 1 << 5);
        bench.bus.with_device(DeviceId(0), NOW, |port, ctx| port.reset(ctx));
        let registers = |bench: &mut Bench| [MODER, AFRL, AFRH].map(|offset| bench.value(NOW, offset));
        assert_eq!(registers(&mut bench), [0xffbf_ffef, 0x0800, 0x6000]);
        let functions = bench.bus.wires.functions(DeviceId(0));
        assert!(functions.carries(2, 8) && functions.carries(11, 6));
        bench.bus.clocks.set_resets(0x40, 1 << 5);
        bench.bus.set_clocks(&[], NOW);
        bench.bus.clocks.set_resets(0x40, 0);
        bench.bus.set_clocks(&[], NOW);
        assert_eq!(registers(&mut bench), [u32::MAX, 0, 0]);
        let (_, faults) = read_plain_node(from_node, &[("cyclescope,boot-functions", &[16, 1])]);
        assert!(faults.len() == 1 && faults[0].contains("boot-functions"), "{faults:?}");
    }

    #[test]
    fn bits_are_set_and_reset_and_setting_wins() {
        let mut bench = gpio([0; 3]);
        bench.write(NOW, ODR, 0xf0f0).unwrap();
        bench.write(NOW, BSRR, 0xffff_000f).unwrap();
        assert_eq!((bench.value(NOW, ODR), bench.value(NOW, BSRR)), (0x000f, 0));
        bench.write(NOW, BRR, 0x3).unwrap();
        assert_eq!(bench.value(NOW, ODR), 0x000c);
        // A halfword write of BSRR's upper half resets.
        let reset = |port: &mut dyn Device, ctx: &mut Ctx| port.write(0, BSRR + 2, AccessSize::Half, 0x4, ctx);
        bench.bus.with_device(DeviceId(0), NOW, reset).unwrap();
        assert_eq!(bench.value(NOW, ODR), 0x0008);
        let byte = |port: &mut dyn Device, ctx: &mut Ctx| port.write(0, ODR + 1, AccessSize::Byte, 0xa5, ctx);
        bench.bus.with_device(DeviceId(0), NOW, byte).unwrap();
        assert_eq!(bench.value(NOW, ODR), 0xa508);
    }

    #[test]
    fn a_locked_pin_keeps_its_configuration() {
        let mut bench = gpio([0; 3]);
        for value in [LCKK | 0x201, 0x201, LCKK | 0x201] {
            bench.write(NOW, MODER, u32::MAX).unwrap();
            bench.write(NOW, LCKR, value).unwrap();
        }
        assert_eq!(bench.value(NOW, LCKR), LCKK | 0x201);
        for offset in [MODER, AFRL, AFRH, OTYPER] {
            bench.write(NOW, offset, 0).unwrap();
        }
        assert_eq!(bench.value(NOW, MODER), 3 << 18 | 3);
        bench.write(NOW, AFRH, u32::MAX).unwrap();
        bench.write(NOW, OTYPER, u32::MAX).unwrap();
        assert_eq!((bench.value(NOW, AFRH), bench.value(NOW, OTYPER)), (0xffff_ff0f, 0xfdfe));
        // A wrong sequence locks nothing.
        let mut bench = gpio([0; 3]);
        for value in [LCKK | 1, 3, LCKK | 1] {
            bench.write(NOW, LCKR, value).unwrap();
        }
        assert_eq!(bench.value(NOW, LCKR) & LCKK, 0);
    }

    #[test]
    fn a_node_gives_resets_and_gate() {
        let properties: [(&str, &[u32]); 2] = [
            ("cyclescope,reset-values", &[0xa800_0000, 0x0c00_0000, 0x6400_0000]),
            ("cyclescope,clock-enable", &[0x30, 0]),
        ];
        let (mut bench, faults) = read_plain_node(from_node, &properties);
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!([MODER, OSPEEDR, PUPDR].map(|at| bench.value(NOW, at)), [0xa800_0000, 0x0c00_0000, 0x6400_0000]);
        bench.bus.clocks.set_gates(0x30, 0);
        assert_eq!((bench.value(NOW, MODER), bench.bus.notes().len()), (0, 1));
        // Without BRR.
        bench.bus.clocks.set_gates(0x30, 1);
        bench.write(NOW, ODR, 3).unwrap();
        bench.write(NOW, BRR, 1).unwrap();
        assert_eq!(bench.value(NOW, ODR), 3);
    }
}
