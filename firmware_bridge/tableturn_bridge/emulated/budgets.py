"""How much of the chip the firmware may take: tests hold it to that, `make firmware` tells it."""

FLASH = 8192
"""Bytes of its 32 KB for the program."""
STATIC_RAM = 700
"""Bytes of its 2 KB for all that has a fixed place."""
STACK = 200
"""Bytes below the top of RAM that calls and interrupts may take."""
