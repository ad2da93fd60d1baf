"""national,lm75 in Python, as engine/devices/src/national/lm75.rs has it."""

import cyclescope
from cyclescope.devices import I2cChip

TEMPERATURE, CONFIGURATION, THYST, TOS = range(4)
SHUTDOWN, INTERRUPT, POLARITY, MASK = 1 << 0, 1 << 1, 1 << 2, 0x1F
FAULTS = (1, 2, 4, 6)
MOST_FAULTS = 12
PS_PER_MS = 10**9


def signed(value: int, bits: int) -> int:
    return (value & (1 << bits) - 1) - (value >> bits - 1 & 1) * (1 << bits)


@cyclescope.device(
    "national,lm75", replace=True, interrupts=["where the chip's interrupt pin leads to"]
)
class Lm75(I2cChip):
    """National LM75, a temperature sensor with a thermostat."""

    conversion_ms = cyclescope.property(
        "cyclescope,conversion-ms", "the time of a conversion", unit="ms", timing=True
    )
    millicelsius = cyclescope.property(
        "cyclescope,temperature-millicelsius", "it", type=list[int], default=[25_000]
    )

    def reset(self) -> None:
        self.conversion = self.conversion_ms * PS_PER_MS
        self.measured = signed(signed(self.millicelsius[0], 32) // 500 << 7, 16)
        self.pointer = self.configuration = self.temperature = 0
        self.limits = {THYST: 0x4B00, TOS: 0x5000}
        self.since: int | None = 0
        # active, faults in a row, and whether TOS was the last limit passed
        self.thermostat = (False, 0, False)
        self.is_read = False
        self.index = self.upper = 0
        self.counters["conversions"] = 0
        self.follow()

    def address(self, is_read: bool) -> None:
        self.advance()
        self.is_read, self.index = is_read, 0
        if is_read:
            self.clear_interrupt()
        self.follow()

    def write(self, byte: int) -> None:
        self.advance()
        match self.index, self.pointer:
            case 0, _:
                if byte > TOS:
                    self.note(f"the pointer has two bits: {byte:#04x} names register {byte & TOS}")
                self.pointer = byte & TOS
            case 1, 1:
                self.configure(byte)
            case 1, _:
                self.upper = byte
            case 2, 2 | 3:
                self.limits[self.pointer] = signed(self.upper << 8 | byte & 0x80, 16)
            case _:
                self.note("a byte beyond the register that the pointer names has no effect")
        self.index = min(3, self.index + 1)
        self.follow()

    def read(self) -> int:
        self.advance()
        value = self.limits.get(self.pointer, self.temperature)
        both = (
            bytes([self.configuration])
            if self.pointer == CONFIGURATION
            else ((value & 0xFFFF).to_bytes(2, "big"))
        )
        byte = both[self.index % len(both)]
        self.index = self.index % len(both) + 1
        self.follow()
        return byte

    def acknowledged(self, ack: bool) -> None:
        self.advance()
        self.follow()

    def stop(self, is_repeated_start: bool) -> None:
        self.advance()
        if self.is_read and self.index and self.pointer == TEMPERATURE and self.since is not None:
            self.since = self.now_ps
        self.index = 0
        self.follow()

    def event(self, token: int) -> None:
        self.advance()
        self.follow()

    def configure(self, value: int) -> None:
        if value & ~MASK:
            self.note("bits 5 to 7 of the configuration have to be 0 in normal operation")
        changed = self.configuration ^ value & MASK
        self.configuration = value & MASK
        if changed & INTERRUPT:
            self.thermostat = (False, 0, False)
        if self.configuration & SHUTDOWN:
            self.since = None
            self.clear_interrupt()
        elif changed & SHUTDOWN:
            self.since = self.now_ps

    def clear_interrupt(self) -> None:
        if self.configuration & INTERRUPT:
            self.thermostat = (False, *self.thermostat[1:])

    def after_conversion(self, thermostat: tuple[bool, int, bool]) -> tuple[bool, int, bool]:
        active, faults, is_hot = thermostat
        interrupts = bool(self.configuration & INTERRUPT)
        waits_for_cold = is_hot if interrupts else active
        cold, hot = self.measured < self.limits[THYST], self.measured > self.limits[TOS]
        faults = faults + 1 if (cold if waits_for_cold else hot) else 0
        ends = active and not interrupts
        if faults < (1 if ends else FAULTS[self.configuration >> 3 & 3]):
            return active, faults, is_hot
        return interrupts or not waits_for_cold, 0, not waits_for_cold

    def advance(self) -> None:
        if self.since is None or not self.conversion:
            return
        ended = (self.now_ps - self.since) // self.conversion
        if ended:
            self.since += ended * self.conversion
            self.counters["conversions"] += ended
            self.temperature = self.measured
        for _ in range(min(ended, MOST_FAULTS)):
            self.thermostat = self.after_conversion(self.thermostat)

    def follow(self) -> None:
        """Drives O.S., and waits for the conversion that moves it."""
        self.irq(self.thermostat[0] == bool(self.configuration & POLARITY))
        self.cancel()
        if self.since is None or not self.conversion:
            return
        thermostat = self.thermostat
        for count in range(1, MOST_FAULTS + 1):
            active = thermostat[0]
            thermostat = self.after_conversion(thermostat)
            if thermostat[0] != active:
                self.schedule(at_ps=self.since + count * self.conversion)
                return
