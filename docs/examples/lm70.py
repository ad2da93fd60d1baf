"""National LM70 (national,lm70), a temperature sensor on SPI, from its data sheet (SNIS112G)."""

import cyclescope
from cyclescope.devices import SpiChip

MANUFACTURER_ID = 0x8100
PS_PER_MS = 10**9


@cyclescope.device("national,lm70", max_hz=6_250_000)
class Lm70(SpiChip):
    """National LM70: a temperature sensor, 11 bits of 0.25 degrees Celsius."""

    conversion_ms = cyclescope.property(
        "example,conversion-ms",
        "the time of a conversion",
        unit="ms",
        timing=True,
        default=140,
        source="documented: SNIS112G, Temperature-to-Digital Converter Characteristics: typical",
    )
    quarter_degrees = cyclescope.property(
        "example,quarter-degrees", "the temperature in 0.25 degrees", default=100, most=600
    )

    def reset(self):
        self.shut_down = False
        self.converting_since_ps = 0

    def select(self):
        """The value stays the same during the frame."""
        self.received = []
        self.shown = MANUFACTURER_ID if self.shut_down else self.converted()
        return self.shown >> 8

    def transfer(self, byte_in):
        self.received.append(byte_in)
        return self.shown & 0xFF if len(self.received) == 1 else None

    def deselect(self):
        """After the 16 clocks of the value, 16 more write the configuration."""
        if len(self.received) == 4:
            if self.shut_down and self.received[3] == 0x00:
                self.converting_since_ps = self.now_ps
            self.shut_down = self.received[3] == 0xFF

    def converted(self):
        """The temperature in the upper 11 bits; the others are high."""
        if self.now_ps < self.converting_since_ps + self.conversion_ms * PS_PER_MS:
            self.note("a value is read before the first conversion has ended: it means nothing")
            return 0xFFFF
        return self.quarter_degrees << 5 | 0x1F
