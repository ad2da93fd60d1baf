"""Tests of firmware by pytest: how long it takes, held to what it took before."""
