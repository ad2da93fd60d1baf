"""Devices in Python: models of registers and chips, in addition to the engine's own.

Start at `model`: it has the base classes. `device` registers a class, `property` declares a
property of its node, `load` runs a file with such classes. Each access is a Python call: slow, but
exact in simulated time.
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
