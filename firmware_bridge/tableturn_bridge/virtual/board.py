"""A panel's board: power, contacts, memory that lasts, and the program that runs on it.

A model without a port or a clock, for tests in virtual time and for the runner on a pseudo
terminal alike. All times are milliseconds, given by the caller; fractions count for contacts that
bounce, the program itself reads them once each millisecond. Buttons count from 0, as in the
protocol; `NO_BUTTON` is the one that belongs to no seat.
"""

from __future__ import annotations

from collections import Counter

from tableturn_bridge.protocol import Color, ResetCause, State
from tableturn_bridge.virtual import lights
from tableturn_bridge.virtual.firmware import Fate, Firmware, Lasting, Make, Outcome
from tableturn_bridge.virtual.lights import Sign

__all__ = ["Board", "Fate", "Make", "Outcome"]


class Board:
    """A panel. It is dark and silent until `power_on`."""

    def __init__(self, make: Make | None = None, uid: int = 0) -> None:
        self.make = make or Make()
        self.resets: Counter[str] = Counter()
        """How often it started, by cause."""
        self.fates: Counter[str] = Counter()
        """What became of all gestures."""
        self.events_sent = 0
        """Events sent, each repetition counted."""
        self._lasting = Lasting(uid)
        self._closed: set[int] = set()
        self._firmware: Firmware | None = None
        self._output = bytearray()
        self._outcomes: list[Outcome] = []

    @property
    def uid(self) -> int:
        """Its number, 0 until the host gives one. It lasts without power."""
        return self._lasting.uid

    @property
    def session(self) -> int:
        """The session that the host gave it; 0 after a reset."""
        return 0 if self._firmware is None else self._firmware.session

    @property
    def picture(self) -> State | None:
        """What the host wants to be shown; None while it isn't heard."""
        return None if self._firmware is None else self._firmware.picture

    @property
    def waiting(self) -> int:
        """How many events wait for their answer."""
        return 0 if self._firmware is None else len(self._firmware.queue)

    @property
    def dropped(self) -> int:
        """How many gestures found no room in the queue since the start."""
        return 0 if self._firmware is None else self._firmware.dropped

    @property
    def frames_read(self) -> int:
        """How many good frames have come since the start."""
        return 0 if self._firmware is None else self._firmware.decoder.counts.frames

    # ---------------------------------------------------------------- inputs

    def power_on(self, cause: ResetCause, now: float) -> None:
        """Start the program, anew if it runs: a reset is nothing else, whatever caused it."""
        self.power_off(now)
        self.resets[cause.name] += 1
        self._firmware = Firmware(self.make, self._lasting, self._closed, cause, int(now))
        self._collect()

    def power_off(self, now: float) -> None:
        """The program ends at once; nothing that it knew survives, nor what waits to be sent."""
        firmware = self._firmware
        if firmware is None:
            return
        self.advance(now)
        for waiting in firmware.queue.empty():
            lost = Outcome(waiting.gesture, Fate.LOST, int(now), waiting.number, waiting.sent)
            firmware.outcomes.append(lost)
        self._collect()
        self._output.clear()
        self._firmware = None

    def received(self, data: bytes, now: float) -> None:
        """Bytes have come from the host."""
        if self._firmware is not None:
            self._firmware.received(data, int(now))
            self._collect()

    def edge(self, button: int, pressed: bool, now: float) -> None:
        """The contact of a button closes or opens; each bounce is two of these.

        Raises ValueError if the panel has no such button.
        """
        if button not in self.make.all_buttons:
            raise ValueError(f"a panel with {self.make.buttons} buttons has no button {button}")
        if self._firmware is not None:
            self._firmware.contact(button, pressed, int(now))
            self._collect()
        (self._closed.add if pressed else self._closed.discard)(button)

    def advance(self, now: float) -> None:
        """Do what is due up to this time."""
        if self._firmware is not None:
            self._firmware.advance(int(now))
            self._collect()

    def next_time(self) -> int | None:
        """When it does something by itself the next time, if nothing comes before."""
        return None if self._firmware is None else self._firmware.next_time()

    # ---------------------------------------------------------------- outputs

    def _collect(self) -> None:
        """Take over what the program has sent and noted, as it won't survive a reset."""
        firmware = self._firmware
        assert firmware is not None
        self._output += firmware.sent.bytes
        firmware.sent.bytes.clear()
        self.events_sent += firmware.sent.events
        firmware.sent.events = 0
        self._outcomes += firmware.outcomes
        self.fates.update(outcome.fate for outcome in firmware.outcomes)
        firmware.outcomes.clear()

    def take_output(self) -> bytes:
        """The bytes to send, each told once."""
        output = bytes(self._output)
        self._output.clear()
        return output

    def take_outcomes(self) -> list[Outcome]:
        """The gestures of which it is clear by now what became of them, each told once."""
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def lamps(self, now: float) -> tuple[tuple[int, int], ...]:
        """For each button how bright its lamp is, from 0 to 255, and in which colour."""
        firmware = self._firmware
        if firmware is None:
            return ((0, int(Color.NONE)),) * self.make.buttons
        return tuple(firmware.lamp(button, int(now)) for button in range(self.make.buttons))

    def shown(self, now: float) -> tuple[Sign, ...]:
        """For each button what its lamp says, and how it looks."""
        firmware = self._firmware
        if firmware is None:
            return (lights.DARK,) * self.make.buttons
        return tuple(firmware.sign(button, int(now)) for button in range(self.make.buttons))

    def signs(self, now: float) -> tuple[str, ...]:
        """For each button what its lamp says: a pattern's name, or another of `lights`."""
        return tuple(sign.name for sign in self.shown(now))
