"""Tests of what `deploy/` brings: flashing, names of ports, a Raspberry Pi's services."""
