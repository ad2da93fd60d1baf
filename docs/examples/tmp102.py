"""TI TMP102 (ti,tmp102), a temperature sensor on I2C, from its data sheet (SBOS397)."""

import cyclescope
from cyclescope.devices import I2cChip

TEMPERATURE, CONFIGURATION, T_LOW, T_HIGH = range(4)
# At power-up (SBOS397, Configuration Register, High- and Low-Limit Registers).
POWER_UP = {CONFIGURATION: 0x60A0, T_LOW: 0x4B00, T_HIGH: 0x5000}
PS_PER_MS = 10**9


@cyclescope.device("ti,tmp102")
class Tmp102(I2cChip):
    """TI TMP102: a temperature sensor, 12 bits of 0.0625 degrees Celsius."""

    conversion_ms = cyclescope.property(
        "example,conversion-ms",
        "the time of a conversion",
        unit="ms",
        timing=True,
        default=26,
        source="documented: SBOS397, Electrical Characteristics, Conversion time: typical",
    )
    sixteenths = cyclescope.property(
        "example,sixteenths", "the temperature in 0.0625 degrees", default=400, most=2000
    )

    def reset(self):
        self.registers = dict(POWER_UP)
        self.pointer = TEMPERATURE
        self.counters["readings"] = 0

    def address(self, is_read):
        self.is_read, self.index = is_read, 0
        if is_read and self.pointer == TEMPERATURE:
            self.counters["readings"] += 1

    def write(self, byte):
        """The pointer, then the register that it names, upper byte first."""
        if self.index == 0:
            self.pointer = byte & 3
        elif self.index < 3 and self.pointer != TEMPERATURE:
            shift = 8 * (2 - self.index)
            held = self.registers[self.pointer] & ~(0xFF << shift)
            self.registers[self.pointer] = held | byte << shift
        self.index += 1

    def read(self):
        value = self.registers.get(self.pointer, self.temperature())
        self.index += 1
        return value >> 8 if self.index % 2 else value & 0xFF

    def temperature(self):
        """In the upper 12 bits; 0 before the first conversion has ended."""
        has_converted = self.now_ps >= self.conversion_ms * PS_PER_MS
        return self.sixteenths << 4 if has_converted else 0
