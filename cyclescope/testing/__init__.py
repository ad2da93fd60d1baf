"""Tests of firmware with pytest: a run's times are compared with a snapshot."""
