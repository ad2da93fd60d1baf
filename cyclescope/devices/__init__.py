"""Devices in Python: models of registers and chips that a board has beside the engine's own.

Start at `model`: what a class derives from. `device` registers it, `property` says what its node
may have, `load` runs a file of such classes. Each access is a call: slow, and exact in time.
"""

from cyclescope._engine import BusError
from cyclescope.devices.clock import Clock
from cyclescope.devices.loading import load
from cyclescope.devices.model import Device, I2cChip, SpiChip
from cyclescope.devices.properties import Property, property
from cyclescope.devices.registers import Register
from cyclescope.devices.registry import bindings, device

__all__ = [
    "BusError",
    "Clock",
    "Device",
    "I2cChip",
    "Property",
    "Register",
    "SpiChip",
    "bindings",
    "device",
    "load",
    "property",
]
