"""The real firmware on an emulated board: its program in the C emulator, worked from Python.

The emulator itself is a program of its own, `firmware_bridge/emulator`, under another licence and
in no wheel. What is here starts it and speaks with it through its control socket.
"""
