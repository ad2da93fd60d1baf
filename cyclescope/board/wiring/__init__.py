"""Connections of a board during a run: serial lines, pins, LEDs, and its output."""
