"""st,lis3dh-accel in Python, as engine/devices/src/st/accelerometer/lis3dh_accel.rs has it."""

import cyclescope
from cyclescope.devices import Clock, SpiChip

CTRL_REG1, CTRL_REG3, CTRL_REG4, CTRL_REG6 = 0x20, 0x22, 0x23, 0x25
STATUS_REG, OUT_X_L, COUNT = 0x27, 0x28, 0x40
I1_ZYXDA, INT_LOW, MODE = 1 << 4, 1 << 1, 1 << 3
RESETS = {0x0F: 0x33, 0x1E: 0x10, CTRL_REG1: 0x07}
WRITABLE = bytes.fromhex(
    "90c0fffffeffcffaff00000000000000ff00ff007f7fff007f7f3f00ff7fffff7fff"
)  # from register 0x1e on
MODELLED = {CTRL_REG1: 0xFF, CTRL_REG3: I1_ZYXDA, CTRL_REG4: 0xB8, CTRL_REG6: INT_LOW}
RATES_HZ = (0, 1, 10, 25, 50, 100, 200, 400, 1600, 1344, 5376)
US = 1_000_000


@cyclescope.device(
    "st,lis3dh-accel", replace=True, interrupts=["where the chip's interrupt pin leads to"]
)
class Lis3dh(SpiChip):
    """ST LIS3DH, an accelerometer."""

    pin = cyclescope.property("st,drdy-int-pin", "the pin of data ready", default=1, values=[1])
    boot_us = cyclescope.property("cyclescope,boot-us", "boot", unit="us", timing=True)
    low_power_us = cyclescope.property(
        "cyclescope,low-power-turn-on-us", "turn-on in low-power mode", unit="us", timing=True
    )
    normal_us = cyclescope.property(
        "cyclescope,normal-turn-on-us", "turn-on in normal mode", unit="us", timing=True
    )
    settling = cyclescope.property(
        "cyclescope,settling-samples", "samples up to 12 bits", least=1, most=100, timing=True
    )
    acceleration = cyclescope.property(
        "cyclescope,acceleration-mg", "thousandths of g", type=list[int], default=[0, 0, 0]
    )

    def reset(self) -> None:
        self.registers = [RESETS.get(address, 0) for address in range(COUNT)]
        self.command: int | None = None
        self.index = self.address = self.mode = self.fresh = self.overrun = 0
        self.rate: Clock | None = None
        self.first = self.taken = 0

    def select(self) -> None:
        self.advance()
        self.index = 0
        self.follow()

    def transfer(self, byte_in: int) -> int:
        self.advance()
        if self.index == 0:
            self.command = byte_in if self.now_ps >= self.boot_us * US else None
            self.address = byte_in & 0x3F
        elif self.command is None:
            self.note("an access before the chip has booted has no effect")
        else:
            self.access(self.command, byte_in)
        self.index += 1
        self.follow()
        reads = self.command is not None and self.command & 0x80
        return self.register(self.address) if reads else 0xFF

    def deselect(self) -> None:
        self.advance()
        self.follow()

    def event(self, token: int) -> None:
        self.advance()
        self.follow()

    def access(self, command: int, byte_in: int) -> None:
        axis, high = divmod(self.address - OUT_X_L, 2)
        if not command & 0x80:
            self.write(self.address, byte_in)
            self.configure()
        elif 0 <= axis < 3 and high:
            self.fresh &= ~(1 << axis)
            self.overrun &= ~(1 << axis)
        self.address = (self.address + (command >> 6 & 1)) % COUNT

    def write(self, address: int, value: int) -> None:
        held, at = self.registers[address], address - 0x1E
        mask = WRITABLE[at] if 0 <= at < len(WRITABLE) else 0
        if value & ~MODELLED.get(address, 0) & ~held:
            self.note(f"{value:#04x} in register {address:#04x} asks for what is not modelled")
        self.registers[address] = held & ~mask | value & mask

    def configure(self) -> None:
        low_power = bool(self.registers[CTRL_REG1] & MODE)
        odr = self.registers[CTRL_REG1] >> 4
        mode = 0 if low_power else 1 + bool(self.registers[CTRL_REG4] & MODE)
        hz = RATES_HZ[10 if low_power and odr == 9 else odr] if odr < 10 else 0
        old_mode, self.mode = self.mode, mode
        old = self.rate
        if not hz:
            self.rate = None
        elif old is not None and (hz, mode) == (old.hz, old_mode):
            pass
        elif old is None and mode < 2:
            self.start(hz, self.now_ps + US * (self.normal_us if mode else self.low_power_us))
        elif old is not None and (mode < 2 or old_mode == 2):
            self.start(hz, self.now_ps + Clock(hz).edge_ps(1))
        else:
            self.start(hz, self.now_ps + Clock(hz).edge_ps(self.settling))

    def start(self, hz: int, first: int) -> None:
        self.rate, self.first, self.taken = Clock(hz), first, 0

    def advance(self) -> None:
        if self.rate is None or self.now_ps < self.first:
            return
        taken = 1 + self.rate.cycle(self.now_ps - self.first)
        samples, self.taken = taken - self.taken, taken
        if samples > 0:
            axes = self.registers[CTRL_REG1] & 7
            self.overrun |= axes if samples > 1 else self.fresh
            self.fresh = axes

    def follow(self) -> None:
        """Drives the pin, and waits for the next sample that moves it."""
        enabled = bool(self.registers[CTRL_REG3] & I1_ZYXDA)
        ready = enabled and self.fresh != 0
        self.irq(ready != bool(self.registers[CTRL_REG6] & INT_LOW))
        if self.rate is not None and enabled and not self.fresh:
            self.schedule(at_ps=self.first + self.rate.edge_ps(self.taken))
        else:
            self.cancel()

    def register(self, address: int) -> int:
        if address == STATUS_REG:
            both = [bool(axes) << 3 | axes for axes in (self.overrun, self.fresh)]
            return both[0] << 4 | both[1]
        axis, high = divmod(address - OUT_X_L, 2)
        if not 0 <= axis < 3 or not self.taken:
            return self.registers[address]
        mg = self.acceleration[axis]
        mg -= (mg >> 31) << 32
        bits, divisor = 8 + 2 * self.mode, (1, 2, 4, 12)[self.registers[CTRL_REG4] >> 4 & 3]
        value, most = mg >> 12 - bits, (1 << bits - 1) - 1
        value = abs(value) // divisor * (1 if value >= 0 else -1)
        value = min(most, max(-most - 1, value)) << 16 - bits
        return value >> 8 * high & 0xFF
