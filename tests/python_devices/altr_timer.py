"""altr,timer-1.0 in Python, as engine/devices/src/altr/timer.rs has it."""

import cyclescope
from cyclescope.devices import Device

STATUS, CONTROL, PERIODL, PERIODH, SNAPL, SNAPH = range(0, 0x18, 4)
STATUS_TO, STATUS_RUN = 1 << 0, 1 << 1
CONTROL_ITO, CONTROL_CONT, CONTROL_START, CONTROL_STOP = 1 << 0, 1 << 1, 1 << 2, 1 << 3
CONTROL_HELD = CONTROL_ITO | CONTROL_CONT


@cyclescope.device(
    "altr,timer-1.0",
    replace=True,
    clocks=["the clock of the register port"],
    interrupts=["its interrupt"],
)
class IntervalTimer(Device):
    """Altera's interval timer core."""

    read_cycles = cyclescope.property(
        "cyclescope,read-cycles", "clocks of a read", unit="cycles", timing=True
    )
    write_cycles = cyclescope.property(
        "cyclescope,write-cycles", "clocks of a write", unit="cycles", timing=True
    )
    reset_period = cyclescope.property(
        "cyclescope,reset-period", "the period registers after reset", default=0
    )

    def reset(self) -> None:
        self.control = 0
        self.period = self.reset_period
        self.snapshot = 0
        self.timeout = False
        # it stands at a value, or is reloaded at a cycle
        self.value: int | None = self.period
        self.reload = 0

    def read(self, offset: int, size: int) -> tuple[int, int]:
        self.settle()
        self.update()
        value = {
            STATUS: self.timeout * STATUS_TO | (self.value is None) * STATUS_RUN,
            CONTROL: self.control,
            PERIODL: self.period & 0xFFFF,
            PERIODH: self.period >> 16,
            SNAPL: self.snapshot & 0xFFFF,
            SNAPH: self.snapshot >> 16,
        }.get(offset & ~3, 0)
        lanes = value >> 8 * (offset % 4) & (1 << 8 * size) - 1
        return lanes, self.clock.after_ps(self.now_ps, self.read_cycles)

    def write(self, offset: int, size: int, value: int) -> int:
        self.settle()
        self.set_register(offset & ~3, (value << 8 * (offset % 4)) & 0xFFFF)
        self.update()
        return self.clock.after_ps(self.now_ps, self.write_cycles)

    def event(self, token: int) -> None:
        self.settle()
        self.update()

    def set_register(self, offset: int, value: int) -> None:
        match offset:
            case 0x00:
                self.timeout = False
            case 0x04:
                self.set_control(value)
            case 0x08:
                self.period = self.value = self.period & 0xFFFF_0000 | value
            case 0x0C:
                self.period = self.value = self.period & 0xFFFF | value << 16
            case 0x10 | 0x14:
                self.snapshot = self.counted()

    def set_control(self, value: int) -> None:
        self.control = value & CONTROL_HELD
        if self.value is not None and value & CONTROL_START:
            self.reload, self.value = self.cycle() + self.value + 1, None
        elif self.value is None and value & (CONTROL_START | CONTROL_STOP) == CONTROL_STOP:
            self.value = self.counted()

    def cycle(self) -> int:
        return self.clock.cycle(self.now_ps)

    def settle(self) -> None:
        past = self.cycle() - self.reload
        if self.value is not None or past < 0:
            return
        self.timeout = True
        if self.control & CONTROL_CONT:
            self.reload += (past // (self.period + 1) + 1) * (self.period + 1)
        else:
            self.value = self.period

    def counted(self) -> int:
        return self.value if self.value is not None else max(0, self.reload - self.cycle() - 1)

    def update(self) -> None:
        enabled = bool(self.control & CONTROL_ITO)
        self.irq(enabled and self.timeout)
        if self.value is None and enabled and not self.timeout:
            self.schedule(at_ps=self.clock.edge_ps(self.reload))
