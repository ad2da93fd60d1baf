"""Booting an unmodified Linux kernel: kernel, devicetree and initramfs in, a bootable ELF out.

The ELF runs, is profiled and debugged like any other (`cyclescope boot`).
"""
